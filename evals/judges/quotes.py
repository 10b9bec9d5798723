"""Check that a quotation occurs in the text that it quotes.

Its words must be those of the text, in the same order (`words_of` says what makes no difference). Left out may be what
"…" stands for, articles, and asides in brackets. Several quotations may be joined: by ";", " / ", a new line, or as
"one" and "other".

Not by the fuzzy matching of `rapidfuzz`: a long quotation that lost its "not" is nearly the same text.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, permutations
from typing import Any, NamedTuple

from evals.schemas.verdicts import Prompt
from evals.text.tokens import UNSPACED, fold, lists_of

_WORDS = {name: frozenset(words.split()) for name, words in lists_of("quotations").items()}

_NEGATIONS, _EMPTY = _WORDS["negations"], _WORDS["empty"]

# The words of a text, as quotations are compared by them.


_ARTICLE_MARK, _HYPHEN = "\x01", "\x02"


_WORD = re.compile(
    rf"[{UNSPACED}]"
    r"|(?:(?<![\w)\].])-)?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*"
    rf"|[^\W\d_{UNSPACED}]+{_ARTICLE_MARK}?"
    r"|[%‰°+<>≤≥≠±×÷€£¥₹&]|(?<!=)=(?!=)|\$(?=\s?\d)"
)
"""A run of letters, a number with its sign, or a sign that changes what is said; on folded text."""

_HYPHENS = re.compile("[‐‑‒–−]")

_INVISIBLE = re.compile(f"[{_ARTICLE_MARK}{_HYPHEN}\u00ad\u200b-\u200d\u2060\ufeff]")


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


@lru_cache(maxsize=512)
def words_of(text: str) -> str:
    """The words of a text with a blank around each, of a compound with a hyphen between, and a mark behind an article.

    A compound is one word, lest `non-smokers` says `smokers`; so is `5 %`, lest it says that there are 5.
    """
    if "&" in text:
        text = html.unescape(text)
    text = _LETTER.sub(r"\1", _INVISIBLE.sub("", text))
    text = _PERCENT.sub("%", fold(_ARTICLE.sub(rf"\g<0>{_ARTICLE_MARK}", text)))
    text = _HYPHENS.sub("-", _LINE_MARK.sub(" ", text))
    words, end = [" "], -1
    for found in _WORD.finditer(text):
        if end >= 0:
            is_unit = found[0] in "%‰" and words[-1][-1].isdigit()
            words.append(_HYPHEN if is_unit or text[end : found.start()] == "-" else " ")
        words.append(found[0].replace(",", "") if _THOUSANDS.fullmatch(found[0]) else found[0])
        end = found.end()
    return "".join([*words, " "])


def _plain(words: str) -> list[str]:
    return words.replace(_ARTICLE_MARK, "").replace(_HYPHEN, " ").split()


@lru_cache(maxsize=4096)
def _pattern(words: tuple[str, ...], *, but_articles: bool = False) -> re.Pattern[str]:
    """The pattern of a text's words that finds these, neither beginning nor ending inside a compound.

    Args:
        words: Of a quotation.
        but_articles: Whether the text may have articles between them.
    """
    between = rf"{_ARTICLE_MARK}?[ {_HYPHEN}]" + (rf"(?:(?:an?|the){_ARTICLE_MARK} )?" if but_articles else "")
    return re.compile(f" {between.join(map(re.escape, words))}{_ARTICLE_MARK}? ")


# How a quotation is written, and how a text may be copied.


FEWEST_WORDS, FEWEST_CHARACTERS = 4, 15
"""What proves something has one of them."""

_LEFT_OUT = re.compile(r"[\[(]?(?:…|\.{3,}|\. \. \.)[\])]?")


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

_MOST_PIECES = 12

_SHORT_GAP, _AT_JOINT = 3, 3
"""So few words left out may hold no negation, nor this many on either side: "did … approve" says not "did not"."""

_LINK_OR_TAG = re.compile(r"(?<=\])\([^()\s]*\)|</?[a-zA-Z][^<>]*>")

_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-‐]\s*\n\s*(?=[^\W\d_])")


_REFERENCE = re.compile(r"(?<=[.,;:!?\"”’)])\[\d{1,3}\]")
"""A mark that points to a source, right behind the sentence."""

_ASIDE = re.compile(r"\(([^()]{1,200})\)")

_Parts = list[tuple[str, ...]]
"""The words of a quotation before, between and behind signs that something is left out."""


@lru_cache(maxsize=256)
def _readings(text: str) -> tuple[str, ...]:
    """The words of the text as it is, and as it may be copied: without links, tags, broken words, marks and asides."""
    read = _BROKEN_WORD.sub("", _LINK_OR_TAG.sub(" ", text))
    bare = _REFERENCE.sub("", read)
    return tuple(map(words_of, dict.fromkeys([text, read, bare, _ASIDE.sub(_without_aside, bare)])))


def _without_aside(found: re.Match[str]) -> str:
    """Nothing in place of words in brackets, unless they take something back or are no words."""
    words = _plain(words_of(found[1]))
    says_little = re.search(r"[^\W\d_]{2}", " ".join(words)) is None
    takes_back = not (_NEGATIONS | _WORDS["restrictions"]).isdisjoint(words)
    return found[0] if says_little or takes_back else ""


def _parts_of(quote: str) -> _Parts:
    parts = (tuple(_plain(words_of(piece))) for piece in _LEFT_OUT.split(quote))
    return [part for part in parts if part]


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation stands in one of the texts, or in several where it is joined of several.

    Args:
        quote: What is said to be copied; one without a word that says something is in no text, unless it is all of it.
        texts: Where it may stand.
    """
    texts = list(texts)
    return _stands_in(quote, texts) or any(_is_joined(joint.split(quote), texts) for joint in _JOINTS)


def is_evidence(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation is long enough to prove something: four words or 15 characters, unless a text is shorter."""
    return _is_long(quote) or not all(map(_is_long, texts))


def _is_long(text: str) -> bool:
    words = _plain(words_of(text))
    return len(words) >= FEWEST_WORDS or len(" ".join(words)) >= FEWEST_CHARACTERS


def _stands_in(quote: str, texts: Sequence[str]) -> bool:
    """Whether one of the texts holds the quotation as one piece, or in the order of its parts."""
    whole = _plain(words_of(quote))
    ways = _ways(quote, whole, texts)
    but_articles = _is_long(quote) and len(quote) <= _LONGEST
    held = [words for text in texts for words in _readings(text)]
    if whole and any(_plain(words) == whole for words in held):
        return True
    return any(_in_order(way, words, but_articles=but_articles) for words in held for way in ways)


def _ways(quote: str, whole: Sequence[str], texts: Sequence[str]) -> list[_Parts]:
    """How a quotation may stand in a text: as a whole, and in its parts where nothing is lost between these."""
    parts = _parts_of(quote)
    ways = (
        [[tuple(whole)]] if _lose_negation(list(pairwise([part] for part in parts)), texts) else [[tuple(whole)], parts]
    )
    return [way for way in ways if way and all(map(_says_something, way))]


def _says_something(words: Iterable[str]) -> bool:
    return any(word not in _EMPTY and (len(word) > 1 or not word.isascii() or word.isdigit()) for word in words)


def _in_order(parts: Iterable[tuple[str, ...]], held: str, *, but_articles: bool) -> bool:
    """Whether the parts of a quotation stand in the text, one after the other."""
    end = 1
    for part in parts:
        found = _pattern(part, but_articles=but_articles).search(held, end - 1)  # the blank before may end another
        if found is None:
            return False
        end = found.end()
    return True


def _is_joined(pieces: Iterable[str], texts: Sequence[str]) -> bool:
    """Whether several quotations each stand in a text and prove something, with no negation lost between them."""
    pieces = [piece for piece in pieces if _parts_of(piece)]
    if not 1 < len(pieces) <= _MOST_PIECES or not all(_is_long(piece) and _stands_in(piece, texts) for piece in pieces):
        return False
    return not _lose_negation(list(permutations(map(_parts_of, pieces), 2)), texts)


def _lose_negation(pairs: Sequence[tuple[_Parts, _Parts]], texts: Iterable[str]) -> bool:
    """Whether two pieces stand in a text with only a negation and a few words between: "did; approve", "did … approve".

    Wherever that is, though they may stand elsewhere too.
    """
    if not pairs:
        return False
    held = [f" {' '.join(_but_articles(_plain(words)))} " for text in texts for words in _readings(text)]
    for one, other in pairs:
        left, right = _but_articles(one[-1])[-_AT_JOINT:], _but_articles(other[0])[:_AT_JOINT]
        gap = rf" {re.escape(' '.join(left))} (?=((?:\S+ ){{1,{_SHORT_GAP}}}?){re.escape(' '.join(right))} )"
        if any(not _NEGATIONS.isdisjoint(found[1].split()) for words in held for found in re.finditer(gap, words)):
            return True
    return False


def _but_articles(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in {"a", "an", "the"}]


# What the items of a reply rest on: checks of the kinds `quotes` and `listed`, and what becomes of items that fail.


NOT_FOUND, SAID = "quote_not_found", "said"
"""The marks of an item whose evidence is not there: that it is so, and the verdict that the judge gave."""

CANNOT_TELL = "cannot_tell"

_SHOWN = 120

_Object = Mapping[str, Any]


class Fault(NamedTuple):
    """An item of a reply whose evidence is not there: its list, its place in that from 0, and what is wrong."""

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
                problem = None if item.get("verdict") == CANNOT_TELL else _problem_of(check, item, path, data)
                if problem:
                    found.setdefault((name, place), Fault(name, place, problem))
    return list(found.values())


def withdraw(reply: _Object, faults: Iterable[Fault]) -> dict[str, Any]:
    """The reply with these items marked: the judge could not tell."""
    marked = {name: list(part) if isinstance(part, list) else part for name, part in reply.items()}
    for name, place, _ in faults:
        item = marked[name][place]
        marked[name][place] = {**item, "verdict": CANNOT_TELL, NOT_FOUND: True, SAID: item["verdict"]}
    return marked


def withdrawn_items(reply: _Object) -> int:
    """How many items of a reply are marked."""
    return sum(NOT_FOUND in item for item in _items(reply))


def items_judged(reply: _Object) -> int:
    """How many items of a reply have a verdict."""
    return sum("verdict" in item for item in _items(reply))


def without_marks(reply: Any) -> Any:
    """A saved reply as it was before items were marked, but for their verdicts."""
    if isinstance(reply, list):
        return [without_marks(item) for item in reply]
    if not isinstance(reply, dict):
        return reply
    left_out = {NOT_FOUND, SAID} if NOT_FOUND in reply else set()
    return {name: without_marks(part) for name, part in reply.items() if name not in left_out}


def _items(reply: _Object) -> Iterator[_Object]:
    lists = (part for part in reply.values() if isinstance(part, list))
    return (item for part in lists for item in part if isinstance(item, dict))


def _problem_of(check: _Object, item: _Object, path: str, data: _Object) -> str | None:
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
    within = {number: text for number, text in _texts(data.get(check["within"])) if _may_hold(check, item, number)}
    if not _holds(within, quote):
        place = f"{check['within']} {item['id']}" if check.get("same_id") else check["within"]
        return f"a quotation that is not in {place}: {quote[:_SHOWN]!r}"
    if required and not is_evidence(quote, within.values()):
        return f"a quotation of fewer than four words, which proves nothing: {quote[:_SHOWN]!r}"
    return None


def _must_quote(check: _Object, item: _Object) -> bool:
    return item["verdict"] in check["only"] if "only" in check else bool(check.get("always"))


def _holds(within: Mapping[Any, str], quote: str) -> bool:
    """Whether texts hold the quotation, with the id of its text at either end or without: "[3] Members may"."""
    if is_quoted(quote, within.values()):
        return True
    for number, text in within.items():
        label = rf"[\[(]\s?(?:\w{{1,12}}\s)?{re.escape(str(number))}\s?[\])]"
        bare = re.sub(rf"\A\W{{0,3}}{label}|{label}\W{{0,3}}\Z", "", quote)
        if bare != quote and is_quoted(bare, [text]):
            return True
    return False


def _may_hold(check: _Object, item: _Object, number: Any) -> bool:
    """Whether the item's quotation may stand in the text with this id."""
    if check.get("same_id"):
        return bool(number == item["id"])
    return "one_of" not in check or any(part["id"] == number for part in item[check["one_of"]])


def _texts(part: Any) -> list[tuple[Any, str]]:
    """The texts of a part of the data, with their ids: a text, or a list of objects."""
    if isinstance(part, list):
        return [(item["id"], item["text"]) for item in part]
    return [] if part is None else [("", str(part))]
