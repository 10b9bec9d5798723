"""The flags of commands that leave reports for CI. Nothing heavy is imported here, as `--help` needs it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from typer import Option

Comment = Annotated[Path | None, Option(help="Markdown for a pull request, however it ends")]
NoCi = Annotated[bool, Option("--no-ci", help="No summary and no annotations in GitHub Actions")]


@dataclass(eq=False, repr=False)
class CiFlags:
    """What is left for a continuous integration, and what it fails by."""

    panel: ClassVar[str] = "CI"
    junit: Annotated[Path | None, Option(help="JUnit report of gates and failed questions, however it ends")] = None
    comment: Comment = None
    no_fail: Annotated[bool, Option("--no-fail", help="Exit 0 where a gate is not met; it is said all the same")] = (
        False
    )
    no_ci: NoCi = False


@dataclass(eq=False, repr=False)
class ReportFlags(CiFlags):
    """The same, of a command without a panel for each part."""
