"""What there is of a run that was never finished."""

from collections.abc import Sequence

from evals.schemas import EvalRecord
from evals.text.counts import share


def in_its_log(records: Sequence[EvalRecord]) -> str:
    """How many answers are there: `2 of 4 answers are in its log, none is scored yet`."""
    answered = sum(record.response is not None for record in records)
    return f"{share(answered, len(records), 'answer', 'is')} in its log, none is scored yet"
