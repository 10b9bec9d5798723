"""`evals show` and `evals runs`."""

from pathlib import Path

from rich.table import Table

from evals.cli.console import clean, console, number
from evals.cli.question import print_question
from evals.cli.report import print_findings, print_hints, print_run, print_sensitivity, print_slices, print_verification
from evals.cli.streams import print_json
from evals.config import DEFAULT_RUNS_DIR
from evals.errors import UnknownNameError
from evals.scoring import slice_by
from evals.store import RunStore


def list_runs(runs_dir: Path | None) -> None:
    """Print the saved runs, newest last."""
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    out = console()
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("id", "created", "status", "questions", "score", "datasets", "name"):
        whole = title in {"id", "status", "score"}
        table.add_column(title, no_wrap=whole, overflow="fold", min_width=8 if title == "id" else None)
    runs = store.list()
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
    out.print(table if runs else f"no saved runs in {store.folder}; `evals eval` makes one")


def _elsewhere(runs_dir: Path | None) -> str:
    return f" --runs-dir {runs_dir}" if runs_dir else ""


def show(
    run_id: str,
    *,
    failures: int,
    question: str | None,
    by: str | None,
    matching: bool,
    as_json: bool,
    runs_dir: Path | None,
) -> None:
    """Print a saved run.

    Raises:
        RunNotFoundError: There is no such run.
        UnknownNameError: The question or the key to slice by does not exist.
    """
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
            raise UnknownNameError("question", question, list(by_id)[:20])
        print_question(out, by_id[question], run)
        return
    if by is not None and not slice_by(records, by):
        keys = {"dataset"} | {key for record in records for key in record.question.metadata}
        raise UnknownNameError("key to slice by", by, keys)
    if run.completed_at is None:
        answered = sum(record.response is not None for record in records)
        out.print(f"this run did not finish: {answered} of {len(records)} answers are in its log, none is scored yet")
        out.print(f"go on with: evals eval --resume {run.id}{_elsewhere(runs_dir)}")
        return
    print_findings(out, records, run, limit=failures)
    print_verification(out, records, run)
    print_run(out, run)
    print_hints(out, run)
    if matching:
        print_sensitivity(out, records, run)
    if by is not None or len(run.datasets) > 1:
        print_slices(out, records, run, by or "dataset")
