"""Saved runs as commands read them: with today's calibrations, and the next command where they are not complete."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from evals.errors import ConfigError
from evals.schemas.response import ResponseError
from evals.schemas.results import SAVED_ANSWERS, EvalRun
from evals.scoring.calibration import with_cards
from evals.scoring.saved import SavedRun, open_run
from evals.store.naming import DEFAULT_RUNS_DIR, command, way_on_of
from evals.store.runs import RunStore, saved_calibrations
from evals.text.foreign import one_line
from evals.text.numbers import agree, counted, share

_CAUSE = 120
"""Characters of what a server said."""

_REFUSED = frozenset({401, 403})

_PASSING = frozenset({408, 425, 429, *range(500, 600)})
"""Statuses that may be gone when asked later."""

_PASSING_KINDS = frozenset({"timeout", "connect", "not_ok", "broken_off"})


def open_calibrated(run_id: str, runs_dir: Path | None) -> SavedRun:
    """A saved run with its judge's card, which may be newer than the run.

    Raises:
        RunNotFoundError: There is no such run.
        StoreError: It cannot be read.
    """
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    saved = open_run(store, run_id)
    if saved.run.judge is not None:
        saved.run = with_cards(saved.run, saved_calibrations(store.folder))
    return saved


def open_different(run_ids: Sequence[str], runs_dir: Path | None, hint: str) -> list[SavedRun]:
    """Saved runs as `open_calibrated` opens them, each named once.

    Raises:
        ConfigError: A run is named twice.
        RunNotFoundError: There is no such run.
        StoreError: It cannot be read.
    """
    runs = [open_calibrated(run_id, runs_dir) for run_id in run_ids]
    twice, times = Counter(saved.run.id for saved in runs).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"run {twice} is named {times} times", hint)
    return runs


def never_calibrated(run: EvalRun) -> list[str]:
    """The judged metrics of a run whose judge was never calibrated by them."""
    cards = run.judge.cards if run.judge is not None else {}
    return [name for name, card in cards.items() if card is None]


def what_is_undone(saved: SavedRun) -> str:
    """What a run that is not complete lacks, and why, as far as it is known."""
    run = saved.run
    if run.completed_at is None:
        answered = [record.response is not None for record in saved.records()]
        return f"{share(sum(answered), len(answered), 'answer', 'is')} in its log, none is scored yet"
    undone = _undone_judging(run) if _lacks_only_judging(run) else _undone_asking(saved)
    return "; ".join(undone) or "it was ended early"


def _lacks_only_judging(run: EvalRun) -> bool:
    """Whether all was asked and no more failed than may, so that it is the judge who did not finish."""
    from evals.config import EvalConfig  # noqa: PLC0415 - it loads client and judges, which whole runs do not want

    default = EvalConfig.model_fields["max_error_rate"].default
    allowed = float(run.eval_config.get("max_error_rate", default)) * (run.outcomes.answered + run.error_count)
    was_judged = run.judge is not None or bool(run.outcomes.judge)
    asked_all = not run.outcomes.not_asked and not run.outcomes.stopped
    return run.status == "partial" and was_judged and asked_all and run.error_count <= allowed


def _undone_asking(saved: SavedRun) -> Iterator[str]:
    run, outcomes = saved.run, saved.run.outcomes
    if run.error_count:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in outcomes.transport.items())
        cause = None if outcomes.stopped else _main_cause(saved)
        example = f"; such as {one_line(cause.message, _CAUSE)}" if cause else ""
        unanswered = share(run.error_count, outcomes.answered + run.error_count, "question")
        yield f"{unanswered} brought no answer ({kinds}{example})"
    if outcomes.not_asked and run.server.profile == SAVED_ANSWERS:
        yield f"{share(outcomes.not_asked, run.question_count, 'question', 'has')} no saved answer"
    elif outcomes.not_asked:
        yield f"{share(outcomes.not_asked, run.question_count, 'question', 'was')} not asked"
    if outcomes.stopped:
        yield outcomes.stopped


def _undone_judging(run: EvalRun) -> Iterator[str]:
    judge = run.judge
    if judge is not None and judge.prevented:
        yield f"the judge's budget is spent: {counted(judge.prevented, 'decision', 'was')} not made"
    if judge is not None and judge.left:
        yield f"{counted(judge.left, 'request')} to the judge {agree(judge.left, 'is', 'are')} still in a batch"
    if failures := run.outcomes.judge:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in failures.items())
        yield f"{counted(sum(failures.values()), 'decision')} of the judge failed ({kinds})"


def next_command(saved: SavedRun, runs_dir: Path | None) -> str:
    """What to do about a run that is not complete; the run knows which command made it.

    Args:
        saved: The run; one that was never finished, because evals was killed, counts too.
        runs_dir: Where it is; None for the default.
    """
    run, is_saved_answers = saved.run, saved.run.server.profile == SAVED_ANSWERS
    if run.merged_from:
        partial = ", ".join(f"evals eval --resume {part.id}" for part in run.merged_from if part.status != "complete")
        return f"continue with the shards that are partial ({partial or 'none is'}), and merge again"
    lacks_judging = run.completed_at is not None and _lacks_only_judging(run)
    if lacks_judging and run.rescored_from is None and not is_saved_answers:
        return _after_judging(run, runs_dir)
    if lacks_judging or run.completed_at is None:
        return way_on_of(run, runs_dir)
    if is_saved_answers:
        return "complete the file of answers, or leave out the questions without one, and `evals score` it again"
    return _after_asking(saved, runs_dir)


def _after_asking(saved: SavedRun, runs_dir: Path | None) -> str:
    """How to come to the answers that a run lacks, by what most of its questions ended with."""
    run, cause = saved.run, _main_cause(saved)
    if cause is not None and cause.kind == "malformed":
        return _mend_the_mapping(saved, runs_dir)
    again = command(f"eval --resume {run.rescored_from or run.id}", runs_dir)
    if run.rescored_from is not None:
        return f"the saved run lacks these answers too: {again} asks anew"
    if cause is None:
        return f"continue with: {again}"
    if cause.kind in _PASSING_KINDS or cause.status in _PASSING:
        return f"when the server is well again: {again}"
    if cause.status in _REFUSED:
        return f"set or renew the token of server.headers (docs/profiles.md), then continue with: {again}"
    mend = "waiting does not help: correct server.ask (docs/profiles.md), and begin a new run"
    return f"{mend}; if the server itself is corrected, continue with: {again}"


def _mend_the_mapping(saved: SavedRun, runs_dir: Path | None) -> str:
    """What to do where answers were not found in what the server sent."""
    run = saved.run
    example = next((key for key, error in _errors(saved) if error.kind == "malformed"), "ID")
    shown = command(f"show {run.id} --question {quote(example)}", runs_dir)
    again = command(f"rescore {run.rescored_from or run.id} --remap --config FILE", runs_dir)
    mend = f"correct server.map in the configuration (docs/profiles.md), and read what came again: {again}"
    return f"see what the server sent with {shown}; {mend}"


def _after_judging(run: EvalRun, runs_dir: Path | None) -> str:
    again = command(f"eval --resume {run.id}", runs_dir)
    if run.judge is not None and run.judge.prevented:
        return f"continue with: {again} (--max-cost for more money)"
    if run.judge is not None and run.judge.left:
        return f"when the batch has ended, or to wait for it: {again}"
    return f"try again: {again}; or another judge: {command(f'rescore {run.id} --judge-model NAME', runs_dir)}"


def _errors(saved: SavedRun) -> Iterator[tuple[str, ResponseError]]:
    """The questions that had no answer, with the reason."""
    for record in saved.records():
        if record.response is not None and record.response.error is not None:
            yield record.question.id, record.response.error


def _main_cause(saved: SavedRun) -> ResponseError | None:
    """The error that most questions ended with, the first of its kind."""
    errors = [error for _, error in _errors(saved)]
    kinds = Counter((error.kind, error.status) for error in errors)
    return max(errors, key=lambda error: kinds[error.kind, error.status], default=None)
