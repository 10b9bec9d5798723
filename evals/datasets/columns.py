"""Which column of a file holds which field: by our names, those of other tools, or `--columns`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evals.datasets.tables import is_nothing, parsed, parsed_or_text
from evals.errors import DatasetError
from evals.text.numbers import listed
from evals.text.tokens import lists_of

_TABLE = lists_of("columns")
QUESTION_COLUMNS, RESPONSE_COLUMNS, LABEL_COLUMNS = (
    {field: tuple(names.split()) for field, names in _TABLE[record].items()}
    for record in ("question", "response", "label")
)
"""By field of a question, of what a system answered and of a person's label, the names of its columns."""
EITHER, _SOURCE, _ASKED, _ANSWERED, _ANSWER_KEYS, _NO_SLIPS = (
    tuple(_TABLE[name].split()) for name in ("either", "source", "asked", "answered", "answer_keys", "no_slips")
)
BOOLEANS = {word: name == "true" for name in ("true", "false") for word in _TABLE[name].split()}
PASSAGE_KEYS: Mapping[str, str] = _TABLE["passage_keys"]
_KNOWN = {name for names in (*QUESTION_COLUMNS.values(), *RESPONSE_COLUMNS.values(), EITHER) for name in names}
_NESTED = re.compile(rf"^(?:{'|'.join(_ASKED + _ANSWERED)})[./]", re.IGNORECASE)
"""How tools name what stood within an object: `inputs.question`."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FILE = re.compile(r"\w+://\S+|\S[^\n]{0,200}\.[A-Za-z][A-Za-z0-9]{1,4}")
"""A URL, or the name of a file with its ending."""
_LISTED = 12


@lru_cache(maxsize=1024)
def plain_name(title: str) -> str:
    """A title as names are compared: "Ground Truth:", "groundTruth" and "ground-truth" are `ground_truth`."""
    return re.sub(r"[\s-]+", "_", _HUMP.sub("_", _NESTED.sub("", title.strip().rstrip("?:* ")))).casefold()


def is_known(title: str) -> bool:
    """Whether a column of this title is read."""
    return plain_name(title) in _KNOWN


def columns_by_field(titles: Iterable[str], names: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """By field the columns that hold it, the likeliest first; a field without a column is left out.

    Args:
        titles: Of all columns.
        names: By field its names, such as `QUESTION_COLUMNS`.
    """
    by_name = {plain_name(title): title for title in titles}
    columns = {field: [by_name[name] for name in known if name in by_name] for field, known in names.items()}
    return {field: titles for field, titles in columns.items() if titles}


def field_of(name: str) -> str:
    """The field that a name stands for, such as `gold_document_ids` for "gold_document"; else the name itself."""
    plain = plain_name(name)
    return next((field for field, names in QUESTION_COLUMNS.items() if plain in names), name)


@dataclass(frozen=True, slots=True)
class Columns:
    """How the columns of a file are read.

    Attributes:
        fields: By field of a question, its column.
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
        return {field: self.fields[field] for field in QUESTION_COLUMNS if self.fields.get(field) in self.filled}

    def notes(self) -> list[str]:
        """Notes: columns that became metadata, and columns that were not read."""
        free = [field for field in reversed(QUESTION_COLUMNS) if field not in self.fields]  # the first is the likeliest
        meant = {title: field for title in self.metadata for field in free if plain_name(title) in field.split("_")}
        notes = [f"column `{title}` is not used (did you mean {field}?)" for title, field in meant.items()]
        if kept := [title for title in self.metadata if title not in meant]:
            notes.append(f"kept as metadata: {listed(kept, _LISTED)} (`columns` names what is read otherwise)")
        if "rubric" in self.used():
            notes.append("questions with a rubric: the metric `rubric` has a judge decide on each answer by its own")
        if self.answers:
            notes.append(f"for `evals score`: {', '.join(self.answers)} (what a system answered)")
        return notes


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
        DatasetError: A column that the user names is not there, one is called nearly like a known one, or none holds
            the question.
    """
    titles, filled, files = _titles(name, rows)
    known = ", ".join(titles.values()) or "none"
    fields: dict[str, str] = {}
    for field, column in named.items():
        title = column if column in titles.values() else titles.get(plain_name(column))
        if title is None:
            raise DatasetError(f"{name} has no column {column!r}, which `columns` names", f"its columns: {known}")
        fields[field] = title
    by_field = columns_by_field(titles.values(), QUESTION_COLUMNS)
    by_field.setdefault("gold_document_ids", [titles[plain] for plain in _SOURCE if titles.get(plain) in files])
    for field, columns in by_field.items():
        if field not in fields and (free := [title for title in columns if title not in fields.values()]):
            fields[field] = next((title for title in free if title in filled), free[0])
    rest = [title for title in titles.values() if title not in fields.values()]
    either = [titles[plain] for plain in EITHER if titles.get(plain) in rest]
    response = columns_by_field(rest, RESPONSE_COLUMNS)
    if either and "expected_answer" not in fields and not (answered and "answer" not in response):
        fields["expected_answer"] = either.pop(0)
    answers = [*either, *(title for titles in response.values() for title in titles)]
    metadata = [title for title in rest if title in filled and title not in {*fields.values(), *answers}]
    if metadata:
        _refuse_slips(name, metadata)
    if not {"question", "turns"} & fields.keys():
        hint = "say which does: --columns question=COLUMN"
        raise DatasetError(f"{name}: no column holds the question; its columns: {known}", hint)
    return Columns(fields, filled, metadata, [title for title in answers if title in filled])


def _titles(name: str, rows: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], frozenset[str], set[str]]:
    """The columns by their plain names, those that hold anything, and those that hold nothing but names of files."""
    titles: dict[str, str] = {}
    filled, not_files = set[str](), set[str]()
    for row in rows:
        for title, cell in row.items():
            if (known := titles.setdefault(plain_name(title), title)) != title:
                what = f"{name}: the columns {known!r} and {title!r} have one name"
                raise DatasetError(what, "name each column once")
            if title not in not_files and not is_nothing(cell) and cell != []:
                filled.add(title)
                if not (isinstance(cell, str) and _FILE.fullmatch(cell.strip())):
                    not_files.add(title)
    return titles, frozenset(filled), filled - not_files


def _refuse_slips(name: str, titles: Iterable[str]) -> None:
    """Stop at what is nearly a known name: lost as metadata, a whole group of metrics would go without a word."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - 40 ms that only a column of no known name needs

    known = sorted(name for name in _KNOWN.difference(_NO_SLIPS) if len(name) > 3)  # shorter ones are near to many
    slips = ((title, near) for title in titles for near in known if OSA.distance(plain_name(title), near) == 1)
    for title, near in slips:
        hint = f"did you mean {near!r}? Say what it is with --columns FIELD=COLUMN, or give it another name"
        raise DatasetError(f"{name}: unknown column {title!r}", hint)


# Rows whose columns stand within objects: the exports of LangSmith, Langfuse, Phoenix and MLflow, and their CSV forms.


_CONVERSATIONS = {*QUESTION_COLUMNS["question"], *QUESTION_COLUMNS["turns"]}
USER, ASSISTANT = "user", "assistant"
_ROLES = {name: name for name in (USER, ASSISTANT, "system", "tool", "function")}
_ROLES |= {"human": USER, "ai": ASSISTANT, "model": ASSISTANT}


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the keys of its objects as columns; a column that is there already goes before them.

    A conversation of messages becomes `turns`, and `response` where the assistant speaks last.

    Raises:
        ValueError: A cell begins as an object and is none.
    """
    inner: dict[str, Any] = {}
    outer: dict[str, Any] = {}
    for title, cell in row.items():
        name = plain_name(str(title))
        value = parsed(cell) if name in _ASKED else _answer_in(cell) if name in _ANSWERED else cell
        if name in _ASKED and isinstance(value, Mapping):
            inner |= value
        elif name != "expectations":
            outer["input" if name == "inputs" else title] = value
    columns = {**inner, **outer}
    for title in [title for title in columns if plain_name(str(title)) in _CONVERSATIONS]:
        messages = _messages(columns[title])
        if turns := [text for role, text in messages if role == USER]:
            del columns[title]
            columns["turns"] = turns
            if messages[-1][0] == ASSISTANT:
                columns.setdefault("response", messages[-1][1])
    return columns


def _answer_in(output: Any) -> Any:
    """The answer of an object, among what stands next to it; the whole where none of its keys is one."""
    answers = parsed_or_text(output)
    if not isinstance(answers, Mapping):
        return output
    named = {plain_name(str(key)): value for key, value in answers.items() if not is_nothing(value)}
    keys = list(named) if len(named) == 1 else [key for key in _ANSWER_KEYS if key in named]
    answer = named[keys[0]] if keys else (answers if named else None)
    messages = _messages(answer)
    return messages[-1][1] if messages else answer


def _messages(value: Any) -> list[tuple[str, str]]:
    """Role and text of each message of a conversation; none of other values. A text may stand in parts."""
    value = parsed(value) if isinstance(value, str) and re.match(r"\s*\[\s*\{", value) else value
    messages = []
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
