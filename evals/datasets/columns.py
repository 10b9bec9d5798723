"""Assign columns of a file to fields: by our names, those of other tools, or `--columns`."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evals.datasets.tables import as_list, as_text, is_nothing, parsed
from evals.errors import DatasetError
from evals.text.decoding import without_surrogates
from evals.text.tokens import lists_of

_DATA = lists_of("columns")

NAMES: Mapping[str, tuple[str, ...]] = {field: tuple(names.split()) for field, names in _DATA["fields"].items()}
"""Fields of a question, and the names of their columns. The `gold_…_ids` are golds known by an id alone,
`is_answerable` is the contrary of `is_unanswerable`."""

EITHER, SYSTEM_ANSWER, SYSTEM_CHUNKS = (
    tuple(_DATA[name].split()) for name in ("either", "system_answer", "system_chunks")
)
SYSTEM_IDS = {key: tuple(names.split()) for key, names in _DATA["system_ids"].items()}
SYSTEM = (*SYSTEM_ANSWER, *SYSTEM_CHUNKS, *(name for names in SYSTEM_IDS.values() for name in names))
"""What a system answered and retrieved: saved answers, which are no part of a question."""

_KNOWN = frozenset({*(name for names in NAMES.values() for name in names), *EITHER, *SYSTEM})


_NESTED = re.compile(r"^(?:inputs?|outputs?|expectations|vars)[./]", re.IGNORECASE)
"""How tools name what stood within an object: `inputs.question`."""

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


_SHORTEST_SLIP = 4
"""Names of fewer letters have too many neighbours for one of them to be a slip."""


_SLIPS = sorted(name for name in _KNOWN.difference(_DATA["no_slips"].split()) if len(name) >= _SHORTEST_SLIP)
_LISTED = 12


@lru_cache(maxsize=1024)
def plain_name(title: str) -> str:
    """A title as names are compared: "Ground Truth:", "groundTruth" and "ground-truth" are `ground_truth`."""
    return re.sub(r"[\s-]+", "_", _HUMP.sub("_", _NESTED.sub("", title.strip().rstrip("?:* ")))).casefold()


def is_known(title: str) -> bool:
    """Whether a column of this title is read."""
    return plain_name(title) in _KNOWN


@dataclass(frozen=True, slots=True)
class Reading:
    """How the columns of a file are read.

    Attributes:
        fields: By field, its column.
        filled: The columns that hold anything.
        metadata: The columns that are kept as metadata.
        answers: The columns that hold what a system answered.
    """

    fields: Mapping[str, str]
    filled: frozenset[str] = frozenset()
    metadata: Sequence[str] = ()
    answers: Sequence[str] = ()

    def used(self) -> dict[str, str]:
        """By field its column, of those that hold anything."""
        return {field: self.fields[field] for field in NAMES if self.fields.get(field) in self.filled}

    def notes(self) -> list[str]:
        """Notes: columns that became metadata, and columns that were not read."""
        meant = self._meant()
        notes = [f"column `{title}` is not used (did you mean {field}?)" for title, field in meant.items()]
        if others := [title for title in self.metadata if title not in meant]:
            more = len(others) - _LISTED
            some = ", ".join(others[:_LISTED]) + (f" and {more} more" if more > 0 else "")
            notes.append(f"kept as metadata: {some} (`columns` names what is read otherwise)")
        if "rubric" in self.used():
            notes.append("questions with a rubric: the metric `rubric` has a judge decide on each answer by its own")
        if self.answers:
            notes.append(f"for `evals score`: {', '.join(self.answers)} (what a system answered)")
        return notes

    def _meant(self) -> dict[str, str]:
        """By column of metadata, the field whose name it is a part of; of several the last: passages before ids."""
        free = sorted(NAMES.keys() - self.fields.keys())
        return {title: field for title in self.metadata for field in free if plain_name(title) in field.split("_")}


def reading_of(
    name: str, rows: Iterable[Mapping[str, Any]], said: Mapping[str, str], *, answered: bool = False
) -> Reading:
    """Find the columns of a file.

    Args:
        name: Of the file, for messages.
        rows: All rows; they are walked once.
        said: What the user says, by field the column.
        answered: Whether the file is the one of the answers that are scored, so that `answer` is no reference.

    Raises:
        DatasetError: A column that the user names is not there, one is called nearly like a known one, or none holds
            the question.
    """
    titles, filled = _titles(name, rows)
    fields = {field: _said(name, column, titles) for field, column in said.items()}

    def free(names: Iterable[str]) -> list[str]:
        there = (titles[known] for known in names if known in titles)
        return [title for title in there if title not in fields.values()]

    for field, names in NAMES.items():
        if field not in fields and (there := free(names)):
            fields[field] = next((title for title in there if title in filled), there[0])
    either = free(EITHER)
    if either and "expected_answer" not in fields and not (answered and titles.keys().isdisjoint(SYSTEM_ANSWER)):
        fields["expected_answer"] = either.pop(0)
    answers = [*either, *free(SYSTEM)]
    rest = [title for title in titles.values() if title in filled and title not in {*fields.values(), *answers}]
    for title in rest:
        _refuse_slip(name, title)
    if not {"question", "turns"} & fields.keys():
        columns = ", ".join(titles.values()) or "none"
        raise DatasetError(
            f"{name}: no column holds the question; its columns: {columns}", "say which does: --columns question=COLUMN"
        )
    return Reading(fields, filled, rest, [title for title in answers if title in filled])


def _titles(name: str, rows: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], frozenset[str]]:
    """The columns by their plain names, in the order in which they come, and those of them that hold anything."""
    titles: dict[str, str] = {}
    filled: set[str] = set()
    for row in rows:
        for title in row:
            other = titles.setdefault(plain_name(title), title)
            if other != title:
                raise DatasetError(
                    f"{name}: the columns {other!r} and {title!r} have one name", "name each column once"
                )
        filled.update(title for title in row.keys() - filled if not is_nothing(row[title]) and row[title] != [])
    return titles, frozenset(filled)


def _said(name: str, column: str, titles: Mapping[str, str]) -> str:
    found = column if column in titles.values() else titles.get(plain_name(column))
    if found is None:
        raise DatasetError(
            f"{name} has no column {column!r}, which `columns` names", f"its columns: {', '.join(titles.values())}"
        )
    return found


def _refuse_slip(name: str, title: str) -> None:
    """Stop at what is nearly a known name: lost as metadata, a whole group of metrics would go without a word."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - 40 ms that only a column of no known name needs

    near = next((known for known in _SLIPS if OSA.distance(plain_name(title), known) == 1), None)
    if near is not None:
        raise DatasetError(
            f"{name}: unknown column {title!r}",
            f"did you mean {near!r}? Say what it is with --columns FIELD=COLUMN, or give it another name",
        )


# The fields of a question, of the cells of a row.


_WORDS = {
    **dict.fromkeys(("true", "yes", "y", "t", "1"), True),
    **dict.fromkeys(("false", "no", "n", "f", "0"), False),
}


_BARS = frozenset({"context", "retrieval_context"})
"""Columns of which deepeval's tables join the passages by a bar, without escaping one that is in them."""

_DEEPEVAL = frozenset({"expected_output", "actual_output"})

_IDS = {"gold_document_ids": "document_id", "gold_chunk_ids": "chunk_id"}


_IN_OTHER_WORDS: Mapping[str, str] = _DATA["passage_keys"]


def question_data(row: Mapping[str, Any], reading: Reading, where: str) -> dict[str, Any]:
    """The fields of the question that a row holds; those of which it says nothing are left out.

    `expected_answer` may be a list of accepted ones.

    Raises:
        DatasetError: A cell cannot be read; the message names row and column.
    """
    data: dict[str, Any] = {}
    for field, column in reading.fields.items():
        value = row.get(column)
        if not is_nothing(value) or (field == "question" and value is not None):
            try:
                data[field] = _READERS[field](_split(value, column, row))
            except ValueError as error:
                raise DatasetError(f"{where}, column {column}: {error}") from error
    _in_our_fields(data, reading, where)
    extra = {title: _kept(row[title]) for title in reading.metadata if not is_nothing(row.get(title))}
    if extra and isinstance(data.setdefault("metadata", {}), Mapping):
        data["metadata"] = {**extra, **data["metadata"]}
    return data


def _in_our_fields(data: dict[str, Any], reading: Reading, where: str) -> None:
    """Turn ids of gold into gold passages, what can be answered into the contrary, and name where sentences are of."""
    if "key_sentences" in data:
        source = reading.fields["key_sentences"]
        data["key_sentences"] = [
            {"text": each, "source": source} if isinstance(each, str) else each for each in data["key_sentences"]
        ]
    texts = list(data.get("gold_passages", []))
    for field, key in _IDS.items():
        if field in data and not _named(texts, key, ids := data.pop(field)):
            data.setdefault("gold_passages", []).extend({key: item} for item in ids)
    if "is_answerable" in data:
        answerable = data.pop("is_answerable")
        if data.setdefault("is_unanswerable", not answerable) is answerable:
            raise DatasetError(f"{where}: it is answerable and unanswerable at once", "correct one of the two columns")


def _named(texts: Sequence[Any], key: str, ids: Sequence[Any]) -> bool:
    """Give passages their ids where there are as many as texts, or one document for all; whether that is so."""
    each = [*ids] * len(texts) if key == "document_id" and len(ids) == 1 else ids
    lacking = all(isinstance(text, dict) and "text" in text and key not in text for text in texts)
    if not texts or len(texts) != len(each) or not lacking:
        return False
    for passage, item in zip(texts, each, strict=True):
        passage[key] = item
    return True


def passages(value: Any, column: str, row: Mapping[str, Any]) -> list[Any]:
    """Texts of passages, or objects, of a cell that a system's answer or the gold stands in.

    Raises:
        ValueError: The cell begins as a list and is none.
    """
    return list(_golds(_split(value, column, row)))


def _split(value: Any, column: str, row: Mapping[str, Any]) -> Any:
    if isinstance(value, str) and plain_name(column) in _BARS and _DEEPEVAL & set(map(plain_name, row)):
        return value.split("|")
    return value


def _golds(value: Any) -> Iterator[Any]:
    for item in as_list(value):
        if isinstance(item, Mapping):
            named = {_IN_OTHER_WORDS.get(str(key), str(key)): each for key, each in item.items()}
            yield {key: _id(each) if key.endswith("_id") else each for key, each in named.items() if each is not None}
        else:
            yield {"text": item} if isinstance(item, str) else item


def _id(value: Any) -> Any:
    return value if isinstance(value, bool) else as_text(value)


def _answers(value: Any) -> list[Any]:
    """Accepted answers; the form in which Hugging Face keeps those of SQuAD has them under `text`."""
    inside = parsed(value) if isinstance(value, str) else value
    return list(map(as_text, as_list(inside.get("text", inside) if isinstance(inside, Mapping) else inside)))


def _expected(value: Any) -> Any:
    """One answer as text, or a list of accepted ones; what looks like a list and is none is a text."""
    if isinstance(value, bool):
        return [as_text(value), str(value).lower()]
    if isinstance(value, list | tuple):
        return _answers(value)
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            items = as_list(value)
        except ValueError:
            return value
        return items if items and all(isinstance(item, str) for item in items) else value
    return as_text(value)


def _bool(value: Any) -> bool:
    found = _WORDS.get(str(as_text(value)).strip().casefold())
    if found is None:
        raise ValueError(f"{value!r} is not true or false; yes, no, Y, N, 1 and 0 will do")
    return found


def _json(value: Any) -> Any:
    found = parsed(value) if isinstance(value, str) else value
    if isinstance(value, str) and found == value:
        raise ValueError(f"not valid JSON ({value[:40]!r})")
    return found


def _kept(value: Any) -> Any:
    """A value of metadata, as JSON can hold it."""
    if isinstance(value, Mapping):
        return {without_surrogates(str(key)): _kept(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, int) else without_surrogates(as_text(value))


def _messages(value: Any) -> list[Any]:
    """The turns of a conversation: texts, and objects with a question."""
    found = as_list(value) if not isinstance(value, str) or value.lstrip().startswith("[") else []
    if not found or not isinstance(found[0], str | Mapping):
        raise ValueError('it is no list of what a user says; write one, such as ["What is X?", "And Y?"]')
    return found


def _ids(value: Any) -> list[Any]:
    if isinstance(value, str) and not value.lstrip().startswith("[") and {",", ";"} & set(value):
        raise ValueError(f'{value!r} may be one id or several: write a JSON list, such as ["a", "b"]')
    return _answers(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "id": _id,
    "question": lambda value: value,
    "turns": _messages,
    "expected_answer": _expected,
    "answers": _answers,
    "gold_passages": lambda value: list(_golds(value)),
    "gold_document_ids": _ids,
    "gold_chunk_ids": _ids,
    "key_sentences": as_list,
    "is_unanswerable": _bool,
    "is_answerable": _bool,
    "dataset": as_text,
    "checks": _json,
    "rubric": _answers,
    "metadata": lambda value: _kept(_json(value)),
}


# Rows whose columns stand within objects: the exports of LangSmith, Phoenix and MLflow, and their CSV forms.


_ASKED = frozenset({"input", "inputs", "expectations"})
"""Objects whose keys are columns."""


_SAID = frozenset({"output", "outputs", "reference_outputs"})
"""Objects that hold an answer, and what went with it."""


_ANSWERS = tuple(_DATA["answer_keys"].split())


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the keys of its objects as columns; a column that is there already goes before them.

    Raises:
        ValueError: A cell begins as an object and is none.
    """
    result: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for title, cell in row.items():
        name = plain_name(str(title))
        value = parsed(cell) if name in _ASKED | _SAID and isinstance(cell, str) else cell
        if name in _ASKED and isinstance(value, Mapping):
            inner |= value
        elif name in _SAID and isinstance(value, Mapping):
            result[title] = _answer_of(value)
        elif name != "expectations":
            result["input" if name == "inputs" else title] = value
    return {**inner, **result}


def _answer_of(said: Mapping[str, Any]) -> Any:
    """The answer among what stands next to it; the whole where none of its keys is one."""
    named = {plain_name(str(key)): value for key, value in said.items() if not is_nothing(value)}
    if len(named) == 1:
        return next(iter(named.values()))
    return next((named[name] for name in _ANSWERS if name in named), dict(said) if named else None)
