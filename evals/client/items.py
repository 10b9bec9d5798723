"""The items of a list in the body: chunks and citations, given as objects or as plain values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from evals.client.values import is_lost, kind_of, number_or_none, text_or_none, whole_or_none
from evals.schemas import Citation, RetrievedChunk

Item = TypeVar("Item", RetrievedChunk, Citation)

CITATION_KEYS = tuple(Citation.model_fields)
"""The keys of a citation that is given as an object."""
_NAMING = ("chunk_id", "document_id", "section", "index")
"""Those of them that say what is cited."""


class UnreadableListError(Exception):
    """What the mapping finds is no list, or holds something that is no item; the message says what it is."""


def chunks_of(value: Any, notes: list[str]) -> list[RetrievedChunk]:
    """The chunks of a list; one that is nothing but a text is that.

    Args:
        value: What the mapping finds.
        notes: Where it is said what of them is left out.

    Raises:
        UnreadableListError: It is no list, or an item of it is neither an object nor a text.
    """
    chunks = _items(value, _chunk, "a text or an object")
    both = zip(value, chunks, strict=True)
    if any(isinstance(item, Mapping) and is_lost(item.get("score"), chunk.score) for item, chunk in both):
        notes.append("server.map.chunks gives a number that no score can be: it is left out")
    return chunks


def citations_of(value: Any, chunks: Sequence[RetrievedChunk] | None) -> list[Citation]:
    """The citations of a list; one that is nothing but a number is an index, and one that is a text the id of a chunk.

    A number in quotation marks is an index too, unless the chunks have such ids.

    Args:
        value: What the mapping finds.
        chunks: What was retrieved with the answer.

    Raises:
        UnreadableListError: It is no list, or an item of it is neither an object nor a text nor a whole number.
    """
    numbers_are_ids = any((chunk.chunk_id or "").isdecimal() for chunk in chunks or ())

    def citation(item: Any) -> Citation | None:
        if isinstance(item, str) and (numbers_are_ids or not item.strip().isdecimal()):
            return Citation(chunk_id=item)
        return _citation(item)

    return _items(value, citation, "a whole number, a text or an object that names its source")


def references_of(value: Any, _: list[str]) -> list[tuple[str, Citation]]:
    """What markers stand for, each with what stands in it; an object without `index`, or without a source, is left out.

    Raises:
        UnreadableListError: It is no list, or an item of it is no object.
    """
    if not isinstance(value, list):
        raise UnreadableListError(f"gives {kind_of(value)}, not a list")
    references = []
    for item in value:
        if not isinstance(item, Mapping):
            raise UnreadableListError(f"gives a list that holds {kind_of(item)}, where each item is to be an object")
        label, citation = text_or_none(item.get("index")), _citation({**item, "index": None})
        if label is not None and citation is not None:
            references.append((label, citation))
    return references


def _items(value: Any, read: Callable[[Any], Item | None], wanted: str) -> list[Item]:
    if not isinstance(value, list):
        raise UnreadableListError(f"gives {kind_of(value)}, not a list")
    items = []
    for given in value:
        item = read(given)
        if item is None:
            raise UnreadableListError(f"gives a list that holds {_kind(given)}, where each item is to be {wanted}")
        items.append(item)
    return items


def _kind(item: Any) -> str:
    """What kind of thing an item is that cannot be read; of objects these are only citations that name nothing."""
    return f"an object without {', '.join(_NAMING)}" if isinstance(item, Mapping) else kind_of(item)


def _chunk(item: Any) -> RetrievedChunk | None:
    if isinstance(item, str):
        return RetrievedChunk(text=item)
    if not isinstance(item, Mapping):
        return None
    fields = {name: convert(item[name]) for name, convert in _CHUNK_FIELDS if item.get(name) is not None}
    start, end = fields.pop("start", None), fields.pop("end", None)
    if start is not None and end is not None and 0 <= start < end:
        fields["span"] = (start, end)
    return RetrievedChunk(**fields)


def _citation(item: Any) -> Citation | None:
    if not isinstance(item, Mapping):
        index = whole_or_none(item)
        return None if index is None else Citation(index=index)
    citation = Citation(
        chunk_id=text_or_none(item.get("chunk_id")),
        document_id=text_or_none(item.get("document_id")),
        section=text_or_none(item.get("section")),
        index=whole_or_none(item.get("index")),
        start=whole_or_none(item.get("start")),
        end=whole_or_none(item.get("end")),
    )
    # What names nothing would count as a wrong citation, though it is the mapping that finds nothing in it.
    return citation if any(getattr(citation, name) is not None for name in _NAMING) else None


_CHUNK_FIELDS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("chunk_id", text_or_none),
    ("document_id", text_or_none),
    ("document_name", text_or_none),
    ("section", text_or_none),
    ("text", text_or_none),
    ("start", whole_or_none),
    ("end", whole_or_none),
    ("score", number_or_none),
)
CHUNK_KEYS = tuple(name for name, _ in _CHUNK_FIELDS)
"""The keys of a chunk that is given as an object."""
