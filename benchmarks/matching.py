"""How well gold is recognised whatever the chunking, and how often something else is taken for it.

    python benchmarks/matching.py --data-dir DIR [--datasets ragbench,squad_v2,…] [--samples N]

For each dataset and chunk size:

recognised   the corpus is written one document after the other and cut into chunks of so many words, wherever the
             borders fall; the share of the gold passages that the chunks touching them are recognised as
wrong        the documents that come with a question are cut likewise, each by itself; the share of the chunks that
             touch no gold passage of the question and are recognised as one all the same

Documents are not named in either case: only the texts decide.
"""

import argparse
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evals.case.matching import MatchSettings, match
from evals.datasets.base import Draft, HubDatasetLoader, LoadOptions
from evals.datasets.ragbench import RAGBenchLoader
from evals.datasets.registry import get_loader
from evals.schemas import Document, EvalDataset, EvalQuestion, GoldPassage, RetrievedChunk

DATASETS = "ragbench,squad_v2,hotpotqa,msmarco,qasper,golden"
SIZES = (100, 200, 300, 500)


@dataclass(frozen=True)
class Piece:
    """A chunk with its place in the text that it was cut from."""

    start: int
    end: int
    chunk: RetrievedChunk


def cut(text: str, size: int) -> list[Piece]:
    """Cut a text into chunks of so many words."""
    words = list(re.finditer(r"\S+", text))
    pieces = []
    for first in range(0, len(words), size):
        start, end = words[first].start(), words[min(first + size, len(words)) - 1].end()
        pieces.append(Piece(start, end, RetrievedChunk(chunk_id=str(start), text=text[start:end])))
    return pieces


def recognised(dataset: EvalDataset, size: int, settings: MatchSettings) -> tuple[int, int, Counter[str]]:
    """Number of golds, number recognised, and by which rules."""
    offsets, parts, length = {}, [], 0
    for document in dataset.documents:
        offsets[document.id] = length
        parts.append(document.text)
        length += len(document.text) + 2
    pieces = cut("\n\n".join(parts), size)
    starts = [piece.start for piece in pieces]
    golds, rules = 0, Counter[str]()
    for question in dataset.questions:
        for gold in question.gold_passages:
            if gold.span is None or gold.document_id is None:
                continue
            golds += 1
            start, end = (offsets[gold.document_id] + place for place in gold.span)
            touching = pieces[max(0, bisect_right(starts, start) - 1) : bisect_left(starts, end)]
            found = match([piece.chunk for piece in touching], [anonymous(gold)], settings).found
            rules.update(rule for _, rule in found.values())
    return golds, sum(rules.values()), rules


def wrong(cases: Sequence[tuple[EvalQuestion, list[Document]]], size: int, settings: MatchSettings) -> tuple[int, int]:
    """Number of chunks that touch no gold of their question, and how many of them are taken for gold."""
    total = taken = 0
    for question, documents in cases:
        golds = [anonymous(gold) for gold in question.gold_passages]
        if not golds:
            continue
        for document in documents:
            spans = [g.span for g in question.gold_passages if g.document_id == document.id and g.span]
            for piece in cut(document.text, size):
                if any(piece.start < end and start < piece.end for start, end in spans):
                    continue
                total += 1
                taken += bool(match([piece.chunk], golds, settings).found)
    return total, taken


def anonymous(gold: GoldPassage) -> GoldPassage:
    """The gold without the name of its document."""
    return gold.model_copy(update={"document_id": None, "section": None})


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


def main() -> None:
    """Print a row for each dataset and chunk size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="local rows instead of the hub")
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--samples", type=int, default=0, help="questions of each dataset; 0 for all")
    options = parser.parse_args()
    settings = MatchSettings()
    print("| dataset | chunk words | golds | recognised | other chunks | taken for gold |")
    print("|---|---|---|---|---|---|")
    for name in options.datasets.split(","):
        load = LoadOptions(samples=options.samples or None, data_dir=options.data_dir)
        dataset = get_loader(name).load(load)
        cases = list(cases_of(name, load, dataset))
        for size in SIZES:
            golds, found, _ = recognised(dataset, size, settings)
            total, taken = wrong(cases, size, settings)
            shares = (f"{found / golds:.1%}" if golds else "–", f"{taken / total:.1%}" if total else "–")
            print(f"| {name} | {size} | {golds} | {shares[0]} | {total} | {shares[1]} |")


if __name__ == "__main__":
    main()
