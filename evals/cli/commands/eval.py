"""`evals eval`."""

import asyncio

from evals.cli.ci.reporter import Reporter
from evals.cli.commands.dry_run import describe_asking
from evals.cli.commands.variants import evaluate_variants
from evals.cli.ending import end, interrupted, observer_for
from evals.cli.flags import EvalFlags, flag_name, given_flags, keys_of
from evals.cli.overrides import config_layers, overrides
from evals.cli.vary import vary
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.resume import MAY_CHANGE, resumed_config
from evals.runner import EvaluationRunner
from evals.schemas import EvalRun
from evals.store.commands import folder_of
from evals.store.runs import RunStore
from evals.variants import added_fields, saved_together, variants_of


def evaluate(flags: EvalFlags) -> None:
    """Run an evaluation and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        _evaluate(flags, reporter)


def _evaluate(flags: EvalFlags, reporter: Reporter) -> None:
    if flags.alone and flags.resume is None:
        raise ConfigError("--alone is of a run that goes on", "name it with --resume")
    run: EvalRun | None = None
    if flags.resume is None:
        settings = _configured(flags)
        if settings.variants:
            evaluate_variants(variants_of(settings), flags, reporter, notes=_of_added_fields(settings))
            return
    else:
        run, settings = _resumed(flags.resume, flags)
        if run.interleaved_with and not flags.alone:
            together = saved_together(RunStore(settings.runs_dir), run)
            configs = [resumed_config(each, overrides(flags)) for each in together]
            evaluate_variants(configs, flags, reporter, together)
            return
    if flags.dry_run:
        describe_asking(settings, as_json=flags.as_json)
        return
    runner = EvaluationRunner(
        settings, observer_for(as_json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose), resume=run
    )
    try:
        done = asyncio.run(runner.evaluate())
    except KeyboardInterrupt as error:
        raise interrupted("eval --resume", runner.run_id, settings.runs_dir) from error
    end(done, settings, reporter, as_json=flags.as_json, quiet=flags.quiet)


def _of_added_fields(config: EvalConfig) -> list[str]:
    """What a reader must know of fields that variants add to a request: a misspelt one would go unnoticed."""
    said = "the profile's request does not have it, so it is added; see that the server knows it"
    return [f"{path}: {said}" for path in added_fields(config)]


def _configured(flags: EvalFlags) -> EvalConfig:
    """The configuration of a new run, with the variants of --vary."""
    config = EvalConfig.build(*config_layers(flags))
    if not flags.vary:
        return config
    return EvalConfig.build(*config_layers(flags), {"variants": vary(flags.vary, config.variants)})


def _resumed(run_id: str, flags: EvalFlags) -> tuple[EvalRun, EvalConfig]:
    """A saved run with its configuration; flags may change how it is asked, not what."""
    if flags.vary:
        raise ConfigError("--resume takes the variants of the saved run, so not --vary")
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
