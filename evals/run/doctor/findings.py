"""What an examination finds of one part."""

from dataclasses import dataclass
from enum import StrEnum

from evals.errors import EvalsError


class Health(StrEnum):
    """How a part is."""

    WELL = "well"
    DOUBTFUL = "doubtful"
    """A run works, and measures less than it could."""
    BROKEN = "broken"
    """A run would end."""
    UNSEEN = "unseen"
    """It was not looked at, as a part that it needs is broken, or it is not wanted."""


@dataclass(frozen=True, slots=True)
class Examined:
    """One part, and how it is.

    Attributes:
        part: Such as "server".
        health: How it is.
        said: What was seen.
        hint: What to do, where there is something.
        exit_code: Of the command that would end for it; 0 where none would.
    """

    part: str
    health: Health
    said: str
    hint: str | None = None
    exit_code: int = 0


def broken(part: str, error: EvalsError) -> Examined:
    """The finding that an error stands for."""
    return Examined(part, Health.BROKEN, error.message, error.hint, error.exit_code)
