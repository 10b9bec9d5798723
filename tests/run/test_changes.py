"""With what the answers of a saved run are measured again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError, UnknownNameError
from evals.run.resume import rescore_config
from evals.schemas import EvalRun

MAPPED = {"server": {"map": {"answer": "text"}}}


@pytest.fixture
def source(build_run: Callable[..., Any]) -> Callable[..., EvalRun]:
    """A saved run of the golden set; keywords are keys of its configuration."""

    def make(**keys: Any) -> EvalRun:
        config = EvalConfig.build({"datasets": ["golden"], "judge": False, "name": "first", "gate": ["mrr>=1"], **keys})
        run: EvalRun = build_run("a1", {"q1": {"mrr": 1.0}}, eval_config=config.as_written())[0]
        return run

    return make


@pytest.mark.parametrize(
    ("layer", "named"),
    [
        ({"datasets": ["squad_v2"]}, "datasets has"),
        ({"concurrency": 9}, "concurrency has"),
        ({"server": {"url": "http://other:1"}}, r"server\.url has"),
        ({"rag_server_url": "http://other:1"}, r"server\.url has"),
        ({"server": {"ask": {"path": "/other"}}}, r"server\.ask\.path has"),
        ({"datasets": ["squad_v2"], "concurrency": 9, "server": {"url": "http://o:1"}},
         r"concurrency, datasets, server\.url have"),
        ({"seed": 1, **MAPPED}, "seed has"),
        ({"samples_per_dataset": 5, "dataset_file": "q.json"}, "dataset_file, samples_per_dataset have"),
        ({"embedded": True, "datasets": ["golden"]}, "embedded has"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("remap", [False, True], ids=["as read", "read again"])
def test_what_says_how_is_asked_is_refused(
    source: Callable[..., EvalRun], layer: Mapping[str, Any], named: str, remap: bool
) -> None:
    """It would change nothing but what is written of the run, which would be false."""
    with pytest.raises(ConfigError, match=f"^{named} no effect on answers that are there already"):
        rescore_config(source(), layer, remap=remap)


@pytest.mark.parametrize(
    ("server", "named"),
    [
        ({"map": {"answer": "text"}}, r"server\.map\.answer has"),
        ({"clean": ["x"]}, r"server\.clean has"),
        ({"citations": {"given_as": "none"}}, r"server\.citations\.given_as has"),
        ({"clean": ["x"], "map": {"answer": "text"}}, r"server\.clean, server\.map\.answer have"),
    ],
    ids=str,
)
def test_how_bodies_are_read_counts_only_when_they_are(
    source: Callable[..., EvalRun], server: Mapping[str, Any], named: str
) -> None:
    """Without --remap another mapping is told, and with it it is taken."""
    with pytest.raises(ConfigError, match=f"^{named} no effect unless the stored bodies are read again"):
        rescore_config(source(), {"server": server})
    taken = rescore_config(source(), {"server": server}, remap=True).as_written()["server"]
    assert {key: taken[key] for key in server} == server


def test_another_profile_is_another_reading(source: Callable[..., EvalRun], tmp_path: Path) -> None:
    """With --remap it is taken with all that it brings; what is laid over it must still have an effect."""
    profile = tmp_path / "mine.yml"
    profile.write_text('ask: {path: /mine, json: {q: "{{question}}"}}\nmap: {answer: text}\n', encoding="utf-8")
    layer = {"server": {"profile": str(profile)}}
    with pytest.raises(ConfigError, match=r"^server\.profile has no effect unless the stored bodies are read again"):
        rescore_config(source(), layer)
    assert rescore_config(source(), layer, remap=True).server_spec().map.answer == "text"
    with pytest.raises(ConfigError, match=r"^server\.url has no effect on"):
        rescore_config(source(), {"server": {**layer["server"], "url": "http://other:1"}}, remap=True)


@pytest.mark.parametrize("layer", [{"server": {"citations": {"base": 0}}}, {"server": {"usage_needs_concurrency": 8}}])
def test_what_metrics_take_of_the_server_may_change(source: Callable[..., EvalRun], layer: Mapping[str, Any]) -> None:
    """The number of the first chunk is counted from, and token counts are weighed, when metrics are computed."""
    assert rescore_config(source(), layer).server == layer["server"]


def test_what_says_how_is_measured_may_change(source: Callable[..., EvalRun]) -> None:
    """These keys come into the new configuration; all others stay those of the run."""
    layer = {
        "name": "again", "suite": ["answer"], "metrics": ["mrr"], "match": {"rule": "text"}, "judge": {"repeats": 3},
        "semantic": {"device": "cpu"}, "prices": {"m": {"input": 1, "output": 2}}, "confidence": 0.9,
        "scoring": {"thresholds": {"ms": 5}}, "gate": "mrr>=0.5", "on_error": "worst", "max_error_rate": 0.5,
        "runs_dir": "elsewhere",
    }  # fmt: skip
    run = source(concurrency=2)
    config = rescore_config(run, layer)
    assert config == EvalConfig.build(run.eval_config, layer)
    assert (config.concurrency, config.datasets, config.match.rule) == (2, ["golden"], "text")


def test_a_value_that_is_the_runs_own_is_no_change(
    source: Callable[..., EvalRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration file that the run was made with can be given again, its credentials too."""
    monkeypatch.setenv("RAG_SERVER_URL", "http://elsewhere:1")
    keys = {
        "concurrency": 2, "datasets": "golden", "warmup": 1,
        "server": {"url": "http://u:secret@h:1", "headers": {"Authorization": "Bearer abcdef"}, "timeout_s": 120},
    }  # fmt: skip
    run = source(**keys)
    assert "secret" not in str(run.eval_config)
    assert rescore_config(run, keys).concurrency == 2


def test_name_and_gates_are_of_the_new_run_only(source: Callable[..., EvalRun]) -> None:
    """What the first run was called and had to reach says nothing of another measure."""
    config = rescore_config(source())
    assert (config.name, config.gate) == (None, [])


@pytest.mark.parametrize(
    ("layers", "suites"),
    [([], ["qa"]), ([{"metrics": ["mrr"]}], []), ([{"suite": ["core"]}, {"metrics": ["mrr"]}], ["core"])],
    ids=str,
)
def test_metrics_that_are_named_replace_the_suite_of_the_run(
    source: Callable[..., EvalRun], layers: list[dict[str, Any]], suites: list[str]
) -> None:
    """As in a new run; a suite named beside them stays."""
    assert rescore_config(source(suite=["qa"]), *layers).suite_names == suites


def test_an_unknown_key_is_told(source: Callable[..., EvalRun]) -> None:
    """As in any configuration."""
    with pytest.raises(UnknownNameError, match=r"'match\.rul'"):
        rescore_config(source(), {"match": {"rul": "text"}})
