"""How well gold is recognised however the corpus was cut and whatever was added, and how often something else is.

    python benchmarks/matching.py --data-dir DIR [--datasets ragbench,squad_v2,…] [--cuts characters,…] [--sizes 300,…]

For each dataset, way of cutting, size and overlap, with nothing added to the chunks, a header, a footer, and both:

recognised   the share of the gold passages that the chunks touching them are recognised as, all of them retrieved
             beside six others
taken        of the chunks that touch no gold of their question, in the documents that come with it, the share that is
             recognised as one all the same

Documents are not named in either: only the texts decide. Then for all datasets together: the table by way and size;
nDCG@10 of one ranking with and without additions; hits in another edition of the gold's document, where the names are
compared; and what the shares that the rules ask for change.
"""

import argparse
import random
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from uuid import UUID

from evals.case.case import Case
from evals.case.matching import DocumentNames, MatchSettings, RunEvidence, evidence_of, match
from evals.datasets.base import Draft, HubDatasetLoader, LoadOptions
from evals.datasets.ragbench import RAGBenchLoader
from evals.datasets.registry import get_loader
from evals.metrics import NDCG
from evals.schemas import Document, EvalDataset, EvalQuestion, EvalRecord, EvalResponse, GoldPassage, RetrievedChunk

DATASETS = "ragbench,squad_v2,hotpotqa,msmarco,qasper,golden"
SIZES = "100,300,500,1000,2000"
"""Characters of a chunk; words where words are counted."""
BESIDE, NEAR = 6, 100
"""Chunks of any document beside those that touch the gold; and how many that do not, of the question's documents."""
LINE = "Acme Group knowledge base, section 4, internal use only, do not copy or pass on, page {page} of 250"
ADDED = {
    "nothing": "{text}",
    "header": f"{LINE}\n\n{{text}}",
    "footer": f"{{text}}\n\n{LINE}",
    "both": f"{LINE}\n\n{{text}}\n\n{LINE}",
}
SHARES: dict[str, tuple[float, ...]] = {
    "inside_chunk_share": (0.2, 0.3, 0.4, 0.5, 0.6, 0.8),
    "inside_gold_share": (0.0, 0.05, 0.1, 0.2, 0.3),
    "overlap_threshold": (0.5, 0.6, 0.7, 0.8, 0.9),
    "common_share": (0.1, 0.2, 0.33, 0.5, 1.0),
}
RENAMED: dict[str, Callable[[str, int], str]] = {
    "as it is": lambda name, number: name,
    "folder": lambda name, number: f"/srv/uploads/{number % 3}/{name}.md",
    "prefix": lambda name, number: f"kb-main__{name}.md",
    "UUID": lambda name, number: f"{UUID(int=(number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)}_{name}.md",
    "_v2": lambda name, number: f"{name}_v2.md",
    "another ending": lambda name, number: f"{name}.docx",
}
Span = tuple[int, int]
Asked = tuple[EvalQuestion, Sequence[str]]
"""A question, and the ids of the documents that come with it."""


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


@dataclass(frozen=True)
class Counts:
    """How many golds were recognised, and how many other chunks were taken for one."""

    golds: int = 0
    found: int = 0
    others: int = 0
    taken: int = 0

    def __add__(self, more: "Counts") -> "Counts":
        return Counts(*(mine + theirs for mine, theirs in zip(self.parts, more.parts, strict=True)))

    @property
    def parts(self) -> tuple[int, int, int, int]:
        return self.golds, self.found, self.others, self.taken

    @property
    def shares(self) -> tuple[str, str]:
        found = f"{self.found / self.golds:.1%}" if self.golds else "–"
        return found, f"{self.taken / self.others:.1%}" if self.others else "–"


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
    """The questions of a dataset with their documents, cut."""

    asked: Sequence[Asked]
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
        whole = {key: [Piece(key, 0, len(one.text), one.text)] for key, one in documents.items()}
        return cls(asked, whole)

    def cut(self, cut: Callable[[str, int, int], list[Span]], size: int, overlap: int) -> "Corpus":
        """The same corpus in chunks."""
        pieces = {
            key: [Piece(key, start, end, whole.text[start:end]) for start, end in cut(whole.text, size, overlap)]
            for key, (whole,) in self.pieces.items()
        }
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


def cases_of(name: str, options: LoadOptions, dataset: EvalDataset) -> Iterator[tuple[EvalQuestion, list[Document]]]:
    """Each question with the documents that come with it."""
    loader = get_loader(name)
    if isinstance(loader, RAGBenchLoader):
        for subset in sorted({question.metadata["subset"] for question in dataset.questions}):
            rows, _ = loader.open(replace(options, config=subset))
            for place in range(len(rows.column("id")))[: options.samples]:
                draft = Draft()
                loader.add(subset, rows, [place], draft)
                yield draft.questions[0], list(draft.documents.values())
    elif isinstance(loader, HubDatasetLoader):
        rows, _ = loader.open(options)
        for place in range(len(rows.column(loader.id_column)))[: options.samples]:
            draft = loader.convert(rows, [place])
            yield draft.questions[0], list(draft.documents.values())
    else:
        yield from ((question, dataset.documents) for question in dataset.questions)


def chunks_of(pieces: Sequence[Piece], form: str = "{text}") -> list[RetrievedChunk]:
    """The pieces as a server returns them, each with what the form adds."""
    return [
        RetrievedChunk(
            chunk_id=f"{piece.document}:{piece.start}",
            text=form.replace("{page}", str(piece.start // 1000 + 1)).replace("{text}", piece.text),
        )
        for piece in pieces
    ]


def anonymous(golds: Sequence[GoldPassage]) -> list[GoldPassage]:
    """The golds without the names of their documents."""
    return [gold.model_copy(update={"document_id": None, "section": None, "span": None}) for gold in golds]


def record(question: EvalQuestion, golds: Sequence[GoldPassage], chunks: Sequence[RetrievedChunk]) -> EvalRecord:
    question = question.model_copy(update={"gold_passages": list(golds)})
    return EvalRecord(question=question, response=EvalResponse(answer="It.", chunks=list(chunks)))


def measured(corpus: Corpus, form: str, settings: MatchSettings) -> Counts:
    """What is recognised and what is taken for gold, where the form adds something to each chunk."""
    found, apart = [], []
    for question, touching, beside, others in corpus.retrieved():
        found.append(record(question, anonymous(question.gold_passages), chunks_of(touching + beside, form)))
        apart.append(others)
    evidence = evidence_of(found, settings)
    total = Counts()
    for one, others in zip(found, apart, strict=True):
        golds, response = one.question.gold_passages, one.response or EvalResponse()
        seen = match(response.chunks or [], golds, settings, evidence)
        hits = match(chunks_of(others, form), golds, settings, evidence).hits
        total += Counts(len(golds), len(seen.found), len(others), sum(hits))
    return total


def print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_head(*titles: str) -> None:
    print()
    print_row(*titles)
    print_row(*["---"] * len(titles))


def print_grid(corpora: Mapping[str, Corpus], cuts: Sequence[str], sizes: Sequence[int]) -> None:
    """A row for each dataset, way of cutting, size and overlap; then one for all datasets together."""
    total: dict[tuple[str, int, float, str], Counts] = {}
    titles = [f"{what}, {added}" for what in ("recognised", "taken") for added in ADDED]
    print_head("dataset", "cut by", "size", "overlap", "golds", "other chunks", *titles)
    for name, corpus in corpora.items():
        for cut in cuts:
            for size, overlap in product(sizes, (0, 0.2)):
                pieces = corpus.cut(CUTS[cut], size, int(size * overlap))
                row = {added: measured(pieces, form, MatchSettings()) for added, form in ADDED.items()}
                for added, counts in row.items():
                    key = (cut, size, overlap, added)
                    total[key] = total.get(key, Counts()) + counts
                print_counts(name, cut, size, overlap, list(row.values()))
    print_head("datasets", "cut by", "size", "overlap", "golds", "other chunks", *titles)
    for cut, size, overlap in dict.fromkeys(key[:3] for key in total):
        print_counts("all", cut, size, overlap, [total[cut, size, overlap, added] for added in ADDED])


def print_counts(name: str, cut: str, size: int, overlap: float, counts: Sequence[Counts]) -> None:
    shares = [one.shares[side] for side in (0, 1) for one in counts]
    print_row(name, cut, size, f"{overlap:.0%}", counts[0].golds, counts[0].others, *shares)


def print_ranking(corpora: Mapping[str, Corpus]) -> None:
    """nDCG@10 of one ranking of ten chunks, where whole documents are judged; a context is for 150 words and more."""
    print_head("chunks of", "questions", *ADDED, "context of its own")
    for size in (50, 100, 200):
        ranked = []
        for corpus in corpora.values():
            for question, own, beside, others in corpus.cut(by_words, size, 0).retrieved():
                rng = random.Random(question.id)  # noqa: S311 - a benchmark's draw
                some = list(dict.fromkeys(rng.sample(own, min(3, len(own))) + beside + others))[:10]
                ranked.append((question, whole_documents(question, corpus), rng.sample(some, len(some))))
        forms = [*ADDED.values(), None]
        print_row(f"{size} words", len(ranked), *(f"{ndcg_of(ranked, form):.4f}" for form in forms))


def whole_documents(question: EvalQuestion, corpus: Corpus) -> list[GoldPassage]:
    """The documents of the golds as golds, as in collections that judge whole documents."""
    names = dict.fromkeys(gold.document_id or "" for gold in question.gold_passages)
    return [GoldPassage(text=corpus.pieces[name][0].text) for name in names]


def ndcg_of(ranked: Sequence[tuple[EvalQuestion, list[GoldPassage], list[Piece]]], form: str | None) -> float:
    """The mean over the questions; without a form, chunks of 150 words have a context of 50 to 100 words each."""
    rng = random.Random(1)  # noqa: S311 - a benchmark's draw
    words = [word for _, _, pieces in ranked for piece in pieces for word in piece.text.split()]
    records = []
    for question, golds, pieces in ranked:
        contexts = [rng.choices(words, k=rng.randint(50, 100) if len(one.text.split()) >= 150 else 0) for one in pieces]
        forms = [form or f"{' '.join(context)}\n\n{{text}}" for context in contexts]
        chunks = [chunk for piece, one in zip(pieces, forms, strict=True) for chunk in chunks_of([piece], one)]
        records.append(record(question, golds, chunks))
    evidence = evidence_of(records, MatchSettings())
    cases = [Case(one.question, one.response or EvalResponse(), evidence=evidence) for one in records]
    return fmean(NDCG(10).score(case).value or 0.0 for case in cases)


def print_editions(corpora: Mapping[str, Corpus]) -> None:
    """Golds found in their own document, and in the edition of the year before: the same but for every tenth chunk."""
    print_head("names of the chunks", "golds", "found", "in the other edition", "of these, names ignored")
    for way, rename in RENAMED.items():
        total = Counts()
        ignored = 0
        for corpus in corpora.values():
            counts, without = editions(corpus.cut(by_characters, 1000, 0), rename)
            total, ignored = total + counts, ignored + without
        print_row(way, total.golds, *total.shares, f"{ignored / total.golds:.1%}")


def editions(corpus: Corpus, rename: Callable[[str, int], str]) -> tuple[Counts, int]:
    """Golds, found in their own document, golds, found in another one; and the last, where names are ignored."""
    numbers = {key: number for number, key in enumerate(corpus.pieces)}
    records = []
    for question, own, _, _ in corpus.retrieved():
        golds = [gold.model_copy(update={"document_id": f"{gold.document_id}-2024"}) for gold in question.gold_passages]
        before = [piece for piece in own if piece.start // 1000 % 10 != 9]
        named = [
            chunk.model_copy(
                update={"chunk_id": None, "document_id": rename(f"{piece.document}-{year}", numbers[piece.document])}
            )
            for year, pieces in ((2023, before), (2024, own))
            for piece, chunk in zip(pieces, chunks_of(pieces), strict=True)
        ]
        records.append(record(question, golds, named))
    evidence = evidence_of(records, MatchSettings())
    total = [found_by_year(one, evidence) for one in records]
    without = [found_by_year(one, replace(evidence, names=DocumentNames(comparable=False))) for one in records]
    golds = sum(len(one.question.gold_passages) for one in records)
    return Counts(golds, sum(a for _, a in total), golds, sum(b for b, _ in total)), sum(b for b, _ in without)


def found_by_year(one: EvalRecord, evidence: RunEvidence) -> tuple[int, int]:
    """How many golds the chunks of 2023 are taken for, and those of 2024."""
    chunks = one.response.chunks or [] if one.response else []
    by_chunk = match(chunks, one.question.gold_passages, MatchSettings(), evidence).by_chunk
    seen: dict[bool, set[int]] = {False: set(), True: set()}
    for chunk, golds in zip(chunks, by_chunk, strict=True):
        seen["-2024" in (chunk.document_id or "")].update(golds)
    return len(seen[False]), len(seen[True])


def print_sensitivity(corpora: Mapping[str, Corpus]) -> None:
    """What each share changes, over chunks of 300 and 1,000 characters, with nothing added and with both lines."""
    print_head("share", "value", "recognised, nothing", "recognised, both", "taken, nothing", "taken, both")
    cut = [corpus.cut(by_characters, size, 0) for corpus in corpora.values() for size in (300, 1000)]
    for share, values in SHARES.items():
        for value in values:
            settings = MatchSettings.model_validate({share: value})
            rows = [
                sum((measured(one, ADDED[form], settings) for one in cut), Counts()) for form in ("nothing", "both")
            ]
            used = " (used)" if value == getattr(MatchSettings(), share) else ""
            print_row(share, f"{value:g}{used}", *(one.shares[side] for side in (0, 1) for one in rows))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="local rows instead of the hub")
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--cuts", default=",".join(CUTS))
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--samples", type=int, default=0, help="questions of each dataset; 0 for all")
    parser.add_argument("--only", choices=["grid", "ranking", "editions", "sensitivity"], help="one of the tables")
    options = parser.parse_args()
    load = LoadOptions(samples=options.samples or None, data_dir=options.data_dir)
    corpora = {name: Corpus.of(name, load) for name in options.datasets.split(",")}
    if options.only in {None, "grid"}:
        print_grid(corpora, options.cuts.split(","), [int(size) for size in options.sizes.split(",")])
    for name, table in (("ranking", print_ranking), ("editions", print_editions), ("sensitivity", print_sensitivity)):
        if options.only in {None, name}:
            table(corpora)


if __name__ == "__main__":
    main()
