"""One question with its response, and what several metrics derive from the two."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evals.metrics.abstention_detector import is_abstention
from evals.metrics.cited import CitedSource, cited_sources
from evals.metrics.matching import Matches, MatchSettings, match, originals
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict
from evals.semantics.base import Semantics


@dataclass
class Case:
    """A record as metrics see it. What more than one metric needs is derived once, here.

    Args:
        question: What was asked, with its gold.
        response: What the server said.
        verdicts: What the judge said about it, if anything.
        settings: How chunks are recognised as gold.
        citation_base: Number of the first chunk in the server's citation indices.
        judged: Whether a judge takes part in the run.
        semantics: What texts are compared with, if any metric wants that.
    """

    question: EvalQuestion
    response: EvalResponse
    verdicts: Sequence[JudgeVerdict] = field(default_factory=tuple)
    settings: MatchSettings = field(default_factory=MatchSettings)
    citation_base: int = 1
    judged: bool = False
    semantics: Semantics | None = None

    @cached_property
    def matches(self) -> Matches:
        """Which retrieved chunk is which gold passage; empty where the server sent no chunks."""
        return match(self.response.chunks or [], self.question.gold_passages, self.settings)

    @cached_property
    def abstained(self) -> bool:
        """Whether the answer declines to answer."""
        return is_abstention(self.response.answer or "", self.question.question)

    @cached_property
    def cited(self) -> list[CitedSource]:
        """The distinct cited sources, each with the chunk that it resolves to."""
        chunks = self.response.chunks or []
        return cited_sources(self.response.citations or [], chunks, originals(chunks), self.citation_base)
