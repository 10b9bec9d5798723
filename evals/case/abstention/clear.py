"""Is a refusal clearly one? Of an expected answer that only reads like one, it may be a finding.

"I do not know" and "the context does not say" are clear; "no defects were found" and "the contract does not specify a
cap" may be what is right to say.
"""

import re
from functools import lru_cache

from evals.case.abstention.detector import is_abstention
from evals.case.abstention.others import declines_elsewhere
from evals.case.abstention.roles import WORD, Lexicon, lexicons_of, without_accents
from evals.case.abstention.topic import shared
from evals.schemas import EvalQuestion
from evals.text.folding import fold, tokens
from evals.text.stop_words import STOP_WORDS

_NEAR = 0.75
"""The share of their words that answer and expected answer have in common where one says what the other does."""
_SPEAKS = frozenset("ijFGSaAqN")
"""Parts that speak of him who answers, of a text, of information or of the question."""
_FINDINGS = re.compile(
    r"\b(?:results?|evidence|ergebnis\w*|beweis\w*|resultat\w*|preuves?|resultados?|pruebas?|risultat\w*|prov[ae]s?)\b"
)
_SAID = re.compile(
    r"\b(?:not|nicht|pas|no|non|nao)\b(?: \w+){0,3} (?:mentioned|stated|specified|provided|given|erwahnt|angegeben|"
    r"genannt|mentionnee?s?|precisee?s?|indiquee?s?|mencionad\w+|especificad\w+|indicad\w+|menzionat\w+|"
    r"specificat\w+|indicat\w+|informad\w+)\b|\bno se (?:indica|especifica|menciona)\b"
)
"""What was asked is not said, and nobody is named who does not say it."""


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
    if lexicon.declines.search(plain):
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
