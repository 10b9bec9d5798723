"""`evals rescore`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from evals.cli.console import console
from evals.cli.dry_run import describe_measuring
from evals.cli.eval_command import EvalFlags
from evals.cli.outcome import mend_the_mapping, only_judging_is_undone, raise_for, what_is_undone
from evals.cli.progress import Terminal
from evals.cli.report import print_run
from evals.cli.streams import print_json
from evals.cli.ways import command
from evals.config import EvalConfig
from evals.layers import read_yaml
from evals.observer import Observer
from evals.rescore_config import rescore_config
from evals.rescoring import rescore, saved_run
from evals.schemas import EvalRecord, EvalRun
from evals.schemas.results import SAVED_ANSWERS
from evals.store import RunStore


def rescore_run(
    run_id: str, flags: EvalFlags, *, config: Path | None, remap: bool, dry_run: bool, as_json: bool
) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    layers = [*([read_yaml(config, "configuration")] if config else []), flags.overrides()]
    runs_dir = EvalConfig.build(*({"runs_dir": layer["runs_dir"]} for layer in layers if "runs_dir" in layer)).runs_dir
    source = RunStore(runs_dir).load(run_id)
    settings = rescore_config(source, *layers, {"runs_dir": runs_dir}, remap=remap)
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
    records = [] if run.status == "complete" else RunStore(runs_dir).records(run)
    hint = _way_out(run, records, source, runs_dir, remap=remap)
    raise_for(run, settings.gate, why=what_is_undone(run, records), hint=hint)


def _way_out(run: EvalRun, records: Sequence[EvalRecord], source: EvalRun, runs_dir: Path, *, remap: bool) -> str:
    if only_judging_is_undone(run):
        again = command(f"rescore {source.id}", runs_dir)
        return f"what was judged is kept in run {run.id}, and is not paid for again: begin again with {again}"
    if remap and run.outcomes.transport.get("malformed"):
        return mend_the_mapping(run, records, runs_dir)
    if source.server.profile == SAVED_ANSWERS:
        return "the saved answers lack these too: complete their file and score it again with `evals score`"
    return f"the saved run lacks these answers too: {command(f'eval --resume {source.id}', runs_dir)} asks for them"
