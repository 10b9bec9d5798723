"""A run that was measured, with its records and what is derived from them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evals.case.case import Case
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, JudgeVerdict
from evals.scoring.abstention_table import AbstentionTable, beside_scorecard
from evals.scoring.diagnosis import Finding
from evals.scoring.digest.broken_links import BrokenLink
from evals.scoring.digest.digest import Digest
from evals.scoring.digest.kept import evidence_within, keep_digest, keep_slices, kept_columns, kept_digest, kept_values
from evals.scoring.digest.run_columns import RunColumns, taken
from evals.scoring.settings import Cases, score_settings, times_asked
from evals.stats.clusters import distinct
from evals.store.record_file import RecordFile


class PassingCases(Cases):
    """The cases of records that pass by one after the other: the last one alone is held."""

    def about(self, question: EvalQuestion, response: EvalResponse, verdicts: Sequence[JudgeVerdict] = ()) -> Case:
        if question.id not in self._known:
            self._known.clear()
        return super().about(question, response, verdicts)


@dataclass(frozen=True)
class Measured:
    """A run at hand: nothing that views need of it is read or derived a second time.

    Attributes:
        run: As it was saved.
        cases: What is derived of its records.
        source: The records; read them through `records`.
        made: What views need of all of them, where it was collected while they were scored.
    """

    run: EvalRun
    cases: Cases = field(repr=False)
    source: Sequence[EvalRecord] = field(repr=False)
    # `asyncio.run` asks for the name of its task, result and all, when it ends: every record would be written out.
    made: Digest | None = field(default=None, repr=False)
    _values: dict[str, list[str | None]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def digest(self) -> Digest:
        """What views need of all records together."""
        return self.made or kept_digest(self.run, self.source, self.cases)

    @property
    def abstention(self) -> AbstentionTable | None:
        """Who declined what, where the datasets say what can be answered."""
        table = self.digest.abstention
        return table and beside_scorecard(table, self.run.scorecard)

    @cached_property
    def columns(self) -> RunColumns:
        """The values of the questions that were asked."""
        return kept_columns(self.run, self.source)

    def values(self, key: str) -> list[str | None]:
        """What each question has for `dataset` or a key of the metadata, those included that were not asked."""
        if key not in self._values:
            self._values[key] = kept_values(self.run, self.source, key)
        return self._values[key]

    def questions(self) -> dict[int, str] | None:
        """Where questions were asked several times: by the number of an answer, which question it is of."""
        if times_asked(self.run) == 1:
            return None
        columns = self.columns
        return dict(
            zip(
                columns.numbers,
                distinct(taken(columns.clusters, range(len(columns.numbers))), len(columns.numbers)),
                strict=True,
            )
        )

    def records(self) -> Iterator[EvalRecord]:
        """The records, in the order of the questions; they can be walked again and again."""
        return iter(self.source)

    def findings(self, found: Iterable[BrokenLink]) -> Iterator[Finding]:
        """These findings with their records, each read when it is wanted."""
        return (one.with_record(self.source[one.number]) for one in found)

    def keep(self, file: RecordFile) -> None:
        """Keep the digest beside the file that these records were just written to, and what reports of slices need."""
        keep_digest(self.run, file, self.digest, self.cases)
        if len(self.run.datasets) > 1:
            keep_slices(self.run, file, self.columns, {"dataset": self.values("dataset")})


def measured(run: EvalRun, records: Sequence[EvalRecord]) -> Measured:
    """A saved run with its records, seen as the run says that they were scored."""
    return Measured(run, passing_cases(run, records), records)


def passing_cases(run: EvalRun, records: Sequence[EvalRecord]) -> Cases:
    """The records of a saved run as they were scored, for walks over them.

    Raises:
        ConfigError: Its configuration was changed by hand to something that cannot be.
    """
    return evidence_within(run, records, PassingCases(score_settings(run)))
