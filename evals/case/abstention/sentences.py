"""An answer cut into sentences and clauses, each read in its order."""

import re
from collections.abc import Iterator
from itertools import pairwise

from evals.case.abstention.clauses import Clause, Context, Kind
from evals.case.abstention.reading import read, without_verb
from evals.case.abstention.roles import CONTENT, WORD, Lexicon
from evals.text.abbreviations import ANYWHERE, BEFORE_NAMES

_SENTENCE = re.compile(r"(?<=[.!?。!?])\s+|\n+|(?<=[。!?])")
_ASKING = frozenset("wbmV")
_OF_SOURCES = frozenset({Kind.DESCRIBES, Kind.ANSWERS})


def clauses(text: str, context: Context) -> Iterator[Clause]:
    """The clauses of an answer, folded and without accents; a question that it puts is none."""
    language = context.lexicons[0]
    for sentence in _sentences(text, language):
        found = _of_sentence(language.openers.sub("", language.parenthesis.sub("", sentence)), context)
        if sentence.rstrip().endswith("?"):
            found = (clause for clause in found if clause.kind is Kind.DECLINES and not _asks(clause.text, language))
        yield from found


def _asks(text: str, language: Lexicon) -> bool:
    """Whether a clause begins as a question does: "what is not covered", "can you not rephrase it"."""
    word = WORD.search(text)
    return word is not None and not _ASKING.isdisjoint(language.letters(word[0]))


def _sentences(text: str, language: Lexicon) -> Iterator[str]:
    """The sentences; a full stop behind an abbreviation or the initial of a name ends none."""
    begun = ""
    for piece in _SENTENCE.split(text):
        if begun and not _is_abbreviated(begun, piece, language):
            yield begun
            begun = ""
        begun = f"{begun} {piece}" if begun else piece
    yield begun


def _is_abbreviated(begun: str, following: str, language: Lexicon) -> bool:
    last = begun.rpartition(" ")[2]
    if not last.endswith("."):
        return False
    if len(last) == 2:
        word, _, _ = following.partition(" ")
        return word.endswith(".") or language.letters(word) == CONTENT
    return last[:-1] in BEFORE_NAMES or (last[:-1] in ANYWHERE and following[:1].isdecimal())


def _of_sentence(sentence: str, context: Context) -> Iterator[Clause]:
    """The clauses of a sentence; one that gives the reason why the next one declines does nothing by itself."""
    found = list(_in_order(sentence, context))
    language = context.lexicons[0]
    for clause, following in pairwise([*found, None]):
        if clause is not None:
            yield clause._replace(kind=Kind.NOTHING) if _is_reason(clause, following, language) else clause


def _is_reason(clause: Clause, following: Clause | None, language: Lexicon) -> bool:
    if clause.kind is Kind.DECLINES or following is None or following.kind is not Kind.DECLINES:
        return False
    return bool(language.reasons.match(clause.text) or language.hence.match(following.mark))


def _in_order(sentence: str, context: Context) -> Iterator[Clause]:
    language = context.lexicons[0]
    parts = ["", *language.joint.split(sentence)]
    subject, last = "", Kind.NOTHING
    for mark, part in zip(parts[::2], parts[1::2], strict=True):
        concedes = bool(language.although.match(part))
        for place, text in enumerate(_pieces(part, concedes, language)):
            for rank, clause in enumerate(read(text, context, subject)):
                subject = subject or _subject(clause.text, context)
                marked = "," if place or rank else mark
                said = without_verb(clause, marked, context) if marked and last in _OF_SOURCES else clause
                last = said.kind
                yield said._replace(mark=marked, concedes=concedes and not place)


def _pieces(part: str, concedes: bool, language: Lexicon) -> list[str]:
    """The part cut at its commas where it concedes, and behind a reason that comes first: "as it is cut off, …"."""
    pieces = [part]
    if concedes:
        pieces = part.split(",")
    elif language.reasons.match(part):
        pieces = part.split(",", 1)
    return [" ".join(piece.split()) for piece in pieces if any(map(str.isalnum, piece))]


def _subject(text: str, context: Context) -> str:
    """Who speaks or what source is named first, as a letter: what "but did not find it" goes on with."""
    for word in WORD.findall(text)[:6]:
        for lexicon in context.lexicons:
            for letter in "isc":
                if letter in lexicon.letters(word):
                    return letter
    return ""
