"""What an answer cites: by a list beside it, or by marks in its text; and from which number it counts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.client.spec import CitationSpec
from evals.run.probing.passages import selected
from evals.run.probing.walk import are_objects, below, columns, lists_below, within
from evals.run.probing.words import is_of_citations, last_name, names_in, snake

_MARK = re.compile(r"([\[【⟦{(<^]{1,2})\s*((?:[A-Za-z]{2,10}[:\s_.#-]?)?\^?)(\d{1,3})(†[^\]】]*)?\s*([\]】⟧})>^]{1,2})")
_DEFAULT = re.compile(CitationSpec().markers)
_CLEARLY = 2
"""So many more words of the answer in the chunks by one base than by the other settle it."""
_PLACES = names_in("index number position place n ref rank")
_WORD = re.compile(r"\w{4,}")


@dataclass(slots=True)
class Citing:
    """What was found.

    Attributes:
        expression: For `map.citations`; None without a list.
        references: For `map.references`; None where marks stand for places.
        markers: Pattern of a mark; None for the usual one, or none.
        given_as: `list`, `markers`, or `auto` where nothing was seen.
        base: The number of the first chunk.
        base_is_sure: Whether the numbers allow of no other base.
        is_named: Whether the list is called as lists of citations are.
        seen: The numbers that are cited.
    """

    expression: str | None = None
    references: str | None = None
    markers: str | None = None
    given_as: str = "auto"
    base: int = 1
    base_is_sure: bool = True
    is_named: bool = True
    seen: list[int] = field(default_factory=list)


def find_citing(
    body: Any, answer: str | None, rows: Sequence[Mapping[str, Any]], taken: Sequence[str], prefix: str = ""
) -> Citing:
    """What is cited in a body.

    Args:
        body: What was received.
        answer: Its text.
        rows: The chunks that were found.
        taken: Where these stand.
        prefix: Expression that leads to the body.
    """
    found = Citing()
    if not rows or answer is None:
        return found
    _by_list(body, rows, taken, prefix, found)
    if found.expression is None:
        _by_marks(answer, found)
        if found.given_as == "markers":
            _stand_for(body, taken, prefix, found)
    if found.seen and found.references is None:
        _settle_base(answer, rows, found)
    return found


def _by_list(body: Any, rows: Sequence[Mapping[str, Any]], taken: Sequence[str], prefix: str, found: Citing) -> None:
    for path, items in lists_below(body):
        if items and not _holds(path, taken) and _take_list(path, items, rows, prefix, found):
            return


def _take_list(path: str, items: Sequence[Any], rows: Sequence[Mapping[str, Any]], prefix: str, found: Citing) -> bool:
    """Take a list that names chunks: by their numbers, their ids, or objects that hold these."""
    at = below(prefix, path)
    whole = _whole_numbers(items)
    if whole is not None and max(whole) <= len(rows) and len(set(whole)) == len(whole):
        found.expression, found.seen = at, whole
        found.is_named = is_of_citations(last_name(path))
    elif all(isinstance(item, str) for item in items):
        found.expression = _of_texts(set(items), rows, at, path)
    elif are_objects(items):
        found.expression = _of_objects(items, rows, at, path, found)
    if found.expression is not None:
        found.given_as = "list"
    return found.expression is not None


def _of_texts(items: set[str], rows: Sequence[Mapping[str, Any]], at: str, path: str) -> str | None:
    """The expression of texts that are ids of chunks; or names of documents, where the list is called so."""
    if items <= _known(rows, "chunk_id"):
        return at
    documents = _known(rows, "document_id") | _known(rows, "document_name")
    return f"{at}[].{{document_id: @}}" if is_of_citations(last_name(path)) and items <= documents else None


def _holds(path: str, taken: Sequence[str]) -> bool:
    """Whether a list is one of those of the chunks, or holds one."""
    return any(each == path or each.startswith((f"{path}[", f"{path}.")) for each in taken)


def _of_objects(
    items: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], at: str, path: str, found: Citing
) -> str | None:
    """The expression of objects that name what is cited: by ids that the chunks have, or by their places."""
    named = _by_ids(items, rows, at)
    if named is not None or not is_of_citations(last_name(path)):
        return named
    return _by_places(items, len(rows), at, found)


def _by_ids(items: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], at: str) -> str | None:
    for key in ("chunk_id", "document_id", "document_name"):
        known = _known(rows, key)
        for place, inside, values in _columns_within(items) if known else ():
            if values and set(map(str, values)) <= known:
                name = "document_id" if key == "document_name" else key
                return f"{at}[]{place}.{selected({name: inside})}"
    return None


def _by_places(items: Sequence[Mapping[str, Any]], count: int, at: str, found: Citing) -> str | None:
    for place, inside, values in _columns_within(items):
        whole = _whole_numbers(values)
        if whole is not None and _PLACES & set(snake(last_name(inside)).split("_")) and max(whole) <= count:
            found.seen = whole
            return f"{at}[]{place}.{selected({'index': inside})}"
    return None


def _columns_within(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, list[Any]]]:
    """The leaves of objects, and those of lists of objects in them."""
    listed = {f".{path}[]": inner for path, inner in within(items).items() if are_objects(inner)}
    for place, rows in {"": items, **listed}.items():
        for inside, values in columns(rows).items():
            yield place, inside, [value for value in values if value is not None]


def _known(rows: Sequence[Mapping[str, Any]], key: str) -> set[str]:
    return {str(row[key]) for row in rows if row.get(key) is not None}


def _whole_numbers(items: Sequence[Any]) -> list[int] | None:
    """Numbers of items, also as texts; None where one is none, or there is none."""
    texts = [str(item) for item in items if isinstance(item, str | int) and not isinstance(item, bool)]
    all_whole = len(texts) == len(items) and all(text.isdecimal() and len(text) < 5 for text in texts)
    return [int(text) for text in texts] if texts and all_whole else None


def _by_marks(answer: str, found: Citing) -> None:
    marks = list(_MARK.finditer(answer))
    if not marks:
        return
    opened, prefix, _, tail, closed = marks[0].groups()
    alike = [mark for mark in marks if (mark[1], mark[2], mark[5]) == (opened, prefix, closed)]
    found.seen, found.given_as = [int(mark[3]) for mark in alike], "markers"
    if not all(_DEFAULT.fullmatch(mark[0]) for mark in alike):
        after = r"[^\]】]*" if tail else ""
        found.markers = rf"{re.escape(opened)}\s*{re.escape(prefix)}(\d+){after}\s*{re.escape(closed)}"


def _stand_for(body: Any, taken: Sequence[str], prefix: str, found: Citing) -> None:
    """A list beside the chunks, whose items bear the numbers of the marks and name a source."""
    for path, items in lists_below(body):
        named = _numbered_files(items, found.seen) if are_objects(items) and not _holds(path, taken) else None
        if named is not None:
            found.references = f"{below(prefix, path)}[].{named}"
            return


def _numbered_files(items: Sequence[Mapping[str, Any]], seen: Sequence[int]) -> str | None:
    given, cited = columns(items), set(map(str, seen))
    labels = [name for name, values in given.items() if cited <= set(map(str, values))]
    files = [name for name in given if name not in labels and snake(last_name(name)).endswith(("path", "name", "file"))]
    return f"{{index: {labels[0]}, document_id: {files[0]}}}" if labels and files else None


def _settle_base(answer: str, rows: Sequence[Mapping[str, Any]], found: Citing) -> None:
    """0 where a 0 is cited, 1 where the number of chunks is; else by which chunks share words with the answer."""
    if 0 in found.seen or max(found.seen) >= len(rows):
        found.base = 0 if 0 in found.seen else 1
        return
    words = set(map(str.lower, _WORD.findall(answer)))
    shared = [len(words & set(map(str.lower, _WORD.findall(str(row.get("text")))))) for row in rows]
    by_base = {base: sum(shared[number - base] for number in found.seen) for base in (1, 0)}
    found.base = max(by_base, key=lambda base: by_base[base])
    found.base_is_sure = by_base[found.base] >= by_base[1 - found.base] + _CLEARLY
