"""Sentences of a text, by the Punkt algorithm (Kiss & Strunk 2006) with a list of abbreviations of our own.

A trained model would have to be downloaded, so what it would know of English stands in `evals/data/english.toml`.
Before Punkt sees a text it is cut where no sentence goes on: at empty lines, list items, headings, table rows, and
after the full stops of Chinese and Japanese.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise, product
from string import whitespace
from typing import NamedTuple, cast

from evals.text.folding import (
    ANYWHERE,
    BEFORE_NAMES,
    BEFORE_NUMBERS,
    ENGLISH,
    STARTERS,
    UNSPACED,
    fold,
    remembered,
    unaccented,
    undotted,
)
from evals.text.notation import closed_up, plain_numbers

# A text as words and the clauses that they stand in, with one way to write what can be written in several.


_SPACE = re.compile(r"\s+")

_AMOUNT = r"[$€£¥]?\d+(?:[.,]\d+)*"

_PERCENT = r"(?:\s?%|[\s-]?per[ -]?cent\b)"

_UP_TO = r"(?:\s?[-\u2010-\u2014]\s?|\s(?:to|through)\s)"


_REWRITTEN = (
    # Of a range one way to write it, with percent at both ends or at none: 5-10%, "5% to 10%".
    (re.compile(rf"(?<=\d){_PERCENT}?{_UP_TO}(?={_AMOUNT}{_PERCENT})"), "%-"),
    (re.compile(rf"(?<=\d){_UP_TO}(?={_AMOUNT})"), "-"),
    (re.compile(r"\s?%|\bper[ -]cent\b"), " percent"),
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?<=[^\W\d_]{3})our(?=(?:s|ed|ing|ful|able|ite)?\b)"), "or"),  # colour, favourite
)


_CLAUSE_END = re.compile(
    r"[!?;()\n…。！？]|[.,:](?!\d)|\s[–—-]\s|\b(?:and|but|yet|however|while|whereas|although|though)\b"
)


# Between words stands what is neither a letter nor a digit nor a mark that belongs to a letter, as in Hindi.
_BETWEEN = r"\s\x00-/:-@\[-`{-\xbf×÷\u2000-\u2bff\u3000-\u303f\U0001f000-\U0001faff"


# C++ and C# are other words than C.
_CLAUSES_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{UNSPACED}]|[^{_BETWEEN}{UNSPACED}]+(?:\+\+|[+#](?!\w))?")


@dataclass(frozen=True)
class Clauses:
    """The words of a text, and for each the number of its clause; for each clause how it begins.

    Attributes:
        words: In their order, folded.
        clauses: The number of each word's clause, rising; clauses without words are counted too.
        joined: The words with a blank between them.
        begins: The first two characters of each clause by its number: mostly a mark and a blank.
    """

    words: tuple[str, ...] = ()
    clauses: tuple[int, ...] = ()
    joined: str = field(default="", compare=False)
    begins: tuple[str, ...] = ()

    def of_clause(self, clause: int | None, end: int | None = None) -> list[str]:
        """The words of a clause that stand before a place."""
        return [word for word, number in zip(self.words[:end], self.clauses, strict=False) if number == clause]

    def following(self, clause: int) -> int | None:
        """The number of the next clause with words, where there is one."""
        return next((number for number in self.clauses if number > clause), None)

    def behind(self, place: int, most: int) -> list[tuple[str, list[str]]]:
        """What follows the word at a place: the rest of its clause and the next ones, each with its mark."""
        words: dict[int, list[str]] = {}
        for at in range(place + 1, len(self.words)):
            clause = self.clauses[at]
            if clause not in words and len(words) == most:
                break
            words.setdefault(clause, []).append(self.words[at])
        return [(self._mark(clause), found) for clause, found in words.items()]

    def _mark(self, clause: int) -> str:
        """The mark before a clause; empty where a word begins it."""
        begin = self.begins[clause]
        return "" if begin[:1].isalnum() else begin.strip()[:1]


@remembered(60_000)
def read_clauses(text: str) -> Clauses:
    """Cut a text into clauses and words, folded, with contractions and percent signs written out."""
    # One blank or line break each, or the patterns would go over a long run again and again.
    text = _SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", fold(closed_up(undotted(text))))
    text = unaccented(text)
    for pattern, plain in _REWRITTEN:
        text = pattern.sub(plain, text)
    parts = list(_clauses(text))
    found = [(word, clause) for clause, part in enumerate(parts) for word in _words(part)]
    words = tuple(word for word, _ in found)
    begins = tuple([part[:2] for part in parts])
    return Clauses(words, tuple(clause for _, clause in found), " ".join(words), begins)


def _words(clause: str) -> Iterator[str]:
    """The words of a clause, numbers by value: 1,250.00 is 1250."""
    for word in _CLAUSES_WORD.findall(clause):
        yield from plain_numbers(word) if word[0].isdecimal() else (word,)


def _clauses(text: str) -> Iterator[str]:
    """Cut after the marks and before the words that begin a clause, so that no word is lost."""
    start = 0
    for mark in _CLAUSE_END.finditer(text):
        yield text[start : mark.start()]
        start = mark.start()
    yield text[start:]


# How English takes back what it says: words that negate, and phrases that set a fact aside or call it false.


_NEGATIONS = frozenset(ENGLISH["negations"].split())

_SET_ASIDE = frozenset({("rather", "than"), ("instead", "of"), ("opposed", "to"), ("place", "of")})


_BEFORE_A_FACT = frozenset(ENGLISH["before_a_fact"].split())

_FALSE = r"(?:false|wrong|untrue|incorrect|mistaken|a myth|a misconception)"

_FALSE_WORDS = frozenset({"false", "wrong", "untrue", "incorrect", "mistaken", "myth", "misconception"})

_IS_FALSE = re.compile(rf"\b(?:is|are|was|were|be) (?:\w+ )?{_FALSE}(?= that\b|$)")


_CALLED_FALSE = re.compile(
    r"(?:(?:and|but|yet|however|though|although) )?(?:which|this|that) (?:is|are|was|were) "
    rf"(?:(?:\w+ ){{0,2}}{_FALSE}(?: (?:because|since|as|according)\b.*)?|"
    r"(?:\w+ )?not (?:\w+ )?(?:true|correct|right|so))"
)


def denials(words: Sequence[str]) -> int:
    """How often the words of a clause deny something: "not", "nobody", "it is false that", "wrongly"."""
    return sum(word in _NEGATIONS for word in words) + len(_IS_FALSE.findall(" ".join(words)))


def may_deny(words: Sequence[str]) -> bool:
    """Whether some part of the words may deny something: where this is not so, `denials` finds nothing in any."""
    return not (_NEGATIONS.isdisjoint(words) and _FALSE_WORDS.isdisjoint(words))


def is_set_aside(before: Sequence[str]) -> bool:
    """Whether the words before a fact set it aside: "London rather than", "instead of in"."""
    end = len(before)
    while end > 1:
        if tuple(before[end - 2 : end]) in _SET_ASIDE:
            return True
        if before[end - 1] not in _BEFORE_A_FACT:
            return False
        end -= 1
    return False


def is_called_false(following: Sequence[str]) -> bool:
    """Whether the clause behind a fact calls it false: "which is wrong", "but that is not true"."""
    return bool(_CALLED_FALSE.fullmatch(" ".join(following)))


def is_undecided(words: Sequence[str], clauses: Sequence[int]) -> bool:
    """Whether an answer says "yes and no" or the like, at the end of a clause."""
    for at in range(len(words) - 2):
        one, between, other = words[at : at + 3]
        ends = at + 3 == len(words) or clauses[at + 3] != clauses[at + 2]
        if ends and between in {"and", "or"} and {one, other} == {"yes", "no"}:
            return True
    return False


# Where sentences end, by the Punkt algorithm (Kiss & Strunk 2006) with abbreviations that are given, not learnt.


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


# Numbers that share their name with others: "territories 118 and 117", "Rules C-1, C-2 and C-3", "C-1 through
# C-12".


_FORM = re.compile(r"(?:(?P<name>.*[^\W\d_])\s+)?(?:(?P<code>[^\W\d_]{1,3})-)?(?P<number>\d{1,9})")

_BARE_CODE = re.compile(r"[^\W\d_]-\d+")

_SERIES_NUMBER = r"(?P<number>\d{1,9})(?!\w|[.,]\d|\s?%)"


_SERIES_BETWEEN = re.compile(
    r" ?[,;&/][ \n]?(?:(?:and|or)[ \n])?|[ \n](?:and|or|versus|vs\.?)[ \n]|"
    r"(?P<range> ?[-–] ?|[ \n](?:up to|to|through|thru|until)[ \n])"
)

_SERIES_SPACE = re.compile(r"\s+")

_DASHES = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2212": "-", "\u2014": "–", "\u2012": "–"})


class _Series(NamedTuple):
    """What a form looks for: how a series begins, an item of it, the end of a range, and the number."""

    head: re.Pattern[str]
    item: re.Pattern[str]
    end: re.Pattern[str]
    number: int


def is_bare_code(form: str) -> bool:
    """Whether the form is one letter with a number, such as "C-1": there "Section C (1 page)" would hold its words."""
    return bool(_BARE_CODE.fullmatch(_readable(form)))


def stands_in_series(text: str, form: str) -> bool:
    """Whether the number of the form stands in a list or a range behind its name or code; a series of one counts."""
    series = _series(form)
    return series is not None and any(low <= series.number <= high for low, high in _spans(_readable(text), series))


@lru_cache(maxsize=1024)
def _series(form: str) -> _Series | None:
    found = _FORM.fullmatch(_readable(form))
    if not found or not (found["name"] or found["code"]):
        return None
    names = f"(?:{re.escape(_plural(found['name']))}|{re.escape(found['name'])})" if found["name"] else ""
    again = f"(?:{names} )?" if names else ""
    code = f"{re.escape(found['code'])}-?" if found["code"] else ""
    if not code:  # "territory 118, 117 homes" is no list
        head = rf"\b{re.escape(_plural(found['name']))}[: ] ?\(?(?:of )?"
    else:
        head = rf"\b{names}[: ] ?\(?" if names else rf"(?<![\w-])(?={code}\d)"
    item, end = f"{again}{code}{_SERIES_NUMBER}", f"{again}(?:{code})?{_SERIES_NUMBER}"
    return _Series(re.compile(head), re.compile(item), re.compile(end), int(found["number"]))


def _spans(text: str, series: _Series) -> Iterator[tuple[int, int]]:
    """The numbers of every series as first and last of a range; a single number is both."""
    reached = 0
    for head in series.head.finditer(text):
        if head.start() < reached:
            continue
        low = None
        item = series.item.match(text, head.end())
        while item:
            number, reached = int(item["number"]), item.end()
            yield (number if low is None else low), number
            between = _SERIES_BETWEEN.match(text, reached)
            if between is None:
                break
            low = number if between["range"] else None
            item = (series.item if low is None else series.end).match(text, between.end())


def _plural(name: str) -> str:
    if re.search(r"[^aeiou]y$", name):
        return f"{name[:-1]}ies"
    return f"{name}es" if re.search(r"(?:s|x|ch|sh)$", name) else f"{name}s"


@lru_cache(maxsize=1024)
def _readable(text: str) -> str:
    """The text folded, with one kind of each dash and one blank or line break at a time."""
    return _SERIES_SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", fold(text).translate(_DASHES)).strip()


_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•‣◦·–>]|\(?\d{1,3}[.)]|#{1,6})[ \t]+)+|[ \t]*(?=\|)")

_ONE_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")

_WIDE_STOP = re.compile(r"[。！？｡]+[」』”’）)\"']*(?:\s*\[\d+(?:\s*[,;–-]\s*\d+)*\])*")

_WORD = re.compile(r"\w")


# What belongs to the sentence that it follows: closing quotes and brackets, and citations such as [1] or [2, 3].
_REALIGNED = re.compile(r"(?:[\"')\]}‘’“”»]+|(?:\[\d+(?:\s*[,;–-]\s*\d+)*\]\s*)+)(?:\s+|(?=--)|$)", re.MULTILINE)


_PUNKT = Punkt(
    BEFORE_NAMES | ANYWHERE,
    frozenset({*product(BEFORE_NAMES, STARTERS), *product(BEFORE_NUMBERS, [NUMBER])}),
    STARTERS,
    _REALIGNED,
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space around them and without the marks of list items."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text stand: first and one-past-last character of each, in order.

    Spans do not overlap. White space, marks of list items and lines without any letter or digit are in none of them.
    """
    spans = []
    for start, end in _blocks(text):
        for first, last in _PUNKT.spans(text[start:end]):
            span = _stripped(text, start + first, start + last)
            if span is not None:
                spans.append(span)
    return spans


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a text over whose borders no sentence goes."""
    for start, end in _paragraphs(text):
        place = start
        for stop in _WIDE_STOP.finditer(text, start, end):
            yield place, stop.end()
            place = stop.end()
        if place < end:
            yield place, end


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Paragraphs, list items, headings and table rows, without the marks at their start."""
    begin = place = 0
    closed = True
    for line in text.splitlines(keepends=True):
        mark = _ITEM.match(line)
        empty = not _WORD.search(line)
        if closed or mark or empty:
            if begin < place:
                yield begin, place
            begin = place + (mark.end() if mark else 0)
        closed = empty or bool(_ONE_LINE.match(line))
        place += len(line)
    if begin < place:
        yield begin, place


def _stripped(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space at its ends; None where it says nothing."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return (start, end) if _WORD.search(text, start, end) else None


# Word tokens as NLTK's word tokenizer gives them, sentence by sentence; many times faster where words recur.


_MARK = ",;"
"""NLTK splits these off wherever they end a word inside a sentence."""


_ENDS = frozenset(".?!")
"""One of these NLTK splits off the last word of a sentence, where nothing follows it."""


_SPLIT = frozenset({"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"})
"""What NLTK splits although it is letters only."""


_LONGEST = 64
"""Characters of a word that is worth remembering."""


def word_set(text: str) -> frozenset[str]:
    """Return the text's distinct word tokens: NLTK's, lower-cased, kept where all characters are alphanumeric."""
    words: set[str] = set()
    for sentence in sentences(text):
        end = _last_word(sentence)
        for chunk in sentence[:end].split():
            word = chunk.rstrip(_MARK).lower()
            if word.isascii() and word.isalnum() and word not in _SPLIT:
                words.add(word)
            else:
                words.update(_within(chunk) if len(chunk) <= _LONGEST else _within.__wrapped__(chunk))
        words.update(_last(sentence[end:]))
    return frozenset(words)


def _last(chunk: str) -> tuple[str, ...]:
    """The tokens of the last word of a sentence, with what follows it."""
    word = (chunk[:-1] if chunk[-1:] in _ENDS else chunk).lower()
    if word.isascii() and word.isalnum() and word not in _SPLIT:
        return (word,)
    return _at_end(chunk) if len(chunk) <= _LONGEST else _at_end.__wrapped__(chunk)


def _last_word(sentence: str) -> int:
    """Where the last characters between white space begin that hold a letter or digit; 0 where none do."""
    place = len(sentence)
    while place and not sentence[place - 1].isalnum():
        place -= 1
    while place and not sentence[place - 1].isspace():
        place -= 1
    return place


@lru_cache(maxsize=65536)
def _within(chunk: str) -> tuple[str, ...]:
    """The tokens of characters between white space, inside a sentence."""
    return _alphanumeric(_tokenize()(f"x {chunk} x")[1:-1])


@lru_cache(maxsize=65536)
def _at_end(chunk: str) -> tuple[str, ...]:
    """The same of the last word of a sentence, with what follows it."""
    return _alphanumeric(_tokenize()(f"x {chunk}")[1:])


def _alphanumeric(tokens: list[str]) -> tuple[str, ...]:
    return tuple(token.lower() for token in tokens if token.isalnum())


@cache
def _tokenize() -> Callable[[str], list[str]]:
    from nltk.tokenize import NLTKWordTokenizer  # noqa: PLC0415 - a second, for metrics that need tokens only

    return cast("Callable[[str], list[str]]", NLTKWordTokenizer().tokenize)
