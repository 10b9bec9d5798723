"""Labels that are given over HTTP, in the sheet that `evals review` writes and `evals calibrate` reads."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from viewer.shown import Shown

from evals.datasets.answers import read_labels
from evals.report.review import Labelling, labels_in, put_label
from evals.run.calibrating import read_label_set
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun

Show = Callable[..., Shown]
Save = Callable[..., EvalRun]
PLACE = "api/runs/abcd1234/labels"


def label(**changes: Any) -> dict[str, Any]:
    given = {"question": "q1", "metric": "answer_correctness", "verdict": "correct", "comment": "", "before": None}
    return given | changes


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def shown(show: Show, save: Save) -> Shown:
    """A folder with one run of two answers and a question without one; labels can be given."""
    found = show(labels=True)
    save(found.store, "abcd1234")
    return found


@pytest.fixture
def sheet(shown: Shown) -> Path:
    return shown.store.folder / "reviews" / "abcd1234.csv"


def test_a_label_is_saved_at_once(shown: Shown, sheet: Path) -> None:
    """With its note on one line, beside question and answer, under the names of `evals review`."""
    answer = shown.post(PLACE, label(comment="a good\n one"))
    assert (answer.status_code, answer.json()) == (200, {"verdict": "correct", "comment": "a good one"})
    assert shown.post(PLACE, label(metric="faithfulness", verdict="no")).status_code == 200
    found = [(row["id"], row["run"], row["metric"], row["verdict"], row["comment"]) for row in rows_of(sheet)]
    assert found == [
        ("q1", "abcd1234", "answer_correctness", "correct", "a good one"),
        ("q1", "abcd1234", "faithfulness", "no", ""),
    ]
    assert rows_of(sheet)[0]["answer"] == "It is q1."
    assert shown.get(PLACE).json()["labels"]["faithfulness"] == {"q1": {"verdict": "no", "comment": ""}}


def test_calibrate_reads_what_was_labelled(shown: Shown, sheet: Path) -> None:
    """Each metric by its name, with the answers of the run; cannot tell is no label."""
    shown.post(PLACE, label())
    shown.post(PLACE, label(question="q2", verdict="cannot_tell"))
    shown.post(PLACE, label(metric="faithfulness", verdict="yes"))
    assert len(list(read_labels(sheet))) == 3
    found = read_label_set([sheet], shown.store, metric="answer_correctness")
    assert [each.question_id for each in found.answers] == ["q1"]


def test_the_order_is_that_of_review_and_nothing_of_the_judge_is_shown(shown: Shown) -> None:
    """Answers alone, each with question, expected answer and passages."""
    given = shown.get(PLACE).json()
    assert sorted(given["ids"]) == ["q1", "q2"]
    assert [one["metric"] for one in given["questions"]] == ["answer_correctness", "faithfulness"]
    keys = [key for one in given["questions"] for key in one["keys"]]
    assert len(set(keys)) == len(keys), "a key that means two things"
    answer = shown.get("api/runs/abcd1234/answers/0").json()
    assert answer["id"] == given["ids"][0]
    assert set(answer) == {"id", "question", "expected", "answer", "passages"}
    assert shown.get("api/runs/abcd1234/answers/2").status_code == 404


def test_a_label_that_somebody_changed_meanwhile_stays(shown: Shown, sheet: Path) -> None:
    """The page hears what is there now; whoever has seen that may change it."""
    shown.post(PLACE, label())
    labelling = Labelling("abcd1234", "answer_correctness")
    theirs = {**rows_of(sheet)[0], "verdict": "incorrect", "comment": "wrong year"}
    put_label(sheet, labelling, "q1", theirs, before=rows_of(sheet)[0])
    answer = shown.post(PLACE, label(verdict="partly_correct", before={"verdict": "correct", "comment": ""}))
    assert answer.status_code == 409
    assert answer.json()["found"] == {"verdict": "incorrect", "comment": "wrong year"}
    assert rows_of(sheet)[0]["verdict"] == "incorrect"
    assert shown.post(PLACE, label(before=answer.json()["found"])).status_code == 200
    assert shown.post(PLACE, label(question="q2", before={"verdict": "correct", "comment": ""})).status_code == 409


def test_labels_of_others_stay(shown: Shown, sheet: Path) -> None:
    """Of another person, another metric and another run in the same sheet; a label that is taken back goes alone."""
    row = dict.fromkeys(("id", "run", "metric", "annotator", "question", "expected_answer", "answer"), "x")
    others = [
        {**row, "verdict": "yes", "comment": "of another run"},
        {
            **row,
            "id": "q1",
            "run": "abcd1234",
            "metric": "answer_correctness",
            "annotator": "anna",
            "verdict": "incorrect",
            "comment": "",
        },
    ]
    put_label(sheet, Labelling("x", "x", "x"), "x", others[0], before=None)
    put_label(sheet, Labelling("abcd1234", "answer_correctness", "anna"), "q1", others[1], before=None)
    assert shown.post(PLACE, label()).status_code == 200
    assert [one["verdict"] for one in rows_of(sheet)] == ["yes", "incorrect", "correct"]
    gone = shown.post(PLACE, label(verdict=None, before={"verdict": "correct", "comment": ""}))
    assert (gone.status_code, gone.json()) == (200, None)
    assert rows_of(sheet) == others


@pytest.mark.parametrize(
    ("key", "annotator", "answer", "comment"),
    [
        pytest.param("-q1", "@anna", "", "=1+1", id="texts that a spreadsheet would run"),
        pytest.param("q1", "", "x" * 1_000_000, "", id="more than the 131,072 characters of a cell of Python's csv"),
        pytest.param("q\r\n1", "Anna\r\nB", "", "", id="line breaks, of which a sheet has one kind"),
    ],
)
def test_a_label_is_found_again_whatever_stands_beside_it(
    key: str, annotator: str, answer: str, comment: str, tmp_path: Path
) -> None:
    """It can be seen, changed and taken back, and the limit of cells is as it was for the whole process."""
    path, labelling, before = (
        tmp_path / "a.csv",
        Labelling("a", "answer_correctness", annotator),
        csv.field_size_limit(),
    )
    record = EvalRecord(question=EvalQuestion(id=key, question="?"), response=EvalResponse(answer=answer))
    row = labelling.row(record, "correct", comment)
    put_label(path, labelling, key, row, before=None)
    put_label(path, labelling, key, {**row, "verdict": "incorrect"}, before=row)
    assert labels_in(path, labelling, [key])[key]["verdict"] == "incorrect"
    put_label(path, labelling, key, None, before={"verdict": "incorrect", "comment": comment})
    assert labels_in(path, labelling, [key]) == {}
    assert csv.field_size_limit() == before


BAD = [
    (label(verdict="splendid"), 404, "unknown label 'splendid'"),
    (label(metric="mrr"), 404, "unknown metric to label 'mrr'"),
    (label(question="q3"), 404, "unknown answer 'q3'"),
    (label(question="nobody"), 404, "unknown answer 'nobody'"),
    (label(verdict=1), 422, "this is no label"),
    (label(more="x"), 422, "this is no label"),
    (label(before={}), 422, "`before` must hold verdict and comment"),
    ([], 422, "this is no label"),
]


@pytest.mark.parametrize(("sent", "status", "said"), BAD, ids=[said for _, _, said in BAD])
def test_what_is_no_label_is_refused(sent: Any, status: int, said: str, shown: Shown, sheet: Path) -> None:
    """Before anything is written."""
    answer = shown.post(PLACE, sent)
    assert (answer.status_code, said in answer.json()["error"]) == (status, True), answer.text
    assert not sheet.exists()


def test_a_label_is_taken_from_our_own_page_as_json_alone(shown: Shown, sheet: Path) -> None:
    """A form of another page can send neither; nor can anything without the token, or a body without end."""
    for origin in ({"origin": "http://other.example"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"}):
        assert shown.post(PLACE, label(), **origin).status_code == 403
    assert shown.client.post(shown.url + PLACE, json=label()).status_code == 403, "without an origin"
    own = {"Origin": f"http://127.0.0.1:{shown.port}"}
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        body = b'{"question": "q1", "metric": "answer_correctness", "verdict": "correct"}'
        answer = shown.client.post(shown.url + PLACE, content=body, headers={**own, "Content-Type": kind})
        assert answer.status_code == 415
    assert shown.client.post(f"http://127.0.0.1:{shown.port}/{PLACE}", json=label(), headers=own).status_code == 404
    assert shown.post(PLACE, label(comment="x" * 100_000)).status_code == 413
    assert not sheet.exists()


def test_a_sheet_that_is_none_is_not_overwritten(shown: Shown, sheet: Path) -> None:
    """Somebody else's file stays as it is."""
    sheet.parent.mkdir()
    sheet.write_text("mine,yours\n1,2\n", encoding="utf-8")
    answer = shown.post(PLACE, label())
    assert (answer.status_code, "is no sheet of labels" in answer.json()["error"]) == (422, True)
    assert sheet.read_text(encoding="utf-8") == "mine,yours\n1,2\n"


def test_a_person_has_a_sheet_of_their_own(show: Show, save: Save) -> None:
    """As with `evals review --annotator`."""
    shown = show(labels=True, annotator="Anna B")
    save(shown.store, "abcd1234")
    shown.post(PLACE, label())
    (row,) = rows_of(shown.store.folder / "reviews" / "abcd1234-Anna-B.csv")
    assert row["annotator"] == "Anna B"
