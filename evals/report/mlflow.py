"""A saved run in MLflow: parameters, metrics with the ends of their intervals, the page of the run, and a table."""

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evals.errors import ConfigError, TrackerError
from evals.report.page import to_html
from evals.report.sheets import to_csv
from evals.schemas.results import EvalRun
from evals.scoring.config import headline
from evals.scoring.saved import SavedRun
from evals.secrets import Masker, public_url, secrets_in_url

INSTALL = "pip install 'rag-evals[mlflow]'"
EXPERIMENT = "rag-evals"
_RUN_ID = "evals.run_id"
_UNFIT = re.compile(r"[^\w.\- ]")
_LONGEST_NAME, _LONGEST = 200, 500
"""Of a parameter, in characters; MLflow takes names of 250, and older servers refuse longer values."""


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
        from mlflow.entities import Metric, Param, RunTag  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError("MLflow is not installed", INSTALL) from error
    run = saved.run
    at = int((run.completed_at or run.created_at).timestamp() * 1000)
    metrics = [Metric(name, value, at, 0) for name, value in metrics_of(run).items()]
    params = [Param(name, value) for name, value in params_of(run).items()]
    with _told_as_ours(uri):
        client = MlflowClient(tracking_uri=uri)
        run_id = _run_in(client, experiment, run)
        known = client.get_run(run_id).data.params  # which MLflow never changes; a resumed run may have others
        params = [param for param in params if param.key not in known]
        client.log_batch(run_id, metrics, params, [RunTag("evals.status", run.status)])
        client.log_text(run_id, run.model_dump_json(indent=2), "run.json")
        client.log_text(run_id, "".join(to_csv(saved)), "questions.csv")
        client.log_text(run_id, "".join(to_html(saved)), "report.html")
        client.set_terminated(run_id, "FINISHED" if run.status == "complete" else "FAILED")
    return run_id


@contextmanager
def _told_as_ours(uri: str | None) -> Iterator[None]:
    """Say in one message what MLflow says in its exceptions, and keep it from telling of its own affairs."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - an extra
    from requests.exceptions import RequestException  # noqa: PLC0415 - what MLflow speaks

    try:  # the login in a URI: MLflow's errors name it whole
        mask = Masker(secrets_in_url(os.environ.get("MLFLOW_TRACKING_URI", "") if uri is None else uri)).text
    except ValueError as error:
        hint = "write it as in http://mlflow:5000 or sqlite:///mlflow.db"
        raise ConfigError("the URI of MLflow is no URI", hint) from error
    logging.disable(logging.WARNING)
    try:
        yield
    except (MlflowException, RequestException, OSError) as error:
        where, lines = f" at {public_url(uri)}" if uri else "", str(error).splitlines() or [type(error).__name__]
        hint = "look at the URI given, or at MLFLOW_TRACKING_URI; the run itself is saved as before"
        raise TrackerError(f"MLflow{where} does not take the run: {mask(lines[0])}", hint) from error
    finally:
        logging.disable(logging.NOTSET)


def _run_in(client: Any, experiment: str, run: EvalRun) -> str:
    """MLflow's run of ours in an experiment: the one that bears its id, or a new one."""
    known = client.get_experiment_by_name(experiment)
    experiment_id = str(known.experiment_id if known is not None else client.create_experiment(experiment))
    for logged in client.search_runs([experiment_id], f"tags.`{_RUN_ID}` = '{run.id}'", max_results=1):
        return str(logged.info.run_id)
    begun = int(run.created_at.timestamp() * 1000)
    new = client.create_run(experiment_id, start_time=begun, tags={_RUN_ID: run.id}, run_name=run.name)
    return str(new.info.run_id)


def metrics_of(run: EvalRun) -> dict[str, float]:
    """The numbers of a run: each metric with the ends of its interval and how many questions it is over.

    What has no value is left out: a tracker has no place for a reason.
    """
    score, weighted = headline(run).score, run.weighted_score
    values = {"weighted_score": score, "weighted_score.low": weighted.ci and weighted.ci[0]}
    values |= {"weighted_score.high": weighted.ci and weighted.ci[1]}
    for one in run.scorecard.metrics:
        if one.value is not None:
            low, high = one.ci or (None, None)
            values |= {one.name: one.value, f"{one.name}.low": low, f"{one.name}.high": high}
            values[f"{one.name}.n"] = one.sample_size
    return {name: value for name, value in values.items() if value is not None}


def params_of(run: EvalRun) -> dict[str, str]:
    """What was evaluated, and how: server, datasets, judge, and what the server says of its configuration.

    The server chooses the names of the last: `_` stands for what MLflow has no room for in a name.
    """
    facts: dict[str, Any] = {
        **{_UNFIT.sub("_", f"server.{name}")[:_LONGEST_NAME]: value for name, value in run.config.items()},
        "server": run.server.url,
        "profile": run.server.profile,
        "datasets": ", ".join(run.datasets),
        "questions": run.question_count,
        "seed": run.seed,
        "concurrency": run.concurrency,
        "judge": run.judge.model if run.judge else None,
    }
    return {name: str(value)[:_LONGEST] for name, value in facts.items() if value is not None}
