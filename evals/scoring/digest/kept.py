"""What was derived of a run's records, kept beside them, so that it is derived once."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

from pydantic import TypeAdapter

from evals.case.matching import EvidenceWalk, RunEvidence, evidence_of
from evals.schemas import EvalRecord, EvalRun
from evals.scoring.digest.digest import Digest, digest_of
from evals.scoring.digest.packing import pack, unpack
from evals.scoring.digest.run_columns import RunColumns, columns_of
from evals.scoring.settings import Cases, score_settings
from evals.scoring.slices import value_of
from evals.store.record_file import RecordFile
from evals.version import __version__

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


def evidence_within(run: EvalRun, records: Sequence[EvalRecord], cases: Cases) -> Cases:
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


def kept_digest(run: EvalRun, records: Sequence[EvalRecord], cases: Cases) -> Digest:
    """The digest of a run: as it is kept beside its records, else made, and kept there from then on."""
    if not isinstance(records, RecordFile):
        return digest_of(run, records, cases)
    stamp = stamp_of(run)
    kept = records.derived(_DIGEST, stamp)
    if kept is not None:
        return Digest.model_validate_json(kept)
    made = digest_of(run, records, cases)
    keep_digest(run, records, made, cases)
    return made


def keep_digest(run: EvalRun, records: RecordFile, digest: Digest, cases: Cases) -> None:
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
    found = (value_of(record.question, key) for record in records)
    return [table.setdefault(value, value) for value in found]


def _packed(values: Sequence[str | None]) -> bytes:
    """A table of the values, and the place of each question's in it."""
    table = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return json.dumps([list(table), [table[value] for value in values]]).encode()
