"""Does an answer decline to answer? Decided sentence by sentence, by who says of what that it is not told.

The answer is cut into clauses; text in quotation marks does not count. Each clause *declines* ("the sources do not
say"), *answers*, *guesses* ("probably in 1240"), *describes the sources* ("the guide covers installation"), *allows*
that something may be so, or does nothing of it ("please contact support"). An answer abstains when it declines and
nothing in it answers. Where it does both, what is declined decides: a caveat ("no further details are given", "whether
students pay it is not said") leaves an answer one; what was asked does not.
"""

import re
from functools import lru_cache

from evals.case.abstention.another import tells_of_another
from evals.case.abstention.clauses import Context, Kind
from evals.case.abstention.directions import directs
from evals.case.abstention.evidence import Answer
from evals.case.abstention.facts import sense_of
from evals.case.abstention.idle import HINTS, WITHOUT_APOSTROPHE, is_idle
from evals.case.abstention.languages import LANGUAGES
from evals.case.abstention.others import BARE, NO_NUMBER, declines_elsewhere
from evals.case.abstention.outcomes import is_outcome
from evals.case.abstention.question import Asked, read_question
from evals.case.abstention.reading import written_out
from evals.case.abstention.roles import WORD, Lexicon, lexicons_of, without_accents
from evals.case.abstention.score import declines
from evals.case.abstention.sentences import clauses
from evals.case.abstention.topic import Topic
from evals.case.abstention.wrapping import unwrapped
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
_YES_NO = re.compile(
    r"^(?:(?:unfortunately|leider|malheureusement|lamentablemente|purtroppo|infelizmente),? )?"
    r"(?:yes|no|nope|yeah|ja|nein|oui|non|si|sim|nao|nee)\s*(?:[,.;:!]|[–—-]\s|$)"
)
_NO_APOSTROPHE = re.compile(rf"\b({'|'.join(word.removesuffix('nt') for word in WITHOUT_APOSTROPHE)})nt\b")
_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our)\b")
_MEANS = re.compile(
    r"\b(?:means|mean|tells? the|indicates|bedeutet|bedeuten|hei(?:ss|ß)t|signifie|veut dire|"
    r"significa|quiere decir|vuol dire|quer dizer)\b"
)
_SIMPLE = re.compile(r"[a-z0-9][a-z0-9 ,.:;()/%$&+-]*")
"""One line of ASCII that folding only lower-cases: nothing in it is quoted, marked, or a citation."""
_SHORT = 40
"""Words of an answer in which a hint tells something; a longer one that declines has a word that can."""
_LONG = 80
"""Words of an answer above which one declines only where a clause does so by rule."""
_LABEL = re.compile(
    r"^(?:(?:no|not enough|insufficient) "
    r"(?!\w* ?(?:information|info|answer|context|relevant|match|documents?|evidence)\b)"
    r"[\w ]{1,30}|not (?:found|available))\.?$"
)


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


@lru_cache(maxsize=512)
def _is_abstention(answer: str, question: str) -> bool:
    if _is_simple_and_idle(answer):
        return False
    found = read_answer(unwrapped(answer), question)
    return found if isinstance(found, bool) else declines(found)


def read_answer(answer: str, question: str) -> Answer | bool:
    """The answer as it is weighed; whether it declines, where that needs no weighing."""
    text = _plain(answer)
    if not _has_words(text) or BARE.match(text) or _WHOLE.match(text):
        return not (NO_NUMBER.match(text) and read_question(question).counts)
    unquoted = _without_quotes(text, question)
    lexicons = _lexicons_for(unquoted)
    if not lexicons:
        return False
    asked = read_question(question)
    if _is_fact(text, asked) or (asked.counts and NO_NUMBER.match(text)):
        return False
    context = Context(asked, Topic(question), sense_of(unquoted, asked), lexicons)
    return _weighed(Answer(question, answer, unquoted, list(clauses(unquoted, context)), context))


def _weighed(answer: Answer) -> Answer | bool:
    """The answer, where neither what was asked, nor its length, nor what it tells instead settles the matter."""
    topic, lexicons = answer.context.topic, answer.context.lexicons
    if is_outcome(answer.text, topic.text, lexicons) or _is_long_and_declines_nothing(answer):
        return False
    if tells_of_another(answer):
        return True
    directed = directs(answer)
    return answer if directed is None else not directed


def _is_long_and_declines_nothing(answer: Answer) -> bool:
    return len(answer.text.split()) > _LONG and all(clause.kind is not Kind.DECLINES for clause in answer.clauses)


def _is_simple_and_idle(answer: str) -> bool:
    """Whether an answer has idle words alone, and nothing that stands for something else: it is read no further."""
    text = answer.lower()
    return bool(_SIMPLE.fullmatch(text)) and _is_idle(text) and not (BARE.match(text) or _WHOLE.match(text))


def _is_idle(text: str) -> bool:
    """Whether no word of a folded text can decline, in whatever language it is: most short answers are such."""
    words = WORD.findall(written_out(text))
    return "?" not in text and all(map(is_idle, words)) and not declines_elsewhere(text)


def _without_quotes(text: str, question: str) -> str:
    """The text with a word in place of what is quoted, and without the question where that is."""
    if not any(mark in text for mark in "\"«'") or not _QUOTED.search(text):
        return text
    asked = fold(question) or None
    return _QUOTED.sub(lambda found: " " if asked and asked in found[0] else " QUOTE ", text)


def _lexicons_for(text: str) -> tuple[Lexicon, ...]:
    """Those by which a text is read; none where a quick look finds no word that can decline, or hints at it."""
    lexicons = () if _is_idle(text) else lexicons_of(text)
    return lexicons if _may_decline(text, lexicons) else ()


def _may_decline(text: str, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether a word of these can decline, or in a short answer hints at it."""
    words = WORD.findall(written_out(text)) if lexicons else []
    distinct = frozenset(words)
    if any(lexicon.may_decline(distinct) for lexicon in lexicons) or declines_elsewhere(text):
        return True
    return len(words) <= _SHORT and ("?" in text or any(lexicon.shown(distinct) & HINTS for lexicon in lexicons))


def _plain(answer: str) -> str:
    """The answer folded, without Markdown, citation marks, accents and the numbers of lists."""
    text = _MARKS.sub(" ", _without_citations(fold(_squeezed(answer.replace("`", ""))))).strip()
    if len(_LISTED.findall(text)) > 1:
        text = _LISTED.sub(" ", text)
    if any(word in text for word in WITHOUT_APOSTROPHE):
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


def _is_fact(text: str, asked: Asked) -> bool:
    """Whether the whole answers what was asked, though it may hold words that decline."""
    if _MEANS.search(text[:80]) and _MEANS.search(asked.text):
        return True
    if _YES_NO.match(text) or (asked.sign and _LABEL.match(text)):
        return True
    return asked.mentioned and not _FIRST_PERSON.search(text)
