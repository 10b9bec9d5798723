"""The corpora on which matching is measured: questions with their documents, cut in several ways."""

import random
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from evals.datasets.base import Draft, HubDatasetLoader, LoadOptions
from evals.datasets.ragbench import RAGBenchLoader, best_rows
from evals.datasets.registry import get_loader
from evals.schemas import Document, EvalDataset, EvalQuestion, GoldPassage
from evals.text.tokens import tokens

BESIDE, NEAR = 6, 100
"""Chunks of any document beside those that touch the gold; and how many that do not, of the question's documents."""
RUN, HEADING = 20, 40
"""Tokens in a row that are no chance; and up to how many that a document and a gold begin with may be their heading."""
Span = tuple[int, int]
Asked = tuple[EvalQuestion, Sequence[str]]
"""A question, and the ids of the documents that come with it."""
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_READ_AS = "ohcoetqhlilltrnaqncfvyvxvzRPGOFPCNLlXIHNOFORSIUVVXYZ"
_FIGURES = str.maketrans("oOlIsSzZbBgq0123456789", "001155228899OlZ8AGG1Bg")
MISREAD = {
    "as letters that look alike": {one: other for one, other in zip(_LETTERS, _READ_AS, strict=True) if one != other},
    "as any letter": {one: _LETTERS[:26].replace(one, "") for one in _LETTERS[:26]},
    "as letters or digits that look alike": {
        one: f"{other}{one.translate(_FIGURES)}".replace(one, "")
        for one, other in [*zip(_LETTERS, _READ_AS, strict=True), *((figure, "") for figure in "0123456789")]
        if f"{other}{one.translate(_FIGURES)}".replace(one, "")
    },
}
"""For each letter what it may be read as."""
REPLACED = {"name": re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b"), "number": re.compile(r"\b[1-9]\d*\b")}


@dataclass(frozen=True)
class Piece:
    """A chunk with its place in the document that it was cut from."""

    document: str
    start: int
    end: int
    text: str

    def touches(self, golds: Sequence[GoldPassage]) -> bool:
        """Whether it holds something of a gold."""
        spans = [gold.span for gold in golds if gold.document_id == self.document and gold.span]
        return any(self.start < end and start < self.end for start, end in spans)


def by_characters(text: str, size: int, overlap: int) -> list[Span]:
    """Every so many characters, through words too."""
    return [(start, min(len(text), start + size)) for start in range(0, max(1, len(text) - overlap), size - overlap)]


def by_words(text: str, size: int, overlap: int) -> list[Span]:
    """Every so many words."""
    words = [word.span() for word in re.finditer(r"\S+", text)]
    return [(words[a][0], words[b - 1][1]) for a, b in by_characters(" " * len(words), size, overlap)] if words else []


def by_sentences(text: str, size: int, overlap: int) -> list[Span]:
    """Sentences up to so many characters, or one that is longer; the next chunk begins with the last of them."""
    ends = [one.end() for one in re.finditer(r"[.!?]+\s+|\n\s*|$", text)]
    spans, start = [], 0
    while start < len(text):
        first, past = bisect_right(ends, start), bisect_right(ends, start + size)
        last = max(first, past - 1)
        spans.append((start, ends[last]))
        start = ends[last - 1] if overlap and last > first + 1 and ends[last] < len(text) else ends[last]
    return spans


def by_headings(text: str, size: int, overlap: int) -> list[Span]:
    """At each Markdown heading; sections that are longer than the size, every so many characters."""
    starts = sorted({0, *(one.start() for one in re.finditer(r"^#{1,6} ", text, re.MULTILINE))})
    sections = zip(starts, [*starts[1:], len(text)], strict=True)
    return [(a + b, a + c) for a, end in sections for b, c in by_characters(text[a:end], size, overlap)]


CUTS = {"characters": by_characters, "words": by_words, "sentences": by_sentences, "headings": by_headings}


@dataclass(frozen=True)
class Corpus:
    """The questions of a dataset with their documents, whole and cut."""

    asked: Sequence[Asked]
    texts: Mapping[str, str]
    pieces: Mapping[str, Sequence[Piece]]

    @classmethod
    def of(cls, name: str, options: LoadOptions) -> "Corpus":
        """The dataset, not cut yet."""
        documents: dict[str, Document] = {}
        asked = []
        for question, own in cases_of(name, options, get_loader(name).load(options)):
            golds = [gold for gold in question.gold_passages if gold.span and gold.document_id]
            documents.update((document.id, document) for document in own)
            if golds:
                asked.append((question.model_copy(update={"gold_passages": golds}), [document.id for document in own]))
        texts = {key: one.text for key, one in documents.items()}
        return cls(asked, texts, {key: [Piece(key, 0, len(text), text)] for key, text in texts.items()})

    def cut(self, cut: Callable[[str, int, int], list[Span]], size: int, overlap: int) -> "Corpus":
        """The same corpus in chunks."""
        pieces = {
            key: [Piece(key, start, end, text[start:end]) for start, end in cut(text, size, overlap)]
            for key, text in self.texts.items()
        }
        return replace(self, pieces=pieces)

    def map(self, change: Callable[[str], str]) -> "Corpus":
        """The same corpus, its chunks changed and not its documents."""
        pieces = {key: [replace(one, text=change(one.text)) for one in some] for key, some in self.pieces.items()}
        return replace(self, pieces=pieces)

    def around(self, context: int) -> "Corpus":
        """The same corpus, where each gold is whole in a chunk, with so many characters before and behind it."""
        pieces: dict[str, list[Piece]] = {key: [] for key in self.texts}
        for question, _ in self.asked:
            for gold in question.gold_passages:
                key, (start, end) = gold.document_id or "", gold.span or (0, 0)
                first, last = max(0, start - context), end + context
                pieces[key].append(Piece(key, first, last, self.texts[key][first:last]))
        return replace(self, pieces=pieces)

    def retrieved(self) -> Iterator[tuple[EvalQuestion, list[Piece], list[Piece], list[Piece]]]:
        """For each question the chunks that touch its golds, some of any document, and others of its documents."""
        every = [piece for pieces in self.pieces.values() for piece in pieces]
        for question, documents in self.asked:
            rng = random.Random(question.id)  # noqa: S311 - a benchmark's draw
            golds = question.gold_passages
            near = [piece for key in documents for piece in self.pieces[key]]
            beside = [piece for piece in rng.sample(every, min(BESIDE, len(every))) if not piece.touches(golds)]
            others = [piece for piece in near if not piece.touches(golds)]
            touching = [piece for piece in near if piece.touches(golds)]
            yield question, touching, beside, rng.sample(others, min(NEAR, len(others)))

    def repeats(self, piece: Piece, gold: str) -> bool:
        """Whether it repeats the text of a gold: what its document repeats is half of it, or half of the gold."""
        document = self.texts[piece.document]
        first = len(tokens(document[: piece.start]))
        last = first + len(tokens(piece.text))
        found = repeated(document, gold)
        here = found.count(1, first, last)
        return here > 0 and (2 * here >= last - first or 2 * found.count(1) >= len(tokens(gold)))


def misread(text: str, portion: float, table: Mapping[str, str]) -> str:
    """The text with so many of its letters read as others of the table, drawn by the text itself."""
    rng = random.Random(text)  # noqa: S311 - a benchmark's draw
    return "".join(rng.choice(table[one]) if one in table and rng.random() < portion else one for one in text)


def replacements(corpus: Corpus, what: str) -> Iterator[tuple[GoldPassage, str]]:
    """Each gold that holds a name or a number, with a chunk around it in which one of them is another throughout."""
    golds = [gold for question, _ in corpus.asked for gold in question.gold_passages]
    every = sorted({one for gold in golds for one in REPLACED[what].findall(gold.text)})
    for gold in golds:
        rng = random.Random(gold.text)  # noqa: S311 - a benchmark's draw
        held = sorted(set(REPLACED[what].findall(gold.text)))
        if held and len(every) > 1:
            old = rng.choice(held)
            new = rng.choice([one for one in every if one != old])
            start, end = gold.span or (0, 0)
            text = corpus.texts[gold.document_id or ""]
            around = f"{text[max(0, start - 200) : start]}{gold.text}{text[end : end + 200]}"
            anonymous = gold.model_copy(update={"document_id": None, "section": None, "span": None})
            yield anonymous, re.sub(rf"\b{old}\b", new, around)


def cases_of(name: str, options: LoadOptions, dataset: EvalDataset) -> Iterator[tuple[EvalQuestion, list[Document]]]:
    """Each question with the documents that come with it."""
    loader = get_loader(name)
    if isinstance(loader, RAGBenchLoader):
        for subset in sorted({question.metadata["subset"] for question in dataset.questions}):
            rows = loader.open(replace(options, config=subset))
            for row in best_rows(rows, range(len(rows.column("id")))[: options.samples]):
                draft = Draft()
                yield loader.question_of(subset, row, draft), list(draft.documents.values())
    elif isinstance(loader, HubDatasetLoader):
        rows = loader.open(options)
        for place in range(len(rows.column(loader.id_column)))[: options.samples]:
            draft = loader.convert(rows, [place])
            yield draft.questions[0], list(draft.documents.values())
    else:
        yield from ((question, dataset.documents) for question in dataset.questions)


@lru_cache(maxsize=4096)
def repeated(document: str, gold: str) -> bytes:
    """For each token of the document whether it repeats the gold, as one of 20 in a row or of all; not in a heading."""
    ours, theirs = tokens(document), tokens(gold)
    size = min(RUN, len(theirs))
    wanted = {theirs[place : place + size] for place in range(len(theirs) - size + 1)}
    heading = next((at for at, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), 0)
    found = bytearray(len(ours))
    for place in range(heading if heading <= HEADING else 0, len(ours) - size + 1):
        if ours[place : place + size] in wanted:
            found[place : place + size] = b"\1" * size
    return bytes(found)
