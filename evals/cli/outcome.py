"""How a command that made a run ends: one rule for all of them."""

from collections.abc import Sequence

from evals.errors import GateFailedError, RunIncompleteError
from evals.gates import failed_gates
from evals.judging import NOTE
from evals.schemas import EvalRun


def raise_for(run: EvalRun, gates: Sequence[str], *, why: str, hint: str) -> None:
    """End with an error where the run is not complete or a gate is not met.

    Args:
        run: As it was saved.
        gates: The conditions on its metrics.
        why: What to say of a run that is not complete, behind its status.
        hint: The way out of that.

    Raises:
        RunIncompleteError: The run is partial or failed; its metrics are not looked at then.
        GateFailedError: A condition is not met.
    """
    if run.status != "complete":
        raise RunIncompleteError(f"the run is {run.status}: {why}", hint)
    problems = failed_gates(run, gates)
    if problems:
        raise GateFailedError(f"gate failed: {'; '.join(problems)}")


def only_judging_is_undone(run: EvalRun) -> bool:
    """Whether every question has its answer, so that it is the judge who did not finish."""
    return run.status != "complete" and not run.error_count and not run.outcomes.not_asked


def what_is_undone(run: EvalRun) -> str:
    """What a run that is not complete lacks, and why."""
    kinds = ", ".join(f"{kind}: {count}" for kind, count in run.outcomes.transport.items())
    reason = kinds or "; ".join(run.notes) or "interrupted"
    if only_judging_is_undone(run):
        return "; ".join(note for note in run.notes if note.startswith(NOTE)) or reason
    asked = run.outcomes.answered + run.error_count
    not_asked = f", {run.outcomes.not_asked} were not asked" if run.outcomes.not_asked else ""
    return f"{run.error_count} of {asked} questions brought no answer{not_asked} ({reason})"
