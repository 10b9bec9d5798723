"""Saved runs: files, the journal of a run in progress, and lookup by id or name."""
