"""Golds that are known by an id or a document are looked for where that stands, and nowhere else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics.base import BaseMetric
from evals.metrics.registry import select
from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, MetricGroup, RetrievedChunk
from evals.text.matching import MatchSettings, RunEvidence, match
from evals.text.matching import recognise as module
from evals.text.matching.words import Words

DEFAULTS = MatchSettings()


def test_only_the_chunk_of_the_golds_id_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred texts are not cut into words for a gold that has none."""
    chunks = [RetrievedChunk(chunk_id=f"c{n}", text=f"the text of chunk {n}") for n in range(100)]
    read: list[str] = []
    words_of = module.words_of

    def reading(text: str) -> Words:
        read.append(text)
        return words_of(text)

    monkeypatch.setattr(module, "words_of", reading)
    found = match(chunks, [GoldPassage(chunk_id="c42")], DEFAULTS, RunEvidence())
    assert found.found == {0: (42, "chunk_id")}
    assert set(read) <= {"", chunks[42].text}


IDS = st.lists(st.sampled_from(["1", "2", "3", None]), max_size=8)


@given(ids=IDS, wanted=st.lists(st.sampled_from(["1", "2", "4"]), max_size=3))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_ids_are_found_at_their_first_place(ids: list[str | None], wanted: list[str]) -> None:
    """Whether ids repeat or are missing; a chunk that repeats another one adds nothing."""
    chunks = [RetrievedChunk(chunk_id=one) for one in ids]
    found = match(chunks, [GoldPassage(chunk_id=one) for one in wanted], DEFAULTS)
    expected = {at: (ids.index(one), "chunk_id") for at, one in enumerate(wanted) if one in ids}
    assert found.found == expected
    assert found.hit_ranks == sorted({place + 1 for place, _ in expected.values()})


def test_what_a_record_lacks_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the first of the metrics that need the same."""
    asked: list[str] = []
    looked = BaseMetric._unrecognisable

    def count(metric: BaseMetric, case: Sample) -> str | None:
        asked.append(metric.name)
        return looked(metric, case)

    monkeypatch.setattr(BaseMetric, "_unrecognisable", count)
    question = EvalQuestion(question="Which?", gold_passages=[GoldPassage(chunk_id="c1")])
    case = Sample(question, EvalResponse(chunks=[RetrievedChunk(chunk_id="c1")]))
    metrics = [metric for metric in select(["core"], []) if metric.group is MetricGroup.RETRIEVAL]
    assert all(metric.score(case).value for metric in metrics)
    assert asked == [metrics[0].name]


def test_rules_are_named_in_the_order_of_the_golds() -> None:
    """Also where some golds are looked up by their id, and others compared by all rules."""
    golds = [GoldPassage(document_id="guide"), GoldPassage(chunk_id="c1")]
    chunks = [RetrievedChunk(chunk_id="c1", document_id="guide")]
    assert list(match(chunks, golds, DEFAULTS).rules) == ["document", "chunk_id"]
