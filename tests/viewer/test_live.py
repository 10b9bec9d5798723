"""A run that goes on, and the list of runs, as a page that looks again and again sees them."""

from collections.abc import Callable
from typing import Any

import pytest
from viewer.shown import Shown, answer_to, minutes_later

from evals.report.folder import RunProgress, RunsFolder
from evals.schemas import EvalQuestion, EvalResponse, EvalRun, JudgeVerdict
from evals.schemas.response import ResponseError
from evals.store.atomic import write_atomically

Show = Callable[..., Shown]
Save = Callable[..., EvalRun]
Begin = Callable[..., EvalRun]
TIMEOUT = EvalResponse(error=ResponseError(kind="timeout", message="no answer came"))


def test_a_run_that_goes_on_fills_in(show: Show, begin: Begin, questions: list[EvalQuestion]) -> None:
    """Each look tells what the log says by then: asked, answered, failed and why, verdicts, and values so far."""
    shown = show()
    run = begin(shown.store)
    with shown.store.journal(run) as journal:
        journal.questions(questions)
        first = shown.get("api/runs/feed0001/progress").json()
        assert (first["finished"], first["total"], first["asked"], first["values"]) == (False, 4, 0, [])
        journal.answer("q0", answer_to(questions[0]))
        journal.answer("q1", answer_to(questions[1], right=False))
        journal.answer("q2", TIMEOUT)
        journal.verdict("q0", JudgeVerdict(request="faithfulness", reply={}, cost_usd=0.25))
        then = shown.get("api/runs/feed0001/progress").json()
    assert (then["total"], then["asked"], then["answered"]) == (4, 3, 2)
    assert then["errors"] == [{"kind": "timeout", "count": 1}]
    assert (then["verdicts"], then["spent"]) == (1, "$0.250")
    values = {one["name"]: (one["shown"], one["n"]) for one in then["values"]}
    assert values["recall_at_5 so far"] == ("0.500", 2)
    assert values["latency p95 so far"] == ("20.0 ms", 2)
    assert 0 <= then["quiet_s"] < 60


def test_the_list_follows_it_and_its_end(show: Show, begin: Begin, save: Save, questions: list[EvalQuestion]) -> None:
    """While it goes on its row says how far it is; once it has ended, it is a run like others."""
    shown = show()
    run = begin(shown.store)
    with shown.store.journal(run) as journal:
        journal.questions(questions)
        journal.answer("q0", answer_to(questions[0]))
        (row,) = shown.get("api/runs").json()["runs"]
    assert (row["status"], row["finished"], row["progress"]["asked"]) == ("unfinished", False, 1)
    save(shown.store, run.id, created_at=run.created_at)
    (row,) = shown.get("api/runs").json()["runs"]
    assert (row["status"], row["finished"], row["progress"]) == ("complete", True, None)
    assert shown.get("api/runs/feed0001/progress").json() == {"finished": True}


def test_the_page_of_a_run_that_goes_on_has_its_answers(
    show: Show, begin: Begin, questions: list[EvalQuestion]
) -> None:
    """Those that are in its log, whenever it is opened."""
    shown = show()
    run = begin(shown.store)
    with shown.store.journal(run) as journal:
        journal.questions(questions)
        assert "0 of 4 answers" in shown.get("runs/feed0001/").text
        journal.answer("q0", answer_to(questions[0]))
        assert "1 of 4 answers" in shown.get("runs/feed0001/").text
        assert "Burst pipes are covered." in shown.get("runs/feed0001/block/feed0001/details/0").text


def test_a_line_that_is_still_written_waits_for_the_next_look(
    begin: Begin, questions: list[EvalQuestion], show: Show
) -> None:
    """Half an event is none yet, and is no damage."""
    store = show().store
    run = begin(store)
    with store.journal(run) as journal:
        journal.questions(questions)
        journal.answer("q0", answer_to(questions[0]))
    path = store.records_path(run)
    data = path.read_bytes()
    path.write_bytes(data[:-40])
    progress = RunProgress(run, path)
    assert progress.look()["asked"] == 0
    with path.open("ab") as file:
        file.write(data[-40:])
    assert progress.look()["asked"] == 1


def test_a_log_that_is_replaced_is_read_from_its_begin(begin: Begin, questions: list[EvalQuestion], show: Show) -> None:
    """As when a run is gone on with: nothing is counted twice, and the last answer to a question counts."""
    store = show().store
    run = begin(store)
    with store.journal(run) as journal:
        journal.questions(questions)
        journal.answer("q0", TIMEOUT)
    progress = RunProgress(run, store.records_path(run))
    assert progress.look()["errors"] == [{"kind": "timeout", "count": 1}]
    with store.journal(run) as journal:
        journal.answer("q0", answer_to(questions[0]))
    assert (progress.look()["asked"], progress.look()["errors"]) == (1, [])
    store.compact(run, store.records(run))
    told = progress.look()
    assert (told["total"], told["asked"], told["answered"]) == (4, 1, 1)


@pytest.mark.parametrize(
    "text", ['{"type": "answer"}\n', "[]\n", '{"question_id": "q", "type": "answer", "answer": 1}\n']
)
def test_a_log_that_is_none_is_one_message(text: str, show: Show, begin: Begin) -> None:
    """And the list still stands."""
    shown = show()
    run = begin(shown.store)
    shown.store.records_path(run).write_text(text, encoding="utf-8")
    answer = shown.get("api/runs/feed0001/progress")
    assert (answer.status_code, answer.json()["error"]) == (500, f"{run.stem}.records.jsonl is not the log of a run")
    assert [row["progress"] for row in shown.get("api/runs").json()["runs"]] == [None]


def test_the_list_has_the_columns_of_evals_runs(
    show: Show, save: Save, evals_cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same words, oldest first; and files that are no runs are told."""
    shown = show()
    run = save(shown.store, "abcd1234")
    save(shown.store, "bcde2345", name="another", created_at=minutes_later(run, 5))
    (shown.store.folder / "damaged_20260101T000000Z.json").write_text("{", encoding="utf-8")
    listed = shown.get("api/runs").json()
    monkeypatch.setenv("COLUMNS", "300")
    printed = evals_cli("runs", "--runs-dir", shown.store.folder).out
    words = " ".join(printed.split())
    assert " ".join(listed["titles"]) in words
    for row in listed["runs"]:
        assert " ".join(" ".join(row["cells"]).split()) in words
    assert [row["id"] for row in listed["runs"]] == ["abcd1234", "bcde2345"]
    (said,) = listed["unreadable"]
    assert "damaged_20260101T000000Z.json" in said


def test_trends_are_of_runs_of_the_same_datasets(show: Show, save: Save) -> None:
    """Score and main metrics from run to run, oldest first; one run alone has no trend."""
    shown = show()
    first = save(shown.store, "abcd1234", {"q1": {"mrr": 0.5}, "q2": {"mrr": 0.7}})
    save(shown.store, "bcde2345", {"q1": {"mrr": 0.9}, "q2": {"mrr": 0.7}}, created_at=minutes_later(first, 5))
    save(shown.store, "cdef3456", {"q1": {"mrr": 0.1}}, datasets=["other"], created_at=minutes_later(first, 9))
    (trend,) = shown.get("api/runs").json()["trends"]
    assert trend["datasets"] == "golden"
    (course,) = [one for one in trend["metrics"] if one["name"] == "mrr"]
    assert [(point["run"], point["shown"]) for point in course["points"]] == [
        ("abcd1234", "0.600"),
        ("bcde2345", "0.800"),
    ]


def test_runs_beside_each_other_are_one_page(show: Show, save: Save) -> None:
    """Each block under its name; a run twice, or one that is not there, is refused."""
    shown = show()
    save(shown.store, "abcd1234")
    save(shown.store, "bcde2345")
    both = shown.get("runs/abcd1234,bcde2345/block/report").json()
    assert [run["id"] for run in both["runs"]] == ["abcd1234", "bcde2345"]
    assert shown.get("runs/abcd1234,bcde2345/block/bcde2345/overview").json()["id"] == "bcde2345"
    assert shown.get("runs/abcd1234,bcde2345/").text.count('<section class="run"') == 2
    assert shown.get("runs/abcd1234,abcd1234/").status_code == 422
    assert shown.get("runs/abcd1234,nobody00/").status_code == 404
    assert shown.get("runs/abcd1234/block/bcde2345/overview").status_code == 404


def test_a_run_is_read_again_once_a_calibration_is_there(show: Show, save: Save) -> None:
    """What it says of the judge of a run that somebody looks at is else not seen until the server is begun anew."""
    store = show().store
    save(store, "abcd1234")
    folder = RunsFolder(store.folder)
    before = folder.measured("abcd1234")
    assert folder.measured("abcd1234") is before
    (store.folder / "calibrations").mkdir()
    write_atomically(store.folder / "calibrations" / "a.json", [b"{}"])
    after = folder.measured("abcd1234")
    assert after is not before
    assert folder.measured("abcd1234") is after
