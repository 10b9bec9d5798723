"""When a retrieved chunk is the gold one."""

from evals.case.matching.documents import DocumentNames, document_key, same_document
from evals.case.matching.evidence import RunEvidence
from evals.case.matching.matches import Matches
from evals.case.matching.recognise import ChunkComparison, match
from evals.case.matching.repeats import ChunkList, chunk_list, originals
from evals.case.matching.settings import MatchSettings, Rule
from evals.case.matching.survey import EvidenceWalk, MatchingSurvey, evidence_of

__all__ = [
    "ChunkComparison",
    "ChunkList",
    "DocumentNames",
    "EvidenceWalk",
    "MatchSettings",
    "Matches",
    "MatchingSurvey",
    "Rule",
    "RunEvidence",
    "chunk_list",
    "document_key",
    "evidence_of",
    "match",
    "originals",
    "same_document",
]
