"""Whether a quotation really stands where it is said to stand."""

import re
from collections.abc import Iterable

from rapidfuzz.fuzz import partial_ratio_alignment

from evals.metrics.text import fold, tokens

SIMILARITY = 92.0
"""Of a hundred. An altered statement still scores 80, so numbers and negations are compared exactly besides."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = frozenset({"no", "not", "never", "none", "nor", "neither", "cannot", "without", "t"})


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds the quotation, but for small slips of copying.

    Args:
        quote: What is said to be copied; an empty one is in no text.
        texts: Where it may stand.
    """
    wanted = " ".join(tokens(quote))
    if not wanted:
        return False
    for text in texts:
        held = " ".join(tokens(text))
        if f" {wanted} " in f" {held} " or _nearly(fold(quote), fold(text)):
            return True
    return False


def _nearly(quote: str, text: str) -> bool:
    found = partial_ratio_alignment(quote, text, score_cutoff=SIMILARITY)
    if found is None or found.score < SIMILARITY:
        return False
    there = text[found.dest_start : found.dest_end]
    same_numbers = set(_NUMBER.findall(quote)) <= set(_NUMBER.findall(there))
    return same_numbers and _negations(quote) == _negations(there)


def _negations(text: str) -> int:
    return sum(token in _NEGATION for token in tokens(text))
