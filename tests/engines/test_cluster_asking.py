"""Asking over workers, here of this process: batches, stops, and workers that are lost."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from evals.errors import ConfigError, EngineError
from evals.run import workers as asking
from evals.run.workers import Answers, ClusterAsking
from evals.schemas import EvalQuestion, EvalResponse


class Workers:
    """Workers that answer at once.

    Args:
        there: Their names.
        gone_after: By worker, with which batch it is lost.
    """

    def __init__(self, *there: str, gone_after: dict[str, int] | None = None) -> None:
        self.there = list(there)
        self.asked: list[str] = []
        self.widths: dict[str, set[int]] = {}
        self.most_in_hand = 0
        self.comes: list[str] = []
        """Who comes as the next one is lost."""
        self.error: Exception | None = None
        self.away: str | None = None
        self._gone_after = gone_after or {}
        self._batches: dict[str, int] = {}
        self._in_hand = 0

    async def workers(self) -> list[str]:
        return sorted(self.there)

    async def ask(self, worker: str, questions: list[str], width: int) -> Answers:
        self.asked += questions
        self._in_hand += len(questions)
        self.most_in_hand = max(self.most_in_hand, self._in_hand)
        self.widths.setdefault(worker, set()).add(width)
        self._batches[worker] = self._batches.get(worker, 0) + 1
        await asyncio.sleep(0)
        try:
            if self.error is not None:
                raise self.error
            if self._batches[worker] >= self._gone_after.get(worker, 10**9):
                self._lose(worker)
                await asyncio.Event().wait()  # as a task that is bound to a lost worker waits
            said = [EvalResponse(answer=text).model_dump_json().encode() for text in questions]
            return Answers(said, refused=3, away=self.away)
        finally:
            self._in_hand -= len(questions)

    def _lose(self, worker: str) -> None:
        if worker in self.there:
            self.there.remove(worker)
            self.there += self.comes[:1]
            del self.comes[:1]


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_LOOK_S", 0.001)


def _questions(count: int) -> list[EvalQuestion]:
    return [EvalQuestion(id=f"q{number}", question=f"Question {number}?") for number in range(count)]


def _asking(
    workers: Workers, *, concurrency: int = 4, tell: Callable[[str], None] = lambda _note: None
) -> ClusterAsking:
    return ClusterAsking(workers, concurrency=concurrency, tell=tell)


def _ask(made: ClusterAsking, questions: Iterator[EvalQuestion], until: int = 10**9) -> dict[str, str | None]:
    """Ask; returns the answers by question."""
    found: dict[str, str | None] = {}

    def see(question: EvalQuestion, response: EvalResponse, _away: str | None) -> bool:
        assert question.id not in found
        found[question.id] = response.answer
        return len(found) < until

    asyncio.run(made.ask(questions, see))
    return found


def test_each_question_is_asked_once_and_its_answer_is_its_own() -> None:
    """Batches of two workers bring back what was asked of them, and the widths add up to the concurrency of the run."""
    workers, questions = Workers("a", "b"), _questions(300)
    made = _asking(workers, concurrency=5)
    assert _ask(made, iter(questions)) == {question.id: question.question for question in questions}
    assert sorted(workers.asked) == sorted(question.question for question in questions)
    assert workers.widths == {"a": {2}, "b": {3}}
    assert made.refused == 6
    assert made.notes() == []


def test_questions_are_taken_as_they_are_given_out() -> None:
    """A run of a million questions holds what is in hand and no more."""
    workers, taken, seen = Workers("a", "b"), 0, 0

    def stream() -> Iterator[EvalQuestion]:
        nonlocal taken
        for question in _questions(3000):
            taken += 1
            assert taken - seen <= 4 * 256
            yield question

    def see(*_: object) -> bool:
        nonlocal seen
        seen += 1
        return True

    asyncio.run(_asking(workers).ask(stream(), see))
    assert (taken, seen) == (3000, 3000)


def test_what_a_lost_worker_had_in_hand_is_asked_again_and_counted() -> None:
    """Every question has its answer, and the run says how many the server may have had twice."""
    told: list[str] = []
    workers, questions = Workers("a", "b", gone_after={"a": 3}), _questions(200)
    made = _asking(workers, tell=told.append)
    assert len(_ask(made, iter(questions))) == 200
    assert made.lost_workers == 1
    assert made.asked_again == len(workers.asked) - 200 > 0
    assert len(told) == 1
    assert "worker a is lost" in told[0]
    assert 4 in workers.widths["b"]  # it has all of it now
    assert made.notes() == [
        f"1 worker of the cluster was lost: {made.asked_again} questions in hand went to others, "
        "so that the server may have had them twice"
    ]
    assert made.record(None).model_dump() == {
        "name": "dask",
        "workers": 2,
        "lost_workers": 1,
        "asked_again": made.asked_again,
    }
    assert made.record(made.record(None)).lost_workers == 2


def test_the_last_worker_is_lost_and_another_one_comes() -> None:
    """As of a cluster that starts workers anew."""
    workers = Workers("a", gone_after={"a": 2})
    workers.comes = ["b"]
    assert len(_ask(_asking(workers), iter(_questions(50)))) == 50


def test_a_cluster_that_stays_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for ever."""
    monkeypatch.setattr(asking, "PATIENCE_S", 0.01)
    with pytest.raises(EngineError, match="without a worker"):
        _ask(_asking(Workers("a", gone_after={"a": 2})), iter(_questions(50)))


def test_questions_over_which_workers_are_lost_again_and_again_end_the_asking() -> None:
    """They are what the workers are lost by, and would take all of them."""
    workers = Workers("a", gone_after=dict.fromkeys("abcd", 1))
    workers.comes = ["b", "c", "d"]
    with pytest.raises(EngineError, match="3 workers were lost over the same 4 questions, q0 the first"):
        _ask(_asking(workers), iter(_questions(50)))


def test_a_stop_ends_the_giving_out_and_takes_what_is_in_hand() -> None:
    """What was asked is not thrown away."""
    workers = Workers("a", "b")
    found = _ask(_asking(workers), iter(_questions(5000)), until=10)
    assert 10 <= len(found) == len(workers.asked) < 100


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConfigError("TOKEN is not set"), "worker a: TOKEN is not set"),
        (ModuleNotFoundError("no evals"), "worker a failed: ModuleNotFoundError: no evals"),
    ],
)
def test_a_worker_that_cannot_ask_ends_the_asking_with_its_reason(error: Exception, said: str) -> None:
    """It is there, so nothing would come of asking it again."""
    workers = Workers("a")
    workers.error = error
    with pytest.raises(EngineError, match=said):
        _ask(_asking(workers), iter(_questions(50)))


def test_a_failed_task_of_a_worker_that_is_gone_is_a_loss() -> None:
    """Dask may say so before it is seen that the worker is gone."""
    workers = Workers("a", "b")

    async def ask(worker: str, questions: list[str], width: int) -> Answers:
        if worker == "a":
            workers.there = ["b"]
            raise OSError("connection lost")
        return await Workers.ask(workers, worker, questions, width)

    workers.ask = ask  # type: ignore[method-assign]
    made = _asking(workers)
    assert len(_ask(made, iter(_questions(50)))) == 50
    assert (made.lost_workers, made.asked_again) == (1, 4)
