"""Which chunks of a response are one and the same, retrieved again."""

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from evals.schemas import RetrievedChunk

_ID_AND_TEXT = attrgetter("chunk_id", "text")


class ChunkList(NamedTuple):
    """The chunks of a response, with what is asked of all of them read once: reaching for a chunk takes the time.

    Attributes:
        chunks: In the server's order.
        ids: Their ids.
        texts: Their texts.
        original: For each the place of the first one that it repeats; a `range` where none repeats another.
    """

    chunks: Sequence[RetrievedChunk]
    ids: Sequence[str | None]
    texts: Sequence[str | None]
    original: Sequence[int]

    @property
    def all_differ(self) -> bool:
        """Whether each has an id of its own, and none repeats another."""
        return isinstance(self.original, range)


def chunk_list(chunks: Sequence[RetrievedChunk]) -> ChunkList:
    """Read the ids and texts of chunks, and see which repeat others."""
    ids, texts = zip(*map(_ID_AND_TEXT, chunks), strict=True) if chunks else ((), ())
    return ChunkList(chunks, ids, texts, _originals(chunks, ids, texts))


def originals(chunks: Sequence[RetrievedChunk]) -> list[int]:
    """For each chunk the place of the first one that it repeats; its own place if it repeats none.

    A chunk repeats one of the same text in the same document. An id counts within one document, or with the same text,
    as many servers count from 0 in each document; the id of a chunk without text and document is that of any other.
    """
    return list(chunk_list(chunks).original)


def _originals(
    chunks: Sequence[RetrievedChunk], ids: Sequence[str | None], texts: Sequence[str | None]
) -> Sequence[int]:
    if _all_differ(ids):
        said = list(filter(None, texts))
        if _all_differ(said):  # of what has an id of its own, only a text can repeat another one
            return range(len(chunks))
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


def _all_differ(values: Sequence[str | None]) -> bool:
    return len(set(values)) == len(values) and all(values)
