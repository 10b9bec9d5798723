"""What a clause does: decline, answer, guess, describe the sources, or none of it."""

import math
import re
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from evals.text.folding import ANYWHERE, BEFORE_NAMES
from evals.text.refusals.grammar import Found, declined, describes, elliptic, reports_of_source, unknown
from evals.text.refusals.lexicon import ROLES, pattern
from evals.text.refusals.roles import CONTENT, DECLINING, TELLING, WORD, Lexicon, Topic

# What of a question helps to tell an answer that declines from one that states a negative.


_MENTIONED = pattern("asks_whether_mentioned")


_SIGN = pattern("asks_of_sign")


_COMPOUND = pattern("asks_for_two")


_COUNTS = pattern("asks_how_many")


_LACKING = pattern("asks_what_lacks")


class Asked(NamedTuple):
    """What the form of a question tells about its answer."""

    text: str
    """Its beginning, in lower case."""
    compound: bool
    """It asks for more than one thing."""
    mentioned: bool
    """It asks whether something is said."""
    sign: bool
    """It asks what an error, a light or another sign means."""
    counts: bool
    """It asks how many there are, or which ones: "none" answers."""
    lacking: bool
    """It asks what is excluded or missing."""


def read_question(question: str) -> Asked:
    """Read what helps to understand an answer to the question; nothing of an empty one."""
    text = " ".join(question.lower().replace("’", "'").split())[:2000]
    return Asked(
        text=text,
        compound=bool(_COMPOUND.search(text)),
        mentioned=bool(_MENTIONED.search(text)),
        sign=bool(_SIGN.search(text)),
        counts=bool(_COUNTS.search(text)),
        lacking=bool(_LACKING.search(text)),
    )


# What a clause of an answer is, and by what clauses are read.


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
        asks: Of one that declines: the beginnings of nouns for what its question word asks for ("who": name, person).
        whether: Of one that declines: that it leaves open whether something is so.
        concedes: Whether it is a concession: "although the documents do not say so, …".
    """

    text: str
    kind: Kind
    mark: str = ""
    declined: tuple[str, ...] = ()
    more: bool = False
    refers: bool = False
    concedes: bool = False
    asks: tuple[str, ...] = ()
    whether: bool = False


class Context(NamedTuple):
    """What clauses are read by: the question, what it is about, and languages of the answer."""

    asked: Asked
    topic: Topic
    lexicons: tuple[Lexicon, ...]


# How an answer begins, whether it is asked what others said, and whether its numbers are those of the question.


_AT_ONCE = 4
"""Words within which an answer gives at once what was asked for."""

_NUMBER = re.compile(r"\d+")

_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


_REFUSED = pattern("asks_of_refused")


_YES_NO = pattern("yes_or_no")


def opening(clauses: list[Clause], lexicon: Lexicon, question: str) -> dict[str, float]:
    """What the beginning tells, by name; empty where no clause is.

    Args:
        clauses: Of the answer, in their order.
        lexicon: Of its likeliest language.
        question: Folded, without accents.
    """
    if not clauses:
        return {}
    words = WORD.findall(clauses[0].text)
    first = " ".join(words[:_AT_ONCE])
    new = set(_NUMBER.findall(first)) - set(_NUMBER.findall(question))
    return {
        "begins with a number": float(bool(new) or not lexicon.numbers.isdisjoint(words[:_AT_ONCE])),
        "begins with yes or no": float(bool(_YES_NO.search(first))),
        "begins, words": math.log1p(len(words)),
        "begins without the question": float(not set(words[:_AT_ONCE]) & set(WORD.findall(question))),
        f"begins and {clauses[0].kind.value}": 1.0,
        f"ends and {clauses[-1].kind.value}": 1.0,
        **{f"goes {one.kind.value}, {other.kind.value}": 1.0 for one, other in pairwise(clauses)},
        "declining share": sum(clause.kind is Kind.DECLINES for clause in clauses) / len(clauses),
        "asks what was said": float(bool(TELLING.search(question))),
        "asks about what was refused": float(bool(_REFUSED.search(question))),
        **_numbers(clauses, question),
    }


def _numbers(clauses: list[Clause], question: str) -> dict[str, float]:
    """Whether the numbers of the question are taken up, and whether there are other years instead."""
    asked = set(_NUMBER.findall(question))
    if not asked:
        return {}
    found, last = (set(_NUMBER.findall(text)) for text in (" ".join(c.text for c in clauses), clauses[-1].text))
    years = set(_YEAR.findall(question))
    return {
        "a number of the question is nowhere": float(not asked <= found),
        "a number of the question is in the last only": float(
            bool(asked & last) and not asked & set(_NUMBER.findall(" ".join(c.text for c in clauses[:-1])))
        ),
        "another year than the one asked about": float(
            bool(years) and not years & found and any(map(_YEAR.fullmatch, found))
        ),
    }


# Whole answers, and what stands for declining in languages without a lexicon of their own.


BARE = pattern("bare")


NO_NUMBER = pattern("no_number")


_PHRASES = pattern("elsewhere")

_IN_LATIN = ("niet", "geen informatie", "nie ", "inte ", "fremgar ikke", "bulunamad", "bilmiyorum")
"""One of these is in every phrase of ASCII letters alone: where none is, no phrase is tried."""


def declines_elsewhere(text: str) -> bool:
    """Whether a folded text holds one of the commonest phrases of languages that have no lexicon."""
    may_hold = not text.isascii() or any(word in text for word in _IN_LATIN)
    return may_hold and _PHRASES.search(text) is not None


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

_FILE = pattern("file")

_I = pattern("speaker")


_WHETHER = pattern("whether")


_TO_OTHERS = pattern("to_others")


_WOULD_NOT = pattern("would_not")


_GOES_ON = frozenset("wUTnk")
"""Parts that go on with what declines behind a comma: "does not say, which …"."""

_DOES = frozenset("bm")

_DONE = frozenset({CONTENT, ROLES["tell_of"]})

_TOLD = frozenset("aA")


_MARKS: tuple[tuple[Kind, Callable[[Lexicon], re.Pattern[str]]], ...] = (
    (Kind.NOTHING, attrgetter("courtesy")),
    (Kind.GUESSES, attrgetter("guesses")),
    (Kind.ALLOWS, attrgetter("maybe")),
)

_VERBS = frozenset("tphgfo")

_FUNCTIONS = frozenset(".PVUYbwm")


_SAYS_WHERE = frozenset("swiqX")
"""Parts that may follow "unknown": from the sources, who did, to me, for sure."""


def written_out(text: str) -> str:
    """The text with the short forms of English written out: "don't" as "do not"."""
    if "'" not in text and "cannot" not in text:  # as in most clauses, which need not be searched
        return text.strip()
    return _SHORT.sub(lambda found: _SPELT.get(found[0], " "), _IT_IS.sub(r"\1 is", text)).strip()


def read(text: str, context: Context, subject: str) -> Iterator[Clause]:
    """The clause, and what follows the comma behind words that decline as another one.

    Args:
        text: Of the clause, folded and without accents.
        context: By what it is read.
        subject: The letter of who speaks or what source was named first in the sentence; else empty.
    """
    plain = written_out(text)
    if declines_elsewhere(text):
        yield Clause(plain, Kind.DECLINES)
    else:
        words = WORD.findall(plain)
        readings = (_declining(plain, words, lexicon, context, subject) for lexicon in context.lexicons)
        found = next((reading for reading in readings if reading), None)
        yield from found or [_other(plain, words, context.lexicons)]


def without_verb(clause: Clause, mark: str, context: Context) -> Clause:
    """The clause, which declines where it has no verb of its own: of the width, "but not the height"."""
    language = context.lexicons[0]
    if clause.kind is Kind.DECLINES or not (language.contrasts.search(mark) or language.apart.match(clause.text)):
        return clause
    words = WORD.findall(clause.text)
    groups = language.tagged(words).split()
    found = elliptic(_joined(_with_asked(words, groups, context)))
    return _what_is_declined(clause.text, words, groups, found.end, context) if found else clause


def _joined(groups: list[str]) -> str:
    return "".join(f" {group}" for group in groups)


def _with_asked(words: list[str], groups: list[str], context: Context) -> list[str]:
    """The parts of the words, with the sign of what was asked for where they name it."""
    if context.topic.whether or context.topic.lacks:
        return groups
    named = set(context.topic.named(words))
    return [
        f"{group.replace('h', '')}{ROLES['asked']}" if word in named and not set(group) & _FUNCTIONS else group
        for word, group in zip(words, groups, strict=True)
    ]


def _other(text: str, words: list[str], lexicons: tuple[Lexicon, ...]) -> Clause:
    """A clause that does not decline."""
    return Clause(text, _kind_of_other(text, words, lexicons))


def _declining(plain: str, words: list[str], lexicon: Lexicon, context: Context, subject: str) -> list[Clause] | None:
    """The clause where the words of a language decline, and what follows; None where they do not."""
    groups = _tagged(words, lexicon, context)
    found = _found(plain, words, groups, lexicon, context, subject)
    if found is None or _is_used(groups, found) or _TO_OTHERS.search(plain):
        return None
    if lexicon.reports.search(" ".join(words[: max(0, found.start)])) or _is_world(
        words, groups, found, lexicon, context
    ):
        return None
    comma = _comma_behind(found.end, words, groups)
    clause = _what_is_declined(plain, words[:comma], groups[:comma], found.end, context)
    if _is_what_lacks(clause, context):
        clause = clause._replace(kind=Kind.ANSWERS)
    if comma is None:
        return [clause]
    rest = words[comma + 1 :]
    again = _declining(" ".join(rest), rest, lexicon, context, subject)
    return [clause, *(again or [_other(" ".join(rest), rest, (lexicon,))])]


def _is_world(words: list[str], groups: list[str], found: Found, lexicon: Lexicon, context: Context) -> bool:
    """Whether a negative is a condition, the reason of a fact, or denies by the verb of a question of yes or no."""
    if "," in words[found.end :] and lexicon.conditions.match(" ".join(words)):
        return True
    if "i" in "".join(groups):
        return False
    if context.topic.told and _WOULD_NOT.search(" ".join(words)):
        return True
    start = max(0, found.start)
    negative = next((n for n in range(start, found.end) if not DECLINING.isdisjoint(groups[n])), found.end)
    if lexicon.because.search(" ".join(words[:negative])):
        return True
    return context.topic.whether and _takes_up(words, groups, slice(start, found.end), context.topic)


def _takes_up(words: list[str], groups: list[str], place: slice, topic: Topic) -> bool:
    """Whether the words that deny take up the verb of the question, said of no source that it does not name."""
    told = [word for word, group in zip(words[place], groups[place], strict=True) if "t" in group]
    cited = [word for word, group in zip(words, groups, strict=True) if "s" in group]
    return bool(topic.named(told)) and (not cited or bool(topic.named(cited)))


def _tagged(words: list[str], lexicon: Lexicon, context: Context) -> list[str]:
    """The parts of the words, without those that tell of the thing that was asked about."""
    tags = lexicon.tagged(words)
    if context.asked.lacking or context.topic.lacks:
        tags = tags.replace("l", CONTENT)
        if not set(tags) & set("sa"):
            tags = tags.replace("h", CONTENT).replace("g", CONTENT)
    groups = tags.split()
    texts = [word for word, group in zip(words, groups, strict=True) if "S" in group]
    return [group.replace("S", "") for group in groups] if context.topic.named(texts) else groups


def _found(
    plain: str, words: list[str], groups: list[str], lexicon: Lexicon, context: Context, subject: str
) -> Found | None:
    """The words that decline, by a rule, by calling something unknown, or by an idiom."""
    if not lexicon.may_decline(words):
        return None
    found = _by_rule(words, groups, lexicon, context, subject) if any(map(lexicon.denies, words)) else None
    if found:
        return found
    idiom = lexicon.declines.search(plain)
    return Found(plain.count(" ", 0, idiom.start()), len(words)) if idiom else None


def _by_rule(words: list[str], groups: list[str], lexicon: Lexicon, context: Context, subject: str) -> Found | None:
    whole, added = _joined(_with_asked(words, groups, context)), 0
    if subject and _NO_SUBJECT.match(whole):
        whole, added = f" {subject}{whole}", 1
    found = declined(whole, lexicon.language)
    if found:
        return Found(found.start - added, found.end - added)
    return _unknown(_joined(groups), words, lexicon, context.topic)


def _comma_behind(end: int, words: list[str], groups: list[str]) -> int | None:
    """The place of the comma behind which another clause begins."""
    for place in range(end, len(words) - 1):
        if words[place] == "," and not set(groups[place + 1]) & _GOES_ON:
            return place
    return None


def _is_what_lacks(clause: Clause, context: Context) -> bool:
    """Whether a clause says what is not told, where that was asked: "which topics does it not mention?"."""
    topic = context.topic
    if not topic.lacks or topic.whether or topic.kinds or _I.search(clause.text):
        return False
    return len(clause.declined) > len(topic.named(clause.declined))


def _is_used(groups: list[str], found: Found) -> bool:
    """Whether something is done with data, or is not: "no data is stored" is a fact, "no data is given" is none."""
    if found.start or "k" not in groups[0]:
        return False
    does = [n for n in range(found.end - 1, min(len(groups), found.end + 6)) if not _DOES.isdisjoint(groups[n])]
    if not does or any(map(_only_says, groups[1 : does[0]])):
        return False
    behind = (group for group in groups[does[0] + 1 :] if group not in ".n" and _DOES.isdisjoint(group))
    return next(behind, "") in _DONE


def _only_says(group: str) -> bool:
    return "t" in group and _TOLD.isdisjoint(group)


def _what_is_declined(plain: str, words: list[str], groups: list[str], end: int, context: Context) -> Clause:
    """The clause that declines, with what it declines; its last word that does so stands before `end`."""
    content = tuple(_content(words, groups, end, context.topic))
    more = [word for word, group in zip(words, groups, strict=True) if "+" in group]
    return Clause(
        plain,
        Kind.DECLINES,
        declined=content,
        more=len(context.topic.named(more)) < len(more),
        asks=context.lexicons[0].asked_for(" ".join(words[max(0, end - 3) :])),
        whether=bool(_WHETHER.search(plain)),
        refers=bool(content) and any("T" in group for group in groups[1:]),
    )


def _content(words: list[str], groups: list[str], end: int, topic: Topic) -> Iterator[str]:
    """The words that tell what is declined: content, verbs behind a question word, and what names what was asked."""
    asked_behind = next((n for n in range(end, len(groups)) if "w" in groups[n]), len(groups))
    for place, (word, group) in enumerate(zip(words, groups, strict=True)):
        is_verb = place > asked_behind and not _VERBS.isdisjoint(group)
        named = len(word) > 2 and _FUNCTIONS.isdisjoint(group) and topic.named([word])
        if group == CONTENT or is_verb or named:
            yield word


def _unknown(tags: str, words: list[str], lexicon: Lexicon, topic: Topic) -> Found | None:
    """The words that call something unknown, and say nothing else: "the year is not known"."""
    found = unknown(tags, lexicon.language)
    groups = tags.split()
    if found is None or "w" in groups[0]:
        return found
    goes_on = _says_where(groups[found.end :])
    if goes_on is not None:
        return found if goes_on else None
    subject = [word for word, group in zip(words, groups, strict=True) if group == CONTENT]
    return found if "s" in tags or not _names_in_full(subject, topic) else None


def _says_where(behind: list[str]) -> bool | None:
    """Whether what follows "unknown" says to whom or who did it (True), or tells more (False); None for nothing."""
    if behind and behind[0] in ".PY" and "s" in "".join(behind[:4]):
        return None
    for group, following in pairwise([*behind, "."]):
        if set(group) & _SAYS_WHERE or (group == "," and "w" in following):
            return True
        if CONTENT in group or group == ",":
            return False
    return None


def _names_in_full(subject: list[str], topic: Topic) -> bool:
    """Whether a subject names what was asked about: of "the author of Beowulf" it is the world that does not know."""
    covered = topic.covered(subject)
    others = [word for word in subject if not topic.is_general(word)]
    return bool(covered) and len(others) > 1 and 2 * len(covered) >= len(topic.words)


def _kind_of_other(text: str, words: list[str], lexicons: tuple[Lexicon, ...]) -> Kind:
    """What a clause does that neither declines nor denies."""
    for kind, marks in _MARKS:
        if any(marks(lexicon).search(text) for lexicon in lexicons):
            return kind
    tagged = tuple(lexicon.tagged(words) for lexicon in lexicons)
    if any(map(reports_of_source, tagged)):
        return Kind.ANSWERS
    return Kind.DESCRIBES if _FILE.search(text) or any(map(describes, tagged)) else Kind.ANSWERS


# An answer cut into sentences and clauses, each read in its order.


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
