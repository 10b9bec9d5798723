"""Fuzzy match by a table of pairs: ways to write a name, and claims that are taken back."""

import pytest

from evals.metrics import parse_metric
from evals.schemas import EvalQuestion, EvalResponse

WRITING = [
    ("Washington, D.C.", "washington dc", 1),
    ("Washington DC", "It is Washington, D.C.", 1),
    ("U.S.", "the US", 1),
    ("US", "It was made in the U.S. in 1990.", 1),
    ("U.S.A.", "USA", 1),
    ("The U.K. government", "the UK government", 1),
    ("J.K. Rowling", "It was JK Rowling.", 1),
    ("JK Rowling", "It was J. K. Rowling.", 1),
    ("J. R. R. Tolkien", "J.R.R. Tolkien", 1),
    ("a Ph.D. in physics", "She holds a PhD in physics.", 1),
    ("9 a.m.", "It opens at 9 am.", 1),
    ("D.C.", "It is AC.", 0),
    ("Zürich", "It is in Zurich.", 1),
    ("Zurich", "Im schönen Zürich.", 1),
    ("José Saramago", "Jose Saramago wrote it.", 1),
    ("Søren Kierkegaard", "Soren Kierkegaard", 1),
    ("Łódź", "Lodz", 1),
    ("Đặng", "Dang", 1),
    ("दिल्ली", "राजधानी दल्ला है", 0),
    ("が", "か", 0),
    ("Marie Curie", "Curie, Marie", 1),
    ("Curie, Marie", "It was Marie Curie.", 1),
    ("Vincent van Gogh", "van Gogh, Vincent (1853)", 1),
    ("Marie Curie", "It was not Curie, Marie.", 0),
    ("Marie Curie", "Pierre Curie and Marie", 0),
    ("Paris, Texas", "It is Paris, Texas.", 1),
    ("10,000 people", "10 000 people", 1),
    ("10,000 people", "10\u202f000 people", 1),
    ("10 people", "10 000 people", 0),
    ("1.234,56 Euro", "1234.56 Euro", 1),
    ("4k + 3", "They are primes of the form 4k + 3.", 1),
    ("8B", "It is Section 8B.", 1),
    ("public land", "pubic land", 0),
]

TAKEN_BACK = [
    ("Paris", "I think it might be Paris, but it is actually Lyon.", 0),
    ("Lyon", "I think it might be Paris, but it is actually Lyon.", 1),
    ("Paris", "It might be Paris, but is actually Lyon.", 0),
    ("Paris", "It may be Paris, but in fact it is Lyon.", 0),
    ("Paris", "Perhaps Paris; however, it's really Lyon.", 0),
    ("Paris", "I thought it was Paris, but it was actually Lyon.", 0),
    ("Paris", "Many people believe it is Paris, but the capital is actually Lyon.", 0),
    ("Lyon", "Many people believe it is Paris, but the capital is actually Lyon.", 1),
    ("Paris", "It might be Paris, but the correct answer is Lyon.", 0),
    ("Paris", "While it might be Paris, it is actually Lyon.", 0),
    ("Paris", "Although often thought to be Paris, it is in fact Lyon.", 0),
    ("Paris", "It is Paris, or rather Lyon.", 0),
    ("Paris", "It is Paris. No, wait, it is Lyon.", 0),
    ("Paris", "Paris, I mean Lyon.", 0),
    ("Paris", "Paris... correction: Lyon.", 0),
    ("Paris", "Paris? Actually, no, it is Lyon.", 0),
    ("96 hours", "It could be 96 hours, but it is actually 72 hours.", 0),
    ("Paris", "I think it might be Paris, and it is actually Paris.", 1),
    ("Paris", "I thought it might be Lyon, but it is actually Paris.", 1),
    ("30 days", "I think it is 30 days, but it is actually counted from receipt.", 1),
    ("30 days", "It might be 30 days, but the deductible is actually $500.", 1),
    ("red", "It may be red, but it is actually blue.", 0),
    ("Paris", "It might be Paris, but really I do not know.", 1),
    ("Paris", "They chose Paris. No other city was asked.", 1),
    ("Paris", "Is it Paris? No, Lyon.", 0),
    ("the U.S.", "It was the U.S. It was not Canada.", 1),
    ("Paris", "It is Paris, but it is actually a small city.", 1),
    ("Burst pipes are covered", "I think burst pipes are covered, but floods are actually not.", 1),
    ("Paris", "It might be Paris. It is actually the largest city of France.", 1),
    ("Paris", "It is probably Paris, which is really large.", 1),
    ("Paris", "It is Paris. I mean the city.", 1),
    ("yes", "I think yes, but it is actually more complicated than that.", 1),
    ("Paris", "It might be Paris, but I am not sure.", 1),
]


@pytest.mark.parametrize(("expected", "answer", "value"), WRITING + TAKEN_BACK)
def test_a_fact_is_found_as_it_is_written_and_claimed(expected: str, answer: str, value: float) -> None:
    """Dots, accents and the order of a name do not matter; what is taken back in the same breath is not claimed."""
    question = EvalQuestion(question="Which one is it?", expected_answer=expected)
    result = parse_metric("fuzzy_match").compute(question, EvalResponse(answer=answer))
    assert result.value == value, result.details
