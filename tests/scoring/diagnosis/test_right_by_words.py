"""Right or wrong by words alone, and whether a wrong answer says something else."""

from pathlib import Path

import pytest

from evals.schemas import EvalQuestion
from evals.scoring.diagnosis.lexical import has_other_value, is_right, states_otherwise

PERIOD = "How long is the notice period?"
SIGNS = "Who signs the contract?"
PETS = "Are dogs allowed in the office?"
LOGO = "What colour is the logo?"
COST = "What does the licence cost?"
HEIGHT = "How high is the dam?"
SALES = "What happened to sales?"
LIMIT = "How many requests may I send?"
LINES = Path(__file__).with_name("right_by_words.txt").read_text(encoding="utf-8").splitlines()
CASES = [tuple(line.split(" | ")) for line in LINES if not line.startswith("#")]


def of(*verdicts: str) -> list[tuple[str, ...]]:
    """Question, expected answer and answer of the cases with these verdicts."""
    return [case for verdict, *case in CASES if verdict in verdicts]


def question(text: str, expected: str) -> EvalQuestion:
    return EvalQuestion(question=text, expected_answer=expected, is_unanswerable=False)


@pytest.mark.parametrize(("asked", "expected", "answer"), of("right"))
def test_an_answer_that_says_what_is_expected_is_right(asked: str, expected: str, answer: str) -> None:
    """Other words, dates and numbers in another form, or more words around it, do not matter."""
    assert is_right(question(asked, expected), answer) is True


@pytest.mark.parametrize(("asked", "expected", "answer"), of("otherwise", "silent", "wrong"))
def test_an_answer_that_does_not_say_it_is_wrong(asked: str, expected: str, answer: str) -> None:
    """Another value, or none."""
    assert is_right(question(asked, expected), answer) is False


@pytest.mark.parametrize(("asked", "expected", "answer"), of("otherwise"))
def test_another_value_of_the_same_kind_says_something_else(asked: str, expected: str, answer: str) -> None:
    """A number for a number, a name for a name, a date for a date, no for yes."""
    assert states_otherwise(question(asked, expected), answer)


@pytest.mark.parametrize(("asked", "expected", "answer"), of("silent"))
def test_an_evasive_or_incomplete_answer_says_nothing_else(asked: str, expected: str, answer: str) -> None:
    """Where it is written, what it depends on, half of the list, or another subject."""
    assert not states_otherwise(question(asked, expected), answer)


@pytest.mark.parametrize(
    ("asked", "expected", "answer"),
    [
        *of("right", "otherwise", "silent", "wrong"),
        ("How long did they hold out?", "almost a month", "almost a month"),
        ("Who invented the duty of an engine?", "Watt", "Watt"),
    ],
)
def test_an_answer_is_never_right_and_contradictory(asked: str, expected: str, answer: str) -> None:
    """What holds the expected answer contradicts nothing, and what contradicts it is not right."""
    one = question(asked, expected)
    assert not (is_right(one, answer) and (states_otherwise(one, answer) or has_other_value(one, answer)))


@pytest.mark.parametrize(
    ("asked", "expected", "answer"),
    [
        (COST, "€50", "The fee is $60."),
        (COST, "€50", "The fee is 60."),
        (HEIGHT, "300 m", "It is 400 ft high."),
        (LOGO, "blue", "The logo is green."),
        (LIMIT, "no limit", "The limit is 50."),
        (SALES, "Sales fell by 12%", "Sales rose by 12% in 2020."),
    ],
)
def test_only_a_value_of_the_same_kind_and_unit_is_another_value(asked: str, expected: str, answer: str) -> None:
    """Another currency, a number without a unit, other words and a negation are no other value; the answer is wrong."""
    assert not has_other_value(question(asked, expected), answer)
    assert is_right(question(asked, expected), answer) is False


@pytest.mark.parametrize(
    ("asked", "expected", "answer"),
    [
        (COST, "€50", "The fee is €60."),
        (PERIOD, "14 days", "Three weeks."),
        (PETS, "Yes", "No."),
        (SIGNS, "Anna Berg", "Tom Hill signs it."),
    ],
)
def test_a_value_of_the_same_kind_and_unit_is_another_value(asked: str, expected: str, answer: str) -> None:
    """Also in a unit that is converted, yes for no, and a name for a name."""
    assert has_other_value(question(asked, expected), answer)


def test_without_an_expected_answer_nobody_knows() -> None:
    """Neither right nor wrong."""
    assert is_right(EvalQuestion(question="Who?"), "Kings.") is None


def test_an_accepted_variant_is_as_good() -> None:
    """One of them is enough."""
    asked = EvalQuestion(question=PERIOD, expected_answer="14 days", answers=["two weeks", "a fortnight"])
    assert is_right(asked, "The notice period is a fortnight.")
