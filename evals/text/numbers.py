"""Numbers: read from texts by value, in the notation of the text's language; and counts with their nouns.

A number is compared by its value and its percent sign: 1,000 is 1000, $1.5 million is 1500000, 5% is not 5. Dates and
versions of several parts (2024-01-05, 3.10.2) are compared as they are written.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain, count
from typing import Any

from evals.text.tokens import UNSPACED, lists_of, tokens

_LISTS = lists_of("numbers")
_DECIMAL_COMMA = frozenset(_LISTS["decimal_comma"].split())
_FUNCTION_WORDS = {name: frozenset(words.split()) for name, words in lists_of("language")["function_words"].items()}
_SCALES = {word: int(power) for power, words in _LISTS["scales"].items() for word in words.split()}
_SHORT = {"k": 3, "K": 3, "M": 6, "B": 9}
_WORDS = {
    name: dict(zip(table["small"].split(), count(), strict=False))
    | dict(zip(table["tens"].split(), count(20, 10), strict=False))
    for name, table in _LISTS["words"].items()
}

_LATEX = ((re.compile(r"\$(?=\S)([^$\n]*?\S)\$(?!\d)"), r"\1"), (re.compile(r"\\text\{([^{}]*)\}"), r"\1"))
_LATEX_SIGNS = (("{,}", ","), ("\\%", "%"), ("\\$", "$"), ("\\(", ""), ("\\)", ""), ("\\,", ""))
_GROUPED_BY_SIGN = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_GROUPED_BY_BLANK = re.compile(r"(?<![\d.,])([1-9]\d{0,2}(?: \d{3})+)(?!\d)")
_OF_PARTS = re.compile(r"(?<![\w.,/-])\d{1,4}(?:([./-])\d{1,4})(?:\1\d{1,4})+(?![\w/-]|[.,]\d)")
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_CURRENCY = rf"(?:[$€£¥₹₩]|(?:{'|'.join(_LISTS['currencies'].split())})\b) ?"
_FOUND = re.compile(
    rf"(?P<open>\()?(?P<minus>(?<![\w.)\]])[-−–](?={_CURRENCY}|\d|\.\d)|\bminus )?"
    rf"(?:(?P<money>{_CURRENCY})(?P<inner>[-−])?)?"
    rf"(?:(?<![^\W_{UNSPACED}])|(?<=\dx))(?<!\d[.,])(?P<digits>\d+(?:[.,]\d+)*|(?<!\d)\.\d+)"
    rf"(?:(?P<short>[kKMBm])(?![^\W_])| ?-?(?P<scale>{_SCALE})(?![^\W_{UNSPACED}]))?"
    rf"(?P<percent> ?%| (?:{'|'.join(_LISTS['percent'].split())}|{_LISTS['percent_phrases']})\b)?(?P<close> ?\))?",
    re.IGNORECASE,
)
_LONGEST = 25
"""Digits: beyond, a number is compared as text."""


def language_of(*texts: str, default: str = "") -> str:
    """The language that most function words of the texts are of, as an ISO 639-1 code; the default without any."""
    said = list(chain.from_iterable(map(tokens, texts)))
    counts = {name: sum(word in words for word in said) for name, words in _FUNCTION_WORDS.items()}
    best = max(counts, key=counts.__getitem__)  # English stands first, and wins where as many speak for it
    return best if counts[best] else default


@lru_cache(maxsize=2048)
def numbers(text: str, language: str = "", *, words: bool = True) -> frozenset[str]:
    """The distinct numbers of a text: values such as "1500", "-0.133%", and dates as written.

    Args:
        text: Signs of currencies and units do not count.
        language: By which digits and words are read, as an ISO 639-1 code; English where empty.
        words: Whether number words count: zero to twenty and the tens, each by itself, joined by a hyphen only.
    """
    in_words = _in_words(text, _WORDS.get(language, _WORDS["en"])) if words else ()
    return frozenset(chain(_in_digits(_plain(text, language), language), in_words))


def _plain(text: str, language: str) -> str:
    """The text without LaTeX's signs, one form of each digit, groups closed up that blanks or apostrophes part."""
    if "\\" in text or "$" in text:
        for pattern, inside in _LATEX:
            text = pattern.sub(inside, text)
        for sign, plain in _LATEX_SIGNS:
            text = text.replace(sign, plain)
    text = unicodedata.normalize("NFKC", _GROUPED_BY_SIGN.sub("", text))
    if language in _DECIMAL_COMMA:
        text = _GROUPED_BY_BLANK.sub(lambda group: group[0].replace(" ", ""), text)
    return text


def _in_digits(text: str, language: str) -> Iterator[str]:
    dated = text
    for date in _OF_PARTS.finditer(text):
        if not re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+", date[0]):  # 1.200.000 is a number
            yield date[0]
            dated = dated[: date.start()] + " " * len(date[0]) + dated[date.end() :]
    for found in _FOUND.finditer(dated):
        money, digits = bool(found["money"]), found["digits"]
        power = _SCALES.get((found["scale"] or "").lower(), 0) or _SHORT.get(found["short"] or "", 0)
        power = 6 if found["short"] == "m" and money else power
        in_brackets = found["open"] and found["close"] and (money or "," in digits or found[0] == dated.strip())
        sign = -1 if found["minus"] or found["inner"] or in_brackets else 1
        for value in _values(digits, language):
            if len(digits) > _LONGEST:
                yield digits
            else:
                yield _written(sign * value.scaleb(power)) + ("%" if found["percent"] else "")


def _values(digits: str, language: str) -> list[Decimal]:
    """What digits with points and commas say: one number, or several where commas can only part them."""
    marks = [sign for sign in digits if sign in ".,"]
    group = "." if language in _DECIMAL_COMMA else ","
    if len(set(marks)) == 2:  # the last kind parts the decimals: 1.234,56
        whole, _, rest = digits.rpartition(marks[-1])
        return [Decimal(f"{re.sub('[.,]', '', whole)}.{rest}")]
    head, *parts = re.split("[.,]", digits)
    can_group = bool(parts) and all(len(part) == 3 for part in parts) and len(head) < 4 and head[:1] not in ("", "0")
    if len(marks) > 1:
        return [Decimal("".join([head, *parts]))] if can_group else [Decimal(part) for part in (head, *parts) if part]
    by_zeros = not language and digits.endswith(".000")  # nothing says which language it is: 2.000 is no decimal
    if can_group and (marks[0] == group or by_zeros):
        return [Decimal(head + parts[0])]
    return [Decimal(f"{head or 0}.{parts[0]}" if parts else head)]


def _in_words(text: str, values: dict[str, int]) -> Iterator[str]:
    said = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower())
    for word, following in zip(said, [*said[1:], ""], strict=False):
        tens, _, ones = word.partition("-")
        value = values.get(word)
        if value is None and values.get(tens, 0) >= 20 and 0 < values.get(ones, 0) < 10:
            value = values[tens] + values[ones]
        if value is not None:
            yield _written(Decimal(value).scaleb(_SCALES.get(following, 0) if len(following) > 1 else 0))


def _written(value: Decimal) -> str:
    return format(value.normalize(), "f") if value else "0"


# Counts with their nouns and verbs, as English wants them.

_MANY = {"is": "are", "was": "were", "has": "have"}


def counted(count: int, thing: str, verb: str = "") -> str:
    """A count with its noun, and its verb where one is given in the singular: `1 question was`, `2 questions were`."""
    return " ".join(word for word in (str(count), agree(count, thing, f"{thing}s"), _form(count, verb)) if word)


def share(part: int, whole: int, thing: str, verb: str = "") -> str:
    """A part of a count, with the verb of the part: `1 of 12 questions has`, `2 of 12 questions have`."""
    return " ".join(word for word in (f"{part} of {counted(whole, thing)}", _form(part, verb)) if word)


def listed(names: Sequence[str], most: int) -> str:
    """The names with commas; of many the first, and how many more there are: `a, b and 3 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def agree(count: float, one: str, many: str) -> str:
    """The form of a word that goes with the count: the first with 1, the second with any other."""
    return one if count == 1 else many


def _form(count: int, verb: str) -> str:
    return agree(count, verb, _MANY.get(verb, verb.removesuffix("s")))


def number_or_none(value: Any, most: float = 1e12) -> float | None:
    """The value as a number; None where it is none, or beyond the most: no score or time of a server is."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if abs(number) <= most else None
