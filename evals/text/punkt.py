"""Where sentences end, by the Punkt algorithm (Kiss & Strunk 2006) with abbreviations that are given, not learnt.

The decisions are those of NLTK's `PunktSentenceTokenizer`, to which tests hold them. They are made here because a part
of NLTK cannot be imported without all of it, which brings in pandas, SciPy and scikit-learn where they are installed:
a second of CPU and 150 MB for each run that looks at a sentence.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from string import whitespace
from typing import NamedTuple

# A sign that stands in no word, and runs of hyphens and dots.
_SIGN = r"[)\";}\]*:@'({\[‘’“”«»?!]"
_RUN = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_TOKEN = re.compile(rf"{_RUN}|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_SIGN}|{_RUN}|,(?=$|\s|{_SIGN}|{_RUN}))|\S")
_STOP = re.compile(rf"[.?!](?=(?P<after>{_SIGN}|\s+(?P<next>\S+)))")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
_STOPS, _SIGNS = frozenset(".?!"), frozenset(";:,.!?")
_DECISIONS = 32768
NUMBER = "##number##"
"""What stands for any number in collocations."""


class Punkt:
    """Finds the sentences of a text.

    Args:
        abbreviations: In lower case, without the last full stop.
        collocations: Pairs of words over whose full stop a sentence goes on.
        starters: Words that begin a sentence where they have a capital, as within one they have none.
        closing: What follows a stop and belongs to the sentence before it.
    """

    def __init__(
        self,
        abbreviations: Collection[str],
        collocations: Collection[tuple[str, str]],
        starters: Collection[str],
        closing: re.Pattern[str],
    ) -> None:
        self._abbreviations = abbreviations
        self._collocations = collocations
        self._starters = starters
        self._closing = closing
        # Nearly all the time goes into this decision, which looks at the two words around a stop only.
        self._is_end = lru_cache(maxsize=_DECISIONS)(self._decide)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The first and one-past-last character of each sentence, in order."""
        taken, cut = 0, list(self._cut(text))
        for (start, end), (following, stop) in pairwise([*cut, (len(text), len(text))]):
            closing = self._closing.match(text[following:stop]) if following < stop else None
            if closing:
                yield start + taken, following + len(closing[0].rstrip())
            elif start + taken < end:
                yield start + taken, end
            taken = closing.end() if closing else 0

    def _cut(self, text: str) -> Iterator[tuple[int, int]]:
        """The sentences, before what closes one is taken to it."""
        start = 0
        for stop, context in _contexts(text):
            if self._is_end(context):
                yield start, stop.end()
                start = stop.start("next") if stop["next"] else stop.end()
        yield start, len(text.rstrip())

    def _decide(self, context: str) -> bool:
        """Whether a sentence ends within these few words."""
        tokens = [
            _Token.of(token, self._abbreviations) for line in context.split("\n") for token in _TOKEN.findall(line)
        ]
        return any(self._ends(token, following) for token, following in pairwise(tokens))

    def _ends(self, token: "_Token", following: "_Token") -> bool:
        """Whether a sentence ends with a token, seen beside the one that follows it."""
        if not token.text.endswith("."):
            return token.ends
        if (token.plain, following.kind) in self._collocations:
            return False
        begins = self._begins(following)
        if token.is_initial and begins is None:
            return token.ends and not following.text[0].isupper()
        if token.is_undecided:
            return begins is True
        return token.ends and (begins is not False or not token.is_initial_or_number)

    def _begins(self, token: "_Token") -> bool | None:
        """Whether a token begins a sentence, by how it is written; None where that does not tell."""
        if token.text in _SIGNS:
            return False
        if token.text[0].isupper() and token.kind in self._starters:
            return True
        return False if token.text[0].islower() else None


class _Token(NamedTuple):
    """A word or a sign.

    Attributes:
        text: As it stands there.
        kind: In lower case, any number as `NUMBER`; without the full stop where a sentence may end with it.
        plain: The same without a full stop in any case.
        ends: Whether a sentence ends with it, as far as it tells by itself.
        is_abbreviation: Whether it is a known one.
    """

    text: str
    kind: str
    plain: str
    ends: bool
    is_abbreviation: bool

    @classmethod
    def of(cls, text: str, abbreviations: Collection[str]) -> "_Token":
        """What a token tells by itself."""
        low = text.lower()
        kind = NUMBER if _NUMBER.fullmatch(low) else low
        plain = kind[:-1] if len(kind) > 1 and kind.endswith(".") else kind
        if text in _STOPS:
            return cls(text, plain, plain, ends=True, is_abbreviation=False)
        if not text.endswith(".") or text.endswith(".."):
            return cls(text, kind, plain, ends=False, is_abbreviation=False)
        known = low[:-1] in abbreviations or low[:-1].split("-")[-1] in abbreviations
        return cls(text, kind if known else plain, plain, ends=not known, is_abbreviation=known)

    @property
    def is_initial(self) -> bool:
        """Whether it is one letter with a full stop."""
        return self.text[1:] == "." and (self.text[0].isalpha() or self.text[0] == "_")

    @property
    def is_initial_or_number(self) -> bool:
        """Whether it may be that or the number of an item, after which a sentence goes on."""
        return self.is_initial or self.plain == NUMBER

    @property
    def is_undecided(self) -> bool:
        """Whether only what follows tells: it is an abbreviation of several letters, or nothing but full stops."""
        return (self.is_abbreviation and not self.is_initial) or (len(self.text) > 1 and not self.text.strip("."))


def _contexts(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each stop at which a sentence may end, of several in a row the last, with the word before it and what follows."""
    begin = end = 0
    stop: re.Match[str] | None = None
    for found in _STOP.finditer(text):
        before = text[end : found.start()]
        space = max(map(before.rfind, whitespace))
        first = end + space + 1 if space > 0 else begin
        if stop and end <= first:
            yield stop, f"{text[begin:end]}{stop[0]}{stop['after']}"
        stop, begin, end = found, first, found.start()
    if stop:
        yield stop, f"{text[begin:end]}{stop[0]}{stop['after']}"
