"""Directions, outcomes, JSON and facts about something else: answers labelled before the rules that read them.

Those of the split "after" were written when these rules were there, by the same hand, and changed two of them.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.refusals.detector import is_abstention, is_clear_refusal, unwrapped

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("shapes.jsonl").read_text(encoding="utf-8").splitlines()
]
MISSED = Counter(before=21, after=10)
"""Answers decided otherwise than labelled, at most: there are no rules for outcomes and denied facts."""


def test_answers_of_these_shapes_are_told() -> None:
    """What is decided otherwise than labelled is counted by split."""
    wrong = [row for row in ROWS if is_abstention(row["answer"], row["question"]) != row["abstained"]]
    assert Counter(row["split"] for row in wrong) <= MISSED, [row["id"] for row in wrong]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"answer": "No.", "text": "x"}', "No."),
        ('```json\n{"response": "No."}\n```', "No."),
        ('{"result": null}', ""),
        ('{"answer": 42}', '{"answer": 42}'),
        ('{"name": "No."}', '{"name": "No."}'),
        ('{"answer": "cut off', '{"answer": "cut off'),
        ('["answer"]', '["answer"]'),
        ("{" * 5000, "{" * 5000),
    ],
)
def test_a_json_object_is_read_by_its_answer(written: str, text: str) -> None:
    """Where a text or nothing stands under a key for it; anything else stays as it is."""
    assert unwrapped(written) == text


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        ("I don't know.", True),
        ("No lo sé.", True),
        ("Der Preis ist nicht angegeben.", True),
        ("Keine Angaben vorhanden.", True),
        ("The manual does not state the price.", True),
        ("The contract does not specify a cap on liability.", False),
        ("The cause could not be determined.", False),
        ("It was never found out.", False),
        ("La cause n'a pas pu être déterminée.", False),
    ],
)
def test_a_finding_is_no_clear_refusal(text: str, clear: bool) -> None:
    """All read like refusals; clear are those that speak of him who answers, of texts or information."""
    question = "What is it?"
    assert is_abstention(text, question)
    assert is_clear_refusal(text, question) is clear


EXPECTED = "The contract does not specify a cap on liability."


@pytest.mark.parametrize(
    ("answer", "unanswerable", "abstains"),
    [
        (EXPECTED, False, False),
        (EXPECTED, None, False),
        ("The contract doesn't specify any liability cap.", False, False),
        ("The contract doesn't specify any liability cap.", None, False),
        ("The contract doesn't specify any liability cap.", True, True),
        ("The documents do not specify a cap on liability.", False, True),
        ("I don't know.", False, True),
    ],
)
def test_an_answer_in_nearly_the_expected_words_is_none(answer: str, unanswerable: bool | None, abstains: bool) -> None:
    """What a contract leaves open may be what is expected; that the documents do not say is a refusal still."""
    expected = None if unanswerable else EXPECTED
    question = EvalQuestion(
        question="What is the cap on damages?", expected_answer=expected, is_unanswerable=unanswerable
    )
    assert Sample(question, EvalResponse(answer=answer)).abstained is abstains


def test_nearly_the_words_of_a_statement_do_not_count() -> None:
    """A refusal that repeats a question shares most words with what answers it."""
    question = EvalQuestion(question="What does Pro cost a month?", expected_answer="Pro costs 9 euros a month.")
    assert Sample(question, EvalResponse(answer="What Pro costs a month is not specified.")).abstained
