"""Errors of the refusal model on labelled answers: python benchmarks/abstention.py [FILE.jsonl].

Without a file, fits the model eight times, each time without some authors and some of RAGBench's datasets, and counts
errors on these; then reads the held_out answers and, where EVALS_REAL_DATA names a folder that has them, the fresh
answers, which no weights were ever fitted to. With a file of rows with `question`, `answer` and `abstained`, reads
these. An answer counts as in a run: one that holds the expected answer (`expected`) is no refusal.
"""

import argparse
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from abstention_fit import FOLDER, Answers, Row, fitted, read, responses, rows

from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse
from evals.text import refusals

Decided = tuple[bool, bool, bool]
"""Whether an answer was taken for a refusal, whether that is doubtful, and its label."""


def main() -> None:
    """Print a row for each set of answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="labelled answers, one JSON object a line")
    options = parser.parse_args()
    if options.file:
        print(errors(options.file.name, map(decided, read(options.file))))
        return
    held_out = [row for row in read(FOLDER / "answers.jsonl") if row["split"] == "held_out"]
    print(errors("held_out", map(decided, held_out)))
    if folder := os.environ.get("EVALS_REAL_DATA"):
        print(errors("fresh", map(decided, read(Path(folder) / "refusals" / "fresh.jsonl"))))
        real = list(responses())
        print(errors("RAGBench, as fitted", map(decided, real)))
        print(f"{microseconds(real):.0f} µs an answer of RAGBench")
    left_out = decided_without_their_authors(list(rows()))
    for origin in ("learnt", "more", "responses"):
        print(errors(f"{origin}, left out", (found for row, found in left_out if row["origin"] == origin)))


def sample_of(row: Row) -> Sample:
    """The answer as a run sees it, where the dataset does not say whether the question can be answered."""
    question = EvalQuestion(question=row["question"] or "?", expected_answer=row.get("expected") or None)
    return Sample(question, EvalResponse(answer=row["answer"]), judged=True)


def decided(row: Row) -> Decided:
    """What a run says of an answer, by the weights of the package."""
    sample = sample_of(row)
    return sample.reads_as_refusal, sample.abstention_judged, bool(row["abstained"])


def decided_without_their_authors(every: Sequence[Row]) -> list[tuple[Row, Decided]]:
    """Each answer of authors that are left out, decided by weights that were fitted without them."""
    answers, found = Answers(every), []
    for fold in range(8):
        model = refusals.loaded(fitted(answers, lambda author, fold=fold: fold_of(author) == fold))  # type: ignore[misc]
        for row in every:
            if fold_of(row["author"]) == fold:
                read = refusals.decision(refusals.score(row["answer"], row["question"] or "", model), model)
                gives = sample_of(row).gives_expected
                found.append((row, (read.declines and not gives, read.doubtful and not gives, bool(row["abstained"]))))
    return found


def fold_of(author: str) -> int | None:
    """The fit without an author: one of the learnt answers in each, one or two of `more`, a dataset of RAGBench."""
    origin, _, name = author.partition("-")
    if origin == "ragbench":
        return ("covidqa", "delucionqa", "hotpotqa", "msmarco").index(name)
    return ord(name) % 8 if origin in {"learnt", "more"} else None


def errors(name: str, found: Iterable[Decided]) -> str:
    """A row of the table: errors of a set, and how many of its answers and errors are doubtful."""
    every = list(found)
    wrong = [(declines, doubtful) for declines, doubtful, label in every if declines != label]
    wrongly, surely = sum(declines for declines, _ in wrong), sum(not doubtful for _, doubtful in wrong)
    return (
        f"{name:20} answers={len(every):<5} declining={sum(label for *_, label in every):<5} errors={len(wrong):<4} "
        f"wrongly={wrongly:<4} missed={len(wrong) - wrongly:<4} errors not doubtful={surely:<4} "
        f"doubtful={sum(doubtful for _, doubtful, _ in every)}"
    )


def microseconds(found: Sequence[Row], rounds: int = 5) -> float:
    """CPU time of an answer, the least of several rounds."""
    taken = []
    for _ in range(rounds):
        refusals.reading.cache_clear()
        start = time.process_time()
        for row in found:
            refusals.reading(row["answer"], row["question"])
        taken.append(time.process_time() - start)
    return 1e6 * min(taken) / len(found)


if __name__ == "__main__":
    main()
