"""Compute results from records: scorecard, weighted score, outcomes, gates and diagnosis."""
