"""A saved run in MLflow: parameters, metrics with the ends of their intervals, the page of the run, and a table."""

import json
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evals.errors import ConfigError, TrackerError
from evals.report.page import write_report
from evals.report.sheets import metric_columns, row_of
from evals.schemas.results import EvalRun
from evals.scoring.config import headline
from evals.scoring.saved import SavedRun
from evals.secrets import Masker, public_url, secrets_in_url

INSTALL = "pip install 'rag-evals[mlflow]'"

EXPERIMENT = "rag-evals"

_RUN_ID = "evals.run_id"

_TABLE = "questions.json"


_BATCH = 900
"""Of metrics: MLflow takes 1,000 at once."""

_UNFIT = re.compile(r"[^\w.\- ]")


_LONGEST_NAME = 200
"""Of a parameter, in characters; MLflow takes 250."""


_LONGEST = 500
"""Of a parameter, in characters: older servers refuse what is longer."""


def log_to_mlflow(saved: SavedRun, *, uri: str | None = None, experiment: str = EXPERIMENT) -> str:
    """Log a run; one that was logged before to the same experiment is brought up to date.

    Args:
        saved: The run.
        uri: Of the tracking server or store; None for what MLFLOW_TRACKING_URI says, and MLflow's own default.
        experiment: Made where it does not exist.

    Returns:
        The id of MLflow's run.

    Raises:
        ConfigError: MLflow is not installed, or the URI is none.
        TrackerError: It does not take the run.
    """
    try:
        from mlflow import MlflowClient  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError("MLflow is not installed", INSTALL) from error
    with _told_as_ours(uri):
        client = MlflowClient(tracking_uri=uri)
        run_id = _run_in(client, experiment, saved.run)
        _log(client, run_id, saved)
        client.set_terminated(run_id, "FINISHED" if saved.run.status == "complete" else "FAILED")
        return run_id


@contextmanager
def _told_as_ours(uri: str | None) -> Iterator[None]:
    """Say in one message what MLflow says in its exceptions, and keep it from telling of its own affairs."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - an extra
    from requests.exceptions import RequestException  # noqa: PLC0415 - what MLflow speaks

    try:  # the login in a URI: MLflow's errors name it whole
        mask = Masker(list(secrets_in_url(os.environ.get("MLFLOW_TRACKING_URI", "") if uri is None else uri))).text
    except ValueError as error:
        raise ConfigError(
            "the URI of MLflow is no URI", "write it as in http://mlflow:5000 or sqlite:///mlflow.db"
        ) from error
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    except (MlflowException, RequestException, OSError) as error:
        where = f" at {public_url(uri)}" if uri else ""
        raise TrackerError(
            f"MLflow{where} does not take the run: {mask(next(iter(str(error).splitlines()), type(error).__name__))}",
            "look at the URI given, or at MLFLOW_TRACKING_URI; the run itself is saved as before",
        ) from error
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _run_in(client: Any, experiment: str, run: EvalRun) -> str:
    """MLflow's run of ours in an experiment: the one that bears its id, or a new one."""
    known = client.get_experiment_by_name(experiment)
    experiment_id = str(known.experiment_id if known is not None else client.create_experiment(experiment))
    for found in client.search_runs([experiment_id], f"tags.`{_RUN_ID}` = '{run.id}'", max_results=1):
        return str(found.info.run_id)
    begun = int(run.created_at.timestamp() * 1000)
    new = client.create_run(experiment_id, start_time=begun, tags={_RUN_ID: run.id}, run_name=run.name)
    return str(new.info.run_id)


def _log(client: Any, run_id: str, saved: SavedRun) -> None:
    from mlflow.entities import Metric, Param, RunTag  # noqa: PLC0415 - an extra

    run = saved.run
    at = int((run.completed_at or run.created_at).timestamp() * 1000)
    metrics = [Metric(name, value, at, 0) for name, value in metrics_of(run).items()]
    params = [Param(name, value) for name, value in params_of(run).items()]
    tables = json.dumps([{"path": _TABLE, "type": "table"}])
    tags = [RunTag("evals.status", run.status), RunTag("mlflow.loggedArtifacts", tables)]
    client.log_batch(run_id, (), params, tags)
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics[start : start + _BATCH])
    client.log_text(run_id, run.model_dump_json(indent=2), "run.json")
    client.log_dict(run_id, _table(saved), _TABLE)  # its own log_table adds rows to those of the last time
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        write_report(page, [saved])
        client.log_artifact(run_id, str(page))


def metrics_of(run: EvalRun) -> dict[str, float]:
    """The numbers of a run: each metric with the ends of its interval and how many questions it is over.

    What has no value is left out: a tracker has no place for a reason.
    """
    values: dict[str, float | None] = {}
    for one in run.scorecard.metrics:
        if one.value is not None:
            values |= _with_ends(one.name, one.value, one.ci) | {f"{one.name}.n": one.sample_size}
    score = headline(run).score
    values |= {} if score is None else _with_ends("weighted_score", score, run.weighted_score.ci)
    return {name: value for name, value in values.items() if value is not None}


def _with_ends(name: str, value: float, ends: tuple[float, float] | None) -> dict[str, float | None]:
    low, high = ends or (None, None)
    return {name: value, f"{name}.low": low, f"{name}.high": high}


def params_of(run: EvalRun) -> dict[str, str]:
    """What was evaluated, and how: server, datasets, judge, and what the server says of its configuration.

    The server chooses the names of the last: `_` stands for what MLflow has no room for in a name.
    """
    facts: dict[str, Any] = {
        "server": run.server.url,
        "profile": run.server.profile,
        "datasets": ", ".join(run.datasets),
        "questions": run.question_count,
        "seed": run.seed,
        "concurrency": run.concurrency,
        "judge": run.judge.model if run.judge else None,
        **{f"server.{name}": value for name, value in run.config.items()},
    }
    known = {name: str(value)[:_LONGEST] for name, value in facts.items() if value is not None}
    params: dict[str, str] = {}
    for name, value in known.items():
        fit = _UNFIT.sub("_", name)[:_LONGEST_NAME]
        own, number = fit, 1
        while own in params:
            number += 1
            own = f"{fit[: _LONGEST_NAME - 9]}_{number}"
        params[own] = value
    return params


def _table(saved: SavedRun) -> dict[str, list[Any]]:
    """A row a question, as MLflow keeps tables."""
    columns = ["id", "dataset", "question", "expected_answer", "answer", "error", *metric_columns(saved)]
    rows = (row_of(saved, record) for record in saved.records())
    return {"columns": columns, "data": [[row.get(name) for name in columns] for row in rows]}
