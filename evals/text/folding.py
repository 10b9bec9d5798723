"""Normalisation and tokenisation, the same for all rules."""

import re
import tomllib
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, update_wrapper
from hashlib import blake2b
from html import unescape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

_DATA = Path(__file__).resolve().parents[1] / "data"


def lists_of(name: str) -> dict[str, Any]:
    """Load the lists of words of `evals/data/NAME.toml`, which says what each holds."""
    return tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))


ENGLISH: Mapping[str, str] = lists_of("english")
STOP_WORDS, BEFORE_NAMES, ANYWHERE, BEFORE_NUMBERS, STARTERS = (
    frozenset(ENGLISH[name].split())
    for name in ("stop_words", "before_names", "anywhere", "before_numbers", "starters")
)


# Texts told apart by 64 bits of their hash, where there may be too many of them to be held.


_BYTES = 8


_MOST_DOUBLE = 1 << 14
"""This many hashes at least are collected before those that came twice are dropped."""


_AT_ONCE = 1 << 16
"""This many are compared at once: as objects they take ten times as much as packed. NumPy's import takes 20 MB."""


def hash64(text: str) -> int:
    """The first 64 bits of a text's BLAKE2b hash: of a million texts, two share theirs in one of forty million runs."""
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=_BYTES).digest())


class Hashes:
    """A set of hashes, of each of which some eight bytes are held."""

    def __init__(self) -> None:
        self._all = array("Q")
        self._most = _MOST_DOUBLE

    def __bool__(self) -> bool:
        return bool(self._all)

    def update(self, hashes: Iterable[int]) -> None:
        """Add some."""
        self._all.extend(hashes)
        if len(self._all) > self._most:
            self._all = array("Q", chain.from_iterable(self._parts(1 + len(self._all) // _AT_ONCE)))
            self._most = max(_MOST_DOUBLE, 2 * len(self._all))

    def in_both(self, other: "Hashes") -> bytes:
        """Those that another set has too, packed: `holds` looks into them."""
        parts = 1 + (len(self._all) + len(other._all)) // _AT_ONCE
        both = zip(self._parts(parts), other._parts(parts), strict=True)
        return array("Q", sorted(one for mine, theirs in both for one in mine & theirs)).tobytes()

    def _parts(self, parts: int) -> Iterator[set[int]]:
        """The distinct hashes in this many sets, one after the other."""
        return ({one for one in self._all if one % parts == number} for number in range(parts))


def holds(packed: bytes, wanted: int) -> bool:
    """Whether a hash is among those that `Hashes.in_both` packed, each as eight bytes and in their order."""
    hashes = memoryview(packed).cast("Q")
    place = bisect_left(hashes, wanted)
    return place < len(hashes) and hashes[place] == wanted


# Remembering what was derived of texts, within a bound of characters instead of a number of texts.


T = TypeVar("T")


_OF_EACH = 64
"""Characters that a text counts for on top of its own: an entry takes its place, however short the text."""


class BoundedCache(dict[str, T], Generic[T]):
    """A function of a text that remembers its results, and forgets them all when there is no room for another.

    It is the dictionary of its results, so that what is remembered is found without a step of Python's. Threads may use
    it at once: the worst is that something is derived twice. A text that is too long is remembered until the next one.

    Args:
        function: Gives the same for the same text.
        most: As many characters of texts are remembered, counting 64 for each text in addition to its own.
    """

    def __init__(self, function: Callable[[str], T], most: int) -> None:
        super().__init__()
        update_wrapper(self, function)
        self.function = function
        self.characters = 0
        self._most = most

    if TYPE_CHECKING:

        def __call__(self, text: str) -> T:
            """The result, derived or remembered."""
    else:
        __call__ = dict.__getitem__

    def __missing__(self, text: str) -> T:
        self[text] = result = self.function(text)
        self.characters += len(text) + _OF_EACH
        if self.characters > self._most:
            self.clear()
            self[text] = result
            self.characters = len(text) + _OF_EACH
        return result

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self.characters = 0


def remembered(characters: int) -> Callable[[Callable[[str], T]], BoundedCache[T]]:
    """Decorate a function of a text: this many characters of texts are remembered with their results."""
    return lambda function: BoundedCache(function, characters)


# Ways to write a word or a name that do not change it: dots of abbreviations, accents, the family name first.


_DOTTED = re.compile(
    r"(?<![\w.])(?:(?:[^\W\d_]{1,2}\.)+[^\W\d_](?:\.|(?!\w))|[A-Z]\.(?: [A-Z]\.)+)"
    r"(?P<next>\s++(?:(?P<word>[A-Z][a-z]*)\b|\Z)|\Z)?"
)

_LETTER_AFTER_DOT = re.compile(r"\. ?[^\W\d_](?!\w)")

_BETWEEN_CLAUSES = frozenset({"i.e.", "e.g."})

_ACCENT = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")

_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})

_PARTICLES = r"(?:(?:van|von|de|da|del|der|den|di|la|le|bin|al) ){0,3}"

_FAMILY = rf"{_PARTICLES}[A-Z][\w'’-]+"

_GIVEN = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]*\.?){0,2}"

_NAME = re.compile(rf"(?P<given>{_GIVEN}) (?P<family>{_FAMILY})")

_FAMILY_FIRST = re.compile(rf"(?P<family>{_FAMILY}), (?P<given>{_GIVEN})")


def undotted(text: str) -> str:
    """The text without the dots of abbreviations and initials: D.C. is DC, J. K. is JK; a full stop stays."""
    return _DOTTED.sub(_joined, text) if _LETTER_AFTER_DOT.search(text) else text


def _joined(found: re.Match[str]) -> str:
    behind = found["next"] or ""
    dotted = found[0][: len(found[0]) - len(behind)]
    if dotted in _BETWEEN_CLAUSES:
        return found[0]
    ends = found["next"] is not None and (found["word"] is None or found["word"].lower() in STARTERS)
    return f"{dotted.replace('.', '').replace(' ', '')}{'.' if ends and dotted.endswith('.') else ''}{behind}"


def unaccented(folded: str) -> str:
    """The text, in lower case, without accents on Latin letters; marks of other scripts make other letters."""
    if folded.isascii():
        return folded
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare).translate(_STROKES)


def given_name_first(name: str) -> str | None:
    """`Marie Curie` for a text that is `Curie, Marie` and nothing else, else None."""
    found = _FAMILY_FIRST.fullmatch(name.strip())
    return f"{found['given']} {found['family']}" if found else None


def with_name_turned(text: str, name: str) -> str:
    """The text with `Marie Curie` for `Curie, Marie` where the name is the first of them."""
    if ", " not in text:
        return text
    pattern = _family_first(name.strip(" ."))
    return pattern.sub(lambda _: name, text) if pattern else text


@lru_cache(maxsize=1024)
def _family_first(name: str) -> re.Pattern[str] | None:
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return re.compile(rf"\b{re.escape(found['family'])}, {re.escape(found['given'])}(?!\w)", re.IGNORECASE)


_QUOTES = {"‘": "'", "’": "'", "‛": "'", "′": "'", "`": "'", "“": '"', "”": '"', "„": '"'}


# Scripts written without spaces count one character as one token; all others one run of word characters.
UNSPACED = (
    r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana and Han
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"  # Thai, Lao, Myanmar, Khmer
)

_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")

_MARKDOWN = re.compile(r"[*_#>|~]+|^[^\S\n]*+[-+]\s+", re.MULTILINE)


# Marks that belong to the letter before them: more than Unicode's stream-safe format lets stand in a row.
_WIDE_MARKS = "\uff9e\uff9f"  # letters that NFKC turns into marks

_MARKS = re.compile(rf"(?:[^\w\s\x00-\x7f]|[{_WIDE_MARKS}]){{31,}}")

_MOST_MARKS = 30

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

_OTHER_DIGIT = re.compile(r"[^\D0-9]")

_UNSEEN = re.compile(r"\u00ad(?:[^\S\n]*\n[^\S\n]*)?|[\u200b\u2060\ufeff]")


_TAG = re.compile(
    r"</?(?:table|thead|tbody|tfoot|tr|t[dh]|p|br|hr|div|span|[biua]|em|strong|[uo]l|li|h[1-6]|su[bp]|code|pre|blockquote|"
    r"section|article|figure|caption|html|head|body)(?:\s+[a-z-]+\s*=[^<>]*)?\s*/?>",
    re.IGNORECASE,
)


_RAISED = re.compile(r"(?:(?<=\d)|(?<=[^\W\d_]{3}))(?=[\u00b9\u00b2\u00b3\u2070-\u2079])")
"""Where the number of a footnote begins, or a power of a number: "in 2019¹", not "m²"."""

_RARE = re.compile(r"[\u00ad\u200b\u2060\ufeff\u00b9\u00b2\u00b3\u2070-\u2079]")
"""What either of the two needs: few texts hold it, and looking for it takes a fifth of their time."""


_ASCII_WORDS = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(256))
"""For ASCII text, which most is: a blank for each sign that is in no word."""


_CACHE = 100_000
"""Characters of texts that are remembered, of each function here."""


def fold(text: str) -> str:
    """Lower-case the text, unify Unicode forms, straighten apostrophes and quotation marks.

    Decimal digits of all scripts become those of ASCII, which NFKC leaves as they are: ٢٤٠ is 240.
    Of combining marks in a row the first 30 are kept (`with_few_marks`).
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    text = unicodedata.normalize("NFKC", with_few_marks(text)).casefold()
    for quote, plain_one in _QUOTES.items():  # a tenth of the time of `translate`
        text = text.replace(quote, plain_one)
    return _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)


def with_few_marks(text: str) -> str:
    """The text with no more than 30 combining marks in a row: putting a run into order takes its length squared."""
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    return _MARKS.sub(_capped, text) if foreign > _MOST_MARKS else text


def _capped(run: re.Match[str]) -> str:
    """A run of signs without the combining marks of which more than 30 stand before them in a row."""
    kept: list[str] = []
    marks = 0
    for sign in run[0]:
        marks = marks + 1 if unicodedata.combining(sign) or sign in _WIDE_MARKS else 0
        if marks <= _MOST_MARKS:
            kept.append(sign)
    return "".join(kept)


def plain(text: str) -> str:
    """Fold the text, drop Markdown marks and collapse white space."""
    return " ".join(_MARKDOWN.sub(" ", fold(text)).split())


def readable(text: str) -> str:
    """The text with HTML entities as the signs that they stand for, without tags, and without invisible marks.

    A soft hyphen goes with the end of the line that it stands at; an entity is one that ends in a semicolon. A raised
    number behind another number or a word is a word of its own.
    """
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    if text.isascii() or not _RARE.search(text):
        return text
    return _RAISED.sub(" ", _UNSEEN.sub("", text))


@remembered(_CACHE)
def tokens(text: str) -> tuple[str, ...]:
    """Return the text's word tokens, readable and folded; punctuation and white space do not count."""
    folded = fold(readable(text))
    words = _plain_words(folded) if folded.isascii() else _TOKEN.findall(folded)
    if "_" in folded:  # inside a word it belongs to it, at its ends it is Markdown's emphasis
        words = [word for word in (word.strip("_") for word in words) if word]
    return tuple(words)


def _plain_words(folded: str) -> list[str]:
    """The words of ASCII text: bytes are changed and split in less than half of the time of a search."""
    return folded.encode().translate(_ASCII_WORDS).decode().split()


@remembered(_CACHE)
def padded(text: str) -> str:
    """Return the tokens joined and framed by blanks, so that `in` compares whole words."""
    return f" {' '.join(tokens(text))} "


@remembered(_CACHE)
def bag(text: str) -> Mapping[str, int]:
    """Count the text's tokens."""
    return Counter(tokens(text))
