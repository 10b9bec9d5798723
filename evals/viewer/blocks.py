"""The data blocks of a page of runs, each made when the browser asks for it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from evals.errors import ConfigError, UnknownNameError
from evals.report.blocks import Block, packed
from evals.report.document import manifest
from evals.report.parts import PARTS
from evals.report.run_blocks import RunBlocks
from evals.scoring.measured import Measured
from evals.viewer.folder import HeldRun

_MOST_RUNS = 20


def checked_ids(text: str) -> list[str]:
    """The ids of the runs of a page, as they stand in its address.

    Raises:
        ConfigError: They are too many, or one of them comes twice.
    """
    ids = text.split(",")
    if len(ids) > _MOST_RUNS or len(set(ids)) < len(ids):
        raise ConfigError(f"a page shows up to {_MOST_RUNS} runs, each once")
    return ids


def block_of(runs: Sequence[HeldRun], name: str) -> bytes:
    """A block of the page of these runs, as gzip of JSON.

    Raises:
        UnknownNameError: The page has no block of this name.
        StoreError: The records of a run cannot be read.
    """
    with ExitStack() as locks:
        # In one order, so that two pages with the same runs never wait for each other.
        for run in sorted(runs, key=lambda one: one.measured.run.id):
            locks.enter_context(run.lock)
        return packed(_find([run.measured for run in runs], name))


def _find(runs: Sequence[Measured], name: str) -> Block:
    owner = next((run for run in runs if name.startswith(f"{run.run.id}/")), None)
    if owner is not None and name in (own := RunBlocks(owner)).names:
        return own.get(name)
    found = next((block for block in _of_all(runs) if block.name == name), None)
    if found is None:
        raise UnknownNameError("data block", name, [])
    return found


def _of_all(runs: Sequence[Measured]) -> Iterator[Block]:
    """What is said of the runs together: they are few, and made one after the other until the one that is wanted."""
    yield manifest(runs)
    for part in PARTS:
        if part.name != "run":
            yield from part.first(runs)
            yield from part.later(runs)
