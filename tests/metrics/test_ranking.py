"""The ranking metrics: trec_eval's numbers where chunks and golds match one to one, and what holds however they do."""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import get_args

import pytest
from extras import full
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from metrics.records import chunks, record

from evals.metrics import MRR, NDCG, MatchSettings, PrecisionAtK, RecallAtK, Sample, parse_metric
from evals.schemas import GoldPassage, RetrievedChunk
from evals.text.matching import Rule

KS = (1, 2, 3, 5, 10, 20, 50)
FAMILIES = {"P@": "precision_at_", "R@": "recall_at_", "nDCG@": "ndcg_at_"}
TREC_FAMILIES = {"P_": "precision_at_", "recall_": "recall_at_", "ndcg_cut_": "ndcg_at_"}
NAMES = ["recip_rank", *(f"{family}{k}" for family in TREC_FAMILIES for k in KS)]  # as trec_eval has them


def _our_name(name: str, families: Mapping[str, str] = TREC_FAMILIES) -> str | None:
    if name in {"RR", "recip_rank"}:
        return "mrr"
    family = next((prefix for prefix in families if name.startswith(prefix)), None)
    return families[family] + name.removeprefix(family) if family else None


def _value(name: str, sample: Sample) -> float | None:
    return parse_metric(name).score(sample).value


def _sample(grades: Iterable[tuple[str, int]], scored: Iterable[tuple[str, float]], rule: Rule = "auto") -> Sample:
    """A query as a record: what is judged as irrelevant is no gold; by score descending, ties by id descending."""
    golds = [GoldPassage(text=f"passage {doc}", chunk_id=doc, relevance=grade) for doc, grade in grades if grade > 0]
    ranked = sorted(scored, key=lambda pair: (pair[1], pair[0]), reverse=True)
    found = chunks(*(doc for doc, _ in ranked))
    return record(gold_passages=golds, chunks=found, settings=MatchSettings(rule=rule))


# Random runs, against trec_eval.


@dataclass(frozen=True)
class Collection:
    """Judged queries, what was retrieved for them, and what trec_eval says."""

    grades: dict[str, dict[str, int]]
    scores: dict[str, dict[str, float]]
    reference: dict[str, dict[str, float]]


def _random_query(rng: random.Random) -> tuple[dict[str, int], dict[str, float]]:
    docs = [f"{rng.choice('abXYZ-_')}{number}" for number in range(60)]
    relevant = rng.sample(docs, rng.randint(1, 12))
    irrelevant = dict.fromkeys(rng.sample(docs, 10), 0)
    pool = [doc for doc in docs if doc not in relevant] if rng.random() < 0.15 else docs
    retrieved = rng.sample(pool, rng.randint(1, 40))
    tied = rng.choice([1, 3, 8, 1000])
    grades = irrelevant | {doc: rng.choice([1, 1, 2, 3]) for doc in relevant}
    return grades, {doc: rng.randint(0, tied) / 4 for doc in retrieved}


@pytest.fixture(scope="module")
def collection() -> Collection:
    pytrec_eval = full("pytrec_eval")
    rng = random.Random(20)  # noqa: S311 - test data
    queries = {f"q{number}": _random_query(rng) for number in range(300)}
    grades = {query: judged for query, (judged, _) in queries.items()}
    scores = {query: run for query, (_, run) in queries.items()}
    cuts = ",".join(map(str, KS))
    measures = {"recip_rank", *(f"{family}.{cuts}" for family in ("recall", "P", "ndcg_cut"))}
    return Collection(grades, scores, pytrec_eval.RelevanceEvaluator(grades, measures).evaluate(scores))


def test_every_metric_equals_trec_eval_on_300_random_runs(collection: Collection) -> None:
    """Ties, grades, cut-offs beyond the list and queries without hits give trec_eval's number."""
    for query, reference in collection.reference.items():
        sample = _sample(collection.grades[query].items(), collection.scores[query].items())
        found = {name: _value(_our_name(name) or name, sample) for name in NAMES}
        assert found == pytest.approx({name: reference[name] for name in NAMES}, abs=1e-9), query


def test_the_random_runs_hold_the_hard_cases(collection: Collection) -> None:
    """The comparison above is over ties, graded golds, short lists and queries without hits."""
    runs = collection.scores.values()
    assert any(len(set(run.values())) < len(run) for run in runs)
    assert any(len(run) < min(KS[1:]) for run in runs)
    assert any(max(judged.values()) > 1 for judged in collection.grades.values())
    assert any(values["recip_rank"] == 0 for values in collection.reference.values())


# Real runs, against numbers that trec_eval itself printed.


@pytest.fixture(scope="module")
def cases(real_data: Path) -> Callable[[str, str], dict[str, Sample]]:
    """Read judgements and a run, by query; a query of the run that is not judged is left out."""

    def read(judgements: str, run: str) -> dict[str, Sample]:
        golds, scores = defaultdict(list), defaultdict(list)
        for line in (real_data / judgements).read_text().splitlines():
            query, _, doc, grade = line.split()
            golds[query].append((doc, int(grade)))
        for line in (real_data / run).read_text().splitlines():
            query, _, doc, _, score, _ = line.split()
            scores[query].append((doc, float(score)))
        judged = {query: grades for query, grades in golds.items() if any(grade > 0 for _, grade in grades)}
        return {query: _sample(grades, scores[query], "chunk_id") for query, grades in judged.items()}

    return read


@pytest.mark.real_rows
@pytest.mark.parametrize("run_name", ["trec_eval test (qrels.test,results.test)", "cacm anserini sample run"])
def test_the_mean_over_a_real_run_is_that_of_trec_eval(
    real_data: Path, cases: Callable[[str, str], dict[str, Sample]], run_name: str
) -> None:
    """nDCG, precision, recall and reciprocal rank agree with trec_eval to all four digits it gives."""
    reference = json.loads((real_data / "reference_values" / "ranking.json").read_text())["runs"][run_name]
    records = cases(reference["qrels"], reference["run"]).values()
    expected = {ours: value for name, value in reference["values"].items() if (ours := _our_name(name, FAMILIES))}
    assert {"ndcg_at_10", "precision_at_10", "recall_at_10", "mrr"} <= expected.keys()
    assert {name: round(fmean(_value(name, sample) or 0.0 for sample in records), 4) for name in expected} == expected


@pytest.mark.real_rows
def test_each_query_of_a_real_run_has_the_number_of_trec_eval(
    real_data: Path, cases: Callable[[str, str], dict[str, Sample]]
) -> None:
    """Query by query, every measure that trec_eval printed and we have is the same to four digits."""
    records = cases("trec_eval/qrels.test", "trec_eval/results.test")
    compared = set()
    for line in (real_data / "trec_eval" / "out.test.aq").read_text().splitlines():
        name, query, value = line.split()
        ours = _our_name(name)
        if ours and query in records:
            assert _value(ours, records[query]) == pytest.approx(float(value), abs=5.01e-5), (ours, query)
            compared.add((ours, query))
    assert {("mrr", "301"), ("precision_at_10", "301"), ("ndcg_at_10", "301")} <= compared


# What holds however chunks and golds match: many to many, repeated, nested, cut.

WORDS = [f"word{number}" for number in range(48)]
CUT = (RecallAtK, PrecisionAtK, NDCG)
documents = st.sampled_from([None, "guide", "docs/Guide.md", "manual"])
ids = st.sampled_from([None, None, "c1", "c2", "c3"])
grades = st.sampled_from([1.0, 1.0, 0.5, 2.0, 3.0])


@st.composite
def passages(draw: st.DrawFn) -> str:
    """A stretch of the one text that all golds and chunks are cut from, so that they nest, overlap and join."""
    start = draw(st.integers(0, len(WORDS) - 1))
    return " ".join(WORDS[start : start + draw(st.integers(1, 30))])


texts = st.one_of(passages(), passages(), st.lists(passages(), min_size=2, max_size=3).map(" and ".join), st.none())
golds = st.builds(GoldPassage, text=passages(), chunk_id=ids, document_id=documents, relevance=grades)
one_chunk = st.builds(RetrievedChunk, text=texts, chunk_id=ids, document_id=documents)
gold_lists = st.lists(golds, min_size=1, max_size=6)
chunk_lists = st.lists(one_chunk, max_size=8)
repeated = chunk_lists.flatmap(lambda some: st.permutations(some + some[:3]))
# Else a chunk of a gold's document, wherever it stands, takes the gold from the chunks of other documents.
rules = st.sampled_from(get_args(Rule)).map(lambda rule: MatchSettings(rule=rule, count_other_documents=True))
example_count = settings(derandomize=True, max_examples=150)


@example_count
@given(wanted=gold_lists, found=repeated, more=one_chunk, rule=rules)
def test_a_chunk_at_the_end_changes_no_metric_with_a_smaller_k(
    wanted: list[GoldPassage], found: list[RetrievedChunk], more: RetrievedChunk, rule: MatchSettings
) -> None:
    """What stands below the cut is not seen by a metric at k, where the chunks above it say anything at all."""
    before, after = (record(gold_passages=wanted, chunks=some, settings=rule) for some in (found, [*found, more]))
    assume(not found or MRR().score(before).value is not None)
    assume(more.text not in {chunk.text for chunk in found})  # what is sent twice is one chunk, with the names of both
    for metric in (family(k) for family in CUT for k in range(1, len(found) + 1)):
        assert metric.score(before).value == metric.score(after).value, metric.name


@example_count
@given(wanted=gold_lists, found=chunk_lists.filter(bool), data=st.data())
def test_a_repeated_chunk_gains_nothing(
    wanted: list[GoldPassage], found: list[RetrievedChunk], data: st.DataObject
) -> None:
    """Repeating a chunk at the end finds no gold and is no further hit."""
    again = data.draw(st.sampled_from(found))
    once, twice = (record(gold_passages=wanted, chunks=some).matches for some in (found, [*found, again]))
    assert twice.found == once.found
    assert twice.hits == (*once.hits, False)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 10])
def test_the_first_k_chunks_decide_even_where_a_gold_is_cut(k: int) -> None:
    """Every metric at k over a gold in five pieces is what it is over the first k chunks alone."""
    gold = GoldPassage(text=" ".join(WORDS[:40]))
    found = [RetrievedChunk(text=" ".join(WORDS[start : start + 8])) for start in range(0, 40, 8)]
    found.append(RetrievedChunk(text=gold.text))
    whole, cut = (record(gold_passages=[gold], chunks=some) for some in (found, found[:k]))
    for family in CUT:
        assert family(k).score(whole).value == family(k).score(cut).value, family(k).name
