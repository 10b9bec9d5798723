"""What a judge that is asked in rounds is told and tells, and one that is asked call by call need not."""

from collections.abc import Callable


class InRounds:
    """May wait until all that is to be judged is there, and leave replies for whoever goes on.

    Attributes:
        rounds_expected: 0 where calls are made one by one, or nobody knows.
        left: Requests whose replies are left at the vendor.
        on_phase: Hears that a round begins.
        on_progress: Hears how many of its replies are there, and of how many.
    """

    def __init__(self) -> None:
        self.rounds_expected = 0
        self.left = 0
        self.on_phase: Callable[[str], None] = lambda _phase: None
        self.on_progress: Callable[[int, int], None] = lambda _done, _total: None

    def begin(self, run: str) -> None:
        """Know that all that is to be judged is there by now.

        Args:
            run: What tells the run from others, and is the same when it goes on.
        """

    def all_decided(self) -> None:
        """Know that all verdicts are in the log of the run."""
