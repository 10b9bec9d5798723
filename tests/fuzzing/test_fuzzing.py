"""Whatever is read may be damaged: each ends in an exit code and one message, soon, and in little memory."""

import itertools
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzzing import bodies, files
from fuzzing.files import Attempt

KINDS: tuple[Callable[[Path], Attempt], ...] = (
    files.configurations,
    files.profiles,
    files.datasets,
    files.saved_runs,
    files.records,
    files.indexes,
    files.gates,
    bodies.server_bodies,
    bodies.server_frames,
    bodies.judge_replies,
)
SHORT, LONG = 240, 20_000
"""Damaged inputs of all kinds together, half of them of a seed that is new each time."""
FIXED = 20260115
MOST_SHOWN = 20


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize(
    "count",
    [
        pytest.param(SHORT, marks=[pytest.mark.slow, pytest.mark.timeout(600)], id="short"),
        pytest.param(LONG, marks=[pytest.mark.full, pytest.mark.timeout(3600)], id="long"),
    ],
)
@pytest.mark.filterwarnings("default")
def test_no_damaged_input_ends_in_a_traceback(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also none takes more than 5 s of the processor or 300 MB; a failure names kind, seed and number of its input."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    fresh = time.time_ns() % 10**9
    print(f"fresh seed {fresh}")
    found: list[str] = []
    for kind in KINDS:
        home = tmp_path / kind.__name__
        home.mkdir()
        monkeypatch.chdir(home)
        attempt, before = kind(home), len(found)
        for seed, number in itertools.product((FIXED, fresh), range(count // len(KINDS) // 2)):
            problems = attempt(random.Random(f"{seed} {kind.__name__} {number}"))  # noqa: S311 - no secret
            for problem in problems:
                found.append(f"{kind.__name__}, seed {seed}, input {number}: {problem}")
                print(found[-1], flush=True)
            if len(found) >= before + MOST_SHOWN:
                break
    assert not found, "\n\n".join(found)
