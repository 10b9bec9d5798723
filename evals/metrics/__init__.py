"""Metrics: pure functions of a record. They know no clock, no network and no randomness.

Every built-in metric is an attribute of this package, by the name of its class. Names are imported when they are first
used, since a metric needs one module of this package only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.metrics.abstention import FalseNegativeRate, FalsePositiveRate, UnanswerableAccuracy
    from evals.metrics.base import Aggregation, AtK, BaseMetric, Need
    from evals.metrics.citation import CitationPrecision, CitationRecall, SectionAccuracy
    from evals.metrics.generation import AnswerCorrectness, AnswerRelevancy, Faithfulness
    from evals.metrics.performance import CostPerQuery, LatencyP50, LatencyP95, Price
    from evals.metrics.registry import parse_metric, select
    from evals.metrics.retrieval import MRR, NDCG, PrecisionAtK, RecallAtK
    from evals.metrics.sample import Sample
    from evals.text.matching import MatchSettings


__all__ = [
    "MRR",
    "NDCG",
    "AdaptedNDCG",
    "Aggregation",
    "AnswerCompleteness",
    "AnswerCorrectness",
    "AnswerRelevancy",
    "AtK",
    "BaseMetric",
    "BertScoreF1",
    "CitationPrecision",
    "CitationRecall",
    "CitationSupportPrecision",
    "CitationSupportRecall",
    "ClaimF1",
    "ClaimPrecision",
    "ClaimRecall",
    "ContextPrecision",
    "ContextRecall",
    "ContextSufficiency",
    "ContextUtilization",
    "Contradiction",
    "CorrectAnswersCount",
    "CostPerQuery",
    "DeclinedRate",
    "DontKnowAnswersCount",
    "ExactMatch",
    "FactScore",
    "FactualAccuracyPercentage",
    "FactualMatch",
    "Faithfulness",
    "FalseNegativeRate",
    "FalsePositiveRate",
    "FuzzyMatch",
    "GPTScore",
    "Hallucination",
    "IsCorrect",
    "KeywordCoverage",
    "LatencyP50",
    "LatencyP95",
    "MRRAtK",
    "MatchSettings",
    "ModifiedPrecision",
    "Need",
    "NumberMatch",
    "OutputTokensPerSecond",
    "OverCitationRate",
    "PassageExactMatch",
    "PassageNDCGAtK",
    "PassageRecallAtK",
    "PrecisionAtK",
    "Price",
    "RagasAnswerRelevance",
    "RagasContextPrecision",
    "RagasContextPrecisionOrdered",
    "RagasContextRecall",
    "RagasFaithfulness",
    "RagasScore",
    "RecallAtK",
    "Rubric",
    "RulesCoverage",
    "Sample",
    "SectionAccuracy",
    "SemanticSimilarityPercentage",
    "SentenceCoverage",
    "SetPrecision",
    "SourceCitationQuality",
    "SpanF1",
    "SquadEM",
    "SquadF1",
    "TimeToFirstTokenP50",
    "TimeToFirstTokenP95",
    "UnanswerableAccuracy",
    "UnsupportedNumbers",
    "UnsupportedQuotations",
    "WrongAnswersCount",
    "parse_metric",
    "select",
]


_WHERE = {
    "Aggregation": "evals.metrics.base",
    "AtK": "evals.metrics.base",
    "BaseMetric": "evals.metrics.base",
    "Sample": "evals.metrics.sample",
    "MatchSettings": "evals.text.matching",
    "Need": "evals.metrics.base",
    "Price": "evals.metrics.performance",
    "parse_metric": "evals.metrics.registry",
    "select": "evals.metrics.registry",
}
"""The module of each name that is no metric; metrics are found in the registry."""


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    # The registry imports the modules of this package from it: for their names, in lower case, it is not asked.
    if name[:1].isupper() and (cls := _classes().get(name)):
        return cls
    raise AttributeError(f"module 'evals.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_WHERE, *_classes()})


def _classes() -> dict[str, Any]:
    return {cls.__name__: cls for cls in import_module("evals.metrics.registry").METRICS}
