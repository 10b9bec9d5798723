"""The fields that a row of a file holds, and the question that they make, with what its references say."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from evals.datasets.columns import BOOLEANS, PASSAGE_KEYS, Columns, plain_name
from evals.datasets.tables import as_list, as_text, as_texts, is_dash, is_nothing, located, parsed, storable
from evals.errors import DatasetError
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.text.numbers import counted
from evals.text.refusals import reading

Fields = dict[str, Any]
"""What a row holds, by field."""


def read_fields(row: Mapping[str, Any], columns: Mapping[str, str], *, kind: str = "column ") -> Fields:
    """Read the cells of a row, each by the type of its field.

    Args:
        row: Without cells that say nothing.
        columns: By field, the column that holds it.
        kind: What stands before the name of a column in messages.

    Raises:
        DatasetError: A cell cannot be read; the message names the column.
    """
    fields: Fields = {}
    for name, column in columns.items():
        if column in row:
            with located(f"{kind}{column}"):
                fields[name] = _READERS.get(name, as_text)(row[column])
    return fields


def passages(value: Any) -> list[Any]:
    """Passages as objects with our names for their keys, and their ids as texts."""
    return [_passage(item) for item in as_list(value)]


def _passage(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return {"text": item} if isinstance(item, str) else item
    named = {PASSAGE_KEYS.get(str(key), str(key)): value for key, value in item.items() if value is not None}
    return {key: as_text(value) if key.endswith("_id") else value for key, value in named.items()}


def _expected(value: Any) -> list[Any]:
    """The accepted answers, the expected one first; what looks like a list and is none is a text."""
    if isinstance(value, bool):
        return [as_text(value), str(value).lower()]
    items = parsed(value, or_text=True)
    return as_texts(items) if isinstance(items, list | tuple) else [as_text(value)]


def _boolean(value: Any) -> bool:
    boolean = BOOLEANS.get(str(as_text(value)).strip().casefold())
    if boolean is None:
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
    **dict.fromkeys(EvalResponse.model_fields, parsed),
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
    "checks": parsed,
}
"""By field how it is read, where it is more than one text or number."""


def join_parts(fields: Fields, whole: str, parts: Mapping[str, str], columns: Mapping[str, str]) -> None:
    """Put ids, sections and pages that stand in columns of their own into the passages; ids alone are passages too.

    Args:
        fields: Of a row.
        whole: The field of the passages.
        parts: By field, the key of a passage that it is; a part that is one value may be for all.
        columns: By field its column, for messages.

    Raises:
        DatasetError: There are not as many as passages.
    """
    for name, key in parts.items():
        if name not in fields:
            continue
        values = fields.pop(name)
        held = fields.get(whole) or ([] if key == "section" else [{} for _ in values])
        if len(values) == 1 and key != "chunk_id":
            values *= len(held)
        if values and len(values) != len(held):
            count = f"{counted(len(values), 'value')} for {counted(len(held), 'passage')}"
            raise DatasetError(f"{columns[name]} holds {count}: give one for each")
        is_whole = not values or not all(isinstance(passage, Mapping) for passage in held)
        fields[whole] = held if is_whole else [{key: value, **gold} for value, gold in zip(values, held, strict=True)]


def derived_id(data: Mapping[str, Any]) -> str:
    """The id of a question that is given none, the same in every file; of a conversation, it is of all that is said."""
    text = "\0".join(map(str, data.get("turns") or [data.get("question", "")]))
    return f"q-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:12]}"


# Questions.


_GOLD_PARTS = {"gold_chunk_ids": "chunk_id", "gold_document_ids": "document_id"}
_GOLD_PARTS |= dict.fromkeys(("gold_sections", "gold_pages"), "section")


def read_question(row: Mapping[str, Any], where: str, columns: Columns, counts: Counter[str]) -> EvalQuestion:
    """The question of a row; of a conversation it is the last turn.

    Args:
        row: With objects laid out as columns.
        where: Its place.
        columns: Of the file.
        counts: Takes up what was left out, by reason.

    Raises:
        DatasetError: The row is wrong; the message names row and column.
    """
    with located(where, EvalQuestion, columns.fields):
        data = _question_fields(row, columns)
        if turns := data.get("turns"):
            data.setdefault("question", turns[-1])
        given, variants = data.pop("expected_answer", []), data.pop("answers", [])
        if all(isinstance(text, str) for text in [*given, *variants]):  # else the check of the types tells
            kept = _settle_references(data, [*given, *variants], columns.fields, counts)
            given, variants = ([text for text in listed if text in kept] for listed in (given, variants))
        data["expected_answer"] = next(iter(given), None)
        texts = [*(given if len(given) > 1 else []), *variants]
        data["answers"] = [text for number, text in enumerate(texts) if text not in texts[:number]]
        return EvalQuestion.model_validate({"id": derived_id(data), **data})


def _question_fields(row: Mapping[str, Any], columns: Columns) -> Fields:
    reference = columns.fields.get("expected_answer")
    held = {
        title: cell for title, cell in row.items() if not is_nothing(cell) or (title == reference and is_dash(cell))
    }
    data = read_fields(held, columns.fields)
    join_parts(data, "gold_passages", _GOLD_PARTS, columns.fields)
    if texts := data.get("key_sentences"):
        source = columns.fields["key_sentences"]
        data["key_sentences"] = [{"text": text, "source": source} if isinstance(text, str) else text for text in texts]
    if "is_answerable" in data:
        answerable = data.pop("is_answerable")
        if data.setdefault("is_unanswerable", not answerable) is answerable:
            raise DatasetError("it is answerable and unanswerable at once", "correct one of the two columns")
    kept = [*columns.metadata, columns.fields.get("gold_pages", "")]
    extra = {title: storable(held[title]) for title in kept if title in held}
    if extra and isinstance(data.setdefault("metadata", {}), Mapping):
        data["metadata"] = {**extra, **data["metadata"]}
    return data


# Expected answers that are none: marks that there is no answer, and answers of a model that declined.


_MARK = re.compile(r"\W*(?:no[ _-]?answer(?:[ _-]present)?|unanswerable)\W*", re.IGNORECASE)
"""How datasets say that there is no answer: MS MARCO, RAGBench, Qasper."""
_PROSE = 3
"""Words from which an answer that declines is a sentence: "unknown" may be what is asked for."""
_NEGATION = re.compile(r"\b(?:no|not|none|never|nothing|cannot|without|\w*un\w+able)\b|n['’]t\b", re.IGNORECASE)
DECLINED = "expected answer that declines to answer"


def declines(reference: str, question: str, *, surely: bool = False) -> bool:
    """Whether the expected answer is a refusal in prose: a model wrote it, and no right answer could be told by it."""
    read = reading(reference, question)
    return len(reference.split()) >= _PROSE and read.declines and not (surely and read.doubtful)


def _settle_references(
    data: Fields, references: list[str], columns: Mapping[str, str], counts: Counter[str]
) -> set[str]:
    """What of the references is an expected answer; what the others say of answerability goes into the fields.

    A mark says that there is no answer; so does a dash in a row that has none, and else it says nothing. A question
    with an expected answer or gold is answerable where the file does not say it, unless one of its references
    declines, however short it is. A question without an answer has no gold. A context may go with any question: it
    shows that there is an answer only in a file without references.
    """
    question, golds, stated = str(data.get("question", "")), data.get("gold_passages"), data.get("is_unanswerable")
    declining = {text for text in references if reading(text, question).declines}
    alone = all(map(is_dash, references)) and not golds and stated is not False
    marks = {text for text in references if _MARK.fullmatch(text.strip()) or (alone and text in declining)}
    silent = {text for text in references if is_dash(text) and "none" not in text.casefold()}
    answers = set(references) - marks - (set() if alone else silent)
    told = {text for text in answers - declining if not _NEGATION.search(text)}
    if wrong := marks if stated is False else told if stated else set():
        what = f"the expected answer is {min(wrong)!r}, and is_unanswerable is {str(stated).lower()}"
        raise DatasetError(what, "one of the two is wrong")
    if marks and answers:
        counts["answerability: the expected answers disagree"] += 1
    elif marks and stated is None:
        data["is_unanswerable"] = stated = True
        counts["expected answer that says that there is none (`-`, `none`, `n/a`)"] += alone
    if stated:
        counts["gold passage of a question without an answer"] += len(data.pop("gold_passages", []))
    elif stated is None:
        references_elsewhere = columns.keys() & {"expected_answer", "answers"}
        is_context = plain_name(columns.get("gold_passages", "")) == "context" and references_elsewhere
        is_known = answers or (golds and not is_context)
        data["answerable_by_gold"] = bool(is_known) and not marks and answers.isdisjoint(declining)
        refused = {text for text in answers if declines(text, question, surely=True)}
        counts[DECLINED] += bool(refused)
        answers -= refused
    return answers
