"""The beginning and the end that `eval`, `rescore` and `score` share: who hears of the progress, what is printed."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.text import Text

from evals.cli.ci import Reporter
from evals.cli.terminal import Quiet, Terminal, console, print_json
from evals.cli.views.run import print_findings, print_in_short, print_run, print_score
from evals.cli.views.scorecard import print_slices
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError, RunNotFoundError, StoreError
from evals.metrics.base import BaseMetric
from evals.report.wording import in_its_log, one_line
from evals.run.notebook import Observer
from evals.run.saved import measure_saved
from evals.run.setup import wants_judge
from evals.run.work import RunPlan
from evals.schemas.response import ResponseError
from evals.schemas.results import SAVED_ANSWERS, EvalRecord, EvalRun
from evals.scoring.calibration import with_cards
from evals.scoring.conclusion import Measured
from evals.store.naming import DEFAULT_RUNS_DIR, command
from evals.store.records import RecordFile, as_found
from evals.store.runs import RunStore, saved_calibrations
from evals.text.numbers import agree, counted, share

# Saved runs as commands read them: with what calibrations say of their judges today.


def carded(store: RunStore, run_id: str) -> tuple[EvalRun, RecordFile]:
    """A saved run with its judge's card, which may be newer than the run, and its records.

    Where records were lost or changed since it was saved, it is partial: `refuse_damaged` ends the command so.

    Raises:
        RunNotFoundError: There is no such run.
        StoreError: It cannot be read.
    """
    run = store.load(run_id)
    records = store.open_records(run)
    return with_cards(as_found(run, records), records, saved_calibrations(store.folder)), records


def never_calibrated(run: EvalRun) -> list[str]:
    """The judged metrics of a run whose judge was never calibrated by them."""
    cards = run.judge.cards if run.judge is not None else {}
    return [name for name, card in cards.items() if card is None]


# What a run that is not complete lacks, and the way on: one rule for all commands.


_NAMED = 5
"""So many shards are named."""


_CAUSE = 120
"""Characters of what a server said."""

_REFUSED = frozenset({401, 403})


_PASSING = frozenset({408, 425, 429})
"""Statuses below 500 that may be gone when asked later."""


def what_is_undone(run: EvalRun, records: Sequence[EvalRecord]) -> str:
    """What a run that is not complete lacks, and why, as far as it is known."""
    if run.completed_at is None:
        return in_its_log(records)
    if _only_judging_is_undone(run):
        return "; ".join(_undone_judging(run)) or "the judge did not finish"
    if run.server.profile == SAVED_ANSWERS and run.rescored_from is None:
        return f"of {counted(run.question_count, 'question')} {' and '.join(_missing_in_file(run))}"
    undone = ", ".join(_undone_asking(run, records))
    return "; ".join(filter(None, [undone, run.outcomes.stopped])) or "it was ended early"


def _only_judging_is_undone(run: EvalRun) -> bool:
    """Whether all was asked and no more failed than may, so that it is the judge who did not finish."""
    from evals.config import EvalConfig  # noqa: PLC0415 - it loads client and judges, which whole runs do not want

    default = EvalConfig.model_fields["max_error_rate"].default
    allowed = float(run.eval_config.get("max_error_rate", default)) * (run.outcomes.answered + run.error_count)
    was_judged = run.judge is not None or bool(run.outcomes.judge)
    asked_all = not run.outcomes.not_asked and not run.outcomes.stopped
    return run.status == "partial" and was_judged and asked_all and run.error_count <= allowed


def _missing_in_file(run: EvalRun) -> Iterator[str]:
    if run.outcomes.not_asked:
        yield f"{run.outcomes.not_asked} {agree(run.outcomes.not_asked, 'has', 'have')} no saved answer"
    if run.error_count:
        yield f"{run.error_count} {agree(run.error_count, 'has', 'have')} an error"


def _undone_asking(run: EvalRun, records: Sequence[EvalRecord]) -> Iterator[str]:
    if run.error_count:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in run.outcomes.transport.items())
        cause = None if run.outcomes.stopped else _main_cause(records)
        said = f"; such as {one_line(cause.message, _CAUSE)}" if cause else ""
        asked = run.outcomes.answered + run.error_count
        yield f"{share(run.error_count, asked, 'question')} brought no answer ({kinds}{said})"
    if run.outcomes.not_asked:
        yield f"{share(run.outcomes.not_asked, run.question_count, 'question', 'was')} not asked"


def _undone_judging(run: EvalRun) -> Iterator[str]:
    if count := _prevented(run):
        yield f"the judge's budget is spent: {counted(count, 'decision', 'was')} not made"
    if run.judge is not None and run.judge.left:
        yield f"{counted(run.judge.left, 'request')} to the judge {agree(run.judge.left, 'is', 'are')} still in a batch"
    if failures := run.outcomes.judge:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in failures.items())
        yield f"{counted(sum(failures.values()), 'decision')} of the judge failed ({kinds})"


def _prevented(run: EvalRun) -> int:
    """Decisions of the judge that the budget did not allow."""
    return run.judge.prevented if run.judge is not None else 0


def next_command(run: EvalRun, records: Sequence[EvalRecord], runs_dir: Path | None, *, remapped: bool = False) -> str:
    """What to do about a run that is not complete; which command made it is told by the run.

    Args:
        run: As it was saved; one that was never finished, because evals was killed, counts too.
        records: Of the run.
        runs_dir: Where the run is; None for the default.
        remapped: Whether stored bodies were read again with another mapping.
    """
    if run.merged_from:
        return _way_on_merging(run)
    if run.rescored_from is not None:
        return _way_on_measuring(run, run.rescored_from, records, runs_dir, remapped=remapped)
    if run.server.profile == SAVED_ANSWERS:
        return _way_on_scoring(run)
    return _way_on_asking(run, records, runs_dir)


def _way_on_merging(run: EvalRun) -> str:
    """Of a merged run: nobody knows here where its shards are."""
    partial = [f"evals eval --resume {one.id}" for one in run.merged_from if one.status != "complete"]
    named = f" ({', '.join(partial[:_NAMED])}{', …' if len(partial) > _NAMED else ''})" if partial else ""
    return f"go on with the shards that are partial{named}, and merge again"


def _way_on_asking(run: EvalRun, records: Sequence[EvalRecord], runs_dir: Path | None) -> str:
    again = command(f"eval --resume {run.id}", runs_dir)
    if run.completed_at is None:
        return f"go on with: {again}"
    if _only_judging_is_undone(run):
        return _way_on_judging(run, again, runs_dir)
    cause = _main_cause(records)
    if cause is None:
        return f"go on with: {again}"
    if _may_pass(cause):
        return f"when the server is well again: {again}"
    if cause.status in _REFUSED and run.outcomes.answered:
        return f"renew the token of server.headers (docs/profiles.md), then go on with: {again}"
    if cause.status in _REFUSED:
        way = "set server.headers, for example a bearer token (docs/profiles.md)"
    elif cause.kind == "malformed":
        way = _mend_the_mapping(run, records, runs_dir)
    else:
        way = "waiting does not help: mend server.ask (docs/profiles.md has its keys)"
    mended = f"; where the server itself is mended, go on with: {again}" if run.outcomes.answered else ""
    return f"{way}, and begin a new run{mended}"


def _only_judging_is_left(run: EvalRun) -> bool:
    """Of answers that were there from the start; whoever was killed over them was judging."""
    return run.completed_at is None or _only_judging_is_undone(run)


def _way_on_scoring(run: EvalRun) -> str:
    if _only_judging_is_left(run):
        return "what was judged is kept: score the same answers again to go on, without paying for it again"
    return "leave questions that were not asked out of the dataset file"


def _way_on_measuring(
    run: EvalRun, source: str, records: Sequence[EvalRecord], runs_dir: Path | None, *, remapped: bool
) -> str:
    if _only_judging_is_left(run):
        again = command(f"rescore {source}", runs_dir)
        return f"what was judged is kept in run {run.id}, and is not paid for again: begin again with {again}"
    if remapped and run.outcomes.transport.get("malformed"):
        return _mend_the_mapping(run, records, runs_dir)
    if run.server.profile == SAVED_ANSWERS:
        return "the saved answers lack these too: complete their file and score it again with `evals score`"
    asking = command(f"eval --resume {_who_asked(source, runs_dir)}", runs_dir)
    return f"the saved run lacks these answers too: {asking} asks for them"


def _who_asked(run_id: str, runs_dir: Path | None) -> str:
    """The run that asked: this one, or the one that it measured again, as far back as runs are there."""
    store, seen = RunStore(runs_dir or DEFAULT_RUNS_DIR), {run_id}
    while True:
        try:
            source = store.load(run_id).rescored_from
        except (RunNotFoundError, StoreError):  # it was deleted or damaged; its id says that
            return run_id
        if source is None or source in seen:
            return run_id
        run_id = source
        seen.add(run_id)


def _mend_the_mapping(run: EvalRun, records: Sequence[EvalRecord], runs_dir: Path | None) -> str:
    """What to do where answers were not found in what the server sent."""
    errors = ((record.question.id, record.response.error) for record in records if record.response is not None)
    example = next((key for key, error in errors if error is not None and error.kind == "malformed"), "ID")
    shown = command(f"show {run.id} --question {quote(example)}", runs_dir)
    return f"see what the server sent with {shown}; mend server.map (docs/profiles.md has its keys)"


def _way_on_judging(run: EvalRun, again: str, runs_dir: Path | None) -> str:
    if _prevented(run):
        return f"go on with: {again} (--max-cost for more money)"
    if run.judge is not None and run.judge.left:
        return f"when the batch has ended, or to wait for it: {again}"
    kind, _ = max(run.outcomes.judge.items(), key=lambda pair: pair[1], default=("transport", 0))
    if kind == "transport":
        return f"when the judge can be reached again: {again}"
    return f"try again: {again}; or another judge: {command(f'rescore {run.id} --judge-model NAME', runs_dir)}"


def _main_cause(records: Sequence[EvalRecord]) -> ResponseError | None:
    """The error that most questions ended with, the first of its kind."""
    errors = [record.response.error for record in records if record.response is not None and record.response.error]
    kinds = Counter((error.kind, error.status) for error in errors)
    return max(errors, key=lambda error: kinds[error.kind, error.status], default=None)


def _may_pass(error: ResponseError) -> bool:
    if error.kind == "status" and error.status is not None:
        return error.status >= 500 or error.status in _PASSING
    return error.kind in {"timeout", "connect", "not_ok", "broken_off"}


_FAILURES_SHOWN = 3


def observer_for(*, as_json: bool, quiet: bool = False, verbose: bool = False) -> Observer:
    """Who hears of the progress: nobody where the output is for a program.

    Raises:
        ConfigError: Both little and much is asked for.
    """
    if quiet and verbose:
        raise ConfigError("--quiet and --verbose exclude each other")
    if as_json:
        return Observer()
    return Quiet() if quiet else Terminal(each=verbose)


def measure_now(work: RunPlan, metrics: Sequence[BaseMetric], config: EvalConfig, observer: Observer) -> Measured:
    """Measure answers that are there, with the progress on the terminal.

    Raises:
        EvalsError: It cannot be done.
        RunInterruptedError: Somebody pressed Ctrl-C.
    """
    try:
        return asyncio.run(measure_saved(work, metrics, config, observer))
    except KeyboardInterrupt as error:
        raise RunInterruptedError("interrupted", work.way_on if wants_judge(config, metrics) else None) from error


def interrupted(again: str, run_id: str | None, runs_dir: Path) -> RunInterruptedError:
    """What to say where Ctrl-C ended a run that asks.

    Args:
        again: The command that goes on, without the run.
        run_id: None where nothing is saved yet.
        runs_dir: Where runs are.
    """
    if run_id is None:
        return RunInterruptedError("interrupted before anything was asked")
    return RunInterruptedError(
        "interrupted; what was answered is saved", f"go on with: {command(f'{again} {run_id}', runs_dir)}"
    )


def end(
    done: Measured,
    config: EvalConfig,
    reporter: Reporter,
    *,
    as_json: bool,
    remapped: bool = False,
    quiet: bool = False,
) -> None:
    """Print a run that was just saved, and end as it deserves.

    Args:
        done: As it was saved, with its records.
        config: Of the run.
        reporter: Who tells CI of it.
        as_json: Print the run as JSON and nothing else.
        remapped: Whether stored bodies were read again with another mapping.
        quiet: Print score, gates and where the run is, and nothing else.

    Raises:
        RunIncompleteError: The run is partial or failed; its metrics are not looked at then.
        GateFailedError: A gate is not met, or there is not enough evidence for it.
    """
    run = done.run
    done.keep(RunStore(config.runs_dir).open_records(run))
    reporter.found(done, run.gates)
    if as_json:
        print_json(run.model_dump_json(indent=2))
    else:
        _print(done, config, quiet=quiet)
    if run.status != "complete":
        hint = next_command(run, done.source, config.runs_dir, remapped=remapped)
        raise RunIncompleteError(f"the run is {run.status}: {what_is_undone(run, done.source)}", hint)
    reporter.judge(run.gates)


def _print(done: Measured, config: EvalConfig, *, quiet: bool) -> None:
    run, out = done.run, console()
    path = RunStore(config.runs_dir).run_path(run)
    if quiet:
        print_score(out, run)
    else:
        _print_whole(out, done, config)
    out.print("saved to ", Text(str(path), style=f"link {path.absolute().as_uri()}"), sep="", soft_wrap=True)
    if not quiet:
        out.print(f"question by question: {command(f'show {run.id}', config.runs_dir)}", soft_wrap=True)


def _print_whole(out: Console, done: Measured, config: EvalConfig) -> None:
    print_run(out, done.run)
    print_in_short(out, done)
    if len(done.run.datasets) > 1:
        print_slices(out, done, "dataset", config.runs_dir)
    print_findings(out, done, limit=_FAILURES_SHOWN, runs_dir=config.runs_dir)
