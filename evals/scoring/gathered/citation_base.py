"""Signs that the citations of a run were read with the wrong `citations.base`, or point to nothing at all."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evals.case.case import Case
from evals.schemas import Citation

_FEW = 3
"""Fewer citations than this show nothing by the gold that they hit or miss."""
_SHARE = 0.1
"""Of the indices, so many must lie outside the chunks before another base is named that none lies outside of."""
_LOOKED_AT = 200
"""So many answers are compared with gold; that takes time, and a wrong base shows in fewer."""
_USUAL = (1, 0)
_YEARS = 1000
_NO_BASE = "no citations.base fits (are they ids?)"


class _Few(NamedTuple):
    """The indices that one answer cites, and which of its chunks hold gold."""

    indices: tuple[int, ...]
    hits: Sequence[bool]


class CitationSigns:
    """Gathers what shows that the citations of a run as a whole are wrong.

    That is: not one points to a retrieved chunk, some indices lie outside the chunks that all lie inside of by another
    base, or most miss gold that the neighbouring chunk holds.
    """

    def __init__(self) -> None:
        self._base: int | None = None
        self._indices: Counter[tuple[int, int]] = Counter()
        """How often an index is cited in an answer with so many chunks."""
        self._few: list[_Few] = []
        self._numbered = self._placed = False
        self._sources = 0

    def add(self, case: Case) -> None:
        """Add an answered question; all of a run have the base that the run was read with."""
        citations, chunks = case.response.citations, case.response.chunks
        if not chunks or not citations:
            return
        self._base = case.citation_base if self._base is None else self._base
        indices = tuple(dict.fromkeys(index for one in citations if (index := _index_of(one)) is not None))
        for index in indices:
            self._indices[index, len(chunks)] += 1
        if indices and len(self._few) < _LOOKED_AT:
            self._few.append(_Few(indices, list(case.matches.hits)))
        if not self._indices:
            self._add_sources(case)

    def extend(self, later: "CitationSigns") -> None:
        """Add what was gathered of the answers that follow."""
        self._base = later._base if self._base is None else self._base
        self._few = [*self._few, *later._few][:_LOOKED_AT]
        if not self._indices:
            self._sources += later._sources
            self._placed = self._placed or later._placed
            self._numbered = self._numbered or later._numbered
        self._indices.update(later._indices)

    def _add_sources(self, case: Case) -> None:
        self._sources += len(case.cited)
        self._placed = self._placed or any(source.place is not None for source in case.cited)
        self._numbered = self._numbered or any(one.index is not None for one in case.response.citations or ())

    def note(self) -> str | None:
        """What is wrong; None where nothing is."""
        if self._base is None:
            return None
        return self._note_on_base(self._base) if self._indices else self._note_on_ids()

    def _note_on_base(self, base: int) -> str | None:
        total, outside = self._indices.total(), self._outside(base)
        if outside == total:
            fitting = self._fitting()
            way = f"citations.base: {fitting} fits all" if fitting is not None else _NO_BASE
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
            missed, compared = _missed(self._few, base, other)
            if compared >= _FEW and 2 * missed > compared:
                return (
                    f"{missed} of {compared} citations miss the gold by exactly one chunk with citations.base: {base}: "
                    f"citations.base: {other} seems to be this server's"
                )
        return None

    def _outside(self, base: int) -> int:
        """How many indices point to no chunk where the first one has this number."""
        return sum(n for (index, chunks), n in self._indices.items() if not 0 <= index - base < chunks)

    def _fitting(self) -> int | None:
        """The base by which every index is that of a chunk; another than 0 and 1 only where several indices show it."""
        usual = next((base for base in _USUAL if not self._outside(base)), None)
        if usual is not None or self._indices.total() < _FEW:
            return usual
        lowest = min(index for index, _ in self._indices)
        return lowest if not self._outside(lowest) else None

    def _note_on_ids(self) -> str | None:
        if self._numbered or self._placed:
            return None
        return (
            f"none of the {self._sources} cited sources is a retrieved chunk: server.map.citations and "
            "server.map.chunks seem to find different ids (or a citation names a document: map it as document_id)"
        )


def _index_of(citation: Citation) -> int | None:
    return None if citation.chunk_id is not None or _is_year(citation) else citation.index


def _is_year(citation: Citation) -> bool:
    """Whether it was read from the answer's text, where such a number in brackets is no index."""
    return citation.start is not None and citation.index is not None and citation.index >= _YEARS


def _missed(cited: Iterable[_Few], base: int, other: int) -> tuple[int, int]:
    """How many indices hit gold by the other base alone, and how many there are in answers that retrieved gold."""
    missed = compared = 0
    for one in cited:
        if any(one.hits):
            right = {place for place, hit in enumerate(one.hits) if hit}
            compared += len(one.indices)
            missed += sum(index - base not in right and index - other in right for index in one.indices)
    return missed, compared
