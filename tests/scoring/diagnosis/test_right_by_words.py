"""Right or wrong by words alone, and whether a wrong answer says something else."""

import pytest

from evals.schemas import EvalQuestion
from evals.scoring.diagnosis.lexical import is_right, states_otherwise

PERIOD = "How long is the notice period?"
SIGNS = "Who signs the contract?"
PETS = "Are dogs allowed in the office?"
BEGIN = "When did the lease begin?"
LOGO = "What colour is the logo?"

RIGHT = [
    (PERIOD, "14 days", "The notice period is 14 days."),
    (PERIOD, "three months", "It is 3 months."),
    (PERIOD, "14 days", "It is two weeks."),
    (PERIOD, "The notice period is three months for employees.", "Three months."),
    (BEGIN, "1 March 2024", "The lease began on March 1, 2024."),
    (BEGIN, "1 March 2024", "It began on 2024-03-01."),
    (SIGNS, "Anna Berg", "The contract is signed by Anna Berg, the CFO."),
    (PETS, "Yes", "Yes, dogs are allowed."),
    (PETS, "Yes", "Dogs are allowed in the office."),
    (PETS, "No", "Dogs are not allowed in the office."),
    ("What is the fee?", "$1,200", "The fee is 1200 dollars."),
    (LOGO, "blue", "The logo is blue."),
    (PETS, "Yes", "They are allowed in the office."),
    ("What does the tank hold?", "2.5 litres", "It holds 2500 ml."),
    ("Which section is on fees?", "Section 4", "Fees are in section 4."),
    ("What happens to unused leave?", "It is carried over to the next year.", "Unused leave carries to next year."),
]
CONTRARY = [
    (PERIOD, "14 days", "The notice period is 30 days."),
    (PERIOD, "14 days", "The notice period is three weeks."),
    (BEGIN, "1 March 2024", "The lease began on 1 April 2024."),
    (BEGIN, "1 March 2024", "It began in 2021."),
    (SIGNS, "Anna Berg", "The contract is signed by Tom Hill."),
    (SIGNS, "Anna Berg and Tom Hill", "Anna Berg and Karl Ott sign the contract."),
    (PETS, "Yes", "No, dogs are not allowed."),
    (PETS, "No", "Dogs are allowed in the office."),
    ("What is the fee?", "5%", "The fee is 7%."),
    (LOGO, "blue", "The logo is green."),
    ("Which version is supported?", "3.11", "Version 3.12 is supported."),
    ("Which section is on fees?", "Section 4", "Fees are in section 7."),
    ("May the valve be opened?", "The valve must not be opened.", "The valve must be opened."),
]
SILENT = [
    (PERIOD, "14 days", "The notice period is laid down in section 4 of the contract."),
    (PERIOD, "14 days", "The notice period depends on the length of service."),
    (PERIOD, "14 days", "The contract was changed in 2019."),
    (SIGNS, "Anna Berg", "That is described in the Signature Policy."),
    (SIGNS, "Anna Berg and Tom Hill", "Anna Berg signs the contract."),
    (BEGIN, "1 March 2024", "It began in March 2024."),
    (PETS, "Yes", "The pet policy says whether dogs may come."),
    (LOGO, "blue", "The colour of the logo is described in the style guide."),
    (LOGO, "blue", "Our company was founded by two sisters."),
]


def question(text: str, expected: str) -> EvalQuestion:
    return EvalQuestion(question=text, expected_answer=expected, is_unanswerable=False)


@pytest.mark.parametrize(("asked", "expected", "answer"), RIGHT)
def test_an_answer_that_says_what_is_expected_is_right(asked: str, expected: str, answer: str) -> None:
    """Other words, dates and numbers in another form, or more words around it, do not matter."""
    assert is_right(question(asked, expected), answer) is True


@pytest.mark.parametrize(("asked", "expected", "answer"), CONTRARY + SILENT)
def test_an_answer_that_does_not_say_it_is_wrong(asked: str, expected: str, answer: str) -> None:
    """Another value, or none."""
    assert is_right(question(asked, expected), answer) is False


@pytest.mark.parametrize(("asked", "expected", "answer"), CONTRARY)
def test_another_value_of_the_same_kind_says_something_else(asked: str, expected: str, answer: str) -> None:
    """A number for a number, a name for a name, a date for a date, no for yes."""
    assert states_otherwise(question(asked, expected), answer)


@pytest.mark.parametrize(("asked", "expected", "answer"), SILENT)
def test_an_evasive_or_incomplete_answer_says_nothing_else(asked: str, expected: str, answer: str) -> None:
    """Where it is written, what it depends on, half of the list, or another subject."""
    assert not states_otherwise(question(asked, expected), answer)


def test_without_an_expected_answer_nobody_knows() -> None:
    """Neither right nor wrong."""
    assert is_right(EvalQuestion(question="Who?"), "Kings.") is None


def test_an_accepted_variant_is_as_good() -> None:
    """One of them is enough."""
    asked = EvalQuestion(question=PERIOD, expected_answer="14 days", answers=["two weeks", "a fortnight"])
    assert is_right(asked, "The notice period is a fortnight.")
