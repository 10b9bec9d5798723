"""Detect answers that decline, clause by clause.

The answer is cut into clauses; text in quotation marks does not count. Each clause *declines* ("the sources do not
say"), *answers*, *guesses* ("probably in 1240"), *describes the sources* ("the guide covers installation"), *allows*
that something may be so, or does nothing of it ("please contact support"). An answer abstains when it declines and
nothing in it answers. Where it does both, what is declined decides: a caveat ("no further details are given", "whether
students pay it is not said") leaves an answer one; what was asked does not.
"""

import json
import re
from functools import lru_cache
from typing import Any

from evals.schemas.dataset import EvalQuestion
from evals.text.refusals.evidence import SETTLES, Answer, circumstances, score
from evals.text.refusals.lexicon import (
    BITS,
    LANGUAGES,
    WORD,
    Lexicon,
    lexicons_of,
    pattern,
    read_lists,
    without_accents,
)
from evals.text.refusals.reading import (
    Context,
    Kind,
    Topic,
    clauses,
    declines_elsewhere,
    has_declining_clause,
    shared,
    written_out,
)
from evals.text.tokens import STOP_WORDS, fold, framed, tokens

# Does an answer decline as a whole? All evidence for and against it is weighed, and the weights are summed.


_SPAN = 9
"""Words of an answer below which it may be a span of a document ("a pharmacist"), whatever its words are signs of."""


_UNSAID = 1.25
"""What must speak for such a span that declines where no clause does, and where the question is not known."""


_CITED = 1.75
"""And for what cites a passage: sentences taken out of a document have words that are signs, too."""

_CITES = re.compile(r"\[\d{1,3}\]|【[^】\n]{1,40}】")


def declines(answer: Answer) -> bool:
    """Whether more speaks for an answer that declines than against it; an answer to one of two questions does not."""
    found = circumstances(answer)
    return not found.get(SETTLES) and score(answer, found) > _least(answer)


def _least(answer: Answer) -> float:
    """What must speak for it."""
    if not answer.question:
        return _UNSAID
    if any(clause.kind is Kind.DECLINES for clause in answer.clauses):
        return 0.0
    if _CITES.search(answer.written):
        return _CITED
    return _UNSAID if len(answer.text.split()) < _SPAN else 0.0


# The text of an answer that came as a JSON object, as some servers write it.


_FENCE = re.compile(r"```[a-z]*\s*(\{.*\})\s*```", re.IGNORECASE | re.DOTALL)


_KEYS = ("answer", "response", "text", "result", "output")
"""Keys under which the answer stands, the likeliest first."""


def unwrapped(answer: str) -> str:
    """What stands in an object under a key for the answer: a text, or nothing; any other answer as it is."""
    text = answer.strip()
    if not text.startswith(("{", "```")):
        return answer
    fenced = _FENCE.fullmatch(text)
    try:
        found: Any = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return answer
    key = next((key for key in _KEYS if isinstance(found, dict) and key in found), None)
    if key is None or not isinstance(found[key], str | None):
        return answer
    return found[key] or ""


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

_BARE = pattern("bare")

_NO_NUMBER = pattern("no_number")

_WHOLE = re.compile(
    rf"^\W*(?:answer\W+)?(?:{'|'.join(one for code in LANGUAGES for one in read_lists(code)['bare'])})\W*$"
)

_YES_NO = pattern("begins_with_yes_or_no")

_NO_APOSTROPHE = re.compile(r"\b(do|does|did|is|are|was|were|could|have|has|ca)nt\b")

_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our)\b")


_MEANS = pattern("means")


_SHORT = 40
"""Words of an answer in which hints count; a longer one declines only if a clause does so by rule."""


_LABEL, _SIGN = pattern("label_of_sign"), pattern("asks_of_sign")

_WAY, _ELSEWHERE = pattern("asks_for_way"), pattern("points_elsewhere")

_MENTIONED, _COUNTS = pattern("asks_whether_mentioned"), pattern("asks_how_many")

_HINTS = sum(
    BITS[sign]
    for sign in (
        *("only", "limit", "unreadable", "contact", "pass", "sorry", "access", "assistant"),
        *("given", "trace", "differ", "guesswork", "leave"),
    )
)
"""The signs that hint at a refusal in a short answer, as bits."""


def is_abstention(answer: str, question: str = "") -> bool:
    """Whether the answer declines to answer.

    Args:
        answer: The text of the answer; an empty one counts as declining.
        question: Helps where the same words answer one question and decline another. An answer that states one thing
            and declines another is a partial answer to "weight and price?" and none to "price?"; "insufficient data"
            answers "what does error E4 mean?", and "none" how many there are.
    """
    return _is_abstention(answer, question)


@lru_cache(maxsize=512)
def _is_abstention(answer: str, question: str) -> bool:
    found = read_answer(unwrapped(answer), question)
    return found if isinstance(found, bool) else declines(found)


def read_answer(answer: str, question: str) -> Answer | bool:
    """The answer as it is weighed; whether it declines, where that needs no weighing."""
    text = _plain(answer)
    counts = bool(_NO_NUMBER.match(text) and _COUNTS.search(question.lower()))
    if _is_bare(text):
        return not counts
    unquoted = _without_quotes(text, question)
    lexicons = lexicons_of(unquoted)
    if counts or not _may_decline(unquoted, lexicons) or _is_fact(text, without_accents(fold(question))):
        return False
    context = Context(Topic(question), lexicons)
    if len(text.split()) > _SHORT and not has_declining_clause(unquoted, context):
        return False
    found = Answer(question, answer, unquoted, list(clauses(unquoted, context)), context)
    return False if _directs(found) else found


def _directs(answer: Answer) -> bool:
    """Whether the answer tells what to do or whom to turn to, as was asked, and denies and regrets nothing."""
    words = WORD.findall(answer.text)
    if not _WAY.search(answer.context.topic.text) or _ELSEWHERE.search(answer.text) or "?" in answer.text:
        return False
    is_personal = _FIRST_PERSON.search(answer.text) or answer.lexicon.shown(words) & BITS["sorry"]
    return not (is_personal or answer.lexicon.denies(words))


def _is_bare(text: str) -> bool:
    """Whether a whole answer declines in a word or two, or has no word."""
    return not _has_words(text) or bool(_BARE.match(text) or _WHOLE.match(text))


def _without_quotes(text: str, question: str) -> str:
    """The text with a word in place of what is quoted, and without the question where that is."""
    if not any(mark in text for mark in "\"«'") or not _QUOTED.search(text):
        return text
    asked = fold(question) or None
    return _QUOTED.sub(lambda found: " " if asked and asked in found[0] else " QUOTE ", text)


def _may_decline(text: str, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether a word of these can decline, or in a short answer hints at it."""
    words = WORD.findall(written_out(text))
    distinct = frozenset(words)
    if any(lexicon.may_decline(distinct) for lexicon in lexicons) or declines_elsewhere(text):
        return True
    return len(words) <= _SHORT and ("?" in text or any(lexicon.shown(distinct) & _HINTS for lexicon in lexicons))


def _plain(answer: str) -> str:
    """The answer folded, without Markdown, citation marks, accents and the numbers of lists."""
    text = _MARKS.sub(" ", _without_citations(fold(_squeezed(answer.replace("`", ""))))).strip()
    if len(_LISTED.findall(text)) > 1:
        text = _LISTED.sub(" ", text)
    if "nt" in text:
        text = _NO_APOSTROPHE.sub(r"\1n't", text)
    return without_accents(text)


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


def _is_fact(text: str, question: str) -> bool:
    """Whether the whole answers what was asked, though it may hold words that decline."""
    if _MEANS.search(text[:80]) and _MEANS.search(question):
        return True
    if _YES_NO.match(text) or (_LABEL.match(text) and _SIGN.search(question)):
        return True
    return bool(_MENTIONED.search(question)) and not _FIRST_PERSON.search(text)


# Is a refusal clearly one? Of an expected answer that only reads like one, it may be a finding.


_NEAR = 0.75
"""The share of their words that answer and expected answer have in common where one says what the other does."""


_SPEAKS = frozenset("ijFGSaAqN")
"""Parts that speak of him who answers, of a text, of information or of the question."""


_FINDINGS = pattern("findings")


_SAID = pattern("not_said")


@lru_cache(maxsize=512)
def is_clear_refusal(text: str, question: str) -> bool:
    """Whether a text declines, and says so of him who answers, of a text, of information, or that it is not told."""
    if not is_abstention(text, question):
        return False
    plain = without_accents(fold(text))
    if declines_elsewhere(plain) or _SAID.search(plain):
        return True
    return any(_is_of_telling(plain, lexicon) for lexicon in lexicons_of(plain))


def _is_of_telling(plain: str, lexicon: Lexicon) -> bool:
    if lexicon.patterns["declines"].search(plain):
        return True
    groups = lexicon.tagged(WORD.findall(_FINDINGS.sub("fact", plain))).split()
    if not _SPEAKS.isdisjoint("".join(group for group in groups if "c" not in group)):
        return True
    return any("t" in group for group in groups) and any("s" in group and "c" not in group for group in groups)


def says_expected(answer: str, question: EvalQuestion) -> bool:
    """Whether the answer says, in nearly the words of an expected one, what reads like a refusal and is a finding.

    "The audit did not find material weaknesses" says that none were found. What clearly is a refusal says nothing of
    it, and nothing is expected where the question cannot be answered.
    """
    if question.is_unanswerable or is_clear_refusal(answer, question.question):
        return False
    said = _words(answer)
    accepted = filter(None, (question.expected_answer, *question.answers))
    return any(is_abstention(text, question.question) and _are_near(said, _words(text)) for text in accepted)


def _words(text: str) -> list[str]:
    return [word for word in dict.fromkeys(tokens(text)) if len(word) > 1 and word not in STOP_WORDS]


def _are_near(words: list[str], others: list[str]) -> bool:
    """Whether most words of each stand in the other, in some form."""
    both = len(shared(words, others)) + len(shared(others, words))
    return bool(words and others) and both >= _NEAR * (len(words) + len(others))


# Does an answer hold what is expected? Then it declines nothing, whatever its words.


_EXPECTED_YES_NO = frozenset(
    ["yes", "no", "true", "false", "ja", "nein", "oui", "non", "si", "sí", "sim", "não", "nao"]
)

_BELOW_TEN = frozenset(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])


_NONE = pattern("no_answer_label")

_SMALL = re.compile(r"\d(?:\.0+)?")


def holds_expected(answer: str, question: EvalQuestion) -> bool:
    """Whether the expected answer or an accepted variant stands in the answer, as whole words.

    Yes and no, numbers below ten, words that say nothing ("it") and parts of the question do not count: they stand in
    a refusal too, and so does a label for no answer at all. Of a question that cannot be answered nothing is expected.
    """
    if question.is_unanswerable:
        return False
    accepted = (question.expected_answer or "", *question.answers)
    return any(_tells(form, question.question) and form in framed(answer) for form in map(framed, accepted))


def _tells(form: str, question: str) -> bool:
    """Whether a form of words, as `framed` writes it, would not be met in a refusal."""
    words = form.split()
    if not words or STOP_WORDS.issuperset(words) or _NONE.fullmatch(form):
        return False
    if len(words) == 1 and (words[0] in _EXPECTED_YES_NO or words[0] in _BELOW_TEN or _SMALL.fullmatch(words[0])):
        return False
    return form not in framed(question)
