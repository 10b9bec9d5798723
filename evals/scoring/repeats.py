"""Questions that were asked several times: several questions of one cluster, and what their answers have in common."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import fmean
from typing import Any

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun, MetricGroup
from evals.schemas.run_parts import LevelValue, LoadLevel, Percentiles, RepeatedMetric, RepeatSummary
from evals.scoring.run_columns import REPEAT_OF, ScoreTable, cluster_of
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings, score_settings
from evals.scoring.stats.differences import Components, components, pass_all
from evals.scoring.stats.intervals import percentile
from evals.scoring.stats.means import mean_interval
from evals.text.folding import tokens

# A sweep of load: the same questions at several levels, and what each of them makes of times and quality.


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
    settings = score_settings(run)
    found = {level: _Level(ScoreTable(settings.cluster)) for level in levels or [run.concurrency]}
    for record in records:
        level = record.question.metadata.get(CONCURRENCY) if levels else run.concurrency
        if level in found:
            found[level].add(record)
    told = [one.told(level, rps, windows.get(level), settings) for level, one in found.items()]
    return run.model_copy(update={"load": told})


@dataclass
class _Level:
    """The records of one level, as columns."""

    scores: ScoreTable
    asked: int = 0
    answered: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    latency: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    first_token: list[float] = field(default_factory=list)

    def add(self, record: EvalRecord) -> None:
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
        self.scores.add(record)

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
        labels = self.scores.labels()
        for name in self.scores.scores:
            metric = known_metric(name)
            if metric is not None and metric.group is not MetricGroup.PERFORMANCE:
                found = summarise(metric, self.scores.column(name), settings, labels)
                if found.value is not None:
                    yield LevelValue(name=name, value=found.value, ci=found.ci, n=found.sample_size)


def _percentiles(times: Sequence[float]) -> Percentiles:
    return {f"p{rank}": percentile(times, rank) for rank in _RANKS} if times else {}


REPEAT = "repeat"
"""The key of the metadata that counts, from 1: `show --by repeat` has a line for each."""


def repeated(questions: Sequence[EvalQuestion], repeats: int) -> Iterator[EvalQuestion]:
    """The questions, all of them once, then all of them again, and so on.

    The first time a question keeps its id, so that it pairs with that of a run without repeats.
    """
    for number in range(1, repeats + 1):
        for question in questions:
            told = {REPEAT: number, REPEAT_OF: question.id}
            own_id = question.id if number == 1 else f"{question.id}#{number}"
            yield question.model_copy(update={"id": own_id, "metadata": {**question.metadata, **told}})


def with_repeats(run: EvalRun, records: Iterable[EvalRecord]) -> EvalRun:
    """The run with how stable its answers are; itself where each question was asked once."""
    repeats = run.eval_config.get("repeats", 1)
    if repeats < 2:
        return run
    seen = _seen(run, records)
    return run.model_copy(update={"repeats": _summary(seen, repeats, score_settings(run).confidence)})


@dataclass
class _Asked:
    """One question with all its answers.

    Attributes:
        cluster: What it belongs to.
        answers: As they compare.
        values: By metric.
        failed: How often there was no answer.
        lost: By metric, how often that left it without the value that it would have had.
    """

    cluster: str
    answers: list[str] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failed: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    def add(self, record: EvalRecord) -> None:
        """Count one more time that it was asked."""
        response = record.response
        if response is None:
            return
        if response.error is not None:
            self.failed += 1
            self.lost.update(score.name for score in record.scores if score.missing == "transport")
            return
        if response.answer is not None:
            self.answers.append(" ".join(tokens(response.answer)))
        for score in record.scores:
            if score.value is not None:
                self.values[score.name].append(score.value)
            elif score.missing == "transport":
                self.lost[score.name] += 1


def _seen(run: EvalRun, records: Iterable[EvalRecord]) -> list[_Asked]:
    key = score_settings(run).cluster
    found: dict[str, _Asked] = {}
    for record in records:
        question = record.question
        own = str(question.metadata.get(REPEAT_OF, question.id))
        if own not in found:
            found[own] = _Asked(cluster_of(question, key))
        found[own].add(record)
    return list(found.values())


def _summary(seen: Sequence[_Asked], repeats: int, confidence: float) -> RepeatSummary:
    names = dict.fromkeys(name for one in seen for name in one.values)
    metrics = (_metric(name, seen, repeats, confidence) for name in names)
    compared = [one for one in seen if len(one.answers) > 1]
    return RepeatSummary(
        repeats=repeats,
        questions=len(seen),
        compared=len(compared),
        metrics=[metric for metric in metrics if metric is not None],
        **_stability(compared, confidence),
    )


def _stability(compared: Sequence[_Asked], confidence: float) -> dict[str, Any]:
    """How often answers to one question are the same; nothing where no question has two."""
    if not compared:
        return {}
    agreements = [_agreement(one.answers) for one in compared]
    estimate = mean_interval(agreements, [one.cluster for one in compared], low=0, high=1, confidence=confidence)
    return {
        "same_answers": fmean(len(set(one.answers)) == 1 for one in compared),
        "agreement": fmean(agreements),
        "agreement_ci": estimate.interval if estimate is not None else None,
    }


def _agreement(answers: Sequence[str]) -> float:
    """The share of pairs that are the same."""
    same = sum(count * (count - 1) for count in Counter(answers).values())
    return same / (len(answers) * (len(answers) - 1))


def _metric(name: str, seen: Sequence[_Asked], repeats: int, confidence: float) -> RepeatedMetric | None:
    groups = [one.values[name] for one in seen if len(one.values.get(name, ())) > 1]
    found, metric = components(groups), known_metric(name)
    if metric is None:
        return None
    passes = _Passes.of(metric, seen, repeats)
    if found is None and passes is None:
        return None
    variances: dict[str, Any] = {}
    if found is not None:
        variances["within_variance"], variances["between_variance"] = found.within, found.between
        variances["reliability"] = found.reliability
    return RepeatedMetric(
        name=name,
        questions=len(groups),
        reason=_why_unknown(found),
        **variances,
        pass_hat=passes.curve if passes else [],
        pass_all_ci=passes.interval(confidence) if passes else None,
    )


def _why_unknown(found: Components | None) -> str | None:
    """Why there is no reliability; None where there is one."""
    if found is None:
        return "no question has two values"
    if found.between is None:
        return "one question alone does not vary between questions"
    return "nothing varies" if found.reliability is None else None


@dataclass(frozen=True, slots=True)
class _Passes:
    """How often answers have the best value, by question: (cluster, how many of how many)."""

    counts: Sequence[tuple[str, int, int]]
    repeats: int

    @classmethod
    def of(cls, metric: BaseMetric, asked: Sequence[_Asked], repeats: int) -> "_Passes | None":
        """Those of the questions asked often enough; None where there is none, or the metric has no best value.

        A time without an answer is one that did not pass.
        """
        best = metric.best
        if best is None or metric.aggregation is Aggregation.PERCENTILE:
            return None
        told = ((one.cluster, one.values.get(metric.name, []).count(best), _tries(one, metric)) for one in asked)
        counts = [one for one in told if one[2] >= repeats]
        return cls(counts, repeats) if counts else None

    @property
    def curve(self) -> list[float]:
        """pass^1 … pass^k."""
        return [fmean(self._values(k)) for k in range(1, self.repeats + 1)]

    def interval(self, confidence: float) -> tuple[float, float] | None:
        """That of the last."""
        clusters = [cluster for cluster, _, _ in self.counts]
        found = mean_interval(self._values(self.repeats), clusters, low=0, high=1, confidence=confidence)
        return found.interval if found is not None else None

    def _values(self, k: int) -> list[float]:
        return [pass_all(passed, tried, k) for _, passed, tried in self.counts]


def _tries(one: _Asked, metric: BaseMetric) -> int:
    """How often a value was wanted; of a question without any, its failures say whether there would have been one."""
    values = len(one.values.get(metric.name, ()))
    return values + (one.failed if values else one.lost[metric.name])
