"""Seconds and memory of `evals score predictions.json gold.json`: python benchmarks/passage_score.py [QUERIES]."""

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from evals.scoring.passages import score_predictions


def text(rng: random.Random, words: int) -> str:
    """Sentences of words that recur as words of a language do."""
    drawn = (f"w{int(rng.paretovariate(0.8)) % 20_000}{'.' if rng.random() < 0.06 else ''}" for _ in range(words))
    return " ".join(drawn)


def write(folder: Path, queries: int) -> None:
    """Ten passages and two golds a query, about the lengths of a legal benchmark; no text occurs twice."""
    rng = random.Random(1)  # noqa: S311 - test data
    predictions, tests = [], []
    for number in range(queries):
        passages = [text(rng, 90) for _ in range(10)]
        golds = [text(rng, 60), passages[number % 10][20:200]]
        predictions.append({"query": f"question {number}", "retrieved_passages": passages})
        tests.append({"query": f"question {number}", "snippets": [{"answer": gold} for gold in golds]})
    (folder / "predictions.json").write_text(json.dumps(predictions))
    (folder / "gold.json").write_text(json.dumps({"tests": tests}))


def main() -> None:
    """Write the files in a process of their own, so that their making is not in the memory measured."""
    import multiprocessing

    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 6000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        maker = multiprocessing.get_context("spawn").Process(target=write, args=(folder, queries))
        maker.start()
        maker.join()
        started = time.process_time()
        score_predictions(folder / "predictions.json", folder / "gold.json")
        seconds = time.process_time() - started
        size = (folder / "predictions.json").stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{queries} queries, {size:.0f} MB of predictions: {seconds:.1f} CPU-seconds, peak {peak:.0f} MiB")


if __name__ == "__main__":
    main()
