"""Errors of the refusal model on labelled answers: python benchmarks/abstention.py [FILE.jsonl].

Reads a file of rows with `question`, `answer` and `abstained`, and `expected` where there is one. Without a file, reads
what no weights were fitted to: the held_out answers and, where EVALS_REAL_DATA names a folder that has them, the fresh
ones; and measures the time on RAGBench's responses. An answer counts as in a run: one that holds the expected answer is
no refusal. `abstention_fit.py` prints the errors of answers whose authors are left out of the fit.
"""

import argparse
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evals.schemas import EvalQuestion
from evals.text.refusals import RefusalModel, gives_expected, shipped_model

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "text" / "refusals"
Row = dict[str, Any]


class Measured(NamedTuple):
    """An answer as it was read: whether it declines, whether that is doubtful, and its label."""

    declines: bool
    doubtful: bool
    label: bool


def main() -> None:
    """Print a row for each set of answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="labelled answers, one JSON object a line")
    options = parser.parse_args()
    for name, labelled in [(options.file.name, read(options.file))] if options.file else own_sets():
        print(errors(name, [measured(row, shipped_model()) for row in labelled]))
    if not options.file and "EVALS_REAL_DATA" in os.environ:
        print(f"{microseconds():.0f} µs an answer of RAGBench")


def read(file: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def own_sets() -> Iterator[tuple[str, list[Row]]]:
    """The sets that no weights were fitted to."""
    yield "held_out", [row for row in read(FOLDER / "answers.jsonl") if row["split"] == "held_out"]
    if folder := os.environ.get("EVALS_REAL_DATA"):
        yield "fresh", read(Path(folder) / "refusals" / "fresh.jsonl")


def measured(row: Row, model: RefusalModel) -> Measured:
    """What a run says of an answer, where the dataset does not say whether the question can be answered."""
    reading = model.reading(row["answer"], row["question"] or "")
    question = EvalQuestion(question=row["question"] or "?", expected_answer=row.get("expected") or None)
    if reading.declines and gives_expected(row["answer"], question):
        return Measured(declines=False, doubtful=False, label=bool(row["abstained"]))
    return Measured(reading.declines, reading.doubtful, bool(row["abstained"]))


def errors(name: str, measures: Iterable[Measured]) -> str:
    """A row of the table: errors of a set, and how many of its answers and errors are doubtful."""
    answers = list(measures)
    wrong = [answer for answer in answers if answer.declines != answer.label]
    wrongly = sum(answer.declines for answer in wrong)
    return (
        f"{name:20} answers={len(answers):<5} declining={sum(answer.label for answer in answers):<5} "
        f"errors={len(wrong):<4} wrongly={wrongly:<4} missed={len(wrong) - wrongly:<4} "
        f"doubtful={sum(answer.doubtful for answer in answers):<5} "
        f"errors not doubtful={sum(not answer.doubtful for answer in wrong)}"
    )


def microseconds(rounds: int = 5) -> float:
    """CPU time of an answer of RAGBench, the least of several rounds."""
    from pyarrow import parquet

    files = sorted((Path(os.environ["EVALS_REAL_DATA"]) / "hf" / "ragbench").rglob("*.parquet"))
    pairs = [
        (row["response"], row["question"])
        for file in files
        for row in parquet.read_table(file, columns=["question", "response"]).to_pylist()
    ]
    model, taken = shipped_model(), []
    for _ in range(rounds):
        start = time.process_time()
        for answer, question in pairs:
            model.reading(answer, question)
        taken.append(time.process_time() - start)
    return 1e6 * min(taken) / len(pairs)


if __name__ == "__main__":
    main()
