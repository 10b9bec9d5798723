"""Saved runs: files, the log of a run in progress, and lookup by id or name."""

from evals.store.atomic import write_atomically, write_output
from evals.store.journal import Journal
from evals.store.records import read_records
from evals.store.runs import RunStore, SavedRuns

__all__ = ["Journal", "RunStore", "SavedRuns", "read_records", "write_atomically", "write_output"]
