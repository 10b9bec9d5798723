"""What can be known to be wrong of the engine before anything is asked."""

from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run import setup
from evals.run.resume import MAY_CHANGE, rescore_config
from evals.run.setup import check_config
from evals.variants import variants_of


@pytest.mark.parametrize(
    ("engine", "embedded", "said"),
    [
        ({"scheduler": "tcp://10.0.0.5:8786"}, False, "engine.scheduler is of a Dask cluster"),
        ({"workers": 2}, False, "engine.workers is of a Dask cluster"),
        ({"name": "dask", "scheduler": "tcp://h:1", "workers": 2}, False, "has workers of its own"),
        ({"name": "dask", "scheduler": "tcp://h:1"}, True, "listens on this machine alone"),
        ({"name": "spark"}, False, "engine.name"),
        ({"name": "dask", "workers": 0}, False, "engine.workers"),
    ],
)
def test_what_cannot_work_is_refused_by_its_key(engine: dict[str, Any], embedded: bool, said: str) -> None:
    """A flag that would do nothing is a mistake."""
    with pytest.raises(ConfigError, match=said):
        check_config(EvalConfig.build({"engine": engine, "embedded": embedded, "judge": False}))


def test_workers_have_no_common_rate() -> None:
    """A limit that each of them would keep alone is none of the run."""
    with pytest.raises(ConfigError, match="rps is of questions that this process asks"):
        check_config(EvalConfig.build({"engine": "dask", "rps": 2, "judge": False}))


def test_a_name_alone_is_the_engine() -> None:
    """As a person writes it."""
    assert EvalConfig.build({"engine": "dask"}).engine.name == "dask"


def test_without_dask_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is imported where it is not used."""
    monkeypatch.setattr(setup, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match="not installed") as caught:
        check_config(EvalConfig.build({"engine": "dask", "judge": False}))
    assert caught.value.hint == "pip install 'rag-evals[dask]'"


def test_variants_are_asked_by_one_process() -> None:
    """Else they would not be asked in turn, and nothing would say so."""
    config = EvalConfig.build({"engine": "dask", "variants": {"a": {}, "b": {}}})
    with pytest.raises(ConfigError, match="variants are asked in turn"):
        variants_of(config)


def test_a_run_that_goes_on_may_change_its_engine() -> None:
    """Who asks says nothing of what is measured."""
    assert {"engine.name", "engine.scheduler", "engine.workers"} <= MAY_CHANGE


def test_a_run_is_measured_again_by_the_process_that_is_told_to(build_run: Any) -> None:
    """The cluster that asked it may be gone."""
    run, _ = build_run("one", {"q1": {"mrr": 1.0}})
    run = run.model_copy(update={"eval_config": {"engine": {"name": "dask"}}})
    assert rescore_config(run).engine.name == "local"
    assert rescore_config(run, {"engine": "dask"}).engine.name == "dask"
