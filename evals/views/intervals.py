"""What to know of the intervals of a run that an earlier version saved."""

from evals.schemas import EvalRun
from evals.scoring.renewed_intervals import has_earlier_intervals


def interval_notes(run: EvalRun) -> list[str]:
    """A note where the intervals are by the rule of an earlier version; none where they are by today's."""
    if not has_earlier_intervals(run):
        return []
    return [f"the intervals are by the rule of an earlier version: `evals rescore {run.id}` makes them anew"]
