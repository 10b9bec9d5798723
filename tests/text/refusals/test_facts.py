"""Negatives that answer, and those that decline in the same words: what was asked, and what is said of texts."""

import pytest

from evals.text.refusals.detector import is_abstention


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("What does the policy exclude?", "The policy does not list what is excluded.", True),
        ("Who may use the roof?", "The agreement does not say who may.", True),
        ("What is the notice period?", "The contract does not give a notice period.", True),
        ("Do you share data?", "We do not share personal data with third parties.", False),
        ("Do you share data?", "We do not have information on that.", True),
        ("What is the price?", "We do not have the price.", True),
        ("Was it significant?", "The results do not say whether it was.", True),
        ("How large was the effect?", "The paper does not report the size of the effect.", True),
        ("What is the interest rate?", "It does not give the rate.", True),
        ("Does the manual cover installation?", "The manual does not cover installation.", False),
        ("Is it sold in the EU?", "It is not sold in the EU.", False),
        ("Were the thieves found?", "The thieves were not found.", False),
        ("Can you tell me when the bus runs?", "The timetable is not included.", True),
    ],
)
def test_who_does_not_say_what_decides(question: str, answer: str, abstains: bool) -> None:
    """A source that does not tell what was asked declines; a question of yes or no is answered by its own verb."""
    assert is_abstention(answer, question) is abstains


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("How many defects?", "None.", False),
        ("Which employees are exempt?", "None.", False),
        ("How many accidents were there?", "None were reported.", False),
        ("How many defects?", "None retrieved.", True),
        ("What is the licence key?", "None.", True),
        ("Which enzyme catalyses the final step?", "None", True),
    ],
)
def test_none_answers_how_many_and_which_ones(question: str, answer: str, abstains: bool) -> None:
    """To other questions the bare word stands for no answer."""
    assert is_abstention(answer, question) is abstains


@pytest.mark.parametrize(
    ("answer", "abstains"),
    [
        ("[42]", False),
        ("[0, 1]", False),
        ("[Paris]", False),
        ("[Date]", False),
        ("[1]", True),
        ("[1, 2] [3]", True),
        ("[doc 3]", True),
        ("[N/A]", True),
        ("Unknown [1].", True),
        ("Not stated [Passage 2]", True),
    ],
)
def test_brackets_hold_citation_marks_only_beside_words_or_with_low_numbers(answer: str, abstains: bool) -> None:
    """Alone, a number up to twenty is a mark, and anything else in brackets an answer."""
    assert is_abstention(answer) is abstains


@pytest.mark.parametrize(
    ("answer", "abstains"),
    [
        ("The formula contains no constants.", False),
        ("There is no constable on duty after 9 pm.", False),
        ("There is no indicator lamp.", False),
        ("Das Essen ist nicht hervorragend.", False),
        ("Es steht nicht immer hier.", False),
        ("El pan no contiene gluten.", False),
        ("Não há taxa de adesão.", False),
        ("En el documento no consta quién lo firmó.", True),
        ("No se indica el precio.", True),
        ("El documento no contiene el precio.", True),
        ("Não há informações sobre a taxa.", True),
        ("Il testo non contiene il prezzo.", True),
    ],
)
def test_a_phrase_of_one_language_is_no_beginning_of_another_word(answer: str, abstains: bool) -> None:
    """Phrases end with their words, and what is not contained must be something told."""
    assert is_abstention(answer) is abstains
