"""How clauses decline: rules over the parts that their words play, the same for all languages.

A rule is a row of words, each by the letters (`languages.base.ROLES`) of parts of which it must play one; "~3" lets up
to three words stand between it and the next. "^" and "$" are the beginning and the end of the clause, "!" before
letters wants none of them next. No rule goes over a comma unless it names it.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from evals.text.refusals.lexicon import Language

_STEP = re.compile(r"(?P<not>!?)(?P<letters>[^~!]+)(?:~(?P<gap>\d+))?")


_SPEAKER = (
    "i~4 n",  # I do not, I cannot
    "i~7 n~3 fohtH",
    "i~6 k~5 f",
    "i~3 fH~1 k~2 aA",  # I have no information
    "i~3 fH~1 k $",
    "i~3 fH~1 k .PVUY",
    "i~1 b~2 x",
    "i~1 l",  # me falta
    "l~1 i",
    "i~3 u~2 foh",  # I am unable to help
    "^ u~2 foH",
    "j~5 n~4 f",  # we do not know
    "j~3 H~2 k~3 aA",
)
"""He who answers says that he cannot."""


_QUESTION = (
    "m~1 n~1 b~2 fp",  # cannot be determined
    "n~1 m~1 b~2 fp",
    "k~3 m~1 b~1 fp",
    "n~3 i~2 m~1 f",
    "^ m~2 n~3 fo",
    "^ n~1 m~2 fo",
    "d~2 n~1 mu~2 f",  # it is not possible to say
    "d~1 b~2 u~2 f",
    "u~3 f~12 s",
    "m~4 n~3 f~10 s",
    "s~8 m~5 n~3 f",
    "q~4 n~3 fgp",  # the question cannot be answered
    "n~2 f~3 q",
    "q~3 x",
    "a~1 m~4 n~2 fo",
)
"""The question cannot be answered."""


_SOURCES = (
    "s~7 n~3 tp",  # the documents do not say
    "^ d~3 n~3 t",
    "c~5 n~3 t",
    "s~7 n~3 h",
    "c~4 n~3 h~3 aA",
    "^ d~3 n~3 h",
    "d~2 thH~3 k~3 aA",
    "d~1 n~1 h~2 aA",
    "s~5 k~3 t",
    "n~2 D~6 s",
    "s~6 n~2 D",
    "n~2 v",  # does not appear
    "^ .PVUY~1 n~2 t",
    "^ .PVUY~1 n~1 f $",
    "s~5 thH~3 k~3 aAr",  # the documents hold no information
    "s~5 tH~2 k .PVUY",
    "s~5 t~2 k $",
    "sc~3 b~3 l",
    "d~1 b~1 l",
    "s~3 l",
    "a~3 l",
    "l~2 as",
    "n~4 s~2 th",  # is not something that the text tells
    "da~1 b~1 n .PVUY~2 s",  # it is not in the manual
    "k .PVUY~1 d~4 s",
    "k .PVUYd~2 s",  # nothing in the text, none of the documents
    "^ k th",
    "S~8 n~6 waqY",
    "waq~8 S~4 n",
    "S~4 n $",
    "n~2 R~4 s",
    "^ k~1 aA~6 m~1 b~1 fgp",
    "^ n .PVUY~1 s~6 t",
    "^ k~2 i~1 m",
    "k~2 n~1 b~1 pt",
    "k P d~2 thfm",
    "th~2 s~2 k",
    "a~3 n~2 b~1 grpX",
    "n~5 P~2 S",
    "n~2 b~2 g~1 P~2 s",
    "^ n~3 s~4 t",  # neither of the two pages says
    "^ n~3 s~3 h~3 Q",
    "k~2 s~3 t",  # no source says
    "O~4 s",
    "W~5 t",  # without saying
    "W~5 h~3 Q",
    "b~1 n~1 P d $",  # is not in it
    "e~1 b~1 k Y",  # there is nothing on it
    "th~1 k Y",
    "^ k~8 t~1 Y",
    "e~1 b~1 n~2 P~2 Q",
    "l~4 as",
    "^ _~3 k a $",
    "^ _~3 n p $",
    "e~3 k~6 P~2 s",  # there is no such table among the pages
    "O~5 ysi",  # outside my scope
    "q~4 O",
    "n~3 i~2 H~2 a",
    "n~1 m~1 P~3 aS",
    "b~1 n~1 P~2 s",  # is not in the manual
    "^ PY~7 , k",  # of its height, nothing
    "^ PY~4 k~1 a",
    "Y~5 l",
)
"""The sources do not say."""


_ASKED = (
    "n~3 t~4 Q",  # does not state the height that was asked for
    "n~2 h~2 Q",
    "t~2 k~3 Q",
    "h~2 k~3 Q",
    "i~5 fH~3 k~3 Q",
    "l~3 Q",  # silent on the height
    "n~2 v~4 Q",
    "Q~2 b~1 l",
    "pt~12 , n~3 Q",  # describes the width, not the height
    "s~12 , n~3 Q",
)
"""What was asked is not told, whoever does not tell it."""


_ELLIPTIC = ("^ n~2 w", "^ n~3 Q", "^ k~3 Q", "^ n . _~2 $", "Q~2 n $")
"""Of the width, "but not the height": with no verb of its own, behind what the sources hold instead."""


_SAID = (
    "b~3 N",  # remains unspecified
    "^ N $",
    "^ k~2 aAs~2 b~1 gf",
    "b~2 n~2 p",  # is not mentioned
    "^ n~2 pg",
    "n~1 b~2 p",
    "k~3 b~1 g~6 s",
    "k~3 b~1 p",  # no height is given
    "k~2 aA~3 b~1 pg",
    "n H r~2 aA",
    "n~1 r P~2 s",  # is not available in the documents
    "a~5 b~1 n~2 rg",  # information is not available
    "A~3 b~1 n~1 r",
    "^ A n~1 rg",
    "aA~3 b~1 x",
    "^ a~2 n~1 rgpf",
)
"""What was asked is not said."""


_ABSENCE = (
    "e~2 n~3 r~2 aA",
    "e~2 k~3 a",
    "e~2 k~3 A",
    "^ k~2 aA !_",
    "n r~2 aA",  # not enough information
    "^ x P~2 s",
    "^ x~1 aA $",
    "^ x~1 aA .PVUY f",
    "^ aA x",
    "e~2 k~2 e",
    "e~2 k .PVUY~2 s",
    "e~2 k~5 m~4 f",
)
"""There is no information."""


_UNKNOWN = ("b~3 x", "b~2 n~2 X", "^ n~1 X", "^ x $", "^ x w", "d~1 b~2 x")
"""It is unknown."""


_DESCRIBES = ("s~4 B", "^ d~2 B", "^ d~2 t", "s~5 b~2 Y", "^ .~2 B~1 w", "^ i HG", "^ G")
"""What the sources hold instead."""

RULES = (*_SPEAKER, *_QUESTION, *_SOURCES, *_ASKED, *_SAID, *_ABSENCE)


class Found(NamedTuple):
    """Which words of a clause decline: the first, and the one behind the last."""

    start: int
    end: int


def declined(tags: str, language: Language) -> Found | None:
    """The words by which a clause declines, the earliest; None where it does not."""
    return _first(tags, (*RULES, *language.rules))


def unknown(tags: str, language: Language) -> Found | None:
    """The words by which a clause calls something unknown."""
    return _first(tags, (*_UNKNOWN, *language.unknowns))


def elliptic(tags: str) -> Found | None:
    """The words by which a clause without a verb denies what was asked: "but not the height"."""
    return _first(tags, _ELLIPTIC)


def reports_of_source(tags: str) -> bool:
    """Whether a clause gives what a source says, in a clause of its own: "the text says that it was built in 1860"."""
    return _first(tags, ("s~3 t~1 U",)) is not None


def describes(tags: str) -> bool:
    """Whether a clause tells what a source says or holds."""
    return _first(tags, _DESCRIBES) is not None


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
