"""What views need of the records of a run, derived in one walk over them and kept beside the records."""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, overload

from pydantic import PlainSerializer, PlainValidator, TypeAdapter

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
    table_of,
)
from evals.scoring.diagnosis.counts import Diagnosis, RemarksSeen, add_remarks, diagnosis_of
from evals.scoring.diagnosis.outcome import Finding, finding_of, needs_verification
from evals.scoring.diagnosis.stages import Link, RunFacts, StageRecall, StagesSeen, add_stages, facts_of, recalls_of
from evals.scoring.packing import pack, pack_texts, unpack, unpack_texts
from evals.scoring.run_columns import RunColumns, columns_of
from evals.scoring.scorecard import slice_value
from evals.scoring.settings import ScoringContext, confidence, score_settings, times_asked
from evals.store.records import RecordFile
from evals.text.matching.corpus import evidence_of
from evals.text.matching.documents import RunEvidence

T = TypeVar("T")

# The first broken link of each question that has one, in columns: of many questions the same is said.


def _column(numbers: Iterable[int] = ()) -> "array[int]":
    return array("I", numbers)


NumberColumn = Annotated[Any, PlainValidator(_column), PlainSerializer(list)]
"""An `array` of whole numbers, as a list in JSON."""


class Said(NamedTuple):
    """What `Finding` says of a question, without the question."""

    link: Link
    explanation: str
    hit_ranks: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """What is said of a question, which is named by its number in the run."""

    number: int
    said: Said

    @property
    def link(self) -> Link:
        """The link."""
        return self.said.link

    @property
    def explanation(self) -> str:
        """A sentence on what happened."""
        return self.said.explanation

    def with_record(self, record: EvalRecord) -> Finding:
        """The finding with its record."""
        link, explanation, hit_ranks, remarks = self.said
        return Finding(link, explanation, record, hit_ranks, remarks)


@dataclass(slots=True)
class BrokenLinks(Sequence[BrokenLink]):
    """Broken links of questions; what is said of several is held once.

    Attributes:
        table: What is said.
        numbers: Of the questions.
        codes: By question, the place in the table.
    """

    table: list[Said] = field(default_factory=list)
    numbers: NumberColumn = field(default_factory=_column)
    codes: NumberColumn = field(default_factory=_column)

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> BrokenLink: ...
    @overload
    def __getitem__(self, place: slice) -> "BrokenLinks": ...
    def __getitem__(self, place: int | slice) -> "BrokenLink | BrokenLinks":
        if isinstance(place, slice):
            return BrokenLinks(self.table, self.numbers[place], self.codes[place])
        return BrokenLink(self.numbers[place], self.table[self.codes[place]])

    def chosen(self, places: Sequence[int]) -> "BrokenLinks":
        """Those at these places, in their order."""
        numbers, codes = (_column(column[place] for place in places) for column in (self.numbers, self.codes))
        return BrokenLinks(self.table, numbers, codes)

    def where(self, wanted: Iterable[Link]) -> "BrokenLinks":
        """Those of these links, in their order."""
        links = frozenset(wanted)
        codes = {code for code, said in enumerate(self.table) if said.link in links}
        return self.chosen([place for place, code in enumerate(self.codes) if code in codes])

    def in_order(self) -> "BrokenLinks":
        """The same in the order of the chain, then of the questions."""
        rank = [said.link.place for said in self.table]
        return self.chosen(sorted(range(len(self)), key=lambda place: rank[self.codes[place]]))

    def links(self) -> Iterator[tuple[int, Link]]:
        """The number of each question, with its link."""
        return ((number, self.table[code].link) for number, code in zip(self.numbers, self.codes, strict=True))


class BrokenLinksBuilder:
    """Collects broken links while records are walked."""

    def __init__(self) -> None:
        self._numbers, self._codes = _column(), _column()
        self._table: dict[Said, int] = {}

    def add(self, number: int, finding: Finding) -> None:
        """Add what was found of the question with this number."""
        said = Said(finding.link, finding.explanation, finding.hit_ranks, finding.remarks)
        self._numbers.append(number)
        self._codes.append(self._table.setdefault(said, len(self._table)))

    def extend(self, later: "BrokenLinksBuilder") -> None:
        """Add what was found of the questions that follow."""
        codes = [self._table.setdefault(said, len(self._table)) for said in later._table]
        self._numbers.extend(later._numbers)
        self._codes.extend(map(codes.__getitem__, later._codes))

    def build(self) -> BrokenLinks:
        """What was added, in the order of the chain, then of the questions."""
        return BrokenLinks(list(self._table), self._numbers, self._codes).in_order()


# All that views derive of a run's records: made in one walk that holds none of them.


Declines = Literal["?", "n", "y"]
"""Whether an answer declines: yes, no; "?" where there is no answer, or the judge's word on it is lost."""


class RunSummary(Record):
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
    """What is held of the records of a summary until it is built; `merge` adds that of the records that follow."""

    found: BrokenLinksBuilder = field(default_factory=BrokenLinksBuilder)
    remarks: RemarksSeen = field(default_factory=dict)
    to_verify: list[int] = field(default_factory=list)
    cells: Counter[Cell] = field(default_factory=Counter)
    confidences: list[tuple[float, float]] = field(default_factory=list)
    stages: StagesSeen = field(default_factory=dict)
    declines: list[Declines] = field(default_factory=list)
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
            to.found.add(number, finding)
        to.asked.append(add_remarks(to.remarks, record, cases))
        if needs_verification(record):
            to.to_verify.append(number)
        cell, confidence = cell_of(record, cases), confidence_and_loss(record, cases)
        if cell is not None:
            to.cells[cell] += 1
        if confidence is not None:
            to.confidences.append(confidence)
        add_stages(to.stages, record, cases, self.facts.library)
        to.declines.append(_declines(record, cases))
        to.metrics.update(score.name for score in record.scores)
        to.keys.update(record.question.metadata)

    def build(self, certainty: float, times: int) -> RunSummary:
        """The summary of the records that were added.

        Args:
            certainty: The confidence of its intervals.
            times: How often each question was asked.
        """
        seen = self.collected
        found = seen.found.build()
        by_link: dict[Link, list[str]] = {}
        for number, link in found.links():
            by_link.setdefault(link, []).append(seen.ids[number])
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


def _declines(record: EvalRecord, cases: ScoringContext) -> Declines:
    response = record.response
    if response is None or response.error is not None or response.answer is None:
        return "?"
    case = cases.of(record)
    if case.abstention_open:
        return "?"
    return "y" if case.abstained else "n"


# What was derived of a run's records, kept beside them, so that it is derived once.


FORMAT = 9
"""Raised whenever something is derived otherwise, so that nothing of before is used."""

_EVIDENCE, _DIGEST, _COLUMNS = "evidence", "digest", "columns"

_EVIDENCE_JSON = TypeAdapter(RunEvidence)

_VALUES = "values of "


_SAYS = {"id", "created_at", "eval_config", "config", "server", "outcomes"}
"""The parts of a run on which it depends how its records are seen."""


def stamp_of(run: EvalRun) -> str:
    """What all that is derived of records depends on, beside the records: the run, and this version."""
    names = ",".join(summary.name for summary in run.scorecard.metrics)
    said = f"{FORMAT} {__version__} {run.judge is None} {names} {run.model_dump_json(include=_SAYS)}"
    return sha256(said.encode()).hexdigest()


def evidence_within(run: EvalRun, records: Sequence[EvalRecord], cases: ScoringContext) -> ScoringContext:
    """The cases, which match with what all records of the run say about matching."""
    if not isinstance(records, RecordFile):
        return cases.within(records)
    evidence = _kept(run, records, _EVIDENCE, _EVIDENCE_JSON.validate_json)
    if evidence is None:
        evidence = evidence_of(records, cases.settings.match)
        records.keep(stamp_of(run), {_EVIDENCE: _EVIDENCE_JSON.dump_json(evidence)})
    return cases.match_with(evidence)


def kept_digest(run: EvalRun, records: Sequence[EvalRecord], cases: ScoringContext) -> RunSummary:
    """The digest of a run: as it is kept beside its records, else made, and kept there from then on."""
    found = _kept(run, records, _DIGEST, RunSummary.model_validate_json)
    if found is None:
        found = digest_of(run, records, cases)
        if isinstance(records, RecordFile):
            keep_digest(run, records, found, cases)
    return found


def keep_digest(run: EvalRun, records: RecordFile, digest: RunSummary, cases: ScoringContext) -> None:
    """Keep a digest beside the records that it was made of, and what these say about matching."""
    derived, evidence = {_DIGEST: digest.model_dump_json().encode()}, cases.settings.evidence
    if evidence is not None:
        derived[_EVIDENCE] = _EVIDENCE_JSON.dump_json(evidence)
    records.keep(stamp_of(run), derived)


def kept_columns(run: EvalRun, records: Sequence[EvalRecord]) -> RunColumns:
    """The columns of a run: as they are kept beside its records, else made, and kept there from then on."""
    settings = score_settings(run)
    if not isinstance(records, RecordFile):
        return columns_of(records, settings.cluster)
    found = _kept(run, records, _COLUMNS, lambda data: unpack(data, records.ids))
    if found is None:
        found = columns_of(records, settings.cluster)
        records.keep(stamp_of(run), {_COLUMNS: pack(found)})
    return found


def kept_values(run: EvalRun, records: Sequence[EvalRecord], key: str) -> list[str | None]:
    """What each question has for a key: as it is kept beside the records, else made, and kept there from then on."""
    found = _kept(run, records, _VALUES + key, lambda data: unpack_texts(json.loads(data)))
    if found is None:
        packed = pack_texts([slice_value(record.question, key) for record in records])
        found = unpack_texts(packed)
        if isinstance(records, RecordFile):
            records.keep(stamp_of(run), {_VALUES + key: json.dumps(packed).encode()})
    return found


def keep_slices(
    run: EvalRun, records: RecordFile, columns: RunColumns, values: Mapping[str, Sequence[str | None]]
) -> None:
    """Keep what slices are made of beside the records: their columns, and what each question has for some keys."""
    packed = {_VALUES + key: json.dumps(pack_texts(each)).encode() for key, each in values.items()}
    records.keep(stamp_of(run), {_COLUMNS: pack(columns), **packed})


def _kept(run: EvalRun, records: Sequence[EvalRecord], name: str, read: Callable[[bytes], T]) -> T | None:
    """What is kept under a name; None where nothing is, or records are not in a file."""
    data = records.derived(name, stamp_of(run)) if isinstance(records, RecordFile) else None
    return None if data is None else read(data)
