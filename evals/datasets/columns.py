"""Which column of a row holds which field: by our names, those of other tools, or `--columns`; and how it is read."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any

from evals.datasets.tables import as_list, as_text, as_texts, is_nothing, located, parsed, storable
from evals.errors import DatasetError
from evals.schemas.response import EvalResponse
from evals.text.numbers import counted
from evals.text.tokens import lists_of

_TABLE = lists_of("columns")
QUESTION_COLUMNS, RESPONSE_COLUMNS, LABEL_COLUMNS = (
    {field: tuple(names.split()) for field, names in _TABLE[record].items()}
    for record in ("question", "response", "label")
)
"""By field of a question, of what a system answered and of a person's label, the names of its columns."""
EITHER, _SOURCE, _ASKED, _ANSWERED, _ANSWER_KEYS = (
    tuple(_TABLE[name].split()) for name in ("either", "source", "asked", "answered", "answer_keys")
)
BOOLEANS = {word: name == "true" for name in ("true", "false") for word in _TABLE[name].split()}
_ANSWERS = (*EITHER, *chain.from_iterable(RESPONSE_COLUMNS.values()))
_KNOWN = {*_ANSWERS, *chain.from_iterable(QUESTION_COLUMNS.values())}
_NESTED = re.compile(rf"^(?:{'|'.join(_ASKED + _ANSWERED)})[./]", re.IGNORECASE)
"""How tools name what stood within an object: `inputs.question`."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
FILE_NAME = re.compile(r"\w+://\S+|\S[^\n]{0,200}\.[A-Za-z][A-Za-z0-9]{1,4}")
"""A URL, or the name of a file with its ending."""
_NEAR = 0.9
"""How like a known name a title is that is a slip of it."""


@lru_cache(maxsize=1024)
def plain_name(title: str) -> str:
    """A title as names are compared: "Ground Truth:", "groundTruth" and "ground-truth" are `ground_truth`."""
    return re.sub(r"[\s-]+", "_", _HUMP.sub("_", _NESTED.sub("", title.strip().rstrip("?:* ")))).casefold()


def is_known(title: str) -> bool:
    """Whether a column of this title is read."""
    return plain_name(title) in _KNOWN


def columns_by_field(titles: Iterable[str], names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """By field the likeliest column that holds it; a field without a column is left out.

    Args:
        titles: Of all columns.
        names: By field its names, such as `QUESTION_COLUMNS`.
    """
    by_name = {plain_name(title): title for title in titles}
    known = {field: [by_name[name] for name in names[field] if name in by_name] for field in names}
    return {field: columns[0] for field, columns in known.items() if columns}


def field_of(name: str) -> str:
    """The field that a name stands for, such as `gold_document_ids` for "gold_document"; else the name itself."""
    return next((field for field, names in QUESTION_COLUMNS.items() if plain_name(name) in names), name)


# The columns of a file of questions.


@dataclass(frozen=True, slots=True)
class Columns:
    """How the columns of a file are read.

    Attributes:
        fields: By field of a question, its column.
        used: The same of the columns that hold anything, in the order of the fields.
        metadata: The columns that are kept as metadata.
        notes: On columns that became metadata, and on those that are not read.
    """

    fields: Mapping[str, str]
    used: Mapping[str, str]
    metadata: Sequence[str]
    notes: Sequence[str]


def find_columns(
    name: str, rows: Iterable[Mapping[str, Any]], named: Mapping[str, str], *, answered: bool = False
) -> Columns:
    """Find the columns of a file of questions.

    Args:
        name: Of the file, for messages.
        rows: All rows; they are walked once.
        named: What the user says, by field the column.
        answered: Whether the file is the one of the answers that are scored, so that `answer` is no reference.

    Raises:
        DatasetError: A column that the user names does not exist, two have the same name, or none holds the question.
    """
    titles, filled, files = _titles(name, rows)
    listed = ", ".join(titles.values()) or "none"
    if unknown := [column for column in named.values() if plain_name(column) not in titles]:
        raise DatasetError(f"{name} has no column {unknown[0]!r}, which `columns` names", f"its columns: {listed}")
    assigned = {field: titles[plain_name(column)] for field, column in named.items()}
    free = [title for title in titles.values() if title not in assigned.values()]
    is_response = answered and "answer" not in columns_by_field(free, RESPONSE_COLUMNS)
    fields = {
        **columns_by_field(files.intersection(free), {"gold_document_ids": _SOURCE}),
        **columns_by_field([] if is_response else free, {"expected_answer": EITHER}),
        **columns_by_field(free, QUESTION_COLUMNS),
        **columns_by_field(filled.intersection(free), QUESTION_COLUMNS),
        **assigned,
    }
    if fields.keys().isdisjoint({"question", "turns"}):
        what = f"{name}: no column holds the question; its columns: {listed}"
        raise DatasetError(what, "say which does: --columns question=COLUMN")
    rest = [title for title in free if title in filled and title not in fields.values()]
    answers = [titles[plain] for plain in _ANSWERS if titles.get(plain) in rest]
    metadata = [title for title in rest if title not in answers]
    used = {field: fields[field] for field in QUESTION_COLUMNS if fields.get(field) in filled}
    return Columns(fields, used, metadata, list(_notes(fields, used, metadata, answers)))


def _titles(name: str, rows: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], set[str], set[str]]:
    """The columns by their plain names, those that hold anything, and those that hold nothing but names of files."""
    titles: dict[str, str] = {}
    filled, not_files = set[str](), set[str]()
    for title, cell in chain.from_iterable(row.items() for row in rows):
        if (known := titles.setdefault(plain_name(title), title)) != title:
            raise DatasetError(f"{name}: the columns {known!r} and {title!r} have one name", "name each column once")
        if title not in not_files and not is_nothing(cell) and cell != []:
            filled.add(title)
            if not (isinstance(cell, str) and FILE_NAME.fullmatch(cell.strip())):
                not_files.add(title)
    return titles, filled, filled - not_files


def _notes(fields: Collection[str], used: Collection[str], metadata: list[str], answers: list[str]) -> Iterator[str]:
    kept = []
    for title in metadata:
        meant = [field for field in QUESTION_COLUMNS if field not in fields and plain_name(title) in field.split("_")]
        if near := meant or get_close_matches(plain_name(title), _KNOWN, cutoff=_NEAR):
            yield f"column `{title}` is kept as metadata (did you mean {near[0]}?)"
        else:
            kept.append(title)
    if kept:
        yield f"kept as metadata: {', '.join(kept)} (`columns` names what is read otherwise)"
    if "gold_document_ids" in used and {"gold_passages", "gold_chunk_ids"}.isdisjoint(used):
        yield "gold is known by the document alone: any chunk of it counts"
    if "rubric" in used:
        yield "questions with a rubric: the metric `rubric` has a judge decide on each answer by its own"
    if answers:
        yield f"for `evals score`: {', '.join(answers)} (what a system answered)"


# Rows whose columns stand within objects: the exports of LangSmith, Langfuse, Phoenix and MLflow, and their CSV forms.


_CONVERSATIONS = {*QUESTION_COLUMNS["question"], *QUESTION_COLUMNS["turns"]}
USER, ASSISTANT = "user", "assistant"
_ROLES = {name: name for name in (USER, ASSISTANT, "system", "tool", "function")}
_ROLES |= {"human": USER, "ai": ASSISTANT, "model": ASSISTANT}


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the keys of its objects as columns; a column that is there already goes before them.

    A conversation of messages becomes `turns`, and `response` where the assistant speaks last. In tables of deepeval,
    a bar stands between passages.

    Raises:
        DatasetError: A cell begins as an object and is none.
    """
    names = {title: plain_name(title) for title in row}
    is_deepeval = not {"expected_output", "actual_output"}.isdisjoint(names.values())
    inner, outer = dict[str, Any](), dict[str, Any]()
    for title, name in names.items():
        value = parsed(row[title]) if name in _ASKED else row[title]
        if name in _ASKED and isinstance(value, Mapping):
            inner |= {str(key): cell for key, cell in value.items()}
        elif is_deepeval and name in {"context", "retrieval_context"} and isinstance(value, str) and "|" in value:
            outer[title] = value.split("|")
        elif name != "expectations":
            outer["input" if name == "inputs" else title] = _answer_in(value) if name in _ANSWERED else value
    columns = {**inner, **outer}
    for title in [title for title in columns if plain_name(title) in _CONVERSATIONS]:
        messages = _messages(columns[title])
        if turns := [text for role, text in messages if role == USER]:
            del columns[title]
            columns["turns"] = turns
            if messages[-1][0] == ASSISTANT:
                columns.setdefault("response", messages[-1][1])
    return columns


def _answer_in(output: Any) -> Any:
    """The answer of an object, among what stands next to it; the whole where none of its keys is one."""
    answers = parsed(output, or_text=True)
    if not isinstance(answers, Mapping):
        return output
    named = {plain_name(str(key)): value for key, value in answers.items() if not is_nothing(value)}
    keys = list(named) if len(named) == 1 else [key for key in _ANSWER_KEYS if key in named]
    answer = named[keys[0]] if keys else (answers if named else None)
    messages = _messages(answer)
    return messages[-1][1] if messages else answer


def _messages(value: Any) -> list[tuple[str, str]]:
    """Role and text of each message of a conversation; none of other values. A text may stand in parts."""
    messages = []
    value = parsed(value, or_text=True)
    for item in value if isinstance(value, list) else []:
        role, content = role_and_content(item) if isinstance(item, Mapping) else (None, None)
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
        if role is None or not isinstance(content, str):
            return []
        messages.append((role, content))
    return messages


def role_and_content(item: Any) -> tuple[str | None, Any]:
    """Whose a message is, and what it holds, as OpenAI, LangChain, ragas and the conventions of GenAI write it.

    Whose is None of what is no message, such as a part of one.
    """
    if isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str):
        return _ROLES.get(item[0].casefold(), item[0]), item[1]
    if not isinstance(item, Mapping):
        return None, item
    for wrapper in ("message", "kwargs", "data"):
        if isinstance(item.get(wrapper), Mapping):
            item = {"type": item.get("type"), **item[wrapper]}
    role = item.get("role") or item.get("message.role") or _ROLES.get(str(item.get("type")).casefold())
    names = ("content", "message.content", "parts", "text")
    content = next((item[name] for name in names if not is_nothing(item.get(name))), None)
    return _ROLES.get(str(role).casefold(), str(role)) if role else None, content


# The values of the fields.


def read_fields(row: Mapping[str, Any], columns: Mapping[str, str], *, kind: str = "column ") -> dict[str, Any]:
    """Read the cells of a row, each by the type of its field; parts of passages become passages.

    Args:
        row: Without cells that say nothing.
        columns: By field, the column that holds it.
        kind: What stands before the name of a column in messages.

    Raises:
        DatasetError: A cell cannot be read, or there are not as many parts as passages; the message names the column.
    """
    fields: dict[str, Any] = {}
    for name, column in columns.items():
        if column in row:
            with located(f"{kind}{column}"):
                fields[name] = _READERS.get(name, as_text)(row[column])
    for whole, parts in _PARTS.items():
        for name in filter(fields.__contains__, parts):
            fields[whole] = _with_part(fields.get(whole) or [], parts[name], fields.pop(name), columns[name])
    return fields


def passages(value: Any) -> list[Any]:
    """Passages as objects with our names for their keys, and their ids as texts."""
    return [_passage(item) for item in as_list(value)]


def _passage(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return {"text": item} if isinstance(item, str) else item
    named = {_TABLE["passage_keys"].get(str(key), str(key)): cell for key, cell in item.items() if cell is not None}
    return {key: as_text(cell) if key.endswith("_id") else cell for key, cell in named.items()}


def _expected(value: Any) -> list[Any]:
    """The accepted answers, the expected one first; what looks like a list and is none is a text."""
    if isinstance(value, bool):
        return [as_text(value), str(value).lower()]
    items = parsed(value, or_text=True)
    return as_texts(items) if isinstance(items, list | tuple) else [as_text(value)]


def _boolean(value: Any) -> bool:
    if (boolean := BOOLEANS.get(str(as_text(value)).strip().casefold())) is None:
        raise DatasetError(f"{value!r} is not true or false; yes, no, Y, N, 1 and 0 will do")
    return boolean


def _turns(value: Any) -> list[str]:
    """What a user says in a conversation, turn by turn."""
    turns = parsed(value)
    if not turns or not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        what = 'it is no list of what a user says; write one, such as ["What is X?", "And Y?"]'
        raise DatasetError(what, "give a turn that has a reference a row of its own, with the turns up to it")
    return turns


def _ids(value: Any) -> list[Any]:
    if isinstance(value, str) and not value.lstrip().startswith("[") and {",", ";"} & set(value):
        raise DatasetError(f'{value!r} may be one id or several: write a JSON list, such as ["a", "b"]')
    return as_texts(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys((*EvalResponse.model_fields, "checks"), parsed),
    **dict.fromkeys(("answer", "raw", "raw_retrieval"), as_text),
    "question": lambda value: value,
    "turns": _turns,
    "expected_answer": _expected,
    "gold_pages": lambda value: [f"page {page}" for page in as_texts(value)],
    "key_sentences": as_list,
    "metadata": lambda value: storable(parsed(value)),
    **dict.fromkeys(("gold_passages", "chunks"), passages),
    **dict.fromkeys(("answers", "gold_sections", "rubric"), as_texts),
    **dict.fromkeys(("gold_document_ids", "gold_chunk_ids", "chunk_ids", "document_ids"), _ids),
    **dict.fromkeys(("is_unanswerable", "is_answerable"), _boolean),
}
"""By field how it is read, where it is more than one text or number."""


_GOLD_PARTS = {"gold_chunk_ids": "chunk_id", "gold_document_ids": "document_id"}
_GOLD_PARTS |= dict.fromkeys(("gold_sections", "gold_pages"), "section")
_PARTS = {"gold_passages": _GOLD_PARTS, "chunks": {"chunk_ids": "chunk_id", "document_ids": "document_id"}}
"""Of passages, the fields that are columns of their own, with their keys in a passage."""


def _with_part(held: list[Any], key: str, values: list[Any], column: str) -> list[Any]:
    """The passages with a value each that stands in a column of its own, or the one that is for all.

    Ids alone are passages too.
    """
    if not held and key != "section":
        held = [{} for _ in values]
    if len(values) == 1 and key != "chunk_id":
        values = values * len(held)
    if values and len(values) != len(held):
        count = f"{counted(len(values), 'value')} for {counted(len(held), 'passage')}"
        raise DatasetError(f"{column} holds {count}: give one for each")
    is_whole = not values or not all(isinstance(passage, Mapping) for passage in held)
    return held if is_whole else [{key: value, **gold} for value, gold in zip(values, held, strict=True)]


def derived_id(data: Mapping[str, Any]) -> str:
    """The id of a question that is given none, the same in every file; of a conversation, it is of all that is said."""
    text = "\0".join(map(str, data.get("turns") or [data.get("question", "")]))
    return f"q-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:12]}"
