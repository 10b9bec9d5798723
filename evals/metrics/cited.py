"""What a citation points to: the retrieved chunk behind an id or an index."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.metrics.matching import same_document
from evals.schemas import Citation, RetrievedChunk


@dataclass(frozen=True, slots=True)
class CitedSource:
    """One cited source.

    Attributes:
        place: Place of the chunk in the response; None where the citation resolves to no retrieved chunk.
        section: The section that the chunk, or else the citation, names.
    """

    place: int | None
    section: str | None


def cited_sources(
    citations: Sequence[Citation], chunks: Sequence[RetrievedChunk], originals: Sequence[int], base: int
) -> list[CitedSource]:
    """Resolve citations to distinct sources, in order of first citation.

    Resolved by chunk id, else by index, else by document and section. Sources cited twice count once.

    Args:
        citations: As the server gave them.
        chunks: What was retrieved, in rank order.
        originals: For each chunk the place of the first one that it repeats.
        base: The number of the first chunk in the server's indices.
    """
    sources: dict[object, CitedSource] = {}
    for citation in citations:
        place = place_of(citation, chunks, base)
        if place is None:
            key: object = (citation.chunk_id, citation.index, citation.document_id, citation.section)
            sources.setdefault(key, CitedSource(None, citation.section))
        else:
            place = originals[place]
            sources.setdefault(place, CitedSource(place, chunks[place].section or citation.section))
    return list(sources.values())


def place_of(citation: Citation, chunks: Sequence[RetrievedChunk], base: int) -> int | None:
    """The place of the chunk that a citation points to: by chunk id, else by index, else by document and section.

    Returns:
        None where it points to no retrieved chunk.
    """
    if citation.chunk_id is not None:
        return next((place for place, chunk in enumerate(chunks) if chunk.chunk_id == citation.chunk_id), None)
    if citation.index is not None:
        place = citation.index - base
        return place if 0 <= place < len(chunks) else None
    return next((place for place, chunk in enumerate(chunks) if _names(citation, chunk)), None)


def _names(citation: Citation, chunk: RetrievedChunk) -> bool:
    if not same_document(chunk, citation.document_id):
        return False
    return citation.section is None or citation.section == chunk.section
