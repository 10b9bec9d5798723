"""`SavedRun`: a saved run with its results and records, as commands and reports read it."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evals.errors import StoreError
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.config import scoring_config
from evals.scoring.outcomes import Ending, ending_of
from evals.scoring.results import Results, changed_ns, rows_by_value
from evals.scoring.settings import ScoreSettings, settings_of
from evals.store.journal import RecordLog
from evals.store.runs import Damage, RunStore, as_found, damage_of


@dataclass
class SavedRun:
    """A saved run.

    Attributes:
        run: As it was saved; partial where records were lost or changed since.
        log: Its records, each read when it is wanted.
        results: Its values by metric.
        damage: What is wrong with the records.
    """

    run: EvalRun
    log: RecordLog
    results: Results
    damage: Damage | None = None

    @cached_property
    def settings(self) -> ScoreSettings:
        """How its records were scored."""
        return settings_of(self.run)

    def record(self, row: int) -> EvalRecord:
        """Read a question with its response, results and verdicts."""
        return self.log.record(row)

    def records(self, rows: Iterable[int] | None = None) -> Iterator[EvalRecord]:
        """Read the records of these rows, or all."""
        return (self.log.record(row) for row in (range(len(self.log)) if rows is None else rows))

    def ending(self, record: EvalRecord) -> Ending:
        """How a question ended, with a sentence on it."""
        asked = record.response is not None
        return ending_of(self.settings.sample_of(record), record.scores, asked=asked)

    def rows_by(self, key: str) -> dict[str, list[int]]:
        """The rows of the questions by `dataset`, or by a key of the metadata."""
        return rows_by_value(slice_value(record, key) for record in self.records())


def slice_value(record: EvalRecord, key: str) -> Any:
    """What a question has for `dataset` or a key of its metadata; None without it."""
    return record.question.dataset if key == "dataset" else record.question.metadata.get(key)


def open_run(store: RunStore, run_id: str) -> SavedRun:
    """Open a saved run by what a user calls it.

    Raises:
        RunNotFoundError: No run is meant, or several are.
        StoreError: It cannot be read.
    """
    return open_saved(store, store.load(run_id))


def open_saved(store: RunStore, run: EvalRun) -> SavedRun:
    """Open the records and results of a run; `columns.npz` is made anew where it is missing or of other records.

    Raises:
        StoreError: The records cannot be read.
    """
    path = store.records_path(run)
    if run.record_sum is not None:
        results = Results.load(store.columns_path(run), run.record_sum, changed_ns(path))
        if results is not None and path.stat().st_size == run.record_sum.size:
            return SavedRun(run, RecordLog(path, results.ids, array("Q", results.offsets)), results)
    log = RecordLog(path)
    damage = damage_of(run, log)
    saved = SavedRun(as_found(run, damage), log, Results(scoring_config(run).cluster), damage)
    if run.completed_at is not None:
        _collect(saved, store)
    return saved


def _collect(saved: SavedRun, store: RunStore) -> None:
    """Read all records for their values, and save these where the folder can be written."""
    run, log, results = saved.run, saved.log, saved.results
    for record in saved.records():
        results.add(record.question, record.scores, saved.ending(record).code)
    results.offsets = log.offsets
    if run.record_sum is not None and saved.damage is None and log.is_compact:
        try:
            results.save(store.columns_path(run), run.record_sum, changed_ns(log.path))
        except StoreError:
            return  # a folder that is read-only, or a full disk: nothing is lost, and it is made again
