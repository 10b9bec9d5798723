"""Whole runs with metrics that compare texts: the reference server is asked, the models are stand-ins."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.metrics import embedders
from evals.metrics.embedders import RememberingEmbedder, RememberingScorer, Semantics
from evals.run import setup
from evals.run.saved import rescore
from evals.runner import EvaluationRunner, run_evaluation
from evals.runtime import run_anywhere
from evals.schemas import EvalRun
from evals.store.runs import RunStore

NAMES = ("semantic_similarity_percentage", "bert_score_f1", "sentence_coverage")
KEY = "The battery lasts 96 hours."
MakeConfig = Callable[..., EvalConfig]


@pytest.fixture
def config(golden_server: str, tmp_path: Path) -> MakeConfig:
    """A configuration of two questions and the semantic metrics; keywords replace its keys."""
    keys = [{"text": KEY, "source": "test"}]
    questions = [
        {"id": f"q{n}", "question": text, "expected_answer": KEY, "key_sentences": keys}
        for n, text in enumerate(["How much does the plan cost?", "What is covered?"])
    ]
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(questions), encoding="utf-8")

    def make(**keys: Any) -> EvalConfig:
        base = {
            "dataset_file": path,
            "metrics": ["mrr", *NAMES],
            "judge": False,
            "warmup": 0,
            "preflight": False,
            "rag_server_url": golden_server,
            "runs_dir": tmp_path / "runs",
        }
        return EvalConfig.build({**base, **keys})

    return make


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, embedder: Any, scorer: Any) -> list[Any]:
    """Stand-ins for the models; holds what was asked to be loaded."""
    asked: list[Any] = []

    def load(choice: Any, _hub: object) -> Semantics:
        asked.append(choice)
        tools = RememberingEmbedder(embedder), RememberingScorer(scorer)
        return Semantics(*tools, coverage_threshold=choice.config.sentence_coverage_threshold)

    monkeypatch.setattr(setup, "load_semantics", load)
    return asked


def values(run: EvalRun) -> dict[str, tuple[float | None, str | None]]:
    found = {summary.name: summary for summary in run.scorecard.metrics}
    return {name: (found[name].value, found[name].reason) for name in NAMES}


def test_a_run_records_what_compared_its_texts(config: MakeConfig, models: list[Any], embedder: Any) -> None:
    """The metrics have values, every text is embedded once for the run, and the run file names the models."""
    run = run_evaluation(config(semantic={"sentence_coverage_threshold": 0.25, "device": "cpu"}))
    assert run.status == "complete"
    assert run.semantics == {"embedder": "bag of words", "scorer": "word overlap"}
    assert all(value is not None for value, _ in values(run).values())
    assert len(embedder.calls) == 1
    (choice,) = models
    assert (choice.config.sentence_coverage_threshold, choice.config.device) == (0.25, "cpu")
    store = RunStore(config().runs_dir)
    assert store.load(run.id).semantics == run.semantics
    details = [s.details for record in store.records(run) for s in record.scores if s.name == "sentence_coverage"]
    assert all(detail["threshold"] == 0.25 for detail in details if "threshold" in detail)


def test_only_what_a_metric_needs_is_loaded(config: MakeConfig, models: list[Any]) -> None:
    """An embedder alone, a scorer alone, and neither."""
    for names in (["semantic_similarity_percentage"], ["bert_score_f1"], ["mrr"]):
        run_evaluation(config(metrics=names))
    assert [(choice.embedder, choice.scorer) for choice in models] == [(True, False), (False, True)]


def test_without_the_packages_a_run_says_what_to_install(config: MakeConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """No error: these metrics have no value, the others do."""
    monkeypatch.setattr(embedders, "find_spec", lambda _name: None)
    run = run_evaluation(config())
    assert (run.status, run.semantics) == ("complete", None)
    missing = "sentence-transformers and bert-score are not installed: pip install 'rag-evals[semantic]'"
    assert set(values(run).values()) == {(None, missing)}


@pytest.mark.parametrize("key", ["embedder", "bert_score_model"])
def test_a_model_that_is_not_there_stops_a_run_before_it_asks(
    config: MakeConfig, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Nothing was asked, and nothing is saved."""
    monkeypatch.setattr("evals.run.asking.ask_all", pytest.fail)
    chosen = config(semantic={key: "./no-such-model"})
    with pytest.raises(ConfigError, match=f"semantic.{key}: there is no folder"):
        run_evaluation(chosen)
    assert not list(Path(chosen.runs_dir).glob("*.json"))


def test_a_saved_run_is_compared_without_its_server(config: MakeConfig, models: list[Any], embedder: Any) -> None:
    """`rescore` brings the metrics to a run that was made without them, and takes them away again."""
    plain = run_evaluation(config(metrics=["mrr"]))
    assert (plain.semantics, models) == (None, [])
    first = run_anywhere(rescore(plain, config(rag_server_url="http://localhost:9")))
    assert first.semantics == {"embedder": "bag of words", "scorer": "word overlap"}
    assert all(value is not None for value, _ in values(first).values())
    assert len(embedder.calls) == 1
    assert run_anywhere(rescore(first, config(metrics=["mrr"]))).semantics is None


def test_an_interrupted_comparison_leaves_a_run_that_can_be_resumed(
    config: MakeConfig, models: list[Any], embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers are saved without the comparison, the run is partial, and resuming asks nothing again."""
    runner = EvaluationRunner(config())

    async def interrupted() -> None:
        task = asyncio.ensure_future(runner.run())
        loop = asyncio.get_running_loop()

        def embed(_texts: object) -> list[Any]:
            loop.call_soon_threadsafe(task.cancel)
            return []

        with monkeypatch.context() as patch:
            patch.setattr(embedder, "embed", embed)
            await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())
    store = RunStore(config().runs_dir)
    saved = store.load(runner.run_id or "")
    assert (saved.status, saved.outcomes.answered, saved.semantics) == ("partial", 2, None)
    assert set(values(saved).values()) == {(None, "interrupted before texts were compared")}
    assert saved.scorecard.get("mrr") is not None
    answers = [record.response for record in store.records(saved)]
    resumed = run_anywhere(EvaluationRunner(config(), resume=saved.id).run())
    assert (resumed.status, resumed.semantics is not None) == ("complete", True)
    assert [record.response for record in store.records(resumed)] == answers
    assert all(value is not None for value, _ in values(resumed).values())
