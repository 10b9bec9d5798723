"""The clauses of an answer, and what each does: decline, answer, guess, describe the sources, or none of it."""

import re
from collections.abc import Iterator
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from evals.case.abstention.facts import DENIES, Sense, without_facts
from evals.case.abstention.grammar import Found, declined, describes, reports_of_source, unknown
from evals.case.abstention.others import OTHERS
from evals.case.abstention.question import Asked
from evals.case.abstention.roles import CONTENT, WORD, Lexicon
from evals.case.abstention.topic import Topic
from evals.text.abbreviations import ANYWHERE, BEFORE_NAMES


class Kind(Enum):
    """What a clause does."""

    DECLINES = "declines"
    ANSWERS = "answers"
    GUESSES = "guesses"
    DESCRIBES = "describes"
    ALLOWS = "allows"
    NOTHING = "nothing"


class Clause(NamedTuple):
    """A clause.

    Attributes:
        text: Folded, without accents.
        kind: What it does.
        mark: What parts it from the one before, in the same sentence.
        declined: Of one that declines: the content words of what it declines.
        more: Whether it declines only more than is said: "no further details", "no exact date".
        refers: Whether it declines something about what was said: "the reason for this".
        meta: Whether it speaks of the sources, the question or him who answers.
        concedes: Whether it is a concession: "although the documents do not say so, …".
    """

    text: str
    kind: Kind
    mark: str = ""
    declined: tuple[str, ...] = ()
    more: bool = False
    refers: bool = False
    concedes: bool = False
    meta: bool = False


class Context(NamedTuple):
    """What clauses are read by: the question, what it is about, what "it" stands for, and languages of the answer."""

    asked: Asked
    topic: Topic
    sense: Sense
    lexicons: tuple[Lexicon, ...]


_SENTENCE = re.compile(r"(?<=[.!?。!?])\s+|\n+|(?<=[。!?])")
_SPELT = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "n't": " not",
    "'m": " am",
    "'re": " are",
    "'ve": " have",
    "'d": " would",
}
_SHORT = re.compile(r"can't|won't|n't\b|\bcannot\b|'(?:m|re|s|ve|d|ll)\b")
_IT_IS = re.compile(r"\b(it|that|there|here|what)'s\b")
_NO_SUBJECT = re.compile(r"^(?: [.V]){0,2} [^ ]*n")
_FILE = re.compile(r"\b\w+\.(?:md|pdf|txt|html)\b|^(?:here is|only|here's) (?:what|the)\b")
_META = frozenset("ijsqa")
_GOES_ON = frozenset("wUTnk")
"""Parts that go on with what declines behind a comma: "does not say, which …"."""
_DOES = frozenset("bm")
_ASKING = frozenset("wbmV")
_VERBS = frozenset("tphgfo")
_FUNCTIONS = frozenset(".PVUYbwm")
_SAYS_WHERE = frozenset("swiqX")
"""Parts that may follow "unknown": from the sources, who did, to me, for sure."""


def written_out(text: str) -> str:
    """The text with the short forms of English written out: "don't" as "do not"."""
    return _SHORT.sub(lambda found: _SPELT.get(found[0], " "), _IT_IS.sub(r"\1 is", text)).strip()


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
    language = context.lexicons[0]
    parts = ["", *language.joint.split(sentence)]
    subject = ""
    for mark, part in zip(parts[::2], parts[1::2], strict=True):
        concedes = bool(language.although.match(part))
        for place, piece in enumerate(part.split(",") if concedes else [part]):
            text = " ".join(piece.split())
            if any(map(str.isalnum, text)):
                for rank, clause in enumerate(_clause(text, context, subject)):
                    subject = subject or _subject(clause.text, context)
                    marked = "," if place or rank else mark
                    yield clause._replace(mark=marked, concedes=concedes and not place)


def _subject(text: str, context: Context) -> str:
    """Who speaks or what source is named first, as a letter: what "but did not find it" goes on with."""
    for word in WORD.findall(text)[:6]:
        for lexicon in context.lexicons:
            for letter in "isc":
                if letter in lexicon.letters(word):
                    return letter
    return ""


def _clause(text: str, context: Context, subject: str) -> Iterator[Clause]:
    """The clause, and what follows the comma behind words that decline as another one."""
    rest = without_facts(text, context.asked, context.sense)
    plain = written_out(rest)
    if context.asked.whether and DENIES.search(text):
        yield Clause(plain, Kind.ANSWERS)
        return
    if OTHERS.search(rest):
        yield Clause(plain, Kind.DECLINES)
        return
    words = WORD.findall(plain)
    for lexicon in context.lexicons:
        found = _declining(plain, words, lexicon, context, subject)
        if found is not None:
            yield from found
            return
    kind = Kind.ANSWERS if rest != text else _kind_of_other(plain, words, context.lexicons)
    yield Clause(plain, kind, meta=bool(set(context.lexicons[0].tagged(words)) & _META))


def _declining(plain: str, words: list[str], lexicon: Lexicon, context: Context, subject: str) -> list[Clause] | None:
    """The clause where the words of a language decline, and what follows; None where they do not."""
    tags = lexicon.tagged(words)
    if context.asked.lacking or context.topic.lacks:
        tags = tags.replace("l", CONTENT)
        if not set(tags) & set("sa"):
            tags = tags.replace("h", CONTENT).replace("g", CONTENT)
    if "S" in tags and context.topic.named(w for w, group in zip(words, tags.split(), strict=True) if "S" in group):
        tags = tags.replace("S", "")
    whole = f" {subject}{tags}" if subject and _NO_SUBJECT.match(tags) else tags
    added = len(whole.split()) - len(words)
    found = declined(whole, lexicon.language) or _unknown(tags, words, lexicon, context.topic)
    if found is None:
        idiom = lexicon.declines.search(plain)
        found = Found(plain.count(" ", 0, idiom.start()) + added, len(words)) if idiom else None
    if (
        found is None
        or _is_used(tags.split(), found)
        or lexicon.reports.search(" ".join(words[: max(0, found.start - added)]))
    ):
        return None
    groups, end = tags.split(), found.end - added
    comma = next((n for n in range(end, len(words) - 1) if words[n] == "," and not set(groups[n + 1]) & _GOES_ON), None)
    clause = _what_is_declined(plain, words[:comma], groups[:comma], end, context)
    if comma is None:
        return [clause]
    rest = words[comma + 1 :]
    kind = _kind_of_other(" ".join(rest), rest, (lexicon,))
    return [clause, Clause(" ".join(rest), kind, meta=bool(set(lexicon.tagged(rest)) & _META))]


def _is_used(groups: list[str], found: Found) -> bool:
    """Whether something is done with data, or is not: "no data is stored" is a fact, "no data is given" is none."""
    if found.start or "k" not in groups[0]:
        return False
    place = next((n for n in range(found.end - 1, min(len(groups), found.end + 6)) if set(groups[n]) & _DOES), None)
    if place is None:
        return False
    done = next((group for group in groups[place + 1 :] if not set(group) & _DOES and group not in ".n"), "")
    return done == CONTENT


def _what_is_declined(plain: str, words: list[str], groups: list[str], end: int, context: Context) -> Clause:
    """The clause that declines, with what it declines; its last word that does so stands before `end`."""
    asked_behind = next((n for n in range(end, len(groups)) if "w" in groups[n]), len(groups))
    content = tuple(
        word
        for n, (word, group) in enumerate(zip(words, groups, strict=True))
        if group == CONTENT
        or (n > asked_behind and set(group) & _VERBS)
        or (len(word) > 2 and not set(group) & _FUNCTIONS and context.topic.named([word]))
    )
    return Clause(
        plain,
        Kind.DECLINES,
        declined=content,
        more=any("+" in group for group in groups),
        refers=bool(content) and any("T" in group for group in groups[1:]),
    )


def _unknown(tags: str, words: list[str], lexicon: Lexicon, topic: Topic) -> Found | None:
    """The words that call something unknown, and say nothing else: "the year is not known".

    Where the subject names what was asked about in full ("the author of Beowulf"), it is the world that does not know.
    """
    found = unknown(tags, lexicon.language)
    if found is None:
        return None
    groups = tags.split()
    behind = groups[found.end :]
    if not (behind and behind[0] in ".PY" and any("s" in group for group in behind[:4])):
        for group, following in pairwise([*behind, "."]):
            if set(group) & _SAYS_WHERE or (group == "," and "w" in following):
                return found
            if CONTENT in group or group == ",":
                return None
    if "s" in tags:
        return found
    subject = [word for word, group in zip(words, groups, strict=True) if group == CONTENT]
    covered = topic.covered(subject)
    in_full = len([word for word in subject if not topic.is_kind(word)]) > 1 and 2 * len(covered) >= len(topic.words)
    return None if covered and in_full else found


def _kind_of_other(text: str, words: list[str], lexicons: tuple[Lexicon, ...]) -> Kind:
    """What a clause does that neither declines nor denies."""
    if any(lexicon.courtesy.search(text) for lexicon in lexicons):
        return Kind.NOTHING
    if any(lexicon.guesses.search(text) for lexicon in lexicons):
        return Kind.GUESSES
    if any(lexicon.maybe.search(text) for lexicon in lexicons):
        return Kind.ALLOWS
    tagged = tuple(lexicon.tagged(words) for lexicon in lexicons)
    if any(map(reports_of_source, tagged)):
        return Kind.ANSWERS
    return Kind.DESCRIBES if _FILE.search(text) or any(map(describes, tagged)) else Kind.ANSWERS
