"""One run beside others, over objectives."""

from evals.schemas.base import Finite, Record


class ParetoPoint(Record):
    """One run in the space of objectives."""

    run_id: str
    name: str
    objectives: dict[str, Finite]
    dominated_by: list[str] = []
    """Runs that are better on some objective beyond chance, and worse on none."""
    dominated_by_values: list[str] = []
    """Runs whose values are better on some objective, and worse on none."""

    @property
    def on_front(self) -> bool:
        """Whether no other run dominates this one."""
        return not self.dominated_by
