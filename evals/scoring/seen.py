"""What a run says of a metric or of its weighted score, as gates see it."""

from dataclasses import dataclass

from evals.schemas import EvalRun, MetricSummary
from evals.scoring.headline import headline, percent
from evals.scoring.saved_config import scoring_config

SCORE = "score"
"""In a gate: the weighted score."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A metric of a run, or its weighted score.

    Attributes:
        value: None where there is none.
        ci: Its interval.
        n: Over how many questions.
        reason: Why there is no value.
        of: Of how much of the weight a score is, in words; empty where it is all, and for metrics.
        at_least: Whether the value is a lower bound: requests ran out of time.
        open_above: Whether nobody knows how far above the interval ends.
        bounds: What the value would be if all that is lost were the worst, and the best.
        flagged: Of how many questions the judge says that the data tells it what to decide.
    """

    value: float | None
    ci: tuple[float, float] | None = None
    n: int | None = None
    reason: str | None = None
    of: str = ""
    at_least: bool = False
    open_above: bool = False
    bounds: tuple[float, float] | None = None
    flagged: int = 0

    def bound(self, *, upper: bool) -> float | None:
        """The upper or the lower bound where the judge flags something, else the value."""
        if not self.flagged:
            return self.value
        return None if self.bounds is None else max(self.bounds) if upper else min(self.bounds)

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return self.ci[0] if self.ci else None

    @property
    def high(self) -> float | None:
        """The upper end; None where nobody knows it."""
        return self.ci[1] if self.ci and not self.open_above else None

    @property
    def spread(self) -> str:
        """The interval in words."""
        if self.ci is None:
            return "no interval"
        return f"interval {self.ci[0]:.4g} … {'≥ ' if self.open_above else ''}{self.ci[1]:.4g}"

    def __str__(self) -> str:
        return f"{self.value:.4g}{self.of}"


def see(run: EvalRun, name: str) -> Measurement:
    """What a run says of a metric; `score` is its weighted score."""
    return _score(run) if name == SCORE else _metric(run, name)


def _score(run: EvalRun) -> Measurement:
    head, weighted = headline(run), run.weighted_score
    of = "" if head.is_whole else f" of {percent(head.coverage)} of the weight"
    flagged = _flagged_feeds(run)
    return Measurement(
        head.score,
        weighted.ci,
        weighted.interval.n if weighted.interval else None,
        head.reason,
        of,
        bounds=None if any(one.value is None for one in flagged) else weighted.bounds,
        flagged=max((one.counts.injection for one in flagged), default=0),
    )


def _flagged_feeds(run: EvalRun) -> list[MetricSummary]:
    """The metrics that may feed the score of which the judge flags questions."""
    feeds = set().union(*scoring_config(run).feeds.values())
    return [one for one in run.scorecard.metrics if one.name in feeds and one.counts.injection]


def _metric(run: EvalRun, name: str) -> Measurement:
    summary = run.scorecard.find(name)
    if summary is None:
        return Measurement(None, reason="the run does not have it")
    return Measurement(
        summary.value,
        summary.ci,
        summary.sample_size,
        summary.reason,
        at_least=summary.at_least,
        open_above=summary.interval is not None and summary.interval.open_above,
        bounds=summary.bounds,
        flagged=summary.counts.injection,
    )
