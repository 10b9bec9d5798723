"""Decide whether a retrieved chunk holds a gold passage."""

from evals.text.matching.corpus import MatchStats, evidence_of
from evals.text.matching.documents import DocumentNames, MatchSettings, Rule, RunEvidence, document_key, same_document
from evals.text.matching.recognise import ChunkList, Matches, chunk_list, match

__all__ = [
    "ChunkList",
    "DocumentNames",
    "MatchSettings",
    "MatchStats",
    "Matches",
    "Rule",
    "RunEvidence",
    "chunk_list",
    "document_key",
    "evidence_of",
    "match",
    "same_document",
]
