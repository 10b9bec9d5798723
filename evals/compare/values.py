"""Each metric of several runs, on the questions for which all runs that have it have a value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.case.case import Case
from evals.compare.answering import AbstentionRate, AnswerableAbstentionRate, AnswerRate, ChunksRate, CitationsRate
from evals.compare.models import MetricRow
from evals.compare.pairing import Pairing
from evals.metrics.base import BaseMetric
from evals.metrics.registry import known_metric
from evals.schemas import EvalRecord, EvalRun, MetricResult, MetricSummary
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings, score_settings


@dataclass(frozen=True, slots=True)
class Aligned:
    """One metric of several runs.

    Attributes:
        metric: The metric.
        ids: The questions for which all runs that have the metric have a value.
        results: The results for these questions, a list a run; None for a run that does not have the metric.
        clusters: The label of each question's cluster, as the first run says what questions are clustered by.
        reason: Why it is not compared over all runs; None where it is.
    """

    metric: BaseMetric
    ids: list[str]
    results: list[list[MetricResult] | None]
    clusters: list[str]
    reason: str | None = None

    @property
    def complete(self) -> bool:
        """Whether all runs have it, on at least one common question."""
        return bool(self.ids) and None not in self.results

    def values(self, run: int) -> list[float]:
        """The values of a run, in the order of the ids."""
        return [result.value for result in self.results[run] or () if result.value is not None]

    def summaries(self, settings: ScoreSettings) -> list[MetricSummary | None]:
        """The metric over these questions, a summary a run, with intervals as the settings say."""
        return [
            summarise(self.metric, results, settings, self.clusters) if results else None for results in self.results
        ]

    def row(self, settings: ScoreSettings) -> MetricRow:
        """The same for people."""
        summaries = self.summaries(settings)
        return MetricRow(
            name=self.metric.name,
            group=self.metric.group.value,
            unit=self.metric.unit,
            higher_is_better=self.metric.higher_is_better,
            n=len(self.ids),
            values=[summary.value if summary else None for summary in summaries],
            intervals=[summary.ci if summary else None for summary in summaries],
            reason=self.reason,
        )


def align_all(pairing: Pairing) -> list[Aligned]:
    """Every metric that some run has a value of, in the order of the first run's scorecard.

    A question without an answer counts as the worst value where all runs were told so (`on_error: worst`).
    """
    worst = all(score_settings(run).worst_on_error for run in pairing.runs)
    found = []
    for name in _names(pairing):
        metric = known_metric(name)
        if metric is not None:
            columns = [
                _results(metric, records, worst=worst) if _has_value(run, name) else {}
                for run, records in zip(pairing.runs, pairing.records, strict=True)
            ]
            found.append(_align(metric, columns, pairing))
    found += [*_answering(pairing), *_lists(pairing)]
    return [aligned for aligned in found if any(results is not None for results in aligned.results)]


def _answering(pairing: Pairing) -> list[Aligned]:
    """The rates of answers and of abstentions, where any run has failures or abstentions."""
    found = []
    if any(_failed(record) for records in pairing.records for record in records.values()):
        found.append(_align(AnswerRate(), [_answer_rates(records) for records in pairing.records], pairing))
    if any(abstained.get(key) for abstained in pairing.abstained for key in pairing.ids):
        runs = range(len(pairing.runs))
        rates = (AbstentionRate(), AnswerableAbstentionRate())
        found += [_align(rate, [_abstained(rate, run, pairing) for run in runs], pairing) for rate in rates]
    return found


def _lists(pairing: Pairing) -> list[Aligned]:
    """How many answers come with chunks and citations, where some of a run do and others do not."""
    rates = (ChunksRate(), CitationsRate())
    return [_align(rate, columns, pairing) for rate in rates if (columns := _sent(rate, pairing))]


def _sent(rate: ChunksRate, pairing: Pairing) -> list[dict[str, MetricResult]]:
    """Which answers came with a list, a mapping a run; nothing where no run sends it with some answers alone."""
    columns = [{key: rate.score(case) for key, case in _answered(records)} for records in pairing.records]
    mixed = any(len({result.value for result in column.values()}) > 1 for column in columns)
    return columns if mixed else []


def _abstained(metric: AbstentionRate, run: int, pairing: Pairing) -> dict[str, MetricResult]:
    return {
        key: metric.result(pairing.abstained[run][key])
        for key, record in pairing.records[run].items()
        if key in pairing.abstained[run] and metric.not_applicable_to(record.question) is None
    }


def values_of(metric: BaseMetric, pairing: Pairing, run: int) -> dict[str, float]:
    """The values of one metric in one run, by question."""
    records = pairing.records[run]
    worst = all(score_settings(each).worst_on_error for each in pairing.runs)
    if isinstance(metric, AbstentionRate):
        results = _abstained(metric, run, pairing)
    elif isinstance(metric, AnswerRate):
        results = _answer_rates(records)
    else:
        results = _results(metric, records, worst=worst)
    return {key: result.value for key, result in results.items() if result.value is not None}


def _has_value(run: EvalRun, name: str) -> bool:
    """Whether the metric has a value over the run; values of single questions may not stand for it."""
    summary = run.scorecard.find(name)
    return summary is not None and summary.value is not None


def find_unknown(pairing: Pairing) -> list[str]:
    """The metrics that do not exist here: of a plug-in that is not installed, or of a newer version."""
    return [name for name in _names(pairing) if known_metric(name) is None]


def _names(pairing: Pairing) -> list[str]:
    return list(dict.fromkeys(summary.name for run in pairing.runs for summary in run.scorecard.metrics))


def _results(metric: BaseMetric, records: dict[str, EvalRecord], *, worst: bool) -> dict[str, MetricResult]:
    results = {}
    for key, record in records.items():
        result = next((score for score in record.scores if score.name == metric.name), None)
        if result is not None and worst and result.missing == "transport" and metric.worst is not None:
            result = metric.result(metric.worst)
        if result is not None and result.value is not None:
            results[key] = result
    return results


def _align(metric: BaseMetric, columns: Sequence[dict[str, MetricResult]], pairing: Pairing) -> Aligned:
    having = [column for column in columns if column]
    ids = [key for key in pairing.ids if all(key in column for column in having)] if having else []
    lacking = [run.id for run, column in zip(pairing.runs, columns, strict=True) if not column]
    reason = None if ids else "no question for which all runs have a value"
    if lacking:
        reason = f"no value in {', '.join(lacking)}"
    results = [[column[key] for key in ids] if column else None for column in columns]
    return Aligned(metric, ids, results, pairing.clusters(ids), reason)


def _failed(record: EvalRecord) -> bool:
    return record.response is not None and record.response.error is not None


def _answer_rates(records: dict[str, EvalRecord]) -> dict[str, MetricResult]:
    rate = AnswerRate()
    return {
        key: rate.score(Case(record.question, record.response))
        for key, record in records.items()
        if record.response is not None
    }


def _answered(records: dict[str, EvalRecord]) -> Iterator[tuple[str, Case]]:
    for key, record in records.items():
        if record.response is not None and record.response.error is None:
            yield key, Case(record.question, record.response)
