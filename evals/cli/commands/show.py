"""`evals show` and `evals runs`."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evals.cli.flags import flag_name
from evals.cli.outcome import way_on
from evals.cli.terminal.console import clean, console
from evals.cli.terminal.streams import print_json
from evals.cli.views.question import print_question
from evals.cli.views.run import print_findings, print_hints, print_run, print_sensitivity, print_verification
from evals.cli.views.slices import print_slices
from evals.config import DEFAULT_RUNS_DIR
from evals.errors import ConfigError, UnknownNameError
from evals.schemas import EvalRecord, EvalRun
from evals.scoring.scorecard import slice_by
from evals.store.runs import RunStore
from evals.views.formatting import number

_FAILURES_SHOWN = 5


def list_runs(runs_dir: Path | None) -> None:
    """Print the saved runs, newest last, then what cannot be read."""
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    out = console()
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("id", "created", "status", "questions", "score", "datasets", "name"):
        whole = title in {"id", "status", "score"}
        table.add_column(title, no_wrap=whole, overflow="fold", min_width=8 if title == "id" else None)
    runs, unreadable = store.survey()
    for run in runs:
        table.add_row(
            run.id,
            f"{run.created_at:%Y-%m-%d %H:%M}",
            run.status if run.completed_at else "unfinished",
            f"{run.question_count}{f' ({run.error_count} failed)' if run.error_count else ''}",
            number(run.weighted_score.score, "ratio"),
            clean(",".join(run.datasets), 40),
            clean(run.name, 60),
        )
    if runs or not unreadable:
        out.print(table if runs else f"no saved runs in {store.folder}; `evals eval` makes one")
    for error in unreadable:
        way_out = f" ({error.hint})" if error.hint else ""
        out.print(clean(f"not listed: {error.message}{way_out}"), style="yellow", soft_wrap=True)


def show(
    run_id: str,
    *,
    failures: int | None,
    question: str | None,
    by: str | None,
    matching: bool,
    as_json: bool,
    runs_dir: Path | None,
) -> None:
    """Print a saved run.

    Raises:
        ConfigError: One flag would do nothing beside another.
        RunNotFoundError: There is no such run.
        UnknownNameError: The question or the key to slice by does not exist.
    """
    _refuse_contradictions(question=question, json=as_json, by=by, matching=matching, failures=failures)
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    run = store.load(run_id)
    if as_json:
        print_json(run.model_dump_json(indent=2))
        return
    out = console()
    records = store.records(run)
    if question is not None:
        by_id = {record.question.id: record for record in records}
        if question not in by_id:
            raise UnknownNameError("question", question, by_id)
        print_question(out, by_id[question], run, records)
        return
    if by is not None and not slice_by(records, by):
        keys = {"dataset"} | {key for record in records for key in record.question.metadata}
        raise UnknownNameError("key to slice by", by, keys)
    if run.completed_at is None:
        _print_unfinished(out, run, records, runs_dir)
        return
    print_findings(out, records, run, limit=_FAILURES_SHOWN if failures is None else failures, runs_dir=runs_dir)
    print_verification(out, records, run, runs_dir)
    print_run(out, run)
    print_hints(out, run)
    if matching:
        print_sensitivity(out, records, run)
    if by is not None or len(run.datasets) > 1:
        print_slices(out, records, run, by or "dataset", runs_dir)


def _print_unfinished(out: Console, run: EvalRun, records: Sequence[EvalRecord], runs_dir: Path | None) -> None:
    answered = sum(record.response is not None for record in records)
    out.print(f"this run did not finish: {answered} of {len(records)} answers are in its log, none is scored yet")
    out.print(way_on(run, records, runs_dir), soft_wrap=True)


def _refuse_contradictions(**flags: object) -> None:
    """Refuse flags of which one would silently win over the others."""
    given = [name for name, value in flags.items() if value not in (None, False)]
    for alone in ("question", "json"):
        others = [flag_name(name) for name in given if name != alone]
        if alone in given and others:
            raise ConfigError(f"{flag_name(alone)} and {others[0]} exclude each other")
