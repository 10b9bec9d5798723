"""Which rule decides when a chunk is gold, and the shares that the rules ask for."""

from typing import Literal

from pydantic import Field

from evals.schemas.base import Finite, Record

Rule = Literal["auto", "chunk_id", "span", "text", "inside", "overlap", "document"]


class MatchSettings(Record):
    """How a retrieved chunk is recognised as gold (see docs/matching.md). The part `match:` of the configuration."""

    rule: Rule = "auto"
    overlap_threshold: Finite = Field(default=0.7, gt=0, le=1)
    overlap_pairs_threshold: Finite = Field(default=0.6, ge=0, le=1)
    overlap_min_tokens: int = Field(default=8, ge=2)
    inside_min_tokens: int = Field(default=20, ge=1)
    short_gold_tokens: int = Field(default=8, ge=1)
