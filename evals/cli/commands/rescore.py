"""`evals rescore`."""

import asyncio

from evals.cli.commands.dry_run import describe_measuring
from evals.cli.ending import end, observer_for
from evals.cli.flags import RescoreFlags
from evals.cli.overrides import config_layers
from evals.config import EvalConfig
from evals.run.changes import rescore_config
from evals.run.saved import rescore, saved_run
from evals.store.runs import RunStore


def rescore_run(run_id: str, flags: RescoreFlags) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    layers, remap, as_json = config_layers(flags), flags.remap, flags.as_json
    runs_dir = EvalConfig.build(*({"runs_dir": layer["runs_dir"]} for layer in layers if "runs_dir" in layer)).runs_dir
    source = RunStore(runs_dir).load(run_id)
    settings = rescore_config(source, *layers, {"runs_dir": runs_dir}, remap=remap)
    if flags.dry_run:
        describe_measuring(saved_run(source, settings, remap=remap), settings, as_json=as_json)
        return
    run = asyncio.run(rescore(source, settings, remap=remap, observer=observer_for(as_json=as_json)))
    end(run, settings, as_json=as_json, remapped=remap)
