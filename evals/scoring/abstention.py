"""Abstention as a two-by-two table (answerable, abstained), with its rates."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, groupby
from math import fsum, isclose
from operator import itemgetter
from statistics import fmean

from evals.schemas.base import Finite, Record
from evals.schemas.results import EvalRecord, Scorecard
from evals.scoring.diagnosis.outcome import answered_right
from evals.scoring.settings import ScoringContext
from evals.scoring.stats.intervals import wilson

Cell = tuple[bool, bool]


_METRICS = {
    "false_abstention": "abstention_false_positive_rate",
    "missed_abstention": "abstention_false_negative_rate",
    "accuracy": "unanswerable_accuracy",
}
"""The rates that are metrics too."""


class Rate(Record):
    """A share, with its numerator and denominator."""

    count: int
    of: int
    value: Finite | None
    """None where it is a share of nothing."""
    interval: tuple[Finite, Finite] | None
    """Wilson's; where the scorecard has the same rate, the one that it has."""


class AbstentionTable(Record):
    """The answered questions of known answerability, by answerability and by abstention."""

    answerable_answered: int
    answerable_abstained: int
    unanswerable_answered: int
    unanswerable_abstained: int
    false_abstention: Rate
    """Abstained of the answerable: over-refusal, `abstention_false_positive_rate`."""
    missed_abstention: Rate
    """Answered of the unanswerable: `abstention_false_negative_rate`."""
    recall: Rate
    """Abstained of the unanswerable."""
    precision: Rate
    """Unanswerable of the abstained."""
    accuracy: Rate
    """Abstained exactly where it should: `unanswerable_accuracy`."""
    always_answering: Rate
    """The accuracy of a server that answers everything: a baseline."""
    always_abstaining: Rate
    """The accuracy of a server that declines everything: a baseline."""


def table_of(counts: Mapping[Cell, int], confidence: float = 0.95, times: int = 1) -> AbstentionTable | None:
    """The table of questions that are counted already; None where there is none.

    Args:
        counts: How many questions each cell has.
        confidence: Of the intervals.
        times: How often each question was asked.
    """
    if not counts:
        return None
    answered, refused, missed, declined = (
        counts.get(cell, 0) for cell in ((False, False), (False, True), (True, False), (True, True))
    )
    answerable, unanswerable = answered + refused, missed + declined
    both = answerable + unanswerable
    rates = {
        "false_abstention": (refused, answerable),
        "missed_abstention": (missed, unanswerable),
        "recall": (declined, unanswerable),
        "precision": (declined, declined + refused),
        "accuracy": (answered + declined, both),
        "always_answering": (answerable, both),
        "always_abstaining": (unanswerable, both),
    }
    return AbstentionTable(
        answerable_answered=answered,
        answerable_abstained=refused,
        unanswerable_answered=missed,
        unanswerable_abstained=declined,
        **{name: _rate(*shares, confidence, times) for name, shares in rates.items()},
    )


def _rate(count: int, of: int, confidence: float, times: int) -> Rate:
    interval = wilson(count, of, confidence, times=times)
    return Rate(count=count, of=of, value=count / of if of else None, interval=interval)


def beside_scorecard(table: AbstentionTable, card: Scorecard) -> AbstentionTable:
    """The table with the scorecard's intervals of the rates that both have: one number has one interval.

    Those of the scorecard mind that questions about one document are not independent; counts cannot tell.
    """
    known = {summary.name: summary for summary in card.metrics}
    found: dict[str, Rate] = {}
    for name, metric in _METRICS.items():
        rate, summary = getattr(table, name), known.get(metric)
        if summary and summary.ci and rate.value is not None and isclose(summary.value or 0.0, rate.value):
            found[name] = rate.model_copy(update={"interval": summary.ci})
    if "missed_abstention" in found and found["missed_abstention"].interval:
        low, high = found["missed_abstention"].interval
        found["recall"] = table.recall.model_copy(update={"interval": (1 - high, 1 - low)})
    return table.model_copy(update=found)


def cell_of(record: EvalRecord, cases: ScoringContext) -> Cell | None:
    """The cell of a question: whether it is unanswerable, and whether the answer declines; None if not counted."""
    unanswerable = record.question.is_unanswerable
    said = None if unanswerable is None else declines(record, cases)
    return None if unanswerable is None or said is None else (unanswerable, said)


def declines(record: EvalRecord, cases: ScoringContext) -> bool | None:
    """Whether an answer declines; None where there is none, or the judge's word on it is lost."""
    response = record.response
    if response is None or response.error is not None or response.answer is None:
        return None
    case = cases.of(record)
    return None if case.abstention_open else case.abstained


# How well a server's confidence tells its right answers from its wrong ones: risk by coverage.


class RiskPoint(Record):
    """The risk if answers below a confidence are withheld."""

    confidence: Finite
    """The least confidence that is answered."""
    coverage: Finite
    """Share of the answers that are given, above 0 to 1."""
    risk: Finite
    """Share of the given answers that are wrong, 0 to 1."""


class RiskCoverage(Record):
    """The curve of risk by coverage and the area under it."""

    answers: int
    """Answers with a confidence of which it is known whether they are right."""
    points: list[RiskPoint]
    """One for each distinct confidence, the highest first."""
    area: Finite
    """AURC: the mean of the risks at 1 to n answers, 0 to 1, lower is better."""
    area_of_chance: Finite
    """What a confidence that tells nothing reaches: the share of wrong answers."""
    least_area: Finite
    """What a perfect one reaches: all right answers before the wrong ones."""


def confidence_and_loss(record: EvalRecord, cases: ScoringContext) -> tuple[float, float] | None:
    """The confidence of an answer, and 0 where it is right, 1 where wrong; None where one of them is not known."""
    if record.response is None or record.response.confidence is None:
        return None
    right = answered_right(record, cases)
    return None if right is None else (record.response.confidence, 0.0 if right else 1.0)


def curve_of(answers: Iterable[tuple[float, float]]) -> RiskCoverage | None:
    """Rank answers by the server's confidence.

    Formula: AURC = (1/n) Σ_i r_i, r_i the share of wrong answers among the i surest (Geifman, Uziel & El-Yaniv 2019).
    An answer to an unanswerable question is wrong; abstentions are no answers, and left out.

    Args:
        answers: By `confidence_and_loss`.

    Returns:
        None where there is no answer.
    """
    ordered = sorted(answers, key=itemgetter(0), reverse=True)
    if not ordered:
        return None
    evened, points, wrong = list[float](), list[RiskPoint](), 0.0
    for confidence, tied in groupby(ordered, key=itemgetter(0)):
        losses = [loss for _, loss in tied]
        evened += [fsum(losses) / len(losses)] * len(losses)
        wrong += fsum(losses)
        share = len(evened) / len(ordered)
        points.append(RiskPoint(confidence=confidence, coverage=share, risk=wrong / len(evened)))
    return RiskCoverage(
        answers=len(ordered),
        points=points,
        area=_area(evened),
        area_of_chance=fsum(evened) / len(evened),
        least_area=_area(sorted(loss for _, loss in ordered)),
    )


def _area(losses: Sequence[float]) -> float:
    """The mean of the risks at 1 to n answers."""
    return fmean(total / count for count, total in enumerate(accumulate(losses), start=1))
