"""The page of a run in headless Chromium: size, first paint, when the list can be used, and the frames of a scroll.

python benchmarks/report_page.py [--questions 100,5000] [--kilobytes 12]
python benchmarks/report_page.py --make FOLDER --questions 5000      # only the runs, to look at

A record has as many kilobytes as is usual in RAGBench with four documents whole, of words as frequent as in English, so
that it packs as such text does. Times are from the begin of the navigation; a frame is the time between two that are
drawn while the list is scrolled from end to end in two seconds.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate, product
from pathlib import Path
from typing import Any

from evals.metrics.registry import select
from evals.report import write_report
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, GoldPassage, ResponseError, RetrievedChunk
from evals.schemas.response import Citation
from evals.schemas.results import ServerRecord
from evals.scoring.config import ScoringConfig
from evals.scoring.measured import measured
from evals.scoring.scorecard import make_scorecard, score_record
from evals.scoring.settings import cases_of, score_settings
from evals.scoring.weighted import make_weighted_score
from evals.store.runs import RunStore

STARTS = (
    "b",
    "br",
    "c",
    "cl",
    "d",
    "dr",
    "f",
    "g",
    "gr",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "r",
    "s",
    "st",
    "t",
    "tr",
)
MIDDLES = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
ENDS = ("", "d", "l", "ment", "n", "r", "s", "t", "ting", "ction", "ly", "rian", "vers", "th", "ss")
VOCABULARY = ["".join(parts) for parts in product(STARTS, MIDDLES, ENDS)] + [
    "".join(parts) for parts in product(STARTS, MIDDLES, STARTS, MIDDLES[:2])
]
SENTENCES = 20_000
SAMPLE = 200
"""Questions that are scored; those after them fare like them, with texts of their own."""
LESS = 3.8
"""Kilobytes of a record that are not its documents: question, answer and scores."""
WATCH = """
new MutationObserver(() => {
  const row = document.querySelector("#page[data-ready] .virtual .row");
  if (row && !window.usableAt) window.usableAt = performance.now();
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"]});
"""
SCROLL = """
async () => {
  const list = document.querySelector(".virtual");
  const frames = [];
  let last = await new Promise(requestAnimationFrame);
  const begin = last, bottom = list.scrollHeight - list.clientHeight;
  while (last - begin < 2000) {
    list.scrollTop = bottom * (last - begin) / 2000;
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  return Math.max(...frames);
}
"""


def sentences() -> list[str]:
    """Sentences whose words are as frequent as those of a natural text: by one over their rank."""
    rng = random.Random("words")  # noqa: S311
    words = rng.sample(VOCABULARY, len(VOCABULARY))
    weights = list(accumulate(1 / (place + 3) for place in range(len(words))))
    made = (rng.choices(words, cum_weights=weights, k=rng.randrange(8, 26)) for _ in range(SENTENCES))
    return [f"{' '.join(each).capitalize()}." for each in made]


def record(number: int, pool: Sequence[str], kilobytes: float, seed: str) -> EvalRecord:
    """One question with its answer and four documents; its text is the same in all runs."""
    rng, luck = random.Random(f"question {number}"), random.Random(f"{seed} {number % SAMPLE}")  # noqa: S311
    length = sum(map(len, pool[:100])) / 100
    texts = [" ".join(rng.choices(pool, k=max(1, round((kilobytes - LESS) * 250 / length)))) for _ in range(4)]
    gold, said = texts[0][:300], " ".join(rng.choices(pool, k=4))
    question = EvalQuestion(
        id=f"q{number}",
        question=f"{' '.join(rng.choices(pool, k=1))[:-1]}?",
        expected_answer=said,
        gold_passages=[GoldPassage(document_id=f"doc-{number}", text=gold)],
        is_unanswerable=False,
        dataset="made",
        metadata={"kind": f"kind {number % 6}"},
    )
    if luck.random() < 0.1:
        return EvalRecord(question=question, response=EvalResponse(error=ResponseError(kind="timeout", message="late")))
    found = texts[1:] if luck.random() < 0.2 else texts
    luck.shuffle(found)
    chunks = [RetrievedChunk(document_id=f"doc-{number}", text=each) for each in found]
    response = EvalResponse(
        answer=f"{said} [1]",
        chunks=chunks,
        citations=[Citation(index=1)],
        latency_ms=round(100 + 900 * luck.random(), 3),
    )
    return EvalRecord(question=question, response=response)


def make_run(folder: Path, name: str, questions: int, kilobytes: float) -> None:
    """Write a run of so many questions, record by record, as `eval` would have left it."""
    created, pool = datetime(2026, 1, 2, 3, 4, tzinfo=UTC), sentences()
    run = EvalRun(
        id=name, name=name, created_at=created, completed_at=created, datasets=["made"], question_count=questions,
        status="complete", server=ServerRecord(url="http://127.0.0.1:1", profile="rag-server"), seed=42, concurrency=4,
    )  # fmt: skip
    metrics = select(["core"], [])
    cases = cases_of(run, [record(number, pool, kilobytes, name) for number in range(min(SAMPLE, questions))])
    sample: list[EvalRecord] = []
    failed = 0

    def written() -> Iterator[EvalRecord]:
        nonlocal failed
        for number in range(questions):
            made = record(number, pool, kilobytes, name)
            if number < SAMPLE:
                sample.append(score_record(metrics, made, cases))
            failed += made.response is not None and made.response.error is not None
            yield made.model_copy(update={"scores": sample[number % SAMPLE].scores})

    store = RunStore(folder)
    store.prepare()
    store.compact(run, written())
    card = make_scorecard(metrics, sample, score_settings(run))
    done = {
        "scorecard": card,
        "weighted_score": make_weighted_score(card, ScoringConfig()),
        "outcomes": run.outcomes.model_copy(update={"answered": questions - failed}),
        "error_count": failed,
    }
    store.save(run.model_copy(update=done))


def write_page(folder: Path, name: str) -> tuple[Path, float]:
    """The page of a run, and the seconds that it took to write."""
    store, path = RunStore(folder), folder / f"{name}.html"
    run = store.load(name)
    start = time.perf_counter()
    write_report(path, [measured(run, store.open_records(run))])
    return path, time.perf_counter() - start


def looked_at(path: Path, name: str) -> dict[str, float]:
    """First paint, when the list can be used, and the longest frame while it is scrolled, in milliseconds."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        page = browser.new_page()
        page.add_init_script(WATCH)
        page.goto(f"{path.as_uri()}#/questions/{name}")
        page.wait_for_function("window.usableAt")
        paint: Any = page.evaluate('performance.getEntriesByName("first-contentful-paint")[0].startTime')
        found = {"paint": paint, "usable": page.evaluate("window.usableAt"), "frame": page.evaluate(SCROLL)}
        browser.close()
    return found


def main() -> None:
    """Print a row for each number of questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", default="100,5000", help="sizes, with commas")
    parser.add_argument("--kilobytes", type=float, default=12.0, help="of a record")
    parser.add_argument("--make", type=Path, help="only write the runs into this folder")
    given = parser.parse_args()
    if given.make is None and shutil.which("chromium") is None:
        sys.exit("chromium is not installed: apt-get install chromium")
    if given.make is None:
        print("questions  records MB  written s  file MB  paint ms  usable ms  frame ms")
    with tempfile.TemporaryDirectory() as scratch:
        for questions in map(int, given.questions.split(",")):
            folder, name = given.make or Path(scratch), f"run{questions}"
            make_run(folder, name, questions, given.kilobytes)
            if given.make is None:
                print_row(folder, name, questions)


def print_row(folder: Path, name: str, questions: int) -> None:
    """One line of the table."""
    path, seconds = write_page(folder, name)
    records = next(folder.glob(f"{name}_*.records.jsonl")).stat().st_size / 1e6
    found = looked_at(path, name)
    row = f"{questions:>9}{records:12.1f}{seconds:11.1f}{path.stat().st_size / 1e6:9.2f}"
    print(f"{row}{found['paint']:10.0f}{found['usable']:11.0f}{found['frame']:10.0f}", flush=True)


if __name__ == "__main__":
    main()
