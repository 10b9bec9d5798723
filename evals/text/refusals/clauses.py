"""The clauses of an answer, and of each word its stem and its classes in the answer's language."""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple

from evals.text.tokens import lists_of

LANGUAGES = ("en", "de", "fr", "es", "it", "pt")
STEM = 6
"""Letters of a word that are weighed: most endings of the six languages lie behind them."""
FUNCTION, COMMA, NUMBER, OTHER = "function", ",", "0", "_"
"""The labels of words that have no class: function words, commas, numbers, and all others."""

_LONGEST = 20_000
_LEADING = 200
_STRAIGHT = str.maketrans("ß’‘`´", "s''''")
_HOMOGRAPHS = {"sé": "se1", "è": "e1", "é": "e1", "dà": "da1", "dá": "da1", "né": "ne1", "où": "ou1"}
_HOMOGRAPHS |= {"está": "esta1", "há": "ha1", "può": "puo1"}
_HOMOGRAPH = re.compile(rf"\b(?:{'|'.join(_HOMOGRAPHS)})\b")
_CITATION = re.compile(
    r"\[\^?\d[\d,;\s–-]{0,40}\]|【[^】\n]{1,40}】"
    r"|\[(?:sources?|docs?|documents?|passages?|chunks?|contexts?|refs?|pages?|p\.?)[ :.#]{0,2}\d[\d,\s-]{0,40}\]"
)
_QUOTATION = re.compile(r"\"[^\"]*\"|«[^«»]*»|“[^“”]*”|„[^„“”]*[“”]|(?<!\w)'[^'\n]{3,}'(?!\w)")
_MARKDOWN = re.compile(r"[*_#`>|~]+|^[^\S\n]*(?:[-+•]|\d{1,2}[.)])[^\S\n]+", re.MULTILINE)
_CANNOT = re.compile(r"\bcan(?:'?t|not)\b")
_CONTRACTED_NOT = re.compile(r"n't\b|\b(do|does|did|is|are|was|were|could|have|has)nt\b")
_BORDER = re.compile(
    r"(?<=[.!?;:])\s+|\n+|\s[–—-]\s|,?\s(?=(?:but|however|although|though|while|so|aber|jedoch|sondern|daher|obwohl|mais"
    r"|cependant|donc|pero|sino|aunque|sin embargo|ma|quindi|mas|porem|embora|portanto)\b)"
)
tokens_of = re.compile(r"[^\W\d_]+1?|\d+|[?!%$€£,]").findall
"""The words, numbers and marks of a text that `plain` made, in order."""
_FOREIGN = "qforeign"
"""Stands for a phrase that declines in a language without classes of words."""
_FENCE = re.compile(r"```[a-z]*\s*(\{.*\})\s*```", re.IGNORECASE | re.DOTALL)
_ANSWER_KEYS = ("answer", "response", "text", "result", "output")


class Word(NamedTuple):
    """A word of a clause.

    Attributes:
        stem: Its first letters, in lower case and without accents; all digits of a number.
        classes: The names of its classes; empty of a word that has none.
        label: The classes in one text; `FUNCTION`, `COMMA`, `NUMBER` or `OTHER` of a word that has none.
    """

    stem: str
    classes: tuple[str, ...]
    label: str


def unwrapped(answer: str) -> str:
    """The answer within a JSON object, bare or in a code fence; any other answer as it is."""
    text = answer.strip()
    if not text.startswith(("{", "```")):
        return answer
    fenced = _FENCE.fullmatch(text)
    try:
        value: Any = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return answer
    key = next((key for key in _ANSWER_KEYS if isinstance(value, dict) and key in value), None)
    return (value[key] or "") if key and isinstance(value[key], str | None) else answer


def plain(text: str) -> str:
    """The text in lower case and without accents, but in words that only an accent tells apart."""
    text = text[:_LONGEST].lower().translate(_STRAIGHT)
    if text.isascii():
        return text
    text = _HOMOGRAPH.sub(lambda match: _HOMOGRAPHS[match[0]], unicodedata.normalize("NFC", text))
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def clauses_of(answer: str) -> list[list[Word]]:
    """The words of each clause; a quotation that is not most of the answer is one word, and citation marks are none."""
    text = _CITATION.sub(" ", plain(answer))
    if any(mark in text for mark in "\"«“„'"):
        unquoted = _QUOTATION.sub(" qquote ", text)
        text = unquoted if 2 * len(unquoted) > len(text) else text
    for phrase in _foreign_phrases():
        if phrase in text:
            text = text.replace(phrase, f" {_FOREIGN} ")
    text = _CONTRACTED_NOT.sub(lambda match: f"{match[1] or ''} not", _CANNOT.sub("can not", text))
    text = _MARKDOWN.sub(" ", text)
    clauses = [tokens for tokens in map(tokens_of, _BORDER.split(text)) if set(tokens) - {COMMA}]
    language = _language_of(clauses)
    return [[_word(language, token) for token in tokens] for tokens in clauses]


def _language_of(clauses: Sequence[Sequence[str]]) -> str:
    """The language most of whose function words stand in the first words."""
    leading = set(list(chain.from_iterable(clauses))[:_LEADING])
    return max(LANGUAGES, key=lambda language: len(leading & _function_words(language)))


@lru_cache(maxsize=16384)
def _word(language: str, token: str) -> Word:
    if token == COMMA:
        return Word(token, (), COMMA)
    if token[0].isdigit():
        return Word(token, (), NUMBER)
    listed, sizes = _classes(language), range(3, min(len(token), 14) + 1)
    forms = [token, *(f"{token[:size]}*" for size in sizes), *(f"*{token[-size:]}" for size in sizes)]
    classes = tuple(sorted({name for form in forms for name in listed.get(form, ())}))
    return Word(token[:STEM], classes, "+".join(classes) or (FUNCTION if token in _function_words(language) else OTHER))


@cache
def _classes(language: str) -> Mapping[str, Sequence[str]]:
    """The classes of a word, of all that begin ("source*") and of all that end so ("*less")."""
    classes = defaultdict(list, {_FOREIGN: ["foreign"], "?": ["asks"]})
    for name, words in lists_of("refusal_words")[language].items():
        for word in words.split() if name != FUNCTION else ():
            classes[word].append(name)
    return classes


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset([*lists_of("refusal_words")[language][FUNCTION].split(), *_HOMOGRAPHS.values()])


@cache
def _foreign_phrases() -> tuple[str, ...]:
    return tuple(map(plain, lists_of("refusal_words")["elsewhere"]))
