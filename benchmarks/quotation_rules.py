"""Quotations made of passages by rules: what copying may change, and what it must not.

Each rule makes one quotation of a passage, or none where the passage has nothing of its kind.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_SENTENCE = re.compile(r"[^.!?]+(?:\.\d[^.!?]*)*[.!?]")
_NEGATION = re.compile(r" (?:not|no|never|without) (?=\w)")
_VERB = re.compile(r" (?:is|are|may|must|can|was|were|will) ")
_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?![\d.,]*\d)")
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}),(\d{3})(?![\d,]|\.\d)")
_PERCENT = re.compile(r"(\d) ?(?:%|percent\b|per cent\b)")
_ARTICLE = re.compile(r"(?<=[a-z,] )(?:the|an|a) (?=[a-z])")
_ASIDE = re.compile(r" \((?!except|only|if|unless|not |no |without)[a-z ]+\)")


@dataclass(frozen=True)
class Passage:
    """A section of a document.

    Attributes:
        text: All of it, the heading included.
        sentences: Of its prose, those of eight words and more.
        table: Its rows, the header first; empty where there is no table.
    """

    text: str
    sentences: list[str]
    table: list[list[str]]


Rule = Callable[[Passage, random.Random], str | None]


def passage_of(text: str) -> Passage:
    """The parts of a section of Markdown."""
    lines = text.strip().splitlines()
    rows = [[cell.strip() for cell in line.strip(" |").split("|")] for line in lines if line.startswith("|")]
    prose = " ".join(line for line in lines if line and line[0] not in "#|*-")
    sentences = [one.strip() for one in _SENTENCE.findall(prose) if len(one.split()) >= 8]
    return Passage(text.strip(), sentences, [row for row in rows if set("".join(row)) - set("-: ")])


def sections(document: str) -> Iterator[str]:
    """The sections of a Markdown document, each with its heading."""
    yield from (part.strip() for part in re.split(r"(?m)^(?=#)", document) if len(part.split()) > 12)


def _two(passage: Passage, rng: random.Random) -> tuple[str, str] | None:
    """Two clauses that stand apart."""
    if len(passage.sentences) < 3:
        return None
    first, last = sorted(rng.sample(range(len(passage.sentences)), 2))
    return passage.sentences[first].rstrip(".!?"), passage.sentences[last].rstrip(".!?")


def _joined(form: str) -> Rule:
    def rule(passage: Passage, rng: random.Random) -> str | None:
        two = _two(passage, rng)
        return form.format(*two) if two else None

    return rule


def _changed(pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> Rule:
    """A sentence in which the first thing of a kind is written otherwise."""

    def rule(passage: Passage, rng: random.Random) -> str | None:
        fitting = [one for one in passage.sentences if pattern.search(one)]
        return pattern.sub(by, rng.choice(fitting), count=1) if fitting else None

    return rule


def _sentence(passage: Passage, rng: random.Random) -> str | None:
    return rng.choice(passage.sentences) if passage.sentences else None


def _dressed(passage: Passage, rng: random.Random) -> str | None:
    one = _sentence(passage, rng)
    return f"“{'  '.join(one.upper().rstrip('.').split())}”" if one else None


def _bracketed_letter(passage: Passage, rng: random.Random) -> str | None:
    one = _sentence(passage, rng)
    return f"[{one[0].lower()}]{one[1:]}" if one and one[0].isupper() and one[1].islower() else None


def _left_out(passage: Passage, rng: random.Random) -> str | None:
    words = (_sentence(passage, rng) or "").split()
    says_nothing = not any(len(word) > 5 for word in words[:3])
    if len(words) < 10 or says_nothing or _NEGATION.search(f" {' '.join(words[3:7])} "):
        return None
    return f"{' '.join(words[:3])} … {' '.join(words[7:])}"


def _row(passage: Passage, rng: random.Random) -> tuple[list[str], list[str]] | None:
    """The header and a row of the table whose cells all say something."""
    full = [row for row in passage.table[1:] if len(row) == len(passage.table[0]) >= 3 and all(row)]
    return (passage.table[0], rng.choice(full)) if full else None


def _misnamed_cells(passage: Passage, rng: random.Random) -> str | None:
    found = _row(passage, rng)
    if not found or found[1][1] == found[1][-1]:
        return None
    return f"{found[1][0]}, {found[0][1]}: {found[1][-1]}"


def _cells_of_two_rows(passage: Passage, rng: random.Random) -> str | None:
    rows = [row for row in passage.table[1:] if len(row) >= 3]
    pairs = [(one, two) for one in rows for two in rows if one[0] != two[0] and two[-1] not in one]
    if not pairs:
        return None
    one, two = rng.choice(pairs)
    return f"{one[0]} | {two[-1]}"


def _shuffled(passage: Passage, rng: random.Random, joint: str = " ") -> str | None:
    words = (_sentence(passage, rng) or "").rstrip(".").split()
    if len(words) < 8:
        return None
    mixed = rng.sample(words, len(words))
    half = len(mixed) // 2
    return f"{' '.join(mixed[:half])}{joint}{' '.join(mixed[half:])}"


def _another_number(found: re.Match[str]) -> str:
    return str(int(found[0]) + 7)


def _other_word(passage: Passage, rng: random.Random) -> str | None:
    words = (_sentence(passage, rng) or "").split()
    long = [n for n, word in enumerate(words) if len(word) > 6 and word.isalpha()]
    if not long:
        return None
    words[rng.choice(long)] = "quarterly"
    return " ".join(words)


def _with(rule: Rule, form: str) -> Rule:
    """What a rule makes, behind something that does stand in the passage."""

    def combined(passage: Passage, rng: random.Random) -> str | None:
        altered = rule(passage, rng)
        if altered is None or not passage.sentences:
            return None
        return form.format(passage.sentences[0].rstrip("."), altered.rstrip("."))

    return combined


FOUND: Mapping[str, Rule] = {
    "as it stands": _sentence,
    "case, space and marks": _dressed,
    "joined by ;": _joined("{}; {}"),
    "joined by ; in another order": _joined("{1}; {0}"),
    "joined by /": _joined("{} / {}"),
    "joined by and": _joined('"{}" and "{}"'),
    "joined by brackets": _joined("[{}] [{}]"),
    "a letter in brackets": _bracketed_letter,
    "an aside in brackets left out": _changed(_ASIDE, ""),
    "something left out": _left_out,
    "an article dropped": _changed(_ARTICLE, ""),
    "1,000 as 1000": _changed(_THOUSANDS, r"\1\2"),
    "5% as 5 percent": _changed(_PERCENT, lambda found: f"{found[1]} percent"),
    "5 percent as 5 %": _changed(_PERCENT, lambda found: f"{found[1]} %"),
}
"""Each is to be found."""

ALTERED: Mapping[str, Rule] = {
    "a number changed": _changed(_NUMBER, _another_number),
    "a number changed behind ;": _with(_changed(_NUMBER, _another_number), "{}; {}"),
    "a number changed behind and": _with(_changed(_NUMBER, _another_number), '"{}" and "{}"'),
    "1,000 as 100": _changed(_THOUSANDS, lambda found: f"{found[1]}{found[2][:2]}"),
    "1,000 as 10000": _changed(_THOUSANDS, r"\1,\g<2>0"),
    "5% as 6 percent": _changed(_PERCENT, lambda found: f"{(int(found[1]) + 1) % 10} percent"),
    "5% as 5": _changed(_PERCENT, r"\1"),
    "a negation out": _changed(_NEGATION, " "),
    "a negation out for ;": _changed(_NEGATION, "; "),
    "a negation out for /": _changed(_NEGATION, " / "),
    "a negation out for and": _changed(_NEGATION, '" and "'),
    "a negation out for a break": _changed(_NEGATION, "\n"),
    "a negation out for …": _changed(_NEGATION, " … "),
    "a negation out for [...]": _changed(_NEGATION, " [...] "),
    "a negation in": _changed(_VERB, lambda found: f"{found[0]}not "),
    "a negation in brackets": _changed(_VERB, lambda found: f"{found[0]}[not] "),
    "a negation in behind ;": _with(_changed(_VERB, lambda found: f"{found[0]}not "), "{}; {}"),
    "words shuffled": _shuffled,
    "words shuffled about ;": lambda passage, rng: _shuffled(passage, rng, "; "),
    "words shuffled about …": lambda passage, rng: _shuffled(passage, rng, " … "),
    "another word": _other_word,
    "cells of two rows": _cells_of_two_rows,
    "a cell of another column": _misnamed_cells,
}
"""None is to be found."""
