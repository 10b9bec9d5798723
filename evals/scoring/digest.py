"""What views need of the records of a run, derived in one walk over them and kept beside the records."""

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple, overload

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
from evals.scoring.run_columns import RunColumns, columns_of, pack, unpack
from evals.scoring.scorecard import slice_value
from evals.scoring.settings import ScoringContext, confidence, score_settings, times_asked
from evals.store.records import RecordFile
from evals.text.matching.corpus import EvidenceWalk, evidence_of
from evals.text.matching.documents import RunEvidence

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


class BrokenLinksMaker:
    """Collects broken links while records are walked."""

    def __init__(self) -> None:
        self._found = BrokenLinks()
        self._known: dict[Said, int] = {}

    def add(self, number: int, finding: Finding) -> None:
        """Add what was found of the question with this number."""
        said = Said(finding.link, finding.explanation, finding.hit_ranks, finding.remarks)
        self._found.numbers.append(number)
        self._found.codes.append(self._code(said))

    def extend(self, later: "BrokenLinksMaker") -> None:
        """Add what was found of the questions that follow."""
        codes = [self._code(said) for said in later._found.table]
        self._found.numbers.extend(later._found.numbers)
        self._found.codes.extend(map(codes.__getitem__, later._found.codes))

    def _code(self, said: Said) -> int:
        code = self._known.setdefault(said, len(self._found.table))
        if code == len(self._found.table):
            self._found.table.append(said)
        return code

    def made(self) -> BrokenLinks:
        """What was added, in the order of the chain, then of the questions."""
        return self._found.in_order()


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

    def made(self, certainty: float, times: int) -> RunSummary:
        """The digest of the records that were added.

        Args:
            certainty: The confidence of its intervals.
            times: How often each question was asked.
        """
        found = self.found.made()
        return RunSummary(
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
class RunSummaryBuilder:
    """Collects the digest of a run while its records are walked.

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

    def made(self, certainty: float, times: int) -> RunSummary:
        """The digest of the records that were added: see `Collected.made`."""
        return self.collected.made(certainty, times)


def digest_of(run: EvalRun, records: Sequence[EvalRecord], cases: ScoringContext) -> RunSummary:
    """Derive all that views need.

    Args:
        run: As it was saved.
        records: Of the run; they are walked twice, and none is held.
        cases: They as they were scored.
    """
    maker = RunSummaryBuilder(facts_of(run, records), cases)
    for number, record in enumerate(records):
        maker.add(number, record)
    return maker.made(confidence(run), times_asked(run))


def _declines(record: EvalRecord, cases: ScoringContext) -> Declines:
    response = record.response
    if response is None or response.error is not None or response.answer is None:
        return "?"
    case = cases.of(record)
    if case.abstention_open:
        return "?"
    return "y" if case.abstained else "n"


# What was derived of a run's records, kept beside them, so that it is derived once.


FORMAT = 7
"""Raised whenever something is derived otherwise, so that nothing of before is used."""

_EVIDENCE, _DIGEST, _COLUMNS = "evidence", "digest", "columns"

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
    stamp, adapter = stamp_of(run), TypeAdapter(RunEvidence)
    kept = records.derived(_EVIDENCE, stamp)
    if kept is not None:
        return cases.match_with(adapter.validate_json(kept))
    evidence = evidence_of(records, cases.settings.match)
    records.keep(stamp, {_EVIDENCE: adapter.dump_json(evidence)})
    return cases.match_with(evidence)


def kept_digest(run: EvalRun, records: Sequence[EvalRecord], cases: ScoringContext) -> RunSummary:
    """The digest of a run: as it is kept beside its records, else made, and kept there from then on."""
    if not isinstance(records, RecordFile):
        return digest_of(run, records, cases)
    stamp = stamp_of(run)
    kept = records.derived(_DIGEST, stamp)
    if kept is not None:
        return RunSummary.model_validate_json(kept)
    made = digest_of(run, records, cases)
    keep_digest(run, records, made, cases)
    return made


def keep_digest(run: EvalRun, records: RecordFile, digest: RunSummary, cases: ScoringContext) -> None:
    """Keep a digest beside the records that it was made of, and what these say about matching."""
    derived, evidence = {_DIGEST: digest.model_dump_json().encode()}, cases.settings.evidence
    if evidence is not None:
        derived[_EVIDENCE] = TypeAdapter(RunEvidence).dump_json(evidence)
    records.keep(stamp_of(run), derived)


def kept_columns(run: EvalRun, records: Sequence[EvalRecord]) -> RunColumns:
    """The columns of a run: as they are kept beside its records, else made, and kept there from then on."""
    cluster = score_settings(run).cluster
    if not isinstance(records, RecordFile):
        return columns_of(records, cluster)
    stamp = stamp_of(run)
    kept = records.derived(_COLUMNS, stamp)
    if kept is not None:
        return unpack(kept, records.ids)
    walk = EvidenceWalk()  # whoever wants columns asks next how the questions ended, which hangs on this
    made = columns_of(walk.follow(records), cluster)
    derived = {_COLUMNS: pack(made)}
    if records.derived(_EVIDENCE, stamp) is None:
        evidence = walk.evidence(records, score_settings(run).match)
        derived[_EVIDENCE] = TypeAdapter(RunEvidence).dump_json(evidence)
    records.keep(stamp, derived)
    return made


def kept_values(run: EvalRun, records: Sequence[EvalRecord], key: str) -> list[str | None]:
    """What each question has for a key: as it is kept beside the records, else made, and kept there from then on."""
    if not isinstance(records, RecordFile):
        return _values_of(records, key)
    stamp = stamp_of(run)
    kept = records.derived(_VALUES + key, stamp)
    if kept is not None:
        table, places = json.loads(kept)
        return [table[place] for place in places]
    made = _values_of(records, key)
    records.keep(stamp, {_VALUES + key: _packed(made)})
    return made


def keep_slices(
    run: EvalRun, records: RecordFile, columns: RunColumns, values: Mapping[str, Sequence[str | None]]
) -> None:
    """Keep what slices are made of beside the records: their columns, and what each question has for some keys."""
    packed = {_VALUES + key: _packed(each) for key, each in values.items()}
    records.keep(stamp_of(run), {_COLUMNS: pack(columns), **packed})


def _values_of(records: Sequence[EvalRecord], key: str) -> list[str | None]:
    """Each value is held once."""
    table: dict[str | None, str | None] = {}
    found = (slice_value(record.question, key) for record in records)
    return [table.setdefault(value, value) for value in found]


def _packed(values: Sequence[str | None]) -> bytes:
    """A table of the values, and the place of each question's in it."""
    table = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return json.dumps([list(table), [table[value] for value in values]]).encode()
