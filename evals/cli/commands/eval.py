"""`evals eval`."""

import asyncio

from evals.cli.commands.dry_run import describe_asking
from evals.cli.ending import end, interrupted, observer_for
from evals.cli.flags import EvalFlags, flag_name, given_flags, keys_of
from evals.cli.overrides import config_layers, overrides
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.resume import MAY_CHANGE, resumed_config
from evals.runner import EvaluationRunner
from evals.schemas import EvalRun
from evals.store.commands import folder_of
from evals.store.runs import RunStore


def evaluate(flags: EvalFlags) -> None:
    """Run an evaluation and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    run: EvalRun | None = None
    if flags.resume is None:
        settings = EvalConfig.build(*config_layers(flags))
    else:
        run, settings = _resumed(flags.resume, flags)
    if flags.dry_run:
        describe_asking(settings, as_json=flags.as_json)
        return
    runner = EvaluationRunner(settings, observer_for(as_json=flags.as_json), resume=run)
    try:
        done = asyncio.run(runner.evaluate())
    except KeyboardInterrupt as error:
        raise interrupted("eval --resume", runner.run_id, settings.runs_dir) from error
    end(done, settings, as_json=flags.as_json, lenient=flags.lenient)


def _resumed(run_id: str, flags: EvalFlags) -> tuple[EvalRun, EvalConfig]:
    """A saved run with its configuration; flags may change how it is asked, not what."""
    given, told = given_flags(flags), keys_of(flags)
    refused = sorted(name for name in given if told[name][0] not in MAY_CHANGE | {"server.url"})
    if refused:
        names = ", ".join(flag_name(name, given[name]) for name in refused)
        raise ConfigError(f"--resume takes the questions and metrics of the saved run, so not {names}")
    runs_dir = flags.runs_dir or EvalConfig().runs_dir
    run = RunStore(runs_dir).load(run_id)
    there = folder_of(run)
    if there is not None and there.resolve() != runs_dir.resolve():
        raise ConfigError(
            f"run {run.id} is in {there}, and what is asked is saved to {runs_dir}", f"add --runs-dir {there}"
        )
    return run, resumed_config(run, overrides(flags))
