"""The data blocks of one run."""

from collections.abc import Iterator
from functools import cached_property

from evals.case.matching.words import words_of
from evals.errors import UnknownNameError
from evals.report.blocks import Block
from evals.report.detail import detail_of
from evals.report.overview import overview_of
from evals.report.questions import questions_of_run
from evals.scoring.digest.broken_links import BrokenLink
from evals.scoring.measured import Measured
from evals.text.folding import bag, padded, tokens

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
