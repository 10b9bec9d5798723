"""When two runs say anything about which of their servers is faster."""

from collections.abc import Sequence

from evals.schemas import EvalRun

NOT_IN_TURN = "the runs were not asked in turn, and nobody knows what else changed between them"
_CONCURRENCY = "the runs had different concurrency"


def same_load(runs: Sequence[EvalRun]) -> bool:
    """Whether all runs asked at the same concurrency throughout."""
    return len({run.concurrency for run in runs}) == 1 and not any(run.concurrencies for run in runs)


def why_no_latency(runs: Sequence[EvalRun]) -> str | None:
    """Why nobody can say that the answers of one of these runs come faster; None where one can.

    Between one hour and another a server, a network and a machine change, and no number of questions asked in one hour
    shows by how much. Runs that were asked in turn share their hours.
    """
    if not same_load(runs):
        return _CONCURRENCY
    ids = {run.id for run in runs}
    in_turn = all(ids <= {run.id, *run.interleaved_with} for run in runs)
    return None if in_turn else NOT_IN_TURN
