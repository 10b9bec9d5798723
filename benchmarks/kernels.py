"""What the kernels of measuring take: units per second of CPU time, each the best of some rounds.

    python benchmarks/kernels.py [--rounds 5] [--only ranking,pairs,…] [--rows FILE.parquet]

ranking     records of 100 chunks and 2 golds known by their ids, over the retrieval metrics of the core suite
pairs       exact match and F1 of SQuAD over short answers, all of them distinct
core short  the core suite without a judge over answers of 20 words with 5 chunks of 100 words
core rows   the same over rows of RAGBench, where a file of them is given
bootstrap   seconds for the difference of a percentile between two runs of 1,000 questions, 2,000 resamples

pytrec_eval is measured beside the ranking where it is installed. Each round measures distinct texts, as runs do.
"""

import argparse
import gc
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from evals.scoring.conclusion import gc_paused
from evals.scoring.stats.differences import paired_percentile_difference

from evals.metrics.base import BaseMetric
from evals.metrics.registry import select
from evals.metrics.squad import best_exact, best_f1
from evals.schemas import Citation, EvalQuestion, EvalRecord, EvalResponse, GoldPassage, MetricGroup, RetrievedChunk
from evals.scoring.scorecard import score_record
from evals.scoring.settings import ScoreSettings
from evals.text.matching import MatchSettings

WORDS = [
    first + last
    for first in ["ab", "cov", "cla", "rat", "sen", "mem", "pol", "da", "ter", "pre"]
    for last in ["er", "im", "or", "ing", "ed", "us", "al"]
]


def best(work: Callable[[int], int], rounds: int) -> float:
    """Units per CPU second of the fastest round; the first one, which imports, does not count."""
    found = []
    for number in range(rounds + 1):
        gc.collect()
        start = time.process_time()
        units = work(number)
        found.append(units / (time.process_time() - start))
    return max(found[1:])


def score_all(metrics: Sequence[BaseMetric], records: Sequence[EvalRecord]) -> int:
    """Measure records as a run does; returns how many."""
    cases = ScoreSettings(match=MatchSettings())
    with gc_paused():
        cases.within(records)
        for record in records:
            score_record(metrics, record, cases)
    return len(records)


def by_ids(number: int, count: int) -> list[EvalRecord]:
    """Records of 100 chunks known by their ids alone."""
    draw = random.Random(number)  # noqa: S311 - no secret
    found = []
    for n in range(count):
        ids = [f"d{number}-{n}-{place}" for place in range(200)]
        golds = [GoldPassage(chunk_id=one) for one in draw.sample(ids, 2)]
        chunks = [RetrievedChunk(chunk_id=one, score=1.0) for one in draw.sample(ids, 100)]
        question = EvalQuestion(id=f"q{n}", question="which?", gold_passages=golds)
        found.append(EvalRecord(question=question, response=EvalResponse(chunks=chunks)))
    return found


def of_retrieval() -> list[BaseMetric]:
    """The retrieval metrics of the core suite."""
    return [metric for metric in select(["core"], []) if metric.group is MetricGroup.RETRIEVAL]


def ranking(rounds: int, count: int = 1000) -> None:
    """Ranking by ids, and pytrec_eval over the same."""
    made = {number: by_ids(number, count) for number in range(rounds + 1)}
    metrics = of_retrieval()
    rate = best(lambda number: score_all(metrics, made[number]), rounds)
    print(f"ranking     {rate:10,.0f} records of 100 chunks")
    try:
        import pytrec_eval
    except ImportError:
        return
    qrel = {
        n: {one.question.id: {str(gold.chunk_id): 1 for gold in one.question.gold_passages} for one in made[n]}
        for n in made
    }
    ranked = {
        n: {
            one.question.id: {str(chunk.chunk_id): 100.0 - at for at, chunk in enumerate(one.response.chunks or [])}
            for one in made[n]
            if one.response
        }
        for n in made
    }
    measures = {"recall.1,3,5,10", "P.1,3,5", "recip_rank", "ndcg_cut.10"}

    def trec(number: int) -> int:
        return len(pytrec_eval.RelevanceEvaluator(qrel[number], measures).evaluate(ranked[number]))

    print(f"pytrec_eval {best(trec, rounds):10,.0f} records of 100 chunks")


def pairs(rounds: int, count: int = 20_000) -> None:
    """Exact match and F1 over distinct short texts."""
    made = {}
    for number in range(rounds + 1):
        draw = random.Random(number)  # noqa: S311 - no secret
        made[number] = [
            (f"the {draw.choice(WORDS)} of {n}-{number}", [f"The {draw.choice(WORDS)} {draw.choice(WORDS)}, {n}"])
            for n in range(count)
        ]

    def compare(number: int) -> int:
        for prediction, golds in made[number]:
            best_exact(prediction, golds)
            best_f1(prediction, golds)
        return count

    print(f"pairs       {best(compare, rounds):10,.0f} EM and F1 of short answers")


def short(number: int, count: int) -> list[EvalRecord]:
    """Answers of 20 words with five chunks of 100, all distinct."""
    draw = random.Random(number)  # noqa: S311 - no secret
    found = []
    for n in range(count):
        texts = [" ".join(draw.choice(WORDS) for _ in range(100)) for _ in range(5)]
        chunks = [
            RetrievedChunk(chunk_id=f"c{n}-{at}", document_id=f"d{at}", text=text, score=1.0)
            for at, text in enumerate(texts)
        ]
        golds = [
            GoldPassage(text=texts[1][:200], document_id="d1"),
            GoldPassage(text=" ".join(draw.choice(WORDS) for _ in range(30)), document_id="d9"),
        ]
        question = EvalQuestion(id=f"q{n}", question=f"Which {n}?", gold_passages=golds, is_unanswerable=False)
        response = EvalResponse(
            answer=" ".join(texts[1].split()[:20]) + " [2]",
            chunks=chunks,
            citations=[Citation(index=2)],
            latency_ms=10.0 + n,
        )
        found.append(EvalRecord(question=question, response=response))
    return found


def core_short(rounds: int, count: int = 1000) -> None:
    """The core suite over short texts."""
    made = {number: short(number, count) for number in range(rounds + 1)}
    metrics = select(["core"], [])
    print(f"core short  {best(lambda number: score_all(metrics, made[number]), rounds):10,.0f} answers")


def rows_of(paths: Sequence[Path]) -> list[EvalRecord]:
    """Records of RAGBench's rows: its response as the answer, its documents as chunks."""
    import pyarrow.parquet as pq

    found = []
    for n, row in enumerate(row for path in paths for row in pq.read_table(path).to_pylist()):
        keys = {key[:-1] for key in row["all_relevant_sentence_keys"] or ()}
        chunks = [RetrievedChunk(text=text, document_id=f"{n}-{at}") for at, text in enumerate(row["documents"])]
        golds = [
            GoldPassage(text=text, document_id=f"{n}-{at}")
            for at, text in enumerate(row["documents"])
            if str(at) in keys and text
        ]
        question = EvalQuestion(id=f"q{n}", question=row["question"], gold_passages=golds, is_unanswerable=False)
        answer = EvalResponse(answer=row["response"], chunks=chunks, latency_ms=10.0 + n)
        found.append(EvalRecord(question=question, response=answer))
    return found


def core_rows(rounds: int, paths: Sequence[Path]) -> None:
    """The core suite over real rows; a part of them a round, so that nothing is remembered from the round before."""
    records = rows_of(paths)
    random.Random(0).shuffle(records)  # noqa: S311 - no secret
    size = len(records) // (rounds + 1)
    metrics = select(["core"], [])

    def score(number: int) -> int:
        return score_all(metrics, records[number * size : (number + 1) * size])

    print(f"core rows   {best(score, rounds):10,.0f} answers of RAGBench")


def bootstrap(rounds: int) -> None:
    """The paired bootstrap of a percentile."""
    draw = random.Random(1)  # noqa: S311 - no secret
    first, last = ([draw.random() for _ in range(1000)] for _ in range(2))

    def resample(_number: int) -> int:
        paired_percentile_difference(first, last, 95)
        return 1

    print(f"bootstrap   {1 / best(resample, rounds):10.3f} s")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="ranking,pairs,short,rows,bootstrap")
    parser.add_argument("--rows", type=Path, nargs="+", default=(), help="files of RAGBench's rows")
    options = parser.parse_args()
    asked = options.only.split(",")
    for name, work in (("ranking", ranking), ("pairs", pairs), ("short", core_short)):
        if name in asked:
            work(options.rounds)
    if "rows" in asked and options.rows:
        core_rows(options.rounds, options.rows)
    if "bootstrap" in asked:
        bootstrap(options.rounds)


if __name__ == "__main__":
    main()
