"""Conversations: rows with `turns`, a list of what a user says, the last of which is the question."""

from collections.abc import Iterator, Mapping
from typing import Any

from evals.datasets.imports.columns import NAMES, Reading
from evals.datasets.imports.fields import question_data
from evals.errors import DatasetError
from evals.inputs.cells import is_nothing
from evals.schemas.dataset import CONVERSATION

_NOT_OF_A_TURN = frozenset({"id", "turns", "dataset", "metadata"})
_OF_A_TURN = [field for field in NAMES if field not in _NOT_OF_A_TURN]


def questions_of(data: dict[str, Any], given_id: str, where: str) -> Iterator[dict[str, Any]]:
    """The fields of the questions that a row holds: one, and of a conversation one more for each other turn with gold.

    Each of them is a question with the turns up to it, so that it is asked in a conversation of its own.

    Args:
        data: The fields of the row.
        given_id: Of the row.
        where: The place of the row, for messages.

    Raises:
        DatasetError: A turn is neither a text nor an object with a question and its gold.
    """
    if "turns" not in data:
        yield {**data, "id": given_id}
        return
    turns = [_turn(item, f"{where}, turn {number}") for number, item in enumerate(data.pop("turns"), start=1)]
    messages = [turn.pop("question") for turn in turns]
    _refuse_doubles(data, messages[-1], turns[-1], where)
    if any(turns[:-1]):
        data["metadata"] = _of_conversation(data.get("metadata", {}), given_id)
    shared: dict[str, Any] = {key: data[key] for key in ("dataset", "metadata") if key in data}
    for number, gold in enumerate(turns[:-1], start=1):
        if gold:
            yield {**shared, **gold, **_said(messages[:number]), "id": f"{given_id}#{number}"}
    yield {**data, **turns[-1], **_said(messages), "id": given_id}


def _said(messages: list[str]) -> dict[str, Any]:
    return {"question": messages[-1], "turns": messages}


def _refuse_doubles(data: Mapping[str, Any], question: str, last: Mapping[str, Any], where: str) -> None:
    said = data.get("question")
    if not is_nothing(said) and said != question:
        raise DatasetError(f"{where}, column question: it is not the last of the turns", "leave one of the two out")
    if twice := sorted(last.keys() & data.keys()):
        raise DatasetError(f"{where}: {twice[0]} stands in the row and in its last turn", "leave one of the two out")


def _of_conversation(metadata: Any, given_id: str) -> Any:
    """The metadata with the name of the conversation; what is none is left for the check of its type."""
    return {CONVERSATION: given_id, **metadata} if isinstance(metadata, Mapping) else metadata


def _turn(item: Any, where: str) -> dict[str, Any]:
    """The message of a turn as its question, with its gold."""
    if isinstance(item, str):
        item = {"question": item}
    if not isinstance(item, Mapping) or not isinstance(item.get("question"), str) or is_nothing(item["question"]):
        raise DatasetError(f"{where}: it is neither a text nor an object with a question", "see docs/datasets.md")
    unknown = sorted(map(str, item.keys() - set(_OF_A_TURN)))
    if unknown:
        raise DatasetError(f"{where}: unknown key {unknown[0]!r}", f"a turn may have {', '.join(_OF_A_TURN)}")
    return question_data(item, Reading({key: key for key in item}), where)


def key_of(data: Mapping[str, Any]) -> object:
    """What the id of a row without one is derived from: of a conversation, all that is said."""
    turns = data.get("turns")
    if not turns:
        return data.get("question", "")
    return "\0".join(str(turn.get("question") if isinstance(turn, Mapping) else turn) for turn in turns)
