"""Signs that the citations of a run were read with the wrong `citations.base`, or point to nothing at all."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from evals.schemas.response import Citation

_FEWEST = 3
"""Fewer citations show nothing by the gold that they hit or miss."""

_SHARE = 0.1
"""From this share of indices outside the chunks on, another base is named."""

_YEARS = 1000


@dataclass(slots=True)
class CitationSigns:
    """Counts over the cited indices of a run, for a base and its neighbours.

    Attributes:
        base: Number of the first chunk in the run's citation indices.
        indices: How often an index was cited in an answer with this number of chunks.
        sources: Cited sources of all kinds.
        placed: Those that are a retrieved chunk.
        numbered: Whether any citation gives an index.
        missed: By another base: indices that hit gold by that base alone.
        compared: Indices in answers that retrieved gold.
    """

    base: int
    indices: Counter[tuple[int, int]] = field(default_factory=Counter)
    sources: int = 0
    placed: int = 0
    numbered: bool = False
    missed: Counter[int] = field(default_factory=Counter)
    compared: int = 0

    def add(
        self, citations: Sequence[Citation], chunks: int, gold: Collection[int], *, sources: int, placed: int
    ) -> None:
        """Count the citations of an answer.

        Args:
            citations: As the server gave them.
            chunks: How many chunks it retrieved.
            gold: The places of chunks that hold gold, from 0.
            sources: How many sources are cited.
            placed: How many of them are a retrieved chunk.
        """
        self.sources, self.placed = self.sources + sources, self.placed + placed
        self.numbered = self.numbered or any(citation.index is not None for citation in citations)
        found = [index for index in map(_index_of, citations) if index is not None]
        self.indices.update((index, chunks) for index in found)
        if gold:
            self.compared += len(found)
            for other in (self.base - 1, self.base + 1):
                self.missed[other] += sum(index - self.base not in gold and index - other in gold for index in found)

    def note(self) -> str | None:
        """What is wrong with the base, or with the ids that citations give; None where nothing is."""
        total, base = self.indices.total(), self.base
        if not total:
            if not self.sources or self.placed or self.numbered:
                return None
            return (
                f"none of the {self.sources} cited sources is a retrieved chunk: server.map.citations and "
                "server.map.chunks seem to find different ids (or a citation names a document: map it as document_id)"
            )
        outside = self._outside(base)
        if outside == total:
            fitting = self._fitting()
            way = "no citations.base fits (are they ids?)" if fitting is None else f"citations.base: {fitting} fits all"
            return f"none of the {total} cited indices is that of a retrieved chunk with citations.base: {base}: {way}"
        for other in (base - 1, base + 1):
            outside_then = self._outside(other)
            if other < 0 or outside_then > outside:
                continue
            if outside >= _SHARE * total and not outside_then:
                return (
                    f"{outside} of {total} cited indices are those of no retrieved chunk with citations.base: {base}, "
                    f"and all are with citations.base: {other}, which seems to be this server's"
                )
            if self.compared >= _FEWEST and 2 * self.missed[other] > self.compared:
                return (
                    f"{self.missed[other]} of {self.compared} citations miss the gold by exactly one chunk with "
                    f"citations.base: {base}: citations.base: {other} seems to be this server's"
                )
        return None

    def _outside(self, base: int) -> int:
        return sum(times for (index, chunks), times in self.indices.items() if not base <= index < base + chunks)

    def _fitting(self) -> int | None:
        """The base by which every index is that of a chunk; another than 0 and 1 only where several show it."""
        lowest = min(index for index, _ in self.indices)
        candidates = (1, 0) if self.indices.total() < _FEWEST else (1, 0, lowest)
        return next((base for base in candidates if not self._outside(base)), None)


def _index_of(citation: Citation) -> int | None:
    """The index that a citation gives; one read from the answer's text may be a year in brackets."""
    is_year = citation.start is not None and citation.index is not None and citation.index >= _YEARS
    return None if citation.chunk_id is not None or is_year else citation.index
