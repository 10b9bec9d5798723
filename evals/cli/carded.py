"""Saved runs as commands read them: with what calibrations say of their judges today."""

from evals.schemas import EvalRun
from evals.scoring.calibration.corrections import with_cards
from evals.store.calibrations import saved_calibrations
from evals.store.record_check import as_found
from evals.store.record_file import RecordFile
from evals.store.runs import RunStore


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
