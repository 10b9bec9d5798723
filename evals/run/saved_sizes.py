"""What calls of saved runs took, for estimating what the same judge will take again."""

from evals.judges.backends.base import Identity
from evals.schemas.verdicts import CallSizes
from evals.store.runs import RunStore

_LOOKED_AT = 30
"""The newest runs; an older judge's sizes say less of today's, and a folder of many runs takes long to read."""


def saved_sizes(store: RunStore, judge: Identity) -> dict[str, CallSizes]:
    """Sizes of the calls of the newest runs by the same model with the same effort, by the name of the request.

    Each is of the newest run that made such calls; where the judge is reached does not matter.
    """
    found: dict[str, CallSizes] = {}
    for run in store.newest(_LOOKED_AT):
        if run.judge is not None and (run.judge.model, run.judge.effort) == (judge.model, judge.effort):
            found = {**run.judge.sizes, **found}
    return found
