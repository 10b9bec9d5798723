"""The numbers of a text, written so that equal numbers are equal strings.

Conventions, where texts are ambiguous (how digits are grouped says `notation`):

- Numbers compare by value: 0.50 is 0.5, 007 is 7, ½ is 1/2 is 0.5. Words and letters that multiply do so: 1.5 million,
  $1.2M, 10k. A single letter does where it is glued to the number (k, M, B), and m, b and t behind an amount of money.
  "Form 10K", MiG-29B and 401k are names.
- A percent sign is kept (5% is not 5); "percent" and "per cent" are the sign. What stands behind the end of a range
  belongs to its begin too: 5-10%, "5 to 10%" and "between 5 and 10%" are 5% and 10%.
- A minus stands directly before the number and after a blank, a bracket or the like: -0.133%, −0.133%, -$5, $-5; so
  does "minus" or "negative". A hyphen after a letter or a digit is none (C-1, 2018-2026), nor is one before a blank (a
  bullet, a subtraction). Brackets are prose, not the minus of accountants: (604) is 604.
- Fractions are proper ones with a usual denominator: 24/7 and 9/11 are two numbers each. A time 10:30 is 10 and 30, a
  date 2026-05-01 is 2026, 5 and 1.
- The marks of a numbered list (1. Red, 2. Blue, each on a line of its own) are no numbers; one mark alone is no list.
- Digits that follow a letter are part of a word, not a number (B2B, v4.7, Q3), but for the x of 293x2.061; letters
  after digits are a unit (24h).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from evals.text.folding import remembered
from evals.text.notation import (
    GROUPING,
    NAMES,
    NOTHING,
    ORDINAL,
    ORDINALS,
    PARTS,
    SMALL,
    TENS,
    WHOLE_SCALES,
    Suffix,
    closed_up,
    contradict,
    fractions_written_out,
    has_decimal_commas,
    head,
    is_in_word,
    is_part_of,
    of_fraction,
    plain_numbers,
    shifted,
    suffix,
)

_RUN = re.compile(rf"\d\d*+(?:[.{GROUPING}]\d+)*+")

_FRACTION = re.compile(r"([1-9]\d?)/([2-9]|10|16|20|25|32|50|64|100)(?![\d/]|[.,]\d)")

_WHOLE = re.compile(r"\d{1,15}")

_OPEN = re.compile(r"\d+,\d\d?")

_RANGE = re.compile(r"[-\u2010\u2011]|\s?[\u2012-\u2014]\s?|\s{1,3}to\s{1,3}", re.IGNORECASE)

_BETWEEN = ("between ", "Between ")

_ITEM = re.compile(r"^[ \t>*+-]{0,16}\(?(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)

_HYPHENATED = re.compile(r"[^\W\d_][-\u2010\u2011]\Z")


class Quantity(NamedTuple):
    """A number with what it counts.

    Attributes:
        value: As `numbers` writes it, multiplied out, with sign and percent sign.
        unit: As `units` names it; empty where the text names none that is known.
    """

    value: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.unit.partition('/')[0]}".strip()


@dataclass(slots=True)
class _Found:
    """A number as it stands in the text, from its sign or currency to its last digit."""

    start: int
    end: int
    values: list[str]
    minus: bool = False
    currency: str = ""
    suffix: Suffix = NOTHING


@remembered(100_000)
def numbers(text: str) -> frozenset[str]:
    """The distinct numbers of a text: `604`, `0.305%`, `-0.133%`, `1500000` for 1.5 million."""
    return frozenset([value for value, _ in quantities(text)])


@lru_cache(maxsize=512)
def written_numbers(text: str) -> frozenset[str]:
    """The distinct numbers as they are written, not multiplied out: `1.5` for 1.5 million."""
    found = _read(_prepared(text))
    for one in found:
        one.suffix = one.suffix._replace(places=0)
    return frozenset(value for one in found for value, _ in _written(one))


@lru_cache(maxsize=512)
def quantities(text: str) -> frozenset[Quantity]:
    """The distinct numbers of a text with their units: 604 dollars, 30 days, 5%."""
    return frozenset(one for found in _read(_prepared(text)) for one in _written(found))


def _prepared(text: str) -> str:
    """The text without the marks of lists and with one way to write groups of digits and fractions."""
    if not text.isascii():
        text = fractions_written_out(text)
    return closed_up(_without_list_marks(text))


def _without_list_marks(text: str) -> str:
    """The text without what numbers the items of a list: such marks count on, one after the other."""
    if "\n" not in text:
        return text
    marks = list(_ITEM.finditer(text))
    counts = [int(mark[1]) for mark in marks]
    follows = [False, *(later - former in {0, 1} for former, later in pairwise(counts)), False]
    for place in reversed(range(len(marks))):
        if follows[place] or follows[place + 1]:
            text = f"{text[: marks[place].start()]}{text[marks[place].end() :]}"
    return text


def _read(text: str) -> list[_Found]:
    """The numbers in their order; what stands behind the end of a range is given to its begin."""
    read: list[_Found] = []
    decimal_commas = has_decimal_commas(text)
    for run in _RUN.finditer(text):
        if is_in_word(text, run.start()) or (read and run.start() < read[-1].end):
            continue
        is_slashed = text[run.end() : run.end() + 1] == "/"
        one = _fraction(text, run, read) if is_slashed else None
        one = one or _number(text, run, read, decimal_commas=decimal_commas)
        if read and read[-1].suffix is NOTHING and one.suffix is not NOTHING:
            _give_back(text, read[-1], one)
        read.append(one)
    return read


def _number(text: str, run: re.Match[str], read: list[_Found], *, decimal_commas: bool) -> _Found:
    """A run of digits with what stands before and behind it."""
    digits, end = run[0], run.end()
    start, minus, currency, point = head(text, run.start())
    if not currency and read and read[-1].currency and _RANGE.fullmatch(text, read[-1].end, start):
        currency = read[-1].currency  # $5-10
    behind = suffix(text, end, in_money=bool(currency))
    if behind.glued and _is_name(text, start, digits):
        behind = NOTHING
    if point:
        digits = f".{digits}"
    if not decimal_commas and "," in digits and (currency or behind is not NOTHING):
        decimal_commas = bool(_OPEN.fullmatch(digits))
    return _Found(start, end, plain_numbers(digits, decimal_comma=decimal_commas), minus, currency, behind)


def _fraction(text: str, run: re.Match[str], read: list[_Found]) -> _Found | None:
    """A proper fraction, with the whole number before it where one stands there: 1/2, 2 1/2."""
    found = _FRACTION.match(text, run.start())
    if found is None or int(found[1]) >= int(found[2]) or text[run.start() - 1 : run.start()] == "/":
        return None
    value, behind = Fraction(int(found[1]), int(found[2])), suffix(text, found.end())
    start, minus, currency, _ = head(text, run.start())
    whole = read[-1] if read else None
    if whole and start == whole.end + 1 and text[whole.end] == " " and _WHOLE.fullmatch(whole.values[0]):
        read.pop()
        value += int(whole.values[0])
        start, minus, currency = whole.start, whole.minus, whole.currency
    return _Found(start, found.end(), [of_fraction(value)], minus, currency, behind)


def _is_name(text: str, start: int, digits: str) -> bool:
    """Whether a number with a letter glued to it is a name: Form 10K, 401k, MiG-29B."""
    before = text[max(0, start - 16) : start]
    words = before.split()
    return digits == "401" or bool(_HYPHENATED.search(before)) or (bool(words) and words[-1] in NAMES)


def _give_back(text: str, begin: _Found, end: _Found) -> None:
    """Give the begin of a range what stands behind its end; it multiplies the begin only where that is less: 5-10k."""
    between = text[begin.end : end.start]
    if _RANGE.fullmatch(between) or (between == " and " and text.endswith(_BETWEEN, 0, begin.start)):
        rises = _order(begin.values[-1]) < _order(end.values[0])
        begin.suffix = end.suffix if rises else end.suffix._replace(places=0)
    elif end.suffix.unit in {"am", "pm"} and between == ":":
        begin.suffix = end.suffix


def _order(value: str) -> tuple[int, str, str]:
    """What numbers compare by, as texts, for a run of digits may be longer than integers are read."""
    whole, _, rest = value.partition(" " if " " in value else ".")
    if "/" in whole:  # 1/3
        whole, rest = "0", whole
    return len(whole), whole, rest


def _written(found: _Found) -> Iterator[Quantity]:
    """A sign belongs to the first number of a run, what stands behind it to the last."""
    places, unit, percent, _ = found.suffix
    if found.currency and not unit.startswith(found.currency):
        unit = found.currency
    *others, last = found.values
    for place, value in enumerate(others):
        yield Quantity(_signed(value) if found.minus and not place else value)
    if places:
        last = shifted(last, places)
    if found.minus and not others:
        last = _signed(last)
    yield Quantity(f"{last}%" if percent else last, unit)


def _signed(value: str) -> str:
    return value if value == "0" else f"-{value}"


# Numbers that a text writes in words: "twenty-five days", "two million", "one half", "the third floor".


ORDINAL_WORD = f"{ORDINAL}/word"
"""The unit of an ordinal that is a word: "third" is 3rd, but not 3."""


_VALUES = {word: value for value, word in enumerate(SMALL)} | {word: 20 + 10 * n for n, word in enumerate(TENS)}

_ORDINAL_VALUES = {word: value for value, word in enumerate(ORDINALS, 1)}

_MULTIPLIED = {word: 10**places for word, places in WHOLE_SCALES.items() if not word.endswith("s")}

_LETTERS = re.compile(r"[a-z]+")

_TELLING = _VALUES.keys() | _ORDINAL_VALUES.keys() | _MULTIPLIED.keys() | {"half", "quarter"}

_ANY = "|".join(sorted(_VALUES, key=len, reverse=True))

_SCALE = "|".join(_MULTIPLIED)

_CARDINAL = re.compile(rf"\b(?:(?:{_ANY})|an?(?= (?:{_SCALE})\b))(?:[ -](?:and )?(?:{_ANY}|{_SCALE})\b){{0,20}}+(?!\w)")


_ORDINAL = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(TENS)})[ -])?(?P<last>{'|'.join(sorted(_ORDINAL_VALUES, key=len, reverse=True))})\b"
)

_SHARE = re.compile(rf"\b(?:(?P<many>an?|{_ANY})[ -](?P<part>{'|'.join(PARTS)})s?|half)\b")


@lru_cache(maxsize=1024)
def spelt_out(text: str) -> frozenset[Quantity]:
    """The numbers that words of a text stand for, with their units; ordinals have a unit of their own."""
    text = text.lower()
    if _TELLING.isdisjoint(_LETTERS.findall(text)):
        return frozenset()
    return frozenset((*_cardinals(text), *_ordinals(text), *_shares(text)))


def _cardinals(text: str) -> Iterator[Quantity]:
    for found in _CARDINAL.finditer(text):
        behind = suffix(text, found.end())
        if found[0] == "one" and behind is NOTHING:
            continue
        value = shifted(str(_value(re.split(r"[ -]", found[0]))), behind.places)
        yield Quantity(f"{value}{'%' * behind.percent}", behind.unit)


def _value(words: list[str]) -> int:
    """Add up what the words say, a hundred within each thousand: two hundred five thousand and one is 205001."""
    total = part = 0
    for word in words:
        if word in {"a", "an"}:
            part = 1
        elif word == "hundred":
            part = (part or 1) * 100
        elif word in _MULTIPLIED:
            total, part = total + (part or 1) * _MULTIPLIED[word], 0
        else:
            part += _VALUES.get(word, 0)
    return total + part


def _ordinals(text: str) -> Iterator[Quantity]:
    for found in _ORDINAL.finditer(text):
        tens = _VALUES[found["tens"]] if found["tens"] else 0
        yield Quantity(str(tens + _ORDINAL_VALUES[found["last"]]), ORDINAL_WORD)


def _shares(text: str) -> Iterator[Quantity]:
    for found in _SHARE.finditer(text):
        many, part = _VALUES.get(found["many"] or "", 1), PARTS[found["part"] or "half"]
        if many < part:
            yield Quantity(of_fraction(Fraction(many, part)), suffix(text, found.end()).unit)


# Which numbers of one text are in another: equal in value, with units that do not contradict each other.


_ASKS_FOR_SHARE = re.compile(
    r"\b(?:fraction|proportion|probability|ratio|(?:what|which|market|percentage) share|(?<!per )share of)\b",
    re.IGNORECASE,
)

_SLASHED = re.compile(r"(?<![\w/.,])(\d{1,3})/(\d{1,3})(?![\w/.,])")

_DECIMAL = re.compile(r"(-?)(\d+(?:\.\d+)?)(%?)")


def asks_for_share(question: str) -> bool:
    """Whether a question asks for a fraction, a share, a ratio or the like, so that 0.05 and 5% say the same."""
    return bool(_ASKS_FOR_SHARE.search(question))


@lru_cache(maxsize=512)
def distinct(text: str) -> frozenset[Quantity]:
    """The numbers of a text, each once: not 604 where it says 604 dollars too."""
    found = quantities(text)
    if len({value for value, _ in found}) == len(found):
        return found
    return frozenset(one for one in found if not any(_says_more(other, one) for other in found))


def _says_more(other: Quantity, one: Quantity) -> bool:
    return other.value == one.value and other.unit != one.unit and is_part_of(other.unit, one.unit)


def missing(wanted: Iterable[Quantity], answer: str, question: str = "") -> set[Quantity]:
    """The wanted numbers that an answer does not hold.

    Args:
        wanted: What is expected, as `distinct` gives it.
        answer: The text as given.
        question: What was asked; where it asks for a share, 0.05 is 5%.
    """
    left = set(wanted) - quantities(answer)
    as_share = bool(left) and asks_for_share(question)
    for read in (quantities, spelt_out, _slashed):
        if not left:
            break
        given = list(read(answer))
        left = {one for one in left if not any(_is_same(one, other, as_share=as_share) for other in given)}
    return left


def in_other_units(wanted: str, answer: str) -> bool:
    """Whether a number of one text stands in the other with a unit that contradicts its own: €50 and $50."""
    lost = [one for one in missing(distinct(wanted), answer) if one.unit]
    given = [other for other in quantities(answer) if other.unit] if lost else []
    return any(one.value == other.value and contradict(one.unit, other.unit) for one in lost for other in given)


def _is_same(wanted: Quantity, given: Quantity, *, as_share: bool) -> bool:
    if given.unit == ORDINAL_WORD and wanted.unit != ORDINAL:
        return False
    if wanted.value == given.value:
        return not contradict(wanted.unit, given.unit)
    return as_share and not (wanted.unit or given.unit) and _as_share(wanted.value) == given.value


def _as_share(value: str) -> str | None:
    """5% as 0.05, and 0.05 as 5%; None for a fraction that has no end."""
    found = _DECIMAL.fullmatch(value)
    if found is None:
        return None
    sign, number, percent = found.groups()
    return f"{sign}{shifted(number, -2)}" if percent else f"{sign}{shifted(number, 2)}%"


def _slashed(text: str) -> Iterator[Quantity]:
    for found in _SLASHED.finditer(text):
        yield from (Quantity(str(int(number))) for number in found.groups())
