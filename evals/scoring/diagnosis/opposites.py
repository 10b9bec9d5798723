"""Whether an answer says the opposite of what is expected: fell for rose, at most for at least, after for before.

The numbers may be the same, and most of the words too. English is read.
"""

import re
from re import Pattern

from evals.text.denials import denials
from evals.text.folding import tokens


def _either(words: str) -> Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_NUMBER = r"(?=\s+(?:[$€£]|\d|(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half)\b))"
"""What stands behind a word that bounds a number: not "over the counter"."""
_PAIRS = (
    (
        _either(
            "rise[sn]?|rose|rising|increas(?:e[sd]?|ing)|grow(?:s|n|ing)?|grew|growth|gain(?:s|ed)?|climb(?:s|ed)?|"
            "rais(?:e[sd]?|ing)|higher|extend(?:s|ed)?|up from"
        ),
        _either(
            "fall(?:s|en|ing)?|fell|decreas(?:e[sd]?|ing)|declin(?:e[sd]?|ing)|drop(?:s|ped|ping)?|shr[aiu]nk(?:s|en)?|"
            "reduc(?:e[sd]?|ing|tion)|lower(?:s|ed|ing)?|cut(?:s|ting)?|shorten(?:s|ed)?|down from|lost|loss"
        ),
    ),
    (
        _either(
            "more than|at least|no less than|not less than|no fewer than|minimum|exceed(?:s|ed|ing)?|greater than|"
            rf"longer than|or (?:more|over|above|older|later)|older than|(?:over|above){_NUMBER}"
        ),
        _either(
            "less than|fewer than|at most|no more than|not more than|no longer than|maximum|shorter than|"
            rf"or (?:less|fewer|under|below|younger|earlier)|younger than|(?:under|below|up to|within){_NUMBER}"
        ),
    ),
    (_either("before|prior to|ahead of|in advance|until|no later than"), _either("after|no earlier than")),
    (
        _either("grant(?:s|ed)?|allow(?:s|ed)?|permit(?:s|ted)?|approv(?:e[sd]?|al)|accept(?:s|ed)?"),
        _either(
            "den(?:y|ies|ied)|refus(?:e[sd]?|al)|forbid(?:s|den)?|reject(?:s|ed)?|prohibit(?:s|ed)?|revok(?:e[sd]?)"
        ),
    ),
    (
        _either("inhibit(?:s|ed|ion)?|block(?:s|ed)?|prevent(?:s|ed)?|suppress(?:es|ed)?"),
        _either("promot(?:e[sd]?|ion)|stimulat(?:e[sd]?|ion)|activat(?:e[sd]?|ion)|enhanc(?:e[sd]?)"),
    ),
    (_either("enabl(?:e[sd]?|ing)"), _either("disabl(?:e[sd]?|ing)")),
    (_either("includ(?:e[sd]?|ing)"), _either("exclud(?:e[sd]?|ing)")),
    (_either("mandatory|compulsory|required|obligatory|must|necessary|needed"), _either("optional|voluntary")),
)
"""Words with their opposites; words of one side say the same here."""


def is_reversed(expected: str, sentence: str) -> bool:
    """Whether a sentence has the opposite of a word that is expected, and none that says the same.

    Where one of the two denies and the other does not, opposites say the same: not allowed is prohibited.

    Args:
        expected: The expected answer.
        sentence: The sentence of the answer that is nearest to it.
    """
    if bool(denials(tokens(expected))) is not bool(denials(tokens(sentence))):
        return False
    return any(
        bool(wanted.search(expected)) and not other.search(expected)
        and bool(other.search(sentence)) and not wanted.search(sentence)
        for pair in _PAIRS
        for wanted, other in (pair, pair[::-1])
    )  # fmt: skip
