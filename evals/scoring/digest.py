"""Digest of a run: what views need of its records, derived in one pass and saved next to them."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from operator import itemgetter
from typing import NamedTuple, TypeVar

from evals import __version__
from evals.schemas.base import Record
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.abstention import (
    AbstentionTable,
    Cell,
    RiskCoverage,
    cell_of,
    confidence_and_loss,
    curve_of,
    declines,
    table_of,
)
from evals.scoring.config import confidence
from evals.scoring.diagnosis.counts import Diagnosis, RemarksSeen, add_remarks, diagnosis_of
from evals.scoring.diagnosis.outcome import Finding, finding_of, needs_verification
from evals.scoring.diagnosis.stages import Link, RunFacts, StageRecall, StagesSeen, add_stages, facts_of, recalls_of
from evals.scoring.run_columns import RunColumns, columns_of, pack, pack_texts, unpack, unpack_texts
from evals.scoring.scorecard import slice_value
from evals.scoring.settings import ScoringContext, score_settings, times_asked
from evals.store.records import RecordFile

T = TypeVar("T")


class BrokenLink(NamedTuple):
    """What `Finding` says of a question, which is named by its number in the run."""

    number: int
    link: Link
    explanation: str
    """A sentence on what happened."""
    hit_ranks: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()

    def with_record(self, record: EvalRecord) -> Finding:
        """The finding with its record."""
        return Finding(self.link, self.explanation, record, self.hit_ranks, self.remarks)


def in_turn(links: Iterable[BrokenLink], most: int | None = None) -> list[BrokenLink]:
    """Order broken links so that each link comes first once, then each a second time, and so on.

    Args:
        links: In whatever order; of one link they stay in it.
        most: This many are wanted at most; all where None.
    """
    turns: Counter[Link] = Counter()
    placed = []
    for one in links:
        placed.append((turns[one.link], one.link.place, one))
        turns[one.link] += 1
    return [one for *_, one in sorted(placed, key=itemgetter(0, 1))][:most]


# All that views derive of a run's records: made in one walk that holds none of them.


_DECLINES: dict[bool | None, str] = {True: "y", False: "n", None: "?"}


class RunSummary(Record):
    """What is derived of the records of a run."""

    found: list[BrokenLink]
    """In the order of the chain, then of the questions."""
    diagnosis: Diagnosis
    to_verify: list[int]
    """The numbers of the answers that a person should settle."""
    abstention: AbstentionTable | None
    risk: RiskCoverage | None
    stages: list[StageRecall]
    declines: str
    """A letter a question: y, n, or ? where there is no answer, or the judge's word on it is lost."""
    metrics: list[str]
    """The metrics that some record has, in the order in which they come."""
    keys: list[str]
    """The keys of the questions' metadata."""

    @property
    def failures(self) -> list[BrokenLink]:
        """Those that ended wrong."""
        return [one for one in self.found if one.link.is_failure]

    @property
    def links(self) -> dict[int, Link]:
        """The first broken link by the number of the question, of those that have one."""
        return {one.number: one.link for one in self.found}


@dataclass(slots=True)
class Collected:
    """What is held of the records of a summary until it is built; `merge` adds that of the records that follow."""

    found: list[BrokenLink] = field(default_factory=list)
    remarks: RemarksSeen = field(default_factory=dict)
    to_verify: list[int] = field(default_factory=list)
    cells: Counter[Cell] = field(default_factory=Counter)
    confidences: list[tuple[float, float]] = field(default_factory=list)
    stages: StagesSeen = field(default_factory=dict)
    declines: list[str] = field(default_factory=list)
    metrics: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)
    asked: list[bool] = field(default_factory=list)


@dataclass(slots=True)
class RunSummaryBuilder:
    """Collects the summary of a run while its records are walked.

    Attributes:
        facts: What the run says that one record cannot.
        cases: The records as they are scored.
        collected: Of the records so far.
    """

    facts: RunFacts
    cases: ScoringContext
    collected: Collected = field(default_factory=Collected)

    def add(self, number: int, record: EvalRecord) -> None:
        """Add one record."""
        cases, to = self.cases, self.collected
        to.ids.append(record.question.id)
        finding = finding_of(record, cases, self.facts)
        if finding is not None:
            said = sys.intern(finding.explanation)  # of many questions the same is said
            to.found.append(BrokenLink(number, finding.link, said, finding.hit_ranks, finding.remarks))
        to.asked.append(add_remarks(to.remarks, record, cases))
        if needs_verification(record):
            to.to_verify.append(number)
        cell, confidence = cell_of(record, cases), confidence_and_loss(record, cases)
        if cell is not None:
            to.cells[cell] += 1
        if confidence is not None:
            to.confidences.append(confidence)
        add_stages(to.stages, record, cases, self.facts.library)
        to.declines.append(_DECLINES[declines(record, cases)])
        to.metrics.update(score.name for score in record.scores)
        to.keys.update(record.question.metadata)

    def build(self, certainty: float, times: int) -> RunSummary:
        """The summary of the records that were added.

        Args:
            certainty: The confidence of its intervals.
            times: How often each question was asked.
        """
        seen = self.collected
        found = sorted(seen.found, key=lambda one: one.link.place)
        by_link: dict[Link, list[str]] = {}
        for one in found:
            by_link.setdefault(one.link, []).append(seen.ids[one.number])
        return RunSummary(
            found=found,
            diagnosis=diagnosis_of(sum(seen.asked), by_link, seen.remarks, certainty, times),
            to_verify=seen.to_verify,
            abstention=table_of(seen.cells, certainty, times),
            risk=curve_of(seen.confidences),
            stages=recalls_of(seen.stages),
            declines="".join(seen.declines),
            metrics=list(seen.metrics),
            keys=sorted(seen.keys),
        )


def digest_of(run: EvalRun, records: Sequence[EvalRecord], cases: ScoringContext) -> RunSummary:
    """Derive all that views need.

    Args:
        run: As it was saved.
        records: Of the run; they are walked twice, and none is held.
        cases: They as they were scored.
    """
    summary = RunSummaryBuilder(facts_of(run, records), cases)
    for number, record in enumerate(records):
        summary.add(number, record)
    return summary.build(confidence(run), times_asked(run))


# What was derived of a run's records, kept beside them, so that it is derived once.


FORMAT = 9
"""Raised whenever something is derived otherwise, so that no earlier data is used."""

_DIGEST, _COLUMNS = "digest", "columns"

_VALUES = "values of "


_SAYS = {"id", "created_at", "eval_config", "config", "server", "outcomes"}
"""The parts of a run on which it depends how its records are seen."""


def stamp_of(run: EvalRun) -> str:
    """What all that is derived of records depends on, apart from the records: the run, and this version."""
    names = ",".join(summary.name for summary in run.scorecard.metrics)
    said = f"{FORMAT} {__version__} {run.judge is None} {names} {run.model_dump_json(include=_SAYS)}"
    return sha256(said.encode()).hexdigest()


def _kept(
    run: EvalRun,
    records: Sequence[EvalRecord],
    name: str,
    make: Callable[[], T],
    write: Callable[[T], bytes],
    read: Callable[[bytes], T],
) -> T:
    """What was derived of records in a file, as it is kept next to them; else it is made, and kept there."""
    if not isinstance(records, RecordFile):
        return make()
    stamp = stamp_of(run)
    data = records.derived(name, stamp)
    if data is not None:
        return read(data)
    made = make()
    records.keep(stamp, {name: write(made)})
    return made


def kept_digest(run: EvalRun, records: Sequence[EvalRecord], cases: ScoringContext) -> RunSummary:
    """The digest of a run: as it is kept next to its records, else made, and kept there from then on."""

    def make() -> RunSummary:
        return digest_of(run, records, cases)

    return _kept(run, records, _DIGEST, make, _digest_json, RunSummary.model_validate_json)


def is_kept(run: EvalRun, records: Sequence[EvalRecord]) -> bool:
    """Whether the digest need not be made: not so at the first look at a run that an earlier version saved."""
    return isinstance(records, RecordFile) and records.derived(_DIGEST, stamp_of(run)) is not None


def _digest_json(digest: RunSummary) -> bytes:
    return digest.model_dump_json().encode()


def keep_digest(run: EvalRun, records: RecordFile, digest: RunSummary, cases: ScoringContext) -> None:
    """Keep a digest next to the records that it was made of, and what these say about matching."""
    records.keep(stamp_of(run), {_DIGEST: _digest_json(digest)})


def kept_columns(run: EvalRun, records: Sequence[EvalRecord]) -> RunColumns:
    """The columns of a run: as they are kept next to its records, else made, and kept there from then on."""
    cluster, ids = score_settings(run).cluster, records.ids if isinstance(records, RecordFile) else ()
    if not ids:
        return columns_of(records, cluster)
    return _kept(run, records, _COLUMNS, lambda: columns_of(records, cluster), pack, lambda data: unpack(data, ids))


def kept_values(run: EvalRun, records: Sequence[EvalRecord], key: str) -> list[str | None]:
    """What each question has for a key: as it is kept next to the records, else made, and kept there from then on."""

    def make() -> list[str | None]:
        return [slice_value(record.question, key) for record in records]

    return _kept(run, records, _VALUES + key, make, _values_json, lambda data: unpack_texts(json.loads(data)))


def _values_json(values: Sequence[str | None]) -> bytes:
    return json.dumps(pack_texts(values)).encode()


def keep_slices(
    run: EvalRun, records: RecordFile, columns: RunColumns, values: Mapping[str, Sequence[str | None]]
) -> None:
    """Keep what slices are made of next to the records: their columns, and what each question has for some keys."""
    packed = {_VALUES + key: _values_json(each) for key, each in values.items()}
    records.keep(stamp_of(run), {_COLUMNS: pack(columns), **packed})
