"""`evals gate`: saved runs, by themselves and against a baseline."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.schemas import WeightedScore
from evals.store.runs import RunStore

Cli = Callable[..., Any]


def values(n: int, rate: float) -> dict[str, dict[str, float | None]]:
    """Values of n questions, of which so many are 1."""
    return {f"q{place}": {"recall_at_5": float(place < rate * n)} for place in range(n)}


@pytest.fixture
def save(build_run: Cli, tmp_path: Path) -> Cli:
    """Save a run of these values, as one that is finished."""

    def make(run_id: str, found: Any, **changes: Any) -> None:
        run, records = build_run(run_id, found, **changes)
        store, finished = RunStore(tmp_path), run.model_copy(update={"completed_at": run.created_at})
        store.save(finished)
        store.compact(finished, records)

    return make


@pytest.fixture
def gate(evals_cli: Cli, tmp_path: Path) -> Cli:
    """Run `gate` on the saved runs."""
    return lambda *arguments: evals_cli("gate", *arguments, "--runs-dir", tmp_path)


def test_a_saved_run_is_checked(save: Cli, gate: Cli) -> None:
    """Each gate with its outcome and figures on stdout; exit 0 where all are met, else 1."""
    save("aaaa", values(50, 0.8))
    met = gate("aaaa", "--gate", "recall_at_5>=0.8", "--gate", "recall_at_5@low>=0.6")
    assert (met.code, met.err) == (0, "")
    assert "recall_at_5>=0.8: met: recall_at_5 is 0.8\n" in met.out
    failed = gate("aaaa", "--gate", "recall_at_5>=0.9")
    assert failed.code == 1
    assert "recall_at_5>=0.9: not met: recall_at_5 is 0.8\n" in failed.out


def test_the_figures_of_a_failure_are_said_once(save: Cli, gate: Cli) -> None:
    """On stdout; the error names the gates alone, but with --json, where stdout is for a program."""
    save("aaaa", values(50, 0.8))
    flags = ("aaaa", "--gate", "recall_at_5>=0.9", "--gate", "recall_at_5@low>=0.75")
    assert gate(*flags).err == ("error: gate failed: recall_at_5>=0.9; not enough evidence: recall_at_5@low>=0.75\n")
    assert "gate failed: recall_at_5>=0.9: recall_at_5 is 0.8; " in gate(*flags, "--json").err


def test_a_lack_of_evidence_is_exit_1_unless_lenient(save: Cli, gate: Cli) -> None:
    """Told apart from a gate that is not met, which --lenient does not let pass."""
    save("aaaa", values(50, 0.8))
    lacking = ("aaaa", "--gate", "recall_at_5@low>=0.75")
    assert gate(*lacking).code == 1
    assert "recall_at_5@low>=0.75: not enough evidence: recall_at_5 is 0.8 (interval " in gate(*lacking).out
    assert gate(*lacking, "--lenient").code == 0
    assert gate("aaaa", "--gate", "recall_at_5@low>=0.85", "--lenient").code == 1


def test_json_is_one_object_with_every_outcome(save: Cli, gate: Cli) -> None:
    """With the exit code of the outcomes."""
    save("aaaa", values(50, 0.8))
    save("bbbb", values(50, 0.8))
    flags = ("--gate", "recall_at_5>=0.9", "--baseline", "bbbb", "--margin", "0.2", "--json")
    result = gate("aaaa", *flags)
    assert result.code == 1
    report = result.json
    assert (report["run"], report["baseline"], report["margin"]) == ("aaaa", "bbbb", 0.2)
    assert report["outcome"] == "not met"
    assert {each["gate"]: each["outcome"] for each in report["gates"]} == {
        "recall_at_5>=0.9": "not met",
        "recall_at_5 at most 0.2 below bbbb": "met",
    }


def test_a_baseline_is_held_with_its_margin(save: Cli, gate: Cli) -> None:
    """0.03 where none is given; the questions that would settle it are told."""
    save("aaaa", values(100, 0.79))
    save("bbbb", values(100, 0.8))
    against = ("aaaa", "--baseline", "bbbb", "--metrics", "recall_at_5")
    close = gate(*against)
    assert close.code == 1
    assert "recall_at_5 at most 0.03 below bbbb: not enough evidence: 0.79, was 0.8: difference -0.01 (" in close.out
    assert "more questions settle it" in close.out
    assert gate(*against, "--lenient").code == 0
    assert gate(*against, "--margin", "0.1").code == 0
    assert "recall_at_5 at most 0.005 below bbbb: not met" in gate(*against, "--margin", "0.005", "--lenient").out


def test_what_makes_runs_hard_to_compare_is_told(save: Cli, gate: Cli) -> None:
    """As in a comparison."""
    save("aaaa", values(12, 0.8))
    save("bbbb", values(12, 0.8), concurrency=1)
    out = gate("aaaa", "--baseline", "bbbb", "--metrics", "recall_at_5").out
    assert "! only 12 questions are common" in out
    assert "! the runs had different concurrency" in out


def test_a_run_that_failed_meets_no_gate(save: Cli, gate: Cli) -> None:
    """Exit 1 with the reason, whatever its latency was."""
    none = WeightedScore(score=None, reason="no question was answered")
    save("aaaa", {"q1": "timeout", "q2": "timeout"}, status="failed", weighted_score=none)
    result = gate("aaaa", "--gate", "score>=0")
    assert result.code == 1
    assert "score>=0: not met: the run failed: no question was answered" in result.out


def test_a_partial_run_is_exit_4(save: Cli, gate: Cli) -> None:
    """Its gates are told, but nobody knows what the rest of it is like."""
    save("aaaa", values(50, 0.8), status="partial")
    result = gate("aaaa", "--gate", "recall_at_5>=0.1")
    assert result.code == 4
    assert "recall_at_5>=0.1: met" in result.out
    assert "the run is partial" in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["aaaa"], "made without gates"),
        (["aaaa", "--margin", "0.1"], "--margin is a matter of two runs"),
        (["aaaa", "--metrics", "mrr"], "--metrics is a matter of two runs"),
        (["aaaa", "--gate", "recall_at_5=>1"], "not a gate"),
        (["aaaa", "--gate", "recall_at_5>=80"], "did you mean 0.8?"),
        (["aaaa", "--gate", "mrr>=1"], "which the run does not compute"),
        (["aaaa", "--baseline", "zzzz"], "no run 'zzzz'"),
        (["aaaa", "--baseline", "aaaa"], "its own baseline"),
        (["aaaa", "--baseline", "bbbb", "--margin", "-1"], "the margin must be 0 or more"),
        (["aaaa", "--baseline", "bbbb", "--metrics", ","], "names nothing"),
    ],
)
def test_what_cannot_be_checked_is_wrong_usage(save: Cli, gate: Cli, arguments: list[str], words: str) -> None:
    """Exit 2, and the message says what is wrong."""
    save("aaaa", values(50, 0.8))
    save("bbbb", values(50, 0.8))
    result = gate(*arguments)
    assert (result.code, result.out) == (2, "")
    assert words in result.err
