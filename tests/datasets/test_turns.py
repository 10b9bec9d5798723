"""Files with conversations: how their turns become questions."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evals.datasets.base import Draft, fingerprint
from evals.datasets.questions import derived_id
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


def test_each_turn_with_gold_is_a_question_with_the_turns_up_to_it(questions: Ask) -> None:
    """The questions of one conversation are one cluster, whatever is said of clusters."""
    first = {"question": TURNS[0], "expected_answer": "A sonar buoy", "gold_passages": ["The X300 is a sonar buoy."]}
    row = {"id": "c", "turns": [first, "Thanks.", TURNS[1]], "expected_answer": "96 hours", "metadata": {"kind": "x"}}
    one, last = questions(row)
    assert (one.id, one.question, one.turns, one.expected_answer) == ("c#1", TURNS[0], [TURNS[0]], "A sonar buoy")
    assert (last.id, last.turns, last.expected_answer) == ("c", [TURNS[0], "Thanks.", TURNS[1]], "96 hours")
    assert one.metadata == last.metadata == {"kind": "x", "conversation": "c"}
    for key in ("document", "question", "kind"):
        assert group_of(one, key) == group_of(last, key)


def test_the_gold_of_the_last_turn_may_stand_in_it(questions: Ask) -> None:
    """In the row or in the turn, and not in both."""
    row = {"id": "c", "turns": [TURNS[0], {"question": TURNS[1], "expected_answer": "96 hours"}]}
    (found,) = questions(row)
    assert (found.question, found.expected_answer) == (TURNS[1], "96 hours")
    with pytest.raises(DatasetError, match="expected_answer stands in the row and in its last turn"):
        questions({**row, "expected_answer": "72 hours"})


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"turns": 3}, "it is no list of what a user says"),
        ({"turns": "Why?"}, "it is no list of what a user says"),
        ({"turns": [[1]]}, "it is no list of what a user says"),
        ({"turns": ["Why?", 3]}, "turn 2: it is neither a text nor an object with a question"),
        ({"turns": ["Why?", {"text": "x"}]}, "turn 2: it is neither a text nor an object with a question"),
        ({"turns": [{"question": "Why?", "gold": 1}]}, "turn 1: unknown key 'gold'"),
        ({"turns": TURNS, "question": "Another?"}, "it is not the last of the turns"),
    ],
)
def test_what_is_no_conversation_is_named(questions: Ask, row: dict[str, Any], said: str) -> None:
    """With the row, and the turn."""
    with pytest.raises(DatasetError, match=rf"line 2, .*{said}"):
        questions({"question": "First?"}, row)


def test_an_unknown_key_of_a_turn_comes_with_those_that_it_may_have(questions: Ask) -> None:
    with pytest.raises(DatasetError, match="line 1, turn 1: unknown key 'gold'") as caught:
        questions({"turns": [{"question": "Why?", "gold": 1}]})
    assert (caught.value.hint or "").startswith("a turn may have question, expected_answer")
