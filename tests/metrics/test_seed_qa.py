"""Seed 002, to the letter: adapted nDCG, modified precision, and inclusion of the ideal answer."""

import pytest

from evals.metrics.qa import AdaptedNDCG, FuzzyMatch, ModifiedPrecision, inclusion
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, RetrievedChunk

PIPES = "burst pipes of the house in winter and the water that runs out"
LONG = (
    "The policy covers burst pipes and the water that runs out of them in winter, up to an amount of 10,000 euros in a "
    "calendar year, provided that the house was heated to at least ten degrees while nobody lived in it, and that the "
    "stop valve was closed before anybody left the house for more than three days in a row."
)


def test_the_discount_is_the_place_and_the_ideal_has_all_relevant_documents() -> None:
    """DCG = Σ f(d) / (i + 1) from i = 0; with m = 3 relevant and hits at 0 and 2."""
    golds = [GoldPassage(chunk_id=name) for name in "abc"]
    chunks = [RetrievedChunk(chunk_id=name) for name in "axb"]
    question, response = EvalQuestion(id="q", question="?", gold_passages=golds), EvalResponse(answer="", chunks=chunks)
    assert AdaptedNDCG().compute(question, response).value == pytest.approx((1 + 1 / 3) / (1 + 1 / 2 + 1 / 3))
    assert ModifiedPrecision().compute(question, response).value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("96 hours", "The battery lasts 96 hours."),
        ("Barack Obama", "It was Barak Obama in 2008."),
        ("the budget was raised by 5%", "In May, the budget was raised by 5% again."),
        ("Yes", "Yes, it does."),
        ("中国北部", "北京位于中国北部。"),
        ("AT&T", "It was AT&T."),
        ("not covered", "It is not covered at all."),
        ("1.2 million euros a year", "They paid 1.2 million euros a year."),
        (LONG, f"Yes. {LONG} That is all."),
    ],
)
def test_the_ideal_answer_is_included(expected: str, answer: str) -> None:
    """A longer answer, and a misspelt name."""
    assert inclusion(expected, answer).holds


@pytest.mark.parametrize(
    ("expected", "answer", "why"),
    [
        ("yes", "a", "text"),
        ("yes", "Yesterday", "text"),
        ("96", "95", "text"),
        ("a fee of 96 euros a month", "a fee of 95 euros a month", "numbers"),
        ("sales of 1.2 million euros", "sales of 1.2 billion euros", "numbers"),
        ("it was founded in 2023 in Lyon", "it was founded in 2032 in Lyon", "numbers"),
        ("burst pipes are covered", "burst pipes are not covered", "text"),
        ("legal advice of the bar", "illegal advice of the bar", "words"),
        ("Rohrbrüche sind versichert", "Rohrbrüche sind nicht versichert", "text"),
        ("i tubi rotti sono coperti", "no, i tubi rotti non sono coperti", "text"),
        ("трубы застрахованы полностью", "трубы не застрахованы полностью", "text"),
        ("水管爆裂在保险范围之内的损失", "水管爆裂不在保险范围之内的损失", "negation"),
        (f"{PIPES} are covered", f"{PIPES} are not covered", "negation"),
        (f"{PIPES} sind versichert", f"{PIPES} sind nicht versichert", "negation"),
        ("covered", "It is not really covered.", "negation"),
        ("de schade is gedekt", "de schade is niet gedekt", "text"),
        (LONG, LONG.replace("10,000", "20,000"), "numbers"),
        (LONG, "The policy covers burst pipes.", "text"),
    ],
)
def test_something_else_is_not_the_ideal_answer(expected: str, answer: str, why: str) -> None:
    """Another number or scale, the negated opposite, a part of a word."""
    assert inclusion(expected, answer).differs == why


def test_an_accepted_variant_will_do_and_details_say_which() -> None:
    """The best of them."""
    question = EvalQuestion(id="q", question="?", expected_answer="the city of Lyon", answers=["Lyon"])
    found = FuzzyMatch().compute(question, EvalResponse(answer="In Lyon."))
    assert (found.value, found.details) == (1, {"score": 100.0, "threshold": 90.0, "matched": "Lyon"})


def test_a_long_answer_takes_no_long_time() -> None:
    """Some 2,000 characters in 8,000."""
    expected = " ".join(f"word{number}" for number in range(250))
    assert inclusion(expected, f"{'and so on ' * 800} {expected}").holds
