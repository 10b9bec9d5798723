"""Records that are scored while other answers are waited for are those that are scored at the end."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from raw_server import answering
from servers import wait_until
from whole_runs import run_to_conclude

from evals.config import EvalConfig
from evals.errors import StoreError
from evals.metrics.registry import select
from evals.run import overlapped
from evals.run.overlapped import BatchScorer, OverlappedScorer, RecordLine, ScoreConfig, ScoringPool, score_rest
from evals.run.work import RunPlan, RunRecords
from evals.runner import EvaluationRunner
from evals.schemas import EvalQuestion, EvalResponse
from evals.scoring.conclusion import Scorer
from evals.scoring.diagnosis.stages import AnswersSeen, RunFacts
from evals.scoring.digest import digest_of
from evals.scoring.scorecard import score_record
from evals.scoring.settings import ScoreSettings, ScoringContext, cases_of
from evals.store.runs import RunStore
from evals.text.matching import evidence_of

FIRST = 10
SLOW_MS = 60_000.0
"""Such a server leaves time for anything, also on a machine that is at work."""


@pytest.fixture(autouse=True)
def _few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlapped, "_FIRST", FIRST)


def question(number: int) -> EvalQuestion:
    """One with a gold in a document of its own."""
    gold = {"text": f"The notice of article {number} is {number + 2} days.", "document_id": f"guide-{number}.md"}
    return EvalQuestion.model_validate(
        {
            "id": f"q{number}",
            "question": f"How long is the notice of article {number}?",
            "expected_answer": f"{number + 2} days",
            "gold_passages": [gold],
        }
    )


def body(number: int, header: str = "") -> dict[str, Any]:
    """What a server says: the gold for two of three questions, and something else."""
    said = f"The notice of article {number} is {number + 2} days."
    other = {"text": f"{header}Article {number + 1} was repealed in {1900 + number}.", "document_id": f"x-{number}.md"}
    hit = {"chunk_id": f"c{number}", "text": f"{header}{said}", "document_id": f"guide-{number}.md"}
    chunks = [other, hit] if number % 3 else [other]
    answer = f"{said} [2]" if number % 5 else "I do not know."
    return {"answer": answer, "chunks": [{"chunk_id": f"o{number}", **one} for one in chunks]}


def response(number: int, **fields: Any) -> EvalResponse:
    """The same as it was read."""
    return EvalResponse.model_validate({"latency_ms": SLOW_MS, **body(number), **fields})


class Waiting:
    """A run whose answers come one by one.

    Args:
        folder: Of its runs.
        count: Of its questions.
        processes: How many others score.
    """

    def __init__(self, folder: Path, count: int = 40, processes: int = 0) -> None:
        self.config = EvalConfig.build({"judge": False, "runs_dir": str(folder)})
        self.work = RunPlan(run_to_conclude(count), [question(n) for n in range(count)])
        self.seen = AnswersSeen(self.work.run)
        self.metrics = select(["core"], [])
        settings = ScoreSettings(match=self.config.match)
        how = ScoreConfig(self.work.run, self.metrics, settings, RunFacts(), self.config)
        self.early = OverlappedScorer(self.work, how, self.seen, folder, processes=processes)

    def answer(self, number: int, given: EvalResponse | None = None) -> None:
        """Have the answer to a question come."""
        given = given or response(number)
        self.early.on_answer(given, is_other=f"q{number}" in self.work.responses)
        self.work.responses[f"q{number}"] = given
        self.seen.add(given)

    def answer_all(
        self,
        later: Callable[[int], EvalResponse],
        first: Callable[[int], EvalResponse | None] = lambda _number: None,
    ) -> None:
        """Have the first answers come, see that their records are scored, and have the others come."""
        for number in range(FIRST):
            self.answer(number, first(number))
        wait_until(lambda: self.done == FIRST, "the first records")
        for number in range(FIRST, len(self.work.questions)):
            self.answer(number, later(number))

    @property
    def done(self) -> int:
        """How many records are scored."""
        return self.early._begun.done if self.early._begun else 0

    def finish(self) -> tuple[int, list[RecordLine], BatchScorer]:
        """Score what is left; returns how many records were done by then, the lines of all, and what gathered."""
        self.early.end()
        self.early.close()
        records = RunRecords(self.work, {})
        evidence = evidence_of(records, self.config.match)
        settings = replace(self.early._how.settings, evidence=evidence)
        how = replace(self.early._how, settings=settings, facts=self.seen.facts(records))
        scorer, lines = self.early.resume(how)
        done = scorer.done
        return done, [*lines, *score_rest(scorer, records, None)], scorer

    def is_dropped(self) -> bool:
        """Whether all is scored anew."""
        return self.finish()[0] == 0

    def late(self) -> tuple[list[RecordLine], BatchScorer]:
        """All of it, scored at the end."""
        records = RunRecords(self.work, {})
        settings = ScoringContext(ScoreSettings(match=self.config.match)).within(records).settings
        scorer = BatchScorer(replace(self.early._how, settings=settings, facts=self.seen.facts(records)))
        return list(scorer.lines(records)), scorer


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Waiting]:
    """A run that waits for its answers."""
    made = Waiting(tmp_path)
    yield made
    made.early.end()


def test_what_was_scored_on_the_way_is_what_is_scored_at_the_end(waiting: Waiting) -> None:
    """Lines, scorecard, notes and digest alike, in whatever order the answers came."""
    for number in [3, 0, 2, 1, *range(4, 25)]:
        waiting.answer(number)
    wait_until(lambda: waiting.done == 25, "25 scored records")
    for number in (39, *range(25, 39)):
        waiting.answer(number)
    done, lines, scorer = waiting.finish()
    late, other = waiting.late()
    assert done >= 25
    assert lines == late
    assert scorer.summary.build(0.95, 1) == other.summary.build(0.95, 1)
    early_run, late_run = scorer.scorer.concluded([]), other.scorer.concluded([])
    assert early_run.model_copy(update={"completed_at": None}) == late_run.model_copy(update={"completed_at": None})
    recall = early_run.scorecard.get("recall_at_10")
    assert recall is not None
    assert recall.value == pytest.approx(26 / 40)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [0, 2])
@pytest.mark.parametrize("name", ["x.md", "guide-1.md"])
def test_a_document_that_is_named_exactly_later_undoes_what_was_taken_for_it(
    processes: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then `guide-1_v2.md` was the nearest to `guide-1.md`, also where another process looked for it in vain."""
    monkeypatch.setattr(overlapped, "_IN_HAND", 0)
    waiting = Waiting(tmp_path, processes=processes)
    renamed = [{**one, "document_id": "guide-1_v2.md"} for one in body(1)["chunks"]]
    late = [{**one, "document_id": name} for one in body(30)["chunks"]]
    other = {1: response(1, chunks=renamed), 30: response(30, chunks=late)}
    waiting.answer_all(lambda number: other.get(number, response(number)), other.get)
    done, lines, _ = waiting.finish()
    assert (done == 0) is (name == "guide-1.md")
    assert lines == waiting.late()[0]


def test_records_wait_for_the_answers_before_them(waiting: Waiting) -> None:
    """They are scored in the order of the questions, and none before the first are there."""
    for number in range(FIRST - 1):
        waiting.answer(number)
    time.sleep(0.2)
    assert waiting.done == 0
    waiting.answer(FIRST - 1)
    wait_until(lambda: waiting.done == FIRST, "the first records")
    waiting.answer(FIRST + 1)
    time.sleep(0.2)
    assert waiting.done == FIRST
    waiting.answer(FIRST)
    wait_until(lambda: waiting.done == FIRST + 2, "the records behind them")


def _with_header(number: int) -> EvalResponse:
    """Every chunk begins with the same line."""
    return response(number, **body(number, header="Source: the handbook of all articles, second edition. "))


def _with_citations(number: int) -> EvalResponse:
    return response(number, citations=[{"index": 1}])


def _with_one_id_in_two_documents(number: int) -> EvalResponse:
    chunks = body(number)["chunks"]
    return response(number, chunks=[{**one, "chunk_id": "c0"} for one in chunks])


def _in_other_documents(number: int) -> EvalResponse:
    chunks = body(number)["chunks"]
    return response(number, chunks=[{**one, "document_id": f"file{number}.bin"} for one in chunks])


@pytest.mark.parametrize("later", [_with_header, _with_citations, _in_other_documents])
def test_what_the_first_answers_said_wrongly_of_the_run_is_not_kept(
    waiting: Waiting, later: Callable[[int], EvalResponse]
) -> None:
    """Header lines, citations or names of documents may show late: all is scored by what is so, as if none had been."""
    waiting.answer_all(later)
    assert waiting.is_dropped()


def test_an_id_in_two_documents_that_shows_late_is_seen(tmp_path: Path) -> None:
    """From then on ids count within their documents, where golds name chunks."""
    waiting = Waiting(tmp_path)
    gold = {"chunk_id": "c1", "text": "The notice of article 1 is 3 days."}
    named = waiting.work.questions[1].model_copy(
        update={"gold_passages": EvalQuestion.model_validate({"question": "?", "gold_passages": [gold]}).gold_passages}
    )
    questions = list(waiting.work.questions)
    questions[1] = named
    object.__setattr__(waiting.work, "questions", questions)
    waiting.answer_all(_with_one_id_in_two_documents)
    assert waiting.is_dropped()


def test_a_question_that_is_answered_again_is_scored_by_its_last_answer(waiting: Waiting) -> None:
    """Its record may be done by then."""
    for number in range(40):
        waiting.answer(number)
    wait_until(lambda: waiting.done == 40, "all records")
    waiting.answer(3, response(3, answer="Another one."))
    assert waiting.is_dropped()


@pytest.mark.parametrize("processes", [0, 1])
def test_a_fast_server_is_scored_early_by_another_process_only(processes: int, tmp_path: Path) -> None:
    """A server that answers at once takes all the time that this process has."""
    waiting = Waiting(tmp_path, processes=processes)
    for number in range(40):
        waiting.answer(number, response(number, latency_ms=2.0))
    if processes:
        wait_until(lambda: waiting.done == 40, "all records")
    else:
        time.sleep(0.3)
    done, lines, _ = waiting.finish()
    assert done == 40 * processes
    assert lines == waiting.late()[0]


def test_a_process_that_is_killed_while_answers_arrive_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the system does where memory is short: all is scored at the end."""
    pools: list[ScoringPool] = []
    start = ScoringPool.__init__
    monkeypatch.setattr(ScoringPool, "__init__", lambda pool, size: (pools.append(pool), start(pool, size))[1])
    waiting = Waiting(tmp_path, processes=1)
    for number in range(FIRST):
        waiting.answer(number)
    wait_until(lambda: waiting.done == FIRST, "the first records")
    process = pools[0]._idle.get()
    process.kill()
    pools[0]._idle.put(process)
    waiting.answer(FIRST)
    wait_until(lambda: waiting.early._begun is None, "the loss")
    assert waiting.is_dropped()


@pytest.mark.parametrize("lacks", ["room for a record", "room for answers", "the folder"])
def test_what_is_scored_early_gives_way_where_the_disk_gets_full(
    waiting: Waiting, lacks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers and records are written with all the room that there would be without it; who writes them tells it."""

    def full(*_: object) -> None:
        raise StoreError("cannot write: no space left on device")

    for number in range(FIRST):
        waiting.answer(number)
    wait_until(lambda: waiting.done == FIRST, "the first records")
    if lacks == "room for a record":
        monkeypatch.setattr(waiting.early._lines, "append", full)
    elif lacks == "room for answers":
        monkeypatch.setattr(overlapped, "_ROOM", 1 << 60)
    else:
        waiting.early._scratch = tmp_path / "gone"
    waiting.answer(FIRST)
    wait_until(lambda: waiting.early._begun is None, "room")
    assert waiting.is_dropped()
    assert waiting.early._lines._file.closed


def test_what_breaks_while_records_are_scored_is_raised_when_the_asking_ends(
    waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake in the thread must not pass unseen."""
    failed = threading.Event()

    def broken(*_: object) -> None:
        failed.set()
        raise ZeroDivisionError

    monkeypatch.setattr(Scorer, "score", broken)
    for number in range(40):
        waiting.answer(number)
    assert failed.wait(60)
    with pytest.raises(ZeroDivisionError):
        waiting.early.end()
    waiting.early._work_on = None


def test_a_run_over_a_server_that_takes_its_time_is_scored_by_its_last_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records, scorecard and digest are those of its saved answers, scored anew."""
    kept: list[int] = []
    resume = OverlappedScorer.resume

    def watched(self: OverlappedScorer, how: ScoreConfig) -> Any:
        found = resume(self, how)
        kept.append(found[0].done)
        return found

    monkeypatch.setattr(OverlappedScorer, "resume", watched)
    monkeypatch.setattr(overlapped, "_SLOW_S", 0.01)
    path = tmp_path / "q.jsonl"
    path.write_text("\n".join(question(n).model_dump_json() for n in range(60)), encoding="utf-8")

    def say(request: int) -> list[bytes | Literal["reset"] | None]:
        time.sleep(0.02)
        number = int(server.asked[request][1].split(b"of article ")[1].split(b"?")[0])
        return [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + json.dumps(body(number)).encode(), None]

    with answering(say) as server:
        mapped = {"answer": "answer", "chunks": "chunks"}
        keys = {"url": server.url, "health": None, "info": [], "map": mapped}
        config = EvalConfig.build(
            {"dataset_file": str(path), "runs_dir": str(tmp_path / "runs"), "judge": False, "preflight": False}
            | {"server": keys, "concurrency": 2}
        )
        run = asyncio.run(EvaluationRunner(config).run())
    assert kept[0] >= FIRST
    records = RunStore(config.runs_dir).records(run)
    cases = cases_of(run, records)
    again = [score_record(select(["core"], []), record.model_copy(update={"scores": []}), cases) for record in records]
    assert [one.scores for one in again] == [one.scores for one in records]
    assert run.outcomes.answered == 60
    assert digest_of(run, records, cases).failures == digest_of(run, again, cases).failures
