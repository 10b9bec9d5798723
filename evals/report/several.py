"""The parts of a page that is about two runs or more: each beside the first, and all from run to run."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from evals.compare import Comparison, compare_runs
from evals.compare.pairing import SavedRun
from evals.errors import ConfigError
from evals.report.blocks import Block
from evals.report.comparison import changes_of, comparison_of
from evals.report.several_head import several_head
from evals.report.trend import pareto_of, trend_of, verdicts_of
from evals.scoring.measured import Measured
from evals.views.compared import labels_of
from evals.views.formatting import printable


class Several:
    """What a page says of several runs, the baseline first; of one run it says nothing.

    Args:
        runs: With their records, which are read one at a time.
    """

    def __init__(self, runs: Sequence[Measured]) -> None:
        self._runs = runs
        self._saved = [SavedRun(each.run, each.source) for each in runs]

    @cached_property
    def _compared(self) -> tuple[Comparison | None, str]:
        """The comparison; or none, and why."""
        return _compare(self._saved, pareto=len(self._saved) > 2)

    def head(self) -> Iterator[str]:
        """What is read without JavaScript."""
        if len(self._runs) > 1:
            yield from several_head(*self._compared)

    def blocks(self) -> Iterator[Block]:
        """What the page needs when it opens: `compared/A/B` for each run B beside the first, A, and `trend` of many.

        Where not all compare with each other, each is compared with the first alone; of one that cannot be, the block
        says why.
        """
        if len(self._runs) < 2:
            return
        comparison, _ = self._compared
        for place in range(len(self._runs) - 1):
            yield self._alone(place) if comparison is None else self._pair(comparison, place, place)
        if len(self._runs) > 2:
            yield self._trend()

    def _alone(self, place: int) -> Block:
        """A run beside the first, whatever the others are."""
        comparison, why = _compare([self._saved[0], self._saved[place + 1]])
        if comparison is not None:
            return self._pair(comparison, 0, place)
        first, other = self._runs[0].run, self._runs[place + 1].run
        return Block(f"compared/{first.id}/{other.id}", {"why": printable(why)})

    def _pair(self, comparison: Comparison, within: int, place: int) -> Block:
        """A run beside the first.

        Args:
            comparison: In which it is.
            within: Its place in there, among those beside the first.
            place: Its place on the page, which says what it is called.
        """
        one, baseline, other = comparison.against[within], self._saved[0], self._saved[place + 1]
        labels = labels_of(len(self._runs))
        called = labels if len(comparison.runs) == len(labels) else [labels[0], labels[place + 1]]
        data = {**comparison_of(comparison, within, called), "questions": changes_of(one, baseline, other)}
        return Block(f"compared/{one.baseline}/{one.run}", data)

    def _trend(self) -> Block:
        comparison, why = self._compared
        report = comparison.pareto if comparison is not None else None
        data = {
            **trend_of([each.run for each in self._runs], comparison),
            "why": printable(why),
            "verdicts": verdicts_of(comparison) if comparison is not None else [],
            "pareto": pareto_of(report) if report is not None and report.objectives else None,
        }
        return Block("trend", data)


def _compare(saved: Sequence[SavedRun], *, pareto: bool = False) -> tuple[Comparison | None, str]:
    """The comparison; or none, and why."""
    try:
        return compare_runs(saved, pareto=pareto), ""
    except ConfigError as error:
        return None, error.message
