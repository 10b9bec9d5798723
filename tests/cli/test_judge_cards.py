"""The judge's card: on each report of a run judged in the same way, and asked for by gates."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from evals.schemas import EvalRecord
from evals.store.runs import RunStore

Cli = Callable[..., Any]


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, Path]:
    return "--runs-dir", tmp_path / "runs"


@pytest.fixture
def cli(evals_cli: Cli, judge_api: Any) -> Cli:
    """The command line with a judge that goes by shared words."""
    return evals_cli


@pytest.fixture
def judged(cli: Cli, golden_server: str, runs: Any) -> dict[str, Any]:
    """A judged run of thirty golden questions."""
    ask = f"eval --rag-url {golden_server} --datasets golden --samples 30 --json".split()
    done = cli(*ask, "--metrics", "answer_correctness,answer_relevancy", *runs)
    assert done.code == 0, done.err
    found: dict[str, Any] = done.json
    return found


def records_of(run: dict[str, Any], runs: Any) -> list[EvalRecord]:
    store = RunStore(runs[1])
    return store.records(store.load(run["id"]))


def label(cli: Cli, run: dict[str, Any], runs: Any, tmp_path: Path, count: int = 15) -> Any:
    """Calibrate by labels that agree with the judge on all answers but every fifth."""
    rows = []
    for record in records_of(run, runs):
        value = next((score.value for score in record.scores if score.name == "answer_correctness"), None)
        if value is not None and len(rows) < count:
            good = (value == 1) != (len(rows) % 5 == 4)
            rows.append({"id": record.question.id, "run": run["id"], "verdict": "yes" if good else "no"})
    return cli("calibrate", jsonl(tmp_path / "labels.jsonl", rows), *runs)


def jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_a_calibration_is_shown_with_runs_of_before_and_after(
    cli: Cli, judged: Any, runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metric that has no labels stays as it was."""
    monkeypatch.setenv("COLUMNS", "200")
    assert label(cli, judged, runs, tmp_path).code == 0
    shown = cli("show", judged["id"], *runs)
    assert "answer_correctness: calibrated on 15 labels, 20" in shown.out
    assert "never calibrated: answer_relevancy" in shown.out
    seen = cli("show", judged["id"], "--json", *runs).json
    assert seen["judge"]["cards"]["answer_correctness"]["labels"] == 15
    again = cli("rescore", judged["id"], "--json", *runs).json
    assert again["judge"]["cards"]["answer_correctness"]["labels"] == 15
    for file in (runs[1] / "calibrations").iterdir():
        file.unlink()
    kept = cli("show", again["id"], "--json", *runs).json
    assert kept["judge"]["cards"] == again["judge"]["cards"]
    assert kept["scorecard"] == again["scorecard"]


def test_a_card_counts_decided_labels(cli: Cli, judged: Any, messages_api: Any, runs: Any, tmp_path: Path) -> None:
    """One that is lost shows nothing of how often it is right."""
    messages_api.script({"match": "ferry 3 sail", "then": {"text": "nope"}}, {"then": {"python": "judge"}})
    told = {"expected_answer": "At noon.", "answer": "At noon.", "label": "yes"}
    rows = [{"question": f"When does ferry {n} sail?", **told} for n in range(12)]
    assert cli("calibrate", jsonl(tmp_path / "labels.jsonl", rows), *runs).code == 0
    cards = cli("show", judged["id"], "--json", *runs).json["judge"]["cards"]
    assert cards["answer_correctness"]["labels"] == 11


def test_a_gate_on_an_uncalibrated_judge_is_refused(
    cli: Cli, judged: Any, golden_server: str, messages_api: Any, runs: Any, tmp_path: Path
) -> None:
    """Before anything is asked, and of a saved run too; a flag or a calibration lets it pass."""
    messages_api.reset()
    gate = ("--gate", "answer_correctness>=0")
    ask = f"eval --rag-url {golden_server} --datasets golden --samples 2 --metrics answer_correctness".split()
    for command in (("gate", judged["id"]), ask, ("rescore", judged["id"])):
        refused = cli(*command, *gate, *runs)
        assert refused.code == 2
        assert all(words in refused.err for words in ("--allow-uncalibrated", "answer_correctness"))
    assert messages_api.log() == []
    messages_api.script({"then": {"python": "judge"}})
    assert cli("gate", judged["id"], *gate, "--allow-uncalibrated", *runs).code == 0
    assert cli(*ask, *gate, "--allow-uncalibrated", *runs).code == 0
    assert label(cli, judged, runs, tmp_path).code == 0
    assert cli("gate", judged["id"], *gate, *runs).code == 0
    assert cli(*ask, *gate, *runs).code == 0
    assert cli("gate", judged["id"], "--gate", "answer_relevancy>=0", *runs).code == 2


def test_a_regression_by_an_uncalibrated_judge_is_marked(cli: Cli, judged: Any, runs: Any, tmp_path: Path) -> None:
    """It fails all the same, and a reader sees that nobody knows how often the judge is wrong."""
    asked = [record.question for record in records_of(judged, runs) if record.question.expected_answer]
    rows = ({"id": each.id, "question": each.question, "expected_answer": each.expected_answer} for each in asked)
    questions = jsonl(tmp_path / "questions.jsonl", rows)
    right = ({"question_id": each.id, "answer": each.expected_answer} for each in asked)
    wrong = ({"question_id": each.id, "answer": "Bicycles cost nothing on trains."} for each in asked)
    good, bad = jsonl(tmp_path / "good.jsonl", right), jsonl(tmp_path / "bad.jsonl", wrong)
    score = ("--dataset-file", questions, "--metrics", "answer_correctness", "--json", *runs)
    last = cli("score", good, *score).json
    first = cli("score", bad, *score).json
    failed = cli("compare", last["id"], first["id"], "--fail-on-regression", *runs)
    assert (failed.code, ", uncalibrated)" in failed.err) == (1, True)
    label(cli, first, runs, tmp_path)
    failed = cli("compare", last["id"], first["id"], "--fail-on-regression", *runs)
    assert failed.code == 1
    assert "uncalibrated" not in failed.err
