"""Classify clauses of an answer: decline, answer, guess, or describe the sources."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from evals.text.refusals.grammar import declined, describes
from evals.text.refusals.lexicon import CONTENT, ROLES, WORD, Lexicon, lexicons_of, pattern, without_accents
from evals.text.tokens import fold

# What a question asks for.

_NEEDED, _LACKING, _COMPOUND = pattern("needed"), pattern("asks_what_lacks"), pattern("asks_for_two")

_STEM, _SHORT_STEM = 4, 3
"""Letters by which forms of a word are known, and those of a short word."""


def shared(words: Iterable[str], others: Iterable[str]) -> list[str]:
    """The words that are likely forms of one of the others: these share four letters, of short words three."""
    return _forms_among(words, _by_beginning(others))


def _by_beginning(words: Iterable[str]) -> Mapping[str, list[str]]:
    near = defaultdict(list)
    for word in words:
        near[word[:_SHORT_STEM]].append(word)
    return near


def _forms_among(words: Iterable[str], others: Mapping[str, list[str]]) -> list[str]:
    """The words that are forms of one of the others, which stand by their beginnings."""
    beginnings = ((word, others.get(word[:_SHORT_STEM])) for word in words)
    return [word for word, near in beginnings if near and any(_are_forms(word, other) for other in near)]


def _are_forms(one: str, other: str) -> bool:
    shortest = min(len(one), len(other))
    if shortest < _SHORT_STEM:
        return one == other
    return shortest <= _STEM or one[:_STEM] == other[:_STEM]


class Topic:
    """What a question asks for.

    Attributes:
        text: Folded, without accents.
        words: Its content words.
        compound: Whether it asks for more than one thing.
        lacks: Whether it asks what is not so, or missing.
        whether: Whether it wants yes or no: no question word begins it.
        wants_number: Whether only a number answers it.
        kinds: The beginnings of nouns for what its question words ask for: "date" and "year" for "when".
    """

    def __init__(self, question: str) -> None:
        self.text = text = without_accents(fold(question))
        lexicon = lexicons_of(text)[0]
        self.words = lexicon.content(WORD.findall(text))
        self._near = _by_beginning(self.words)
        letters = lexicon.tagged(WORD.findall(_NEEDED.sub(" ", text)))
        self.compound = bool(_COMPOUND.search(text))
        self.lacks = bool(set(letters) & set("nl")) or bool(_LACKING.search(text))
        self.whether = not any("w" in group for group in letters.split()[:6])
        self.wants_number = bool(lexicon.patterns["quantity"].search(text))
        self.kinds = lexicon.asked_for(text)

    def named(self, words: Collection[str]) -> list[str]:
        """The words that name what is asked for: words of the question, or nouns for what it asks for."""
        forms = set(_forms_among(words, self._near))
        return [word for word in words if word in forms or self.is_kind(word)]

    def is_kind(self, word: str) -> bool:
        """Whether a word is a noun for what the question asks for."""
        return any(kind in word for kind in self.kinds)

    def covered(self, said: Collection[str]) -> list[str]:
        """The words of the question that are taken up in what is said."""
        return shared(self.words, said)


# What a clause of an answer is, and by what clauses are read.


class Kind(Enum):
    """Class of a clause."""

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
        declined: Of one that declines: the content words of what it declines.
        more: Whether it declines only more than is said: "no further details", "no exact date".
        refers: Whether it declines something about what was said: "the reason for this".
        concedes: Whether it is a concession: "although the documents do not say so, …".
        asks: Of one that declines: the beginnings of nouns for what its question word asks for ("who": name, person).
        whether: Of one that declines: that it leaves open whether something is so.
    """

    text: str
    kind: Kind
    declined: tuple[str, ...] = ()
    more: bool = False
    refers: bool = False
    concedes: bool = False
    asks: tuple[str, ...] = ()
    whether: bool = False


class Context(NamedTuple):
    """What clauses are read by: what the question is about, and languages of the answer."""

    topic: Topic
    lexicons: tuple[Lexicon, ...]


# An answer cut into sentences and clauses, each read in its order.

_SENTENCE = re.compile(r"(?<=[.!?。!?])\s+|\n+|(?<=[。!?])")

_ASKING = frozenset("wbmV")


def clauses(answer: str, context: Context) -> Iterator[Clause]:
    """The clauses of an answer, folded and without accents; a question that it puts is none."""
    language = context.lexicons[0]
    for part, asks in _parts(_SENTENCE.split(answer), language):
        text, plain, words = _read(part)
        clause = _declining(text, plain, words, context)
        if asks and (clause is None or _asks(plain, language)):
            continue
        clause = clause or Clause(plain, _kind_of_other(plain, words, context.lexicons))
        yield clause._replace(concedes=bool(language.patterns["although"].match(part)))


def has_declining_clause(answer: str, context: Context) -> bool:
    """Whether a clause of an answer declines by a rule or an idiom, without reading what the others do."""
    language = context.lexicons[0]
    for sentence in _SENTENCE.split(answer):
        if not _may_decline(sentence, context.lexicons):  # as most of a long answer: it need not be cut into clauses
            continue
        for part, asks in _parts([sentence], language):
            text, plain, words = _read(part)
            if _declining(text, plain, words, context) and not (asks and _asks(plain, language)):
                return True
    return False


def _may_decline(sentence: str, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether a word of a sentence can decline, in the sentence or in a part of it."""
    words = WORD.findall(written_out(sentence))
    return any(lexicon.may_decline(words) for lexicon in lexicons) or declines_elsewhere(" ".join(sentence.split()))


def _parts(sentences: Iterable[str], language: Lexicon) -> Iterator[tuple[str, bool]]:
    """The parts of the sentences that hold a word, and whether their sentence asks."""
    patterns = language.patterns
    for sentence in sentences:
        asks = sentence.rstrip().endswith("?")
        bare = patterns["openers"].sub("", patterns["parenthesis"].sub("", sentence))
        for part in patterns["joint"].split(bare)[::2]:
            if any(map(str.isalnum, part)):
                yield part, asks


def _asks(text: str, language: Lexicon) -> bool:
    """Whether a clause begins as a question does: "what is not covered", "can you not rephrase it"."""
    word = WORD.search(text)
    return word is not None and not _ASKING.isdisjoint(language.letters(word[0]))


# What a clause does.

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


def written_out(text: str) -> str:
    """The text with the short forms of English written out: "don't" as "do not"."""
    if "'" in text or "cannot" in text:
        text = _SHORT.sub(lambda found: _SPELT.get(found[0], " "), _IT_IS.sub(r"\1 is", text))
    return text.strip()


def _read(part: str) -> tuple[str, str, list[str]]:
    """A part in one line, with its short forms written out, and its words."""
    text = " ".join(part.split())
    plain = written_out(text)
    return text, plain, WORD.findall(plain)


def _declining(text: str, plain: str, words: list[str], context: Context) -> Clause | None:
    """The clause, where it declines."""
    if declines_elsewhere(text):
        return Clause(plain, Kind.DECLINES)
    for lexicon in context.lexicons:
        if not lexicon.may_decline(words):
            continue
        groups = _tagged(words, lexicon, context.topic)
        end = _declined_before(plain, words, groups, lexicon, context.topic)
        if end is not None:
            return _with_declined(plain, words, groups, end, context)
    return None


def _tagged(words: list[str], lexicon: Lexicon, topic: Topic) -> list[str]:
    """The parts of the words, without those that tell of the thing that was asked about."""
    tags = lexicon.tagged(words)
    if topic.lacks:
        tags = tags.replace("l", CONTENT)
        if not set(tags) & set("sa"):
            tags = tags.replace("h", CONTENT).replace("g", CONTENT)
    groups = tags.split()
    texts = [word for word, group in zip(words, groups, strict=True) if "S" in group]
    return [group.replace("S", "") for group in groups] if topic.named(texts) else groups


def _declined_before(plain: str, words: list[str], groups: list[str], lexicon: Lexicon, topic: Topic) -> int | None:
    """The place behind the words that decline, by a rule or an idiom."""
    if lexicon.denies(words):
        end = declined("".join(f" {group}" for group in _with_asked(words, groups, topic)), lexicon)
        if end is not None:
            return end
    return len(words) if lexicon.patterns["declines"].search(plain) else None


_FUNCTIONS = frozenset(".PVUYbwm")


def _with_asked(words: list[str], groups: list[str], topic: Topic) -> list[str]:
    """The parts of the words, with the sign of what was asked for where they name it."""
    if topic.whether or topic.lacks:
        return groups
    named = set(topic.named(words))
    return [
        f"{group.replace('h', '')}{ROLES['asked']}" if word in named and _FUNCTIONS.isdisjoint(group) else group
        for word, group in zip(words, groups, strict=True)
    ]


_VERBS = frozenset("tphgfo")

_WHETHER = pattern("whether")


def _with_declined(plain: str, words: list[str], groups: list[str], end: int, context: Context) -> Clause:
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


_MARKS = {"courtesy": Kind.NOTHING, "guesses": Kind.GUESSES, "maybe": Kind.ALLOWS}

_FILE = pattern("file")


def _kind_of_other(text: str, words: list[str], lexicons: tuple[Lexicon, ...]) -> Kind:
    """What a clause does that neither declines nor denies."""
    for name, kind in _MARKS.items():
        if any(lexicon.patterns[name].search(text) for lexicon in lexicons):
            return kind
    is_of_sources = _FILE.search(text) or any(describes(lexicon.tagged(words)) for lexicon in lexicons)
    return Kind.DESCRIBES if is_of_sources else Kind.ANSWERS
