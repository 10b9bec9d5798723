"""Two runs side by side, and what is seen of a metric in both."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.compare.pairing import Pairing
from evals.compare.values import Aligned
from evals.compare.withheld import Obstacle, why_withheld
from evals.metrics.base import BaseMetric
from evals.schemas import EvalRun
from evals.scoring.headline import why_failed
from evals.scoring.settings import score_settings
from evals.stats import Interval


@dataclass(frozen=True, slots=True)
class Change:
    """A metric in the baseline and in the run, over the questions for which both have a value."""

    before: float
    after: float
    interval: Interval | None
    """Of the difference, after minus before."""
    n: int


@dataclass(frozen=True, slots=True)
class Sides:
    """The baseline and the run, side by side, with what they did differently."""

    pairing: Pairing
    aligned: dict[str, Aligned]
    margin: float
    obstacles: Sequence[Obstacle] = ()

    @property
    def baseline(self) -> EvalRun:
        return self.pairing.runs[0]

    @property
    def run(self) -> EvalRun:
        return self.pairing.runs[1]

    @property
    def confidence(self) -> float:
        return score_settings(self.run).confidence

    def clusters(self, ids: Sequence[str]) -> list[str]:
        """What each of these questions belongs to."""
        labels = dict(zip(self.pairing.ids, self.pairing.sides[1].clusters(), strict=True))
        return [labels[each] for each in ids]

    @property
    def failed(self) -> str | None:
        """Which of the two failed, and why; None where both did not."""
        for run in self.pairing.runs:
            reason = why_failed(run)
            if reason is not None:
                return f"run {run.id} failed: {reason}"
        return None

    def withheld(self, metric: BaseMetric) -> str | None:
        """Why the metric cannot be held against the baseline: the two runs measured it by different means."""
        return why_withheld(metric, self.obstacles)

    @property
    def loads_differ(self) -> bool:
        """Whether the runs asked at different concurrency."""
        runs = self.pairing.runs
        return any(run.concurrencies for run in runs) or len({run.concurrency for run in runs}) > 1
