"""Passages: documents cut at headings and paragraphs, how they are found, and the order in which they are drawn."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import sqrt
from typing import NamedTuple

import bm25s
import numpy as np

from evals.datasets.base import short_hash
from evals.generate.documents import SourceDocument
from evals.text.numbers import counted
from evals.text.sentences import sentence_spans
from evals.text.tokens import STOP_WORDS, tokens

# BM25 over passages.


def content_words(text: str) -> list[str]:
    """The distinct words of a text that say what it is about, in their order."""
    return list(dict.fromkeys(word for word in tokens(text) if word not in STOP_WORDS))


class PassageIndex:
    """Finds passages by their words.

    Args:
        texts: Of the passages, in their order.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words = [[word for word in tokens(text) if word not in STOP_WORDS] for text in texts]
        self.words = [frozenset(held) for held in words]
        self.frequency = Counter(word for held in self.words for word in held)
        """In how many passages a word stands."""
        self._bm25 = bm25s.BM25(method="lucene")
        if self.frequency:
            self._bm25.index(words, show_progress=False)

    def best(self, query: str, count: int) -> list[int]:
        """Places of the passages that fit best, best first; what shares no word with the query is not among them."""
        known = [word for word in content_words(query) if word in self.frequency]
        if not known:
            return []
        scores = self._bm25.get_scores(known)
        order = np.argsort(-scores, kind="stable")[:count]
        return [int(place) for place in order if scores[place] > 0]


SHORTEST, LONGEST, LEAST = 60, 400, 20
"""Words of a passage: a shorter one is joined with what follows, a longer paragraph is cut; a rest below the last is
left out."""

_REPEATED = 3
"""A paragraph that stands so often is boilerplate."""

_SHINGLE, _SKETCH, _ALIKE = 5, 24, 18
"""Words of a shingle, shingles that stand for a passage, and how many of them near duplicates share."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n[\s\S]*?\n---[ \t]*\r?\n")
_BLOCK = re.compile(
    r"^(?P<code>(?:```|~~~)[\s\S]*?(?:^(?:```|~~~)[ \t]*$|\Z))"
    r"|^#{1,6}[ \t]+(?P<heading>[^\n]*?)[ \t]*#*\r?$"
    r"|(?:^(?!#{1,6}[ \t]|```|~~~)[ \t]*\S[^\n]*\n?)+",
    re.MULTILINE,
)
_LINK = re.compile(r"\[[^\]\n]*\]\([^)\n]*\)|https?://\S+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document.

    Attributes:
        document: Its name.
        section: The heading above it.
        start: Where it begins in the document.
        end: Where it ends.
        text: Exactly what stands there.
    """

    document: str
    section: str | None
    start: int
    end: int
    text: str

    @property
    def hash(self) -> str:
        """What it is known by, wherever it stands in its document."""
        return short_hash(self.document, self.text)


@dataclass(frozen=True)
class PassageSet:
    """All passages of all documents.

    Attributes:
        documents: By name.
        passages: In the order of the documents.
        repeats: Places of passages that nearly repeat an earlier one; no question is made from them.
        dropped: Paragraphs that are in no passage, by reason.
    """

    documents: dict[str, SourceDocument]
    passages: list[Passage]
    repeats: frozenset[int]
    dropped: Counter[str]

    @classmethod
    def cut(cls, documents: Sequence[SourceDocument]) -> "PassageSet":
        """Cut documents into passages."""
        blocks = [list(_blocks(document.text)) for document in documents]
        counts = Counter(tokens(block.text) for own in blocks for block in own if not block.title)
        passages, dropped = list[Passage](), Counter[str]()
        for document, own in zip(documents, blocks, strict=True):
            passages += _Cutter(document, dropped).cut(own, counts)
        return cls({document.name: document for document in documents}, passages, _near_duplicates(passages), dropped)

    @cached_property
    def index(self) -> PassageIndex:
        """BM25 over the passages."""
        return PassageIndex([passage.text for passage in self.passages])

    def __str__(self) -> str:
        """How much there is, and what was left out."""
        size = f"{counted(len(self.passages), 'passage')} of {counted(len(self.documents), 'document')}"
        dropped = [f"{count} {reason}" for reason, count in self.dropped.items()]
        dropped += [f"{len(self.repeats)} repeated"] if self.repeats else []
        return f"{size}; left out: {', '.join(dropped)}" if dropped else size

    def drawn(self, seed: str) -> list[int]:
        """Places of passages in the order in which they are drawn: a longer draw begins with a shorter one.

        Each document is drawn once before any is drawn twice; then documents have shares by the root of their sizes.
        """
        fresh = [place for place in range(len(self.passages)) if place not in self.repeats]
        ranks = {place: sha256(f"{seed}\0{self.passages[place].hash}".encode()).hexdigest() for place in fresh}
        by_document = defaultdict[str, list[int]](list)
        for place in sorted(fresh, key=ranks.__getitem__):
            by_document[self.passages[place].document].append(place)
        turns = {place: turn / sqrt(len(own)) for own in by_document.values() for turn, place in enumerate(own)}
        return sorted(turns, key=lambda place: (turns[place], ranks[place]))

    def section_at(self, document: str, place: int) -> str | None:
        """The heading above a place in a document."""
        titles = [block.title for block in _blocks(self.documents[document].text) if block.title and block.end <= place]
        return titles[-1] if titles else None


class _Block(NamedTuple):
    """A paragraph, a heading, or a block of code."""

    start: int
    end: int
    text: str
    title: str


def _blocks(text: str) -> Iterator[_Block]:
    front = _FRONT_MATTER.match(text)
    for block in _BLOCK.finditer(text, front.end() if front else 0):
        text, title = block[0].rstrip(), (block["heading"] or "").strip()
        yield _Block(block.start(), block.start() + len(text), text, title)


class _Cutter:
    """Puts the paragraphs of a document together, to passages of the right size.

    Args:
        document: The document.
        dropped: Counts paragraphs that are in no passage.
    """

    def __init__(self, document: SourceDocument, dropped: Counter[str]) -> None:
        self._document, self._dropped = document, dropped
        self._passages: list[Passage] = []
        self._start = self._end = self._words = 0
        self._section: str | None = None

    def cut(self, blocks: Iterable[_Block], counts: Counter[tuple[str, ...]]) -> list[Passage]:
        """The passages of these blocks; `counts` says how often each paragraph stands in all documents."""
        title: str | None = None
        for block in blocks:
            if block.title:
                title = block.title
                if self._words >= SHORTEST:
                    self._close()
                if not self._end:
                    self._start, self._end = block.start, block.end
            elif reason := _waste(block.text, counts):
                self._dropped[reason] += 1
                self._close()
            else:
                for start, end in _pieces(block.text, block.start):
                    self._add(start, end, title)
        self._close()
        return self._passages

    def _add(self, start: int, end: int, title: str | None) -> None:
        size = len(tokens(self._document.text[start:end]))
        if self._words >= SHORTEST or self._words + size > LONGEST:
            self._close()
        if not self._words:
            self._section = title
            self._start = self._start if self._end else start
        self._end, self._words = end, self._words + size

    def _close(self) -> None:
        """End a passage; a short rest is joined with the passage before it, if nothing stands between them."""
        text, start, end, words = self._document.text, self._start, self._end, self._words
        self._start = self._end = self._words = 0
        last = self._passages[-1] if self._passages else None
        near = last is not None and words < SHORTEST and not text[last.end : start].strip()
        if last is not None and near and words and len(tokens(last.text)) + words <= LONGEST:
            self._passages[-1] = Passage(last.document, last.section, last.start, end, text[last.start : end])
        elif words >= LEAST:
            self._passages.append(Passage(self._document.name, self._section, start, end, text[start:end]))
        elif words:
            self._dropped["too short"] += 1


def _waste(block: str, counts: Counter[tuple[str, ...]]) -> str | None:
    """Why a paragraph is in no passage; None where it may be."""
    links = _LINK.findall(block)
    if len(links) >= _REPEATED and len(tokens(_LINK.sub("", block))) <= 2 * len(links):
        return "list of links"
    return "boilerplate" if counts[tokens(block)] >= _REPEATED else None


def _pieces(block: str, offset: int) -> Iterator[tuple[int, int]]:
    """A paragraph, or the parts of one that is too long: at the ends of sentences and lines, else of words."""
    spans = [(0, len(block))] if len(tokens(block)) <= LONGEST else sentence_spans(block)
    start = end = words = 0
    for first, last in spans:
        size = len(tokens(block[first:last]))
        if words and words + size > LONGEST:
            yield offset + start, offset + end
            words = 0
        if size > LONGEST:
            long = re.compile(rf"(?:\S{{1,50}}\s*){{1,{LONGEST}}}")
            yield from ((offset + part.start(), offset + part.end()) for part in long.finditer(block, first, last))
            continue
        start, end, words = start if words else first, last, words + size
    if words:
        yield offset + start, offset + end


def _near_duplicates(passages: Sequence[Passage]) -> frozenset[int]:
    """Places of passages that share nearly all runs of five words with an earlier one."""
    holders, repeats = defaultdict[str, list[int]](list), set[int]()
    for place, passage in enumerate(passages):
        words = tokens(passage.text)
        runs = {" ".join(words[n : n + _SHINGLE]) for n in range(max(1, len(words) - _SHINGLE + 1))}
        sketch = sorted(sha256(run.encode()).hexdigest()[:16] for run in runs)[:_SKETCH]
        shared = Counter(holder for run in sketch for holder in holders[run])
        if max(shared.values(), default=0) >= _ALIKE * len(sketch) / _SKETCH:
            repeats.add(place)
        else:
            for run in sketch:
                holders[run].append(place)
    return frozenset(repeats)
