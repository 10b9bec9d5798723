"""How a command ended that CI runs: what its reports are made of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from evals.compare import Comparison, SavedRun
from evals.metrics.registry import known_metric
from evals.schemas import EvalRun, GateOutcome
from evals.scoring.measured import Measured
from evals.scoring.seen import SCORE

_NAME = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class CommandProblem:
    """What a command ended by.

    Attributes:
        kind: The name of the error.
        message: One sentence.
        hint: The way out.
        of_gates: Whether it is that gates are not met, each of which is told by itself.
    """

    kind: str
    message: str
    hint: str | None = None
    of_gates: bool = False


@dataclass(frozen=True)
class Checked:
    """A run with the gates that it was held to."""

    measured: Measured
    gates: Sequence[GateOutcome] = ()

    @property
    def run(self) -> EvalRun:
        """The run."""
        return self.measured.run


@dataclass(frozen=True)
class Beside:
    """Runs beside their baseline.

    Attributes:
        comparison: What came out.
        saved: The runs with their records, the baseline first.
    """

    comparison: Comparison
    saved: Sequence[SavedRun]


@dataclass(frozen=True)
class CommandEnd:
    """What a command found, and how it ended.

    Attributes:
        runs: Those that it made or checked; none where it ended before there was one.
        beside: How they compare with a baseline; None where they were not held against one.
        remarks: What a reader must know beside: that there is no baseline yet, for example.
        problem: What it ended by; None where it ended well.
        lenient: Whether a gate for which there is not enough evidence is no fault.
        made: Whether the runs were made by this command, so that nobody has told of them before.
    """

    runs: Sequence[Checked] = ()
    beside: Beside | None = None
    remarks: Sequence[str] = ()
    problem: CommandProblem | None = None
    lenient: bool = False
    made: bool = True

    def failing(self) -> list[GateOutcome]:
        """The gates that the command fails by, of all runs."""
        outcomes = chain.from_iterable(each.gates for each in self.runs)
        return [each for each in outcomes if fails(each, lenient=self.lenient)]


def fails(outcome: GateOutcome, *, lenient: bool) -> bool:
    """Whether a gate that ended so is a fault."""
    return outcome.outcome == "not met" or (outcome.outcome == "not enough evidence" and not lenient)


def group_of(gate: str, run: EvalRun) -> str:
    """The group of the metric that a condition is on; "score" of the weighted score, "other" of what nobody knows.

    Args:
        gate: As `GateOutcome.gate` has it: the metric stands first.
        run: The run that is held to it.
    """
    name = _NAME.match(gate)[0]  # type: ignore[index]  # it always matches
    if name == SCORE:
        return SCORE
    summary, metric = run.scorecard.find(name), known_metric(name)
    if summary is not None:
        return summary.group.value
    return "other" if metric is None else metric.group.value
