"""`evals doctor`."""

import asyncio
import json
from dataclasses import asdict
from textwrap import fill

import typer

from evals.cli.ending import observer_for
from evals.cli.flags import EvalFlags
from evals.cli.overrides import config_layers
from evals.cli.terminal.console import BAD, DOUBTFUL, GOOD, console
from evals.config import EvalConfig
from evals.errors import EvalsError, RunInterruptedError
from evals.run.doctor import Examined, Health, examine
from evals.run.doctor.findings import broken

_MARKS = {Health.WELL: "✓", Health.DOUBTFUL: "!", Health.BROKEN: "✗", Health.UNSEEN: "·"}
_STYLES = {Health.WELL: GOOD, Health.DOUBTFUL: DOUBTFUL, Health.BROKEN: BAD, Health.UNSEEN: "dim"}
_WIDTH = max(map(len, ("configuration", "datasets"))) + 1


def doctor(flags: EvalFlags) -> int:
    """Look at every part that a run needs, and say what to do about what is wrong.

    Returns:
        The exit code of the first part by which a run would end; 0 where none is.
    """
    try:
        config = EvalConfig.build(*config_layers(flags))
    except EvalsError as error:
        found = [broken("configuration", error)]
        _tell(found[0], as_json=flags.as_json)
    else:
        try:
            found = asyncio.run(
                examine(config, observer_for(as_json=True), lambda finding: _tell(finding, as_json=flags.as_json))
            )
        except KeyboardInterrupt as error:
            raise RunInterruptedError("interrupted; nothing was changed") from error
    if flags.as_json:
        typer.echo(json.dumps([asdict(finding) for finding in found], indent=2))
    return next((finding.exit_code for finding in found if finding.exit_code), 0)


def _tell(finding: Examined, *, as_json: bool) -> None:
    if as_json:
        return
    out = console()
    mark = f"{_MARKS[finding.health]} {finding.part:<{_WIDTH}}"
    out.print(mark, style=_STYLES[finding.health], end="")
    indent = " " * (_WIDTH + 2)
    width = max(60, out.width)
    out.print(fill(finding.said, width, initial_indent=indent, subsequent_indent=indent).lstrip(), soft_wrap=True)
    if finding.hint:
        out.print(fill(finding.hint, width, initial_indent=indent, subsequent_indent=indent), soft_wrap=True)
