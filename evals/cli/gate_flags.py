"""The flags of `gate`. Nothing heavy is imported here, as `--help` needs it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from typer import Option

from evals.cli.ci.flags import CiFlags
from evals.cli.flags import AllowUncalibrated, Lenient, RunsDir


@dataclass(init=False, eq=False, repr=False)
class ConditionFlags:
    """What a run must meet."""

    panel: ClassVar[str] = "Gates"
    gate: Annotated[
        list[str] | None, Option(help="Condition: 'mrr>=0.8' or 'mrr@low>=0.8'; repeatable (those of the run)")
    ] = None
    baseline: Annotated[str | None, Option(help="Run that this one must not be worse than")] = None
    baseline_dir: Annotated[
        Path | None, Option(help="The same, the newest complete run of a folder; it may be empty")
    ] = None
    margin: Annotated[float | None, Option(help="By how much it may be worse (0.03)")] = None
    metrics: Annotated[
        str | None, Option(help="What must not be worse, with commas (metrics of --gate, else score)")
    ] = None
    lenient: Lenient = False
    allow_uncalibrated: AllowUncalibrated = False
    as_json: Annotated[bool, Option("--json", help="Print the outcomes as JSON and nothing else")] = False
    runs_dir: RunsDir = None


# The fields of the last base come first.
@dataclass(eq=False, repr=False)
class GateFlags(CiFlags, ConditionFlags):
    """The flags of `gate`."""
