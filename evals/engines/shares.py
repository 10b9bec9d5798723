"""What each worker may do of what the run may do, and how much work it is given at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

_SECONDS_A_BATCH = 0.5
"""What a batch should take: so much is answered again where a worker or this process is killed."""
_LARGEST = 256


@dataclass(frozen=True, slots=True)
class Share:
    """What one worker may do.

    Attributes:
        concurrency: Questions in flight.
        rps: Requests that start in a second; None for no limit.
    """

    concurrency: int
    rps: float | None = None


def shares(workers: Sequence[str], concurrency: int, rps: float | None) -> dict[str, Share]:
    """Divide what the run may do among workers: the sums are those of the run.

    Args:
        workers: Their addresses. Where they are more than questions may be in flight, the last ones have no share.
        concurrency: Of the run.
        rps: Of the run; a worker has as much of it as of the concurrency.
    """
    if not workers:
        return {}
    least, more = divmod(concurrency, len(workers))
    parts = {worker: least + (place < more) for place, worker in enumerate(workers)}
    return {
        worker: Share(part, None if rps is None else rps * part / concurrency)
        for worker, part in parts.items()
        if part > 0
    }


def next_size(questions: int, seconds: float, share: Share) -> int:
    """How many questions the next batch of a worker holds, so that it takes about half a second.

    Args:
        questions: Of the batch before.
        seconds: What that took.
        share: Of the worker: with fewer questions than it may ask at a time it would idle.
    """
    wanted = int(questions * _SECONDS_A_BATCH / max(seconds, 1e-6))
    return max(share.concurrency, min(wanted, 2 * questions, _LARGEST))
