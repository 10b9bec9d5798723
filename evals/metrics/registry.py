"""Every metric by name. A new metric is one class and one line in `METRICS`.

Other packages add theirs with an entry point of the group `evals.metrics` that names a `BaseMetric` subclass.
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points

from evals.errors import ConfigError, UnknownNameError
from evals.metrics import abstention, citation, generation, performance, retrieval
from evals.metrics.base import BaseMetric

METRICS: tuple[type[BaseMetric], ...] = (
    retrieval.RecallAtK,
    retrieval.PrecisionAtK,
    retrieval.MRR,
    retrieval.NDCG,
    generation.Faithfulness,
    generation.AnswerCorrectness,
    generation.AnswerRelevancy,
    citation.CitationPrecision,
    citation.CitationRecall,
    citation.SectionAccuracy,
    abstention.UnanswerableAccuracy,
    abstention.FalsePositiveRate,
    abstention.FalseNegativeRate,
    performance.LatencyP50,
    performance.LatencyP95,
    performance.CostPerQuery,
)


@cache
def metric_classes() -> tuple[type[BaseMetric], ...]:
    """All metric classes: the built-in ones, then those of installed plug-ins."""
    found = list(METRICS)
    for point in entry_points(group="evals.metrics"):
        loaded = point.load()
        if not (isinstance(loaded, type) and issubclass(loaded, BaseMetric)):
            raise ConfigError(f"plug-in {point.name!r} is no metric: {loaded!r} is not a BaseMetric subclass")
        found.append(loaded)
    return tuple(found)


def suites() -> list[str]:
    """The names of all suites."""
    return [*sorted({suite for cls in metric_classes() for suite in cls.suites}), "all"]


def parse_metric(name: str) -> BaseMetric:
    """The metric that a name such as `mrr` or `recall_at_20` stands for.

    Raises:
        UnknownNameError: No metric has the name.
    """
    for cls in metric_classes():
        metric = cls.from_name(name)
        if metric is not None:
            return metric
    raise UnknownNameError("metric", name, default_names() + [cls.pattern() for cls in metric_classes()])


def default_names() -> list[str]:
    """The names of all metrics as the suites compute them."""
    return [metric.name for cls in metric_classes() for metric in cls.defaults()]


def select(suite_names: Iterable[str], metric_names: Iterable[str]) -> list[BaseMetric]:
    """The metrics of the suites, then those named, each once.

    Raises:
        UnknownNameError: A suite or a metric does not exist.
    """
    chosen: dict[str, BaseMetric] = {}
    for suite in suite_names:
        if suite not in suites():
            raise UnknownNameError("suite", suite, suites())
        for cls in metric_classes():
            if suite == "all" or suite in cls.suites:
                chosen.update((metric.name, metric) for metric in cls.defaults())
    for name in metric_names:
        chosen.setdefault(name, parse_metric(name))
    return list(chosen.values())
