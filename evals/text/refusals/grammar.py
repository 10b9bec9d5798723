"""How clauses decline: rules over the parts that their words play, the same for all languages.

The rules stand in `evals/data/refusals/grammar.toml`, which explains how they are written.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from evals.text.refusals.lexicon import GRAMMAR, Language

_STEP = re.compile(r"(?P<not>!?)(?P<letters>[^~!]+)(?:~(?P<gap>\d+))?")


RULES = tuple(
    rule for kind in ("speaker", "question", "sources", "asked", "said", "absence") for rule in GRAMMAR["rules"][kind]
)


class Found(NamedTuple):
    """Which words of a clause decline: the first, and the one behind the last."""

    start: int
    end: int


def declined(tags: str, language: Language) -> Found | None:
    """The words by which a clause declines, the earliest; None where it does not."""
    return _first(tags, (*RULES, *language.rules))


def unknown(tags: str, language: Language) -> Found | None:
    """The words by which a clause calls something unknown."""
    return _first(tags, (*GRAMMAR["rules"]["unknown"], *language.unknowns))


def elliptic(tags: str) -> Found | None:
    """The words by which a clause without a verb denies what was asked: "but not the height"."""
    return _first(tags, tuple(GRAMMAR["rules"]["elliptic"]))


def reports_of_source(tags: str) -> bool:
    """Whether a clause gives what a source says, in a clause of its own: "the text says that it was built in 1860"."""
    return _first(tags, ("s~3 t~1 U",)) is not None


def describes(tags: str) -> bool:
    """Whether a clause tells what a source says or holds."""
    return _first(tags, tuple(GRAMMAR["rules"]["describes"])) is not None


def _first(tags: str, rules: tuple[str, ...]) -> Found | None:
    found = _any(rules).search(tags)
    if found is None:
        return None
    return Found(tags.count(" ", 0, found.start() + 1) - 1, tags.count(" ", 0, found.end()))


@lru_cache(maxsize=64)
def _any(rules: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_pattern(rule)})" for rule in rules))


def _pattern(rule: str) -> str:
    pieces = []
    for step in rule.split():
        if step in "^$":
            pieces.append({"^": r"\A", "$": r"(?=\Z| ,)"}[step])
            continue
        found = _STEP.fullmatch(step)
        if found is None:
            raise ValueError(f"no rule: {rule}")
        word, gap = rf" [^ ]*[{found['letters']}][^ ]*", int(found["gap"] or 0)
        between = rf"(?: [^ ,]+){{0,{gap}}}?" if gap else ""
        pieces.append(f"(?!{between}{word})" if found["not"] else word + between)
    return "".join(pieces)
