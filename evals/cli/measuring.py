"""What commands that make runs share: flags as configuration, progress, Ctrl-C, and what is printed at the end."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evals.cli.ci import Reporter
from evals.cli.flags import ConfigFlags, Flags, MakeFlags, flag_name
from evals.cli.saved import next_command, run_parts, what_is_undone
from evals.cli.terminal import BAD, clean, console, print_result, tell, warn
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError
from evals.metrics.base import BaseMetric, Need
from evals.report.elements import TextLine
from evals.report.summary import gate_lines, score_line
from evals.report.wording import number
from evals.run.checks import check_config, refusal_of, wants_judge
from evals.run.estimate import Estimate
from evals.run.observer import Notebook, Observer
from evals.run.saved import SavedAnswers, estimate_saved, measure_answers
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.scoring.saved import SavedRun
from evals.store.runs import RunStore
from evals.text.foreign import one_line
from evals.text.numbers import counted
from evals.text.yaml_files import layer_of, merge, read_yaml

# The flags given, as configuration.

_CHOOSE_JUDGE = {"judge_model", "judge_base_url", "judge_effort", "judge_repeats"}

_USUAL_FILE = Path("eval_config.yml")
"""The file that `evals init` writes; it is read only where --config names it."""


def overrides(flags: Flags) -> dict[str, Any]:
    """The flags given, as keys of the configuration.

    Raises:
        ConfigError: A flag is empty, its value is wrong, or two flags exclude each other; the message names the flag.
    """
    flags.refuse_pairs(("embedded", "rag_url"), ("embedded", "profile"), ("dataset_file", "datasets"))
    given, keys = flags.given(), flags.keys()
    result: dict[str, Any] = {"judge": {"enabled": True}} if given.keys() & _CHOOSE_JUDGE else {}  # naming it wants it
    for name, value in given.items():
        if value == "" or (value == Path() and name not in ("dataset_file", "runs_dir", "data_dir")):  # "." is theirs
            raise ConfigError(f"{flag_name(name)} is empty", "leave the flag out, or give it a value")
        result = merge(result, layer_of(keys[name], value))
    try:
        EvalConfig.build(result)
    except ConfigError as error:  # who gave a flag knows no key; how values go together is seen later
        wrong = [name for name in given if keys[name] == error.key and isinstance(error.__cause__, ValidationError)]
        for name in wrong:
            what = error.message.partition(f"{error.key}: ")[2]
            raise ConfigError(f"{flag_name(name)}{' ' if what.startswith('must ') else ': '}{what}") from error
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


# The progress of a run on stderr: a bar with the numbers so far on a terminal, a line now and then elsewhere.

_LINE, _NAME = 100, 40


class Quiet(Observer):
    """Shows what a reader of the numbers must know, and nothing of the progress."""

    def note(self, message: str) -> None:
        warn(message)


class Terminal(Notebook):
    """Shows a bar with rate, failures, and what was judged.

    Args:
        every: Whether every answer has a line of its own.
    """

    line_every_s = 10.0

    def __init__(self, *, every: bool = False) -> None:
        super().__init__()
        self._console = console(sys.stderr)
        self._every = every
        self._bar: Progress | None = None
        self._phase = self._judged = ""

    def phase(self, message: str) -> None:
        if message != self._phase:  # the same of variants, one after the other
            super().phase(message)
        self._phase = message

    def note(self, message: str) -> None:
        warn(message, self._console)

    def begin(self, total: int, done: int) -> None:
        super().begin(total, done)
        if sys.stderr.isatty():
            columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[facts]}"))
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task("", total=total, completed=done, facts="")
            self._bar.start()

    def judged(self, done: int, spent_usd: float) -> None:
        self._judged = f"{done} judged" + (f", ${spent_usd:.2f}" if spent_usd else "")
        self._update()

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        if self._every:
            self._console.print(clean(line_of(question, response)), style=BAD if response.error else None)
        super().answered(question, response)
        self._update()

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _update(self) -> None:
        bar, tally = self._bar, self._tally
        if bar is not None and tally is not None:
            facts = ", ".join(filter(None, [tally.rate, tally.failures, self._judged]))
            bar.update(bar.task_ids[0], completed=tally.done, facts=facts)

    def _move(self, state: object) -> None:
        if self._bar is None:
            super()._move(state)

    def _write(self, line: str) -> None:
        self._console.print(clean(line), style="dim")


def line_of(question: EvalQuestion, response: EvalResponse) -> str:
    """What came of a question, in a line: its id, how long it took, and the answer or what went wrong."""
    tried = f", {counted(response.attempts, 'attempt')}" if response.attempts > 1 else ""
    took = f"{number(response.latency_ms, 'ms')}{tried}"
    answer = (response.answer or "") if response.error is None else response.error.message
    return f"  {one_line(question.id, _NAME)}  {took}  {one_line(answer, _LINE)}"


# Work with its progress on the terminal.

_T = TypeVar("_T")


def observer_for(flags: Flags) -> Observer:
    """The observer of the progress; one that does nothing if the output is for a program.

    Raises:
        ConfigError: Both little and much is asked for.
    """
    flags.refuse_pairs(("quiet", "verbose"))
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


def measure_now(answers: SavedAnswers, config: EvalConfig, flags: MakeFlags) -> SavedRun | None:
    """Measure answers that are there; None where only the plan of it is wanted, and printed.

    Raises:
        EvalsError: It cannot be done.
        RunInterruptedError: Somebody pressed Ctrl-C.
    """
    metrics = check_config(config, asking=not flags.dry_run)
    if flags.dry_run:
        print_result(*_measuring_plan(answers, metrics, config), flags)
        return None
    hint = "the judge's replies are in the cache: begin again" if wants_judge(config, metrics) else None
    work = measure_answers(answers, metrics, config, observer_for(flags))
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
    run, short = saved.run, [TextLine(score_line(saved.run), "strong"), *gate_lines(saved.run.gates)]
    shown = short if flags.quiet else run_parts(saved, config.runs_dir, every=flags.every)
    path = RunStore(config.runs_dir).run_path(run)
    reporter.runs.append(saved)
    print_result(run, chain(shown, [TextLine(f"saved to {path}", whole=True)]), flags)
    conclude([saved], config.runs_dir, reporter)


def conclude(done: Sequence[SavedRun], runs_dir: Path, reporter: Reporter) -> None:
    """End the command by what is wrong with the runs that it made; one that is not complete goes before all gates.

    Raises:
        RunIncompleteError: A run is partial or failed.
        GateFailedError: A gate is not met by a run, or there is not enough evidence for it.
    """
    names = {saved.run.id: f"run {saved.run.id} ({saved.run.name})" for saved in done if len(done) > 1}
    for saved in done:
        if saved.run.status != "complete":
            message = f"{names.get(saved.run.id, 'the run')} is {saved.run.status}: {what_is_undone(saved)}"
            raise RunIncompleteError(message, next_command(saved, runs_dir))
    for saved in done:
        reporter.judge(saved.run.gates, saved.run.name if names else "")


# `--dry-run`: what would be done, without asking a server or a judge.


Preview = tuple[dict[str, Any], list[str]]
"""What would be done: for a program, and in lines."""


def _measuring_plan(answers: SavedAnswers, metrics: Sequence[BaseMetric], config: EvalConfig) -> Preview:
    """What `rescore`, `score` and `calibrate` would do over answers that are there.

    Raises:
        EvalsError: It could not be done.
    """
    records = list(answers.records)
    answered = sum(record.response is not None and record.response.error is None for record in records)
    source = answers.run.rescored_from or answers.run.server.url
    facts, lines = judging_plan(estimate_saved(answers, metrics, config), metrics, config)
    measured = f"{counted(answered, 'answer')} to {counted(len(records), 'question')} of {source}"
    first = [*answers.notes, f"would measure {measured}, nothing judged"]
    return {"source": source, "questions": len(records), "answered": answered, **facts}, first + lines


def judging_plan(estimate: Estimate | None, metrics: Sequence[BaseMetric], config: EvalConfig) -> Preview:
    """What would be computed and judged of the answers, and why a run would refuse to begin."""
    judge = config.judge.model if wants_judge(config, metrics) else None
    names = [metric.name for metric in metrics if judge or Need.JUDGE not in metric.needs]
    refusal = refusal_of(config, metrics)  # it would stop the run before it begins; a plan is made all the same
    facts = config.model_dump(mode="json", include={"seed", "concurrency", "runs_dir"})
    facts |= {"metrics": names, "judge": judge, "estimate": estimate and asdict(estimate)}
    facts["refusal"] = refusal and {"message": refusal.message, "hint": refusal.hint}
    lines = [f"would compute {counted(len(names), 'metric')}: {', '.join(names)}"]
    lines += [f"would judge with {judge}: {estimate}" if judge else "no judge"]
    lines += [f"! as it stands the run would refuse to begin: {refusal.message}\n  {refusal.hint}"] if refusal else []
    return facts, [*lines, f"seed {config.seed}, runs in {config.runs_dir}"]
