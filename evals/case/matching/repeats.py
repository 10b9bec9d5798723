"""Which chunks of a response are one and the same, retrieved again."""

from collections.abc import Sequence

from evals.schemas import RetrievedChunk


def originals(chunks: Sequence[RetrievedChunk]) -> list[int]:
    """For each chunk the place of the first one that it repeats; its own place if it repeats none.

    A chunk repeats one of the same text in the same document. An id counts within one document, or with the same text,
    as many servers count from 0 in each document; the id of a chunk without text and document is that of any other.
    """
    if _all_differ([chunk.chunk_id for chunk in chunks]) and _all_differ([chunk.text for chunk in chunks]):
        return list(range(len(chunks)))
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
