"""Does an answer decline to answer? Decided sentence by sentence, by who says of what that it is not told.

The answer is cut into clauses; text in quotation marks does not count. Each clause *declines* ("the sources do not
say"), *answers*, *guesses* ("probably in 1240"), *describes the sources* ("the guide covers installation"), *allows*
that something may be so, or does nothing of it ("please contact support"). An answer abstains when it declines and
nothing in it answers. Where it does both, what is declined decides: a caveat ("no further details are given", "whether
students pay it is not said") leaves an answer one; what was asked does not.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise

from evals.case.abstention.clauses import Clause, Context, Kind, clauses, written_out
from evals.case.abstention.facts import sense_of
from evals.case.abstention.languages import LANGUAGES
from evals.case.abstention.others import BARE, NO_NUMBER, OTHERS
from evals.case.abstention.question import Asked, read_question
from evals.case.abstention.roles import WORD, Lexicon, lexicons_of, without_accents
from evals.case.abstention.topic import Topic
from evals.text.folding import fold

_QUOTED = re.compile(r"\"[^\"]*\"|«[^«»]*»|(?<!\w)'[^']{3,}'(?!\w)")
_MARKS = re.compile(r"[*_#`>|~]+|^\s*[-+•]\s+", re.MULTILINE)
_LISTED = re.compile(r"^\s*\d{1,2}[.)]\s+", re.MULTILINE)
_NUMBERS = r"\[\^?{0}(?:\s?[,;–-]\s?{0}){{0,20}}\]"
_NAMED = (
    r"【[^】\n]{1,40}】|\[(?:sources?|docs?|documents?|passages?|chunks?|contexts?|refs?|pages?|p\.?)[ :.#]{0,2}"
    r"\d{1,4}(?:[,\s-]{1,2}\d{1,4}){0,20}\]"
)
_CITATION = re.compile(_NUMBERS.format(r"\d{1,4}") + "|" + _NAMED)
# Few servers hand more than twenty passages to a model: alone, "[42]" is an answer and "[1]" a mark.
_LOW = re.compile(_NUMBERS.format(r"(?:[1-9]|1\d|20)") + "|" + _NAMED)
_WHOLE = re.compile(r"^\W*(?:answer\W+)?(?:" + "|".join(p for language in LANGUAGES for p in language.bare) + r")\W*$")
_ADVICE = re.compile(r"^(?:ask|call|email|look|open|read|search|see|send|upload|visit|write)\b")
_REFUSES = re.compile(r"\b(?:help|assist|provide|share|discuss|comment|speculate)\b")
_YES_NO = re.compile(r"^(?:yes|no|nope|yeah|ja|nein|oui|non|si|sim|nao|nee)\s*(?:[,.;:!]|[–—-]\s|$)")
_NO_APOSTROPHE = re.compile(r"\b(do|does|did|is|are|was|were|could|have|has|ca)nt\b")
_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our)\b")
_LABEL = re.compile(
    r"^(?:(?:no|not enough|insufficient) "
    r"(?!\w* ?(?:information|info|answer|context|relevant|match|documents?|evidence)\b)"
    r"[\w ]{1,30}|not (?:found|available))\.?$"
)
_OF_THEM = re.compile(r"^(?:it|they) ")
_STATES = frozenset({Kind.ANSWERS, Kind.GUESSES, Kind.DESCRIBES})


def is_abstention(answer: str, question: str = "") -> bool:
    """Whether the answer declines to answer.

    Args:
        answer: The text of the answer; an empty one counts as declining.
        question: Helps where the same words answer one question and decline another. An answer that states one thing
            and declines another is a partial answer to "weight and price?" and none to "price?"; "insufficient data"
            answers "what does error E4 mean?", "none" how many there are, "it does not cover dents" what a warranty
            excludes, and "it is not included" a question of yes or no.
    """
    return _is_abstention(answer, question)


@lru_cache(maxsize=4096)
def _is_abstention(answer: str, question: str) -> bool:
    asked, text = read_question(question), _plain(answer)
    if asked.counts and NO_NUMBER.match(text):
        return False
    if not _has_words(text) or BARE.match(text) or _WHOLE.match(text):
        return True
    if _is_fact(text, asked):
        return False
    text = _QUOTED.sub(" QUOTE ", text)
    lexicons, words = lexicons_of(text), frozenset(WORD.findall(written_out(text)))
    if not OTHERS.search(text) and not any(lexicon.may_decline(text, words) for lexicon in lexicons):
        return False
    context = Context(asked, Topic(question), sense_of(text, asked), lexicons)
    return _decide(list(clauses(text, context)), context)


def _plain(answer: str) -> str:
    """The answer folded, without Markdown, citation marks, accents and the numbers of lists."""
    text = _MARKS.sub(" ", _without_citations(fold(_squeezed(answer.replace("`", ""))))).strip()
    if len(_LISTED.findall(text)) > 1:
        text = _LISTED.sub(" ", text)
    return without_accents(_NO_APOSTROPHE.sub(r"\1n't", text))


def _without_citations(text: str) -> str:
    """The folded text without citation marks and brackets; alone, marks stay where one may be the answer."""
    rest = _CITATION.sub(" ", text)
    if not _has_words(rest) and _has_words(_LOW.sub(" ", text)):
        rest = text
    return rest.replace("[", " ").replace("]", " ")


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _squeezed(text: str) -> str:
    """The text without runs of blanks and empty lines, over which the patterns would go again and again."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _is_fact(text: str, asked: Asked) -> bool:
    """Whether the whole answers what was asked, though it may hold words that decline."""
    if _YES_NO.match(text) or (asked.sign and _LABEL.match(text)):
        return True
    return asked.mentioned and not _FIRST_PERSON.search(text)


def _decide(found: Sequence[Clause], context: Context) -> bool:
    """Decide by what the clauses do, in their order."""
    first = next((n for n, clause in enumerate(found) if clause.kind is Kind.DECLINES), None)
    if first is None:
        return False
    before = [clause for clause in found[:first] if clause.kind in _STATES and _may_answer(clause, context)]
    if not before:
        return not _is_answered_after(found, first, context)
    if context.asked.compound and any(clause.kind is not Kind.DESCRIBES for clause in before):
        return False
    if _only_describes(found, first):
        return True
    said = _content(before, context)
    return any(_is_aimed(clause, said, context.topic) for clause in found if clause.kind is Kind.DECLINES)


def _only_describes(found: Sequence[Clause], first: int) -> bool:
    """Whether it is only said what the sources cover, "but" not what was asked."""
    declined = found[first]
    stated = [clause.kind for clause in found[:first] if clause.kind in _STATES]
    goes_on = bool(declined.mark) or bool(_OF_THEM.search(declined.text))
    return stated == [Kind.DESCRIBES] and goes_on and not declined.more and not declined.concedes


def _may_answer(clause: Clause, context: Context) -> bool:
    """Whether a clause may hold the answer: where a number was asked for, one is in it."""
    words = WORD.findall(clause.text)
    is_number = any(map(str.isdecimal, clause.text)) or any(
        not lexicon.numbers.isdisjoint(words) for lexicon in context.lexicons
    )
    return is_number or not context.topic.wants_number


def _is_aimed(clause: Clause, said: Collection[str], topic: Topic) -> bool:
    """Whether a clause declines what was asked, in spite of what was said before it."""
    if clause.more or clause.concedes:
        return False
    if clause.refers and not all(map(topic.is_kind, clause.declined)):
        return False
    return topic.is_aimed_at(clause.declined, said)


def _is_answered_after(found: Sequence[Clause], first: int, context: Context) -> bool:
    """Whether what follows the clause that declines first answers all the same."""
    new = [clause for clause in found[first:] if _is_new(clause, context)]
    if any(clause.kind is Kind.GUESSES for clause in new):
        return True
    if any(_goes_on(before, clause, context.lexicons[0]) and clause in new for before, clause in pairwise(found)):
        return True
    after = [clause for clause in new if clause.kind is Kind.ANSWERS]
    if not after:
        return False
    said, topic, declined = _content(after, context), context.topic, found[first]
    covered = topic.covered(said)
    numbers = topic.wants_number and any(_may_answer(clause, context) for clause in after)
    if declined.more and (numbers or 2 * len(covered) >= len(topic.words)):
        return True
    beyond = [word for word in covered if word not in topic.covered(declined.declined)]
    return bool(beyond) and not topic.is_aimed_at(declined.declined, said)


def _is_new(clause: Clause, context: Context) -> bool:
    """Whether a clause says more than the question, which many a refusal repeats."""
    said = _content([clause], context)
    return len(context.topic.named(said)) < len(said)


def _content(said: Sequence[Clause], context: Context) -> list[str]:
    return context.lexicons[0].content(WORD.findall(" ".join(clause.text for clause in said)))


def _goes_on(declined: Clause, clause: Clause, language: Lexicon) -> bool:
    """Whether a clause answers in the sentence in which the one before declined."""
    if (declined.kind, clause.kind) != (Kind.DECLINES, Kind.ANSWERS) or clause.meta:
        return False
    goes_on = language.goes_on.search(clause.mark) or (declined.concedes and not declined.declined)
    return bool(goes_on) and not _ADVICE.search(clause.text) and not _REFUSES.search(declined.text)
