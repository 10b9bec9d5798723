"""Expected answers that are none."""

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from evals.datasets.base import Draft

Ask = Callable[..., Draft]


@pytest.fixture
def ask(read: Callable[..., Draft]) -> Ask:
    """Read one row; the columns are keywords."""
    return lambda **row: read("q.json", [{"question": "What does the X300 cost in Norway?", **row}])


NO_GOLD = "gold passage of a question without an answer"
DASH = "expected answer that says that there is none (`-`, `none`, `n/a`)"
MARKS = ["No Answer Present.", "NoAnswer", "Unanswerable.", "no answer", "no_answer"]
DASHES = ["-", "–", "—", "--", "none", "None.", "n/a", "N/A", " - "]


COLUMNS = ["expected_answer", "Reference", "answer"]


@pytest.mark.parametrize(("mark", "column"), [*product(MARKS, [*COLUMNS, "answers"]), *product(DASHES, COLUMNS)])
def test_a_mark_or_a_dash_says_that_there_is_no_answer(ask: Ask, mark: str, column: str) -> None:
    """What went with a mark as context is no gold; dashes are counted, for it may be that it is still to be written."""
    context = {} if mark in DASHES else {"context": ["About Norway."]}
    content = ask(**{column: [mark] if column == "answers" else mark}, **context)
    (question,) = content.questions
    assert (question.expected_answer, question.answers, question.is_unanswerable) == (None, [], True)
    assert question.gold_passages == []
    assert content.dropped == Counter({DASH if mark in DASHES else NO_GOLD: 1})


@pytest.mark.parametrize(
    ("row", "expected", "unanswerable"),
    [
        ({"question": "How many exclusions are there?", "expected_answer": "None"}, "None", False),
        ({"expected_answer": "-", "gold_passages": ["It costs 5 euros."]}, None, False),
        ({"expected_answer": "none", "gold_passages": ["There is no fee."]}, "none", None),
        ({"expected_answer": "n/a", "answers": ["5 euros"]}, "5 euros", False),
        ({"expected_answer": "–", "is_unanswerable": False}, None, False),
        ({"expected_answer": "-", "is_unanswerable": True}, None, True),
    ],
)
def test_a_dash_says_nothing_where_the_row_has_an_answer(
    ask: Ask, row: dict[str, Any], expected: str | None, unanswerable: bool | None
) -> None:
    """Nor is the word none an answer to how many there are."""
    content = ask(**row)
    (question,) = content.questions
    assert (question.expected_answer, question.is_unanswerable) == (expected, unanswerable)
    assert content.dropped.total() == content.dropped["expected answer that declines to answer"]


@pytest.mark.parametrize("nothing", ["n/a", "N/A", "nan", "NULL", "null", "", "  ", None])
def test_no_reference_says_nothing_about_answerability(ask: Ask, nothing: str | None) -> None:
    """Whoever has not written the answer yet has not said that there is none."""
    content = ask(reference=nothing, context=["It costs 5 euros in Norway."])
    (question,) = content.questions
    assert (question.expected_answer, question.is_unanswerable) == (None, None)
    assert len(question.gold_passages) == 1
    assert content.dropped == Counter()


@pytest.mark.parametrize(
    "refusal",
    [
        "I don't know.",
        "The provided context does not contain information about the price in Norway.",
        "Based on the passages, it is not possible to answer this question.",
    ],
)
def test_a_reference_that_declines_is_left_out_and_counted(ask: Ask, refusal: str) -> None:
    """A model wrote it: no right answer could be told by it, and it is no proof that there is none."""
    content = ask(reference=refusal)
    (question,) = content.questions
    assert (question.expected_answer, question.is_unanswerable) == (None, None)
    assert content.dropped == Counter({"expected answer that declines to answer": 1})
    assert ask(reference=[refusal, "5 euros"]).questions[0].expected_answer == "5 euros"
    assert ask(reference=refusal, is_unanswerable=True).questions[0].expected_answer == refusal


@pytest.mark.parametrize(
    ("row", "unanswerable"),
    [
        ({"reference": "5 euros"}, False),
        ({"answers": ["5 euros", "five euros"]}, False),
        ({"reference": "No. A bad score never leads to a surcharge."}, False),
        ({"gold_passages": ["It costs 5 euros."]}, False),
        ({"gold_document_ids": ["norway.md"]}, False),
        ({"reference_contexts": ["It costs 5 euros."], "reference": None}, False),
        ({"context": "It costs 5 euros."}, False),
        ({"context": "About Norway.", "answers": []}, None),
        ({"reference": "unknown"}, None),
        ({"reference": "The contract does not specify a price."}, None),
        ({"reference": "I don't know.", "gold_passages": ["It costs 5 euros."]}, None),
        ({"reference": ["I don't know.", "5 euros"]}, None),
        ({"reference": "5 euros", "is_unanswerable": None}, False),
        ({"checks": [], "metadata": {"a": 1}}, None),
    ],
)
def test_gold_makes_a_question_answerable(ask: Ask, row: dict[str, Any], unanswerable: bool | None) -> None:
    """Of a context that may go with any question, only where the file has no column for references."""
    assert ask(**row).questions[0].is_unanswerable is unanswerable


@pytest.mark.parametrize("said", [{}, {"is_unanswerable": False}, {"is_answerable": True}])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did the audit find?", "No material weaknesses were found."),
        ("What did the search yield?", "No evidence was found."),
        ("What does error 12 mean?", "The device was not found."),
        ("What caused the fire?", "The cause could not be determined."),
        ("How many exclusions are there?", "None"),
        ("Is water damage covered?", "No, it is not covered."),
        ("Who wrote it?", "unknown"),
        ("What does E4 mean?", "Insufficient data."),
        ("What is the price?", "nothing"),
    ],
)
def test_a_finding_that_denies_is_an_answer(ask: Ask, question: str, answer: str, said: dict[str, bool]) -> None:
    """What was not found, or is not agreed, may be the right answer; what declines one question answers another."""
    content = ask(question=question, expected_answer=answer, **said)
    assert content.questions[0].expected_answer == answer
    assert content.dropped == Counter()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the cap on liability?", "The contract does not specify a cap on liability."),
        ("What does error 404 mean?", "The page could not be found."),
        ("What does the X300 cost?", "The documents do not say."),
    ],
)
def test_a_finding_that_reads_like_a_refusal_is_kept_if_answerable(question: str, answer: str, ask: Ask) -> None:
    """Else it is left out, and counted."""
    for said in ({"is_answerable": True}, {"is_unanswerable": False}):
        kept = ask(question=question, expected_answer=answer, **said)
        assert (kept.questions[0].expected_answer, kept.dropped) == (answer, Counter())
    left_out = ask(question=question, expected_answer=answer)
    assert left_out.questions[0].expected_answer is None
    assert left_out.dropped.total() == 1


def test_references_that_disagree_say_nothing_of_answerability(ask: Ask) -> None:
    """As annotators do: the answers that are some stay."""
    content = ask(answers=["unanswerable", "5 euros"])
    (question,) = content.questions
    assert (question.expected_answer, question.answers, question.is_unanswerable) == ("5 euros", ["5 euros"], None)
    assert content.dropped == Counter({"answerability: the expected answers disagree": 1})


def test_a_context_of_what_cannot_be_answered_is_no_gold(ask: Ask) -> None:
    """SQuAD gives every question its paragraph; whatever the column is called, it is counted and left out."""
    for row in ({"is_impossible": True, "context": "About Norway."}, {"gold_passages": ["x"], "is_unanswerable": True}):
        content = ask(**row)
        assert content.questions[0].gold_passages == []
        assert content.dropped == Counter({NO_GOLD: 1})
