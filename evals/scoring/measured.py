"""A run that was measured, with its records and what is derived from them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from evals.schemas import EvalRecord, EvalRun
from evals.scoring.settings import Cases, cases_of


@dataclass(frozen=True, slots=True)
class Measured:
    """A run at hand: nothing that views need of it is read or derived a second time.

    Attributes:
        run: As it was saved.
        cases: What is derived of its records.
        source: The records; read them through `records`.
    """

    run: EvalRun
    cases: Cases = field(repr=False)
    source: Iterable[EvalRecord] = field(repr=False)
    # `asyncio.run` asks for the name of its task, result and all, when it ends: every record would be written out.

    def records(self) -> Iterator[EvalRecord]:
        """The records, in the order of the questions; they can be walked again and again."""
        return iter(self.source)


def measured(run: EvalRun, records: Iterable[EvalRecord]) -> Measured:
    """A saved run with its records, seen as the run says that they were scored."""
    return Measured(run, cases_of(run, records), records)
