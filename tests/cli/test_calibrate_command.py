"""`evals calibrate`: labels of several kinds, judged over HTTP by an imitation that goes by shared words."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.store.runs import RunStore, saved_calibrations

Cli = Callable[..., Any]
RIGHT, WRONG = "The ferry sails at noon from harbour {n}.", "Bicycles cost nothing on trains."


@pytest.fixture
def calibrate(evals_cli: Cli, judge_api: Any, tmp_path: Path) -> Cli:
    """Run `calibrate` with a folder of runs of its own."""
    return lambda *arguments: evals_cli("calibrate", *arguments, "--runs-dir", tmp_path / "runs")


def row(n: int, right: bool, label: Any, **more: Any) -> dict[str, Any]:
    """An answer that the imitation calls correct or incorrect, and what people say of it."""
    answer, expected = (RIGHT if right else WRONG).format(n=n), RIGHT.format(n=n)
    question = {"question": f"When does ferry {n} sail?", "expected_answer": expected}
    return {**question, "answer": answer, "label": label, **more}


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


TRUTH = [(n < 16, "correct" if n < 14 or n == 19 else "incorrect") for n in range(20)]
"""Of twenty answers the judge calls sixteen correct; people call fourteen of these correct, and one of the others."""


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "labels.jsonl", [row(n, right, label) for n, (right, label) in enumerate(TRUTH)])


def test_the_judge_is_held_against_labels(calibrate: Cli, labels: Path) -> None:
    """By the table of two by two; each disagreement has both labels and the quote."""
    done = calibrate(labels, "--json")
    assert done.code == 0
    judge = done.json["judge"]
    assert judge["agreement"]["value"] == 17 / 20
    assert judge["sensitivity"]["value"] == 14 / 15
    assert judge["specificity"]["value"] == 3 / 5
    assert judge["kappa"]["value"] == pytest.approx((17 / 20 - 13 / 20) / (1 - 13 / 20))
    assert judge["sensitivity"]["n"] == 15
    for name in ("agreement", "kappa", "sensitivity", "specificity"):
        low, high = judge[name]["ci"]
        assert low < judge[name]["value"] < high
    confusion = {"correct": {"correct": 14, "incorrect": 1}, "incorrect": {"correct": 2, "incorrect": 3}}
    assert done.json["confusion"] == confusion
    labels_of_both = [(each["label"], each["judged"]) for each in done.json["disagreements"]]
    assert labels_of_both == [("incorrect", "correct"), ("incorrect", "correct"), ("correct", "incorrect")]
    assert done.json["disagreements"][0]["quote"] == RIGHT.format(n=14)
    assert [each["label"] for each in done.json["answers"]] == [float(label == "correct") for _, label in TRUTH]
    assert [each["score"] for each in done.json["answers"]] == [float(right) for right, _ in TRUTH]


def test_what_came_out_is_saved_without_texts(calibrate: Cli, labels: Path, tmp_path: Path) -> None:
    """Bound to model and wording of the prompts; a second calibration asks nothing of the judge."""
    assert calibrate(labels).code == 0
    (found,) = saved_calibrations(tmp_path / "runs")
    assert (found.metric, found.model, len(found.answers)) == ("answer_correctness", "claude-sonnet-5-5", 20)
    assert set(found.prompt_hashes) == {"answer_correctness"}
    (file,) = (tmp_path / "runs" / "calibrations").iterdir()
    assert "ferry" not in file.read_text(encoding="utf-8")
    again = calibrate(labels)
    assert "0 calls, 20 from the cache, $0.0000" in again.out


def test_its_run_is_never_the_last_one(calibrate: Cli, evals_cli: Cli, labels: Path, save: Callable[..., Any]) -> None:
    """`review last` goes on with the run that was labelled; lists show it with `--all` alone, and its id finds it."""
    store = save("abcd1234", {"q1": {"mrr": 1.0}})
    assert calibrate(labels).code == 0
    folder = ("--runs-dir", store.folder)
    assert evals_cli("show", "last", "--json", *folder).json["id"] == "abcd1234"
    listed = [
        [run["id"] for run in evals_cli("runs", "--json", *flag, *folder).json["runs"]] for flag in ((), ["--all"])
    ]
    assert listed == [["abcd1234"], ["abcd1234", listed[1][1]]]
    assert evals_cli("show", listed[1][1], *folder).code == 0
    gated = evals_cli("gate", "last", "--gate", "mrr>=0", *folder)
    assert gated.code in {0, 1}
    assert "calibration-" not in gated.out + gated.err


def test_a_dry_run_asks_and_saves_nothing(calibrate: Cli, labels: Path, messages_api: Any, tmp_path: Path) -> None:
    """It says what judging would take."""
    done = calibrate(labels, "--dry-run")
    assert (done.code, "would judge with claude-sonnet-5-5: about 20 calls" in done.out) == (0, True)
    assert messages_api.log() == []
    assert not (tmp_path / "runs").exists()


def test_numbers_are_compared_by_the_middle_of_their_scale(calibrate: Cli, tmp_path: Path) -> None:
    """From 1 to 5 a label of 4 is good, and 3 is not."""
    labels = {"correct": 4, "incorrect": 3}
    rows = [row(n, right, labels[label]) for n, (right, label) in enumerate(TRUTH)]
    found = calibrate(jsonl(tmp_path / "grades.jsonl", rows), "--scale", "1,5", "--json").json
    assert (found["judge"]["sensitivity"]["value"], found["judge"]["specificity"]["value"]) == (14 / 15, 3 / 5)
    assert found["scale"] == "yes and no, or numbers from 1 (worst) to 5"


def test_several_answers_to_a_question_are_told_apart(calibrate: Cli, tmp_path: Path) -> None:
    """Those of several systems, of which one is right."""
    question = {key: value for key, value in row(0, True, "").items() if key != "answer"}
    answers = [RIGHT.format(n=0), WRONG, "Ask the captain."]
    rows = [{**question, "answer": text, "system": text[:3], "label": "yes"} for text in answers]
    found = calibrate(jsonl(tmp_path / "systems.jsonl", rows), "--json").json
    assert [each["score"] for each in found["answers"]] == [1.0, 0.0, 0.0]
    assert len({each["id"] for each in found["answers"]}) == 3


def test_an_answer_without_a_verdict_is_lost(calibrate: Cli, labels: Path, messages_api: Any) -> None:
    """It is neither good nor bad."""
    messages_api.script({"match": "ferry 3 sail", "then": {"text": "nope"}}, {"then": {"python": "judge"}})
    found = calibrate(labels, "--json").json
    assert (found["lost"], found["judge"]["agreement"]["n"], len(found["answers"])) == (1, 19, 20)


def test_a_filled_in_review_sheet_is_read(calibrate: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """The answers and passages are those of the run; rows without a verdict are counted, and not judged again."""
    runs = ("--runs-dir", tmp_path / "runs")
    asked = f"eval --rag-url {golden_server} --datasets golden --samples 20 --suite core --json".split()
    run = evals_cli(*asked, *runs).json
    path = tmp_path / "sheet.csv"
    assert evals_cli("review", run["id"], "--output", path, *runs).code == 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    rows = [{**each, "verdict": "correct" if n % 3 else "incorrect"} for n, each in enumerate(rows)]
    rows[0]["verdict"], rows[1]["verdict"] = "", "cannot_tell"
    with (tmp_path / "filled.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = calibrate(tmp_path / "filled.csv", "--json")
    assert done.code == 0, done.err
    found = done.json
    assert (found["unlabelled"], len(found["answers"]), found["labels_from"]) == (2, 18, ["filled.csv"])
    assert evals_cli("show", found["run"], "--json", *runs).json["judge"]["calls"] == 0


@pytest.mark.parametrize(("flags", "is_paid_again"), [([], False), (["--no-judge-cache"], True)])
def test_the_verdicts_of_the_labelled_run_are_taken_unless_nothing_kept_may_be(
    calibrate: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path, flags: list[str], is_paid_again: bool
) -> None:
    """They are in the run, though it put none into the cache."""
    runs = ("--runs-dir", tmp_path / "runs")
    asked = f"eval --rag-url {golden_server} --datasets golden --samples 6 --metrics answer_correctness".split()
    run = evals_cli(*asked, "--no-judge-cache", "--json", *runs).json
    store = RunStore(tmp_path / "runs")
    ids = [record.question.id for record in store.records(store.load(run["id"]))]
    labels = jsonl(tmp_path / "labels.jsonl", [{"id": name, "run": run["id"], "label": "no"} for name in ids])
    done = calibrate(labels, *flags, "--json")
    assert done.code == 0, done.err
    calls = [evals_cli("show", name, "--json", *runs).json["judge"]["calls"] for name in (run["id"], done.json["run"])]
    assert calls[0] > 0
    assert calls[1] == (calls[0] if is_paid_again else 0)


def test_an_id_that_a_sheet_guards_is_found(calibrate: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """A spreadsheet takes the apostrophe before what may be a formula for text, and so it may be saved."""
    ids = ["=A1", "+2", "plain"]
    asked = [{**row(n, True, ""), "id": name} for n, name in enumerate(ids)]
    file, runs = jsonl(tmp_path / "questions.jsonl", asked), ("--runs-dir", tmp_path / "runs")
    flags = f"eval --rag-url {golden_server} --metrics answer_correctness --json".split()
    done = evals_cli(*flags, "--dataset-file", file, *runs)
    assert done.code == 0, done.err
    run = done.json
    rows = [{"id": name, "run": run["id"], "label": "no"} for name in ("'=A1", "+2", "plain")]
    done = calibrate(jsonl(tmp_path / "labels.jsonl", rows), "--json")
    assert done.code == 0, done.err
    assert [each["id"] for each in done.json["answers"]] == ids


PLAIN = {"question": "a", "answer": "b"}
YES = {**PLAIN, "label": "yes"}
METRICS = [{**YES, "question": name, "metric": name} for name in ("faithfulness", "answer_relevancy")]


@pytest.mark.parametrize(
    ("rows", "flags", "said"),
    [
        ([PLAIN], [], "has no column of labels"),
        ([{**PLAIN, "label": ""}], [], "no row has a label"),
        ([{**PLAIN, "preferred": True, "system": "new"}], [], "has no column of labels"),
        ([{**PLAIN, "label": "cannot tell"}], [], "no row has a label"),
        ([{"question": "a", "label": "yes"}], [], "no question and answer to judge"),
        ([{"answer": "b", "label": "yes"}], [], "neither id nor question"),
        ([{"id": "x", "run": "abcd", "label": "yes"}], [], "no run 'abcd'"),
        ([{**PLAIN, "label": ["yes"]}], [], "line 1: a label is a word or a number, not list"),
        ([{**YES, "chunks": '["torn'}], [], "line 1: not valid JSON"),
        ([{**YES, "verdict.Anna": "no"}], [], "'verdict.Anna' are not read any more write one label for each answer"),
        ([YES] * 2, [], "labelled at l.jsonl, line 1 already"),
        ([{**YES, "annotator": name} for name in ("x", "y")], [], "of several people, what they agree on"),
        ([{**PLAIN, "label": 5}], [], "--scale 1,5"),
        ([YES, {**PLAIN, "label": "so so"}], [], "l.jsonl, line 2: label 'so_so' is not one of yes and no"),
        ([{**PLAIN, "label": 7}], ["--scale", "1,5"], "or numbers from 1 (worst) to 5"),
        (METRICS, [], "the labels are about answer_relevancy and faithfulness"),
        ([YES], [], "no labelled answer has a value"),
        ([YES], ["--metric", "mrr"], "not decided by a judge"),
        ([YES], ["--metric", "hallucination"], "more of it is not better"),
        (METRICS[:1], ["--metric", "answer_relevancy"], "no row is about answer_relevancy"),
        ([YES], ["--no-judge"], "without a judge"),
        ([YES], ["--scale", "x"], "not a scale: 'x'"),
        ([YES], ["--score-cut", 2], "--score-cut must be above 0"),
        ([YES], ["--label-cut", 0], "--label-cut must be above 0 and at most 1, not 0"),
    ],
)
def test_wrong_labels_are_told(calibrate: Cli, tmp_path: Path, rows: Any, flags: list[Any], said: str) -> None:
    """One message names what is wrong."""
    done = calibrate(jsonl(tmp_path / "l.jsonl", rows), *flags)
    assert done.code == 2
    assert said in " ".join(done.err.split())
