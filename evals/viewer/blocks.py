"""The page of one run or of several: what is read without JavaScript, and data blocks, each when it is asked for."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock

from evals.errors import ConfigError, UnknownNameError
from evals.report.blocks import Block, packed
from evals.report.document import manifest
from evals.report.parts import PARTS
from evals.report.run_blocks import RunBlocks
from evals.viewer.folder import HeldRun, RunsFolder

_MOST_RUNS = 20
_HELD = 4
_EACH_RUN = "run"
"""The name of the part whose blocks are those of each run: they are found by its id, and made one at a time."""


class RunsPage:
    """What a page of these runs is made of.

    Args:
        runs: The first is the one that the others are set against.
    """

    def __init__(self, runs: Sequence[HeldRun]) -> None:
        self.runs = [run.measured for run in runs]
        self._locks = [run.lock for run in sorted(runs, key=lambda one: one.measured.run.id)]
        self._own = {run.run.id: RunBlocks(run) for run in self.runs}
        self._parts = [make(self.runs) for make in PARTS]
        self._together: dict[str, bytes] | None = None

    def head(self) -> str:
        """HTML that is read without JavaScript."""
        with self._locked():
            return "".join(piece for part in self._parts for piece in part.head())

    def block(self, name: str) -> bytes:
        """A block as gzip of JSON.

        Raises:
            UnknownNameError: The page has no block of this name.
            StoreError: The records of a run cannot be read.
        """
        own = self._own.get(name.partition("/")[0])
        with self._locked():
            if own is not None and name in own.names:
                return packed(own.get(name))
            if self._together is None:
                self._together = {block.name: packed(block) for block in self._of_all()}
            if name not in self._together:
                raise UnknownNameError("data block", name, [])
            return self._together[name]

    def _of_all(self) -> Iterator[Block]:
        """What is said of the runs together."""
        yield manifest(self.runs)
        for part in self._parts:
            if part.name != _EACH_RUN:
                yield from part.first()
                yield from part.later()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep the runs from other requests; in one order, so that two pages never wait for each other."""
        with ExitStack() as stack:
            for lock in self._locks:
                stack.enter_context(lock)
            yield


class RunsPages:
    """The pages that somebody looks at; each is kept until its runs change, or others are looked at.

    Args:
        folder: The runs.
    """

    def __init__(self, folder: RunsFolder) -> None:
        self._folder = folder
        self._held: dict[str, tuple[list[HeldRun], RunsPage]] = {}
        self._lock = Lock()

    def page(self, text: str) -> RunsPage:
        """The page of some runs.

        Args:
            text: Their ids with commas, as they stand in its address.

        Raises:
            ConfigError: They are too many, or one of them comes twice.
            RunNotFoundError: One of them is not there.
            StoreError: One of them cannot be read.
        """
        ids = text.split(",")
        if len(ids) > _MOST_RUNS or len(set(ids)) < len(ids):
            raise ConfigError(f"a page shows up to {_MOST_RUNS} runs, each once")
        runs = [self._folder.measured(one) for one in ids]
        with self._lock:
            known = self._held.pop(text, None)
            is_same = known is not None and all(one is other for one, other in zip(known[0], runs, strict=True))
            page = known[1] if known is not None and is_same else RunsPage(runs)
            self._held[text] = (runs, page)
            for stale in list(self._held)[:-_HELD]:
                del self._held[stale]
            return page
