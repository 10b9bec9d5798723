"""How an answer begins, whether it is asked what others said, and whether its numbers are those of the question.

An answer with a caveat mostly begins with what was asked for, at once ("Four hours or so"); a refusal with related
facts begins as a text does ("The Kingsway gym opened in 1998").
"""

import math
import re
from itertools import pairwise

from evals.case.abstention.clauses import Clause, Kind
from evals.case.abstention.roles import WORD, Lexicon
from evals.case.abstention.topic import TELLING

_AT_ONCE = 4
"""Words within which an answer gives at once what was asked for."""
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_REFUSED = re.compile(
    r"\b(?:reject\w*|refus\w*|den(?:y|ied)|declin\w*|turned down|ab\w*lehnt\w*|verweigert\w*|zuruckgewiesen|rejet\w*|"
    r"deneg\w*|rechaz\w*|negad\w*|recus\w*|respint\w*|rifiut\w*|negat\w*|indefer\w*|fail\w*|cancel\w*)\b"
)
"""Of a question why something was refused: that something was missing is the answer."""
_YES_NO = re.compile(
    r"\b(?:yes|no|not|never|ja|nein|nicht|keine?|oui|non|pas|si|sim|nao|nunca|mai|ningun\w*|nessun\w*|nenhum\w*)\b"
)


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
