"""What asking every question several times says: how stable answers and metrics are."""

from evals.schemas.base import Finite, Record


class RepeatedMetric(Record):
    """One metric over questions that were asked several times."""

    name: str
    questions: int
    """Questions with at least two values."""
    within_variance: Finite | None = None
    """Of the values of one question around their mean: what asking again changes."""
    between_variance: Finite | None = None
    """Of the questions' true means: what another question changes. An estimate below 0 counts as 0."""
    reliability: Finite | None = None
    """between / (between + within), from 0 to 1: how far one answer tells of its question."""
    reason: str | None = None
    """Why there is no reliability, and no variance where that is None as well."""
    pass_hat: list[Finite] = []
    """pass^1 … pass^k: that so many answers to a question all have the best value. Empty without such a value."""
    pass_all_ci: tuple[Finite, Finite] | None = None
    """The interval of the last of them, over questions or their clusters."""


class RepeatSummary(Record):
    """A run that asked every question several times."""

    repeats: int
    questions: int
    """How many there are, each counted once."""
    compared: int
    """Questions with at least two answers."""
    same_answers: Finite | None = None
    """The share of these whose answers are all the same, but for case, blanks and punctuation."""
    agreement: Finite | None = None
    """The share of pairs of answers to one question that are the same, as a mean over questions."""
    agreement_ci: tuple[Finite, Finite] | None = None
    metrics: list[RepeatedMetric] = []
