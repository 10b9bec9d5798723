"""What a page is made of."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from evals.report.blocks import Block
from evals.report.head import runs_head
from evals.report.run_blocks import RunBlocks
from evals.report.several import Several
from evals.scoring.measured import Measured

Runs = Sequence[Measured]


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of a page, of the runs that it was made for.

    Attributes:
        name: What it is about.
        head: HTML that is read without JavaScript; nothing for none.
        first: The data blocks that the page needs when it opens.
        later: Those that it needs when somebody looks closer: they stand at the end of the file.
    """

    name: str
    head: Callable[[], Iterator[str]] = lambda: iter(())
    first: Callable[[], Iterator[Block]] = lambda: iter(())
    later: Callable[[], Iterator[Block]] = lambda: iter(())


def _each_run(runs: Runs) -> PagePart:
    made = [RunBlocks(run) for run in runs]
    return PagePart(
        "run",
        head=lambda: runs_head(runs),
        first=lambda: chain.from_iterable(run.first() for run in made),
        later=lambda: chain.from_iterable(run.details() for run in made),
    )


def _several(runs: Runs) -> PagePart:
    several = Several(runs)
    return PagePart("several", head=several.head, first=several.blocks)


PARTS: tuple[Callable[[Runs], PagePart], ...] = (_several, _each_run)
"""In the order in which they stand on the page: what makes each of them, of the runs of the page."""
