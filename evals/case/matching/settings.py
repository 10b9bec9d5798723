"""Which rule decides when a chunk is gold, and the shares that the rules ask for."""

from typing import Literal

from pydantic import Field

from evals.schemas.base import Finite, Record

Rule = Literal["auto", "chunk_id", "span", "text", "inside", "overlap", "document"]


class MatchSettings(Record):
    """How a retrieved chunk is recognised as gold (see docs/matching.md). The part `match:` of the configuration."""

    rule: Rule = "auto"
    overlap_threshold: Finite = Field(default=0.7, gt=0, le=1)
    """Share of the gold's tokens that a chunk must hold, or the pieces of a gold that chunk borders have cut."""
    overlap_pairs_threshold: Finite = Field(default=0.6, ge=0, le=1)
    """And of its pairs of neighbouring tokens, in one chunk."""
    overlap_min_tokens: int = Field(default=8, ge=2)
    inside_min_tokens: int = Field(default=20, ge=1)
    """Tokens of the gold that a chunk inside it must hold in a row."""
    inside_chunk_share: Finite = Field(default=0.5, gt=0, le=1)
    """Share of the chunk, without text common to many chunks, that they must be."""
    inside_gold_share: Finite = Field(default=0.1, ge=0, le=1)
    """Share of the gold that they must be."""
    short_gold_tokens: int = Field(default=8, ge=1)
    common_share: Finite = Field(default=0.33, gt=0, le=1)
    """Share of a run's chunks from which on the text that they begin or end with is set aside."""
    comparable_share: Finite = Field(default=0.5, gt=0, le=1)
    """Share of the golds found by text that must be found in their own document, for names to be comparable."""
    count_other_documents: bool = False
    """Whether the text of a gold counts in another document than its own too, where names are comparable."""
