"""`evals show`."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from evals.cli.carded import carded
from evals.cli.flags import flag_name
from evals.cli.terminal.console import console
from evals.cli.terminal.streams import print_json
from evals.cli.undone import way_on, what_is_undone
from evals.cli.views.question import print_question
from evals.cli.views.run import (
    print_abstention,
    print_findings,
    print_hints,
    print_link,
    print_risk,
    print_run,
    print_sensitivity,
    print_stages,
    print_verification,
    print_wrong_slices,
)
from evals.cli.views.slices import print_slices, slices_as_json
from evals.errors import ConfigError, UnknownNameError
from evals.schemas import EvalRecord, EvalRun
from evals.scoring.diagnosis import Link
from evals.scoring.measured import Measured, measured
from evals.scoring.slices import value_of
from evals.store.commands import DEFAULT_RUNS_DIR, folder_of
from evals.store.record_check import is_unverified, refuse_damaged
from evals.store.record_file import RecordFile
from evals.store.runs import RunStore

_FAILURES_SHOWN = 5
_UNVERIFIED = "records unverified: this run was saved without a checksum of them"


def show(
    run_id: str,
    *,
    failures: int | None,
    question: str | None,
    by: str | None,
    matching: bool,
    failed: str | None,
    as_json: bool,
    runs_dir: Path | None,
) -> None:
    """Print a saved run.

    Raises:
        ConfigError: One flag would do nothing beside another, or a run is sliced for a program that did not finish.
        RunNotFoundError: There is no such run.
        UnknownNameError: The question, the link or the key to slice by does not exist.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was printed.
    """
    _refuse_contradictions(question=question, json=as_json, by=by, matching=matching, failures=failures, failed=failed)
    link = _link(failed)
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    run, records = carded(store, run_id)
    if as_json and by is None:
        print_json(run.model_dump_json(indent=2))
    elif question is not None:
        record = _find(run, records, question)
        print_question(console(), record, measured(run, records))
    else:
        _print_all(run, records, failures=failures, by=by, matching=matching, link=link, as_json=as_json)
    refuse_damaged(run, records)


def _print_all(
    run: EvalRun,
    records: RecordFile,
    *,
    failures: int | None,
    by: str | None,
    matching: bool,
    link: Link | None,
    as_json: bool,
) -> None:
    out, runs_dir = console(), folder_of(run)
    _check_key(run, records, by)
    seen = measured(run, records)
    if as_json and by is not None:
        _print_slices_as_json(seen, records, by, runs_dir)
    elif run.completed_at is None:
        _print_unfinished(out, run, records, runs_dir)
    elif link is not None:
        print_link(out, seen, link, limit=failures)
    else:
        _print_whole(out, seen, failures=failures, by=by, matching=matching, runs_dir=runs_dir)
        if is_unverified(run, records):
            out.print(_UNVERIFIED, style="dim", soft_wrap=True)


def _print_whole(
    out: Console, seen: Measured, *, failures: int | None, by: str | None, matching: bool, runs_dir: Path | None
) -> None:
    """Print the slices that were asked for, scorecard, failures, and what else there is to say of a finished run."""
    if by is not None:
        print_wrong_slices(out, seen, by)
        print_slices(out, seen, by, runs_dir)
    _print_scores(out, seen, by, matching=matching, runs_dir=runs_dir)
    print_findings(out, seen, limit=_FAILURES_SHOWN if failures is None else failures, runs_dir=runs_dir)
    print_verification(out, seen, runs_dir)


def _print_scores(out: Console, seen: Measured, by: str | None, *, matching: bool, runs_dir: Path | None) -> None:
    print_run(out, seen.run)
    print_abstention(out, seen)
    print_risk(out, seen)
    print_stages(out, seen)
    print_hints(out, seen.run)
    if matching:
        print_sensitivity(out, seen)
    if by is None and len(seen.run.datasets) > 1:
        print_wrong_slices(out, seen, "dataset")
        print_slices(out, seen, "dataset", runs_dir)


def _link(name: str | None) -> Link | None:
    if name is not None and name not in list(Link):
        raise UnknownNameError("link", name, [link.value for link in Link])
    return None if name is None else Link(name)


def _find(run: EvalRun, records: RecordFile, question: str) -> EvalRecord:
    number = records.number_of(question)
    if number is None:
        refuse_damaged(run, records)
        raise UnknownNameError("question", question, records.ids)
    return records[number]


def _check_key(run: EvalRun, records: RecordFile, key: str | None) -> None:
    if key is not None and all(value_of(record.question, key) is None for record in records):
        refuse_damaged(run, records)
        known = {name for record in records for name in record.question.metadata}
        raise UnknownNameError("key to slice by", key, {"dataset"} | known)


def _print_slices_as_json(seen: Measured, records: Sequence[EvalRecord], by: str, runs_dir: Path | None) -> None:
    run = seen.run
    if run.completed_at is None:
        raise ConfigError(f"run {run.id} did not finish: none of it is scored yet", way_on(run, records, runs_dir))
    print_json(slices_as_json(seen, by))


def _print_unfinished(out: Console, run: EvalRun, records: Sequence[EvalRecord], runs_dir: Path | None) -> None:
    out.print(f"this run did not finish: {what_is_undone(run, records)}")
    out.print(way_on(run, records, runs_dir), soft_wrap=True)


def _refuse_contradictions(**flags: object) -> None:
    """Refuse flags of which one would silently win over the others."""
    given = [name for name, value in flags.items() if value not in (None, False)]
    for alone in ("question", "json"):
        others = [flag_name(name) for name in given if name != alone and {name, alone} != {"by", "json"}]
        if alone in given and others:
            raise ConfigError(f"{flag_name(alone)} and {others[0]} exclude each other")
