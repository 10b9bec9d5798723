"""What costs time is done once: matching and abstention a question, reading a saved run twice at most."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evals.cli import app
from evals.datasets import file, trec
from evals.metrics import sample as cases
from evals.run import setup
from evals.store import runs
from evals.text.refusals import detector

IMPORTED_BEFORE = (file, setup, trec)
"""Imported while a function is counted, these would keep the one that counts: they ask about other texts."""
ASK = ["eval", "--datasets", "golden", "--samples", "20", "--no-judge"]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], Counter[str]]:
    """Count the calls of a function, by what it was given."""

    def count(module: Any, name: str) -> Counter[str]:
        calls: Counter[str] = Counter()
        once = getattr(module, name)

        def call(*given: Any) -> Any:
            calls[repr(given)] += 1
            return once(*given)

        monkeypatch.setattr(module, name, call)
        return calls

    return count


@pytest.mark.parametrize("ways", [[], ["--no-preflight"]], ids=["probed", "not probed"])
def test_a_run_matches_and_detects_abstention_once_a_question(
    golden_server: str, tmp_path: Path, counted: Callable[[Any, str], Counter[str]], ways: list[str]
) -> None:
    """Whoever asks for it: probes, metrics, counts of outcomes, diagnosis and what is printed at the end."""
    matched, detected = counted(cases, "match"), counted(detector, "is_abstention")
    done = CliRunner().invoke(app, [*ASK, "--rag-url", golden_server, "--runs-dir", str(tmp_path), *ways])
    assert done.exit_code == 0, done.output
    assert set(detected.values()) <= {1, 2}  # of a refusal, whether it says what is expected is asked of the cache
    assert set(matched.values()) == {1}
    assert 10 <= len(detected) <= 20


def test_showing_a_run_matches_once_a_question(
    golden_server: str, tmp_path: Path, counted: Callable[[Any, str], Counter[str]]
) -> None:
    """Failures, slices and the sheet share what is derived."""
    ask = [*ASK, "--rag-url", golden_server, "--runs-dir", str(tmp_path)]
    assert CliRunner().invoke(app, ask).exit_code == 0
    (saved,) = runs.RunStore(tmp_path).runs()
    matched, detected = counted(cases, "match"), counted(detector, "is_abstention")
    shown = CliRunner().invoke(app, ["show", saved.id, "--by", "dataset", "--runs-dir", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert max(matched.values(), default=1) == 1
    assert max(detected.values(), default=1) <= 2


def test_a_resume_reads_the_run_twice_at_most(
    golden_server: str, tmp_path: Path, counted: Callable[[Any, str], Counter[str]]
) -> None:
    """Once to know its configuration, and once under the lock."""
    ask = [*ASK, "--rag-url", golden_server, "--runs-dir", str(tmp_path)]
    assert CliRunner().invoke(app, ask).exit_code == 0
    (saved,) = runs.RunStore(tmp_path).runs()
    read = counted(runs, "read_run")
    resumed = CliRunner().invoke(app, ["eval", "--resume", saved.id, "--runs-dir", str(tmp_path)])
    assert resumed.exit_code == 0, resumed.output
    assert sum(read.values()) == 2
