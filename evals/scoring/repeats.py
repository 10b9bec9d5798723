"""Repeated questions: one cluster each, with the stability of their answers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from math import comb, fsum
from statistics import fmean

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import EvalRecord, EvalRun, MetricGroup
from evals.schemas.run_parts import LevelValue, LoadLevel, Percentiles, RepeatedMetric, RepeatSummary
from evals.scoring.run_columns import REPEAT_OF, ScoreTable, cluster_of
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings, score_settings
from evals.scoring.stats.intervals import percentile
from evals.scoring.stats.means import mean_interval
from evals.text.tokens import tokens

# A sweep of load: the same questions at several levels, and what each of them makes of times and quality.


CONCURRENCY = "concurrency"
"""The key of the metadata that says at which level a question was asked, for `show --by concurrency`."""


MOST = 200
"""This many questions a level asks at most: a sweep is a sample."""

_RANKS = (50, 95, 99)

_TIMES = ("latency_ms", "total_ms", "time_to_first_token_ms")


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
    """The run with the results of each level of load; unchanged without several levels or a rate.

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
    errors: Counter[str | None] = field(default_factory=Counter)
    """How often each kind of error came; None counts the answers."""
    times: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in _TIMES})

    def add(self, record: EvalRecord) -> None:
        """Count one question that was asked, with its times; one that ran out of it would have taken longer."""
        response = record.response
        if response is None:
            return
        error = response.error.kind if response.error else None
        self.errors[error] += 1
        self.scores.add(record)
        if error in (None, "timeout"):
            for name, times in self.times.items():
                value = getattr(response, name)
                if value is not None:
                    times.append(value)

    def told(self, concurrency: int, rps: float | None, window: Window | None, settings: ScoreSettings) -> LoadLevel:
        """The level as it is saved."""
        asked, answered = self.errors.total(), self.errors[None]
        whole = window is not None and window.asked == asked and window.seconds > 0
        seconds = window.seconds if window is not None and whole else None
        return LoadLevel(
            concurrency=concurrency,
            rps=rps,
            questions=asked,
            answered=answered,
            errors={kind: count for kind, count in self.errors.items() if kind is not None},
            seconds=seconds,
            throughput=answered / seconds if seconds else None,
            **{name: _percentiles(times) for name, times in self.times.items()},
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


# Several values of each question: how much of their variance lies within questions, and how often all of them pass.


_ROUNDING = 1e-24
"""Relative to the values squared, and to all variance: one that is smaller comes from rounding."""


@dataclass(frozen=True, slots=True)
class Components:
    """The variance of values by where it comes from.

    Attributes:
        within: Between the values of one question.
        between: Between the means that questions would have after endless repeats; an estimate below 0 counts as 0.
            None of one question alone.
    """

    within: float
    between: float | None

    @property
    def reliability(self) -> float | None:
        """The intraclass correlation of a single value, ICC(1); None where nothing varies, or of one question."""
        if self.between is None:
            return None
        total = self.within + self.between
        return self.between / total if total > 0 else None


def components(groups: Sequence[Sequence[float]]) -> Components | None:
    """The components of variance of a one-way layout with random effects.

    Formula, with Q questions of m_q values, N in all: within is MSW = sum of (x - mean_q)² / (N - Q); between is
    (MSB - MSW) / m0, where MSB = sum of m_q·(mean_q - mean)² / (Q - 1) and m0 = (N - sum of m_q² / N) / (Q - 1)
    (Searle, Casella & McCulloch 1992; Shrout & Fleiss 1979).

    Args:
        groups: The values of each question.

    Returns:
        None where no question has two values.
    """
    count, n = len(groups), sum(map(len, groups))
    if n == count:
        return None
    means = [fmean(values) for values in groups]
    grand = fsum(map(fsum, groups)) / n
    within = fsum((x - mean) ** 2 for values, mean in zip(groups, means, strict=True) for x in values) / (n - count)
    spread = fsum(len(values) * (mean - grand) ** 2 for values, mean in zip(groups, means, strict=True))
    size = fsum(fsum(x * x for x in values) for values in groups)
    spread = _unless_rounding(spread, size)
    within = _unless_rounding(within, max(size, within + spread))
    if count == 1:
        return Components(within, None)
    typical = (n - sum(len(values) ** 2 for values in groups) / n) / (count - 1)
    return Components(within, max(0.0, (spread / (count - 1) - within) / typical))


def _unless_rounding(variance: float, size: float) -> float:
    return variance if variance > _ROUNDING * size else 0.0


def pass_all(passed: int, tried: int, k: int) -> float:
    """The chance that k answers of a question all pass, pass^k; unbiased.

    Formula: C(c, k) / C(n, k), for c that pass of n: the share of all draws of k among them (Yao et al. 2024).

    Args:
        passed: How many answers passed, c.
        tried: How many there are, n.
        k: At most as many.

    Raises:
        ValueError: k is not from 1 to `tried`, or more passed than were tried.
    """
    if not 1 <= k <= tried or not 0 <= passed <= tried:
        raise ValueError(f"nothing can be drawn: n = {tried}, c = {passed}, k = {k}")
    return comb(passed, k) / comb(tried, k)


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
    """The run with the stability of its answers; unchanged if each question was asked once."""
    repeats = run.eval_config.get("repeats", 1)
    if repeats < 2:
        return run
    settings = score_settings(run)
    found: dict[str, _Asked] = {}
    for record in records:
        question = record.question
        own = str(question.metadata.get(REPEAT_OF, question.id))
        if own not in found:
            found[own] = _Asked(cluster_of(question, settings.cluster))
        found[own].add(record)
    return run.model_copy(update={"repeats": _summary(list(found.values()), repeats, settings.confidence)})


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

    def tries(self, name: str) -> int:
        """How often a value was wanted, a time without an answer included.

        Of a question without any value, its failures say whether there would have been one.
        """
        values = len(self.values.get(name, ()))
        return values + (self.failed if values else self.lost[name])


def _summary(seen: Sequence[_Asked], repeats: int, confidence: float) -> RepeatSummary:
    names = dict.fromkeys(chain.from_iterable(one.values for one in seen))
    metrics = (_repeated_metric(name, seen, repeats, confidence) for name in names)
    compared = [one for one in seen if len(one.answers) > 1]
    same = [_agreement(one.answers) for one in compared]
    return RepeatSummary(
        repeats=repeats,
        questions=len(seen),
        compared=len(compared),
        metrics=list(filter(None, metrics)),
        same_answers=fmean(share == 1 for share in same) if same else None,
        agreement=fmean(same) if same else None,
        agreement_ci=_interval(same, [one.cluster for one in compared], confidence),
    )


def _interval(shares: Sequence[float], clusters: Sequence[str], confidence: float) -> tuple[float, float] | None:
    found = mean_interval(shares, clusters, low=0, high=1, confidence=confidence)
    return None if found is None else found.interval


def _agreement(answers: Sequence[str]) -> float:
    """The share of pairs that are the same."""
    same = sum(count * (count - 1) for count in Counter(answers).values())
    return same / (len(answers) * (len(answers) - 1))


def _repeated_metric(name: str, seen: Sequence[_Asked], repeats: int, confidence: float) -> RepeatedMetric | None:
    metric = known_metric(name)
    if metric is None:
        return None
    groups = [one.values[name] for one in seen if len(one.values.get(name, ())) > 1]
    found, passes = components(groups), _passes(metric, seen, repeats)
    if found is None and not passes:
        return None
    curve = [_pass_all(passes, k) for k in range(1, repeats + 1)] if passes else []
    return RepeatedMetric(
        name=name,
        questions=len(groups),
        reason=_why_unknown(found),
        **_variances(found),
        pass_hat=list(map(fmean, curve)),
        pass_all_ci=_interval(_pass_all(passes, repeats), [cluster for cluster, _, _ in passes], confidence),
    )


def _pass_all(passes: Sequence[tuple[str, int, int]], k: int) -> list[float]:
    return [pass_all(passed, tried, k) for _, passed, tried in passes]


def _variances(found: Components | None) -> dict[str, float | None]:
    if found is None:
        return {}
    return {"within_variance": found.within, "between_variance": found.between, "reliability": found.reliability}


def _passes(metric: BaseMetric, seen: Sequence[_Asked], repeats: int) -> list[tuple[str, int, int]]:
    """How often answers have the best value, by question that was asked often enough: (cluster, how many of how many).

    A time without an answer is one that did not pass. Empty where the metric has no best value.
    """
    if metric.best is None or metric.aggregation is Aggregation.PERCENTILE:
        return []
    told = [(one.cluster, one.values.get(metric.name, []).count(metric.best), one.tries(metric.name)) for one in seen]
    return [one for one in told if one[2] >= repeats]


def _why_unknown(found: Components | None) -> str | None:
    """Why there is no reliability; None where there is one."""
    if found is None:
        return "no question has two values"
    if found.between is None:
        return "one question alone does not vary between questions"
    return "nothing varies" if found.reliability is None else None
