"""How texts are compared: folded, cut into tokens, normalised as the official scripts of SQuAD and MLQA do it."""

import re
import string
import tomllib
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

_DATA = Path(__file__).resolve().parents[1] / "data"


@cache
def lists_of(name: str) -> dict[str, Any]:
    """Load the lists of words of `evals/data/NAME.toml`, which says what each holds."""
    return tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))


STOP_WORDS = frozenset(lists_of("language")["stop_words"].split())
"""Words of English that say nothing about what a text is about."""

NEGATORS = frozenset(" ".join(lists_of("language")["negators"].values()).split())
"""Words that turn a claim round, in fourteen languages."""

UNSPACED = (
    r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana and Han
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"  # Thai, Lao, Myanmar, Khmer
)
"""Characters of scripts without blanks between words: each counts as a token."""
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")

_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:[\u0300-\u036f\u0900-\u0dff]+[^\W_{UNSPACED}]+)*")
"""A character of an unspaced script, or a run of letters, digits and the marks between them."""

_WORDS = bytes(
    code | 32 if 65 <= code <= 90 else code if code > 127 or chr(code).isalnum() else 32 for code in range(256)
)
"""Of UTF-8, ASCII letters in lower case, blanks in the place of other ASCII signs, and all else as it is."""
_SIGNS = "’‘“”–—…•×°€£−\u00a0"
"""What most English texts have beyond ASCII, and is no letter and no digit."""

_STRAIGHT = str.maketrans({**dict.fromkeys("‘’‛′`", "'"), **dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‐‑", "-")})

LEFT_OUT = re.compile("[\u0610-\u061a\u064b-\u065f\u0670\u0640\u00ad\u200b-\u200f\u2060\ufeff]")
"""Arabic vowel marks and tatweel, soft hyphens, and characters without width."""

_MANY_MARKS = re.compile(r"([\u0300-\u036f]{30})[\u0300-\u036f]+")
"""Putting a run of combining marks into order takes its length squared: thirty are kept."""

_OTHER_DIGIT = re.compile(r"[^\D0-9]")


def fold(text: str) -> str:
    """One form of each letter, digit and quotation mark, in lower case, without what is not seen."""
    if text.isascii():
        return text.lower().replace("`", "'")
    return _unified(text).translate(_STRAIGHT)


def _unified(text: str) -> str:
    text = LEFT_OUT.sub("", unicodedata.normalize("NFKC", _MANY_MARKS.sub(r"\1", text)).casefold())
    return _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)


def tokens(text: str) -> tuple[str, ...]:
    """The words of a text, folded; punctuation, symbols and white space are in none."""
    if not text.isascii():
        for sign in _SIGNS:
            text = text.replace(sign, " ")
    if not text.isascii():  # bytes are cut many times faster than patterns find words, so only what must be is folded
        parts = text.split()
        text = " ".join(part if part.isascii() else " ".join(_TOKEN.findall(_unified(part))) for part in parts)
    return tuple(text.encode("utf-8", "surrogatepass").translate(_WORDS).decode("utf-8", "surrogatepass").split())


def framed(text: str) -> str:
    """The tokens joined and framed by blanks, so that `in` compares whole words."""
    return f" {' '.join(tokens(text))} "


ARTICLES = {
    "en": re.compile(r"\b(a|an|the)\b"),
    "de": re.compile(r"\b(ein|eine|einen|eines|einem|einer|der|die|das|den|dem|des)\b"),
    "es": re.compile(r"\b(un|una|unos|unas|el|la|los|las)\b"),
    "vi": re.compile(r"\b(của|là|cái|chiếc|những)\b"),
    "ar": re.compile(r"\sال^|ال"),
}
"""The articles that the scripts of SQuAD (en) and MLQA delete; none in a language that is not here."""

_ASCII_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))

_EASTERN = re.compile("[\u0590-\u10ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefc\uff01-\uffdc]")


@lru_cache(maxsize=1024)
def normalised(text: str, language: str = "en") -> str:
    """The text as SQuAD's script normalises it: lower case, no ASCII punctuation, no articles, single blanks.

    In another language than English, and where half of it is of scripts of the Middle East and of Asia, as MLQA's
    script does it: without punctuation of all scripts, and with tokens of one character in unspaced ones; and without
    Arabic vowel marks.
    Language: an ISO 639-1 code, whose articles are deleted.
    """
    if text.isascii() or (language == "en" and 2 * len(_EASTERN.findall(text)) <= len(text)):
        plain = text.lower().translate(_ASCII_PUNCTUATION)
    else:
        signs = (sign for sign in fold(text).translate(_ASCII_PUNCTUATION) if unicodedata.category(sign)[0] != "P")
        plain = UNSPACED_SIGN.sub(r" \g<0> ", "".join(signs))
    articles = ARTICLES.get(language)
    return " ".join((articles.sub(" ", plain) if articles else plain).split())
