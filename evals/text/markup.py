"""What models and servers write around a text: thoughts, HTML, signs that are not seen, marks of citations.

They are taken off before texts are compared, from answers, chunks and golds alike. Spans and the metrics of citation
read the original.
"""

import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from html import unescape
from itertools import chain
from typing import NamedTuple

from evals.text.tokens import UNSPACED

_THOUGHTS = re.compile(
    r"(?<!`)<(think|thinking)>(?P<tagged>.*?)</\1>"
    r"|\A\s*<(?:think|thinking)>(?P<cut>.*)\Z"
    r"|<details\b[^>]*\btype=[\"']?reasoning[\"']?[^>]*>(?P<details>.*?)(?:</details>|\Z)"
    r"|<\|channel\|>(?:analysis|commentary)\b[^<]*<\|message\|>(?P<channel>.*?)(?:<\|end\|>|<\|call\|>|(?=<\|start\|>)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Thoughts in tags, in a folded block, and in the channels of OpenAI's harmony format; they may be all that came."""

_CLOSING = re.compile(r"(?<!`)</think(?:ing)?>", re.IGNORECASE)
"""Alone where the opening tag is part of the prompt: all before it is thought."""

_HARMONY = re.compile(r"<\|start\|>assistant|<\|channel\|>final\b[^<]*|<\|(?:message|end|return)\|>", re.IGNORECASE)


def without_thoughts(text: str) -> tuple[str, str]:
    """Separate an answer from the thoughts of its model.

    Thoughts are `<think>…</think>`, everything before a `</think>` that nothing opens, `<thinking>`,
    `<details type="reasoning">` and the analysis channel of harmony.

    Returns:
        The answer without its thoughts, and the thoughts, joined by blank lines; without any, the text as it is.
    """
    if "<" not in text:
        return text, ""
    marked = [(thought[thought.lastgroup or 0] or "").strip() for thought in _THOUGHTS.finditer(text)]
    *before, last = _CLOSING.split(_THOUGHTS.sub("", text) if marked else text)
    answer = _HARMONY.sub("", last)
    if answer == text:
        return text, ""
    return answer.strip(), "\n\n".join(filter(None, [*map(str.strip, before), *marked]))


# HTML and what is not seen.

_TAG = re.compile(
    r"</?(?:(?P<inline>b|i|u|a|em|strong|span|font|code|mark|small|sub)|table|thead|tbody|tfoot|tr|t[dh]|p|br|hr|div|"
    r"[uo]l|li|h[1-6]|sup|pre|blockquote|section|article|figure|caption|html|head|body)"
    r"(?:\s+[a-z-]+\s*=[^<>]*)?\s*/?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_UNSEEN = re.compile(r"\u00ad(?:[^\S\n]*\n[^\S\n]*)?|[\u200b-\u200f\u2060\ufeff]")
_RAISED = re.compile(r"(?:(?<=\d)|(?<=[^\W\d_]{3}))(?=[\u00b9\u00b2\u00b3\u2070-\u2079])")
"""Where the number of a footnote begins, or a power of a number: "in 2019¹", not "m²"."""
_RARE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff\u00b9\u00b2\u00b3\u2070-\u2079]")


def plain(text: str) -> str:
    """The text without HTML tags and entities, characters without width, and soft hyphens.

    Tags of blocks become blanks, tags inside a line nothing. A raised number is a word of its own.
    """
    if "<" in text:
        text = _TAG.sub(lambda tag: "" if tag["inline"] else " ", text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    if text.isascii() or not _RARE.search(text):
        return text
    return _RAISED.sub(" ", _UNSEEN.sub("", text))


# Marks of citations: [1], [1, 2], [2-4], [^1], 【1†source】, [[1]](https://example.org/a), [Document 1].

_NUMBER = r"\d{1,4}"
_NUMBERS = rf"{_NUMBER}(?:\s*+[,;–-]\s*+{_NUMBER})*+"
_MARK = re.compile(
    r"```.*?```|`[^`\n]*+`"  # code is text, whatever brackets it holds
    rf"|(?P<sure>\[\[(?P<linked>{_NUMBERS})\]\]\([^\s()]*+\)"
    rf"|\[(?:document|doc|source|quelle|chunk|passage|context|ref|reference)s?[ .:#]*+(?P<named>{_NUMBERS})\]"
    rf"|【(?P<source>{_NUMBER})(?:†[^】\n]*+)?】|【\d+:\d+†[^】\n]*+】)"
    rf"|(?P<mark>\[\^?(?P<numbers>{_NUMBERS})\])",
    re.DOTALL | re.IGNORECASE,
)
_Numbers = AbstractSet[int]
_DIGITS = re.compile(r"\d+")
_WORD_END = re.compile(rf"[^\W{UNSPACED}]")
_MOST = 100
"""Numbers of a range such as [1-999] that are looked at."""


class CitationMark(NamedTuple):
    """Where a mark stands, from the blanks before it on, and the numbers that it names, as written."""

    start: int
    opens: int
    end: int
    numbers: str


def citation_marks(text: str, possible: _Numbers, cited: _Numbers) -> Iterator[CitationMark]:
    """The marks of citations in a text.

    A number in brackets counts where it is possible: "[1998]" stays. Glued to a word ("array[1]", but "96 hours[1]"
    too) it counts only where the response cites it; in code never. A link, a named source and 【1】 always count.

    Args:
        text: An answer.
        possible: Numbers that a chunk or a citation of the response can have.
        cited: Those that the response's list of citations holds.
    """
    stays_to = 0
    for found in _MARK.finditer(text):
        if found["mark"] is None and found["sure"] is None:
            continue
        start = opens = found.start()
        while start and text[start - 1].isspace():
            start -= 1
        numbers = found["numbers"] or found["source"] or found["linked"] or found["named"] or ""
        glued = opens == start > 0 and (_WORD_END.match(text, start - 1) or start == stays_to)
        if found["sure"] or set(map(int, _DIGITS.findall(numbers))) <= (cited if glued else possible):
            yield CitationMark(start, opens, found.end(), numbers)
        else:
            stays_to = found.end()


def numbers_of(mark: str) -> tuple[int, ...]:
    """The numbers of a mark such as "1", "1, 3" or "2-4", each once."""
    parts = [list(map(int, _DIGITS.findall(part))) for part in re.split(r"[,;]", mark)]
    ranges = [range(ends[0], min(ends[-1], ends[0] + _MOST) + 1) for ends in parts if ends]
    return tuple(dict.fromkeys(chain.from_iterable(ranges)))


def without_citation_marks(
    text: str, possible: _Numbers, cited: _Numbers, other: Callable[[str], str] = lambda _numbers: ""
) -> str:
    """The text without its `citation_marks`, and without the blanks before each.

    Args:
        text: An answer.
        possible: As of `citation_marks`.
        cited: As of `citation_marks`.
        other: What stands for a mark with these numbers; where it is empty, the blanks before the mark go too.
    """
    if "[" not in text and "【" not in text:
        return text
    pieces: list[str] = []
    end = 0
    for mark in citation_marks(text, possible, cited):
        said = other(mark.numbers)
        pieces += [text[end : mark.opens if said else mark.start], said]
        end = mark.end
        if not said and mark.start and _WORD_END.match(text, end):
            pieces.append(" ")
    return "".join([*pieces, text[end:]])
