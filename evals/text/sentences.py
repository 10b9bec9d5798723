"""Where the sentences of a text begin and end: paragraphs, list items and table rows, cut at full stops as Punkt does.

Also the words of sentences as NLTK cuts them.

After Kiss & Strunk 2006, with lists of English abbreviations in the place of learnt ones; no data is downloaded.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from evals.text.tokens import LEFT_OUT, UNSPACED_SIGN, lists_of, tokens

_NAMES, _ANYWHERE, _NUMBERED, _STARTERS = (
    frozenset(lists_of("language")[name].split()) for name in ("before_names", "anywhere", "before_numbers", "starters")
)

_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•‣◦·–>]|\(?\d{1,3}[.)]|#{1,6})[ \t]+)+|[ \t]*(?=\|)")
_ONE_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")
_CITATION = r"\[\d+(?:\s*[,;–-]\s*\d+)*\]"
_WIDE_STOP = re.compile(rf"[。！？｡]+[」』”’）)\"']*(?:\s*{_CITATION})*")
_STOP = re.compile(
    rf"(?<![.?!])(?P<marks>[.?!]++)(?P<closing>(?:\s*(?:[\"')\]}}‘’“”»]++|{_CITATION})(?=\s|\Z|\[))*)(?=\s|\Z|\[)"
)
_LAST_WORD = re.compile(r"[^\s)\";}\]*:@({\[“”«»?!]{0,64}\Z")
_NEXT_WORD = re.compile(r"\s*([^\W_]+|[;:,.!?]|)")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
_WORD = re.compile(r"\w")


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them and without the marks of list items."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """First and one-past-last character of each sentence, in order; what holds no letter or digit is in none."""
    spans = []
    for first, last in _blocks(text):
        stops = [stop.end() for stop in _STOP.finditer(text, first, last) if _ends(text, stop, first)]
        stops += [stop.end() for stop in _WIDE_STOP.finditer(text, first, last)]
        for start, end in pairwise([first, *sorted(stops), last]):
            said = text[start:end]
            if _WORD.search(said):
                spans.append((start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())))
    return spans


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Paragraphs, list items, headings and table rows, without the marks at their start."""
    begin, place, closed = 0, 0, True
    for line in text.splitlines(keepends=True):
        mark, empty = _ITEM.match(line), not _WORD.search(line)
        if closed or mark or empty:
            yield begin, place
            begin = place + (mark.end() if mark else 0)
        closed = empty or bool(_ONE_LINE.match(line))
        place += len(line)
    yield begin, place


def _ends(text: str, stop: re.Match[str], start: int) -> bool:
    """Whether a sentence ends with a mark, by the words before and behind it."""
    word = _LAST_WORD.search(text, max(start, stop.start() - 64), stop.start())[0].lower().lstrip("'‘’")  # type: ignore[index]
    following = "" if stop["closing"] else _NEXT_WORD.match(text, stop.end())[1]  # type: ignore[index]
    starts = following[:1].isupper() and following.lower() in _STARTERS
    if stop["marks"] != ".":
        return starts or not stop["marks"].endswith("..")
    if word in _NAMES or (word in _NUMBERED and following[:1].isdecimal()):
        return False
    if (following[:1].islower() or following in tuple(";:,.!?")) and _NUMBER.fullmatch(word):
        return False
    if word.isalpha() and len(word) == 1:
        return starts or not following[:1].isalpha()
    return starts or not {word, word.rpartition("-")[2]} & _ANYWHERE


@lru_cache(maxsize=256)
def word_set(text: str) -> frozenset[str]:
    """The distinct tokens of NLTK's word tokenizer by sentence, lower-cased, all of letters and digits.

    Characters of unspaced scripts are tokens of their own.
    """
    from nltk.tokenize import NLTKWordTokenizer  # noqa: PLC0415 - a second

    tokenizer, words = NLTKWordTokenizer(), set[str]()
    for sentence in sentences(text if text.isascii() else LEFT_OUT.sub("", unicodedata.normalize("NFKC", text))):
        for token in tokenizer.tokenize(sentence):
            if not token.isascii() and UNSPACED_SIGN.search(token):
                words.update(tokens(token))
            elif token.isalnum():
                words.add(token.lower())
    return frozenset(words)
