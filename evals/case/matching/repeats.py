"""Which chunks of a response are one and the same, retrieved again."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evals.schemas import RetrievedChunk


class ChunkList(NamedTuple):
    """The chunks of a response, with what is asked of all of them read once: reaching for a chunk takes the time.

    Attributes:
        chunks: In the server's order.
        ids: Their ids.
        texts: Their texts.
        original: For each the place of the first one that it repeats; a `range` where none repeats another.
        places: The place of each id; only where each has one of its own, and none repeats another.
    """

    chunks: Sequence[RetrievedChunk]
    ids: Sequence[str | None]
    texts: Sequence[str | None]
    original: Sequence[int]
    places: Mapping[str | None, int] | None = None

    @property
    def all_differ(self) -> bool:
        """Whether each has an id of its own, and none repeats another."""
        return self.places is not None


def chunk_list(chunks: Sequence[RetrievedChunk]) -> ChunkList:
    """Read the ids and texts of chunks, and see which repeat others."""
    ids, texts = [chunk.chunk_id for chunk in chunks], [chunk.text for chunk in chunks]
    places = dict(zip(ids, range(len(ids)), strict=True))
    # Of what has an id of its own, only a text can repeat another one.
    if len(places) == len(ids) and all(ids) and _all_differ([text for text in texts if text]):
        return ChunkList(chunks, ids, texts, range(len(ids)), places)
    return ChunkList(chunks, ids, texts, _originals(chunks))


def originals(chunks: Sequence[RetrievedChunk]) -> list[int]:
    """For each chunk the place of the first one that it repeats; its own place if it repeats none.

    A chunk repeats one of the same text in the same document. An id counts within one document, or with the same text,
    as many servers count from 0 in each document; the id of a chunk without text and document is that of any other.
    """
    return list(chunk_list(chunks).original)


def _originals(chunks: Sequence[RetrievedChunk]) -> list[int]:
    first: dict[object, int] = {}
    found = []
    for place, chunk in enumerate(chunks):
        name, document, text = chunk.chunk_id, chunk.document_id or chunk.document_name, chunk.text
        keys: list[object] = [(document, text)] if text or not name else []
        if name:
            keys += [("document", name, document)] if document else []
            keys += [("text", name, text)] if text else []
        bare = name is not None and not document and not text
        asked = [*keys, ("id" if bare else "bare", name)] if name else keys
        original = min((first[key] for key in asked if key in first), default=place)
        for key in [*keys, ("id", name), *([("bare", name)] if bare else [])] if name else keys:
            first.setdefault(key, original)
        found.append(original)
    return found


def _all_differ(values: Sequence[str]) -> bool:
    return len(set(values)) == len(values)
