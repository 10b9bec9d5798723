"""One run of all shards: their answers and verdicts are scored together, and nothing is asked of anybody."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError
from evals.judges.backends.base import Identity
from evals.judges.record import NOTE, VerdictTally
from evals.metrics.base import BaseMetric
from evals.run.asking import CHANGED, STOPPED, has_changed
from evals.run.corpus import UNFOUND, chunks_path
from evals.run.embedded import embedded_spec
from evals.run.judging import note_on_failures, note_on_family
from evals.run.measure import measure
from evals.run.notebook import Observer
from evals.run.resume import WIDTHS, note_on_widths
from evals.run.saved import measured_again, work_of
from evals.run.setup import check_calibrated, check_config, load_instruments, wants_judge
from evals.run.work import SHARD
from evals.schemas.response import Outcomes, ServerRecord
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.run_parts import MergedShard
from evals.schemas.verdicts import JudgeRecord, JudgeVerdict
from evals.scoring.conclusion import Measured, PassingCases
from evals.scoring.missing import LOSSES
from evals.scoring.notes import DISPUTED, MATCHING, AnswerTally, status_of, usage_limit
from evals.scoring.settings import ScoringContext
from evals.secrets import leaves
from evals.store.disk_buffer import SpilledMapping
from evals.store.naming import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.records import RecordFile
from evals.store.runs import RunStore
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


def in_their_order(runs: Sequence[EvalRun]) -> list[Shard]:
    """The shards that these runs are, the first one first.

    Raises:
        ConfigError: One is no shard, is of another number of shards, was given twice, or is missing.
    """
    shards = sorted(map(_shard_of, runs), key=lambda shard: shard.number)
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


def _shard_of(run: EvalRun) -> Shard:
    config = EvalConfig.build(run.eval_config)
    if config.shard is None:
        raise ConfigError(f"run {run.id} is no shard: it asked all questions", "name runs that were made with --shard")
    return Shard(run, *config.part)


def _open(shard: Shard) -> RecordFile:
    """The records of a shard, which stand beside the file of its run."""
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
    """What may not differ and does, in words.

    A profile of the same name may say something else, and a URL lead to a server that was changed in between.
    """
    ours, theirs = one.server, other.server
    versions = [run.package_versions.get("rag-evals") for run in (one, other)]
    configured, facts = _changed(_deciding(one), _deciding(other)), _changed(one.config, other.config)
    read_alike = (ours.spec_sha256, ours.citation_base) == (theirs.spec_sha256, theirs.citation_base)
    is_elsewhere = not one.eval_config.get("embedded") and ours.url.rstrip("/") != theirs.url.rstrip("/")
    questions = [[each.sha256 for each in run.fingerprints] for run in (one, other)]
    found = {
        f"the version of its file: schema {other.schema_version}, not {one.schema_version}": (
            one.schema_version != other.schema_version
        ),
        f"the version of rag-evals that measured it: {versions[1]}, not {versions[0]}": versions[0] != versions[1],
        f"its configuration: {', '.join(configured)}": configured,
        "the questions that the datasets gave": questions[0] != questions[1],
        f"the profile of its server: {theirs.profile}, not {ours.profile}": ours.profile != theirs.profile,
        f"what the profile {ours.profile} says of how questions are asked and answers read": not read_alike,
        f"its server: {theirs.url}, not {ours.url}": is_elsewhere,
        f"what its server says of itself: {', '.join(facts)}": facts,
    }
    yield from (said for said, differs in found.items() if differs)
    yield from _of_judge(one, other)


def _changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))


def _deciding(run: EvalRun) -> dict[str, Any]:
    """What must be the same, by paths, with defaults filled in; profiles by name, as their files may be elsewhere."""
    config = EvalConfig.build(run.eval_config)
    data = config.as_written()
    data["datasets"], data["suite"] = config.dataset_names, config.suite_names
    found = dict(leaves({key: value for key, value in data.items() if key not in OF_EACH}))
    return {path: value for path, value in found.items() if path not in OF_EACH}


def _of_judge(one: EvalRun, other: EvalRun) -> Iterator[str]:
    """A shard that was never finished says nothing of its judge; the configuration does."""
    ours, theirs = one.judge, other.judge
    if ours is None or theirs is None:
        if ours is not theirs and one.completed_at and other.completed_at:
            yield "whether a judge took part"
        return
    for name in ("model", "origin", "effort", "repeats"):
        if getattr(ours, name) != getattr(theirs, name):
            yield f"the {name} of its judge: {getattr(theirs, name)}, not {getattr(ours, name)}"
    both = ours.prompt_hashes.keys() & theirs.prompt_hashes.keys()
    changed = sorted(both.intersection(_changed(ours.prompt_hashes, theirs.prompt_hashes)))
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
        planned = len(range(shard.number - 1, total, shard.count))
        if len(file) != planned:
            there = counted(len(file), "question")
            raise ConfigError(
                f"{shard} holds {there}, and its part of the {total} of the datasets is {planned}",
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
    return f"{ways}; or merge what there is, as a partial run: --allow-partial"


def _resume(run: EvalRun) -> str:
    """The command that asks for what a shard lacks."""
    if run.rescored_from is not None:
        again = command(f"eval --resume {run.rescored_from}", folder_of(run))
        return f"{again}, then {command(f'rescore {run.rescored_from}', folder_of(run))}"
    return command(f"eval --resume {run.id}", folder_of(run))


# The records of all shards as one run, with the verdicts that they have.


_ANEW = (NOTE, DISPUTED, UNFOUND, MATCHING, LOSSES, SHARD, WIDTHS, STOPPED, CHANGED)
"""How notes begin that are made anew of all records, or mean nothing of the whole."""


_OF_ONE_SHARD = frozenset({"shard", "name", "runs_dir"})


@dataclass(frozen=True, slots=True)
class Shards:
    """All shards of a run, which fit together, and what is made of them.

    Attributes:
        shards: In the order of their numbers.
        files: Their records.
        config: Of the merged run.
        metrics: What is measured.
    """

    shards: Sequence[Shard]
    files: Sequence[RecordFile]
    config: EvalConfig
    metrics: Sequence[BaseMetric]

    @property
    def runs(self) -> list[EvalRun]:
        """As they are saved."""
        return [shard.run for shard in self.shards]

    def records(self) -> Iterator[tuple[Shard, EvalRecord]]:
        """The records in the order in which one run would have asked, each with its shard.

        Question k of shard i of n (both from 1) is question i + n(k - 1) of the whole.
        """
        for place in range(sum(map(len, self.files))):
            number, shard = divmod(place, len(self.files))
            yield self.shards[shard], self.files[shard][number]


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
    files = list(map(_open, shards))
    check_questions(shards, files)
    written = {key: value for key, value in shards[0].run.eval_config.items() if key not in _OF_ONE_SHARD}
    names = {shard.run.eval_config.get("name") for shard in shards}
    name = names.pop() if len(names) == 1 else None  # that which the shards were given, where all have one
    own = {"name": f"{name}-merged" if name else None, "runs_dir": DEFAULT_RUNS_DIR}
    config = EvalConfig.build(written, own, *layers)
    metrics = check_config(config, asking=False)
    check_calibrated(config, metrics)
    return Shards(shards, files, config, metrics)


async def merge(shards: Shards, observer: Observer) -> Measured:
    """Score the records of all shards together, with the verdicts that they have, and save them as a run.

    Args:
        shards: What is merged; they stay as they are.
        observer: Hears of the progress.

    Raises:
        ConfigError: A model that compares texts cannot be loaded.
        StoreError: The records cannot be read, or the result cannot be written.
    """
    config = shards.config
    RunStore(config.runs_dir).prepare()
    no_judge = config.model_copy(update={"judge": config.judge.model_copy(update={"enabled": False})})
    toolkit = await load_instruments(no_judge, shards.metrics, observer)
    run, judged = _new_run(shards), _MergedVerdicts(shards)
    cases = PassingCases(toolkit.settings(config, run.server.citation_base, judged=judged.has_judge))
    work = work_of(run, judged.passing(cases), config, notes=(), free={})
    spec = embedded_spec(run.server.url, config.server) if config.embedded else config.server_spec()
    limit = usage_limit(shards.metrics, spec.usage_needs_concurrency)
    work = replace(
        work,
        usage_needs_concurrency=spec.usage_needs_concurrency,
        chunks_path=chunks_path(spec),
        notes=_notes_on_asking(shards, run, limit),
        lacks=_why_stopped(shards.shards),
        cut_short=any(judged.is_cut_short(shard) for shard in shards.shards),
    )
    return await measure(work, toolkit, config, observer, judged=judged if judged.has_judge else None)


class _MergedVerdicts:
    """The verdicts that shards have, and what follows from all of them: the `VerdictSource` of a merged run."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._tally = VerdictTally()
        self._judges = [run.judge for run in shards.runs if run.judge is not None]
        self._max_error_rate = shards.config.judge.max_error_rate
        self.has_judge = wants_judge(shards.config, shards.metrics)
        self.verdicts: SpilledMapping[list[JudgeVerdict]] = SpilledMapping(list[JudgeVerdict], shards.config.runs_dir)

    def passing(self, cases: ScoringContext) -> Iterator[EvalRecord]:
        """The records of all shards; each is counted for its shard and for the whole."""
        for shard, record in self._shards.records():
            shard.answers.add(record, cases.of(record))
            shard.verdicts.add(record.verdicts)
            self._tally.add(record.verdicts)
            self.verdicts[record.question.id] = record.verdicts
            yield record

    @property
    def incomplete(self) -> bool:
        return self._fails_too_often(self._tally)

    def _fails_too_often(self, tally: VerdictTally) -> bool:
        """Whether more of a judge's decisions are lost than may be."""
        lost, total = tally.failed
        return lost > self._max_error_rate * total

    def is_cut_short(self, shard: Shard) -> bool:
        """Whether a shard is partial for anything but its own shares of failures: those of the whole are seen anew."""
        run, limit = shard.run, self._shards.config.max_error_rate
        if run.status == "complete":
            return False
        if run.completed_at is None or run.outcomes.stopped or (run.judge and (run.judge.prevented or run.judge.left)):
            return True
        failed = status_of(run.outcomes, limit, ended_early=False) == "partial"
        return not failed and not self._fails_too_often(shard.verdicts)

    @property
    def _identity(self) -> Identity:
        """Who judged: by what the shards say, as the address may be of the environment of those machines."""
        judge = self._shards.config.judge
        if not self._judges:
            return judge.identity
        first = self._judges[0]
        return Identity(first.model, first.origin, judge.provider, first.effort)

    def record(self) -> JudgeRecord:
        prevented, left = (sum(getattr(judge, name) for judge in self._judges) for name in ("prevented", "left"))
        made = self._tally.record(self._identity, self._shards.config.judge.repeats, prevented=prevented)
        return made.model_copy(update={"left": left})

    def notes(self, config: Mapping[str, Any]) -> list[str]:
        judge, prevented = self._identity, sum(judge.prevented for judge in self._judges)
        lost, family = [note_on_failures(self._max_error_rate)], note_on_family(judge.model, config)
        made = [*self._tally.notes(judge, prevented=prevented), *(lost if self.incomplete else [])]
        remarks = chain.from_iterable(_remarks(shard, judge, {*lost, *family}) for shard in self._shards.shards)
        return [*made, *dict.fromkeys(remarks), *family]


def _remarks(shard: Shard, judge: Identity, others: set[str]) -> Iterator[str]:
    """What a shard says of its judge that follows from no verdict, such as what the vendor sent on the way."""
    prevented = shard.run.judge.prevented if shard.run.judge else 0
    known = {*shard.verdicts.notes(judge, prevented=prevented), *others}
    return (note for note in shard.run.notes if note.startswith(NOTE) and note not in known)


def _notes_on_asking(shards: Shards, run: EvalRun, usage_limit: int | None) -> list[str]:
    """What shards say of how they were asked, without what their answers gave reason to say: that is said of all."""
    said = {shard.part: _own(shard, usage_limit) for shard in shards.shards}
    everywhere = [note for note in said[shards.shards[0].part] if all(note in notes for notes in said.values())]
    rest = [f"shard {part}: {note}" for part, notes in said.items() for note in notes if note not in everywhere]
    stopped = _why_stopped(shards.shards)
    return [
        *everywhere,
        *rest,
        *note_on_widths(run.concurrencies),
        *([f"{STOPPED}{stopped}"] if stopped else []),
        *([CHANGED] if run.server.changed else []),
    ]


def _own(shard: Shard, usage_limit: int | None) -> list[str]:
    of_answers = shard.answers.notes(concurrency=shard.run.concurrency, usage_limit=usage_limit)
    return [note for note in shard.run.notes if not note.startswith(_ANEW) and note not in of_answers]


def _why_stopped(shards: Sequence[Shard]) -> str | None:
    """Why asking ended early, where it did."""
    if len(shards) == 1:
        return shards[0].run.outcomes.stopped
    stopped = [f"shard {shard.part}: {shard.run.outcomes.stopped}" for shard in shards if shard.run.outcomes.stopped]
    return "; ".join(stopped) or None


def _new_run(shards: Shards) -> EvalRun:
    """The run as it is before anything of it was measured."""
    runs, config = shards.runs, shards.config
    widths = list(dict.fromkeys(chain.from_iterable(run.concurrencies or [run.concurrency] for run in runs)))
    merged_from = [
        MergedShard(id=shard.run.id, shard=shard.part, status=shard.run.status, duration_s=shard.run.duration_s)
        for shard in shards.shards
    ]
    new = measured_again(runs[0], config)
    return new.model_copy(
        update={
            "name": config.name or f"merged-{new.id}",
            "question_count": sum(map(len, shards.files)),
            "server": _server(runs),
            "concurrency": max(widths),
            "concurrencies": widths if len(widths) > 1 else [],
            "duration_s": round(sum(run.duration_s for run in runs), 3),
            "merged_from": merged_from,
            "outcomes": Outcomes(warmup_ms=list(chain.from_iterable(run.outcomes.warmup_ms for run in runs))),
        }
    )


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
