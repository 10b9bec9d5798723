"""Does an answer decline as a whole? Decided by what its clauses do, in their order.

What is stated beside a clause that declines is the answer where that clause declines something beyond it (a caveat),
and something related where it declines what was asked.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from evals.case.abstention.clauses import Clause, Context, Kind
from evals.case.abstention.roles import WORD, Lexicon
from evals.case.abstention.topic import shared

_ADVICE = re.compile(r"^(?:ask|call|email|look|open|read|search|see|send|upload|visit|write)\b")
_REFUSES = re.compile(r"\b(?:help|assist|provide|share|discuss|comment|speculate)\b")
_OF_THEM = re.compile(r"^(?:it|they) ")
_STATES = frozenset({Kind.ANSWERS, Kind.GUESSES, Kind.DESCRIBES})
_DATES = (("date",), ("datum",), ("fecha",), ("data",))
"""What a question that asks when wants first, in six languages."""
_COARSE = ("date", "datum", "fecha", "data", "year", "jahr", "anne", "ann", "ano")
"""Beginnings of words for a date or year as a whole."""
_SENTENCE = 4
"""Words of the shortest statement that is more than a name or a date."""
_FEW = 3
"""Content words of an answer that is no sentence: a name, a date."""


def abstains(found: Sequence[Clause], context: Context) -> bool:
    """Whether an answer of these clauses declines what was asked."""
    first = next((n for n, clause in enumerate(found) if clause.kind is Kind.DECLINES), None)
    if first is None:
        return False
    stated = _stated_before(found, first, context)
    if not stated:
        return not _is_answered_after(found, first, context)
    if any(_settles(clause, context) for clause in stated):
        return False
    return _only_describes(found, first) or _is_asked_declined(found, stated, context)


def _is_asked_declined(found: Sequence[Clause], stated: Sequence[Clause], context: Context) -> bool:
    return any(_is_aimed(clause, stated, context) for clause in _that_decline(found, context))


def _stated_before(found: Sequence[Clause], first: int, context: Context) -> list[Clause]:
    """What is stated before the clause that declines first, and is no label of it: "price: unknown"."""
    labelled = found[first].mark.startswith(":") and not found[first].declined
    return [clause for clause in found[: first - labelled] if _states(clause, context)]


def _states(clause: Clause, context: Context) -> bool:
    return clause.kind in _STATES and _may_answer(clause, context) and not _repeats(clause, context)


def _settles(clause: Clause, context: Context) -> bool:
    """Whether what is stated answers, whatever is declined behind it: one part of two, or a number that is guessed."""
    if clause.kind is Kind.GUESSES:
        return any(map(str.isdecimal, clause.text)) or context.asked.compound
    return context.asked.compound and clause.kind is not Kind.DESCRIBES


def _only_describes(found: Sequence[Clause], first: int) -> bool:
    """Whether it is only said what the sources cover, "but" not what was asked."""
    declined = found[first]
    stated = {clause.kind for clause in found[:first] if clause.kind in _STATES}
    goes_on = bool(declined.mark) or bool(_OF_THEM.search(declined.text))
    return stated == {Kind.DESCRIBES} and goes_on and not declined.more and not declined.concedes


def _may_answer(clause: Clause, context: Context) -> bool:
    """Whether a clause may hold the answer: where a number was asked for, one is in it."""
    if context.asked.compound or not context.topic.wants_number:
        return True
    words = WORD.findall(clause.text)
    return any(map(str.isdecimal, clause.text)) or any(
        not lexicon.numbers.isdisjoint(words) for lexicon in context.lexicons
    )


def _that_decline(found: Sequence[Clause], context: Context) -> Iterator[Clause]:
    """The clauses that decline; behind a colon, what stands before it is declined: "Bern: not stated".

    One that names nothing ("the text does not say") repeats another one, where that one names something.
    """
    declining = []
    for before, clause in pairwise([Clause("", Kind.NOTHING), *found]):
        if clause.kind is Kind.DECLINES:
            label = tuple(_content([before], context)) if clause.mark.startswith(":") and not clause.declined else ()
            declining.append(clause._replace(declined=label) if label else clause)
    telling = [clause for clause in declining if clause.declined or clause.asks]
    yield from telling or declining


def _is_aimed(clause: Clause, stated: Sequence[Clause], context: Context) -> bool:
    """Whether a clause declines what was asked, in spite of what was stated before it."""
    topic, said = context.topic, _content(stated, context)
    if clause.more or _asks_otherwise(clause, context) or _asks_closer(clause, stated, context):
        return False
    if clause.concedes:
        return _is_left_open(clause, stated, said, context)
    if clause.refers and 2 * len(topic.covered(clause.declined)) < len(topic.words):
        return all(map(topic.is_kind, clause.declined))
    much = len(said) > _FEW or any(_is_sentence(one, context.lexicons[0]) for one in stated)
    return topic.is_aimed_at(clause.declined, said, much) or _is_left_open(clause, stated, said, context)


def _asks_otherwise(clause: Clause, context: Context) -> bool:
    """Whether a clause leaves open who did it, where it was asked when."""
    kinds = context.topic.kinds
    return (
        bool(clause.asks and kinds) and set(clause.asks).isdisjoint(kinds) and not context.topic.named(clause.declined)
    )


def _asks_closer(clause: Clause, stated: Sequence[Clause], context: Context) -> bool:
    """Whether only a finer time than the one stated is left open: "in 1932", but not in which month."""
    topic = context.topic
    if topic.kinds[:1] not in _DATES or not clause.declined or not all(map(topic.is_kind, clause.declined)):
        return False
    if any(word.startswith(_COARSE) for word in clause.declined) or shared(clause.declined, topic.words):
        return False
    told = [one for one in stated if one.kind is Kind.ANSWERS and any(map(str.isdecimal, one.text))]
    return bool(topic.covered(_content(told, context)))


def _is_sentence(clause: Clause, language: Lexicon) -> bool:
    words = WORD.findall(clause.text)
    return len(words) >= _SENTENCE and "b" in language.tagged(words)


def _is_left_open(clause: Clause, stated: Sequence[Clause], said: Collection[str], context: Context) -> bool:
    """Whether sources are said to tell of other things, and not of one that was asked for and is not taken up."""
    if clause.whether or not all(one.kind is Kind.DESCRIBES or one.reports for one in stated):
        return False
    covered = context.topic.covered(said)
    return any(word not in said and word not in covered for word in context.topic.named(clause.declined))


def _is_answered_after(found: Sequence[Clause], first: int, context: Context) -> bool:
    """Whether what follows the clause that declines first answers all the same."""
    new = [clause for clause in found[first:] if _may_answer_after(clause, context)]
    if any(clause.kind is Kind.GUESSES for clause in new) or _answers_at_once(found, new, context.lexicons[0]):
        return True
    after = [clause for clause in new if clause.kind is Kind.ANSWERS]
    return bool(after) and _takes_up(after, found[first], context)


def _may_answer_after(clause: Clause, context: Context) -> bool:
    return _is_new(clause, context) and not context.lexicons[0].referrals.search(clause.text)


def _answers_at_once(found: Sequence[Clause], new: Collection[Clause], language: Lexicon) -> bool:
    """Whether the sentence that declines goes on with an answer."""
    return any(clause in new and _goes_on(before, clause, language) for before, clause in pairwise(found))


def _takes_up(after: Sequence[Clause], declined: Clause, context: Context) -> bool:
    """Whether what is stated behind a clause that declines takes up more of the question than that clause names."""
    said, topic = _content(after, context), context.topic
    covered = topic.covered(said)
    numbers = topic.wants_number and any(_may_answer(clause, context) for clause in after)
    if declined.more and (numbers or 2 * len(covered) >= len(topic.words)):
        return True
    if len(covered) == len(topic.words) > 1 and not topic.wants_number:
        return True
    named = topic.covered(declined.declined)
    return any(word not in named for word in covered) and not topic.is_aimed_at(
        declined.declined, said, len(said) > _FEW
    )


def _is_new(clause: Clause, context: Context) -> bool:
    """Whether a clause says more than the question, which many a refusal repeats."""
    said = _content([clause], context)
    return len(context.topic.named(said)) < len(said)


def _repeats(clause: Clause, context: Context) -> bool:
    """Whether a clause only repeats the question, as a heading does."""
    if _is_new(clause, context) or "b" in context.lexicons[0].tagged(WORD.findall(clause.text)):
        return False
    covered = context.topic.covered(_content([clause], context))
    return 3 * len(covered) >= 2 * len(context.topic.words) > 2


def _content(said: Sequence[Clause], context: Context) -> list[str]:
    return context.lexicons[0].content(WORD.findall(" ".join(clause.text for clause in said)))


def _goes_on(declined: Clause, clause: Clause, language: Lexicon) -> bool:
    """Whether a clause answers in the sentence in which the one before declined."""
    if (declined.kind, clause.kind) != (Kind.DECLINES, Kind.ANSWERS) or clause.meta:
        return False
    goes_on = language.goes_on.search(clause.mark) or (declined.concedes and not declined.declined)
    return bool(goes_on) and not _ADVICE.search(clause.text) and not _REFUSES.search(declined.text)
