"""Saved runs as commands read them: with today's calibrations, and the next command where they are not complete."""

from collections import Counter
from collections.abc import Mapping, Sequence
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
from evals.text.numbers import counted, share

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
    run, outcomes, judge = saved.run, saved.run.outcomes, saved.run.judge
    if run.completed_at is None:
        answered = [record.response is not None for record in saved.records()]
        return f"{share(sum(answered), len(answered), 'answer', 'is')} in its log, none is scored yet"
    undone = []
    if run.error_count:
        _, cause = ("", None) if outcomes.stopped else _main_cause(saved)
        example = f"; such as {one_line(cause.message, _CAUSE)}" if cause else ""
        unanswered = share(run.error_count, outcomes.answered + run.error_count, "question")
        undone.append(f"{unanswered} brought no answer ({_by_kind(outcomes.transport)}{example})")
    if outcomes.not_asked:
        verb, lack = ("has", "no saved answer") if run.server.profile == SAVED_ANSWERS else ("was", "not asked")
        undone.append(f"{share(outcomes.not_asked, run.question_count, 'question', verb)} {lack}")
    undone += [outcomes.stopped] if outcomes.stopped else []
    if judge is not None and judge.prevented:
        undone.append(f"the judge's budget is spent: {counted(judge.prevented, 'decision', 'was')} not made")
    if judge is not None and judge.left:
        undone.append(f"{counted(judge.left, 'request', 'is')} to the judge still in a batch")
    if outcomes.judge:
        failed = counted(sum(outcomes.judge.values()), "decision")
        undone.append(f"{failed} of the judge failed ({_by_kind(outcomes.judge)})")
    return "; ".join(undone) or "it was ended early"


def _by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind}: {count}" for kind, count in counts.items())


def next_command(saved: SavedRun, runs_dir: Path | None) -> str:
    """What to do about a run that is not complete; the run knows which command made it.

    Args:
        saved: The run; one that was never finished, because evals was killed, counts too.
        runs_dir: Where it is; None for the default.
    """
    run, outcomes, judge = saved.run, saved.run.outcomes, saved.run.judge
    again = command(f"eval --resume {run.rescored_from or run.id}", runs_dir)
    is_scored = run.server.profile == SAVED_ANSWERS
    lost = bool(outcomes.judge or (judge and (judge.prevented or judge.left)))
    lacks_judging = lost and not (outcomes.not_asked or outcomes.stopped)
    if run.merged_from:
        partial = ", ".join(f"evals eval --resume {part.id}" for part in run.merged_from if part.status != "complete")
        return f"continue with the shards that are partial ({partial or 'none is'}), and merge again"
    if run.interleaved_with:
        return f"continue with all variants: {again}"
    if run.completed_at is None or (lacks_judging and (is_scored or run.rescored_from)):
        return way_on_of(run, runs_dir)
    if is_scored:
        return "complete the file of answers, or leave out the questions without one, and `evals score` it again"
    if judge is None or not lacks_judging:
        return _after_asking(saved, again, runs_dir)
    if judge.prevented:
        return f"continue with: {again} (--max-cost for more money)"
    if judge.left:
        return f"when the batch has ended, or to wait for it: {again}"
    return f"try again: {again}; or another judge: {command(f'rescore {run.id} --judge-model NAME', runs_dir)}"


def _after_asking(saved: SavedRun, again: str, runs_dir: Path | None) -> str:
    """How to come to the answers that a run lacks, by what most of its questions ended with."""
    run, (question_id, cause) = saved.run, _main_cause(saved)
    if cause is not None and cause.kind == "malformed":
        shown = command(f"show {run.id} --question {quote(question_id)}", runs_dir)
        remap = command(f"rescore {run.rescored_from or run.id} --remap --config FILE", runs_dir)
        return f"see what the server sent with {shown}; correct server.map (docs/profiles.md), then {remap}"
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


def _main_cause(saved: SavedRun) -> tuple[str, ResponseError | None]:
    """The error that most questions ended with, and the first of these questions."""
    responses = ((record.question.id, record.response) for record in saved.records())
    errors = [(key, response.error) for key, response in responses if response is not None and response.error]
    kinds = Counter((error.kind, error.status) for _, error in errors)
    return max(errors, key=lambda failed: kinds[failed[1].kind, failed[1].status], default=("", None))
