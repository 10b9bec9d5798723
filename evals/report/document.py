"""The page as one file."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain
from pathlib import Path
from string import Template

from evals.errors import ConfigError
from evals.report.assets import asset, libraries, plot_style, script, style
from evals.report.blocks import Block, as_element
from evals.report.parts import PARTS, Runs
from evals.report.policy import policy
from evals.scoring.measured import Measured
from evals.store.atomic import write_output
from evals.version import __version__
from evals.views.formatting import one_line

_TITLE = 120


def write_report(path: Path, runs: Sequence[Measured]) -> None:
    """Write the page of some runs, whole or not at all; of their records, one block is held at a time.

    Args:
        path: The file.
        runs: One or more, in the order in which they are shown.

    Raises:
        ConfigError: There is no run, or one of them comes twice.
        StoreError: The file cannot be written, or the records of a run cannot be read.
    """
    write_output(path, (piece.encode(errors="replace") for piece in report_pieces(runs)))


def report_pieces(runs: Sequence[Measured]) -> Iterator[str]:
    """The same piece by piece.

    Raises:
        ConfigError: There is no run, or one of them comes twice.
    """
    _check(runs)
    return _pieces(runs)


def manifest(runs: Runs) -> Block:
    """The block by which the browser knows what the page is about."""
    told = [
        {
            "id": each.run.id,
            "name": one_line(each.run.name, _TITLE),
            "created": each.run.created_at.isoformat(),
            "status": each.run.status,
        }
        for each in runs
    ]
    return Block("report", {"version": __version__, "runs": told})


def _check(runs: Runs) -> None:
    ids = [each.run.id for each in runs]
    if not ids:
        raise ConfigError("a report needs a run", "`evals runs` lists them")
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise ConfigError(f"run {twice} is named twice", "name each run once")


def _pieces(runs: Runs) -> Iterator[str]:
    """The page: first what can be read at once, then what is needed to open it, then the details of questions."""
    title = escape(f"{', '.join(one_line(each.run.name, _TITLE) for each in runs)} – evals")
    scripts = [f"\n{text}\n" for text in (*libraries(), script())]
    styles = f"\n{style()}\n"
    parts = [make(runs) for make in PARTS]
    before, after = asset("shell.html").split("<!-- head -->\n")
    allowed = policy(scripts, [styles, plot_style()])
    yield Template(before).substitute(policy=escape(allowed), title=title, style=styles)
    for part in parts:
        yield from part.head()
    yield after
    for block in chain([manifest(runs)], *(part.first() for part in parts)):
        yield as_element(block)
    for text in scripts:
        yield f"<script>{text}</script>\n"
    for part in parts:
        yield from map(as_element, part.later())
    yield "</body>\n</html>\n"
