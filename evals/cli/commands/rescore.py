"""`evals rescore`."""

from evals.cli.ci.reporter import Reporter
from evals.cli.commands.dry_run import describe_measuring
from evals.cli.ending import end, measure_now, observer_for
from evals.cli.flags import RescoreFlags
from evals.cli.overrides import config_layers
from evals.config import EvalConfig
from evals.run.changes import rescore_config
from evals.run.checks import check_config
from evals.run.saved import saved_run
from evals.store.runs import RunStore


def rescore_run(run_id: str, flags: RescoreFlags) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        _rescore(run_id, flags, reporter)


def _rescore(run_id: str, flags: RescoreFlags, reporter: Reporter) -> None:
    layers, remap, as_json = config_layers(flags), flags.remap, flags.as_json
    runs_dir = EvalConfig.build(*({"runs_dir": layer["runs_dir"]} for layer in layers if "runs_dir" in layer)).runs_dir
    source = RunStore(runs_dir).load(run_id)
    settings = rescore_config(source, *layers, {"runs_dir": runs_dir}, remap=remap)
    metrics = check_config(settings, asking=not flags.dry_run)
    work = saved_run(source, settings, remap=remap)
    if flags.dry_run:
        describe_measuring(work, metrics, settings, as_json=as_json)
        return
    observer = observer_for(as_json=as_json, quiet=flags.quiet, verbose=flags.verbose)
    done = measure_now(work, metrics, settings, observer)
    end(done, settings, reporter, as_json=as_json, remapped=remap, quiet=flags.quiet)
