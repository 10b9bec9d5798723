"""Whether a quotation really stands where it is said to stand.

Its words must be those of the text, in the same order (`words_of` says what makes no difference). Left out may be what
"…" stands for, articles, and asides in brackets. Several quotations may be joined: by ";", " / ", a new line, or as
"one" and "other". A heading may stand before what is below it, and a row of a table may be given by some of its cells.

Not by the fuzzy matching of `rapidfuzz`: a long quotation that lost its "not" is nearly the same text.
"""

import html
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, permutations, repeat
from pathlib import Path
from typing import Any

from evals.judges.prompt import Prompt
from evals.text.folding import UNSPACED, fold, remembered

_DATA = Path(__file__).resolve().parents[1] / "data" / "quotations.toml"

_WORDS = {name: frozenset(words.split()) for name, words in tomllib.loads(_DATA.read_text(encoding="utf-8")).items()}

# The words of a text, as quotations are compared by them.


_MARK = "\x01"
"""Stands behind an article that a quotation may leave out."""


_WORD = re.compile(
    rf"[{UNSPACED}]"
    r"|(?:(?<![\w)\].])-)?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*"
    rf"|[^\W\d_{UNSPACED}]+{_MARK}?"
    r"|[%‰°+<>≤≥≠±×÷€£¥₹&]|(?<!=)=(?!=)|\$(?=\s?\d)"
)
"""A run of letters, a number with its sign, or a sign that changes what is said; on folded text."""

_HYPHENS = re.compile("[‐‑‒–−]")

_INVISIBLE = re.compile(f"[{_MARK}\u00ad\u200b-\u200d\u2060\ufeff]")


_LINE_MARK = re.compile(r"^[^\S\n]*(?:>[^\S\n]*)*(?:[-+][^\S\n]+)?", re.MULTILINE)
"""What Markdown puts at the beginning of a line: of a quoted paragraph, of a list."""


_LETTER = re.compile(r"\[([^\W\d_])\](?=[^\W\d_])")
"""A letter that was changed to fit: [t]he."""


_ARTICLE = re.compile(r"(?<![\w'’-])(?:(?<!\d\s)(?:the|an|a)|The|An|(?:(?<=[.!?:]\s)|^)A)(?=\s+[^\W\d_])", re.MULTILINE)
"""In the text as it is written: the A of "hepatitis A", and the a of "section 5 a", are none."""

_PERCENT = re.compile(r"\bper\s?cent\b(?! points?\b)")

_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


_LONGEST = 5000
"""Characters of a quotation in which articles may be dropped."""

_OF_NUMBER = frozenset("%‰")


@dataclass(frozen=True, slots=True)
class WordSequence:
    """The words of a text, with a blank around each.

    Attributes:
        plain: As they are compared.
        marked: The same, with a hyphen for the blank inside a compound: `non-smokers` does not say `smokers`, nor `5 %`
            that there are 5.
        articles: The same as `plain`, with a mark behind each article that a quotation may leave out.
        joints: The same as `marked`, in the places of `articles`.
    """

    plain: str
    marked: str
    articles: str
    joints: str

    def find(self, wanted: str, start: int = 0) -> int:
        """Where words begin that neither begin nor end inside a compound; -1 where they are not."""
        while (start := self.plain.find(wanted, start)) >= 0:
            if self.marked[start] == " " == self.marked[start + len(wanted) - 1]:
                return start
            start += 1
        return -1

    def holds_but_articles(self, wanted: str) -> bool:
        """Whether words are there, of which articles may have been dropped; an article that they have must be there."""
        if _MARK not in self.articles or len(wanted) > _LONGEST:
            return False
        if any(f" {word} " not in self.plain for word in wanted.split()):
            return False
        parts = (f"{re.escape(word)}{_MARK}?" for word in wanted.split())
        pattern = f" {f' (?:(?:an?|the){_MARK} )?'.join(parts)} "
        found = (match.span() for match in re.finditer(pattern, self.articles))
        return any(self.joints[start] == " " == self.joints[end - 1] for start, end in found)


@remembered(300_000)
def words_of(text: str) -> WordSequence:
    """The words of a text."""
    if "&" in text:
        text = html.unescape(text)
    text = _LETTER.sub(r"\1", _INVISIBLE.sub("", text))
    text = _PERCENT.sub("%", fold(_ARTICLE.sub(rf"\g<0>{_MARK}", text)))
    text = _HYPHENS.sub("-", _LINE_MARK.sub(" ", text))
    words: list[str] = []
    blanks = [" "]
    end = -1
    for found in _WORD.finditer(text):
        if end >= 0:
            is_unit = found[0] in _OF_NUMBER and words[-1][-1].isdigit()
            in_compound = is_unit or text[end : found.start()] == "-"
            blanks.append("-" if in_compound else " ")
        words.append(found[0].replace(",", "") if _THOUSANDS.fullmatch(found[0]) else found[0])
        end = found.end()
    plain = [word.removesuffix(_MARK) for word in words]
    even = repeat(" ")
    return WordSequence(
        _spaced_words(plain, even),
        _spaced_words(plain, blanks),
        _spaced_words(words, even),
        _spaced_words(words, blanks),
    )


def _spaced_words(words: list[str], blanks: Iterable[str]) -> str:
    """The words with what stands before each, and a blank behind the last."""
    return "".join(blank + word for blank, word in zip(blanks, words, strict=False)) + " "


# Words that turn what is said into something else, which a quotation may not leave out unseen.


_NEGATIONS, _EMPTY_WORDS = _WORDS["negations"], _WORDS["empty"]

_TAKING_BACK = _NEGATIONS | _WORDS["restrictions"]


_SHORT_GAP = 3
"""So few words left out may not hold a negation: "did … approve" is no quotation of "did not approve"."""


def hides_negation(gap: str) -> bool:
    """Whether words that are left out are few and hold a negation; a long gap is a sentence of its own."""
    words = gap.split()
    return len(words) <= _SHORT_GAP and not _NEGATIONS.isdisjoint(words)


# What stands apart in a text and belongs together: a heading and what is below it, the cells of a row of a table.


_HEADING = re.compile(
    r"^ {0,3}(#{1,6})[ \t](.{1,200}?)[ \t#]{0,9}$|^[ \t]{0,9}(\*\*|__)([^*_\n]{1,120})\3:?[ \t]{0,9}$", re.M
)


_ALONE = re.compile(r"(?:\A|\n[ \t]{0,9}\n)([^\W\d_][^\n|]{1,80}[^\s.!?;,|])[ \t]{0,9}(?=\n[ \t]{0,9}\n)")
"""A short line between empty ones that ends as no sentence does."""

_BOLD_LEVEL, _ALONE_LEVEL = 7, 8

_MOST_WORDS = 10

_ROW = re.compile(r"^(?:.*\|.*|[^\n\t]+(?:\t[^\n\t]*)+)$", re.MULTILINE)

_RULE = re.compile(r"[\s|:+=-]+")

_MOST_HEADINGS = 200


_PATH = " >"
"""Between a heading and what is below it: "Leave > Sick leave > ..."."""


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading's words, and the text below it up to the next heading that is as high."""

    heading: str
    body: str


def under_heading(words: str, text: str, is_in: Callable[[str, str], bool]) -> bool:
    """Whether words are a whole heading of the text, or several, and words that stand below it.

    Args:
        words: A quotation's, with a blank around each.
        text: Where it may stand.
        is_in: Whether the words behind the heading stand in a text.
    """
    for section in _sections(text):
        if words.startswith(section.heading) and len(words) > len(section.heading):
            rest = words[len(section.heading) - 1 :].removeprefix(_PATH)
            if is_in(rest, section.body) or under_heading(rest, section.body, is_in):
                return True
    return False


@lru_cache(maxsize=64)
def _sections(text: str) -> tuple[_Section, ...]:
    found = list(_headings(text))[:_MOST_HEADINGS]
    sections = []
    for n, (_, end, level, heading) in enumerate(found):
        close = next((start for start, _, other, _ in found[n + 1 :] if other <= level), len(text))
        words = words_of(heading).plain
        if words.strip():
            sections.append(_Section(words, text[end:close]))
    return tuple(sections)


def _headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Where each heading begins and ends, its level, and what it says."""
    found = []
    for match in _HEADING.finditer(text):
        level = len(match[1]) if match[1] else _BOLD_LEVEL
        found.append((match.start(), match.end(), level, match[2] or match[4]))
    taken = {end for _, end, _, _ in found}
    found += [
        (match.start(1), match.end(1), _ALONE_LEVEL, match[1])
        for match in _ALONE.finditer(text)
        if match.end(1) not in taken and len(match[1].split()) <= _MOST_WORDS
    ]
    yield from sorted(found)


def is_row(words: str, text: str) -> bool:
    """Whether words are several whole cells of one row of a table, in their order, each with its column's name or not.

    A cell that is left out must not hide that something is not so: after "no" a "yes" needs its column's name.
    """
    return any(_of_cells(words, cells, names) for names, cells in _rows(text))


@lru_cache(maxsize=64)
def _rows(text: str) -> tuple[tuple[Sequence[str], Sequence[str]], ...]:
    """Each row of a table with the names of its columns; these are empty where the table has none."""
    rows: list[tuple[Sequence[str], Sequence[str]]] = []
    names: Sequence[str] = ()
    end = -2
    for match in _ROW.finditer(text):
        if match.start() > end + 1:  # another table begins
            names = ()
        end = match.end()
        if _RULE.fullmatch(match[0]):
            continue
        cells = [words_of(cell).plain for cell in re.split(r"\||\t", match[0].strip().strip("|"))]
        if not names:
            names = cells
        else:
            rows.append((names if len(names) == len(cells) else (), cells))
    return tuple(rows)


def _of_cells(words: str, cells: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the words are cells, as sets of states: how many words are read, up to which cell, and of how many."""
    states = {(0, -1, 0)}
    while states:
        following = set()
        for at, last, count in states:
            if at == len(words) - 1 and count > 1:
                return True
            following |= set(_next_cells(words, cells, names, (at, last, count)))
        states = following
    return False


def _next_cells(
    words: str, cells: Sequence[str], names: Sequence[str], state: tuple[int, int, int]
) -> Iterator[tuple[int, int, int]]:
    at, last, count = state
    for n in range(last + 1, len(cells)):
        cell = cells[n]
        if not cell.strip():
            continue
        skipped = "".join(cells[last + 1 : n]) if count else ""
        if words.startswith(cell, at) and not hides_negation(skipped):
            yield at + len(cell) - 1, n, min(count + 1, 2)
        named = names[n][:-1] + cell if names else cell
        if names and words.startswith(named, at):
            yield at + len(named) - 1, n, min(count + 1, 2)


FEWEST_WORDS, FEWEST_CHARACTERS = 4, 15
"""What proves something has one of them."""

_LINK_OR_TAG = re.compile(r"(?<=\])\([^()\s]*\)|</?[a-zA-Z][^<>]*>")

_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-‐]\s*\n\s*(?=[^\W\d_])")

_LEFT_OUT = re.compile(r"[\[(]?(?:…|\.{3,}|\. \. \.)[\])]?")


_REFERENCE = re.compile(r"(?<=[.,;:!?\"”’)])\[\d{1,3}\]")
"""A mark that points to a source, right behind the sentence."""

_ASIDE = re.compile(r"\(([^()]{1,200})\)")


_JOINTS = tuple(
    map(
        re.compile,
        (
            r"[\"'”’“»]\s{0,3}[,;]?\s{0,3}(?:(?:and|und|et|y|or|&)\s{1,3})?[\"'“‘„«»]",
            r"[\])]\s{0,3}[,;]?\s{0,3}(?:(?:and|und|et|y|&)\s{1,3})?[\[(]",
            r"\s/\s",
            r"\n",
            r";",
            r"[;\n]|\s/\s",
        ),
    )
)
"""What several quotations are joined by, each kind by itself: a ";" may belong to one of two quotations."""


_Parts = Sequence[Sequence[str]]
"""The words of a piece, in parts where it says that something is left out."""

_MOST_PIECES = 12


_AT_JOINT = 3
"""So many words on either side of a joint are looked for in the text: they may not stand around a negation there."""


_LONGEST_GAP = 80
"""Characters; longer ones hold no few words."""


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether the texts hold the quotation: one of them, or several where it is joined of several.

    Args:
        quote: What is said to be copied; one without a word that says something is in no text, unless it is all of it.
        texts: Where it may stand.
    """
    texts = list(texts)
    return _stands_in(quote, texts) or _is_joined(quote, texts)


def is_evidence(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation is long enough to prove something: four words or 15 characters, unless a text is shorter."""
    return _is_long(words_of(quote).plain) or not all(_is_long(words_of(text).plain) for text in texts)


def _is_long(words: str) -> bool:
    return len(words.split()) >= FEWEST_WORDS or len(words.strip()) >= FEWEST_CHARACTERS


def _stands_in(quote: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds the quotation as one piece."""
    whole, parts = words_of(quote).plain, _parts_of(quote)
    if not parts:
        return False
    ways = [way for way in ([whole], parts) if all(map(_says_something, way))]
    if len(parts) > 1 and _hide_negation(list(pairwise([part.split()] for part in parts)), texts):
        ways = [way for way in ways if way is not parts]
    return any(_holds(text, whole, ways) for text in texts)


def _holds(text: str, whole: str, ways: Sequence[Sequence[str]]) -> bool:
    if any(_is_in(held, whole, ways) for held in _readings(text, whole)):
        return True
    return bool(ways) and (under_heading(whole, text, _proves) or is_row(whole, text))


def _proves(words: str, text: str) -> bool:
    """Whether words stand in a text, and are long enough to be a quotation by themselves."""
    return _is_long(words) and any(held.find(words) >= 0 for held in _readings(text))


def _is_joined(quote: str, texts: Sequence[str]) -> bool:
    """Whether the quotation is several that each stand in a text, with nothing left out between them that matters."""
    for joint in _JOINTS:
        pieces = [piece for piece in joint.split(quote) if words_of(piece).plain.strip()]
        if 1 < len(pieces) <= _MOST_PIECES and all(_proves_alone(piece, texts) for piece in pieces):
            parts = [[part.split() for part in _parts_of(piece)] for piece in pieces]
            return not _hide_negation(list(permutations(parts, 2)), texts)
    return False


def _proves_alone(piece: str, texts: Sequence[str]) -> bool:
    return _is_long(words_of(piece).plain) and _stands_in(piece, texts)


def _hide_negation(pairs: Sequence[tuple[_Parts, _Parts]], texts: Iterable[str]) -> bool:
    """Whether two pieces stand in a text with only a negation and a few words between: "did; approve", "did … approve".

    Wherever that is, though they may stand elsewhere too.
    """
    ends = [(_without_articles(one[-1])[-_AT_JOINT:], _without_articles(other[0])[:_AT_JOINT]) for one, other in pairs]
    held = [_spaced(_without_articles(reading.plain.split())) for text in texts for reading in _readings(text)]
    return any(_lost_between(_spaced(one), _spaced(other), text) for text in held for one, other in ends)


def _without_articles(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in {"a", "an", "the"}]


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _lost_between(one: str, other: str, text: str) -> bool:
    at = text.find(one)
    while at >= 0:
        end = at + len(one) - 1
        following = text.find(other, end)
        if following < 0:
            return False
        if following - end < _LONGEST_GAP and hides_negation(text[end : following + 1]):
            return True
        at = text.find(one, at + 1)
    return False


def _parts_of(quote: str) -> list[str]:
    """The words before, between and behind signs that something is left out."""
    parts = (words_of(piece).plain for piece in _LEFT_OUT.split(quote))
    return [part for part in parts if part.strip()]


def _is_in(held: WordSequence, whole: str, ways: Iterable[Sequence[str]]) -> bool:
    """Whether a text is the quotation, or holds it in one of the ways to read it."""
    if held.plain == whole or any(_in_order(way, held) for way in ways):
        return True
    return any(len(way) == 1 and _is_long(way[0]) and held.holds_but_articles(way[0]) for way in ways)


def _in_order(parts: Iterable[str], held: WordSequence) -> bool:
    """Whether the parts of a quotation stand in the text, one after the other."""
    end: int | None = None
    for part in parts:
        at = held.find(part, 0 if end is None else end)
        if at < 0:
            return False
        end = at + len(part) - 1  # the blank after it may be the one before the next
    return True


def _says_something(words: str) -> bool:
    return any(
        word not in _EMPTY_WORDS and (len(word) > 1 or not word.isascii() or word.isdigit()) for word in words.split()
    )


def _readings(text: str, quoted: str = "") -> Iterator[WordSequence]:
    """The text as it is, and as it may be copied: without links, tags and broken words, without marks and asides.

    Args:
        text: To be read.
        quoted: The words of a quotation; an aside that stands in it is left in the text.
    """
    yield from _plain_readings(text)
    if "(" in text:
        whole = _unmarked(text)
        bare = _ASIDE.sub(lambda found: _without_aside(found, quoted), whole)
        if bare != whole:
            yield words_of(bare)


@lru_cache(maxsize=256)
def _plain_readings(text: str) -> tuple[WordSequence, ...]:
    read = _unlinked(text)
    return tuple(words_of(form) for form in dict.fromkeys([text, read, _REFERENCE.sub("", read)]))


def _unlinked(text: str) -> str:
    return _BROKEN_WORD.sub("", _LINK_OR_TAG.sub(" ", text))


@lru_cache(maxsize=256)
def _unmarked(text: str) -> str:
    return _REFERENCE.sub("", _unlinked(text))


def _without_aside(found: re.Match[str], quoted: str) -> str:
    """Nothing in place of words in brackets, unless they are quoted, take something back or are no words."""
    words = words_of(found[1]).plain
    says_little = re.search(r"[^\W\d_]{2}", words) is None
    takes_back = not _TAKING_BACK.isdisjoint(words.split())
    return found[0] if says_little or takes_back or words in quoted else ""


# What the items of a reply rest on: checks of the kinds `quotes` and `listed`, and what becomes of items that fail.


NOT_FOUND, SAID = "quote_not_found", "said"
"""The marks of an item whose evidence is not there: that it is so, and the verdict that the judge gave."""

CANNOT_TELL = "cannot_tell"

_SHOWN = 120

_Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """An item of a reply whose evidence is not there.

    Attributes:
        list: The list of the reply that it stands in.
        place: Where in that list, from 0.
        problem: What is wrong, in a sentence.
    """

    list: str
    place: int
    problem: str


def problem_of_whole(prompt: Prompt, reply: _Object, data: _Object) -> str | None:
    """What is wrong with the evidence of a reply that is itself the item; None where nothing is."""
    checks = [check for check in prompt.checks if check["kind"] == "quotes" and not check.get("items")]
    return next(filter(None, (_misquoted(check, reply, data) for check in checks)), None)


def faults_of(prompt: Prompt, reply: _Object, data: _Object) -> list[Fault]:
    """The items whose evidence is not there, each once; of a reply that has the form asked for."""
    found: dict[tuple[str, int], Fault] = {}
    for check in prompt.checks:
        name, _, path = check.get("items", "").partition(".")
        if check["kind"] in {"listed", "quotes"} and name:
            for place, item in enumerate(reply[name]):
                problem = _problem_of(check, item, path, data)
                if problem:
                    found.setdefault((name, place), Fault(name, place, problem))
    return list(found.values())


def withdraw(reply: _Object, faults: Iterable[Fault]) -> dict[str, Any]:
    """The reply with these items marked: the judge could not tell."""
    marked = {name: list(part) if isinstance(part, list) else part for name, part in reply.items()}
    for fault in faults:
        item = marked[fault.list][fault.place]
        marked[fault.list][fault.place] = {**item, "verdict": CANNOT_TELL, NOT_FOUND: True, SAID: item["verdict"]}
    return marked


def withdrawn_items(reply: _Object) -> int:
    """How many items of a reply are marked."""
    return sum(isinstance(item, dict) and NOT_FOUND in item for item in _all_items(reply))


def items_judged(reply: _Object) -> int:
    """How many items of a reply have a verdict."""
    return sum(isinstance(item, dict) and "verdict" in item for item in _all_items(reply))


def without_marks(reply: Any) -> Any:
    """A saved reply as it was before items were marked, but for their verdicts."""
    if not isinstance(reply, dict):
        return reply
    return {name: [_plain(item) for item in part] if isinstance(part, list) else part for name, part in reply.items()}


def _plain(item: Any) -> Any:
    if isinstance(item, dict) and NOT_FOUND in item:
        return {name: part for name, part in item.items() if name not in {NOT_FOUND, SAID}}
    return item


def _all_items(reply: _Object) -> Iterator[Any]:
    return (item for part in reply.values() if isinstance(part, list) for item in part)


def _problem_of(check: _Object, item: _Object, path: str, data: _Object) -> str | None:
    if item.get("verdict") == CANNOT_TELL:
        return None
    if check["kind"] == "listed":
        lacks = item["verdict"] in check["only"] and not item[check["list"]]
        return f"{item['verdict']} without {check['list']}" if lacks else None
    parts: Sequence[_Object] = item[path] if path else [item]
    return next(filter(None, (_misquoted(check, part, data) for part in parts)), None)


def _misquoted(check: _Object, item: _Object, data: _Object) -> str | None:
    """What is wrong with an item's quotation; None where nothing is, or none is needed."""
    quote, required = item["quote"], _must_quote(check, item)
    # Where some verdicts must quote, others are free; else a quotation that was not asked for is looked at too.
    if not required and ("only" in check or not quote):
        return None
    within = [(number, text) for number, text in _texts(data.get(check["within"])) if _may_hold(check, item, number)]
    if not _is_in_evidence(quote, within):
        return f"a quotation that is not in {_place(check, item)}: {quote[:_SHOWN]!r}"
    if required and not is_evidence(quote, [text for _, text in within]):
        return f"a quotation of fewer than four words, which proves nothing: {quote[:_SHOWN]!r}"
    return None


def _must_quote(check: _Object, item: _Object) -> bool:
    return item["verdict"] in check["only"] if "only" in check else bool(check.get("always"))


def _place(check: _Object, item: _Object) -> str:
    """Where the quotation should stand."""
    return f"{check['within']} {item['id']}" if check.get("same_id") else str(check["within"])


def _is_in_evidence(quote: str, within: Sequence[tuple[Any, str]]) -> bool:
    """Whether texts hold a quotation, with the id of its text before it or behind it or without."""
    if is_quoted(quote, [text for _, text in within]):
        return True
    bare = ((_unlabelled(quote, number), text) for number, text in within)
    return any(words != quote and is_quoted(words, [text]) for words, text in bare)


def _unlabelled(quote: str, number: Any) -> str:
    """The quotation without the id of its text before it or behind it: "[3] Members may appeal"."""
    label = rf"[\[(]\s?(?:\w{{1,12}}\s)?{re.escape(str(number))}\s?[\])]"
    return re.sub(rf"\A\W{{0,3}}{label}|{label}\W{{0,3}}\Z", "", quote) if number is not None else quote


def _may_hold(check: _Object, item: _Object, number: Any) -> bool:
    """Whether the item's quotation may stand in the text with this id."""
    if check.get("same_id"):
        return bool(number == item["id"])
    return "one_of" not in check or any(part["id"] == number for part in item[check["one_of"]])


def _texts(part: Any) -> list[tuple[Any, str]]:
    """The texts of a part of the data, with their ids: a text, or a list of objects."""
    if isinstance(part, list):
        return [(item["id"], item["text"]) for item in part]
    return [] if part is None else [(None, str(part))]
