"""Prompt injection: text in the data that tries to speak to the judge, found by the patterns of a data file.

Patterns need nothing but the text; classifiers of prompt injection are models to be downloaded.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

_PATTERNS = Path(__file__).resolve().parents[1] / "data" / "injection.toml"

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+"
)

_LINE_END = re.compile(r" ?[\r\n]\s*")

_BLANK = re.compile(r"[^\S\r\n]+")


def looks_injected(data: dict[str, Any]) -> bool:
    """Whether something in the data looks like an instruction to a judge, by patterns alone.

    Invisible characters hide no instruction, neither inside its words nor between them.
    """
    return any(_is_instruction(reading) for text in _texts(data) for reading in _readings(text))


def _is_instruction(text: str) -> bool:
    lower = text.lower()
    return any(pattern.search(text) for words, pattern in _patterns() if any(word in lower for word in words))


@cache
def _patterns() -> list[tuple[list[str], re.Pattern[str]]]:
    """The patterns, each with words of which a text must hold one."""
    read = tomllib.loads(_PATTERNS.read_text(encoding="utf-8"))
    fragments: dict[str, str] = {}

    def filled(pattern: str) -> str:
        return re.sub(r"<([a-z_]+)>", lambda found: fragments[found[1]], pattern)

    for name, fragment in read["fragments"].items():
        fragments[name] = filled(fragment)
    return [(each["words"], re.compile(filled(each["pattern"]), re.IGNORECASE)) for each in read["patterns"]]


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for inner in part.values():
            yield from _texts(inner)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _texts(inner)


def _readings(text: str) -> Iterator[str]:
    """The text as a model may read it: in plain letters, and invisible characters as nothing or as gaps."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    yield _even(_INVISIBLE.sub("", plain))
    if _INVISIBLE.search(plain):
        yield _even(_INVISIBLE.sub(" ", plain))


def _even(text: str) -> str:
    """The text with single spaces and line ends, so that long gaps neither hide an instruction nor slow the search."""
    return _LINE_END.sub("\n", _BLANK.sub(" ", text))
