"""Is the fact of an expected answer included in an answer? By letters that nearly agree, and a claim that does agree.

A fuzzy score alone is not enough: in a long sentence "was cut" for "was raised", 400 for 500 or a missing "not" costs
a few letters of a hundred. So the place where the expected answer was found is read again, word by word.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from evals.text.denials import denials, is_called_false, is_set_aside, is_undecided
from evals.text.folding import UNSPACED, fold
from evals.text.misspelling import is_misspelt
from evals.text.numbers import numbers, plain_numbers

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
_SPACE = re.compile(r"\s+")
_AMOUNT = r"[$€£¥]?\d+(?:[.,]\d+)*"
_PERCENT = r"(?:\s?%|[\s-]?per[ -]?cent\b)"
_UP_TO = r"(?:\s?[-\u2010-\u2014]\s?|\s(?:to|through)\s)"
_REWRITTEN = (
    # Of a range one way to write it, with percent at both ends or at none: 5-10%, "5% to 10%".
    (re.compile(rf"(?<=\d){_PERCENT}?{_UP_TO}(?={_AMOUNT}{_PERCENT})"), "%-"),
    (re.compile(rf"(?<=\d){_UP_TO}(?={_AMOUNT})"), "-"),
    (re.compile(r"\s?%|\bper[ -]cent\b"), " percent"),
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?<=[^\W\d_]{3})our(?=(?:s|ed|ing|ful|able|ite)?\b)"), "or"),  # colour, favourite
)
_CLAUSE_END = re.compile(
    r"[!?;()\n…。！？]|[.,:](?!\d)|\s[–—-]\s|\b(?:and|but|yet|however|while|whereas|although|though)\b"
)
# Between words stands what is neither a letter nor a digit nor a mark that belongs to a letter, as in Hindi.
_BETWEEN = r"\s\x00-/:-@\[-`{-\xbf×÷\u2000-\u2bff\u3000-\u303f\U0001f000-\U0001faff"
# C++ and C# are other words than C.
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{UNSPACED}]|[^{_BETWEEN}{UNSPACED}]+(?:\+\+|[+#](?!\w))?")


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


@dataclass(frozen=True)
class _Words:
    """The words of a text, and for each the number of its clause."""

    words: tuple[str, ...] = ()
    clauses: tuple[int, ...] = ()
    joined: str = field(default="", compare=False)


def inclusion(expected: str, answer: str) -> Inclusion:
    """Look for the fact of the expected answer in the answer.

    Args:
        expected: The expected answer, or an accepted variant.
        answer: The answer as given.
    """
    wanted, given = _read(expected), _read(answer)
    if not wanted.words:
        same = bool(expected.strip()) and fold(expected).strip() in fold(answer)
        return Inclusion(expected, 100.0 * same, None if same else "text")
    score, window = _find(wanted.joined, given.joined)
    if score < THRESHOLD:
        return Inclusion(expected, score, "text")
    places = _in_order(wanted.words, given.words, window)
    if places is None:
        return Inclusion(expected, score, "words")
    if not numbers(expected) <= numbers(answer):
        return Inclusion(expected, score, "numbers")
    return Inclusion(expected, score, None if _is_claimed(wanted, given, places) else "negation")


@lru_cache(maxsize=1024)
def _read(text: str) -> _Words:
    """Cut a text into clauses and words, folded, with contractions and percent signs written out."""
    # One blank or line break each, or the patterns would go over a long run again and again.
    text = _SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", fold(text))
    for pattern, plain in _REWRITTEN:
        text = pattern.sub(plain, text)
    found = [(word, clause) for clause, part in enumerate(_clauses(text)) for word in _words(part)]
    words = tuple(word for word, _ in found)
    return _Words(words, tuple(clause for _, clause in found), " ".join(words))


def _words(clause: str) -> Iterator[str]:
    """The words of a clause, numbers by value: 1,250.00 is 1250."""
    for word in _WORD.findall(clause):
        yield from plain_numbers(word) if word[0].isdecimal() else (word,)


def _clauses(text: str) -> Iterator[str]:
    """Cut after the marks and before the words that begin a clause, so that no word is lost."""
    start = 0
    for mark in _CLAUSE_END.finditer(text):
        yield text[start : mark.start()]
        start = mark.start()
    yield text[start:]


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


def _is_claimed(wanted: _Words, given: _Words, places: tuple[int, int]) -> bool:
    """Whether the answer claims the fact where it stands: negated as often as expected, and not taken back."""
    first, last = (given.clauses[at] for at in places)
    around = [word for word, clause in zip(given.words, given.clauses, strict=True) if first <= clause <= last]
    if wanted.words in {("yes",), ("no",)}:
        # "There is no doubt" does not say no
        if is_undecided(given.words, given.clauses) or (wanted.words == ("no",) and around[-1] != "no"):
            return False
    elif is_set_aside(_of_clause(given, first, places[0])) or is_called_false(_of_clause(given, _next(given, last))):
        return False
    return denials(around) == denials(wanted.words)


def _of_clause(given: _Words, clause: int | None, end: int | None = None) -> list[str]:
    """The words of a clause that stand before a place."""
    return [word for word, number in zip(given.words[:end], given.clauses, strict=False) if number == clause]


def _next(given: _Words, clause: int) -> int | None:
    """The number of the clause that follows, where one does."""
    return next((number for number in given.clauses if number > clause), None)
