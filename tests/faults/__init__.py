"""What a server can do wrong, as data: one table of faults, what each sends, and what is to become of the question."""

from faults.bodies import BODIES
from faults.fault import HIT, QUESTIONS, Fault
from faults.values import VALUES
from faults.wire import WIRE

FAULTS: tuple[Fault, ...] = (*WIRE, *BODIES, *VALUES)
"""All of them, in the order of their groups."""

__all__ = ["FAULTS", "HIT", "QUESTIONS", "Fault"]
