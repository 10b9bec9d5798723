"""Is the fact of an expected answer included in an answer? By letters that nearly agree, and a claim that does agree.

A fuzzy score alone is not enough: in a long sentence "was cut" for "was raised", 400 for 500 or a missing "not" costs
a few letters of a hundred. So the place where the expected answer was found is read again, word by word.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from evals.text.clauses import Clauses, read_clauses
from evals.text.corrections import is_taken_back
from evals.text.denials import denials, is_called_false, is_set_aside, is_undecided
from evals.text.folding import fold
from evals.text.misspelling import is_misspelt
from evals.text.numbers import written_numbers
from evals.text.same_numbers import in_other_units
from evals.text.writing import given_name_first, with_name_turned

THRESHOLD = 90.0
"""Of the fuzzy score, from 0 to 100: altered claims reach 80 and more."""

_LONG = 1000
"""Characters from which an expected answer is looked for by its ends, for `partial_ratio` tries every place."""
_END = 200
"""Characters of such an end."""
_STEPS = 10**10
"""So is a shorter one in a long answer, where its length squared times that of the answer is more than this."""
_LIGHT = frozenset({"a", "an", "the", "is", "are", "was", "were", "be", "been", "s"})
"""Words that may be there or not without changing what is claimed."""
_NEXT = 6
"""Clauses behind a fact in which it may be taken back."""


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Whether an expected answer is included in an answer, and why not."""

    expected: str
    score: float
    """The fuzzy score, from 0 to 100."""
    differs: str | None = None
    """What does not agree; None where the fact is included."""

    @property
    def holds(self) -> bool:
        """Whether the fact is included."""
        return self.differs is None

    @property
    def details(self) -> dict[str, Any]:
        """What a result says of it."""
        return {"matched": self.expected} if self.holds else {"nearest": self.expected, "differs": self.differs}


def inclusion(expected: str, answer: str) -> Inclusion:
    """Look for the fact of the expected answer in the answer.

    Args:
        expected: The expected answer, or an accepted variant; a name alone may stand with the family name first in one
            of the two.
        answer: The answer as given.
    """
    found = _inclusion(expected, with_name_turned(answer, expected))
    name = None if found.holds else given_name_first(expected)
    turned = _inclusion(name, answer) if name else found
    return replace(turned, expected=expected) if turned.holds else found


def _inclusion(expected: str, answer: str) -> Inclusion:
    wanted, given = read_clauses(expected), read_clauses(answer)
    if not wanted.words:
        same = bool(expected.strip()) and fold(expected).strip() in fold(answer)
        return Inclusion(expected, 100.0 * same, None if same else "text")
    score, window = _find(wanted.joined, given.joined)
    if score < THRESHOLD:
        return Inclusion(expected, score, "text")
    places = _in_order(wanted.words, given.words, window)
    if places is None:
        return Inclusion(expected, score, "words")
    has_numbers = written_numbers(expected) <= written_numbers(answer)  # the words that multiply are compared as words
    if not has_numbers or in_other_units(expected, answer):
        return Inclusion(expected, score, "numbers")
    is_claimed = _is_claimed(wanted, given, places) and not _is_taken_back(expected, answer, given, places)
    return Inclusion(expected, score, None if is_claimed else "negation")


def _find(wanted: str, given: str) -> tuple[float, range]:
    """The fuzzy score, and the places of the words of the answer among which the expected one was found."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - for this metric only
    from rapidfuzz.utils import default_process  # noqa: PLC0415

    # partial_ratio looks for the shorter text in the longer, whichever is which.
    whole = len(given) <= len(wanted)
    if not whole and (len(wanted) > _LONG or (len(wanted) > _END and len(wanted) ** 2 * len(given) > _STEPS)):
        return _find_long(wanted, given)
    score = (fuzz.ratio if whole else fuzz.partial_ratio)(wanted, given, processor=default_process)
    if score < THRESHOLD:
        return score, range(0)
    if whole:
        return score, range(given.count(" ") + 1)
    # Framed by blanks, "art" is found as a word and not in "Stuttgart".
    spot = fuzz.partial_ratio_alignment(f" {wanted} ", f" {given} ")
    if spot is None:
        return score, range(given.count(" ") + 1)
    margin = len(wanted) // 5  # what is inserted in the middle pushes the end out of the window
    start, end = max(0, spot.dest_start - margin), spot.dest_end + margin
    return score, range(given.count(" ", 0, start), given.count(" ", 0, end) + 1)


def _find_long(wanted: str, given: str) -> tuple[float, range]:
    """The same for a long expected answer: where its first and its last characters stand, it is compared whole."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - for this metric only

    head = fuzz.partial_ratio_alignment(wanted[:_END], given)
    tail = fuzz.partial_ratio_alignment(wanted[-_END:], given)
    if head is None or tail is None:
        return 0.0, range(0)
    start, end, length = head.dest_start, tail.dest_end, len(wanted)
    # An end may stand twice, then it says nothing of where the other one is.
    places = [(start, start + length), (max(0, end - length), end)]
    if end - start < 2 * length:  # longer, and it could not score what is needed
        places.append((start, end))
    score, start, end = max((fuzz.ratio(wanted, given[first:last]), first, last) for first, last in places)
    if score < THRESHOLD:
        return score, range(0)
    margin = length // 5
    return score, range(given.count(" ", 0, max(0, start - margin)), given.count(" ", 0, end + margin) + 1)


def _in_order(wanted: Sequence[str], given: Sequence[str], window: range) -> tuple[int, int] | None:
    """The places of the first and the last word where all that matter stand in the window in their order."""
    candidates = iter(window[: len(given)])
    matter = [word for word in wanted if word not in _LIGHT] or wanted
    places: list[int] = []
    for word in matter:
        at = next((at for at in candidates if _same_word(word, given[at])), None)
        if at is None:
            return None
        places.append(at)
    return places[0], places[-1]


def _same_word(wanted: str, given: str) -> bool:
    """Whether two words are one but for an ending (hour, hours; raise, raised) or a misspelling (Barack, Barak)."""
    if wanted == given:
        return True
    short, long = sorted((wanted, given), key=len)
    if long[:-1] == short and long[-1] in "sd":  # an ending, so no misspelling: prince and princes, not princess
        if len(short) < 4 or not long.isalpha():
            return False
        return short[-1] == "e" if long[-1] == "d" else short[-1] != "s"
    return is_misspelt(wanted, given)


def _is_claimed(wanted: Clauses, given: Clauses, places: tuple[int, int]) -> bool:
    """Whether the answer claims the fact where it stands: negated as often as expected, and not set aside."""
    first, last = (given.clauses[at] for at in places)
    around = [word for word, clause in zip(given.words, given.clauses, strict=True) if first <= clause <= last]
    if wanted.words in {("yes",), ("no",)}:
        # "There is no doubt" does not say no
        if is_undecided(given.words, given.clauses) or (wanted.words == ("no",) and around[-1] != "no"):
            return False
    elif is_set_aside(given.of_clause(first, places[0])) or is_called_false(given.of_clause(given.following(last))):
        return False
    return denials(around) == denials(wanted.words)


def _is_taken_back(expected: str, answer: str, given: Clauses, places: tuple[int, int]) -> bool:
    """Whether the answer says something else instead, right behind the fact; a bare yes or no is never taken back."""
    if expected.strip(" .!").lower() in {"yes", "no"}:
        return False
    first, last = places
    return is_taken_back(expected, answer, given.of_clause(given.clauses[first], first), given.behind(last, _NEXT))
