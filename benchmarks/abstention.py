"""Precision and recall of the abstention detector on labelled answers: python benchmarks/abstention.py [FILE.jsonl].

A row holds `question`, `answer` and `abstained`, and may hold `expected`, `language` and `kind`. It is decided as in a
run: by the words of the answer, then by the expected answer where there is one. Without a file, the answers of the
tests are read, by their split. With --list, what was decided otherwise than labelled is printed.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.refusals.detector import is_abstention

LABELS = Path(__file__).resolve().parent.parent / "tests" / "text" / "refusals" / "answers.jsonl"
Row = dict[str, Any]


def main() -> None:
    """Print a row for all answers of a split or a file, and for each language and kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=LABELS, help="labelled answers, one JSON object a line")
    parser.add_argument("--list", action="store_true", help="print the answers that were decided otherwise")
    options = parser.parse_args()
    decided = [(row, abstained(row)) for row in read(options.file)]
    for name, group in groups(decided):
        print(f"{name:32} {figures(group)}")
    if options.list:
        for row, said in decided:
            if said != row["abstained"]:
                print(json.dumps({"said": said, **row}, ensure_ascii=False))


def read(file: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def abstained(row: Row) -> bool:
    """What a run says of the answer, where the dataset does not say whether the question can be answered."""
    if not row["question"]:
        return is_abstention(row["answer"])
    question = EvalQuestion(question=row["question"], expected_answer=row.get("expected") or None)
    return Sample(question, EvalResponse(answer=row["answer"])).abstained


def groups(decided: Iterable[tuple[Row, bool]]) -> Iterator[tuple[str, list[tuple[bool, bool]]]]:
    """What was said and what is labelled, by split, and within it by language and by kind."""
    found: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for row, said in decided:
        split = row.get("split", "all")
        names = [split, *(f"{split}, {row[field]}" for field in ("language", "kind") if row.get(field))]
        for name in names:
            found[name].append((said, bool(row["abstained"])))
    yield from sorted(found.items())


def figures(pairs: list[tuple[bool, bool]]) -> str:
    """Counts, precision and recall; a share of nothing is a dash."""
    right = sum(said and labelled for said, labelled in pairs)
    said, labelled = sum(s for s, _ in pairs), sum(label for _, label in pairs)
    return (
        f"n={len(pairs):<5} abstaining={labelled:<4} wrongly={said - right:<3} missed={labelled - right:<3} "
        f"precision={share(right, said)}  recall={share(right, labelled)}"
    )


def share(part: int, whole: int) -> str:
    """A share with three decimals."""
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
