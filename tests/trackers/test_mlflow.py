"""Runs in MLflow, in a store of its own on this machine."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from extras import full
from whole_runs import kept_run

from evals.errors import ConfigError, TrackerError
from evals.report.mlflow import log_to_mlflow, metrics_of, params_of

Build = Callable[..., Any]


def test_metrics_have_their_intervals_and_what_has_no_value_is_left_out(build_run: Build) -> None:
    """A tracker has no place for a reason, and 0 would be wrong."""
    run, _ = build_run("a", {"q1": {"mrr": 1.0, "ndcg_at_10": None}, "q2": {"mrr": 0.5, "ndcg_at_10": None}})
    found = metrics_of(run)
    summary = run.scorecard.get("mrr")
    assert (found["mrr"], found["mrr.n"]) == (0.75, 2)
    assert (found.get("mrr.low"), found.get("mrr.high")) == (summary.ci or (None, None))
    assert not any(name.startswith("ndcg") for name in found)


def test_parameters_say_what_was_evaluated(build_run: Build) -> None:
    """With what the server says of itself; what nobody knows is left out, and no text is endless."""
    run, _ = build_run("a", {"q1": {"mrr": 1.0}}, config={"llm_model": "m" * 900, "top_k": 10, "reranker": None})
    found = params_of(run)
    assert (found["server.top_k"], found["datasets"], found["seed"]) == ("10", "golden", "42")
    assert len(found["server.llm_model"]) == 500
    assert "server.reranker" not in found


def test_names_that_a_server_chose_are_such_as_mlflow_takes(build_run: Build) -> None:
    """One that it refuses would cost the whole run."""
    config = {"a=b": 1, "../etc/passwd": 3, "top_k": 10, "n" * 900: 4}
    found = params_of(build_run("a", {"q1": {"mrr": 1.0}}, config=config)[0])
    given = {name: value for name, value in found.items() if name.startswith("server.")}
    assert (given["server.a_b"], given["server.top_k"]) == ("1", "10")
    assert sorted(given.values()) == ["1", "10", "3", "4"]
    assert all(re.fullmatch(r"[\w.\- ]{1,250}", name) for name in found)


@pytest.mark.parametrize(("raised", "said"), [(OSError(), "OSError"), (OSError("no\nway"), "no")])
def test_an_error_of_the_store_is_told_in_a_line(
    raised: OSError, said: str, build_run: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One without words by its kind."""
    mlflow = full("mlflow")

    def fail(*_: Any) -> None:
        raise raised

    monkeypatch.setattr(mlflow.MlflowClient, "get_experiment_by_name", fail)
    with pytest.raises(TrackerError, match=rf"does not take the run: {said}\n"):
        log_to_mlflow(kept_run(tmp_path, *build_run("a", {"q1": {"mrr": 1.0}})), uri="http://127.0.0.1:9")


def test_a_missing_package_is_named_with_the_way_out(
    build_run: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else of the program needs it."""
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(ConfigError) as caught:
        log_to_mlflow(kept_run(tmp_path, *build_run("a", {"q1": {"mrr": 1.0}})))
    assert "rag-evals[mlflow]" in (caught.value.hint or "")


def test_a_server_that_is_not_there_is_one_message(
    build_run: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what the run is worth all the same."""
    full("mlflow")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(TrackerError, match=r"MLflow at http://127\.0\.0\.1:9 does not take the run: "):
        log_to_mlflow(kept_run(tmp_path, *build_run("a", {"q1": {"mrr": 1.0}})), uri="http://127.0.0.1:9")


def test_a_password_in_the_uri_is_in_no_message(
    build_run: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow names the address in its own, of the flag as of its variable."""
    full("mlflow")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    uri = "http://me:correct-horse@127.0.0.1:9"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    for given in (uri, None):
        with pytest.raises(TrackerError, match=r"does not take the run: .*127\.0\.0\.1") as caught:
            log_to_mlflow(kept_run(tmp_path, *build_run("a", {"q1": {"mrr": 1.0}})), uri=given)
        assert "correct-horse" not in str(caught.value)


def test_a_uri_that_is_none_is_one_message(build_run: Build, tmp_path: Path) -> None:
    """The packages beneath raise what is no error of MLflow."""
    full("mlflow")
    with pytest.raises(ConfigError, match="is no URI"):
        log_to_mlflow(kept_run(tmp_path, *build_run("a", {"q1": {"mrr": 1.0}})), uri="http://[::1")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the packages beneath
def test_a_run_is_in_the_store_once_with_all_that_belongs_to_it(build_run: Build, tmp_path: Path) -> None:
    """Parameters, metrics, the run, its page, and a row a question; logged again, it is brought up to date."""
    mlflow = full("mlflow")
    full("sqlalchemy")
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    client = mlflow.MlflowClient(tracking_uri=uri)
    client.create_experiment("rag-evals", artifact_location=(tmp_path / "artefacts").as_uri())
    run, records = build_run("a1", {"q1": {"mrr": 1.0}, "q2": {"mrr": None}, "q3": "timeout"})
    saved = kept_run(tmp_path / "runs", run, records)
    first = log_to_mlflow(saved, uri=uri)
    saved.run = saved.run.model_copy(update={"concurrency": 8})  # as resuming may
    assert log_to_mlflow(saved, uri=uri) == first
    there = client.get_run(first)
    assert (there.data.metrics["mrr"], there.data.metrics["mrr.n"]) == (1.0, 1)
    made_at = int((run.completed_at or run.created_at).timestamp() * 1000)
    assert {point.timestamp for point in client.get_metric_history(first, "mrr")} == {made_at}
    assert there.data.params["profile"] == "rag-server"
    assert (there.info.run_name, there.info.status) == ("run a1", "FINISHED")
    files = {path.name: path for path in (tmp_path / "artefacts").rglob("*") if path.is_file()}
    assert set(files) == {"run.json", "questions.csv", "report.html"}
    rows = csv.DictReader(files["questions.csv"].read_text().splitlines())
    assert [(row["id"], row["mrr"], row["error"]) for row in rows] == [
        ("q1", "1.0", ""),
        ("q2", "", ""),
        ("q3", "", "timeout: no answer came"),
    ]
