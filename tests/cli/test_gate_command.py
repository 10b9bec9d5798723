"""`evals gate`: what it prints, and that each way in which it can end has its exit code and leaves a report."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from junit_reader import read_junit
from whole_runs import put_records

from evals.cli.commands import runs as gate_command
from evals.schemas import WeightedScore
from evals.schemas.verdicts import JudgeRecord
from evals.store.runs import RunStore

Cli = Callable[..., Any]
LATER = datetime(2026, 2, 1, tzinfo=UTC)
JUDGE = JudgeRecord(model="judge-1", origin="https://judge.example", cards={"answer_correctness": None})


def values(n: int, rate: float, first: int = 0, name: str = "recall_at_5") -> dict[str, dict[str, float | None]]:
    """Values of n questions, of which so many are 1."""
    return {f"q{first + place}": {name: float(place < rate * n)} for place in range(n)}


NONE = WeightedScore(score=None, reason="no question was answered")
RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "good": (values(50, 0.8), {}),
    "made": (values(50, 0.8), {"eval_config": {"gate": ["recall_at_5>=0.5"]}}),
    "twin": (values(50, 0.8), {}),
    "near": (values(50, 0.84), {}),
    "best": (values(50, 1.0), {}),
    "else": (values(50, 0.8, first=100), {}),
    "empty": ({key: {"recall_at_5": None} for key in values(50, 1.0)}, {}),
    "judged": (values(50, 0.8, name="answer_correctness"), {"judge": JUDGE}),
    "partial": (values(50, 0.8), {"status": "partial"}),
    "failed": ({"q1": "timeout"}, {"status": "failed", "weighted_score": NONE}),
    "open": (values(50, 0.8), {"status": "partial", "completed_at": None}),
    "lost": (values(50, 0.8), {}),
    "torn": (values(50, 0.8), {}),
    "newer": (values(50, 0.8), {"schema_version": 999}),
}


@pytest.fixture
def put(build_run: Cli, tmp_path: Path) -> Callable[[str], None]:
    """Save one of the runs, and do to its files what is done to them."""

    def make(run_id: str) -> None:
        found, changes = RUNS[run_id]
        run, records = build_run(run_id, found, **{"completed_at": LATER, **changes})
        store = RunStore(tmp_path / "runs")
        store.prepare()
        store.save(run.model_copy(update={"record_sum": put_records(store, run, records)}))
        if run_id == "lost":
            store.records_path(run).write_text("")
        if run_id == "torn":
            store.run_path(run).write_text('{"id": ')

    return make


@contextmanager
def ending(by: type[BaseException]) -> Iterator[None]:
    """The command ends by an exception in the midst of it."""

    def end(*_: object) -> None:
        raise by("in the midst")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate_command, "check_alone", end)
        yield


GOOD = ("good", "--gate")
JUDGED = ("judged", "--gate", "answer_correctness>=0.5")
AGAINST = ("--metrics", "recall_at_5", "--baseline")
OUTCOMES: dict[str, tuple[int, tuple[str, ...]]] = {
    # 0: nothing is wrong
    "met": (0, (*GOOD, "recall_at_5>=0.8")),
    "met with evidence": (0, (*GOOD, "recall_at_5@low>=0.6")),
    "met by the gates of the run": (0, ("made",)),
    "not worse than the baseline": (0, ("good", *AGAINST, "twin")),
    "not enough evidence, which is let pass": (0, (*GOOD, "recall_at_5@low>=0.75", "--lenient")),
    "uncalibrated judge, which is let pass": (0, (*JUDGED, "--allow-uncalibrated")),
    # 1: a gate fails
    "not met": (1, (*GOOD, "recall_at_5>=0.9")),
    "not met with evidence": (1, (*GOOD, "recall_at_5@low>=0.85")),
    "not enough evidence": (1, (*GOOD, "recall_at_5@low>=0.75")),
    "not met, whatever is let pass of evidence": (1, (*GOOD, "recall_at_5@low>=0.85", "--lenient")),
    "no value": (1, ("empty", "--gate", "recall_at_5>=0")),
    "no score, as little is measured": (1, (*GOOD, "score>=0")),
    "one of two not met": (1, (*GOOD, "recall_at_5>=0.1", "--gate", "recall_at_5>=0.9")),
    "worse than the baseline": (1, ("good", *AGAINST, "best")),
    "nobody can say whether it is worse": (1, ("good", *AGAINST, "near", "--margin", "0.01")),
    "failed run": (1, ("failed", "--gate", "score>=0")),
    "baseline that failed": (1, ("good", *AGAINST, "failed")),
    # 2: wrong usage
    "no gate": (2, ("good",)),
    "bad syntax": (2, (*GOOD, "recall_at_5=>1")),
    "limit out of range": (2, (*GOOD, "recall_at_5>=80")),
    "unknown metric": (2, (*GOOD, "recal_at_5>=0.8")),
    "metric that the run does not compute": (2, (*GOOD, "mrr>=0.8")),
    "unknown metric of a baseline": (2, ("good", "--metrics", "recal", "--baseline", "twin")),
    "uncalibrated judge": (2, JUDGED),
    "missing run": (2, ("zzzz", "--gate", "recall_at_5>=0.8")),
    "missing baseline": (2, ("good", *AGAINST, "zzzz")),
    "its own baseline": (2, ("good", *AGAINST, "good")),
    "no question in common": (2, ("good", *AGAINST, "else")),
    "margin below 0": (2, ("good", *AGAINST, "twin", "--margin", "-1")),
    "margin without a baseline": (2, (*GOOD, "recall_at_5>=0.1", "--margin", "0.1")),
    # 4: the run is not whole, or a file is not
    "partial run": (4, ("partial", "--gate", "recall_at_5>=0.1")),
    "partial run, and a gate not met": (4, ("partial", "--gate", "recall_at_5>=0.9")),
    "partial run, whatever is let pass": (4, ("partial", "--gate", "recall_at_5>=0.1", "--lenient")),
    "unfinished run": (4, ("open", "--gate", "recall_at_5>=0.1")),
    "unfinished baseline": (4, ("good", *AGAINST, "open")),
    "lost records": (4, ("lost", "--gate", "recall_at_5>=0.1")),
    "baseline with lost records": (4, ("good", *AGAINST, "lost")),
    "damaged run": (4, ("torn", "--gate", "recall_at_5>=0.1")),
    "damaged baseline": (4, ("good", *AGAINST, "torn")),
    "run of a newer version": (4, ("newer", "--gate", "recall_at_5>=0.1")),
    # others
    "interrupted": (130, (*GOOD, "recall_at_5>=0.1")),
    "a bug of ours": (70, (*GOOD, "recall_at_5>=0.1")),
}
ENDED_BY = {"interrupted": KeyboardInterrupt, "a bug of ours": ZeroDivisionError}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_has_its_exit_code_and_leaves_a_report(
    evals_cli: Cli, put: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: str
) -> None:
    """A failing gate is a failed case, whatever else ends the command is an error of the run."""
    monkeypatch.chdir(tmp_path)
    code, arguments = OUTCOMES[outcome]
    for run_id in set(arguments) & set(RUNS):
        put(run_id)
    flags = ("--runs-dir", "runs", "--junit", "junit.xml", "--comment", "comment.md")
    with ending(ENDED_BY[outcome]) if outcome in ENDED_BY else nullcontext():
        result = evals_cli("gate", *arguments, *flags)
    assert (result.code, result.err.count("Traceback")) == (code, int(code == 70)), result.err
    found = read_junit(Path("junit.xml").read_bytes())
    gates = [ended for (classname, _), (ended, _, _) in found.items() if classname.startswith("gates.")]
    assert ("failure" in gates) == (code == 1 or outcome.endswith("gate not met"))
    assert (found["run", "complete"][0] == "error") == (code > 1 or outcome == "failed run")
    assert Path("comment.md").read_text(encoding="utf-8").startswith("<!-- evals: evaluation -->\n### ")


@pytest.fixture
def gate(evals_cli: Cli, tmp_path: Path) -> Cli:
    """Run `gate` on the saved runs."""
    return lambda *arguments: evals_cli("gate", *arguments, "--runs-dir", tmp_path / "runs")


def test_a_saved_run_is_checked(save: Cli, gate: Cli) -> None:
    """Each gate with its outcome and figures on stdout; exit 0 where all are met, else 1."""
    save("aaaa", values(50, 0.8))
    met = gate("aaaa", "--gate", "recall_at_5>=0.8", "--gate", "recall_at_5@low>=0.6")
    assert (met.code, met.err) == (0, "")
    assert "recall_at_5>=0.8: met: recall_at_5 is 0.8\n" in met.out
    failed = gate("aaaa", "--gate", "recall_at_5>=0.9")
    assert (failed.code, "recall_at_5>=0.9: not met: recall_at_5 is 0.8\n" in failed.out) == (1, True)


def test_json_is_one_object_with_every_outcome(save: Cli, gate: Cli) -> None:
    """With the exit code of the outcomes."""
    for run_id in ("aaaa", "bbbb"):
        save(run_id, values(50, 0.8))
    result = gate("aaaa", "--gate", "recall_at_5>=0.9", "--baseline", "bbbb", "--margin", "0.2", "--json")
    assert result.code == 1
    report = result.json
    assert (report["run"], report["baseline"], report["margin"]) == ("aaaa", "bbbb", 0.2)
    assert report["outcome"] == "not met"
    assert {each["gate"]: each["outcome"] for each in report["gates"]} == {
        "recall_at_5>=0.9": "not met",
        "recall_at_5 at most 0.2 below bbbb": "met",
    }


def test_a_baseline_is_held_with_its_margin(save: Cli, gate: Cli) -> None:
    """0.03 where none is given; the questions that would be needed are told, and the flags."""
    save("aaaa", values(100, 0.79))
    save("bbbb", values(100, 0.8))
    against = ("aaaa", "--baseline", "bbbb", "--metrics", "recall_at_5")
    close = gate(*against)
    assert close.code == 1
    assert "recall_at_5 at most 0.03 below bbbb: not enough evidence: 0.79, was 0.8: difference -0.01 (" in close.out
    assert "questions would decide" in " ".join(close.out.split())
    assert "--margin sets the tolerated loss (here 0.03); --lenient passes gates without enough evidence" in close.out
    assert gate(*against, "--lenient").code == 0
    assert gate(*against, "--margin", "0.1").code == 0
    assert gate("bbbb", "--baseline", "aaaa", "--metrics", "recall_at_5", "--margin", "0").code == 0
