"""Split texts into sentences, by marks, capitals and a list of abbreviations, after Punkt (Kiss & Strunk 2006).

A trained model would have to be downloaded, so what it would know of English stands in `evals/data/english.toml`.
First a text is cut where no sentence continues: at empty lines, list items, headings, table rows, and
after the full stops of Chinese and Japanese.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
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
    """How often the words of a clause deny something: "not", "no one", "it is false that", "wrongly"."""
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

_WORD = re.compile(r"\w")

_ABBREVIATIONS = BEFORE_NAMES | ANYWHERE

_LONGEST = 64
"""Characters of the longest word that may be an abbreviation."""


_CITATION = r"\[\d+(?:\s*[,;–-]\s*\d+)*\]"

_WIDE_STOP = re.compile(rf"[。！？｡]+[」』”’）)\"']*(?:\s*{_CITATION})*")

# Closing quotes, brackets and citations such as [1] or [2, 3] belong to the sentence that they follow.
_STOP = re.compile(
    rf"(?<![.?!])(?P<marks>[.?!]++)(?P<closing>(?:\s*(?:[\"')\]}}‘’“”»]++|{_CITATION})(?=\s|\Z|\[))*)(?=\s|\Z|\[)"
)

# What a word cannot hold: before it, quotes and brackets open.
_LAST_WORD = re.compile(r"[^\s)\";}\]*:@({\[“”«»?!]*\Z")

_NEXT_WORD = re.compile(r"\s*([^\W_]+|[;:,.!?]|)")

_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")


def _sentences_of(text: str) -> Iterator[tuple[int, int]]:
    """The first and one-past-last character of each sentence, in order."""
    start = 0
    for stop in _STOP.finditer(text):
        if _ends_sentence(text, stop, start):
            yield start, stop.end()
            start = stop.end()
    yield start, len(text)


def _ends_sentence(text: str, stop: re.Match[str], start: int) -> bool:
    """Whether a sentence ends with a mark, by the words before and behind it, as Punkt does (Kiss & Strunk 2006)."""
    before = _LAST_WORD.search(text, max(start, stop.start() - _LONGEST), stop.start())
    word = before[0].lower().lstrip("'‘’")  # type: ignore[index]
    following = "" if stop["closing"] else _NEXT_WORD.match(text, stop.end())[1]  # type: ignore[index]
    starts = following[:1].isupper() and following.lower() in STARTERS
    if stop["marks"] != ".":
        return starts or not stop["marks"].endswith("..")
    if _is_bound(word, following):
        return False
    if word.isalpha() and len(word) == 1:
        return starts or not following[:1].isalpha()
    return starts or not {word, word.rpartition("-")[2]} & _ABBREVIATIONS


def _is_bound(word: str, following: str) -> bool:
    """Whether a word with a full stop belongs to the next one: a title to a name, "No." to a number."""
    if word in BEFORE_NAMES:
        return True
    if word in BEFORE_NUMBERS:
        return following[:1].isdecimal()
    goes_on = following[:1].islower() or following in tuple(";:,.!?")
    return goes_on and bool(_NUMBER.fullmatch(word))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space around them and without the marks of list items."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text stand: first and one-past-last character of each, in order.

    Spans do not overlap. White space, marks of list items and lines without any letter or digit are in none of them.
    """
    spans = []
    for start, end in _blocks(text):
        for first, last in _sentences_of(text[start:end]):
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


_SPLIT = frozenset({"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"})
"""What NLTK splits although it is letters only."""


def word_set(text: str) -> frozenset[str]:
    """Return the text's distinct word tokens: NLTK's, lower-cased, kept where all characters are alphanumeric."""
    words: set[str] = set()
    for sentence in sentences(text):
        end = _last_word(sentence)
        for part in sentence[:end].split():
            words.update(_plain(part, ",;") or _within(part))
        words.update(_plain(sentence[end:], ".?!") or _at_end(sentence[end:]))
    return frozenset(words)


def _last_word(sentence: str) -> int:
    """Where the last characters between white space begin that hold a letter or digit; 0 where none do."""
    place = len(sentence)
    while place and not sentence[place - 1].isalnum():
        place -= 1
    while place and not sentence[place - 1].isspace():
        place -= 1
    return place


def _plain(part: str, marks: str) -> tuple[str, ...]:
    """The one token of characters between white space that are a word, with at most one of these marks behind it."""
    word = (part[:-1] if part[-1] in marks else part).lower()
    return (word,) if word.isascii() and word.isalnum() and word not in _SPLIT else ()


@lru_cache(maxsize=8192)
def _within(part: str) -> tuple[str, ...]:
    """The tokens of characters between white space, inside a sentence."""
    return _alphanumeric(_tokenize()(f"x {part} x")[1:-1])


@lru_cache(maxsize=8192)
def _at_end(part: str) -> tuple[str, ...]:
    """The same of the last word of a sentence, with what follows it."""
    return _alphanumeric(_tokenize()(f"x {part}")[1:])


def _alphanumeric(tokens: list[str]) -> tuple[str, ...]:
    return tuple(token.lower() for token in tokens if token.isalnum())


@cache
def _tokenize() -> Callable[[str], list[str]]:
    from nltk.tokenize import NLTKWordTokenizer  # noqa: PLC0415 - a second, for metrics that need tokens only

    return cast("Callable[[str], list[str]]", NLTKWordTokenizer().tokenize)
