"""A text as words and the clauses that they stand in, with one way to write what can be written in several.

Folded are case, Unicode forms, punctuation (but for C++ and C#), dots of abbreviations, accents on Latin letters,
groups of digits, percent signs, contractions, and "our" for "or".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from evals.text.folding import UNSPACED, fold
from evals.text.notation import closed_up, plain_numbers
from evals.text.remembered import remembered
from evals.text.writing import unaccented, undotted

_SPACE = re.compile(r"\s+")
_AMOUNT = r"[$€£¥]?\d+(?:[.,]\d+)*"
_PERCENT = r"(?:\s?%|[\s-]?per[ -]?cent\b)"
_UP_TO = r"(?:\s?[-\u2010-\u2014]\s?|\s(?:to|through)\s)"
_REWRITTEN = (
    # Of a range one way to write it, with percent at both ends or at none: 5-10%, "5% to 10%".
    (re.compile(rf"(?<=\d){_PERCENT}?{_UP_TO}(?={_AMOUNT}{_PERCENT})"), "%-"),
    (re.compile(rf"(?<=\d){_UP_TO}(?={_AMOUNT})"), "-"),
    (re.compile(r"\s?%|\bper[ -]cent\b"), " percent"),
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?<=[^\W\d_]{3})our(?=(?:s|ed|ing|ful|able|ite)?\b)"), "or"),  # colour, favourite
)
_CLAUSE_END = re.compile(
    r"[!?;()\n…。！？]|[.,:](?!\d)|\s[–—-]\s|\b(?:and|but|yet|however|while|whereas|although|though)\b"
)
# Between words stands what is neither a letter nor a digit nor a mark that belongs to a letter, as in Hindi.
_BETWEEN = r"\s\x00-/:-@\[-`{-\xbf×÷\u2000-\u2bff\u3000-\u303f\U0001f000-\U0001faff"
# C++ and C# are other words than C.
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{UNSPACED}]|[^{_BETWEEN}{UNSPACED}]+(?:\+\+|[+#](?!\w))?")


@dataclass(frozen=True)
class Clauses:
    """The words of a text, and for each the number of its clause; for each clause how it begins.

    Attributes:
        words: In their order, folded.
        clauses: The number of each word's clause, rising; clauses without words are counted too.
        joined: The words with a blank between them.
        begins: The first two characters of each clause by its number: mostly a mark and a blank.
    """

    words: tuple[str, ...] = ()
    clauses: tuple[int, ...] = ()
    joined: str = field(default="", compare=False)
    begins: tuple[str, ...] = ()

    def of_clause(self, clause: int | None, end: int | None = None) -> list[str]:
        """The words of a clause that stand before a place."""
        return [word for word, number in zip(self.words[:end], self.clauses, strict=False) if number == clause]

    def following(self, clause: int) -> int | None:
        """The number of the next clause with words, where there is one."""
        return next((number for number in self.clauses if number > clause), None)

    def behind(self, place: int, most: int) -> list[tuple[str, list[str]]]:
        """What follows the word at a place: the rest of its clause and the next ones, each with its mark."""
        words: dict[int, list[str]] = {}
        for at in range(place + 1, len(self.words)):
            clause = self.clauses[at]
            if clause not in words and len(words) == most:
                break
            words.setdefault(clause, []).append(self.words[at])
        return [(self._mark(clause), found) for clause, found in words.items()]

    def _mark(self, clause: int) -> str:
        """The mark before a clause; empty where a word begins it."""
        begin = self.begins[clause]
        return "" if begin[:1].isalnum() else begin.strip()[:1]


@remembered(60_000)
def read_clauses(text: str) -> Clauses:
    """Cut a text into clauses and words, folded, with contractions and percent signs written out."""
    # One blank or line break each, or the patterns would go over a long run again and again.
    text = _SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", fold(closed_up(undotted(text))))
    text = unaccented(text)
    for pattern, plain in _REWRITTEN:
        text = pattern.sub(plain, text)
    parts = list(_clauses(text))
    found = [(word, clause) for clause, part in enumerate(parts) for word in _words(part)]
    words = tuple(word for word, _ in found)
    begins = tuple([part[:2] for part in parts])
    return Clauses(words, tuple(clause for _, clause in found), " ".join(words), begins)


def _words(clause: str) -> Iterator[str]:
    """The words of a clause, numbers by value: 1,250.00 is 1250."""
    for word in _WORD.findall(clause):
        yield from plain_numbers(word) if word[0].isdecimal() else (word,)


def _clauses(text: str) -> Iterator[str]:
    """Cut after the marks and before the words that begin a clause, so that no word is lost."""
    start = 0
    for mark in _CLAUSE_END.finditer(text):
        yield text[start : mark.start()]
        start = mark.start()
    yield text[start:]
