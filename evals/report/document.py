"""The page as one file."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain
from pathlib import Path
from string import Template

from evals import __version__
from evals.errors import ConfigError, UnknownNameError
from evals.report.overview import overview_of, runs_head
from evals.report.page import Block, as_element, asset, libraries, packed, plot_style, policy, script, style
from evals.report.questions import detail_of, questions_of_run
from evals.report.runs import Several
from evals.report.wording import one_line
from evals.scoring.conclusion import Measured
from evals.scoring.digest import BrokenLink
from evals.store.atomic import write_output
from evals.text.folding import bag, padded, tokens
from evals.text.matching.words import words_of

# Saved runs as one HTML page that holds all it needs: numbers, charts, questions, and nothing from a network.


__all__ = ["Block", "RunBlocks", "Several", "packed", "report_pieces", "write_report"]


# The data blocks of one run.


DETAILS = 100
"""Questions whose details stand in one block."""


class RunBlocks:
    """The data blocks of a run, each made when it is asked for.

    Their names begin with the id of the run: `ID/overview` has what is said of the run, `ID/questions` a column for
    each thing that is said of all questions, and `ID/details/N` all that is known of 100 questions.

    Args:
        run: The run with its records, which are read one at a time.
    """

    def __init__(self, run: Measured) -> None:
        self._run = run
        self._id = run.run.id

    @property
    def names(self) -> list[str]:
        """The names of all blocks."""
        return [f"{self._id}/overview", f"{self._id}/questions", *(self._detail_name(n) for n in range(self._blocks))]

    def get(self, name: str) -> Block:
        """A block.

        Raises:
            UnknownNameError: The run has no block of this name.
        """
        if name not in self.names:
            raise UnknownNameError("data block", name, self.names)
        kind, _, number = name.removeprefix(f"{self._id}/").partition("/")
        if kind == "overview":
            return Block(name, overview_of(self._run))
        if kind == "questions":
            return Block(name, questions_of_run(self._run, DETAILS))
        return self._detail(int(number))

    def first(self) -> Iterator[Block]:
        """What a page needs when it opens."""
        return (self.get(name) for name in self.names[:2])

    def details(self) -> Iterator[Block]:
        """What a page needs when a question is opened, block by block."""
        return (self._detail(number) for number in range(self._blocks))

    @property
    def _blocks(self) -> int:
        return -(-len(self._run.source) // DETAILS)

    def _detail_name(self, number: int) -> str:
        return f"{self._id}/details/{number}"

    def _detail(self, number: int) -> Block:
        first = number * DETAILS
        places = range(first, min(first + DETAILS, len(self._run.source)))
        told = [detail_of(self._run.source[place], self._run, self._broken.get(place)) for place in places]
        _forget_texts()
        return Block(self._detail_name(number), told)

    @cached_property
    def _broken(self) -> dict[int, BrokenLink]:
        """The first broken link by the number of the question."""
        return {} if self._run.run.is_unscored else {one.number: one for one in self._run.digest.found}


def _forget_texts() -> None:
    """Of texts that passed by, nothing is asked again."""
    for derived in (words_of, tokens, padded, bag):
        derived.clear()


# What a page is made of.


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
