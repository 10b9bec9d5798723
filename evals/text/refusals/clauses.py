"""The clauses of an answer, and of each word its stem and its classes in the answer's language."""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
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
_LIST_MARK = re.compile(r"\n[^\S\n]*(?:[-+•]|\d{1,2}[.)])[^\S\n]+")
_MARKDOWN = str.maketrans(dict.fromkeys("*_#>|~", " "))
_CANNOT = re.compile(r"can(?<=\bcan)(?:'?t|not)\b")
_VERBS = ("do", "does", "did", "is", "are", "was", "were", "could", "have", "has")
_JOINED = "|".join(rf"(?<=\b{verb}nt)" for verb in _VERBS)
_CONTRACTED_NOT = re.compile(rf"n(?:'t|t(?:{_JOINED}))\b")
_JOINING = (
    r"(?:but|however|although|though|while|so|aber|jedoch|sondern|daher|obwohl|mais|cependant|donc|pero|sino|aunque"
    r"|sin embargo|ma|quindi|mas|porem|embora|portanto)\b"
)
_BORDER = re.compile(rf"[\s,](?:(?<=[.!?;:]\s)\s*|(?<=\n)\n*|(?<=\s)[–—-]\s|(?:(?<=\s)|(?<=,)\s)(?={_JOINING}))")
_COMMA_WITHIN = re.compile(rf",(?!\s{_JOINING})")
"""These four begin with a character, not with what stands around it, as `re` finds characters fast."""
_TOKEN, _ASCII_TOKEN = (re.compile(rf"{letter}+1?|\d+|[?!%$€£,]") for letter in (r"[^\W\d_]", "[a-zA-Z]"))
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
        names: Of the label and of each class, as they are weighed.
    """

    stem: str
    classes: tuple[str, ...]
    label: str
    names: frozenset[str]


class Wording(NamedTuple):
    """What an answer says, without marks.

    Attributes:
        text: In lower case; clauses are cut from it.
        language: The code of one of `LANGUAGES`.
        words: In any order, once each, and a comma if one stands within a clause; none of an empty answer.
    """

    text: str
    language: str
    words: list[Word]


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
    text = text[:_LONGEST].lower()
    if text.isascii():
        return text.replace("`", "'")
    text = unicodedata.normalize("NFC", text.translate(_STRAIGHT))
    text = _HOMOGRAPH.sub(lambda match: _HOMOGRAPHS[match[0]], text)
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def wording_of(answer: str) -> Wording:
    """Read an answer; a quotation that is not most of it counts as a word, and citation marks count as none."""
    text = plain(answer)
    if "[" in text or "【" in text:
        text = _CITATION.sub(" ", text)
    if any(mark in text for mark in "\"«“„'"):
        unquoted = _QUOTATION.sub(" qquote ", text)
        text = unquoted if 2 * len(unquoted) > len(text) else text
    for phrase in _foreign_phrases(ascii_only=text.isascii()):
        if phrase in text:
            text = text.replace(phrase, f" {_FOREIGN} ")
    text = _CONTRACTED_NOT.sub(" not", _CANNOT.sub("can not", text))
    text = _LIST_MARK.sub("\n ", f"\n{text}").translate(_MARKDOWN)
    tokens = tokens_of(text)
    language = _language_of(tokens[:_LEADING])
    words = {*tokens} - {COMMA}
    if words and _COMMA_WITHIN.search(text):
        words.add(COMMA)
    return Wording(text, language, list(map(_reader(language), words)))


def clauses_of(wording: Wording) -> list[list[Word]]:
    """The words of each clause of an answer, and the commas between them."""
    clauses = (tokens_of(clause) for clause in _BORDER.split(wording.text))
    return [list(map(_reader(wording.language), tokens)) for tokens in clauses if {*tokens} - {COMMA}]


def tokens_of(text: str) -> list[str]:
    """The words, numbers and marks of a text that `plain` made, in order."""
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def _language_of(tokens: Iterable[str]) -> str:
    """The language most of whose function words are among the tokens."""
    words = set(tokens)
    return max(LANGUAGES, key=lambda language: len(words & _function_words(language)))


@cache
def _reader(language: str) -> Callable[[str], Word]:
    """Reads a word of a language, and keeps the most frequent."""
    return lru_cache(maxsize=4096)(partial(_word, language))


def _word(language: str, token: str) -> Word:
    if token == COMMA or token[0].isdigit():
        label = COMMA if token == COMMA else NUMBER
        return Word(token, (), label, _names(label))
    listed, sizes = _classes(language), range(3, min(len(token), 14) + 1)
    forms = [token, *(f"{token[:size]}*" for size in sizes), *(f"*{token[-size:]}" for size in sizes)]
    classes = tuple(sorted({name for form in forms for name in listed.get(form, ())}))
    label = "+".join(classes) or (FUNCTION if token in _function_words(language) else OTHER)
    return Word(token[:STEM], classes, label, _names(label, *classes))


@cache
def _names(*names: str) -> frozenset[str]:
    """The names of a label and of classes as they are weighed: most words share a few."""
    return frozenset(f"#{name}" for name in names)


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
def _foreign_phrases(*, ascii_only: bool) -> tuple[str, ...]:
    phrases = map(plain, lists_of("refusal_words")["elsewhere"])
    return tuple(phrase for phrase in phrases if phrase.isascii() or not ascii_only)
