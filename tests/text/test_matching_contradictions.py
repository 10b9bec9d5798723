"""A chunk that holds most of a gold and says another number, or the opposite, is not the gold."""

from collections.abc import Callable

import pytest

from evals.text.matching import Matches

RuleOf = Callable[..., str | None]
NOTICE = "the insurer shall not be liable unless a written notice is given within 60 days of the loss to its office"


@pytest.mark.parametrize("before", ["", "Section 4. "])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("60 days", "90 days"),
        ("60 days", "ten days"),
        ("shall not be", "shall be"),
        ("is given", "is not given"),
        ("is given", "is never given"),
    ],
)
def test_another_number_or_a_negation_is_no_overlap(rule_of: RuleOf, old: str, new: str, before: str) -> None:
    """The same words but for the one that matters."""
    changed = NOTICE.replace("written", "") + " in writing"
    assert rule_of(NOTICE, f"{before}{changed}") == "overlap"
    assert rule_of(NOTICE, f"{before}{changed.replace(old, new)}") is None


@pytest.mark.parametrize(
    ("gold", "chunk"),
    [
        ("60 days of notice are required by either party", "90 days of notice are required by either side"),
        ("every party must give a notice of days 60", "every party must give a notice of days 90"),
        ("the limit is 1,000 euros for each of the cases", "the limit is 1,500 euros for each of the"),
        ("the fee cannot be paid later than in May each year", "the fee can be paid later than in May each"),
        ("in the year 2023 the deductible was high for all", "in the year 2024 the deductible was high for"),
        (
            "the slide that is numbered 5 of 5 closes the whole talk",
            "the slide that is numbered 34 of 34 closes the whole",
        ),
        ("it is the second album by the band and came out in May", "it is the fifth album by the band and came out"),
    ],
)
def test_a_number_is_known_by_the_words_around_it(rule_of: RuleOf, gold: str, chunk: str) -> None:
    """At the ends of the gold by those on the one side."""
    assert rule_of(gold, chunk) is None


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param(NOTICE.replace("60 days ", ""), id="it is not there"),
        pytest.param(f"{NOTICE.replace('written ', '')} or within 90 days of the theft", id="both are there"),
        pytest.param(NOTICE.replace("60 days", "60 calendar days"), id="a word between"),
        pytest.param(f"0 days of the loss: {NOTICE.replace(' 60 days of the loss', '')}", id="it was cut"),
        pytest.param(f"In 2024: {NOTICE.replace('written ', '')} at 12 Main Street", id="numbers elsewhere"),
    ],
)
def test_a_number_that_is_not_contradicted_changes_nothing(rule_of: RuleOf, chunk: str) -> None:
    """What a chunk does not say it does not deny."""
    assert rule_of(NOTICE, chunk) == "overlap"


def test_what_the_gold_says_itself_is_no_contradiction(rule_of: RuleOf) -> None:
    """Rows of a table have the same words around other numbers."""
    rows = [f"plan {name} costs {price} euros a month" for name, price in (("a", 10), ("b", 20), ("c", 30), ("d", 40))]
    assert rule_of(" and ".join(rows), f"{' and '.join(rows[1:])} too", inside_min_tokens=50) == "overlap"


def test_a_long_run_beside_another_number_is_not_inside(recognised: Callable[..., Matches]) -> None:
    """The part of the gold before the number is a run of forty tokens, and more than half of the chunk."""
    before, after = (
        " ".join(f"{letter}{number}" for number in range(length)) for letter, length in (("a", 40), ("b", 30))
    )
    gold, other = (f"{before} within {days} days {after}" for days in (60, 90))
    assert recognised(gold, other).found == {}
    assert recognised(gold, other.replace("90 ", "")).found == {0: (0, "inside")}


@pytest.mark.parametrize(("days", "found"), [("60", True), ("90", False)])
def test_a_chunk_with_another_number_adds_no_piece(recognised: Callable[..., Matches], days: str, found: bool) -> None:
    """It ends as the gold begins, and says something else before."""
    start, end = (" ".join(f"{letter}{number}" for number in range(10)) for letter in "se")
    gold = f"{start} a notice within 60 days of the loss {end}"
    chunks = [f"so a notice within {days} days of the loss {start}", f"{end} and on"]
    assert bool(recognised(gold, *chunks).found) is found


LEASE = "In 2019 the tenant in Lisbon asked Sarah Keller for a second key, which the agency handed over without delay"


@pytest.mark.parametrize(
    ("old", "new", "is_gold"),
    [
        pytest.param("Keller", "Whitmore", False, id="another family name"),
        pytest.param("Lisbon", "Warsaw", False, id="another town"),
        pytest.param("Sarah Keller", "Tom Whitmore", False, id="both names"),
        pytest.param("Keller", "Kelier", True, id="a misread name"),
        pytest.param("Sarah Keller", "Keller", True, id="a name left out"),
        pytest.param("Sarah Keller", "Ms Sarah Keller", True, id="a name added"),
        pytest.param("agency", "landlord", True, id="another word that is no name"),
    ],
)
def test_a_chunk_that_exchanges_a_name_of_the_gold_is_another_text(
    rule_of: RuleOf, old: str, new: str, is_gold: bool
) -> None:
    """A copy of a passage about somebody else is not the passage; a misread name is."""
    assert (rule_of(LEASE, f"{LEASE.replace(old, new)} to the door.") is not None) is is_gold
