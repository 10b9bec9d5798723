"""What a page is made of."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evals.report.blocks import Block
from evals.report.head import runs_head
from evals.report.run_blocks import RunBlocks
from evals.scoring.measured import Measured

Runs = Sequence[Measured]


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of a page.

    Attributes:
        name: What it is about.
        head: HTML that is read without JavaScript; empty for none.
        first: The data blocks that the page needs when it opens.
        later: Those that it needs when somebody looks closer: they stand at the end of the file.
    """

    name: str
    head: Callable[[Runs], Iterator[str]] = lambda _: iter(())
    first: Callable[[Runs], Iterator[Block]] = lambda _: iter(())
    later: Callable[[Runs], Iterator[Block]] = lambda _: iter(())


def _first_of_each(runs: Runs) -> Iterator[Block]:
    for run in runs:
        yield from RunBlocks(run).first()


def _details_of_each(runs: Runs) -> Iterator[Block]:
    for run in runs:
        yield from RunBlocks(run).details()


PARTS = (PagePart("run", head=runs_head, first=_first_of_each, later=_details_of_each),)
"""In the order in which they stand on the page."""
