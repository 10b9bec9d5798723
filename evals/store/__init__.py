"""Saved runs: their files, the log that is written while they run, and the commands that lead to them."""

from evals.store.runs import Journal, RunStore, SavedRuns, read_records, write_atomically, write_output

__all__ = ["Journal", "RunStore", "SavedRuns", "read_records", "write_atomically", "write_output"]
