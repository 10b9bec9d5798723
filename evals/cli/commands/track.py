"""`evals track`."""

from collections.abc import Sequence
from pathlib import Path

from evals.cli.carded import carded
from evals.cli.terminal.console import clean, console
from evals.errors import UnknownNameError
from evals.scoring.measured import measured
from evals.store.commands import DEFAULT_RUNS_DIR
from evals.store.record_check import refuse_damaged
from evals.store.runs import RunStore
from evals.trackers.mlflow_tracker import log_to_mlflow

_TRACKERS = ("mlflow",)


def track(run_ids: Sequence[str], *, to: str, uri: str | None, experiment: str, runs_dir: Path | None) -> None:
    """Log saved runs to a tracker.

    Raises:
        UnknownNameError: There is no such tracker.
        ConfigError: It is not installed.
        RunNotFoundError: There is no such run.
        TrackerError: The tracker does not take a run.
        RunIncompleteError: Records were lost or changed since a run was saved; what there is was logged.
    """
    if to not in _TRACKERS:
        raise UnknownNameError("tracker", to, _TRACKERS)
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    found = [carded(store, run_id) for run_id in run_ids]
    for run, records in found:
        there = log_to_mlflow(measured(run, records), uri=uri, experiment=experiment)
        console().print(clean(f"{run.id} is in MLflow as {there}, experiment {experiment}"), soft_wrap=True)
    for run, records in found:
        refuse_damaged(run, records)
