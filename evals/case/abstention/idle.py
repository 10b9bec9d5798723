"""Words that neither decline nor hint at it in any language: a text of such words alone declines nothing."""

from functools import cache, lru_cache

from evals.case.abstention.roles import BITS, Heads, every_lexicon

_HINTING = (
    "only",
    "limit",
    "unreadable",
    "contact",
    "pass",
    "sorry",
    "access",
    "assistant",
    "given",
    "trace",
    "differ",
    "guesswork",
    "leave",
)
HINTS = sum(BITS[sign] for sign in _HINTING)
"""The signs that hint at a refusal in a short answer, as bits."""
WITHOUT_APOSTROPHE = tuple(
    f"{verb}nt" for verb in ("do", "does", "did", "is", "are", "was", "were", "could", "have", "has", "ca")
)
"""Short forms of "not" as they are often typed."""


class _Telling:
    """What words that decline or hint at it are, begin with and end with, in all languages together."""

    def __init__(self) -> None:
        lists = [lexicon.telling(HINTS) for lexicon in every_lexicon()]
        whole, beginnings, ends = (frozenset[str]().union(*alike) for alike in zip(*lists, strict=True))
        self._whole = whole | {"cannot", *WITHOUT_APOSTROPHE}  # which are read as two words
        self._beginnings, self._ends = beginnings, ends
        self._heads, self._tails = Heads(beginnings), Heads(end[::-1] for end in ends)

    def has(self, word: str) -> bool:
        """Whether a word is one of them."""
        if word in self._whole:
            return True
        cuts = range(1, len(word) + 1)
        if self._heads.may_begin(word) and any(word[:cut] in self._beginnings for cut in cuts):
            return True
        return self._tails.may_begin(word[::-1]) and any(word[-cut:] in self._ends for cut in cuts)


_telling = cache(_Telling)


@lru_cache(maxsize=1024)
def is_idle(word: str) -> bool:
    """Whether a folded word neither declines nor hints at it in any language."""
    return not _telling().has(word)
