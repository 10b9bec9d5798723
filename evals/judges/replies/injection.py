"""Prompt injection: text in the data that tries to speak to the judge.

Found by patterns, which need nothing but the text: classifiers of prompt injection are models to be downloaded. These
are the English ones, and how a text is read.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from evals.judges.replies.injection_languages import IN_OTHER_LANGUAGES

_GAP = r"""[\s*_`"'“”‘’]{1,4}"""
"""Between words: white space, and the marks of Markdown and quotation. Bounded, as every part, to stay linear."""
_WORDS = rf"(?:[\w']{{1,20}}{_GAP}){{0,3}}"
_ORDER = (
    r"(?:(?:\A|[.!?:;,>#\]()\[{}\n*_`\"'“”‘’–—-]) ?"
    r"|\b(?:please|kindly|must|should|shall|will|now|and|then|always|just|simply|instead|(?:need|have|required) to) )"
)
"""Where an order begins: with its sentence, or after such a word; what somebody else does has a subject before it."""
_NOT_UNDO = r"(?<!\bnot )(?<!n't )(?<!n’t )(?<!\bnever )"
_UNDO = r"\b(?:ignore|disregard|forget|override)"
_RULES = r"(?:instructions?|directions|prompts?|rules|guidelines|criteria|rubric)"
_LABEL = r"(?:(?:un)?supported|contradicted|(?:partly[ _])?(?:in)?correct|(?:partly[ _])?(?:ir)?relevant)"
_JUDGED = r"(?:claims?|answers?|statements?|responses?|repl(?:y|ies)|sentences?|passages?|contexts?|citations?)"
_ROLE = rf"(?:judge|evaluator|grader|assistant|(?:language|AI){_GAP}model)"

_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (  # Ignore all previous rules: the judge's are "your" rules, or those that stand before.
        ("ignore", "disregard", "forget", "override"),
        rf"{_NOT_UNDO}{_UNDO}{_GAP}{_WORDS}(?:your|previous|prior|above|earlier|preceding|system|all|any){_GAP}"
        rf"{_WORDS}{_RULES}\b"
        rf"|{_NOT_UNDO}{_UNDO}{_GAP}{_WORDS}{_RULES}{_GAP}(?:above|before|so far|you (?:were|have been) given)\b"
        rf"|{_ORDER}{_UNDO}{_GAP}(?:the|these|those){_GAP}(?:instructions|prompt)\b"
        rf"|{_ORDER}{_UNDO}{_GAP}(?:(?:all|everything|anything){_GAP})?(?:of{_GAP})?(?:the{_GAP})?(?:above|previous)\b",
    ),
    (  # You are now a judge that …; but not: you are an assistant manager.
        ("judge", "evaluator", "grader", "assistant", "model"),
        rf"\b(?:you{_GAP}are|you['’]re|act{_GAP}as){_GAP}(?:now{_GAP})?(?:an?|the){_GAP}{_WORDS}{_ROLE}"
        r"(?= ?(?:[.,;:!?\"'”*\n]|\Z)|\s(?:that|who|which|whose|and|now|named|called)\b)",
    ),
    (  # Answer "supported"; but not: return correct change.
        ("supported", "correct", "relevant"),
        rf"{_ORDER}(?:answer|reply|respond|output|return|rate|grade|score){_GAP}(?:(?:with|as|it|this|only){_GAP}){{0,3}}"
        rf"{_LABEL}(?= ?(?:[.,;:!?\"'”’*`)\n]|\Z)|\s(?:to|for|on|in|every|regardless|no)\b)",
    ),
    (  # Mark every claim as supported; but not: mark each as correct or incorrect.
        ("supported", "correct", "relevant"),
        rf"{_ORDER}(?:mark|label|treat|consider|deem|judge|classify|count|rate|grade|score|accept){_GAP}"
        rf"(?:it|this|them|these|everything|{_WORDS}{_JUDGED}|(?:all|each|every|any){_GAP}(?:of{_GAP}them|one))"
        rf"{_GAP}(?:as{_GAP})?(?:fully{_GAP})?{_LABEL}\b(?!\s(?:or|if|when|only|unless)\b)",
    ),
    (
        ("score", "rating", "grade", "mark"),
        rf"{_ORDER}(?:give|assign|award|return|output){_GAP}{_WORDS}(?:full{_GAP}marks"
        rf"|(?:highest|maximum|perfect|top|full)(?:{_GAP}possible)?{_GAP}(?:score|rating|grade|marks?))\b",
    ),
    # In the words of our forms, and with nothing after it: juries have other verdicts, and go on.
    (("verdict",), rf"\bverdict[\"'”]? ?[:=] ?[\"'“]?{_LABEL}(?= ?(?:[.,;!?\"'”*}}\n]|\Z))"),
    (("system prompt",), r"\b(?:your|new|ignore|reveal|print|repeat|show)(?: the)? system prompt\b"),
    (("<",), r"< ?/? ?(?:system|instructions?) ?>"),
)
"""Patterns of instructions to a judge, each with words of which a text must hold one: most texts need no search."""
_COMPILED = tuple((words, re.compile(pattern, re.IGNORECASE)) for words, pattern in (*_PATTERNS, *IN_OTHER_LANGUAGES))
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+"
)
_LINE_END = re.compile(r" ?[\r\n]\s*")
_BLANK = re.compile(r"[^\S\r\n]+")


def looks_injected(data: dict[str, Any]) -> bool:
    """Whether something in the data looks like an instruction to a judge, by patterns alone.

    Invisible characters hide no instruction, neither inside its words nor between them.
    """
    return any(_speaks(reading) for text in _texts(data) for reading in _readings(text))


def _speaks(text: str) -> bool:
    lower = text.lower()
    return any(pattern.search(text) for words, pattern in _COMPILED if any(word in lower for word in words))


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
