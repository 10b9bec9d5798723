"""A sweep of load: the same questions at several levels, and what each of them makes of times and quality."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from evals.metrics.base import BaseMetric
from evals.metrics.registry import known_metric
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, MetricGroup, MetricResult
from evals.schemas.load import LevelValue, LoadLevel, Percentiles
from evals.scoring.clusters import REPEAT_OF, cluster_of
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings, score_settings
from evals.stats import percentile

CONCURRENCY = "concurrency"
"""The key of the metadata that says at which level a question was asked, for `show --by concurrency`."""
MOST = 200
"""So many questions a level asks at most: a sweep is a sample."""
_RANKS = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Window:
    """How many questions were asked in how many seconds."""

    asked: int
    seconds: float


def at_levels(questions: Sequence[EvalQuestion], levels: Sequence[int]) -> Iterator[EvalQuestion]:
    """The first questions once for each level, level by level; those of the first level keep their ids."""
    for place, level in enumerate(levels):
        for question in islice(questions, MOST):
            told = {REPEAT_OF: question.id, **question.metadata, CONCURRENCY: level}
            own_id = question.id if place == 0 else f"{question.id}@{level}"
            yield question.model_copy(update={"id": own_id, "metadata": told})


def with_load(run: EvalRun, records: Iterable[EvalRecord], windows: Mapping[int, Window]) -> EvalRun:
    """The run with what each level of load made of it; itself where neither several levels nor a rate were asked for.

    Args:
        run: As it is scored.
        records: Its scored records.
        windows: By concurrency, what was asked in how many seconds, as far as this process asked it.
    """
    levels, rps = run.eval_config.get("load") or [], run.eval_config.get("rps")
    if not levels and not rps:
        return run
    settings, found = score_settings(run), {level: _Level() for level in levels or [run.concurrency]}
    for record in records:
        level = record.question.metadata.get(CONCURRENCY) if levels else run.concurrency
        if level in found:
            found[level].add(record, settings.cluster)
    told = [one.told(level, rps, windows.get(level), settings) for level, one in found.items()]
    return run.model_copy(update={"load": told})


@dataclass
class _Level:
    """The records of one level, as columns."""

    asked: int = 0
    answered: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    latency: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    first_token: list[float] = field(default_factory=list)
    scores: dict[str, tuple[list[MetricResult], list[str]]] = field(default_factory=lambda: defaultdict(_two_lists))

    def add(self, record: EvalRecord, key: str) -> None:
        """Count one question."""
        response = record.response
        if response is None:
            return
        self.asked += 1
        if response.error is not None:
            self.errors[response.error.kind] += 1
        else:
            self.answered += 1
        self._add_times(response)
        cluster = cluster_of(record.question, key)
        for score in record.scores:
            results, clusters = self.scores[score.name]
            results.append(score)
            clusters.append(cluster)

    def _add_times(self, response: EvalResponse) -> None:
        """The times of an answer, and of one that ran out of it: it would have taken longer."""
        if response.error is not None and response.error.kind != "timeout":
            return
        for times, value in (
            (self.latency, response.latency_ms),
            (self.total, response.total_ms),
            (self.first_token, response.time_to_first_token_ms),
        ):
            if value is not None:
                times.append(value)

    def told(self, concurrency: int, rps: float | None, window: Window | None, settings: ScoreSettings) -> LoadLevel:
        """The level as it is saved."""
        whole = window is not None and window.asked == self.asked and window.seconds > 0
        seconds = window.seconds if window is not None and whole else None
        return LoadLevel(
            concurrency=concurrency,
            rps=rps,
            questions=self.asked,
            answered=self.answered,
            errors=dict(self.errors),
            seconds=seconds,
            throughput=self.answered / seconds if seconds else None,
            latency_ms=_percentiles(self.latency),
            total_ms=_percentiles(self.total),
            time_to_first_token_ms=_percentiles(self.first_token),
            metrics=list(self._quality(settings)),
        )

    def _quality(self, settings: ScoreSettings) -> Iterator[LevelValue]:
        for name, (results, clusters) in self.scores.items():
            metric = known_metric(name)
            if metric is not None and _is_of_quality(metric):
                found = summarise(metric, results, settings, clusters)
                if found.value is not None:
                    yield LevelValue(name=name, value=found.value, ci=found.ci, n=found.sample_size)


def _two_lists() -> tuple[list[MetricResult], list[str]]:
    return [], []


def _is_of_quality(metric: BaseMetric) -> bool:
    return metric.group is not MetricGroup.PERFORMANCE


def _percentiles(times: Sequence[float]) -> Percentiles:
    return {f"p{rank}": percentile(times, rank) for rank in _RANKS} if times else {}
