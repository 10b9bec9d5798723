"""The texts of a whole run, compared at once."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from whole_runs import scored

from evals.metrics.embedders import Remembering, Semantics
from evals.metrics.semantic import BertScoreF1, SemanticSimilarityPercentage, SentenceCoverage
from evals.run.observer import Observer
from evals.run.text_models import compare_texts
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, KeySentence, ResponseError
from evals.scoring.settings import ScoreSettings

METRICS = [SemanticSimilarityPercentage(), BertScoreF1(), SentenceCoverage()]


class Heard(Observer):
    """Remembers what it hears."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.steps: list[tuple[int, int]] = []
        self.notes: list[str] = []

    def phase(self, message: str) -> None:
        self.phases.append(message)

    def progress(self, done: int, total: int) -> None:
        self.steps.append((done, total))

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def remembering(embedder: Any, scorer: Any) -> ScoreSettings:
    """How records are scored, with models that remember."""
    return ScoreSettings(semantics=Semantics(Remembering(embedder), Remembering(scorer)))


@pytest.fixture
def records() -> Callable[[int], list[EvalRecord]]:
    """Answered questions, after one that failed and one that was not asked."""

    def make(count: int) -> list[EvalRecord]:
        failed = EvalResponse(error=ResponseError(kind="timeout", message="slow"))
        question = EvalQuestion(question="Why?", expected_answer="x", key_sentences=[KeySentence(text="y", source="t")])
        return [
            EvalRecord(question=question, response=failed),
            EvalRecord(question=question),
            *(
                EvalRecord(
                    question=question.model_copy(update={"expected_answer": f"It is {number} then."}),
                    response=EvalResponse(answer=f"It is {number}. So it is."),
                )
                for number in range(count)
            ),
        ]

    return make


def compared(records: Sequence[EvalRecord], cases: ScoreSettings, observer: Observer | None = None) -> ScoreSettings:
    return asyncio.run(compare_texts(METRICS, records, cases, observer or Heard()))


def test_scoring_finds_everything_compared(
    records: Callable[[int], list[EvalRecord]], remembering: ScoreSettings, embedder: Any, scorer: Any
) -> None:
    """No model is asked again while records are scored, and the scores are those of the models asked one by one."""
    alone = ScoreSettings(semantics=Semantics(embedder, scorer))
    expected = scored(METRICS, records(5), alone)
    embedder.calls.clear()
    scorer.calls.clear()
    settings = compared(records(5), remembering)
    assert (len(embedder.calls), len(scorer.calls)) == (1, 1)
    assert len(embedder.calls[0]) == len(set(embedder.calls[0])) == 10
    assert scored(METRICS, records(5), settings) == expected
    assert (len(embedder.calls), len(scorer.calls)) == (1, 1)


def test_work_is_cut_into_batches_with_progress(
    records: Callable[[int], list[EvalRecord]], remembering: ScoreSettings, embedder: Any, scorer: Any
) -> None:
    """Between two batches the run can be ended; nothing is left out or done twice."""
    heard = Heard()
    compared(records(100), remembering, heard)
    assert heard.phases == ["comparing texts"]
    assert max(map(len, embedder.calls)) <= 32
    assert sum(map(len, embedder.calls)) == len({text for call in embedder.calls for text in call}) == 200
    pairs = [pair for call in scorer.calls for pair in call]
    assert len(pairs) == len(set(pairs)) == 201
    assert heard.steps[-1][0] == 102


@pytest.mark.parametrize("error", [RuntimeError("out of memory\ndetails"), MemoryError(), OSError("gone")], ids=repr)
def test_a_model_that_fails_costs_only_its_metrics(
    records: Callable[[int], list[EvalRecord]],
    remembering: ScoreSettings,
    scorer: Any,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    """Everything is answered and paid for by then: the metrics get the reason, and the run goes on."""

    def fail(_pairs: object) -> list[float]:
        raise error

    monkeypatch.setattr(scorer, "f1", fail)
    heard = Heard()
    settings = compared(records(2), remembering, heard)
    (note,) = heard.notes
    assert note.startswith(f"comparing the texts failed: {type(error).__name__}")
    assert "details" not in note
    *_, last = scored(METRICS, records(2), settings)
    assert [(score.value, score.reason) for score in last.scores] == [(None, note)] * 3


def test_cancelling_ends_the_comparison_between_two_batches(
    records: Callable[[int], list[EvalRecord]], remembering: ScoreSettings, embedder: Any
) -> None:
    """Ctrl-C is obeyed once the batch at work is done; no further one starts."""

    async def run() -> None:
        task = asyncio.ensure_future(compare_texts(METRICS, records(100), remembering, Heard()))
        loop = asyncio.get_running_loop()
        once = embedder.embed

        def embed(texts: Sequence[str]) -> Any:
            loop.call_soon_threadsafe(task.cancel)
            return once(texts)

        embedder.embed = embed
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert len(embedder.calls) == 1
