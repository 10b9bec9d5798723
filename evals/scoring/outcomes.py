"""How each question ended, and what went wrong first.

| outcome | when (the first that applies) |
|---|---|
| failed | no answer came |
| answered_unanswerable | the server answered a question that its documents do not answer |
| not_retrieved | the question went wrong, or its answer differs in words, and no chunk holds gold |
| declined | the server declined an answerable question |
| not_used | the judge calls the answer wrong, and a chunk holds gold |
| wrong | the judge calls the answer wrong, and whether gold was retrieved is unknown |
| cited_wrongly | no citation of the answer holds gold, though a chunk does |
| differs | without a judge: the answer differs in words from the reference; it may be right |
| right, unknown | nothing went wrong; or what is right is unknown |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evals.metrics.answer import language_for
from evals.metrics.base import known_answerable
from evals.metrics.qa import FuzzyMatch
from evals.metrics.sample import Sample
from evals.schemas.results import EvalRecord, MetricResult
from evals.scoring.results import Results
from evals.text.numbers import counted, numbers, share
from evals.text.tokens import tokens


class Outcome(StrEnum):
    """How a question ended."""

    NOT_ASKED = "not_asked"
    RIGHT = "right"
    UNKNOWN = "unknown"
    FAILED = "failed"
    NOT_RETRIEVED = "not_retrieved"
    NOT_USED = "not_used"
    DECLINED = "declined"
    ANSWERED_UNANSWERABLE = "answered_unanswerable"
    CITED_WRONGLY = "cited_wrongly"
    WRONG = "wrong"
    DIFFERS = "differs"

    @property
    def label(self) -> str:
        """The outcome in words."""
        return LABELS[self]

    @property
    def went_wrong(self) -> bool:
        """Whether it is a failure; an answer that differs in words alone may be right."""
        return self in WENT_WRONG


OUTCOMES = list(Outcome)
"""In the order of their codes in `columns.npz`."""

LABELS: dict[Outcome, str] = {
    Outcome.NOT_ASKED: "not asked",
    Outcome.RIGHT: "right",
    Outcome.UNKNOWN: "unknown",
    Outcome.FAILED: "failed: no answer came",
    Outcome.NOT_RETRIEVED: "not retrieved: wrong, and no chunk has the expected passage",
    Outcome.NOT_USED: "retrieved, not used: the judge calls the answer wrong",
    Outcome.DECLINED: "declined, though answerable",
    Outcome.ANSWERED_UNANSWERABLE: "answered, though unanswerable",
    Outcome.CITED_WRONGLY: "cited wrongly: no citation has the expected passage",
    Outcome.WRONG: "wrong by the judge",
    Outcome.DIFFERS: "differs in words from the reference (no judge)",
}
WENT_WRONG = (
    Outcome.FAILED,
    Outcome.NOT_RETRIEVED,
    Outcome.DECLINED,
    Outcome.NOT_USED,
    Outcome.WRONG,
    Outcome.ANSWERED_UNANSWERABLE,
    Outcome.CITED_WRONGLY,
)
"""The failures, in the order of the pipeline."""

_JUDGING = ("answer_correctness", "gptscore", "correct_answers_count", "claim_f1")
"""The judged metrics that say whether an answer is right; the first that has a value decides."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How one question ended.

    Attributes:
        outcome: The first failure, if there is one.
        why: A sentence on what happened.
    """

    outcome: Outcome
    why: str = ""

    @property
    def code(self) -> int:
        """Its place in `OUTCOMES`."""
        return OUTCOMES.index(self.outcome)


def ending_of(sample: Sample, scores: Sequence[MetricResult], *, asked: bool = True) -> Ending:
    """How a question ended.

    Args:
        sample: The question with its response.
        scores: Its results.
        asked: Whether it was asked at all.
    """
    response, question = sample.response, sample.question
    if not asked:
        return Ending(Outcome.NOT_ASKED)
    if response.error is not None:
        tries = f" after {response.attempts} attempts" if response.attempts > 1 else ""
        return Ending(Outcome.FAILED, f"no answer{tries}: {response.error.kind}, {response.error.message}")
    if response.answer is None and response.chunks is None:
        return Ending(Outcome.FAILED, "the server sent no answer")
    if question.is_unanswerable:
        if response.answer is None or sample.decision.lost:
            return Ending(Outcome.UNKNOWN)
        if sample.abstained:
            return Ending(Outcome.RIGHT)
        return Ending(Outcome.ANSWERED_UNANSWERABLE, "answered a question that the documents do not answer")
    return _ending_of_answerable(sample, scores)


def _ending_of_answerable(sample: Sample, scores: Sequence[MetricResult]) -> Ending:
    by_judge, by_words = _is_right(sample, scores)
    declined = sample.abstained and not sample.decision.lost and by_judge is not True
    only_retrieves = sample.response.answer is None
    retrieved = _retrieved(sample)
    if retrieved is False and (only_retrieves or by_judge is False or by_words is False or declined):
        golds, chunks = len(sample.question.gold_passages), len(sample.response.chunks or [])
        none = "the gold passage is not" if golds == 1 else f"none of {golds} gold passages is"
        return Ending(
            Outcome.NOT_RETRIEVED, f"{'declined: ' if declined else ''}{none} among {counted(chunks, 'chunk')}"
        )
    if only_retrieves:
        return Ending(Outcome.UNKNOWN if retrieved is None else Outcome.RIGHT)
    if declined and known_answerable(sample.question):
        ranks = sample.matches.hit_ranks if retrieved else []
        why = f"declined, with gold at rank {ranks[0]}" if ranks else "declined an answerable question"
        return Ending(Outcome.DECLINED, why)
    if by_judge is False:
        if retrieved:
            return Ending(Outcome.NOT_USED, "gold was retrieved, and the judge calls the answer wrong")
        return Ending(Outcome.WRONG, "the judge calls the answer wrong")
    if by_words is not False and retrieved and sample.response.citations is not None and not _cites_gold(sample):
        cited = len(sample.cited)
        why = f"none of {counted(cited, 'citation')} holds gold" if cited else "the answer cites nothing"
        return Ending(Outcome.CITED_WRONGLY, why)
    if by_words is False:
        return Ending(Outcome.DIFFERS, "the answer differs in words from the reference")
    return Ending(Outcome.RIGHT if by_judge or by_words else Outcome.UNKNOWN)


def _is_right(sample: Sample, scores: Sequence[MetricResult]) -> tuple[bool | None, bool | None]:
    """Whether the answer is right by the judge, and, where no judge says it, by its words; None: unknown."""
    values = {score.name: score.value for score in scores}
    for name in _JUDGING:
        if (value := values.get(name)) is not None:
            return value >= 1.0, None
    if sample.judged or sample.response.answer is None or sample.abstained:
        return None, None
    return None, right_by_words(sample)


def right_by_words(sample: Sample) -> bool | None:
    """Whether the reference, its numbers, or half of its content words are in the answer; None without a reference."""
    fuzzy = FuzzyMatch().score(sample).value
    if fuzzy is None:
        return None
    if fuzzy:
        return True
    answer, asked = set(tokens(sample.answer or "")), set(tokens(sample.question.question))
    language = language_for(sample.question)
    for expected in filter(None, [sample.question.expected_answer, *sample.question.answers]):
        wanted = numbers(expected, language, words=False)
        if wanted and wanted <= numbers(sample.answer or "", language):
            return True
        words = {word for word in tokens(expected) if len(word) > 3} - asked
        if words and 2 * len(words & answer) >= len(words):
            return True
    return False


def _retrieved(sample: Sample) -> bool | None:
    """Whether a chunk holds gold; None where the question has none, or nothing that chunks say of themselves tells."""
    chunks = sample.response.chunks
    if chunks is None or not sample.question.gold_passages or (chunks and not sample.golds_tell & sample.chunks_tell):
        return None
    return bool(sample.matches.found)


def _cites_gold(sample: Sample) -> bool:
    return any(sample.cited_golds.values())


# Over a run.


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How many questions ended in one way, with their rows."""

    outcome: Outcome
    rows: list[int]


def asked_questions(results: Results) -> dict[tuple[str, int], int]:
    """The rows of the questions that were asked, by id and a hash of text and gold: by what two runs share them."""
    not_asked = OUTCOMES.index(Outcome.NOT_ASKED)
    keys = zip(results.ids, results.golds, strict=True)
    return {key: row for row, key in enumerate(keys) if results.outcomes[row] != not_asked}


def count_outcomes(results: Results) -> list[OutcomeCount]:
    """The questions of each outcome that has some: failures in the order of the pipeline, then `differs`."""
    codes = np.frombuffer(results.outcomes, dtype=np.uint8) if results.outcomes else np.empty(0, np.uint8)
    counts = [
        OutcomeCount(outcome, np.flatnonzero(codes == OUTCOMES.index(outcome)).tolist())
        for outcome in (*WENT_WRONG, Outcome.DIFFERS)
    ]
    return [count for count in counts if count.rows]


def wrong_headline(results: Results, asked_in_all: int) -> str:
    """How many questions went wrong, in a sentence: "8 of 30 questions went wrong, 4 more differ in words".

    Args:
        results: Of the records that there are.
        asked_in_all: Questions of the run; the sentence says so where records of some were lost.
    """
    counts = count_outcomes(results)
    asked = sum(code != OUTCOMES.index(Outcome.NOT_ASKED) for code in results.outcomes)
    wrong = sum(len(count.rows) for count in counts if count.outcome.went_wrong)
    differs = sum(len(count.rows) for count in counts if count.outcome is Outcome.DIFFERS)
    more = f", {differs} more differ in words (no judge)" if differs else ""
    lost = asked_in_all - len(results.ids)
    gone = f"; {share(lost, asked_in_all, 'record', 'was')} lost, and nothing is known of it" if lost > 0 else ""
    return f"{share(wrong, asked, 'question')} went wrong{more}{gone}"


def remarks_on(record: EvalRecord) -> list[str]:
    """What is worth a look in a record, right or wrong: claims without support, matches to verify."""
    remarks = []
    for score in record.scores:
        unsupported = score.details.get("unsupported")
        if score.name == "faithfulness" and isinstance(unsupported, list) and unsupported:
            claims = score.details.get("claims", len(unsupported))
            remarks.append(f"{len(unsupported)} of {claims} claims unsupported: {unsupported[0]}")
        if score.details.get("needs_verification"):
            remarks.append(f"verify: fuzzy match says {score.details.get('fuzzy_match')}, the judge differs")
    return remarks
