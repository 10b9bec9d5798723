"""What load does to a server: times, errors and quality at each level of it."""

from evals.schemas.base import Finite, Record

Percentiles = dict[str, Finite]
"""Milliseconds by name: p50, p95, p99."""


class LevelValue(Record):
    """One metric at one level."""

    name: str
    value: Finite
    ci: tuple[Finite, Finite] | None = None
    n: int


class LoadLevel(Record):
    """The questions that were asked at one level of load."""

    concurrency: int
    """Questions in flight, at most."""
    rps: Finite | None = None
    """How many were meant to be sent in a second; None where the next was sent as soon as there was room."""
    questions: int
    answered: int
    errors: dict[str, int] = {}
    """By kind."""
    seconds: Finite | None = None
    """How long asking took; None where the level was not asked in one go."""
    throughput: Finite | None = None
    """Answers in a second."""
    latency_ms: Percentiles = {}
    """From sending a request to the end of its answer."""
    total_ms: Percentiles = {}
    """From when the question was meant to be sent, with retries and all waiting: no coordinated omission."""
    time_to_first_token_ms: Percentiles = {}
    """Empty where answers do not come as a stream."""
    metrics: list[LevelValue] = []
    """Quality, of the questions of this level."""
