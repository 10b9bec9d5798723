"""`evals eval` with variants: one run each, asked in turn, and how they compare."""

import asyncio
import json
from collections.abc import Sequence

from evals.cli.ci.reporter import Reporter
from evals.cli.commands.dry_run import describe_asking
from evals.cli.ending import observer_for
from evals.cli.flags import EvalFlags
from evals.cli.terminal.console import console
from evals.cli.terminal.streams import print_json
from evals.cli.undone import what_is_undone
from evals.cli.views.comparison import print_comparison
from evals.compare import Comparison, SavedRun, compare_runs
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError
from evals.export.ci.command_end import Beside
from evals.schemas import EvalRun
from evals.scoring.measured import Measured
from evals.store.commands import command
from evals.store.runs import RunStore
from evals.variants import VariantsRunner


def evaluate_variants(
    configs: Sequence[EvalConfig],
    flags: EvalFlags,
    reporter: Reporter,
    resume: Sequence[EvalRun] = (),
    notes: Sequence[str] = (),
) -> None:
    """Run all variants, and print how they compare.

    Args:
        configs: Of each run.
        flags: As they were given.
        reporter: Who tells CI of them.
        resume: The saved runs to go on with.
        notes: To be said before anything is asked.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    observer = observer_for(as_json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose)
    for note in notes:
        observer.note(note)
    if flags.dry_run:
        _describe(configs, as_json=flags.as_json)
        return
    runner = VariantsRunner(configs, observer, resume=resume)
    try:
        done = asyncio.run(runner.evaluate())
    except KeyboardInterrupt as error:
        raise _interrupted(runner.run_ids, configs[0]) from error
    _end(done, configs[0], reporter, as_json=flags.as_json, quiet=flags.quiet)


def _describe(configs: Sequence[EvalConfig], *, as_json: bool) -> None:
    """Say what would be done of each variant.

    Raises:
        ConfigError: As JSON: it is of one run.
    """
    if as_json:
        raise ConfigError("--dry-run prints the plan of one run as JSON", "leave --json out, or the variants")
    for config in configs:
        console().print(f"\nvariant {config.name}", style="bold")
        describe_asking(config, as_json=False)


def _interrupted(run_ids: Sequence[str], config: EvalConfig) -> RunInterruptedError:
    if not run_ids:
        return RunInterruptedError("interrupted before anything was asked")
    again = command(f"eval --resume {run_ids[0]}", config.runs_dir)
    return RunInterruptedError("interrupted; what was answered is saved", f"go on with all variants: {again}")


def _end(done: Sequence[Measured], config: EvalConfig, reporter: Reporter, *, as_json: bool, quiet: bool) -> None:
    """Print the comparison, and end as the worst of the runs deserves.

    Raises:
        RunIncompleteError: A run is partial or failed.
        GateFailedError: A gate is not met by a run.
    """
    store = RunStore(config.runs_dir)
    for each in done:
        reporter.found(each, each.run.gates)
    saved = [SavedRun(each.run, store.open_records(each.run)) for each in done]
    comparison = compare_runs(saved, pareto=True)
    reporter.compared(Beside(comparison, saved))
    if as_json:
        print_json(_as_json(done, comparison))
    else:
        _print(done, comparison, config, quiet=quiet)
    for each in done:
        if each.run.status != "complete":
            raise RunIncompleteError(
                f"run {each.run.id} ({each.run.name}) is {each.run.status}: {what_is_undone(each.run, each.source)}",
                f"go on with all variants: {command(f'eval --resume {each.run.id}', config.runs_dir)}",
            )
    for each in done:
        reporter.judge(each.run.gates, each.run.name)


def _as_json(done: Sequence[Measured], comparison: Comparison) -> str:
    runs = [each.run.model_dump(mode="json") for each in done]
    return json.dumps({"runs": runs, "comparison": comparison.model_dump(mode="json")}, indent=2, ensure_ascii=False)


def _print(done: Sequence[Measured], comparison: Comparison, config: EvalConfig, *, quiet: bool) -> None:
    out = console()
    if not quiet:
        print_comparison(out, comparison)
        out.print()
    for each in done:
        shown = command(f"show {each.run.id}", config.runs_dir)
        out.print(f"{each.run.id}  {each.run.name}  {each.run.status}: {shown}", soft_wrap=True, markup=False)
