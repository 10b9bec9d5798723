"""The weighted score of two runs over their common questions, with an interval of the difference."""

from collections.abc import Sequence
from statistics import fmean

from evals.compare.sides import Change, Sides
from evals.compare.values import Aligned
from evals.schemas import Scorecard, WeightedScore
from evals.scoring.headline import differing_objectives, headline
from evals.scoring.influence import Influence, influence
from evals.scoring.saved_config import scoring_config
from evals.scoring.settings import score_settings
from evals.scoring.weighted import make_weighted_score
from evals.stats import Interval, paired_difference


def score_change(sides: Sides) -> Change | str:
    """The weighted score of both runs over their common questions, or why the two do not compare."""
    return _why_not(sides) or _change(sides)


def _change(sides: Sides) -> Change | str:
    usable = [each for each in sides.aligned.values() if each.complete]
    scores = [_over_common(sides, usable, place) for place in (0, 1)]
    first, last = (_influence(sides, usable, place, score) for place, score in enumerate(scores))
    if first is None or last is None:
        reasons = [score.reason for score in scores if score.reason]
        return f"no score over the common questions: {' '.join(reasons[:1]) or 'nothing in it varies'}"
    # Both have values of the same questions, those that are common to the runs.
    before, after = fmean(first.values.values()), fmean(last.values.values())
    return Change(before, after, _interval(sides, list(first.values), first, last), len(first.values))


def _why_not(sides: Sides) -> str | None:
    for run in sides.pairing.runs:
        head = headline(run)
        if head.score is None:
            return f"run {run.id} has no score: {head.reason}"
    changed = differing_objectives(sides.baseline, sides.run)
    if changed:
        return f"the scores measure different objectives: {'; '.join(changed)}"
    feeding = (sides.aligned[name].metric for name in _fed(sides) if name in sides.aligned)
    return next((f"{each.name} is not compared: {why}" for each in feeding if (why := sides.withheld(each))), None)


def _fed(sides: Sides) -> list[str]:
    """The metrics that feed either score."""
    return list(
        dict.fromkeys(
            name for run in sides.pairing.runs for names in run.weighted_score.fed_by.values() for name in names
        )
    )


def _interval(sides: Sides, ids: Sequence[str], first: Influence, last: Influence) -> Interval | None:
    """Of the difference, from what each question contributes to either score; it lies from -1 to 1."""
    difference = paired_difference(
        [first.values[key] for key in ids],
        [last.values[key] for key in ids],
        sides.clusters(ids),
        low=min(first.low, last.low),
        high=max(first.high, last.high),
        confidence=sides.confidence,
    )
    ends = difference.bounds if difference else None
    return ends and (max(-1.0, ends[0]), min(1.0, ends[1]))


def _over_common(sides: Sides, usable: Sequence[Aligned], place: int) -> WeightedScore:
    settings = score_settings(sides.run)
    summaries = (each.summaries(settings)[place] for each in usable)
    card = Scorecard(metrics=[summary for summary in summaries if summary is not None])
    return make_weighted_score(card, scoring_config(sides.run))


def _influence(sides: Sides, usable: Sequence[Aligned], place: int, weighted: WeightedScore) -> Influence | None:
    settings = score_settings(sides.run)
    columns = {each.metric.name: each.column(place, settings) for each in usable}
    thresholds = scoring_config(sides.run).thresholds
    return influence(weighted, [each.metric for each in usable], columns, thresholds, sides.confidence)
