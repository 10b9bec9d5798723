"""`evals eval`."""

import asyncio

from evals.cli.commands.dry_run import describe_asking
from evals.cli.ending import end, observer_for
from evals.cli.flags import EvalFlags, flag_name, given_flags, keys_of
from evals.cli.overrides import config_layers, overrides
from evals.config import EvalConfig
from evals.errors import ConfigError, RunInterruptedError
from evals.run.resume import MAY_CHANGE, resumed_config
from evals.runner import EvaluationRunner
from evals.store.commands import command
from evals.store.runs import RunStore


def evaluate(flags: EvalFlags) -> None:
    """Run an evaluation and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    settings = EvalConfig.build(*config_layers(flags)) if flags.resume is None else _resumed(flags.resume, flags)
    if flags.dry_run:
        describe_asking(settings, as_json=flags.as_json)
        return
    runner = EvaluationRunner(settings, observer_for(as_json=flags.as_json), resume=flags.resume)
    try:
        run = asyncio.run(runner.run())
    except KeyboardInterrupt as error:
        raise _interrupted(runner) from error
    end(run, settings, as_json=flags.as_json)


def _interrupted(runner: EvaluationRunner) -> RunInterruptedError:
    if runner.run_id is None:
        return RunInterruptedError("interrupted before anything was asked")
    return RunInterruptedError(
        "interrupted; what was answered is saved",
        f"go on with: {command(f'eval --resume {runner.run_id}', runner.config.runs_dir)}",
    )


def _resumed(run_id: str, flags: EvalFlags) -> EvalConfig:
    """The configuration of a saved run; flags may change how it is asked, not what."""
    given, told = given_flags(flags), keys_of(flags)
    refused = sorted(name for name in given if told[name][0] not in MAY_CHANGE | {"server.url"})
    if refused:
        names = ", ".join(flag_name(name, given[name]) for name in refused)
        raise ConfigError(f"--resume takes the questions and metrics of the saved run, so not {names}")
    run = RunStore(flags.runs_dir or EvalConfig().runs_dir).load(run_id)
    return resumed_config(run, overrides(flags))
