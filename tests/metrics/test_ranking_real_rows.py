"""The ranking metrics on real runs, against numbers that trec_eval itself printed."""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean

import pytest

from evals.metrics import Sample, parse_metric
from evals.schemas import GoldPassage, RetrievedChunk

pytestmark = pytest.mark.real_rows

FAMILIES = {"P@": "precision_at_", "R@": "recall_at_", "nDCG@": "ndcg_at_"}
TREC_FAMILIES = {"P_": "precision_at_", "recall_": "recall_at_", "ndcg_cut_": "ndcg_at_"}


@pytest.fixture(scope="module")
def rows() -> Path:
    folder = os.environ.get("EVALS_REAL_DATA")
    if not folder:
        pytest.skip("EVALS_REAL_DATA names no folder")
    return Path(folder)


@pytest.fixture(scope="module")
def cases(rows: Path, make_case: Callable[..., Sample]) -> Callable[[str, str], dict[str, Sample]]:
    """Read judgements and a run, by query; a query of the run that is not judged is left out."""

    def read(judgements: str, run: str) -> dict[str, Sample]:
        golds = defaultdict(list)
        for line in (rows / judgements).read_text().splitlines():
            query, _, doc, grade = line.split()
            if int(grade) > 0:
                golds[query].append(GoldPassage(text=doc, chunk_id=doc, relevance=int(grade)))
        scores = defaultdict(list)
        for line in (rows / run).read_text().splitlines():
            query, _, doc, _, score, _ = line.split()
            scores[query].append((doc, float(score)))
        return {
            query: make_case(
                passages,
                rule="chunk_id",
                chunks=[RetrievedChunk(chunk_id=doc) for doc in _in_order(scores[query])],
            )
            for query, passages in golds.items()
        }

    return read


def _in_order(scored: Iterable[tuple[str, float]]) -> list[str]:
    """The ids as trec_eval orders them: score descending, ties by id descending."""
    return [doc for doc, _ in sorted(scored, key=lambda pair: (pair[1], pair[0]), reverse=True)]


def _our_name(name: str, families: dict[str, str]) -> str | None:
    if name in {"RR", "recip_rank"}:
        return "mrr"
    family = next((prefix for prefix in families if name.startswith(prefix)), None)
    return families[family] + name.removeprefix(family) if family else None


@pytest.mark.parametrize("run_name", ["trec_eval test (qrels.test,results.test)", "cacm anserini sample run"])
def test_the_mean_over_a_real_run_is_that_of_trec_eval(
    rows: Path, cases: Callable[[str, str], dict[str, Sample]], run_name: str
) -> None:
    """nDCG, precision, recall and reciprocal rank agree with trec_eval to all four digits it gives."""
    reference = json.loads((rows / "reference_values" / "ranking.json").read_text())["runs"][run_name]
    records = cases(reference["qrels"], reference["run"])
    expected = {ours: value for name, value in reference["values"].items() if (ours := _our_name(name, FAMILIES))}
    assert {"ndcg_at_10", "precision_at_10", "recall_at_10", "mrr"} <= expected.keys()
    means = {
        name: round(fmean(parse_metric(name).score(record).value or 0.0 for record in records.values()), 4)
        for name in expected
    }
    assert means == expected


def test_each_query_of_a_real_run_has_the_number_of_trec_eval(
    rows: Path, cases: Callable[[str, str], dict[str, Sample]]
) -> None:
    """Query by query, every measure that trec_eval printed and we have is the same to four digits."""
    records = cases("trec_eval/qrels.test", "trec_eval/results.test")
    compared = set()
    for line in (rows / "trec_eval" / "out.test.aq").read_text().splitlines():
        name, query, value = line.split()
        ours = _our_name(name, TREC_FAMILIES)
        if ours and query in records:
            result = parse_metric(ours).score(records[query])
            assert result.value == pytest.approx(float(value), abs=5.01e-5), (ours, query)
            compared.add((ours, query))
    assert {("mrr", "301"), ("precision_at_10", "301"), ("ndcg_at_10", "301")} <= compared
