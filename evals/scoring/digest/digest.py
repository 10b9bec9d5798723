"""All that views derive of a run's records: made in one walk that holds none of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from evals.schemas import EvalRecord, EvalRun
from evals.schemas.base import Record
from evals.scoring.abstention_table import AbstentionTable, Cell, cell_of, table_of
from evals.scoring.diagnosis import Diagnosis, Link, RunFacts, StageRecall, facts_of, needs_verification
from evals.scoring.diagnosis.counts import RemarksSeen, add_remarks, diagnosis_of
from evals.scoring.diagnosis.findings import finding_of
from evals.scoring.diagnosis.stages import StagesSeen, add_stages, recalls_of
from evals.scoring.digest.broken_links import BrokenLinks, BrokenLinksMaker
from evals.scoring.risk_coverage import RiskCoverage, confidence_and_loss, curve_of
from evals.scoring.settings import Cases, confidence, times_asked

Declines = Literal["?", "n", "y"]
"""Whether an answer declines: yes, no; "?" where there is no answer, or the judge's word on it is lost."""


class Digest(Record):
    """What is derived of the records of a run."""

    found: BrokenLinks
    """In the order of the chain, then of the questions."""
    diagnosis: Diagnosis
    to_verify: list[int]
    """The numbers of the answers that a person should settle."""
    abstention: AbstentionTable | None
    risk: RiskCoverage | None
    stages: list[StageRecall]
    declines: str
    """One of `Declines` a question."""
    metrics: list[str]
    """The metrics that some record has, in the order in which they come."""
    keys: list[str]
    """The keys of the questions' metadata."""

    @property
    def failures(self) -> BrokenLinks:
        """Those that ended wrong."""
        return self.found.where(link for link in Link if link.is_failure)

    def links(self, ids: Sequence[str]) -> dict[str, Link]:
        """The first broken link by the id of the question, of those that have one."""
        return {ids[number]: link for number, link in self.found.links()}


@dataclass(slots=True)
class Collected:
    """What is held of the records of a digest until it is made."""

    found: BrokenLinksMaker = field(default_factory=BrokenLinksMaker)
    remarks: RemarksSeen = field(default_factory=dict)
    to_verify: list[int] = field(default_factory=list)
    cells: Counter[Cell] = field(default_factory=Counter)
    sure: list[tuple[float, float]] = field(default_factory=list)
    stages: StagesSeen = field(default_factory=dict)
    declines: list[Declines] = field(default_factory=list)
    metrics: dict[str, None] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)
    asked: int = 0

    def extend(self, later: "Collected") -> None:
        """Add what was collected of the records that follow."""
        self.found.extend(later.found)
        self.to_verify += later.to_verify
        self.cells.update(later.cells)
        self.sure += later.sure
        self.declines += later.declines
        self.metrics.update(later.metrics)
        self.keys |= later.keys
        self.ids += later.ids
        self.asked += later.asked
        for kind, questions in later.remarks.items():
            self.remarks.setdefault(kind, []).extend(questions)
        for stage, found in later.stages.items():
            self.stages.setdefault(stage, []).extend(found)

    def _diagnosis(self, found: BrokenLinks, certainty: float, times: int) -> Diagnosis:
        """Where the questions went wrong first."""
        by_link: dict[Link, list[str]] = {}
        for number, link in found.links():
            by_link.setdefault(link, []).append(self.ids[number])
        return diagnosis_of(self.asked, by_link, self.remarks, certainty, times)

    def made(self, certainty: float, times: int) -> Digest:
        """The digest of the records that were added.

        Args:
            certainty: The confidence of its intervals.
            times: How often each question was asked.
        """
        found = self.found.made()
        return Digest(
            found=found,
            diagnosis=self._diagnosis(found, certainty, times),
            to_verify=self.to_verify,
            abstention=table_of(self.cells, certainty, times),
            risk=curve_of(self.sure),
            stages=recalls_of(self.stages),
            declines="".join(self.declines),
            metrics=list(self.metrics),
            keys=sorted(self.keys),
        )


@dataclass(slots=True)
class DigestMaker:
    """Collects the digest of a run while its records are walked.

    Attributes:
        facts: What the run says that one record cannot.
        cases: The records as they are scored.
        collected: Of the records so far.
    """

    facts: RunFacts
    cases: Cases
    collected: Collected = field(default_factory=Collected)

    def add(self, number: int, record: EvalRecord) -> None:
        """Add one record."""
        cases, to = self.cases, self.collected
        to.ids.append(record.question.id)
        finding = finding_of(record, cases, self.facts)
        if finding is not None:
            to.found.add(number, finding)
        to.asked += add_remarks(to.remarks, record, cases)
        if needs_verification(record):
            to.to_verify.append(number)
        cell, sure = cell_of(record, cases), confidence_and_loss(record, cases)
        if cell is not None:
            to.cells[cell] += 1
        if sure is not None:
            to.sure.append(sure)
        add_stages(to.stages, record, cases, self.facts.library)
        to.declines.append(_declines(record, cases))
        to.metrics.update(dict.fromkeys([score.name for score in record.scores]))
        to.keys.update(record.question.metadata)

    def made(self, certainty: float, times: int) -> Digest:
        """The digest of the records that were added: see `Collected.made`."""
        return self.collected.made(certainty, times)


def digest_of(run: EvalRun, records: Sequence[EvalRecord], cases: Cases) -> Digest:
    """Derive all that views need.

    Args:
        run: As it was saved.
        records: Of the run; they are walked twice, and none is held.
        cases: They as they were scored.
    """
    maker = DigestMaker(facts_of(run, records), cases)
    for number, record in enumerate(records):
        maker.add(number, record)
    return maker.made(confidence(run), times_asked(run))


def _declines(record: EvalRecord, cases: Cases) -> Declines:
    response = record.response
    if response is None or response.error is not None or response.answer is None:
        return "?"
    case = cases.of(record)
    if case.abstention_open:
        return "?"
    return "y" if case.abstained else "n"
