"""The beginning and the end that `eval`, `rescore` and `score` share: who hears of the progress, what is printed."""

from evals.cli.terminal.console import console
from evals.cli.terminal.progress import Terminal
from evals.cli.terminal.streams import print_json
from evals.cli.undone import way_on, what_is_undone
from evals.cli.views.run import print_findings, print_run
from evals.cli.views.slices import print_slices
from evals.config import EvalConfig
from evals.errors import GateFailedError, RunIncompleteError
from evals.run.observer import Observer
from evals.schemas import EvalRun
from evals.scoring.gates import failed_gates
from evals.store.commands import command
from evals.store.runs import RunStore

_FAILURES_SHOWN = 3


def observer_for(*, as_json: bool) -> Observer:
    """Who hears of the progress: nobody where the output is for a program."""
    return Observer() if as_json else Terminal()


def end(run: EvalRun, config: EvalConfig, *, as_json: bool, remapped: bool = False) -> None:
    """Print a run that was just saved, and end as it deserves.

    Args:
        run: As it was saved.
        config: Of the run.
        as_json: Print the run as JSON and nothing else.
        remapped: Whether stored bodies were read again with another mapping.

    Raises:
        RunIncompleteError: The run is partial or failed; its metrics are not looked at then.
        GateFailedError: A gate is not met.
    """
    if as_json:
        print_json(run.model_dump_json(indent=2))
    else:
        _print(run, config)
    if run.status != "complete":
        records = RunStore(config.runs_dir).records(run)
        hint = way_on(run, records, config.runs_dir, remapped=remapped)
        raise RunIncompleteError(f"the run is {run.status}: {what_is_undone(run, records)}", hint)
    if problems := failed_gates(run, config.gate):
        raise GateFailedError(f"gate failed: {'; '.join(problems)}")


def _print(run: EvalRun, config: EvalConfig) -> None:
    store, out = RunStore(config.runs_dir), console()
    records = store.records(run)
    print_findings(out, records, run, limit=_FAILURES_SHOWN, runs_dir=config.runs_dir)
    print_run(out, run)
    if len(run.datasets) > 1:
        print_slices(out, records, run, "dataset", config.runs_dir)
    out.print(f"saved to {store.run_path(run)}", soft_wrap=True)
    out.print(f"question by question: {command(f'show {run.id}', config.runs_dir)}", soft_wrap=True)
