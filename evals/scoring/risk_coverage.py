"""How well a server's confidence tells its right answers from its wrong ones: risk by coverage.

Answers are taken in the order of their confidence, the surest first. The risk at a coverage of i of n answers is the
share of wrong ones among the first i. Answers of the same confidence have no order: each stands for their mean.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import fsum
from operator import itemgetter

from evals.schemas import EvalRecord
from evals.schemas.base import Finite, Record
from evals.scoring.diagnosis.first import answered_right
from evals.scoring.settings import Cases


class RiskPoint(Record):
    """The risk where answers below a confidence were withheld."""

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


def confidence_and_loss(record: EvalRecord, cases: Cases) -> tuple[float, float] | None:
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
    sure = sorted(answers, key=itemgetter(0), reverse=True)
    if not sure:
        return None
    losses = _evened(sure)
    return RiskCoverage(
        answers=len(sure),
        points=_points(sure),
        area=_area(losses),
        area_of_chance=fsum(losses) / len(losses),
        least_area=_area(sorted(loss for _, loss in sure)),
    )


def _evened(sure: Sequence[tuple[float, float]]) -> list[float]:
    """The losses in their order, each that of the mean of its confidence."""
    losses: list[float] = []
    for _, tied in groupby(sure, key=itemgetter(0)):
        same = [loss for _, loss in tied]
        losses += [fsum(same) / len(same)] * len(same)
    return losses


def _area(losses: Sequence[float]) -> float:
    total, risks = 0.0, []
    for count, loss in enumerate(losses, start=1):
        total += loss
        risks.append(total / count)
    return fsum(risks) / len(risks)


def _points(sure: Sequence[tuple[float, float]]) -> list[RiskPoint]:
    points, wrong, given = [], 0.0, 0
    for confidence, tied in groupby(sure, key=itemgetter(0)):
        same = [loss for _, loss in tied]
        wrong, given = wrong + fsum(same), given + len(same)
        points.append(RiskPoint(confidence=confidence, coverage=given / len(sure), risk=wrong / given))
    return points
