"""The beginning and the end that `eval`, `rescore` and `score` share: who hears of the progress, what is printed."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from evals.cli.ci.reporter import Reporter
from evals.cli.terminal.console import console
from evals.cli.terminal.progress import Quiet, Terminal
from evals.cli.terminal.streams import print_json
from evals.cli.undone import way_on, what_is_undone
from evals.cli.views.run import print_findings, print_in_short, print_run, print_score
from evals.cli.views.slices import print_slices
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError
from evals.metrics.base import BaseMetric
from evals.run.checks import wants_judge
from evals.run.observer import Observer
from evals.run.saved import measure_saved
from evals.run.work import Work
from evals.scoring.measured import Measured
from evals.store.commands import command
from evals.store.runs import RunStore

_FAILURES_SHOWN = 3


def observer_for(*, as_json: bool, quiet: bool = False, verbose: bool = False) -> Observer:
    """Who hears of the progress: nobody where the output is for a program.

    Raises:
        ConfigError: Both little and much is asked for.
    """
    if quiet and verbose:
        raise ConfigError("--quiet and --verbose exclude each other")
    if as_json:
        return Observer()
    return Quiet() if quiet else Terminal(each=verbose)


def measure_now(work: Work, metrics: Sequence[BaseMetric], config: EvalConfig, observer: Observer) -> Measured:
    """Measure answers that are there, with the progress on the terminal.

    Raises:
        EvalsError: It cannot be done.
        RunInterruptedError: Somebody pressed Ctrl-C.
    """
    try:
        return asyncio.run(measure_saved(work, metrics, config, observer))
    except KeyboardInterrupt as error:
        raise RunInterruptedError("interrupted", work.way_on if wants_judge(config, metrics) else None) from error


def interrupted(again: str, run_id: str | None, runs_dir: Path) -> RunInterruptedError:
    """What to say where Ctrl-C ended a run that asks.

    Args:
        again: The command that goes on, without the run.
        run_id: None where nothing is saved yet.
        runs_dir: Where runs are.
    """
    if run_id is None:
        return RunInterruptedError("interrupted before anything was asked")
    return RunInterruptedError(
        "interrupted; what was answered is saved", f"go on with: {command(f'{again} {run_id}', runs_dir)}"
    )


def end(
    done: Measured,
    config: EvalConfig,
    reporter: Reporter,
    *,
    as_json: bool,
    remapped: bool = False,
    quiet: bool = False,
) -> None:
    """Print a run that was just saved, and end as it deserves.

    Args:
        done: As it was saved, with its records.
        config: Of the run.
        reporter: Who tells CI of it.
        as_json: Print the run as JSON and nothing else.
        remapped: Whether stored bodies were read again with another mapping.
        quiet: Print score, gates and where the run is, and nothing else.

    Raises:
        RunIncompleteError: The run is partial or failed; its metrics are not looked at then.
        GateFailedError: A gate is not met, or there is not enough evidence for it.
    """
    run = done.run
    done.keep(RunStore(config.runs_dir).open_records(run))
    reporter.found(done, run.gates)
    if as_json:
        print_json(run.model_dump_json(indent=2))
    else:
        _print(done, config, quiet=quiet)
    if run.status != "complete":
        hint = way_on(run, done.source, config.runs_dir, remapped=remapped)
        raise RunIncompleteError(f"the run is {run.status}: {what_is_undone(run, done.source)}", hint)
    reporter.judge(run.gates)


def _print(done: Measured, config: EvalConfig, *, quiet: bool) -> None:
    run, out = done.run, console()
    path = RunStore(config.runs_dir).run_path(run)
    if quiet:
        print_score(out, run)
    else:
        _print_whole(out, done, config)
    out.print("saved to ", Text(str(path), style=f"link {path.absolute().as_uri()}"), sep="", soft_wrap=True)
    if not quiet:
        out.print(f"question by question: {command(f'show {run.id}', config.runs_dir)}", soft_wrap=True)


def _print_whole(out: Console, done: Measured, config: EvalConfig) -> None:
    print_run(out, done.run)
    print_in_short(out, done)
    if len(done.run.datasets) > 1:
        print_slices(out, done, "dataset", config.runs_dir)
    print_findings(out, done, limit=_FAILURES_SHOWN, runs_dir=config.runs_dir)
