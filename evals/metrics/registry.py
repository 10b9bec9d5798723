"""Every metric by name. A new metric is one class and one line in `METRICS`.

Other packages add theirs with an entry point of the group `evals.metrics` that names a `BaseMetric` subclass.
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points

from evals.errors import ConfigError, UnknownNameError
from evals.metrics import (
    abstention,
    answer,
    citation,
    citation_support,
    claims,
    generation,
    gptscore,
    graphrag,
    nuggets,
    passage,
    performance,
    qa,
    ragas,
    ragas_answer,
    retrieval,
    semantic,
)
from evals.metrics.base import BaseMetric

METRICS: tuple[type[BaseMetric], ...] = (
    retrieval.RecallAtK,
    retrieval.PrecisionAtK,
    retrieval.MRR,
    retrieval.MRRAtK,
    retrieval.NDCG,
    passage.PassageExactMatch,
    passage.SpanF1,
    passage.PassageRecallAtK,
    passage.PassageNDCGAtK,
    qa.AdaptedNDCG,
    qa.ModifiedPrecision,
    ragas.ContextPrecision,
    ragas.ContextRecall,
    ragas.RagasContextPrecision,
    ragas.RagasContextPrecisionOrdered,
    ragas.RagasContextRecall,
    claims.ClaimRecall,
    generation.Faithfulness,
    generation.AnswerCorrectness,
    generation.AnswerRelevancy,
    answer.ExactMatch,
    answer.KeywordCoverage,
    answer.NumberMatch,
    answer.AnswerCompleteness,
    answer.RulesCoverage,
    answer.FactScore,
    answer.IsCorrect,
    answer.SquadEM,
    answer.SquadF1,
    qa.FuzzyMatch,
    gptscore.GPTScore,
    gptscore.FactualMatch,
    ragas.RagasFaithfulness,
    ragas_answer.RagasAnswerRelevance,
    ragas_answer.RagasScore,
    graphrag.FactualAccuracyPercentage,
    graphrag.CorrectAnswersCount,
    graphrag.WrongAnswersCount,
    claims.ClaimPrecision,
    claims.ContextUtilization,
    claims.NoiseSensitivity,
    claims.NoiseSensitivityRelevant,
    claims.NoiseSensitivityIrrelevant,
    claims.Hallucination,
    claims.SelfKnowledge,
    nuggets.NuggetVital,
    nuggets.NuggetVitalStrict,
    nuggets.NuggetAll,
    nuggets.NuggetAllStrict,
    semantic.SemanticSimilarityPercentage,
    semantic.BertScoreF1,
    semantic.SentenceCoverage,
    citation.CitationPrecision,
    citation.CitationRecall,
    citation.SectionAccuracy,
    answer.SourceCitationQuality,
    citation_support.CitationSupportPrecision,
    citation_support.CitationSupportRecall,
    citation_support.OverCitationRate,
    abstention.UnanswerableAccuracy,
    abstention.FalsePositiveRate,
    abstention.FalseNegativeRate,
    graphrag.DontKnowAnswersCount,
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


def metrics_of(suite_names: Iterable[str]) -> list[type[BaseMetric]]:
    """The metric classes of the suites, suite by suite, each once.

    Raises:
        UnknownNameError: A suite does not exist.
    """
    chosen: dict[type[BaseMetric], None] = {}
    for suite in suite_names:
        if suite not in suites():
            raise UnknownNameError("suite", suite, suites())
        chosen.update((cls, None) for cls in metric_classes() if suite == "all" or suite in cls.suites)
    return list(chosen)


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
    chosen = {metric.name: metric for cls in metrics_of(suite_names) for metric in cls.defaults()}
    for name in metric_names:
        chosen.setdefault(name, parse_metric(name))
    return list(chosen.values())
