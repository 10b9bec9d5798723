"""How well gold is recognised however the corpus was cut and whatever was added, and how often something else is.

    python benchmarks/matching.py --data-dir DIR [--datasets ragbench,squad_v2,…] [--cuts characters,…] [--sizes 300,…]

For each dataset, way of cutting, size and overlap, with nothing added to the chunks, a header, a footer, and both:

recognised   the share of the gold passages that the chunks touching them are recognised as, all of them retrieved
             beside six others
mistaken     of the chunks that touch no gold of their question, in the documents that come with it, the share that is
             recognised as one all the same
repeats      the share that is recognised and does repeat the gold's text: runs of 20 tokens and more that its document
             and the gold have in common are half of the chunk or of the gold, without a title that both begin with

Documents are not named in any: only the texts decide. The same for all datasets together, by way and size, and for each
dataset, over all ways and sizes. Then nDCG@10 of one ranking with and without additions; hits in another edition of the
gold's document, where the names are compared; what the shares that the rules ask for change; golds missed where letters
of the chunks were misread; and copies of golds in which a name or a number was replaced.
"""

import argparse
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean
from time import process_time
from uuid import UUID
from zlib import crc32

from matching_corpora import CUTS, MISREAD, REPLACED, Corpus, Piece, by_characters, by_words, misread, replacements

from evals.datasets.base import LoadOptions
from evals.metrics import NDCG
from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, RetrievedChunk
from evals.text.matching import MatchSettings, match

DATASETS = "ragbench,squad_v2,hotpotqa,msmarco,qasper,golden"
SIZES = "100,300,500,1000,2000"
"""Characters of a chunk; words where words are counted."""
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
}
RENAMED: dict[str, Callable[[str, int], str]] = {
    "as it is": lambda name, number: name,
    "folder": lambda name, number: f"/srv/uploads/{number % 3}/{name}.md",
    "prefix": lambda name, number: f"kb-main__{name}.md",
    "UUID": lambda name, number: f"{UUID(int=(number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)}_{name}.md",
    "_v2": lambda name, number: f"{name}_v2.md",
    "another ending": lambda name, number: f"{name}.docx",
}


@dataclass(frozen=True)
class Counts:
    """How many golds were recognised, and how many other chunks were taken for one, by mistake or as they repeat it."""

    golds: int = 0
    found: int = 0
    others: int = 0
    mistaken: int = 0
    repeats: int = 0

    def __add__(self, more: "Counts") -> "Counts":
        return Counts(*(mine + theirs for mine, theirs in zip(self.parts, more.parts, strict=True)))

    @property
    def parts(self) -> tuple[int, int, int, int, int]:
        return self.golds, self.found, self.others, self.mistaken, self.repeats

    @property
    def recognised(self) -> str:
        return share(self.found, self.golds)

    @property
    def taken(self) -> tuple[str, str]:
        return share(self.mistaken, self.others), share(self.repeats, self.others)


def share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "–"


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


CPU: list[float] = []
"""Seconds that matching took."""


def is_held_back(question: EvalQuestion) -> bool:
    """Whether a question is of the quarter to which nothing was fitted."""
    return crc32(question.id.encode()) % 4 == 0


def measured(corpus: Corpus, form: str = "{text}", settings: MatchSettings = MatchSettings()) -> Counts:  # noqa: B008
    """What is recognised and what is taken for gold, where the form adds something to each chunk."""
    found, apart = [], []
    for question, touching, beside, others in corpus.retrieved():
        found.append(record(question, anonymous(question.gold_passages), chunks_of(touching + beside, form)))
        apart.append(others)
    total = Counts()
    for one, others in zip(found, apart, strict=True):
        golds, response = one.question.gold_passages, one.response or EvalResponse()
        started = process_time()
        seen = match(golds, response.chunks or [], settings)
        by_chunk = match(golds, chunks_of(others, form), settings).by_chunk
        CPU.append(process_time() - started)
        taken = [
            any(corpus.repeats(piece, golds[index].text) for index in indices)
            for piece, indices in zip(others, by_chunk, strict=True)
            if indices
        ]
        total += Counts(len(golds), len(seen.found), len(others), taken.count(False), taken.count(True))
    return total


def print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_head(*titles: str) -> None:
    print()
    print_row(*titles)
    print_row(*["---"] * len(titles))


def print_grid(corpora: Mapping[str, Corpus], cuts: Sequence[str], sizes: Sequence[int]) -> None:
    """A row for each dataset, way of cutting, size and overlap; then of all datasets together, and of each."""
    rows: dict[tuple[str, str, int, float], list[Counts]] = {}
    print_counts_head("dataset", "cut by", "size", "overlap")
    for name, corpus in corpora.items():
        for cut, size, overlap in product(cuts, sizes, (0, 0.2)):
            pieces = corpus.cut(CUTS[cut], size, int(size * overlap))
            rows[name, cut, size, overlap] = [measured(pieces, form, MatchSettings()) for form in ADDED.values()]
            print_counts(name, cut, size, f"{overlap:.0%}", counts=rows[name, cut, size, overlap])
    print_counts_head("cut by", "size")
    for key in product(cuts, sizes):
        print_counts(*key, counts=summed(counts for (_, *of), counts in rows.items() if tuple(of[:2]) == key))
    print_counts_head("dataset")
    for name in corpora:
        print_counts(name, counts=summed(counts for of, counts in rows.items() if of[0] == name))


def summed(rows: Iterable[Sequence[Counts]]) -> list[Counts]:
    """The rows added up, each form by itself."""
    return [sum(column, Counts()) for column in zip(*rows, strict=True)]


def print_counts_head(*keys: str) -> None:
    titles = [f"{what}, {added}" for what in ("recognised", "mistaken") for added in ADDED]
    print_head(*keys, "golds", "other chunks", *titles, "repeats, nothing")


def print_counts(*keys: object, counts: Sequence[Counts]) -> None:
    shares = [*(one.recognised for one in counts), *(one.taken[0] for one in counts), counts[0].taken[1]]
    print_row(*keys, counts[0].golds, counts[0].others, *shares)


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
    cases = [Sample(one.question, one.response or EvalResponse()) for one in records]
    return fmean(NDCG(10).score(case).value or 0.0 for case in cases)


def print_editions(corpora: Mapping[str, Corpus]) -> None:
    """Golds found in their own document, and in the edition of the year before: the same but for every tenth chunk."""
    print_head("names of the chunks", "golds", "found", "in the other edition", "of these, names ignored")
    for way, rename in RENAMED.items():
        counts = [editions(corpus.cut(by_characters, 1000, 0), rename) for corpus in corpora.values()]
        golds, *found = (sum(column) for column in zip(*counts, strict=True))
        print_row(way, golds, *(share(part, golds) for part in found))


def editions(corpus: Corpus, rename: Callable[[str, int], str]) -> tuple[int, int, int, int]:
    """Golds; found in their own document; found in the other edition; and the last, where names are ignored."""
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
    total = [found_by_year(one, MatchSettings()) for one in records]
    without = [found_by_year(one, MatchSettings(count_other_documents=True)) for one in records]
    golds = sum(len(one.question.gold_passages) for one in records)
    return golds, sum(own for _, own in total), sum(other for other, _ in total), sum(other for other, _ in without)


def found_by_year(one: EvalRecord, settings: MatchSettings) -> tuple[int, int]:
    """How many golds the chunks of 2023 are taken for, and those of 2024."""
    chunks = one.response.chunks or [] if one.response else []
    by_chunk = match(one.question.gold_passages, chunks, settings).by_chunk
    seen: dict[bool, set[int]] = {False: set(), True: set()}
    for chunk, golds in zip(chunks, by_chunk, strict=True):
        seen["-2024" in (chunk.document_id or "")].update(golds)
    return len(seen[False]), len(seen[True])


def print_sensitivity(corpora: Mapping[str, Corpus]) -> None:
    """What each share changes, over chunks of 300 and 1,000 characters, with nothing added and with both lines."""
    titles = [f"{what}, {form}" for what in ("recognised", "mistaken", "repeats") for form in ("nothing", "both")]
    print_head("share", "value", *titles)
    cut = [corpus.cut(by_characters, size, 0) for corpus in corpora.values() for size in (300, 1000)]
    for name, values in SHARES.items():
        for value in values:
            settings = MatchSettings.model_validate({name: value})
            rows = [
                sum((measured(one, ADDED[form], settings) for one in cut), Counts()) for form in ("nothing", "both")
            ]
            used = " (used)" if value == getattr(MatchSettings(), name) else ""
            taken = [one.taken[side] for side in (0, 1) for one in rows]
            print_row(name, f"{value:g}{used}", *(one.recognised for one in rows), *taken)


def print_misread(corpora: Mapping[str, Corpus]) -> None:
    """Golds missed where letters of the chunks were misread: in chunks that touch, by their size, and whole in one."""
    sizes = (100, 300, 1000)
    print_head(
        "misread", "share", *(f"missed, {size} characters" for size in sizes), "missed, whole", "mistaken, repeats"
    )
    for (way, table), portion in product(MISREAD.items(), (0.01, 0.02)):
        change = partial(misread, portion=portion, table=table)
        cuts = [[corpus.cut(by_characters, size, 0) for corpus in corpora.values()] for size in sizes]
        cuts.append([corpus.around(200) for corpus in corpora.values()])
        counts = [sum((measured(corpus.map(change)) for corpus in cut), Counts()) for cut in cuts]
        missed = [share(one.golds - one.found, one.golds) for one in counts]
        print_row(way, f"{portion:.0%}", *missed, ", ".join(sum(counts, Counts()).taken))


def print_replaced(corpora: Mapping[str, Corpus]) -> None:
    """Copies of a gold, with the text around it, in which one name or number is another throughout."""
    print_head("replaced", "copies", "taken for the gold")
    for what in REPLACED:
        copies = [pair for corpus in corpora.values() for pair in replacements(corpus, what)]
        taken = [match([gold], [RetrievedChunk(text=chunk)], MatchSettings()).found for gold, chunk in copies]
        print_row(what, len(copies), sum(map(bool, taken)))


TABLES = {
    "ranking": print_ranking,
    "editions": print_editions,
    "sensitivity": print_sensitivity,
    "misread": print_misread,
    "replaced": print_replaced,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="local rows instead of the hub")
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--cuts", default=",".join(CUTS))
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--samples", type=int, default=0, help="questions of each dataset; 0 for all")
    parser.add_argument("--held-back", action="store_true", help="only the questions to which nothing was fitted")
    parser.add_argument("--only", choices=["grid", *TABLES], help="one of the tables")
    options = parser.parse_args()
    load = LoadOptions(samples=options.samples or None, data_dir=options.data_dir)
    corpora = {name: Corpus.of(name, load) for name in options.datasets.split(",")}
    if options.held_back:
        corpora = {
            name: replace(corpus, asked=[asked for asked in corpus.asked if is_held_back(asked[0])])
            for name, corpus in corpora.items()
        }
    if options.only in {None, "grid"}:
        print_grid(corpora, options.cuts.split(","), [int(size) for size in options.sizes.split(",")])
    for name, table in TABLES.items():
        if options.only in {None, name}:
            table(corpora)
    print(f"\n{sum(CPU):.1f} s of CPU in matching")


if __name__ == "__main__":
    main()
