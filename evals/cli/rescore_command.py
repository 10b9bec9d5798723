"""`evals rescore`."""

import asyncio
from pathlib import Path

import typer

from evals.cli.console import console
from evals.cli.eval_command import EvalFlags
from evals.cli.progress import Terminal
from evals.cli.report import print_run
from evals.config import EvalConfig
from evals.observer import Observer
from evals.rescoring import rescore
from evals.store import RunStore


def rescore_run(run_id: str, flags: EvalFlags, *, config: Path | None, remap: bool, as_json: bool) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    runs_dir = flags.runs_dir or EvalConfig().runs_dir
    source = RunStore(runs_dir).load(run_id)
    base = {key: value for key, value in source.eval_config.items() if key not in {"name", "gate"}}
    if flags.suite is None and flags.metrics is not None:
        base.pop("suite", None)
    layers = [base, *([EvalConfig.from_file(config).as_written()] if config else []), flags.overrides()]
    settings = EvalConfig.build(*layers, {"runs_dir": runs_dir})
    observer: Observer = Observer() if as_json else Terminal()
    run = asyncio.run(rescore(source, settings, remap=remap, observer=observer))
    if as_json:
        typer.echo(run.model_dump_json(indent=2))
        return
    out = console()
    print_run(out, run)
    out.print(f"saved to {RunStore(runs_dir).run_path(run)}", soft_wrap=True)
