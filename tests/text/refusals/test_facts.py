"""Negatives that are facts, and those that decline in the same words: who does not do what, and what was asked."""

import pytest

from evals.text.refusals.detector import is_abstention

EXCLUDED = "What does the policy exclude?"


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        (EXCLUDED, "It does not cover batteries.", False),
        (EXCLUDED, "The policy does not cover flood, war or nuclear damage.", False),
        (EXCLUDED, "The documents do not cover exclusions.", True),
        (EXCLUDED, "The policy does not list what is excluded.", True),
        ("Who may use the roof?", "The agreement does not give the tenant access to the roof.", False),
        ("Who may use the roof?", "The agreement does not say who may.", True),
        ("Where can I smoke?", "The lease does not provide information on smoking.", True),
        ("What is the notice period?", "The contract does not give a notice period.", True),
        ("What does a cancelled trip cost?", "No refund is given within seven days of departure.", False),
        ("Who gets a laptop?", "Contractors are not provided with laptops.", False),
        ("Who pays for parking?", "Parking is not included in the room rate.", False),
    ],
)
def test_what_a_contract_does_not_give_is_a_fact(question: str, answer: str, abstains: bool) -> None:
    """A policy that does not cover or give a thing answers, one that does not say or give a date does not."""
    assert is_abstention(answer, question) is abstains


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("Do you share data?", "We do not share personal data with third parties.", False),
        ("Do you share data?", "We do not have information on that.", True),
        ("Can I get a refund after 30 days?", "We cannot provide refunds after 30 days.", False),
        ("Can I get a refund after 30 days?", "We cannot provide an answer to that.", True),
        ("Is there a gym?", "We do not have a gym.", False),
        ("What is the price?", "We do not have the price.", True),
        ("When can I phone?", "We do not answer calls after 6 pm.", False),
        ("Can you give legal advice?", "I cannot give legal advice.", True),
    ],
)
def test_what_we_do_not_do_is_a_fact_unless_it_is_answering(question: str, answer: str, abstains: bool) -> None:
    """A firm speaks of its wares and rules as "we"; "I" is the one who answers."""
    assert is_abstention(answer, question) is abstains


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("Was it significant?", "The results do not show a significant difference.", False),
        ("Was it significant?", "The results do not say whether it was.", True),
        ("Does coffee cause ulcers?", "We found no evidence that coffee causes ulcers.", False),
        ("How large was the effect?", "The paper does not report the size of the effect.", True),
    ],
)
def test_what_a_study_did_not_find_is_a_finding(question: str, answer: str, abstains: bool) -> None:
    """That there was no difference answers; that a study does not tell of it does not."""
    assert is_abstention(answer, question) is abstains


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("What nuts are in the bar?", "It does not contain nuts.", False),
        ("What does the guide say about nuts?", "It does not cover nuts.", True),
        ("What is in the bar?", "The leaflet lists the vitamins. It does not cover nuts.", True),
        ("What is the interest rate?", "It does not give the rate.", True),
        ("Does the manual cover installation?", "The manual does not cover installation.", False),
        ("Does the fee cover exams?", "The documents do not cover exams.", True),
        ("Is it sold in the EU?", "It is not sold in the EU.", False),
        ("Were the thieves found?", "The thieves were not found.", False),
        ("Can you tell me when the bus runs?", "The timetable is not included.", True),
    ],
)
def test_it_is_what_was_asked_about_unless_a_source_was_named(question: str, answer: str, abstains: bool) -> None:
    """The question tells what "it" is, and a question of yes or no is answered by its own verb."""
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
