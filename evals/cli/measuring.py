"""What commands that make runs share: flags as configuration, progress, Ctrl-C, and what is printed at the end."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from rich.text import Text

from evals.cli.ci import Reporter
from evals.cli.flags import ConfigFlags
from evals.cli.parameters import Flags, flag_name
from evals.cli.progress import Quiet, Terminal
from evals.cli.saved import next_command, what_is_undone
from evals.cli.terminal import console, print_json, show, tell
from evals.cli.views import run_parts
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError
from evals.metrics.base import BaseMetric
from evals.report.elements import TextLine
from evals.report.summary import gate_lines, score_line
from evals.run.checks import wants_judge
from evals.run.observer import Observer
from evals.run.saved import SavedAnswers, measure_answers
from evals.scoring.saved import SavedRun
from evals.store.runs import RunStore
from evals.text.yaml_files import layer_of, merge, problems_of, read_yaml

# The flags given, as configuration.

_CHOOSE_JUDGE = {"judge_model", "judge_base_url", "judge_effort", "judge_repeats"}

_USUAL_FILE = Path("eval_config.yml")
"""The file that `evals init` writes; it is read only where --config names it."""

_EXCLUSIVE = (("embedded", "rag_url"), ("embedded", "profile"), ("dataset_file", "datasets"))
"""Flags of which one would silently win over the other."""


def overrides(flags: Flags) -> dict[str, Any]:
    """The flags given, as keys of the configuration.

    Raises:
        ConfigError: A flag is empty, its value is wrong, or two flags exclude each other; the message names the flag.
    """
    given, keys = flags.given(), flags.keys()
    for first, second in _EXCLUSIVE:
        if given.get(first) and given.get(second):
            raise ConfigError(f"{flag_name(first)} and {flag_name(second)} exclude each other")
    result: dict[str, Any] = {"judge": {"enabled": True}} if given.keys() & _CHOOSE_JUDGE else {}  # naming it wants it
    for name, value in given.items():
        if value == "" or (value == Path() and name != "dataset_file"):  # "." may be a folder of questions
            raise ConfigError(f"{flag_name(name)} is empty", "leave the flag out, or give it a value")
        result = merge(result, layer_of(keys[name], value))
    _check_values({name: keys[name] for name in given}, result)
    return result


def config_layers(flags: ConfigFlags) -> list[dict[str, Any]]:
    """What a configuration file and flags say, where they are given; later ones go before earlier ones.

    Raises:
        ConfigError: The file cannot be read, or a flag is wrong.
    """
    if flags.config is None and _USUAL_FILE.is_file() and not (flags.as_json or getattr(flags, "embedded", False)):
        tell(f"! {_USUAL_FILE} is in this folder, but not used: add --config {_USUAL_FILE}")
    files = [flags.config] if flags.config else []
    return [*(read_yaml(file, "configuration") for file in files), overrides(flags)]


def runs_dir_of(layers: Sequence[dict[str, Any]]) -> Path:
    """The folder of runs that the layers name, whatever else they hold."""
    return EvalConfig.build(*({"runs_dir": layer["runs_dir"]} for layer in layers if "runs_dir" in layer)).runs_dir


def _check_values(keys: dict[str, str], result: dict[str, Any]) -> None:
    """Check each value by itself, for who gave it as a flag knows no key; how values go together is seen later."""
    try:
        EvalConfig.build(result)
    except ConfigError as error:
        if not isinstance(error.__cause__, ValidationError):
            return
        wrong = {problem.key: problem.what for problem in problems_of(error.__cause__, EvalConfig)}
        for name, key in keys.items():
            if what := wrong.get(key):
                raise ConfigError(f"{flag_name(name)}{' ' if what.startswith('must ') else ': '}{what}") from error


# Work with its progress on the terminal.

_T = TypeVar("_T")


def observer_for(flags: Flags) -> Observer:
    """The observer of the progress; one that does nothing if the output is for a program.

    Raises:
        ConfigError: Both little and much is asked for.
    """
    if flags.quiet and flags.verbose:
        raise ConfigError("--quiet and --verbose exclude each other")
    if flags.as_json:
        return Observer()
    return Quiet() if flags.quiet else Terminal(every=flags.verbose)


def until_ctrl_c(work: Coroutine[Any, Any, _T], interrupted: Callable[[], RunInterruptedError]) -> _T:
    """Do the work to its end.

    Args:
        work: What is done.
        interrupted: Says what is kept, and how to continue, where somebody presses Ctrl-C.
    """
    try:
        return asyncio.run(work)
    except KeyboardInterrupt as error:
        raise interrupted() from error


def measure_now(
    answers: SavedAnswers, metrics: Sequence[BaseMetric], config: EvalConfig, observer: Observer
) -> SavedRun:
    """Measure answers that are there.

    Raises:
        EvalsError: It cannot be done.
        RunInterruptedError: Somebody pressed Ctrl-C.
    """
    hint = "the judge's replies are in the cache: begin again" if wants_judge(config, metrics) else None
    work = measure_answers(answers, metrics, config, observer)
    return until_ctrl_c(work, lambda: RunInterruptedError("interrupted", hint))


def finish(saved: SavedRun, config: EvalConfig, reporter: Reporter, flags: Flags) -> None:
    """Print a run that was just saved, and end the command with its exit code.

    Args:
        saved: The run.
        config: Of the run.
        reporter: Who tells CI of it.
        flags: How much is printed, and whether for a program.

    Raises:
        RunIncompleteError: The run is partial or failed; its metrics are not looked at then.
        GateFailedError: A gate is not met, or there is not enough evidence for it.
    """
    run = saved.run
    reporter.add(saved, run.gates)
    if flags.as_json:
        print_json(run.model_dump_json(indent=2))
    else:
        short = [TextLine(score_line(run), "strong"), *gate_lines(run.gates)]
        show(console(), short if flags.quiet else run_parts(saved, config.runs_dir, every=flags.every))
        path = RunStore(config.runs_dir).run_path(run)
        link = Text(str(path), style=f"link {path.absolute().as_uri()}")
        console().print("saved to ", link, sep="", soft_wrap=True)
    if run.status != "complete":
        undone = what_is_undone(saved)
        raise RunIncompleteError(f"the run is {run.status}: {undone}", next_command(saved, config.runs_dir))
    reporter.judge(run.gates)
