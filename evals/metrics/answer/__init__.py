"""The lexical half of the `answer` suite: an answer compared with the expected one by its words and numbers."""

from evals.metrics.answer.checks import FactScore, IsCorrect, RulesCoverage
from evals.metrics.answer.lexical import AnswerCompleteness, ExactMatch, KeywordCoverage, NumberMatch
from evals.metrics.answer.sources import SourceCitationQuality
from evals.metrics.answer.squad import SquadEM, SquadF1

__all__ = [
    "AnswerCompleteness",
    "ExactMatch",
    "FactScore",
    "IsCorrect",
    "KeywordCoverage",
    "NumberMatch",
    "RulesCoverage",
    "SourceCitationQuality",
    "SquadEM",
    "SquadF1",
]
