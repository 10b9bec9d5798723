"""When a retrieved chunk is the gold one."""

from evals.case.matching.documents import document_key, same_document
from evals.case.matching.recognise import Matches, match, originals
from evals.case.matching.settings import MatchSettings, Rule

__all__ = ["MatchSettings", "Matches", "Rule", "document_key", "match", "originals", "same_document"]
