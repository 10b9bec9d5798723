"""Whatever a server does to one question, that one fails by name or is read right, and the others are untouched."""

import subprocess
import sys
from pathlib import Path

import pytest
from faults import FAULTS, Fault
from faults.running import make_certificates, problems, run, serving

from evals.schemas import EvalResponse

HOME = Path(__file__).resolve().parent.parent.parent


def _name(fault: Fault) -> str:
    return f"{fault.group}: {fault.name}"


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority that the client trusts, where it is told to, and what it vouches for."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def clean(certificates: Path) -> list[EvalResponse]:
    """The three questions asked of a server without faults."""
    with serving(None, certificates) as server:
        return run(server.url)


def test_without_a_fault_every_question_is_answered_right(clean: list[EvalResponse]) -> None:
    """What the others are held against is three answers, not three failures."""
    assert [response.answer for response in clean] == [f"Part {n} costs {n + 7} euros [1]." for n in range(3)]
    assert all(response.chunks and response.citations and response.usage for response in clean)


@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, id=_name(fault), marks=[] if fault.is_short else [pytest.mark.full]) for fault in FAULTS],
)
def test_a_fault_hits_one_question(
    fault: Fault,
    certificates: Path,
    clean: list[EvalResponse],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has the failure that the table says, or its values; those of the other questions are as without it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "authority.pem"))
    with serving(fault, certificates) as server:
        found = run(server.url, fault)
    assert problems(fault, found, clean) == []


@pytest.mark.full
@pytest.mark.timeout(1000)
def test_no_fault_takes_much_memory() -> None:
    """Not one takes 200 MB above what the process has before it."""
    script = HOME / "benchmarks" / "faults.py"
    done = subprocess.run([sys.executable, script], cwd=HOME, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
