"""How texts are compared: one normalisation and one tokenisation for all rules."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from html import unescape

from evals.text.remembered import remembered

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
    """The text with HTML entities as the signs that they stand for, without tags, and without marks that nobody sees.

    A soft hyphen goes with the end of the line that it stands at; an entity is one that ends in a semicolon. A raised
    number behind another number or a word is a word of its own.
    """
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    return text if text.isascii() else _RAISED.sub(" ", _UNSEEN.sub("", text))


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
