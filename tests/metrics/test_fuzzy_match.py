"""Fuzzy match: the fact of the expected answer is in the answer, with the same claim."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

from evals.metrics import parse_metric
from evals.metrics.qa import inclusion
from evals.schemas import EvalQuestion, EvalResponse, MetricResult

FUZZY = parse_metric("fuzzy_match")
example_count = settings(derandomize=True, deadline=None, max_examples=200)
LONG = "the council decided in its spring session that the budget of the town library was {} for the next two years"


def _measure(expected: str | None, answer: str | None, **question: object) -> MetricResult:
    asked = EvalQuestion(question="What was decided?", expected_answer=expected, **question)
    return FUZZY.compute(asked, EvalResponse(answer=answer))


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("96 hours", "96 hours"),
        ("96 hours", "The battery lasts 96 hours in standby."),
        ("96 hours.", "**96**\nHOURS"),
        ("96 hours in standby", "96 hour in standby"),
        ("The budget was raised", "In May the budget was raised by a tenth."),
        ("the budget was raised", "No, the budget was raised."),
        ("The plan doesn't cover floods", "As far as I see, the plan does not cover floods."),
        ("The plan cannot be cancelled", "The plan can't be cancelled online."),
        ("0.305%", "The rate change is 0.305 percent."),
        ("$604", "The premium is $604."),
        ("$1,250", "The premium is 1250 dollars."),
        ("$604.00", "The premium is $604."),
        ("at 10:30", "It starts at 10:30 sharp."),
        ("1250 euros", "It costs 1,250 euros."),
        ("the colour of the car", "It depends on the color of the car."),
        ("15 minutes", "They are called after 15 minutes without confirmation."),
        ("Geneva", "It isn't Bern but Geneva."),
        ("Burst pipes are covered", "Burst pipes are covered, but floods are not."),
        ("Yes", "Yes, it is not excluded."),
        ("No", "No. It is covered nowhere."),
        ("no", "The answer is no."),
        ("Straße", "Sie wohnt in der STRASSE."),
        ("Cafe\u0301 Zürich", "Im Café Zürich."),
        ("東京", "首都は東京です。"),
        ("दिल्ली", "राजधानी दिल्ली है"),
        ("→", "press → twice"),
        ("Alice's house", "It was Alice’s house."),
        ("they raise it", "In May they raised it."),
        ("C++", "It is written in C++."),
        ("C#", "In **C#**, mostly."),
        ("5 per-cent", "It is 5%."),
        ("London", "London rather than Paris."),
        ("London", "Rather than Paris it is London."),
        ("London rather than Paris", "It is London rather than Paris."),
        ("the claim is false", "He said that the claim is false."),
        ("5 minutes", "After 5 minutes a false alarm is raised."),
        ("Burst pipes are covered", "Burst pipes are covered, but this is not true for floods."),
        ("yes", "Yes, and no fee is due."),
        ("no", "No. That is false."),
        ("Barack Obama", "Barak Obama"),
        ("Albert Einstein", "It was Albert Einstien."),
        (LONG.format("received"), LONG.format("recieved")),
        (LONG.format("separated"), LONG.format("seperated")),
        ("5-10%", "It is 5% to 10%."),
        ("5% to 10%", "between 5 – 10 percent"),
        ("5 to 10 days", "within 5-10 days"),
        ("$5-$10", "It costs $5 to $10."),
        ("5%", "It rose from 5% to 10%."),
    ],
)
def test_an_included_fact_is_1(expected: str, answer: str) -> None:
    """Case, marks, Unicode forms, endings, ways to write a number, and a misspelt letter do not matter."""
    result = _measure(expected, answer)
    assert result.value == 1, result.details
    assert result.details["matched"] == expected


@pytest.mark.parametrize(
    ("expected", "answer", "differs"),
    [
        ("The budget was raised", "The budget was cut", "text"),
        (LONG.format("raised"), LONG.format("cut"), "words"),
        (LONG.format("increased"), LONG.format("decreased"), "words"),
        (LONG.format("paid by the employer"), LONG.format("paid by the employee"), "words"),
        (LONG.format("legal"), LONG.format("illegal"), "words"),
        (LONG.format("raised by 500 euros"), LONG.format("raised by 400 euros"), "words"),
        (LONG.format("raised by eight euros"), LONG.format("raised by eighty euros"), "words"),
        (LONG.format("raised by 5%"), LONG.format("raised by 5"), "words"),
        (LONG.format("raised by 5 to 10%"), LONG.format("raised by 5 to 10"), "words"),
        (LONG.format("raised by -5"), LONG.format("raised by 5"), "numbers"),
        (LONG.format("paid to Alice by Bert"), LONG.format("paid to Bert by Alice"), "words"),
        (LONG.format("raised"), LONG.format("not raised"), "negation"),
        (LONG.format("raised"), "It is not true that " + LONG.format("raised"), "negation"),
        (LONG.format("not raised"), LONG.format("raised"), "words"),
        ("covered by the plan", "It is not covered by the plan.", "negation"),
        ("covered by the plan", "It isn't covered by the plan.", "negation"),
        ("covered by the plan", "It is never covered by the plan.", "negation"),
        ("5", "The rate is 0.5.", "words"),
        ("art", "It stands in Stuttgart.", "words"),
        ("no", "There is no doubt that it is covered.", "negation"),
        ("दिल्ली", "दल", "text"),
        ("→", "press ← twice", "text"),
        ("Paris", "London rather than Paris.", "negation"),
        ("Paris", "They chose London instead of the Paris.", "negation"),
        ("Paris", "It is in London as opposed to in Paris.", "negation"),
        ("Paris", "Everyone believes it is Paris, which is false.", "negation"),
        ("Paris", "It is said to be Paris, but that is not true.", "negation"),
        ("Paris", "It is a myth that it is Paris.", "negation"),
        ("Paris", "It is often wrongly said to be Paris.", "negation"),
        ("C++", "It is written in C.", "words"),
        ("C#", "It is written in C.", "words"),
        ("C", "It is written in C++.", "words"),
        ("C", "It is written in C#.", "words"),
        ("C++", "It is written in C#.", "words"),
        ("yes", "Yes and no.", "negation"),
        ("no", "Yes and no.", "negation"),
        ("no", "No and yes.", "negation"),
        (LONG.format("moral"), LONG.format("amoral"), "words"),
        (LONG.format("one million"), LONG.format("one billion"), "words"),
        (LONG.format("by fifteen"), LONG.format("by fifty"), "words"),
        (LONG.format("the sixth"), LONG.format("the sixty"), "words"),
        (LONG.format("the insurer"), LONG.format("the insured"), "words"),
        (LONG.format("the 12345th"), LONG.format("the 12346th"), "words"),
        (LONG.format("princess"), LONG.format("princes"), "words"),
        (LONG.format("on board"), LONG.format("on boar"), "words"),
    ],
)
def test_an_altered_claim_is_0(expected: str, answer: str, differs: str) -> None:
    """One other word, number or negation makes another claim, however long the sentence and high the score."""
    found = inclusion(expected, answer)
    assert (found.holds, found.differs) == (False, differs)


@pytest.mark.parametrize("answer", ["96", "hours", "the battery", "lasts 96 hours"])
def test_a_part_of_the_fact_is_0(answer: str) -> None:
    """The bare partial_ratio is 100 for any part of the expected answer; here all of it must be in the answer."""
    expected = "The battery lasts 96 hours in standby"
    assert fuzz.partial_ratio(expected, answer, processor=default_process) == 100
    assert _measure(expected, answer).value == 0


def test_an_accepted_variant_counts_like_the_expected_answer() -> None:
    """The details name the variant that was found."""
    result = _measure("four days", "It lasts 96 hours.", answers=["96 hours", "5760 minutes"])
    assert (result.value, result.details["matched"]) == (1, "96 hours")


def test_where_nothing_is_included_the_details_show_the_nearest() -> None:
    """A reader sees what was compared, how near it came and what differs."""
    result = _measure("five years", LONG.format("not raised"), answers=[LONG.format("raised")])
    assert result.value == 0
    assert result.details["nearest"] == LONG.format("raised")
    assert result.details["score"] >= result.details["threshold"] == 90
    assert result.details["differs"] == "negation"


@pytest.mark.parametrize(
    ("expected", "is_unanswerable", "answer", "value"),
    [
        ("96 hours", False, "I don't know.", 0.0),
        ("96 hours", None, "I don't know.", 0.0),
        ("96 hours", False, "", 0.0),
        (None, True, "I don't know.", None),
        (None, True, "96 hours", 0.0),
        ("96 hours", True, "96 hours", 0.0),
        (None, False, "96 hours", None),
        (None, None, "96 hours", None),
        ("96 hours", False, None, None),
    ],
)
def test_abstentions_count_as_in_answer_correctness(
    expected: str | None, is_unanswerable: bool | None, answer: str | None, value: float | None
) -> None:
    """Declining an answerable question is 0, rightly declining has no value, answering the unanswerable is 0."""
    result = _measure(expected, answer, is_unanswerable=is_unanswerable)
    assert (result.value, result.missing) == (value, "not_applicable" if value is None else None)


@example_count
@given(expected=st.text(max_size=40), answer=st.text(max_size=80))
def test_any_two_texts_can_be_compared(expected: str, answer: str) -> None:
    """No text is too strange, and what is included scores at least the threshold."""
    found = inclusion(expected, answer)
    assert 0 <= found.score <= 100
    assert found.score >= 90 or not found.holds


words = st.lists(
    st.sampled_from(["pump", "valve", "filter", "tank", "lasts", "costs", "12", "96.5", "2,400", "May"]), min_size=1
)
sentences = words.map(" ".join)


@example_count
@given(expected=sentences, before=sentences, after=sentences)
def test_a_fact_in_a_clause_of_its_own_is_included(expected: str, before: str, after: str) -> None:
    """Whatever stands around it, a fact that is said word by word is found."""
    assert inclusion(expected, f"{before}. So: {expected}! {after}.").holds


@example_count
@given(expected=words, before=sentences, after=sentences, dropped=st.integers(0, 20))
def test_what_is_included_reaches_the_threshold_of_the_reference(
    expected: list[str], before: str, after: str, dropped: int
) -> None:
    """Where a word may be missing, every hit is one of rapidfuzz's partial_ratio too: hits are only taken away."""
    said = " ".join(expected[:dropped] + expected[dropped + 1 :])
    wanted, answer = (text.replace(",", "") for text in (" ".join(expected), f"{before} {said} {after}"))
    assert not inclusion(wanted, answer).holds or fuzz.partial_ratio(wanted, answer, processor=default_process) >= 90


@example_count
@given(expected=words, answer=words, number=st.integers(100, 999))
def test_a_number_that_is_not_in_the_answer_is_never_included(
    expected: list[str], answer: list[str], number: int
) -> None:
    """However alike the texts are, every number of the expected answer must be there."""
    with_number = [*expected, str(number)]
    assert not inclusion(" ".join(with_number), " ".join([*expected, *answer])).holds


PARAGRAPH = " ".join(f"Article {n} is about the {LONG.format('raised')}." for n in range(1, 31))


@pytest.mark.parametrize(
    ("answer", "differs"),
    [
        (f"Here it is. {PARAGRAPH} That is all.", None),
        (f"{PARAGRAPH[:200]}. And now in full: {PARAGRAPH}", None),
        (f"{PARAGRAPH} And so on, {PARAGRAPH[-200:]}", None),
        (f"Here it is. {PARAGRAPH.replace('raised', 'cut', 1)} That is all.", "words"),
        (f"Here it is. {PARAGRAPH.replace('Article 20', 'Article 21')} That is all.", "words"),
        (f"Here it is. {PARAGRAPH.replace('was raised', 'was not raised', 1)} That is all.", "negation"),
        (f"{PARAGRAPH[:1500]} {'Something else is said of the rest. ' * 60}", "text"),
    ],
)
def test_a_long_expected_answer_is_found_by_its_ends(answer: str, differs: str | None) -> None:
    """Whatever stands around it, also one of its ends alone, it is compared word by word as a short one is."""
    assert inclusion(PARAGRAPH, answer).differs == differs


def test_a_long_expected_answer_is_not_tried_at_every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """partial_ratio would take seconds for a few pages: it gets an end of the expected answer only."""
    aligned, lengths = fuzz.partial_ratio_alignment, []

    def spy(wanted: str, given: str) -> object:
        lengths.append(len(wanted))
        return aligned(wanted, given)

    monkeypatch.setattr(fuzz, "partial_ratio_alignment", spy)
    monkeypatch.delattr(fuzz, "partial_ratio")
    assert inclusion(PARAGRAPH, f"{PARAGRAPH} {PARAGRAPH}").holds
    assert max(lengths) <= 200
