"""Which questions belong together, and what becomes of the intervals then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from evals.compare import SavedRun, compare_runs
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.metrics.base import BaseMetric
from evals.metrics.sample import Sample
from evals.run.work import load_workload
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, MetricGroup, MetricResult
from evals.scoring.run_columns import check_cluster, cluster_of
from evals.scoring.scorecard import make_scorecard, summarise
from evals.scoring.settings import ScoreSettings, score_settings

BOOK = [GoldPassage(document_id="book"), GoldPassage(document_id="map")]


class Quality(BaseMetric):
    """A metric from 0 to 1."""

    name = "quality"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset()

    def measure(self, case: Sample) -> MetricResult:
        return self.result(1.0)


def question(number: int, **parts: Any) -> EvalQuestion:
    """A question of its own."""
    return EvalQuestion(**{"id": f"q{number}", "question": f"What is {number}?", "dataset": "own", **parts})


def records(documents: int, per: int, value: Callable[[int], float]) -> list[EvalRecord]:
    """Scored questions about documents; the value is that of the document's number."""
    return [
        EvalRecord(
            question=question(
                document * per + place,
                gold_passages=[GoldPassage(document_id=f"d{document}")],
                metadata={"page": document % 2, "author": f"a{document % 8}"},
            ),
            response=EvalResponse(answer="yes"),
            scores=[Quality().result(value(document))],
        )
        for document in range(documents)
        for place in range(per)
    ]


def test_questions_of_one_document_belong_together() -> None:
    """By their first gold passage; without one, or with one that names no document, each stands for itself."""
    first, second = question(1, gold_passages=BOOK), question(2, gold_passages=BOOK[:1])
    assert cluster_of(first, "document") == cluster_of(second, "document")
    alone = [first, question(3, gold_passages=BOOK[::-1]), question(4), question(5)]
    alone += [question(6, gold_passages=[GoldPassage(text="x")]), question(7, gold_passages=[GoldPassage(text="x")])]
    assert len({cluster_of(each, "document") for each in alone}) == len(alone)
    assert cluster_of(first, "question") != cluster_of(second, "question")
    assert cluster_of(first, "document") != cluster_of(question(8, gold_passages=BOOK, dataset="other"), "document")


def test_a_key_of_metadata_says_what_belongs_together() -> None:
    """A list is one value; a question without the key stands for itself, whatever it is called."""
    cluster = [cluster_of(question(n, metadata={"tags": ["a", 1]}), "tags") for n in range(2)]
    assert cluster[0] == cluster[1]
    bare = [cluster_of(question(n, metadata={"tags": value}), "tags") for n, value in enumerate((None, "", []))]
    assert len(set(bare)) == 3


def test_a_key_that_is_empty_everywhere_is_denied_and_not_offered() -> None:
    """The hint names keys that mean something alone, and not the one that was just refused."""
    questions = [question(n, metadata={"chapter": "", "page": n, "tags": [], "note": None}) for n in range(3)]
    with pytest.raises(ConfigError) as caught:
        check_cluster("chapter", questions)
    check_cluster("page", questions)
    check_cluster("document", [])
    assert caught.value.message == "cluster is 'chapter', and no question has a value of that key in its metadata"
    assert caught.value.hint == "write document, question, or one of the keys that have values: page"


def test_the_key_is_checked_before_anything_is_asked(tmp_path: Path) -> None:
    """As soon as the questions are there."""
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "Who wrote it?", "metadata": {"page": 3}}\n', encoding="utf-8")
    assert len(load_workload(EvalConfig(dataset_file=file, cluster="page")).questions) == 1
    with pytest.raises(ConfigError, match="no question has a value of that key"):
        load_workload(EvalConfig(dataset_file=file, cluster="chapter"))
    with pytest.raises(ConfigError, match="cluster"):
        EvalConfig(cluster="")


@pytest.mark.parametrize(
    ("documents", "cluster", "clusters", "note"),
    [
        (12, "document", 12, None),
        (12, "question", 120, None),
        (12, "author", 8, None),
        (12, "page", 2, "for these 2 values of page"),
        (1, "document", 1, "for this document"),
        (4, "document", 4, "for these 4 documents"),
    ],
)
def test_the_interval_says_what_it_stands_on(documents: int, cluster: str, clusters: int, note: str | None) -> None:
    """How many clusters there are; where they are too few, that it holds for them alone."""
    scored = records(documents, 10, lambda document: float(document % 3 > 0))
    (found,) = make_scorecard([Quality()], scored, ScoreSettings(cluster=cluster)).metrics
    assert (found.interval.n, found.interval.clusters, found.interval.note) == (10 * documents, clusters, note)
    assert found.interval.marks == (["few clusters"] if note else [])


def test_a_question_that_counts_as_worst_stays_in_its_document() -> None:
    """The labels go with the values that count."""
    results = [Quality().result(1.0), Quality().undefined("lost", missing="transport"), Quality().undefined("no")]
    results += [Quality().result(0.5)] * 6
    labels = ["a", "b", "c", "d", "e", "f", "g", "h", "b"]
    excluded = summarise(Quality(), results, ScoreSettings(), labels).interval
    counted = summarise(Quality(), results, ScoreSettings(worst_on_error=True), labels).interval
    assert (excluded.n, excluded.clusters) == (7, 7)
    assert (counted.n, counted.clusters) == (8, 7)


def test_a_saved_run_is_read_with_its_key(build_run: Callable[..., Any]) -> None:
    """And one of before with that of documents."""
    values = {f"q{n}": {"mrr": float(n // 10 % 2)} for n in range(80)}
    parts = {f"q{n}": {"metadata": {"author": f"a{n // 10}"}} for n in range(80)}
    by_author = build_run("a", values, questions=parts, eval_config={"cluster": "author"})
    assert score_settings(by_author[0]).cluster == "author"
    plain = build_run("b", values, questions=parts)
    assert score_settings(plain[0]).cluster == "document"
    wide = compare_runs([SavedRun(*by_author), SavedRun(*plain)]).metrics[0].intervals[0]
    narrow = compare_runs([SavedRun(*plain), SavedRun(*by_author)]).metrics[0].intervals[0]
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])
