"""`trec-run`, `trec-qrels`, `trec-topics`: trec_eval gives the numbers of the scorecard."""

import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import pytrec_eval
from evals.report.trec import NOTHING, in_a_cell, judgement_notes, run_notes, unlike, without_blanks
from evals.scoring.conclusion import measured
from hypothesis import given
from hypothesis import strategies as st

from evals import EvalConfig, run_evaluation
from evals.datasets.file import read_file
from evals.export import export_run
from evals.metrics import MRR, NDCG, BaseMetric, RecallAtK
from evals.metrics.retrieval import MRRAtK
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, GoldPassage, ResponseError, RetrievedChunk
from evals.store.runs import RunStore

Build = Callable[..., Any]
KS = (1, 3, 5, 10)
METRICS: list[tuple[str, BaseMetric]] = [
    ("recip_rank", MRR()),
    *((f"recall_{k}", RecallAtK(k)) for k in KS),
    *((f"ndcg_cut_{k}", NDCG(k)) for k in KS),
]


def trec_eval(run: EvalRun, records: Sequence[EvalRecord]) -> dict[str, dict[str, float]]:
    """What trec_eval says of the two files."""
    qrels = pytrec_eval.parse_qrel(io.StringIO(export_run(run, records, "trec-qrels")))
    ranked = pytrec_eval.parse_run(io.StringIO(export_run(run, records, "trec-run")))
    cuts = ",".join(map(str, KS))
    measures = {"recip_rank", f"recall.{cuts}", f"ndcg_cut.{cuts}"}
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(ranked)
    return found


def assert_same_numbers(run: EvalRun, records: Sequence[EvalRecord], said: dict[str, dict[str, float]]) -> None:
    """Each question and the mean over them have the values of the metrics."""
    cases = measured(run, records).cases
    in_files = [record for record in records if without_blanks(record.question.id) in said]
    assert len(in_files) == len(said) > 0
    for name, metric in METRICS:
        values = [metric.score(cases.of(record)).value for record in in_files]
        theirs = [said[without_blanks(record.question.id)][name] for record in in_files]
        assert values == pytest.approx(theirs, abs=1e-12)
    by_k = [MRRAtK(k).score(cases.of(record)).value for record in in_files for k in KS]
    inverse = [said[without_blanks(record.question.id)]["recip_rank"] for record in in_files for _ in KS]
    cut = [one if one and round(1 / one) <= k else 0.0 for one, k in zip(inverse, KS * len(in_files), strict=True)]
    assert by_k == pytest.approx(cut, abs=1e-12)


def random_record(rng: random.Random, number: int) -> EvalRecord:
    """Golds known by id or text, repeated chunks, ties in score, no gold, no chunks, no answer, golds in one."""
    names = [f"{rng.choice(['a', 'Z', 'ü', 'c d', 'p%'])}{n}" for n in range(20)]
    texts = {name: f"passage {name} about {number} " + " ".join(rng.choices("abcdefgh", k=12)) for name in names}
    golds = [
        GoldPassage(text=texts[name] if rng.random() < 0.5 else "", chunk_id=name, relevance=rng.choice([1, 1, 2, 3]))
        for name in rng.sample(names, rng.choice([0, 1, 1, 2, 4]))
    ]
    retrieved = rng.choices(names, k=rng.choice([0, 1, 5, 12]))
    chunks = [RetrievedChunk(chunk_id=name, text=texts[name], score=rng.choice([0.5, 0.9])) for name in retrieved]
    if golds and rng.random() < 0.1:
        chunks.insert(0, RetrievedChunk(text=" ".join(gold.text for gold in golds)))
    question = EvalQuestion(id=f"q {number}%", question=f"What is {number}?", gold_passages=golds)
    error = ResponseError(kind="timeout", message="late") if rng.random() < 0.1 else None
    answered = EvalResponse(answer="It is.", chunks=None if rng.random() < 0.1 else chunks)
    return EvalRecord(question=question, response=EvalResponse(error=error) if error else answered)


def test_trec_eval_gives_the_numbers_of_300_random_questions(build_run: Build) -> None:
    """Over repeated chunks, ties, questions without gold, chunks or answer; each one left out is counted."""
    rng = random.Random(7)  # noqa: S311 - test data
    run, _ = build_run("a", {})
    records = [random_record(rng, number) for number in range(300)]
    said = trec_eval(run, records)
    assert_same_numbers(run, records, said)
    notes = run_notes(measured(run, records))
    assert sum(int(note.split()[2]) for note in notes) == len(records) - len(said)
    assert len(notes) >= 4
    assert NOTHING in export_run(run, records, "trec-run")


def test_trec_eval_gives_the_numbers_of_a_real_run(golden_server: str, tmp_path: Path) -> None:
    """Of golden questions, asked of the reference server; also the values that were saved."""
    config = EvalConfig(
        rag_server_url=golden_server, datasets=["golden"], samples_per_dataset=40, judge=False, runs_dir=tmp_path
    )
    run = run_evaluation(config)
    records = RunStore(tmp_path).records(run)
    said = trec_eval(run, records)
    assert_same_numbers(run, records, said)
    saved = {one.question.id: {score.name: score.value for score in one.scores} for one in records}
    assert {key: values["recall_5"] for key, values in said.items()} == pytest.approx(
        {key: saved[key]["recall_at_5"] for key in said}, abs=1e-12
    )


def test_scores_fall_at_each_rank_whatever_the_server_says(build_run: Build) -> None:
    """trec_eval sorts by score and then by name: the order of the server is that of the scores."""
    run, _ = build_run("a", {})
    chunks = [RetrievedChunk(chunk_id=name, score=0.5) for name in ("b", "z", "a", "b")]
    question = EvalQuestion(id="q", question="?", gold_passages=[GoldPassage(chunk_id="a")])
    lines = export_run(
        run, [EvalRecord(question=question, response=EvalResponse(answer="x", chunks=chunks))], "trec-run"
    )
    rows = [line.split() for line in lines.splitlines()]
    assert [(row[2], row[3], row[4]) for row in rows] == [
        ("b", "1", "4"),
        ("z", "2", "3"),
        ("a", "3", "2"),
        ("b~2", "4", "1"),
    ]


def test_a_grade_that_is_no_whole_number_is_left_out_and_said(build_run: Build) -> None:
    """trec_eval would cut 0.5 down to 0."""
    run, _ = build_run("a", {})
    question = EvalQuestion(id="q", question="?", gold_passages=[GoldPassage(chunk_id="a", relevance=0.5)])
    records = [EvalRecord(question=question)]
    assert export_run(run, records, "trec-qrels") == ""
    assert judgement_notes(measured(run, records)) == ["left out: 1 question with a relevance that is no whole number"]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_names_have_no_white_space_and_can_be_read_back(name: str) -> None:
    """In lines whose columns blanks part, and in cells between tabs."""
    assert len(without_blanks(name).split()) == 1
    assert unquote(without_blanks(name)) == name
    assert len(in_a_cell(name).splitlines()) == 1
    assert "\t" not in in_a_cell(name)
    assert unquote(in_a_cell(name)) == name


@given(st.lists(st.sampled_from(["a", "b", "a~2", ""])), st.lists(st.sampled_from(["a", "b~2"])))
def test_no_name_stands_twice(names: list[str], taken: list[str]) -> None:
    """Whatever numbers names bear already."""
    found = unlike(names, taken)
    assert len({*found, *taken}) == len(found) + len(set(taken))
    assert all(own.startswith(name) for own, name in zip(found, names, strict=True))


def test_topics_and_judgements_are_read_back_as_the_same_questions(build_run: Build, tmp_path: Path) -> None:
    """By the importer of TREC's files, where golds are known by their documents as there."""
    run, records = build_run(
        "a",
        {"q1": {"mrr": 1.0}, "q2": "timeout", "q3": {"mrr": 1.0}},
        questions={
            "q1": {"gold_passages": [{"document_id": "d1"}, {"document_id": "d2", "relevance": 3}]},
            "q2": {"gold_passages": [{"document_id": "d3"}]},
        },
    )
    (tmp_path / "x.topics.tsv").write_text(export_run(run, records, "trec-topics"))
    (tmp_path / "x.qrels").write_text(export_run(run, records, "trec-qrels"))
    asked = [record.question for record in records[:2]]
    read = read_file(tmp_path / "x.topics.tsv").questions
    assert [(one.id, one.question, one.gold_passages) for one in read] == [
        (one.id, one.question, one.gold_passages) for one in asked
    ]
