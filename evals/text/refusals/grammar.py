"""Grammar of refusals: rules over word classes, the same for all languages.

The rules stand in `evals/data/refusals/grammar.toml`, which explains how they are written.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from evals.text.refusals.lexicon import GRAMMAR, Lexicon

_STEP = re.compile(r"(?P<not>!?)(?P<letters>[^~!]+)(?:~(?P<gap>\d+))?")


RULES = tuple(
    rule for kind in ("speaker", "question", "sources", "asked", "said", "absence") for rule in GRAMMAR["rules"][kind]
)


def declined(tags: str, lexicon: Lexicon) -> int | None:
    """The place behind the words by which a clause declines, the earliest; None where it does not."""
    return _end(tags, (*RULES, *lexicon.rules)) or _end(tags, (*GRAMMAR["rules"]["unknown"], *lexicon.unknowns))


def describes(tags: str) -> bool:
    """Whether a clause tells what a source says or holds."""
    return _end(tags, tuple(GRAMMAR["rules"]["describes"])) is not None


def _end(tags: str, rules: tuple[str, ...]) -> int | None:
    found = _any(rules).search(tags)
    return tags.count(" ", 0, found.end()) if found else None


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
