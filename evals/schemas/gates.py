"""How a condition on a run ended."""

from typing import Literal

from evals.schemas.base import Finite, Record

GateResult = Literal["met", "not met", "not enough evidence"]


class GateOutcome(Record):
    """How one gate ended."""

    gate: str
    """As it was written: `recall_at_5>=0.8`."""
    outcome: GateResult
    message: str
    """The figures behind it, or the reason, in words."""
    value: Finite | None = None
    """The metric's value, or its difference from the baseline."""
    ci: tuple[Finite, Finite] | None = None
    """Of the value; where the gate is on an end of it."""
    n: int | None = None
    """Over how many questions; None for the weighted score."""
    more_questions: int | None = None
    """Where there is not enough evidence: about how many more questions settle it if the value stays as it is; None
    where no number does, or nobody knows."""
