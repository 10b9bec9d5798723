"""`evals rescore`."""

import asyncio
from pathlib import Path

from evals.cli.console import console
from evals.cli.dry_run import describe_measuring
from evals.cli.eval_command import EvalFlags
from evals.cli.outcome import only_judging_is_undone, raise_for, what_is_undone
from evals.cli.progress import Terminal
from evals.cli.report import print_run
from evals.cli.streams import print_json
from evals.client.profile import read_yaml
from evals.config import EvalConfig
from evals.observer import Observer
from evals.rescoring import rescore, saved_run
from evals.schemas import EvalRun
from evals.store import RunStore


def rescore_run(
    run_id: str, flags: EvalFlags, *, config: Path | None, remap: bool, dry_run: bool, as_json: bool
) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    runs_dir = flags.runs_dir or EvalConfig().runs_dir
    source = RunStore(runs_dir).load(run_id)
    base = {key: value for key, value in source.eval_config.items() if key not in {"name", "gate"}}
    if flags.suite is None and flags.metrics is not None:
        base.pop("suite", None)
    layers = [base, *([read_yaml(config, "configuration")] if config else []), flags.overrides()]
    settings = EvalConfig.build(*layers, {"runs_dir": runs_dir})
    if dry_run:
        describe_measuring(saved_run(source, settings, remap=remap), settings, as_json=as_json)
        return
    observer: Observer = Observer() if as_json else Terminal()
    run = asyncio.run(rescore(source, settings, remap=remap, observer=observer))
    if as_json:
        print_json(run.model_dump_json(indent=2))
    else:
        out = console()
        print_run(out, run)
        out.print(f"saved to {RunStore(runs_dir).run_path(run)}", soft_wrap=True)
    raise_for(run, settings.gate, why=what_is_undone(run), hint=_way_out(run, source, remap=remap))


def _way_out(run: EvalRun, source: EvalRun, *, remap: bool) -> str:
    if only_judging_is_undone(run):
        return f"what was judged is in the cache: begin again with evals rescore {source.id}"
    if remap and run.outcomes.transport.get("malformed"):
        return f"see what the server sent with evals show {run.id}, and mend server.map: docs/profiles.md has its keys"
    return f"the saved run lacks these answers too: evals eval --resume {source.id} asks for them"
