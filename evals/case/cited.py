"""What a citation points to: the retrieved chunk behind an id or an index."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.case.matching import same_document
from evals.schemas import Citation, RetrievedChunk


@dataclass(frozen=True, slots=True)
class CitedSource:
    """One cited source.

    Attributes:
        place: Place of the chunk in the response; None where the citation resolves to no retrieved chunk. Of a source
            that is a document, the first of its chunks that holds gold, else the first.
        places: Places of all distinct chunks that it stands for: several only where it is a document or a section.
        sections: The section that the citation names, else those of its chunks.
    """

    place: int | None
    places: tuple[int, ...] = ()
    sections: tuple[str, ...] = ()


def cited_sources(
    citations: Sequence[Citation],
    chunks: Sequence[RetrievedChunk],
    originals: Sequence[int],
    base: int,
    hits: Callable[[], Sequence[bool]],
) -> list[CitedSource]:
    """Resolve citations to distinct sources, in order of first citation.

    Resolved by chunk id, else by index, else by document and section. A document, or a section of one, stands for all
    its retrieved chunks, in whatever order they were retrieved. Sources cited twice count once.

    Args:
        citations: As the server gave them.
        chunks: What was retrieved, in rank order.
        originals: For each chunk the place of the first one that it repeats.
        base: The number of the first chunk in the server's indices.
        hits: Says for each chunk whether it holds gold; asked only where a citation stands for several.
    """
    sources: dict[object, CitedSource] = {}
    for citation in citations:
        places = tuple(dict.fromkeys(originals[place] for place in _places_of(citation, chunks, base)))
        if not places:
            key: object = (citation.chunk_id, citation.index, citation.document_id, citation.section)
            sources.setdefault(key, CitedSource(None, sections=_named([citation.section])))
        elif places not in sources:
            held = [place for place in places if hits()[place]] if len(places) > 1 else []
            sections = _named([citation.section]) or _named([chunks[place].section for place in places])
            sources[places] = CitedSource(held[0] if held else places[0], places, sections)
    return list(sources.values())


def place_of(citation: Citation, chunks: Sequence[RetrievedChunk], base: int) -> int | None:
    """The place of the first chunk that a citation points to: by chunk id, else by index, else by document and section.

    Returns:
        None where it points to no retrieved chunk.
    """
    return next(iter(_places_of(citation, chunks, base)), None)


def _places_of(citation: Citation, chunks: Sequence[RetrievedChunk], base: int) -> list[int]:
    """The places of the chunks that a citation points to: one, or all those of the document that it names."""
    if citation.chunk_id is not None:
        named = [place for place, chunk in enumerate(chunks) if chunk.chunk_id == citation.chunk_id]
        return named if len(named) < 2 else [_the_one(citation, chunks, base, named)]
    if citation.index is not None:
        place = citation.index - base
        return [place] if 0 <= place < len(chunks) else []
    return [place for place, chunk in enumerate(chunks) if _names(citation, chunk)]


def _the_one(citation: Citation, chunks: Sequence[RetrievedChunk], base: int, named: Sequence[int]) -> int:
    """Of several chunks with the id of a citation, that of its index, else the first of its document, else the first.

    Many servers count from 0 in each document.
    """
    if citation.index is not None and citation.index - base in named:
        return citation.index - base
    return next((place for place in named if same_document(chunks[place], citation.document_id)), named[0])


def _names(citation: Citation, chunk: RetrievedChunk) -> bool:
    if not same_document(chunk, citation.document_id):
        return False
    return citation.section is None or citation.section == chunk.section


def _named(sections: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(section for section in sections if section))
