"""Lexicons of refusals: the words and idioms of six languages by the part that they play where an answer declines.

They stand in `evals/data/refusals`, a TOML file for each language; `romance.toml` holds the rules that four share.
Words are separated by white space, folded and without accents; "refer*" stands for all words that begin so.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "refusals"


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


GRAMMAR: Mapping[str, Any] = _read("grammar")
ROLES: Mapping[str, str] = GRAMMAR["roles"]
"""The letter of each part, of which the rules of the grammar are made."""

_PATTERNS: Mapping[str, str] = _read("patterns")


def pattern(name: str) -> re.Pattern[str]:
    """Compile a pattern of `patterns.toml`, which explains each."""
    return re.compile(_PATTERNS[name].replace("\n", ""))


@dataclass(frozen=True, slots=True)
class Language:
    """A language.

    Attributes:
        code: By ISO 639-1.
        function: Words that say nothing about what is spoken of, separated by white space.
        words: By part, separated by blanks, folded and without accents; "mention*" stands for all words that begin so.
            A word may play several parts.
        declines: Idioms that decline by themselves, as patterns of a folded clause.
        hints: Words of which one is in every idiom that holds no word of denying: only there idioms are looked for.
        but: Conjunctions that part clauses, as patterns.
        however: Adverbs that do so behind a comma, as patterns.
        hence: What draws a conclusion behind a comma, as patterns.
        courtesy: Offers, advice and thanks, as patterns.
        referrals: What behind words that decline only points elsewhere ("your doctor can tell you"), as patterns.
        openers: What may begin a sentence without changing what it says, as patterns.
        although: Conjunctions that begin a concession ("although"), as patterns.
        guesses: Marks of a guess or a conclusion, as patterns.
        maybe: Marks of a mere possibility, as patterns.
        reasons: Conjunctions that begin a reason ("because the page is missing, …"), as patterns.
        conditions: What begins a condition that comes first ("if no file is found, …"), as patterns.
        because: What begins a reason behind what it is the reason for, as patterns.
        apart: What begins a clause of its own without a mark before it ("without naming the winner"), as patterns.
        reports: Marks that somebody else is said to decline, or a condition, as patterns.
        rules: Of the grammar, for this language only.
        bare: Whole answers that decline in a word or two, as patterns.
        quantity: Questions that only a number answers, as patterns.
        numbers: Words for numbers, separated by blanks.
        doers: The beginnings of nouns for him who did something: "winner", "author".
        signs: Words by which a refusal is known that no rule reads, by what they are a sign of.
        asked: What a question asks for, by its pattern: the beginnings of nouns for it; "DOERS" stands for those.
    """

    code: str
    function: str
    words: Mapping[str, str]
    declines: tuple[str, ...] = ()
    hints: str = ""
    but: tuple[str, ...] = ()
    however: tuple[str, ...] = ()
    hence: tuple[str, ...] = ()
    courtesy: tuple[str, ...] = ()
    referrals: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    although: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()
    relative: tuple[str, ...] = ()
    quantity: tuple[str, ...] = ()
    numbers: str = ""
    doers: str = ""
    asked: Mapping[str, str] = field(default_factory=dict)
    signs: Mapping[str, str] = field(default_factory=dict)


def _load(code: str) -> Language:
    """The lexicon of a language by its code in ISO 639-1."""
    read = _read(code)
    if family := read.pop("family", None):
        read["rules"] = _read(family)["rules"] + read["rules"]
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in read.items()}
    return Language(**fields)


LANGUAGES: tuple[Language, ...] = tuple(map(_load, ("en", "de", "fr", "es", "it", "pt")))
"""English first: its signs name the bits of all."""
