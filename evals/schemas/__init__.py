"""Data model: questions, responses, results."""

from evals.schemas.dataset import (
    DatasetFingerprint,
    Document,
    EvalDataset,
    EvalQuestion,
    GoldPassage,
    KeySentence,
    Section,
)
from evals.schemas.response import (
    Citation,
    EvalResponse,
    Outcomes,
    ResponseError,
    RetrievedChunk,
    ServerRecord,
    TokenUsage,
)
from evals.schemas.results import (
    EvalRecord,
    EvalRun,
    GateOutcome,
    MetricCounts,
    MetricGroup,
    MetricInterval,
    MetricResult,
    MetricSummary,
    ParetoPoint,
    Scorecard,
    WeightedScore,
)
from evals.schemas.verdicts import JudgeVerdict

__all__ = [
    "Citation",
    "DatasetFingerprint",
    "Document",
    "EvalDataset",
    "EvalQuestion",
    "EvalRecord",
    "EvalResponse",
    "EvalRun",
    "GateOutcome",
    "GoldPassage",
    "JudgeVerdict",
    "KeySentence",
    "MetricCounts",
    "MetricGroup",
    "MetricInterval",
    "MetricResult",
    "MetricSummary",
    "Outcomes",
    "ParetoPoint",
    "ResponseError",
    "RetrievedChunk",
    "Scorecard",
    "Section",
    "ServerRecord",
    "TokenUsage",
    "WeightedScore",
]
