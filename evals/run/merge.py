"""One run of all shards: their answers and verdicts are scored together, and nothing is asked of anybody."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from secrets import token_hex
from typing import Any

from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError
from evals.judges.backends.base import Identity
from evals.judges.record import NOTE, VerdictTally
from evals.metrics.base import BaseMetric
from evals.run.asking import CHANGED, STOPPED, has_changed
from evals.run.corpus import UNFOUND, chunks_unfound
from evals.run.judging import note_on_failures, note_on_family
from evals.run.notebook import Observer
from evals.run.resume import WIDTHS, note_on_widths
from evals.run.setup import check_calibrated, check_config, embedded_spec, load_instruments, wants_judge
from evals.run.text_models import compare_texts
from evals.run.work import SHARD
from evals.schemas.response import EvalResponse, Outcomes, ServerRecord
from evals.schemas.results import SCHEMA_VERSION, EvalRecord, EvalRun, Scorecard, WeightedScore
from evals.schemas.run_parts import MergedShard
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.calibration import with_cards
from evals.scoring.conclusion import Ended, Measured, Scorer
from evals.scoring.diagnosis.stages import facts_of
from evals.scoring.digest import RunSummaryBuilder
from evals.scoring.missing import LOSSES, with_facts
from evals.scoring.notes import DISPUTED, MATCHING, NO_CHUNKS, AnswerTally, package_versions, status_of, usage_limit
from evals.scoring.settings import ScoringContext, confidence, times_asked
from evals.secrets import leaves
from evals.store.naming import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.records import RecordFile
from evals.store.runs import RunStore, saved_calibrations
from evals.text.numbers import counted

# A saved run as a shard, and the files of all of them.


@dataclass(frozen=True, slots=True)
class Shard:
    """A run that asked a part of the questions, with what its own records give reason to say.

    Attributes:
        run: As it is saved.
        number: Which part it asked, from 1.
        count: How many parts there are.
        answers: What its answers give reason to say, as they pass by.
        verdicts: The same of its judge.
    """

    run: EvalRun
    number: int
    count: int
    answers: AnswerTally = field(default_factory=AnswerTally)
    verdicts: VerdictTally = field(default_factory=VerdictTally)

    @property
    def part(self) -> str:
        """As it is given to --shard: 2/7."""
        return f"{self.number}/{self.count}"

    def __str__(self) -> str:
        return f"shard {self.part} (run {self.run.id})"


def shard_of(run: EvalRun) -> Shard:
    """The shard that a run is.

    Raises:
        ConfigError: It asked all questions of its configuration.
    """
    config = EvalConfig.build(run.eval_config)
    if config.shard is None:
        raise ConfigError(f"run {run.id} is no shard: it asked all questions", "name runs that were made with --shard")
    return Shard(run, *config.part)


def in_their_order(runs: Sequence[EvalRun]) -> list[Shard]:
    """The shards that these runs are, the first one first.

    Raises:
        ConfigError: One is no shard, is of another number of shards, was given twice, or is missing.
    """
    shards = sorted(map(shard_of, runs), key=lambda shard: shard.number)
    first, there = shards[0], dict[int, Shard]()
    for shard in shards:
        if shard.count != first.count:
            raise ConfigError(f"{first} and {shard} are not of one run", "name the shards of one and the same number")
        if shard.number in there:
            raise ConfigError(
                f"shard {shard.part} was given twice: run {there[shard.number].run.id} and run {shard.run.id}",
                "name one run for each shard",
            )
        there[shard.number] = shard
    missing = [f"{number}/{first.count}" for number in range(1, first.count + 1) if number not in there]
    if missing:
        named = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        raise ConfigError(
            f"{len(missing)} of {first.count} shards {'is' if len(missing) == 1 else 'are'} missing: {named}",
            f"name their runs too, or ask: the same command with --shard {missing[0]}",
        )
    return shards


def open_files(shards: Sequence[Shard]) -> list[RecordFile]:
    """The records of the shards, which stand beside the files of the runs.

    Raises:
        ConfigError: One is not there.
        StoreError: One is damaged before its last line.
    """
    return [_open(shard) for shard in shards]


def _open(shard: Shard) -> RecordFile:
    path = shard.run.path
    if path is None:
        raise ConfigError(f"{shard} is in no folder", "load it with RunStore(folder).load(id)")
    records = path.with_name(f"{path.stem}.records.jsonl")
    if not records.exists():
        raise ConfigError(f"{shard} has no records: {records} is missing", "copy the two files of a run together")
    return RunStore(path.parent).open_records(shard.run)


# What shards must have in common to be one run, and that each question is in one of them.


OF_EACH = frozenset({"shard", "name", "concurrency", "engine", "runs_dir", "data_dir", "dataset_file", "server.url"})
"""Keys that shards may have of their own. Where the rows lie is a matter of each machine: that they are the same shows
in the fingerprints. The URL is compared as it was asked."""

_RESUME_HINT = "eval --resume"

_PARTIAL_HINT = "or merge what there is, as a partial run: --allow-partial"


_NAMED = 5
"""So many shards are named in a message."""

_BEGIN_AGAIN = "answers that came about in different ways do not make one run: ask this shard again as the first one"


def check_alike(shards: Sequence[Shard]) -> None:
    """Check that all were asked of one server about the same questions, and measured alike.

    Raises:
        ConfigError: One differs from the first; the message names the shard and what differs.
    """
    first = shards[0]
    for shard in shards[1:]:
        found = next(_differences(first.run, shard.run), None)
        if found is not None:
            raise ConfigError(f"{shard} differs from {first} in {found}", _BEGIN_AGAIN)


def _differences(one: EvalRun, other: EvalRun) -> Iterator[str]:
    """What may not differ and does, in words."""
    if one.schema_version != other.schema_version:
        yield f"the version of its file: schema {other.schema_version}, not {one.schema_version}"
    ours, theirs = one.package_versions.get("rag-evals"), other.package_versions.get("rag-evals")
    if ours != theirs:
        yield f"the version of rag-evals that measured it: {theirs}, not {ours}"
    yield from _of_configuration(one, other)
    if [each.sha256 for each in one.fingerprints] != [each.sha256 for each in other.fingerprints]:
        yield "the questions that the datasets gave"
    yield from _of_server(one, other)
    yield from _of_judge(one, other)


def _of_configuration(one: EvalRun, other: EvalRun) -> Iterator[str]:
    before, now = _deciding(one), _deciding(other)
    changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    if changed:
        yield f"its configuration: {', '.join(changed)}"


def _deciding(run: EvalRun) -> dict[str, Any]:
    """What must be the same, by paths, with defaults filled in; profiles by name, as their files may be elsewhere."""
    config = EvalConfig.build(run.eval_config)
    data = config.as_written()
    data["datasets"], data["suite"] = config.dataset_names, config.suite_names
    found = dict(leaves({key: value for key, value in data.items() if key not in OF_EACH}))
    return {path: value for path, value in found.items() if path not in OF_EACH}


def _of_server(one: EvalRun, other: EvalRun) -> Iterator[str]:
    """A profile of the same name may say something else, and a URL lead to a server that was changed in between."""
    if one.server.profile != other.server.profile:
        yield f"the profile of its server: {other.server.profile}, not {one.server.profile}"
    if (one.server.spec_sha256, one.server.citation_base) != (other.server.spec_sha256, other.server.citation_base):
        yield f"what the profile {one.server.profile} says of how questions are asked and answers read"
    if not one.eval_config.get("embedded") and one.server.url.rstrip("/") != other.server.url.rstrip("/"):
        yield f"its server: {other.server.url}, not {one.server.url}"
    changed = sorted(
        key for key in one.config.keys() | other.config.keys() if one.config.get(key) != other.config.get(key)
    )
    if changed:
        yield f"what its server says of itself: {', '.join(changed)}"


def _of_judge(one: EvalRun, other: EvalRun) -> Iterator[str]:
    """A shard that was never finished says nothing of its judge; the configuration does."""
    ours, theirs = one.judge, other.judge
    if ours is not None and theirs is not None:
        yield from _of_judges(ours, theirs)
    elif ours is not theirs and one.completed_at and other.completed_at:
        yield "whether a judge took part"


def _of_judges(one: JudgeRecord, other: JudgeRecord) -> Iterator[str]:
    for name in ("model", "origin", "effort", "repeats"):
        if getattr(one, name) != getattr(other, name):
            yield f"the {name} of its judge: {getattr(other, name)}, not {getattr(one, name)}"
    both = one.prompt_hashes.keys() & other.prompt_hashes.keys()
    changed = sorted(name for name in both if one.prompt_hashes[name] != other.prompt_hashes[name])
    if changed:
        yield f"the prompts of its judge: {', '.join(changed)}"


def check_questions(shards: Sequence[Shard], files: Sequence[RecordFile]) -> None:
    """Check that every question of the datasets is in one shard, and in no other.

    Raises:
        ConfigError: One is in two, or in none.
    """
    total = sum(fingerprint.questions for fingerprint in shards[0].run.fingerprints)
    homes: dict[str, Shard] = {}
    for shard, file in zip(shards, files, strict=True):
        for key in file.ids:
            if key in homes:
                raise ConfigError(
                    f"question {key!r} is in {homes[key]} and in {shard}",
                    "the records of one are not those of its part: copy both files of its run again, or ask it again",
                )
            homes[key] = shard
        _check_count(shard, len(file), total)


def _check_count(shard: Shard, there: int, total: int) -> None:
    planned = len(range(shard.number - 1, total, shard.count))
    if there != planned:
        raise ConfigError(
            f"{shard} holds {counted(there, 'question')}, and its part of the {total} of the datasets is {planned}",
            f"copy both files of its run again, or go on with it: {_resume(shard.run)}",
        )


def check_whole(shards: Sequence[Shard], *, allow_partial: bool) -> None:
    """Check that all shards are complete.

    Args:
        shards: All.
        allow_partial: Whether one that is partial will do. One that failed never does: it has no answer.

    Raises:
        RunIncompleteError: One is not; the hint has the command that goes on with it.
    """
    taken = {"complete", "partial"} if allow_partial else {"complete"}
    undone = [shard for shard in shards if shard.run.status not in taken]
    if undone:
        named = ", ".join(f"{shard} is {shard.run.status}" for shard in undone[:_NAMED])
        raise RunIncompleteError(named + (", …" if len(undone) > _NAMED else ""), _way_on(undone))


def _way_on(undone: Sequence[Shard]) -> str:
    ways = f"go on with: {'; '.join(_resume(shard.run) for shard in undone[:_NAMED])}"
    if any(shard.run.status == "failed" for shard in undone):
        return ways
    return f"{ways}; {_PARTIAL_HINT}"


def _resume(run: EvalRun) -> str:
    """The command that asks for what a shard lacks."""
    if run.rescored_from is not None:
        again = command(f"{_RESUME_HINT} {run.rescored_from}", folder_of(run))
        return f"{again}, then {command(f'rescore {run.rescored_from}', folder_of(run))}"
    return command(f"{_RESUME_HINT} {run.id}", folder_of(run))


# What a reader of a merged run must know: what holds for all shards is said once, the rest with the shard's number.


_ANEW = (NOTE, DISPUTED, UNFOUND, MATCHING, LOSSES, SHARD, WIDTHS, STOPPED, CHANGED)
"""How notes begin that are made anew of all records, or mean nothing of the whole."""


def notes_on_the_way(shards: Sequence[Shard], usage_limit: int | None) -> list[str]:
    """What shards say of how they were asked, without what their answers gave reason to say: that is said of all.

    Args:
        shards: All, with what their answers give reason to say.
        usage_limit: Above this concurrency the server's token counts mix; None where that does not matter.
    """
    said = {shard.part: _own(shard, usage_limit) for shard in shards}
    everywhere = [note for note in said[shards[0].part] if all(note in notes for notes in said.values())]
    rest = [f"shard {part}: {note}" for part, notes in said.items() for note in notes if note not in everywhere]
    return [*everywhere, *rest]


def _own(shard: Shard, usage_limit: int | None) -> list[str]:
    of_answers = shard.answers.notes(concurrency=shard.run.concurrency, usage_limit=usage_limit)
    return [note for note in shard.run.notes if not note.startswith(_ANEW) and note not in of_answers]


def why_stopped(shards: Sequence[Shard]) -> str | None:
    """Why asking ended early, where it did."""
    stopped = [shard for shard in shards if shard.run.outcomes.stopped]
    if len(shards) == 1:
        return shards[0].run.outcomes.stopped
    return "; ".join(f"shard {shard.part}: {shard.run.outcomes.stopped}" for shard in stopped) or None


def failed_too_often(tally: VerdictTally, max_error_rate: float) -> bool:
    """Whether more of a judge's decisions are lost than may be."""
    lost, total = tally.failed
    return lost > max_error_rate * total


def notes_on_judging(
    shards: Sequence[Shard],
    tally: VerdictTally,
    judge: Identity,
    *,
    prevented: int,
    max_error_rate: float,
    config: Mapping[str, Any],
) -> list[str]:
    """What a reader of judged numbers must know.

    Args:
        shards: All, with what their verdicts give reason to say.
        tally: Of all verdicts.
        judge: Who judged.
        prevented: Decisions that the budgets did not allow.
        max_error_rate: The run is partial where more of the decisions are lost.
        config: The server's configuration, as it says itself.
    """
    lost = [note_on_failures(max_error_rate)]
    family = note_on_family(judge.model, config)
    made = [*tally.notes(judge, prevented=prevented), *(lost if failed_too_often(tally, max_error_rate) else [])]
    remarks = chain.from_iterable(_remarks(shard, judge, {*lost, *family}) for shard in shards)
    return [*made, *dict.fromkeys(remarks), *family]


def _remarks(shard: Shard, judge: Identity, others: set[str]) -> Iterator[str]:
    """What a shard says of its judge that follows from no verdict, such as what the vendor sent on the way."""
    prevented = shard.run.judge.prevented if shard.run.judge else 0
    known = {*shard.verdicts.notes(judge, prevented=prevented), *others}
    return (note for note in shard.run.notes if note.startswith(NOTE) and note not in known)


# The records of all shards, in the order in which one run would have asked.


_HELD_OPEN = 64
"""So many files are read side by side; of more, each is opened for each record."""


class ShardRecords(Sequence[EvalRecord]):
    """The records of shards put together; none is held.

    Question k of shard i of n (both from 1) is question i + n(k - 1) of the whole.

    Args:
        files: Of the shards, in the order of their numbers.
    """

    def __init__(self, files: Sequence[RecordFile]) -> None:
        self._files = files
        self._count = sum(map(len, files))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> EvalRecord:  # type: ignore[override]  # no slices
        number = range(self._count)[place]
        return self._files[number % len(self._files)][number // len(self._files)]

    def __iter__(self) -> Iterator[EvalRecord]:
        if len(self._files) > _HELD_OPEN:
            return (self[place] for place in range(self._count))
        readers = [iter(file) for file in self._files]
        return (next(readers[place % len(readers)]) for place in range(self._count))


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
    digest = RunSummaryBuilder(facts_of(run, records), cases.within(records))
    conclusion = Scorer(run, metrics, cases, shards.config, digest)
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
    return Measured(run, cases, scored, digest.build(confidence(run), times_asked(run)))


async def _cases(shards: Shards, run: EvalRun, observer: Observer) -> ScoringContext:
    """The records as metrics see them; of a judge its verdicts are enough, so that none is made."""
    config = shards.config
    without = config.model_copy(update={"judge": config.judge.model_copy(update={"enabled": False})})
    instruments = await load_instruments(without, shards.metrics, observer)
    return ScoringContext(replace(instruments.settings(config, run.server.citation_base), judged=shards.judged))


def _passing(shards: Shards, conclusion: Scorer, cases: ScoringContext) -> Iterator[EvalRecord]:
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


def _notes(shards: Shards, run: EvalRun, answers: AnswerTally) -> list[str]:
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
