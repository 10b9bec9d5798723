"""The weighted score of a saved run as it may be shown: none where little was measured, and beside which others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from evals.schemas import EvalRun
from evals.scoring.config import LEAST_COVERAGE, NOT_ANSWERED
from evals.scoring.saved_config import scoring_config

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Headline:
    """A weighted score as it may be shown.

    Attributes:
        score: None where there is none, or it says nothing.
        coverage: The share of the configured weight that is measured, from 0 to 1.
        reason: Why there is no score.
    """

    score: float | None
    coverage: float
    reason: str | None = None

    def __str__(self) -> str:
        """`0.766 of 80 %`: the score, and of how much of the weight it is where that is not all."""
        if self.score is None:
            return "–"
        return f"{self.score:.3f}{'' if self.is_whole else f' of {percent(self.coverage)}'}"

    @property
    def is_whole(self) -> bool:
        """Whether everything that has a weight was measured."""
        return self.coverage > 1 - _ROUNDING


def percent(share: float) -> str:
    """A share in whole percent: `80 %`."""
    return f"{100 * share:.0f} %"


def headline(run: EvalRun) -> Headline:
    """The score of a saved run. Runs of earlier versions held one however little was measured; it is not shown.

    Raises:
        ConfigError: The run's weights were changed by hand to something that cannot be.
    """
    weighted = run.weighted_score
    coverage = weighted.coverage if weighted.coverage is not None else _coverage(run)
    failed = why_failed(run)
    if failed is not None:
        return Headline(None, coverage, failed)
    if weighted.score is None:
        return Headline(None, coverage, weighted.reason or _earlier_reason(run))
    if coverage < LEAST_COVERAGE - _ROUNDING:
        measured = ", ".join(weighted.weights)
        return Headline(None, coverage, f"only {percent(coverage)} of the weight is measured: {measured}")
    return Headline(weighted.score, coverage)


def why_failed(run: EvalRun) -> str | None:
    """Why a run that failed did; None for one that did not."""
    if run.status != "failed":
        return None
    return run.weighted_score.reason or _earlier_reason(run)


def _coverage(run: EvalRun) -> float:
    """Of a run that does not say it; all of the weight where the configuration does not say what there was."""
    if not run.weighted_score.weights:
        return 0.0
    whole = fsum(scoring_config(run).weights.values())
    return min(1.0, fsum(run.weighted_score.weights.values()) / whole)


def _earlier_reason(run: EvalRun) -> str:
    """Of a run whose score does not say why it is none."""
    if run.is_unscored:
        return "the run did not finish, and none of it is scored yet"
    reasons = set(run.weighted_score.left_out.values())
    if len(reasons) == 1:
        return reasons.pop()
    return "nothing feeds it" if run.outcomes.answered else NOT_ANSWERED


def differing_objectives(first: EvalRun, other: EvalRun) -> list[str]:
    """What two weighted scores do not have in common, in words; empty where they measure the same."""
    here, there = _measured(first), _measured(other)
    found = []
    for name in [*here, *(name for name in there if name not in here)]:
        if name not in here or name not in there:
            found.append(f"{name} is measured in {(first if name in here else other).id} alone")
        elif here[name] != there[name]:
            found.append(f"{name} is {_told(here[name])} in {first.id} and {_told(there[name])} in {other.id}")
    return found


def objectives_beside(first: EvalRun, other: EvalRun) -> list[str]:
    """In what the other run's weighted score measures something else than the first one's, without naming either."""
    here, there = _measured(first), _measured(other)
    lacks = [f"no {name}" for name in here if name not in there]
    more = [f"{name} too" for name in there if name not in here]
    other_ways = [f"{name} by {_told(there[name])}" for name in there if there[name] != here.get(name, there[name])]
    return [*lacks, *more, *other_ways]


_Objective = tuple[float, tuple[str, ...], Mapping[str, float]]
"""Weight, metrics that feed it, thresholds."""


def _measured(run: EvalRun) -> dict[str, _Objective]:
    weighted, thresholds = run.weighted_score, scoring_config(run).thresholds
    units = {summary.name: summary.unit for summary in run.scorecard.metrics}
    found: dict[str, _Objective] = {}
    for name, weight in weighted.weights.items():
        fed = tuple(sorted(weighted.fed_by.get(name, ())))
        used = {unit: thresholds[unit] for unit in map(units.get, fed) if unit in thresholds}
        found[name] = (weight, fed, used)
    return found


def _told(objective: _Objective) -> str:
    weight, fed, thresholds = objective
    told = ", ".join(fed) or "fed by nobody knows what"
    limits = "".join(f", threshold {limit:g} {unit}" for unit, limit in thresholds.items())
    return f"{told} (weight {weight:g}{limits})"


def by_objectives(runs: Sequence[EvalRun]) -> list[list[EvalRun]]:
    """Runs that have a score, put together where their scores measure the same, in the order of the first of each."""
    groups: list[list[EvalRun]] = []
    for run in runs:
        if headline(run).score is None:
            continue
        group = next((each for each in groups if not differing_objectives(each[0], run)), None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    return groups
