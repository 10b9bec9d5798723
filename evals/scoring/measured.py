"""A run that was measured, with its records and what is derived from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.schemas import EvalRecord, EvalRun
from evals.scoring.diagnosis.overview import Overview
from evals.scoring.settings import Cases, cases_of


@dataclass(frozen=True, slots=True)
class Measured:
    """A run at hand: nothing that views need of it is read or derived a second time.

    Attributes:
        run: As it was saved.
        cases: What is derived of its records.
        source: The records, in the order of the questions; they may be read from a file, each when it is asked for.
        gathered: What is printed when the run ends, where it was just scored.
    """

    run: EvalRun
    cases: Cases
    source: Sequence[EvalRecord]
    gathered: Overview | None = None

    def overview(self, examples: int) -> Overview:
        """Where questions went wrong; walks the records where it was not gathered while they were scored.

        Args:
            examples: How many findings of each link are wanted with their records.
        """
        return self.gathered or Overview.of(self.run, self.source, self.cases, examples)

    def records(self) -> Iterator[EvalRecord]:
        """The records, in the order of the questions; they can be walked again and again."""
        return iter(self.source)


def measured(run: EvalRun, records: Sequence[EvalRecord]) -> Measured:
    """A saved run with its records, seen as the run says that they were scored."""
    return Measured(run, cases_of(run, records), records)
