"""Ways to write a word or a name that do not change it: dots of abbreviations, accents, the family name first."""

import re
import unicodedata
from functools import lru_cache

from evals.text.abbreviations import STARTERS

_DOTTED = re.compile(
    r"(?<![\w.])(?:(?:[^\W\d_]{1,2}\.)+[^\W\d_](?:\.|(?!\w))|[A-Z]\.(?: [A-Z]\.)+)"
    r"(?P<next>\s++(?:(?P<word>[A-Z][a-z]*)\b|\Z)|\Z)?"
)
_LETTER_AFTER_DOT = re.compile(r"\. ?[^\W\d_](?!\w)")
_BETWEEN_CLAUSES = frozenset({"i.e.", "e.g."})
_ACCENT = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
_PARTICLES = r"(?:(?:van|von|de|da|del|der|den|di|la|le|bin|al) ){0,3}"
_FAMILY = rf"{_PARTICLES}[A-Z][\w'’-]+"
_GIVEN = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]*\.?){0,2}"
_NAME = re.compile(rf"(?P<given>{_GIVEN}) (?P<family>{_FAMILY})")
_FAMILY_FIRST = re.compile(rf"(?P<family>{_FAMILY}), (?P<given>{_GIVEN})")


def undotted(text: str) -> str:
    """The text without the dots of abbreviations and initials: D.C. is DC, J. K. is JK; a full stop stays."""
    return _DOTTED.sub(_joined, text) if _LETTER_AFTER_DOT.search(text) else text


def _joined(found: re.Match[str]) -> str:
    behind = found["next"] or ""
    dotted = found[0][: len(found[0]) - len(behind)]
    if dotted in _BETWEEN_CLAUSES:
        return found[0]
    ends = found["next"] is not None and (found["word"] is None or found["word"].lower() in STARTERS)
    return f"{dotted.replace('.', '').replace(' ', '')}{'.' if ends and dotted.endswith('.') else ''}{behind}"


def unaccented(folded: str) -> str:
    """The text, in lower case, without accents on Latin letters; marks of other scripts make other letters."""
    if folded.isascii():
        return folded
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare).translate(_STROKES)


def given_name_first(name: str) -> str | None:
    """`Marie Curie` for a text that is `Curie, Marie` and nothing else, else None."""
    found = _FAMILY_FIRST.fullmatch(name.strip())
    return f"{found['given']} {found['family']}" if found else None


def with_name_turned(text: str, name: str) -> str:
    """The text with `Marie Curie` for `Curie, Marie` where the name is the first of them."""
    if ", " not in text:
        return text
    pattern = _family_first(name.strip(" ."))
    return pattern.sub(lambda _: name, text) if pattern else text


@lru_cache(maxsize=1024)
def _family_first(name: str) -> re.Pattern[str] | None:
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return re.compile(rf"\b{re.escape(found['family'])}, {re.escape(found['given'])}(?!\w)", re.IGNORECASE)
