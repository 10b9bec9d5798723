"""Precision and recall of the abstention detector on labelled answers: python benchmarks/abstention.py."""

import json
from pathlib import Path

from evals.case.abstention.detector import is_abstention

LABELS = Path(__file__).resolve().parent.parent / "tests" / "case" / "abstention" / "answers.jsonl"


def main() -> None:
    """Print a row for each split."""
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    for split in ("development", "held_out"):
        pairs = [(is_abstention(r["answer"], r["question"]), r["abstained"]) for r in rows if r["split"] == split]
        right = sum(said and labelled for said, labelled in pairs)
        said, labelled = sum(s for s, _ in pairs), sum(label for _, label in pairs)
        figures = f"precision={right / said:.3f}  recall={right / labelled:.3f}"
        print(f"{split:12} n={len(pairs)}  abstaining={labelled}  {figures}")


if __name__ == "__main__":
    main()
