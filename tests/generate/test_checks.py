"""What the rules say of single questions, quotations and answers."""

import pytest
from generate.conftest import HARBOUR

from evals.generate.checks import (
    COPIED,
    CheckedDraft,
    QuestionDraft,
    check,
    is_duplicate,
    locate,
    speaks_of_text,
)
from evals.generate.documents import SourceDocument
from evals.generate.passages import PassageSet
from evals.generate.solving import agrees
from evals.schemas import EvalQuestion

PASSAGES = PassageSet.cut([SourceDocument(name, text) for name, text in HARBOUR.items()])


@pytest.mark.parametrize(
    ("quotation", "text", "place"),
    [
        ("sails at noon", "It sails\n  at **noon** daily.", "sails\n  at **noon"),
        ("“Heron” – a ferry", 'The "Heron" - a ferry of', '"Heron" - a ferry'),
        ("Ferry | 90", "| Ferry | 90 |", "Ferry | 90"),
        ("SAILS at noon", "It sails at noon", "sails at noon"),
        ("don`t sail", "We don’t sail", "don’t sail"),
        ("sails at one", "It sails at noon", None),
        ("ail at noon", "It sail at noon", None),
        ("costs $14", "It costs $14.50", None),
        ("", "It sails", None),
    ],
)
def test_a_quotation_is_found_apart_from_blanks_markup_and_forms_of_signs(
    quotation: str, text: str, place: str | None
) -> None:
    """Words must be whole and in their order."""
    span = locate(quotation, text)
    assert (None if span is None else text[slice(*span)]) == place


@pytest.mark.parametrize(
    "question",
    [
        "What does this document say of dogs?",
        "Which fare is given in the passage?",
        "According to the text, who sells tickets?",
        "What is the rate in table 3?",
        "Which of the times above is right?",
        "Which ferries are listed below?",
        "What is mentioned above of dogs?",
        "Who wrote ferry.md?",
        "What does Section 4 require?",
        "Was steht in diesem Dokument?",
        "Laut Text: Wer verkauft Karten?",
        "Que dit ce texte du prix?",
    ],
)
def test_a_question_that_speaks_of_its_text_is_noticed(question: str) -> None:
    """It can only be understood next to the passage."""
    assert speaks_of_text(question)


@pytest.mark.parametrize(
    "question",
    [
        "What does a day on the ferry to Brennick cost?",
        "Which waves above two metres stop the ferry?",
        "Who may travel free below the age of six?",
        "Which documents must a guest show at the harbour office?",
        "How heavy is a table of the café?",
    ],
)
def test_a_question_that_can_stand_alone_is_not(question: str) -> None:
    """Words such as above, below and document have other uses."""
    assert not speaks_of_text(question)


@pytest.mark.parametrize(
    ("question", "answer", "duplicate"),
    [
        ("What does a day ticket for the ferry to Oare cost?", "$14.50", True),
        ("What is the cost of a day ticket for the ferry to Oare?", "14.50", True),
        ("What does a day ticket for the ferry to Oare cost children?", "$14.50", True),
        ("What does a day ticket for the ferry to Oare cost children?", "nothing", False),
        ("What does a week ticket for the ferry to Carrow cost?", "$14.50", False),
    ],
)
def test_a_question_is_a_duplicate_by_its_words_and_its_answer(question: str, answer: str, duplicate: bool) -> None:
    """The order of words makes no difference."""
    known = EvalQuestion(question="What does a day ticket for the ferry to Oare cost?", expected_answer="$14.50")
    assert is_duplicate(QuestionDraft("number", question, answer, []), known) is duplicate


def test_six_words_in_a_row_of_the_passage_are_a_tag_and_five_are_not() -> None:
    """Such a question is found by any search for words."""
    quotation = "Tickets are sold on board by Mara Quill."
    for question, tags in (
        ("Who is it by whom tickets are sold on board by the way?", [COPIED]),
        ("Who is it by whom tickets are sold on deck?", []),
    ):
        checked = check(QuestionDraft("fact", question, "Mara Quill", [(0, quotation)]), PASSAGES, [])
        assert isinstance(checked, CheckedDraft)
        assert checked.tags == tags


@pytest.mark.parametrize(
    ("expected", "given", "same"),
    [
        ("Yes, dogs travel free", "Yes", True),
        ("Yes, dogs travel free", "No, they pay", False),
        ("$14.50", "A day ticket costs $14.50.", True),
        ("$14.50", "$15", False),
        ("90 passengers and 12 bicycles", "90 passengers", False),
        ("Mara Quill", "by Mara Quill on board", True),
        ("Mara Quill", "the captain", False),
        ("larch, oak", "Oak and larch", True),
    ],
)
def test_answers_agree_by_numbers_yes_or_no_and_half_of_their_words(expected: str, given: str, same: bool) -> None:
    """The solver may say more than the draft."""
    assert agrees(expected, given) is same
