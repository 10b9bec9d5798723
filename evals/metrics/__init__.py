"""Metrics: pure functions of a record. They know no clock, no network and no randomness."""

from evals.metrics.abstention import FalseNegativeRate, FalsePositiveRate, UnanswerableAccuracy
from evals.metrics.base import Aggregation, AtK, BaseMetric, Need
from evals.metrics.case import Case
from evals.metrics.citation import CitationPrecision, CitationRecall, SectionAccuracy
from evals.metrics.generation import AnswerCorrectness, AnswerRelevancy, Faithfulness
from evals.metrics.matching import MatchSettings
from evals.metrics.performance import CostPerQuery, LatencyP50, LatencyP95, Price
from evals.metrics.registry import parse_metric, select
from evals.metrics.retrieval import MRR, NDCG, PrecisionAtK, RecallAtK

__all__ = [
    "MRR",
    "NDCG",
    "Aggregation",
    "AnswerCorrectness",
    "AnswerRelevancy",
    "AtK",
    "BaseMetric",
    "Case",
    "CitationPrecision",
    "CitationRecall",
    "CostPerQuery",
    "Faithfulness",
    "FalseNegativeRate",
    "FalsePositiveRate",
    "LatencyP50",
    "LatencyP95",
    "MatchSettings",
    "Need",
    "PrecisionAtK",
    "Price",
    "RecallAtK",
    "SectionAccuracy",
    "UnanswerableAccuracy",
    "parse_metric",
    "select",
]
