"""`trec-run`, `trec-qrels`: trec_eval gives the numbers of the scorecard."""

import io
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from extras import full
from whole_runs import kept_run

from evals import EvalConfig, run_evaluation
from evals.export import export_run, notes_on
from evals.metrics import MRR, NDCG, BaseMetric, RecallAtK
from evals.metrics.retrieval import MRRAtK
from evals.report.sheets import to_qrels, to_trec_run
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, ResponseError, RetrievedChunk
from evals.scoring.saved import SavedRun, open_saved
from evals.store.runs import RunStore

pytrec_eval = full("pytrec_eval")
Build = Callable[..., Any]
KS = (1, 3, 5, 10)
METRICS: list[tuple[str, BaseMetric]] = [
    ("recip_rank", MRR()),
    *((f"recall_{k}", RecallAtK(k)) for k in KS),
    *((f"ndcg_cut_{k}", NDCG(k)) for k in KS),
]


def encoded(name: str) -> str:
    """A name without blanks, as it stands in the files."""
    return re.sub("[ %]", lambda found: quote(found.group()), name)


def trec_eval(saved: SavedRun) -> dict[str, dict[str, float]]:
    """What trec_eval says of the two files."""
    qrels = pytrec_eval.parse_qrel(io.StringIO("".join(to_qrels(saved))))
    ranked = pytrec_eval.parse_run(io.StringIO("".join(to_trec_run(saved))))
    cuts = ",".join(map(str, KS))
    measures = {"recip_rank", f"recall.{cuts}", f"ndcg_cut.{cuts}"}
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(ranked)
    return found


def assert_same_numbers(saved: SavedRun, said: dict[str, dict[str, float]]) -> None:
    """Each question and the mean over them have the values of the metrics."""
    in_files = [record for record in saved.records() if encoded(record.question.id) in said]
    samples = [saved.settings.sample_of(record) for record in in_files]
    assert len(in_files) == len(said) > 0
    for name, metric in METRICS:
        values = [metric.score(sample).value for sample in samples]
        theirs = [said[encoded(record.question.id)][name] for record in in_files]
        assert values == pytest.approx(theirs, abs=1e-12)
    by_k = [MRRAtK(k).score(sample).value for sample in samples for k in KS]
    inverse = [said[encoded(record.question.id)]["recip_rank"] for record in in_files for _ in KS]
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


def test_trec_eval_gives_the_numbers_of_300_random_questions(build_run: Build, tmp_path: Path) -> None:
    """Over repeated chunks, ties, questions without gold, chunks or answer; each one left out is counted."""
    rng = random.Random(7)  # noqa: S311 - test data
    run, _ = build_run("a", {})
    saved = kept_run(tmp_path, run, [random_record(rng, number) for number in range(300)])
    said = trec_eval(saved)
    assert_same_numbers(saved, said)
    notes = notes_on(saved, "trec-run")
    assert sum(int(note.split()[2]) for note in notes) == 300 - len(said)
    assert len(notes) >= 4
    assert " nothing-retrieved 1 1 " in export_run(saved.run, "trec-run")


def test_trec_eval_gives_the_numbers_of_a_real_run(golden_server: str, tmp_path: Path) -> None:
    """Of golden questions, asked of the reference server; also the values that were saved."""
    keys = {"datasets": ["golden"], "samples_per_dataset": 40, "judge": False, "rag_server_url": golden_server}
    saved = open_saved(RunStore(tmp_path), run_evaluation(EvalConfig.build(keys, {"runs_dir": tmp_path})))
    said = trec_eval(saved)
    assert_same_numbers(saved, said)
    for record in saved.records():
        values = {score.name: score.value for score in record.scores}
        if found := said.get(record.question.id):
            assert values["recall_at_5"] == pytest.approx(found["recall_5"], abs=1e-12)


def test_scores_fall_at_each_rank_whatever_the_server_says(build_run: Build, tmp_path: Path) -> None:
    """trec_eval sorts by score and then by name: the order of the server is that of the scores."""
    run, _ = build_run("a", {})
    chunks = [RetrievedChunk(chunk_id=name, score=0.5) for name in ("b", "z", "a", "b")]
    question = EvalQuestion(id="q", question="?", gold_passages=[GoldPassage(chunk_id="a")])
    record = EvalRecord(question=question, response=EvalResponse(answer="x", chunks=chunks))
    rows = [line.split() for line in to_trec_run(kept_run(tmp_path, run, [record]))]
    assert [row[2] for row in rows] == ["b", "z", "a", "b~2"]
    assert [(row[3], row[4]) for row in rows] == [("1", "4"), ("2", "3"), ("3", "2"), ("4", "1")]


def test_a_grade_that_is_no_whole_number_is_left_out_and_said(build_run: Build, tmp_path: Path) -> None:
    """trec_eval would cut 0.5 down to 0."""
    run, _ = build_run("a", {})
    question = EvalQuestion(id="q", question="?", gold_passages=[GoldPassage(chunk_id="a", relevance=0.5)])
    saved = kept_run(tmp_path, run, [EvalRecord(question=question)])
    assert list(to_qrels(saved)) == []
    assert notes_on(saved, "trec-qrels") == ["left out: 1 question with a relevance that is no whole number"]


@pytest.mark.parametrize("name", ["a b", "50 %", "tab\there", "line\nbreak", "\x00\x1f", "a\u2028b", "ü%20"])
def test_names_have_no_white_space_and_can_be_read_back(build_run: Build, tmp_path: Path, name: str) -> None:
    """In lines whose columns blanks part, of questions and of passages."""
    run, _ = build_run("a", {})
    question = EvalQuestion(id=name, question="?", gold_passages=[GoldPassage(chunk_id=name)])
    response = EvalResponse(answer="x", chunks=[RetrievedChunk(chunk_id=name)])
    saved = kept_run(tmp_path, run, [EvalRecord(question=question, response=response)])
    for line in (*to_qrels(saved), *to_trec_run(saved)):
        (text,) = line.splitlines()
        topic, _, passage, *_ = text.split()
        assert (unquote(topic), unquote(passage)) == (name, name)
