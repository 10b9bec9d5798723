"""When a retrieved chunk is the gold one."""

from evals.text.matching.corpus import EvidenceWalk, MatchStats, evidence_of
from evals.text.matching.documents import DocumentNames, MatchSettings, Rule, RunEvidence, document_key, same_document
from evals.text.matching.recognise import ChunkComparison, ChunkList, Matches, chunk_list, match, originals

__all__ = [
    "ChunkComparison",
    "ChunkList",
    "DocumentNames",
    "EvidenceWalk",
    "MatchSettings",
    "MatchStats",
    "Matches",
    "Rule",
    "RunEvidence",
    "chunk_list",
    "document_key",
    "evidence_of",
    "match",
    "originals",
    "same_document",
]
