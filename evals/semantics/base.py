"""What compares texts, as metrics see it: an embedder, and a scorer of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from operator import mul
from typing import Protocol

Vector = Sequence[float]
COVERAGE_THRESHOLD = 0.85


class Embedder(Protocol):
    """Turns texts into vectors whose direction stands for their meaning."""

    name: str
    """The model, as it is saved with a run."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order."""


class TextScorer(Protocol):
    """Says how much a text says the same as another, token by token."""

    name: str
    """Everything that its numbers depend on, as it is saved with a run: model, layer, idf, versions, rescaling."""

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The F1 of each (candidate, reference), in their order; 0 where one of the two is empty."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """What a run has for comparing texts.

    Attributes:
        embedder: None where no metric wants one, or it cannot be had.
        scorer: The same, for BERTScore.
        reason: Why one cannot be had, as a sentence that says the way out; None where nothing is lacking.
        coverage_threshold: From which BERTScore on a key sentence counts as covered.
        at_a_time: How many batches of texts may be compared at a time: more than one where several machines do it.
    """

    embedder: Embedder | None = None
    scorer: TextScorer | None = None
    reason: str | None = None
    coverage_threshold: float = COVERAGE_THRESHOLD
    at_a_time: int = 1

    @property
    def compares(self) -> bool:
        """Whether a model takes part."""
        return self.embedder is not None or self.scorer is not None

    def names(self) -> dict[str, str] | None:
        """What was used, as it is saved with a run; None where nothing was."""
        used = {"embedder": self.embedder, "scorer": self.scorer}
        return {part: tool.name for part, tool in used.items() if tool is not None} or None


def cosine(a: Vector, b: Vector) -> float:
    """The cosine of the angle between two vectors.

    Formula: a·b / (|a| |b|), from -1 to 1; 0 where one of the two has no length, NaN where a number is none.

    Raises:
        ValueError: They are not of the same length.
    """
    if len(a) != len(b):
        raise ValueError(f"vectors of {len(a)} and {len(b)} numbers cannot be compared")
    lengths = sqrt(sum(map(mul, a, a))) * sqrt(sum(map(mul, b, b)))
    value = sum(map(mul, a, b)) / lengths if lengths else 0.0
    # Rounding takes equal vectors a little over 1; min and max would make a 1 of NaN.
    return value if isnan(value) else max(-1.0, min(1.0, value))
