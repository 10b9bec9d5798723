"""Errors of the refusal model on labelled answers: python benchmarks/abstention.py [FILE.jsonl].

Without a file, reads the held_out answers and, where EVALS_REAL_DATA names a folder that has them, the 400 responses of
RAGBench and the fresh answers, which no weights were fitted to; then fits the model again without the authors of the
learnt answers, two at a time, and counts errors on theirs. With a file of rows with `question`, `answer` and
`abstained`, reads these. An answer counts as in a run: one that holds the expected answer (`expected`) is no refusal.
"""

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import abstention_fit
from pyarrow import parquet

from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse
from evals.text import refusals

Row = dict[str, Any]
DECLINED = {
    *(("covidqa", "543"), ("covidqa", "1271"), ("covidqa", "378"), ("delucionqa", "683")),
    *(("msmarco", "7994"), ("msmarco", "3647"), ("msmarco", "4135")),
}
"""The responses of RAGBench that decline, of the 400 read by one who had not seen the model."""

PAIRS = ("gk", "hi", "jl", "mn")
"""Authors of learnt answers, by the letter of their ids, that are left out together."""


def main() -> None:
    """Print a row for each set of answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="labelled answers, one JSON object a line")
    options = parser.parse_args()
    if options.file:
        print(figures(options.file.name, read(options.file)))
        return
    print(figures("held_out", [row for row in abstention_fit.read("answers.jsonl") if row["split"] == "held_out"]))
    if folder := os.environ.get("EVALS_REAL_DATA"):
        print(figures("fresh", read(Path(folder) / "refusals" / "fresh.jsonl")))
        responses = ragbench(Path(folder))
        print(figures("RAGBench", responses))
        print(f"{microseconds(responses):.0f} µs an answer of RAGBench")
    print(left_out())


def read(file: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def ragbench(folder: Path) -> list[Row]:
    """The responses of models in RAGBench, with their labels."""
    files = sorted((folder / "hf" / "ragbench").rglob("*.parquet"))
    return [
        {
            "question": row["question"],
            "answer": str(row["response"]),
            "abstained": (file.parent.name, row["id"]) in DECLINED,
        }
        for file in files
        for row in parquet.read_table(file, columns=["id", "question", "response"]).to_pylist()
    ]


def sample_of(row: Row) -> Sample:
    """The answer as a run sees it, where the dataset does not say whether the question can be answered."""
    question = EvalQuestion(question=row["question"] or "?", expected_answer=row.get("expected") or None)
    return Sample(question, EvalResponse(answer=row["answer"]), judged=True)


def figures(name: str, rows: Sequence[Row]) -> str:
    """Errors of a set, and how many of its answers and errors are in doubt."""
    samples = [(sample_of(row), bool(row["abstained"])) for row in rows]
    return errors(name, [(each.reads_as_refusal, each.abstention_judged, label) for each, label in samples])


def errors(name: str, decided: Iterable[tuple[bool, bool, bool]]) -> str:
    """A row of the table, of what was decided, whether it is in doubt, and the label."""
    found = list(decided)
    wrong = [(declines, doubtful) for declines, doubtful, label in found if declines != label]
    wrongly, surely = sum(declines for declines, _ in wrong), sum(not doubtful for _, doubtful in wrong)
    doubtful = sum(doubtful for _, doubtful, _ in found)
    return (
        f"{name:12} answers={len(found):<5} declining={sum(label for *_, label in found):<5} errors={len(wrong):<4} "
        f"wrongly={wrongly:<4} missed={len(wrong) - wrongly:<4} doubtful={doubtful:<4} errors not doubtful={surely}"
    )


def left_out() -> str:
    """The errors on the learnt answers, by models that were fitted without their authors, two at a time."""
    every = abstention_fit.rows()
    decided = []
    for pair in PAIRS:
        authors = {f"learnt-{letter}" for letter in pair}
        model = refusals.loaded(abstention_fit.fitted([row for row in every if row["author"] not in authors]))
        for row in every:
            if row["author"] in authors and row["split"] == "learnt":
                found = refusals.decision(refusals.score(row["answer"], row["question"] or "", model), model)
                holds = sample_of(row).gives_expected
                decided.append((found.declines and not holds, found.doubtful and not holds, bool(row["abstained"])))
    return errors("left out", decided)


def microseconds(rows: Sequence[Row], rounds: int = 5) -> float:
    """CPU time of an answer, the least of several rounds."""
    taken = []
    for _ in range(rounds):
        refusals.reading.cache_clear()
        start = time.process_time()
        for row in rows:
            refusals.reading(row["answer"], row["question"])
        taken.append(time.process_time() - start)
    return 1e6 * min(taken) / len(rows)


if __name__ == "__main__":
    main()
