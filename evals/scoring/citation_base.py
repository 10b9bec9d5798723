"""Signs that the citations of a run were read with the wrong `citations.base`, or point to nothing at all."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

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


@dataclass(frozen=True, slots=True)
class _Cited:
    """The indices that one answer cites.

    Attributes:
        indices: Distinct, as the server gave them.
        chunks: How many chunks were retrieved.
        hits: Says for each chunk whether it holds gold.
    """

    indices: tuple[int, ...]
    chunks: int
    hits: Callable[[], Sequence[bool]]

    def outside(self, base: int) -> int:
        """How many indices point to no chunk where the first one has this number."""
        return sum(not 0 <= index - base < self.chunks for index in self.indices)


def note_on_citations(cases: Iterable[Case]) -> str | None:
    """What is wrong with the citations of a run as a whole; None where nothing is.

    That is: not one points to a retrieved chunk, some indices lie outside the chunks that all lie inside of by another
    base, or most miss gold that the neighbouring chunk holds.

    Args:
        cases: The answered questions of a run; all have the base that the run was read with.
    """
    known = [case for case in cases if case.response.chunks and case.response.citations]
    if not known:
        return None
    cited = [found for case in known if (found := _indices_of(case)) is not None]
    return _note_on_base(cited, known[0].citation_base) if cited else _note_on_ids(known)


def _indices_of(case: Case) -> _Cited | None:
    citations, chunks = case.response.citations or [], case.response.chunks or []
    found = [one.index for one in citations if one.index is not None and one.chunk_id is None and not _is_year(one)]
    return _Cited(tuple(dict.fromkeys(found)), len(chunks), lambda: case.matches.hits) if found else None


def _is_year(citation: Citation) -> bool:
    """Whether it was read from the answer's text, where such a number in brackets is no index."""
    return citation.start is not None and citation.index is not None and citation.index >= _YEARS


def _note_on_base(cited: Sequence[_Cited], base: int) -> str | None:
    total, outside = _count(cited), _outside(cited, base)
    if outside == total:
        fitting = _fitting(cited)
        way = f"citations.base: {fitting} fits all" if fitting is not None else "no citations.base fits (are they ids?)"
        return f"none of the {total} cited indices is that of a retrieved chunk with citations.base: {base}: {way}"
    for other in (base - 1, base + 1):
        outside_then = _outside(cited, other)
        if other < 0 or outside_then > outside:
            continue
        if outside >= _SHARE * total and not outside_then:
            return (
                f"{outside} of {total} cited indices are those of no retrieved chunk with citations.base: {base}, "
                f"and all are with citations.base: {other}, which seems to be this server's"
            )
        missed, compared = _missed(cited, base, other)
        if compared >= _FEW and 2 * missed > compared:
            return (
                f"{missed} of {compared} citations miss the gold by exactly one chunk with citations.base: {base}: "
                f"citations.base: {other} seems to be this server's"
            )
    return None


def _count(cited: Sequence[_Cited]) -> int:
    return sum(len(one.indices) for one in cited)


def _outside(cited: Sequence[_Cited], base: int) -> int:
    return sum(one.outside(base) for one in cited)


def _fitting(cited: Sequence[_Cited]) -> int | None:
    """The base by which every index is that of a chunk; another than 0 and 1 only where several indices show it."""
    usual = next((base for base in _USUAL if not _outside(cited, base)), None)
    if usual is not None or _count(cited) < _FEW:
        return usual
    lowest = min(index for one in cited for index in one.indices)
    return lowest if not _outside(cited, lowest) else None


def _missed(cited: Iterable[_Cited], base: int, other: int) -> tuple[int, int]:
    """How many indices hit gold by the other base alone, and how many there are in answers that retrieved gold."""
    missed = compared = 0
    for one in islice(cited, _LOOKED_AT):
        hits = one.hits()
        if any(hits):
            right = {place for place, hit in enumerate(hits) if hit}
            compared += len(one.indices)
            missed += sum(index - base not in right and index - other in right for index in one.indices)
    return missed, compared


def _note_on_ids(cases: Sequence[Case]) -> str | None:
    sources = [source for case in cases for source in case.cited]
    numbered = any(citation.index is not None for case in cases for citation in case.response.citations or ())
    if numbered or any(source.place is not None for source in sources):
        return None
    return (
        f"none of the {len(sources)} cited sources is a retrieved chunk: server.map.citations and server.map.chunks "
        "seem to find different ids (or a citation names a document: map it as document_id)"
    )
