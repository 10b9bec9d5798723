"""The fields of a question, of the cells of a row."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evals.datasets.imports.columns import Reading, plain_name
from evals.errors import DatasetError
from evals.inputs.cells import as_list, as_text, is_nothing, parsed
from evals.inputs.json_body import without_surrogates

_WORDS = {
    **dict.fromkeys(("true", "yes", "y", "t", "1"), True),
    **dict.fromkeys(("false", "no", "n", "f", "0"), False),
}
_BARS = frozenset({"context", "retrieval_context"})
"""Columns of which deepeval's tables join the passages by a bar, without escaping one that is in them."""
_DEEPEVAL = frozenset({"expected_output", "actual_output"})
_IDS = {"gold_document_ids": "document_id", "gold_chunk_ids": "chunk_id"}
_IN_OTHER_WORDS = {"content": "text", "page_content": "text", "doc_uri": "document_id"}
"""Keys of passages, as MLflow and LangChain name them."""


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
        data["key_sentences"] = _with_source(data["key_sentences"], reading.fields["key_sentences"])
    passages = list(data.get("gold_passages", []))
    for field, key in _IDS.items():
        if field in data and not _named(passages, key, ids := data.pop(field)):
            data.setdefault("gold_passages", []).extend({key: item} for item in ids)
    if "is_answerable" in data:
        answerable = data.pop("is_answerable")
        if data.setdefault("is_unanswerable", not answerable) is answerable:
            raise DatasetError(f"{where}: it is answerable and unanswerable at once", "correct one of the two columns")


def _named(passages: Sequence[Any], key: str, ids: Sequence[Any]) -> bool:
    """Give passages their ids where as many stand beside their texts, or one document for all; whether that is so."""
    each = [*ids] * len(passages) if key == "document_id" and len(ids) == 1 else ids
    if not passages or len(passages) != len(each) or not all(_lacks(passage, key) for passage in passages):
        return False
    for passage, item in zip(passages, each, strict=True):
        passage[key] = item
    return True


def _lacks(passage: Any, key: str) -> bool:
    return isinstance(passage, dict) and "text" in passage and key not in passage


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
    return as_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _answers(value: Any) -> Any:
    """Accepted answers; the form in which Hugging Face keeps those of SQuAD has them under `text`."""
    inside = parsed(value) if isinstance(value, str) else value
    found = inside.get("text", inside) if isinstance(inside, Mapping) else inside
    return [as_text(item) for item in as_list(found)]


def _expected(value: Any) -> Any:
    """One answer as text, or a list of accepted ones; what looks like a list and is none is a text."""
    if isinstance(value, bool):
        return [as_text(value), str(value).lower()]
    if isinstance(value, list | tuple):
        return [as_text(item) for item in as_list(value)]
    if isinstance(value, str) and value.lstrip().startswith("["):
        items = _as_texts(value)
        return items if items else value
    return as_text(value)


def _as_texts(text: str) -> list[str]:
    try:
        items = as_list(text)
    except ValueError:
        return []
    return items if all(isinstance(item, str) for item in items) and items != [text] else []


def _said(value: Any) -> Any:
    if not isinstance(value, str):
        return bool(value) if isinstance(value, int | float) and value in {0, 1} else value
    if value.strip().lower() not in _WORDS:
        raise ValueError(f"{value!r} is not true or false; yes, no, Y, N, 1 and 0 will do")
    return _WORDS[value.strip().lower()]


def _bool(value: Any) -> bool:
    found = _said(value)
    if found is True or found is False:
        return found
    raise ValueError(f"{value!r} is not true or false")


def _with_source(sentences: list[Any], column: str) -> list[Any]:
    """Sentences that are nothing but a text, with the column as what names them key."""
    return [{"text": each, "source": column} if isinstance(each, str) else each for each in sentences]


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


def _ids(value: Any) -> Any:
    if isinstance(value, str) and not value.lstrip().startswith("[") and {",", ";"} & set(value):
        raise ValueError(f'{value!r} may be one id or several: write a JSON list, such as ["a", "b"]')
    return _answers(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "id": lambda value: value if isinstance(value, bool) else as_text(value),
    "question": lambda value: value,
    "turns": _messages,
    "expected_answer": _expected,
    "answers": _answers,
    "gold_passages": lambda value: list(_golds(value)),
    "gold_document_ids": _ids,
    "gold_chunk_ids": _ids,
    "key_sentences": as_list,
    "is_unanswerable": _said,
    "is_answerable": _bool,
    "dataset": as_text,
    "checks": _json,
    "metadata": lambda value: _kept(_json(value)),
}
