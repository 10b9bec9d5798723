"""Files with conversations: how their turns become questions."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evals.datasets.base import Draft, fingerprint
from evals.datasets.columns import derived_id
from evals.errors import DatasetError
from evals.schemas import EvalQuestion
from evals.scoring.results import group_of

Ask = Callable[..., list[EvalQuestion]]
TURNS = ["What is the X300?", "How long does it last?"]


@pytest.fixture
def questions(read: Callable[..., Draft]) -> Callable[..., list[EvalQuestion]]:
    """The questions of these rows."""
    return lambda *rows: list(read("q.jsonl", "\n".join(map(json.dumps, rows))).questions)


def test_the_last_turn_is_the_question_and_has_the_gold_of_the_row(questions: Ask) -> None:
    """The column `question` may say it again, or be absent."""
    for row in ({"turns": TURNS}, {"turns": TURNS, "question": TURNS[-1]}):
        (found,) = questions({**row, "id": "c", "expected_answer": "96 hours"})
        assert (found.id, found.question, found.turns, found.expected_answer) == ("c", TURNS[-1], TURNS, "96 hours")
        assert found.metadata == {}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.csv", 'question,turns,expected_answer\n,"[""What is the X300?"", ""How long does it last?""]",96 hours\n'),
        ("q.yaml", "- turns:\n  - What is the X300?\n  - How long does it last?\n  expected_answer: 96 hours\n"),
        ("q.json", '{"questions": [{"turns": ["What is the X300?", "How long does it last?"]}]}'),
    ],
)
def test_every_kind_of_file_may_hold_turns(read: Callable[..., Draft], name: str, content: str) -> None:
    """In a cell of a table they are JSON."""
    (found,) = read(name, content).questions
    assert found.turns == TURNS


def test_single_questions_stand_beside_conversations_and_are_as_they_were(questions: Ask) -> None:
    """Their ids and hashes do not change."""
    single, conversation = questions({"question": "How long does it last?"}, {"turns": TURNS})
    assert single.id == derived_id({"question": "How long does it last?"}) != conversation.id
    assert "turns" not in single.model_dump()
    alone = EvalQuestion.model_validate(single.model_dump())
    assert fingerprint([alone]) == fingerprint([single])


def test_rows_of_one_conversation_may_be_one_group(questions: Ask) -> None:
    """Each turn with a reference has a row of its own, with the turns up to it."""
    shared = {"metadata": {"kind": "x", "conversation": "c"}}
    rows = [{"turns": TURNS[:1], "expected_answer": "A sonar buoy", **shared}, {"turns": TURNS, **shared}]
    one, last = questions(*rows)
    assert (one.question, one.turns, one.expected_answer) == (TURNS[0], TURNS[:1], "A sonar buoy")
    for key in ("document", "question", "kind"):
        assert group_of(one, key) == group_of(last, key)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        *(
            ({"turns": turns}, "it is no list of what a user says")
            for turns in (3, "Why?", [[1]], ["Why?", 3], [{"a": 1}])
        ),
        ({"turns": TURNS, "question": "Another?"}, "the last of the turns must be the question"),
    ],
)
def test_what_is_no_conversation_is_named(questions: Ask, row: dict[str, Any], said: str) -> None:
    """With the row."""
    with pytest.raises(DatasetError, match=rf"line 2.*{said}"):
        questions({"question": "First?"}, row)
