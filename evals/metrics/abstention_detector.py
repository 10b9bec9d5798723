"""Does an answer decline to answer? Decided by words and their position, not by bare substrings.

The answer is cut into clauses; text in quotation marks does not count. Each clause *declines* ("the sources do not
say"), is *courtesy* ("please contact support"), *describes the sources* ("the guide covers installation") or
*answers*. An answer abstains when it declines and nothing in it answers; where both occur, order and hedges decide.
"""

import re
from functools import lru_cache

from evals.metrics.abstention_phrases import COURTESY, DECLINES, DESCRIBES, HEDGES, REPORTED
from evals.metrics.text import fold

_QUOTED = re.compile(r"\"[^\"]*\"|«[^«»]*»|(?<!\w)'[^']{3,}'(?!\w)")
_MARKS = re.compile(r"[*_#`>|~]+|^\s*(?:[-+•]|\d+[.)])\s+|\[[^\]]{0,12}\]", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?。!?])\s+|\n+|(?<=[。!?])")
_CLAUSE = re.compile(
    r";|:\s|\(|\)|\s[–—-]\s|,?\s+\b(?:but|yet|however|although|though|whereas|so|aber|pero|mais|maar)\b,?\s*"
)
_YES_NO = re.compile(r"^(?:yes|no|nope|yeah|ja|nein|oui|non|sí|si|sim|não|nee)\s*(?:[,.;:!]|[–—-]\s|$)")
_NOTHING = re.compile(
    r"^(?:answer:?\s*)?"
    r"(?:n/?a|none|null|nil|no answer|unknown|not known|idk|cannotanswer|not sure|unsure|undefined)?[\s.!?]*$"
)
_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our)\b")
# "Does the will mention her?" is answered by "It does not mention her".
_ABOUT_MENTION = re.compile(r"^(?:do|does|did|is|are|was|were)\b.*\b(?:mention|specif|describe|state|say|explain|name)")
_COMPOUND = re.compile(
    r"\band\b|\bund\b|\by\b|\bet\b|^\s*(?:list|name|summari[sz]e|compare|describe)\b|\bwhat do the\b"
)


def is_abstention(answer: str, question: str = "") -> bool:
    """Whether the answer declines to answer.

    Args:
        answer: The text of the answer; an empty one counts as declining.
        question: Helps where an answer states one thing and declines another: to "weight and price?" that is a
            partial answer, to "price?" it is none.
    """
    asked = question.lower()
    return _is_abstention(answer, bool(_COMPOUND.search(asked)), bool(_ABOUT_MENTION.search(asked)))


@lru_cache(maxsize=4096)
def _is_abstention(answer: str, compound: bool, about_mention: bool) -> bool:
    text = _MARKS.sub(" ", fold(_squeezed(answer.replace("`", "")))).strip()
    if not any(char.isalnum() for char in text) or _NOTHING.match(text):
        return True
    if _YES_NO.match(text):
        return False
    if about_mention and not _FIRST_PERSON.search(text):
        return False
    kinds = [kind for kind in map(_kind, _clauses(_QUOTED.sub(" QUOTE ", text))) if kind]
    return _decide(kinds, compound)


def _squeezed(text: str) -> str:
    """The text without runs of blanks and empty lines, over which the patterns would go again and again."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _decide(kinds: list[str], compound: bool) -> bool:
    """Decide by the kinds of the clauses, in their order."""
    if "declines" not in kinds:
        return False
    first = kinds.index("declines")
    before = kinds[:first]
    if "hedges" in kinds:
        return False
    if "answers" not in before:
        return True
    return not compound and kinds[-1] != "answers"


def _clauses(text: str) -> list[str]:
    parts = (clause for sentence in _SENTENCE.split(text) for clause in _CLAUSE.split(sentence))
    return [" ".join(part.split()) for part in parts if part and any(char.isalnum() for char in part)]


def _kind(clause: str) -> str | None:
    """What a clause does; None for courtesy, which decides nothing."""
    declined = DECLINES.search(clause)
    if declined and not REPORTED.search(clause[: declined.start()]):
        _, comma, rest = clause[declined.end() :].partition(",")
        return "hedges" if comma and HEDGES.search(rest) else "declines"
    if COURTESY.search(clause):
        return None
    if HEDGES.search(clause):
        return "hedges"
    return "describes" if DESCRIBES.search(clause) else "answers"
