"""A judge's calibration, computed from labelled answers with their scores."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from evals.schemas.calibration import Agreement, Figure, LabelledAnswer, Preference
from evals.scoring.calibration.agreement import Labelled, agreement_of, most_frequent, order_of, rate
from evals.scoring.calibration.scales import Scale


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with what people and the judge say of it.

    Attributes:
        answer: As it is saved.
        labels: From 0 to 1, by annotator.
    """

    answer: LabelledAnswer
    labels: dict[str, float] = field(default_factory=dict)


def figures_of(
    judged: Sequence[Judged], scale: Scale, *, score_cut: float, confidence: float, compares: bool = False
) -> dict[str, Any]:
    """The figures of a `Calibration`, by its fields.

    Args:
        judged: All labelled answers.
        scale: How their labels were read.
        score_cut: From here on a score counts as good.
        confidence: Of the intervals.
        compares: Whether labels say only which of several answers is better: then they say of none how good it is.
    """
    whole = [each for each in judged if each.answer.score is not None]
    reading = _beside([each.answer.score or 0.0 for each in whole], whole, scale, score_cut, confidence)
    if compares:
        reading = replace(reading, labels=[], scores=[], clusters=[])
    same = most_frequent(reading)
    long = replace(reading, scores=[float(each.answer.words) for each in whole] if reading.labels else [])
    return {
        "judge": agreement_of(reading),
        "annotators": _annotators(whole, scale, confidence),
        "always_the_same": agreement_of(same),
        "length": order_of(long),
        "preference": _preference(whole, confidence),
        "label_mean": rate(reading.labels, reading.clusters, confidence),
        "score_mean": rate(reading.scores, reading.clusters, confidence),
    }


def _beside(
    scores: Sequence[float], judged: Sequence[Judged], scale: Scale, score_cut: float, confidence: float
) -> Labelled:
    return Labelled(
        labels=[each.answer.label for each in judged],
        scores=scores,
        clusters=[each.answer.cluster for each in judged],
        label_cut=scale.cut,
        score_cut=score_cut,
        levels=scale.levels,
        confidence=confidence,
    )


def _annotators(judged: Sequence[Judged], scale: Scale, confidence: float) -> Agreement | None:
    """Each two annotators of an answer, one against the other; None where none has two."""
    pairs = [
        (one, other, each.answer.cluster)
        for each in judged
        for (_, one), (_, other) in combinations(sorted(each.labels.items()), 2)
    ]
    if not pairs:
        return None
    first, second, clusters = (list(column) for column in zip(*pairs, strict=True))
    found = agreement_of(Labelled(first, second, clusters, scale.cut, scale.cut, scale.levels, confidence))
    nobody = Figure(n=len(pairs), reason="no annotator is the truth")
    return found.model_copy(update={"sensitivity": nobody, "specificity": nobody, "auroc": nobody})


def _preference(judged: Sequence[Judged], confidence: float) -> Preference | None:
    """Over all pairs of answers to one question by two systems; None where there are none."""
    pairs = [pair for answers in _by_question(judged) for pair in combinations(answers, 2)]
    if not pairs:
        return None
    decided = [(one, other) for one, other in pairs if one.label != other.label]
    agreed = [_agreed(one, other) for one, other in decided]
    found = rate(agreed, [one.cluster for one, _ in decided], confidence)
    return Preference(
        pairs=len(pairs),
        tied=sum(one.score == other.score for one, other in pairs),
        agreement=found if decided else Figure(reason="people prefer no answer"),
    )


def _by_question(judged: Sequence[Judged]) -> list[list[LabelledAnswer]]:
    """The answers of systems that are named, by question."""
    found: defaultdict[str, list[LabelledAnswer]] = defaultdict(list)
    for each in judged:
        if each.answer.system is not None:
            found[each.answer.id].append(each.answer)
    return list(found.values())


def _agreed(one: LabelledAnswer, other: LabelledAnswer) -> float:
    """Whether the better score is that of the better label; half where the scores are equal."""
    by_people, by_judge = one.label - other.label, (one.score or 0.0) - (other.score or 0.0)
    return 0.5 if by_judge == 0 else float((by_people > 0) == (by_judge > 0))
