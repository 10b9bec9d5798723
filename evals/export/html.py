"""`html`: one page that holds all it needs, as `evals report` writes it of several runs too."""

from collections.abc import Iterator

from evals.report import report_pieces
from evals.scoring.measured import Measured


def to_html(measured: Measured) -> Iterator[str | bytes]:
    """The page of one run."""
    yield from report_pieces([measured])
