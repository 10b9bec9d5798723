"""How the events of a log fold into records."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from whole_runs import put_records

from evals.errors import StoreError
from evals.schemas import EvalQuestion, EvalResponse, EvalRun, JudgeVerdict, MetricGroup, MetricResult
from evals.store.journal import Journal
from evals.store.runs import RunStore

Write = Callable[[Journal], None]


@pytest.fixture
def log(store: RunStore, run: EvalRun, questions: list[EvalQuestion]) -> Callable[[Write], None]:
    """Write to a log that holds the questions, in a session of its own."""
    with store.journal(run) as journal:
        journal.plan(questions)

    def write(action: Write) -> None:
        with store.journal(run) as journal:
            action(journal)

    return write


def test_planned_questions_are_records_before_they_are_asked(
    store: RunStore, run: EvalRun, questions: list[EvalQuestion], log: Callable[[Write], None]
) -> None:
    """A log alone says what was planned, in its order, and that nothing was answered."""
    records = store.records(run)
    assert [record.question for record in records] == questions
    assert all(record.response is None and not record.scores and not record.verdicts for record in records)


def test_an_event_of_another_type_is_passed_over(store: RunStore, run: EvalRun, full_log: Path) -> None:
    """A log with events that this version does not write is read as if they were not there."""
    before = store.records(run)
    full_log.write_bytes(full_log.read_bytes() + b'{"type":"scores","question_id":"q0","scores":[{"name":"mrr"}]}\n')
    assert store.records(run) == before


def test_verdicts_are_kept_by_request_and_repeat(store: RunStore, run: EvalRun, log: Callable[[Write], None]) -> None:
    """A verdict replaces the one of the same request and repeat, and no other."""
    for request, repeat, verdict in [("a", 0, 1), ("a", 1, 2), ("b", 0, 3), ("a", 0, 4)]:
        reply = JudgeVerdict(request=request, repeat=repeat, reply={"n": verdict})
        log(lambda journal, reply=reply: journal.verdict("q0", reply))
    found = {(v.request, v.repeat): v.reply for v in store.records(run)[0].verdicts}
    assert found == {("a", 0): {"n": 4}, ("a", 1): {"n": 2}, ("b", 0): {"n": 3}}


def test_a_log_can_go_on_after_it_was_compacted(store: RunStore, run: EvalRun, full_log: Path) -> None:
    """Events after a compact record change that record; an answer takes its results away."""
    score = MetricResult(name="mrr", group=MetricGroup.RETRIEVAL, value=0.5)
    put_records(store, run, [record.model_copy(update={"scores": [score]}) for record in store.records(run)])
    with store.journal(run) as journal:
        journal.answer("q2", EvalResponse(answer="late"))
    records = store.records(run)
    assert records[2].response == EvalResponse(answer="late")
    assert [record.scores for record in records] == [[score], [score], []]


def test_compacting_keeps_every_record_on_one_line(store: RunStore, run: EvalRun, full_log: Path) -> None:
    """The compact log holds one line a question and reads as the same records."""
    before = store.records(run)
    put_records(store, run, before)
    assert store.records(run) == before
    assert [json.loads(line)["type"] for line in full_log.read_bytes().splitlines()] == ["record"] * 3


def test_an_id_with_quotes_and_newlines_does_not_break_a_line(store: RunStore, run: EvalRun) -> None:
    """Ids are written as JSON, whatever they hold."""
    question = EvalQuestion(id='a"b\n\\ü', question="Who?")
    with store.journal(run) as journal:
        journal.plan([question])
        journal.answer(question.id, EvalResponse(answer="x"))
    assert [r.response and r.response.answer for r in store.records(run)] == ["x"]
    put_records(store, run, store.records(run))
    assert [r.question for r in store.records(run)] == [question]


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"type":"answer","question_id":"nobody","answer":{}}', 4),
        (b'{"type":"answer","answer":{}}', 4),
        (b'{"type":"answer","question_id":"q0","answer":{"anser":"x"}}', 4),
        (b'{"type":"verdict","question_id":"q0","verdict":5}', 4),
        (b"5", 4),
        (b"[]", 4),
    ],
    ids=["unknown question", "no id", "unknown key", "no verdict", "a number", "a list"],
)
def test_an_event_of_no_run_is_an_error_that_names_its_line(
    store: RunStore, run: EvalRun, log: Callable[[Write], None], line: bytes, number: int
) -> None:
    """What is JSON but no event is never passed over; only the last line may be torn."""
    path = store.records_path(run)
    path.write_bytes(path.read_bytes() + line + b'\n{"type":"answer","question_id":"q1","answer":{}}\n')
    with pytest.raises(StoreError, match=f"line {number}: "):
        store.records(run)
