"""One run of all shards: their answers and verdicts are scored together, and nothing is asked of anybody."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from secrets import token_hex
from typing import Any

from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.judges.backends.base import Identity
from evals.judges.record import VerdictTally
from evals.metrics.base import BaseMetric
from evals.run.asking import CHANGED, STOPPED, has_changed
from evals.run.checks import check_calibrated, check_config, wants_judge
from evals.run.child_server import embedded_spec
from evals.run.instruments import load_instruments
from evals.run.merging.checks import check_alike, check_questions, check_whole
from evals.run.merging.notes import failed_too_often, notes_on_judging, notes_on_the_way, why_stopped
from evals.run.merging.records import ShardRecords
from evals.run.merging.shards import Shard, in_their_order, open_files
from evals.run.observer import Observer
from evals.run.resume import note_on_widths
from evals.run.text_models import compare_texts
from evals.run.unfound import chunks_unfound
from evals.schemas import EvalRecord, EvalResponse, EvalRun, Outcomes, Scorecard, ServerRecord, WeightedScore
from evals.schemas.merged_shard import MergedShard
from evals.schemas.results import SCHEMA_VERSION
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.calibration.corrections import with_cards
from evals.scoring.conclusion import Conclusion, Ended
from evals.scoring.diagnosis.facts import facts_of
from evals.scoring.digest.digest import DigestMaker
from evals.scoring.gathered.notes import NO_CHUNKS, AnswerNotes, usage_limit
from evals.scoring.judged.judge_facts import with_facts
from evals.scoring.measured import Measured
from evals.scoring.outcomes import package_versions, status_of
from evals.scoring.settings import Cases, confidence, times_asked
from evals.store.calibrations import saved_calibrations
from evals.store.commands import DEFAULT_RUNS_DIR
from evals.store.runs import RunStore

_OF_ONE_SHARD = frozenset({"shard", "name", "runs_dir"})


@dataclass(frozen=True, slots=True)
class Shards:
    """All shards of a run, which fit together, and what is made of them.

    Attributes:
        shards: In the order of their numbers.
        records: In the order of the whole.
        config: Of the merged run.
        metrics: What is measured.
    """

    shards: Sequence[Shard]
    records: ShardRecords
    config: EvalConfig
    metrics: Sequence[BaseMetric]
    tally: VerdictTally = field(default_factory=VerdictTally)
    """Of all verdicts, as they pass by."""

    @property
    def judged(self) -> bool:
        """Whether a judge took part."""
        return wants_judge(self.config, self.metrics)


def put_together(runs: Sequence[EvalRun], *layers: Mapping[str, Any], allow_partial: bool = False) -> Shards:
    """Check that these runs are the shards of one run, each once, and put them together.

    Args:
        runs: Saved, in any order.
        layers: What goes before the configuration of the shards: `name`, `runs_dir`, `gate`, `allow_uncalibrated`.
        allow_partial: Whether shards that are partial will do; the merged run is partial then, unless it was for their
            share of failures alone and the whole has no more than may be.

    Raises:
        ConfigError: They do not fit together, or a gate is none.
        RunIncompleteError: One is partial or failed.
        StoreError: Records are damaged.
    """
    if not runs:
        raise ConfigError("there is nothing to merge", "name the runs of all shards")
    shards = in_their_order(runs)
    check_alike(shards)
    check_whole(shards, allow_partial=allow_partial)
    files = open_files(shards)
    check_questions(shards, files)
    written = {key: value for key, value in shards[0].run.eval_config.items() if key not in _OF_ONE_SHARD}
    config = EvalConfig.build(written, {"name": _name(shards), "runs_dir": DEFAULT_RUNS_DIR}, *layers)
    metrics = check_config(config, asking=False)
    check_calibrated(config, metrics)
    return Shards(shards, ShardRecords(files), config, metrics)


def _name(shards: Sequence[Shard]) -> str | None:
    """That which the shards were given, where all have one name."""
    names = {shard.run.eval_config.get("name") for shard in shards}
    name = names.pop() if len(names) == 1 else None
    return f"{name}-merged" if name else None


async def merge(shards: Shards, observer: Observer) -> Measured:
    """Score the records of all shards together, with the verdicts that they have, and save them as a run.

    Args:
        shards: What is merged; they stay as they are.
        observer: Hears of the progress.

    Raises:
        ConfigError: A model that compares texts cannot be loaded.
        StoreError: The records cannot be read, or the result cannot be written.
    """
    store = RunStore(shards.config.runs_dir)
    store.prepare()
    run, records, metrics = _new_run(shards), shards.records, shards.metrics
    cases = await _cases(shards, run, observer)
    await compare_texts(metrics, records, cases, observer)
    observer.phase("scoring")
    digest = DigestMaker(facts_of(run, records), cases.within(records))
    conclusion = Conclusion(run, metrics, cases, shards.config, digest)
    record_sum = store.compact(run, _passing(shards, conclusion, cases))
    scored = store.open_records(run)
    run = conclusion.concluded(
        scored,
        record_sum=record_sum,
        ended=_ended(shards),
        stopped=why_stopped(shards.shards),
        warmup_ms=list(chain.from_iterable(shard.run.outcomes.warmup_ms for shard in shards.shards)),
        judge=_judge(shards),
        notes=_notes(shards, run, conclusion.answers),
    )
    run = with_cards(with_facts(run, scored), scored, saved_calibrations(shards.config.runs_dir))
    store.save(run)
    return Measured(run, cases, scored, digest.made(confidence(run), times_asked(run)))


async def _cases(shards: Shards, run: EvalRun, observer: Observer) -> Cases:
    """The records as metrics see them; of a judge its verdicts are enough, so that none is made."""
    config = shards.config
    without = config.model_copy(update={"judge": config.judge.model_copy(update={"enabled": False})})
    instruments = await load_instruments(without, shards.metrics, observer)
    return Cases(replace(instruments.settings(config, run.server.citation_base), judged=shards.judged))


def _passing(shards: Shards, conclusion: Conclusion, cases: Cases) -> Iterator[EvalRecord]:
    """The records, scored; each is counted for its shard and for the whole."""
    for place, record in enumerate(conclusion.scored(shards.records)):
        shard = shards.shards[place % len(shards.shards)]
        shard.answers.add(record, cases.of(record))
        shard.verdicts.add(record.verdicts)
        shards.tally.add(record.verdicts)
        yield record


def _ended(shards: Shards) -> Ended:
    """Whether anything was left undone; what share of all failed is seen elsewhere."""
    too_many_lost = shards.judged and failed_too_often(shards.tally, shards.config.judge.max_error_rate)
    cut_short = any(_is_cut_short(shard, shards.config) for shard in shards.shards)
    return "early" if too_many_lost or cut_short else "whole"


def _is_cut_short(shard: Shard, config: EvalConfig) -> bool:
    """Whether a shard is partial for anything but its own shares of failures."""
    run = shard.run
    if run.status == "complete":
        return False
    if run.completed_at is None or run.outcomes.stopped or (run.judge and (run.judge.prevented or run.judge.left)):
        return True
    failed = status_of(run.outcomes, config.max_error_rate, ended_early=False) == "partial"
    return not failed and not failed_too_often(shard.verdicts, config.judge.max_error_rate)


def _judge(shards: Shards) -> JudgeRecord | None:
    if not shards.judged:
        return None
    prevented, left = (sum(getattr(judge, name) for judge in _judges(shards)) for name in ("prevented", "left"))
    made = shards.tally.record(_identity(shards), shards.config.judge.repeats, prevented=prevented)
    return made.model_copy(update={"left": left})


def _judges(shards: Shards) -> list[JudgeRecord]:
    return [shard.run.judge for shard in shards.shards if shard.run.judge is not None]


def _identity(shards: Shards) -> Identity:
    """Who judged: by what the shards say, as the address may be of the environment of those machines."""
    judges = _judges(shards)
    if not judges:
        return shards.config.judge.identity
    return Identity(judges[0].model, judges[0].origin, shards.config.judge.provider, judges[0].effort)


def _notes(shards: Shards, run: EvalRun, answers: AnswerNotes) -> list[str]:
    spec = _spec(shards, run)
    limit = usage_limit(shards.metrics, spec.usage_needs_concurrency)
    of_answers = answers.notes(concurrency=run.concurrency, usage_limit=limit)
    unfound = chunks_unfound(spec.map.chunks, _responses(shards.records))
    if unfound:
        of_answers = [unfound, *(note for note in of_answers if not note.startswith(NO_CHUNKS))]
    stopped = why_stopped(shards.shards)
    notes = [
        *notes_on_the_way(shards.shards, limit),
        *note_on_widths(run.concurrencies),
        *([f"{STOPPED}{stopped}"] if stopped else []),
        *([CHANGED] if run.server.changed else []),
        *_notes_on_judging(shards),
        *of_answers,
    ]
    return list(dict.fromkeys(notes))


def _spec(shards: Shards, run: EvalRun) -> ServerSpec:
    config = shards.config
    return embedded_spec(run.server.url, config.server) if config.embedded else config.server_spec()


def _responses(records: Iterable[EvalRecord]) -> Iterator[EvalResponse]:
    return (record.response for record in records if record.response is not None)


def _notes_on_judging(shards: Shards) -> list[str]:
    if not shards.judged:
        return []
    return notes_on_judging(
        shards.shards,
        shards.tally,
        _identity(shards),
        prevented=sum(judge.prevented for judge in _judges(shards)),
        max_error_rate=shards.config.judge.max_error_rate,
        config=shards.shards[0].run.config,
    )


def _new_run(shards: Shards) -> EvalRun:
    """The run as it is before anything of it was measured."""
    runs, run_id = [shard.run for shard in shards.shards], token_hex(4)
    widths = list(dict.fromkeys(chain.from_iterable(run.concurrencies or [run.concurrency] for run in runs)))
    return runs[0].model_copy(
        update={
            "id": run_id,
            "name": shards.config.name or f"merged-{run_id}",
            "created_at": datetime.now(UTC).replace(microsecond=0),
            "completed_at": None,
            "question_count": len(shards.records),
            "eval_config": shards.config.as_written(),
            "schema_version": SCHEMA_VERSION,
            "package_versions": package_versions(),
            "server": _server(runs),
            "concurrency": max(widths),
            "concurrencies": widths if len(widths) > 1 else [],
            "duration_s": round(sum(run.duration_s for run in runs), 3),
            "merged_from": [_merged(shard) for shard in shards.shards],
            "rescored_from": None,
            "scorecard": Scorecard(),
            "weighted_score": WeightedScore(score=None),
            "outcomes": Outcomes(),
            "gates": [],
            "status": "partial",
            "judge": None,
            "semantics": None,
            "notes": [],
        }
    )


def _merged(shard: Shard) -> MergedShard:
    run = shard.run
    return MergedShard(id=run.id, shard=shard.part, status=run.status, duration_s=run.duration_s)


def _server(runs: Sequence[EvalRun]) -> ServerRecord:
    """The server as it was met first and left last."""
    first = min(runs, key=lambda run: run.created_at).server
    last = max(runs, key=lambda run: run.completed_at or run.created_at).server
    return runs[0].server.model_copy(
        update={
            "snapshot_start": first.snapshot_start,
            "snapshot_end": last.snapshot_end,
            "changed": _has_changed(first, runs),
            "missing_documents": _all_of("missing_documents", runs),
            "document_ids": dict(chain.from_iterable(run.server.document_ids.items() for run in runs)),
            "masked": _all_of("masked", runs),
        }
    )


def _has_changed(first: ServerRecord, runs: Sequence[EvalRun]) -> bool | None:
    """Whether the server differs at any end of a shard; None where it could not be read."""
    ends = chain.from_iterable((run.server.snapshot_start, run.server.snapshot_end) for run in runs)
    known = [run.server.changed for run in runs if run.server.changed is not None]
    return any(known) or any(has_changed(first.snapshot_start, end) for end in ends) if known else None


def _all_of(name: str, runs: Sequence[EvalRun]) -> list[str] | None:
    """What the shards know of the server in a list; None where none knows anything."""
    known = [found for run in runs if (found := getattr(run.server, name)) is not None]
    return sorted(set(chain.from_iterable(known))) if known else None
