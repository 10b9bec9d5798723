"""The ranking metrics give the numbers of trec_eval wherever chunks and golds match one to one."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from math import log2

import pytest
from extras import full

from evals.metrics import MRR, NDCG, BaseMetric, PrecisionAtK, RecallAtK
from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, RetrievedChunk

pytrec_eval = full("pytrec_eval")
KS = (1, 2, 3, 5, 10, 20, 50)
METRICS: list[tuple[str, BaseMetric]] = [
    ("recip_rank", MRR()),
    *((f"recall_{k}", RecallAtK(k)) for k in KS),
    *((f"P_{k}", PrecisionAtK(k)) for k in KS),
    *((f"ndcg_cut_{k}", NDCG(k)) for k in KS),
]


@dataclass(frozen=True)
class Collection:
    """Judged queries, what was retrieved for them, and what trec_eval says."""

    grades: dict[str, dict[str, int]]
    scores: dict[str, dict[str, float]]
    reference: dict[str, dict[str, float]]

    def ask(self, query: str) -> tuple[EvalQuestion, EvalResponse]:
        """Turn a query into a record; what is judged as irrelevant is no gold."""
        golds = [
            GoldPassage(text=f"passage {doc}", chunk_id=doc, relevance=grade)
            for doc, grade in self.grades[query].items()
            if grade > 0
        ]
        chunks = [RetrievedChunk(chunk_id=doc) for doc in _in_order(self.scores[query].items())]
        return EvalQuestion(question=query, gold_passages=golds), EvalResponse(answer="An answer.", chunks=chunks)


def _in_order(scored: Iterable[tuple[str, float]]) -> list[str]:
    """The ids as trec_eval orders them: score descending, ties by id descending."""
    return [doc for doc, _ in sorted(scored, key=lambda pair: (pair[1], pair[0]), reverse=True)]


def _random_query(rng: random.Random) -> tuple[dict[str, int], dict[str, float]]:
    docs = [f"{rng.choice('abXYZ-_')}{number}" for number in range(60)]
    relevant = rng.sample(docs, rng.randint(1, 12))
    irrelevant = dict.fromkeys(rng.sample(docs, 10), 0)
    pool = [doc for doc in docs if doc not in relevant] if rng.random() < 0.15 else docs
    retrieved = rng.sample(pool, rng.randint(1, 40))
    tied = rng.choice([1, 3, 8, 1000])
    return (
        irrelevant | {doc: rng.choice([1, 1, 2, 3]) for doc in relevant},
        {doc: rng.randint(0, tied) / 4 for doc in retrieved},
    )


@pytest.fixture(scope="module")
def collection() -> Collection:
    rng = random.Random(20)  # noqa: S311 - test data
    queries = {f"q{number}": _random_query(rng) for number in range(300)}
    grades = {query: judged for query, (judged, _) in queries.items()}
    scores = {query: run for query, (_, run) in queries.items()}
    cuts = ",".join(map(str, KS))
    evaluator = pytrec_eval.RelevanceEvaluator(
        grades, {"recip_rank", f"recall.{cuts}", f"P.{cuts}", f"ndcg_cut.{cuts}"}
    )
    return Collection(grades, scores, evaluator.evaluate(scores))


def test_every_metric_equals_trec_eval_on_300_random_runs(collection: Collection) -> None:
    """Ties, grades, cut-offs beyond the list and queries without hits give trec_eval's number."""
    for query, reference in collection.reference.items():
        sample = Sample(*collection.ask(query))
        values = {name: metric.score(sample).value for name, metric in METRICS}
        assert values == pytest.approx({name: reference[name] for name, _ in METRICS}, abs=1e-9), query


def test_the_random_runs_hold_the_hard_cases(collection: Collection) -> None:
    """The comparison above is over ties, graded golds, short lists and queries without hits."""
    runs = collection.scores.values()
    assert any(len(set(run.values())) < len(run) for run in runs)
    assert any(len(run) < min(KS[1:]) for run in runs)
    assert any(max(judged.values()) > 1 for judged in collection.grades.values())
    assert any(values["recip_rank"] == 0 for values in collection.reference.values())


def test_the_gain_is_linear_in_the_grade() -> None:
    """A grade counts as it is, not as 2^grade - 1."""
    question = EvalQuestion(
        question="q",
        gold_passages=[
            GoldPassage(text="high", chunk_id="high", relevance=3),
            GoldPassage(text="low", chunk_id="low", relevance=1),
        ],
    )
    response = EvalResponse(answer="a", chunks=[RetrievedChunk(chunk_id="low"), RetrievedChunk(chunk_id="high")])
    expected = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    assert NDCG(10).compute(question, response).value == pytest.approx(expected, abs=1e-12)
