"""What is known and checked before anything is asked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.datasets import registry
from evals.datasets.base import BaseDatasetLoader, Draft, LoadOptions
from evals.errors import ConfigError, DatasetError, JudgeError, UnknownNameError
from evals.judges.models import PROVIDERS
from evals.run import workload
from evals.run.checks import check_config
from evals.run.workload import load_workload
from evals.schemas import EvalDataset, EvalQuestion


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No judge's key in the environment."""
    for provider in PROVIDERS.values():
        for name in provider.key_variables:
            monkeypatch.delenv(name, raising=False)


@pytest.fixture
def config() -> Callable[..., EvalConfig]:
    """A configuration of the golden set without a judge; keywords replace its keys."""
    return lambda **keys: EvalConfig.build({"datasets": ["golden"], "judge": False, **keys})


@pytest.mark.parametrize(
    ("keys", "message", "nearest"),
    [
        ({"datasets": ["goldne"]}, "unknown dataset 'goldne'", "golden"),
        ({"datasets": ["golden", "squad:x"]}, "unknown dataset 'squad'", "squad_v2"),
        ({"metrics": ["mmr"]}, "unknown metric 'mmr'", "mrr"),
        ({"metrics": ["recall_at_0"]}, "unknown metric 'recall_at_0'", "recall_at_10"),
        ({"suite": ["cores"]}, "unknown suite 'cores'", "core"),
        ({"server": {"profile": "rag-sever"}}, "unknown profile 'rag-sever'", "rag-server"),
        ({"gate": ["recal_at_5>1"]}, "unknown metric in a gate 'recal_at_5'", "recall_at_5"),
        ({"scoring": {"feeds": {"retrieval": ["recal_at_5"]}}}, "'recal_at_5'", "recall_at_5"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unknown_name_says_the_nearest(
    config: Callable[..., EvalConfig], keys: dict[str, Any], message: str, nearest: str
) -> None:
    """Every name is looked up before anything is loaded."""
    with pytest.raises(UnknownNameError, match=message) as caught:
        check_config(config(**keys))
    assert nearest in (caught.value.hint or "")


@pytest.mark.parametrize("look", [check_config, load_workload])
def test_a_config_of_a_dataset_that_has_none_is_told(
    config: Callable[..., EvalConfig], look: Callable[[EvalConfig], object]
) -> None:
    """The golden set is whole: another name behind it would silently mean the same."""
    with pytest.raises(ConfigError, match="'golden' has no configs, and 'golden:foo' names one") as caught:
        look(config(datasets=["golden:foo"]))
    assert caught.value.hint == "write 'golden'"


@pytest.mark.parametrize("asking", [True, False], ids=["run", "plan"])
@pytest.mark.parametrize(("model", "provider"), [("foo:bar", "foo"), ("opneai:gpt-5.4-mini", "opneai")])
def test_a_provider_that_does_not_exist_is_told(
    config: Callable[..., EvalConfig], model: str, provider: str, asking: bool
) -> None:
    """No judge of the default provider is called like that; its key need not be there to see it."""
    with pytest.raises(UnknownNameError, match=f"unknown provider of a judge '{provider}'") as caught:
        check_config(config(judge={"model": model}), asking=asking)
    assert "known: anthropic, openai" in (caught.value.hint or "")


@pytest.mark.parametrize("asking", [True, False], ids=["run", "plan"])
def test_a_word_before_a_colon_is_a_provider_behind_any_address(
    config: Callable[..., EvalConfig], monkeypatch: pytest.MonkeyPatch, asking: bool
) -> None:
    """Nobody asks the server that: a plan and a run say the same, with the way to mean a model of that name."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    with pytest.raises(ConfigError, match="unknown provider of a judge 'gemini'") as caught:
        check_config(config(judge={"model": "gemini:x"}), asking=asking)
    assert "anthropic:gemini:x" in (caught.value.hint or "")
    assert check_config(config(judge={"model": "anthropic:gemini:x"}), asking=asking)


@pytest.mark.parametrize(
    "judge",
    [
        {"model": "openai:qwen3:8b", "base_url": "http://127.0.0.1:9/v1"},
        {"provider": "openai", "model": "qwen3:8b", "base_url": "http://127.0.0.1:9/v1"},
        {"model": "anthropic.claude-v1:0", "base_url": "http://127.0.0.1:9"},
        {"model": "foo:bar", "enabled": False},
    ],
    ids=lambda judge: judge["model"],
)
def test_a_model_may_have_a_colon_in_its_name(config: Callable[..., EvalConfig], judge: dict[str, Any]) -> None:
    """That of another provider, or one behind a gateway, or one that is not asked."""
    assert check_config(config(judge=judge), asking=False)


def test_a_judge_without_a_key_stops_before_anything_is_loaded(
    config: Callable[..., EvalConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways out are said, and no dataset was opened to learn it."""
    monkeypatch.setattr(workload, "get_loader", pytest.fail)
    with pytest.raises(JudgeError, match="ANTHROPIC_API_KEY is not set") as caught:
        check_config(config(judge=True))
    for way in ("export ANTHROPIC_API_KEY", "--no-judge"):
        assert way in (caught.value.hint or "")
    assert check_config(config(judge=True), asking=False)  # a plan needs none
    assert [metric.name for metric in check_config(config(judge=True, metrics=["mrr"]))] == ["mrr"]


def write_questions(path: Path, *questions: str) -> Path:
    """A file with these questions, whose ids are their texts."""
    path.write_text(json.dumps([{"id": text, "question": text} for text in questions]), encoding="utf-8")
    return path


def test_a_file_replaces_the_datasets(config: Callable[..., EvalConfig], tmp_path: Path) -> None:
    """With questions of one's own no dataset is looked up or loaded; the name is that of the file."""
    chosen = config(dataset_file=write_questions(tmp_path / "mine.json", "a?", "b?"), datasets=["nonsense"])
    check_config(chosen)
    workload = load_workload(chosen)
    assert sorted(question.id for question in workload.questions) == ["a?", "b?"]
    assert [(f.name, f.source, f.questions) for f in workload.fingerprints] == [("mine", "mine.json", 2)]


def test_a_sample_of_a_file_is_drawn_as_of_a_dataset(config: Callable[..., EvalConfig], tmp_path: Path) -> None:
    """A smaller sample is part of a larger one; both stand in the order of the file."""
    path = write_questions(tmp_path / "mine.json", *"hgfedcba")
    work = [load_workload(config(dataset_file=path, samples_per_dataset=n)) for n in (3, 6)]
    small, large = ([question.id for question in each.questions] for each in work)
    assert set(small) < set(large)
    assert (len(small), len(large)) == (3, 6)
    assert (small, large) == (sorted(small, reverse=True), sorted(large, reverse=True))
    assert [(f.questions, f.available) for each in work for f in each.fingerprints] == [(3, 8), (6, 8)]


@pytest.mark.parametrize("said", [{}, {"samples_per_dataset": "default"}, {"samples_per_dataset": 0}], ids=str)
def test_all_rows_of_a_file_are_asked_in_its_order(
    config: Callable[..., EvalConfig], tmp_path: Path, said: dict[str, Any]
) -> None:
    """A user's own questions are few and all meant; the 100 of the datasets is not for them."""
    ids = [f"q{number}" for number in range(150)]
    workload = load_workload(config(dataset_file=write_questions(tmp_path / "mine.json", *ids), **said))
    assert [question.id for question in workload.questions] == ids


def test_the_order_of_the_rows_is_no_other_file(config: Callable[..., EvalConfig], tmp_path: Path) -> None:
    """Whoever sorts a sheet asks the same; a run that was begun before can be gone on with."""
    paths = [write_questions(tmp_path / f"{name}.json", *name) for name in ("abc", "cab")]
    prints = [load_workload(config(dataset_file=path)).fingerprints[0].sha256 for path in paths]
    assert prints[0] == prints[1]


def test_a_dataset_named_twice_is_asked_once(config: Callable[..., EvalConfig]) -> None:
    """Naming a dataset again changes nothing."""
    once, twice = (load_workload(config(datasets=["golden"] * times, samples_per_dataset=5)) for times in (1, 2))
    assert list(once.questions) == list(twice.questions)
    assert (once.documents, once.fingerprints) == (twice.documents, twice.fingerprints)


class Copy(BaseDatasetLoader):
    """A dataset with an id that the golden set has too."""

    name = "copy"
    aspects = ("retrieval",)
    ids: tuple[str, ...] = ("EF_1",)

    def load(self, options: LoadOptions) -> EvalDataset:
        questions = [EvalQuestion(id=name, question="Who?", dataset=self.name) for name in self.ids]
        return self.build(Draft(questions=questions), config=None, split=None, source="test")


def test_an_id_in_two_datasets_is_told(config: Callable[..., EvalConfig], monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are kept by the id of the question, so it must be unique over all datasets."""
    monkeypatch.setattr(registry, "_registered", {"copy": Copy})
    with pytest.raises(ConfigError, match="'EF_1' is in 'golden' and in 'copy'"):
        load_workload(config(datasets=["golden", "copy"], samples_per_dataset=None))


def test_a_workload_without_questions_is_told(
    config: Callable[..., EvalConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An evaluation of nothing does not end well."""
    monkeypatch.setattr(registry, "_registered", {"copy": type("Empty", (Copy,), {"ids": ()})})
    with pytest.raises(DatasetError, match="no questions"):
        load_workload(config(datasets=["copy"]))


def test_what_has_no_greatest_value_feeds_nothing_without_a_threshold(
    config: Callable[..., EvalConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not be brought to the scale from 0 to 1; milliseconds can, for they have a threshold."""
    feeds = {"latency": ["latency_p95"]}
    assert check_config(config(scoring={"feeds": feeds}))
    monkeypatch.setattr("evals.metrics.performance.LatencyP95.unit", "furlongs")
    with pytest.raises(ConfigError, match=r"latency_p95 cannot feed 'latency'.*furlongs"):
        check_config(config(scoring={"feeds": feeds}))
