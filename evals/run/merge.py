"""One run of all shards: their answers and verdicts are scored together, and nothing is asked of anybody."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from secrets import token_hex
from typing import Any

from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError
from evals.judges.models import Identity
from evals.metrics.base import BaseMetric
from evals.metrics.custom import SavedMetric
from evals.run.asking import CHANGED, STOPPED, has_changed
from evals.run.corpus import UNFOUND, chunks_path
from evals.run.embedded import embedded_spec
from evals.run.judging import TOO_MANY_FAILED, VerdictSource
from evals.run.measure import measure
from evals.run.notebook import Observer
from evals.run.resume import WIDTHS, changed_keys, note_on_widths
from evals.run.saved import measured_again, work_of
from evals.run.setup import check_calibrated, check_config, load_toolkit, wants_judge
from evals.run.work import SHARD
from evals.schemas.response import Outcomes, ServerRecord
from evals.schemas.results import EvalRecord, EvalRun, MetricDefinition, MetricResult
from evals.schemas.run_parts import MergedShard
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.conclusion import Measured
from evals.scoring.missing import LOSSES
from evals.scoring.notes import DISPUTED, MATCHING, SLOW, status_of
from evals.scoring.settings import times_asked
from evals.store.disk_buffer import SpilledMapping
from evals.store.naming import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.records import RecordFile
from evals.store.runs import RunStore
from evals.text.numbers import counted

OF_EACH = frozenset({"shard", "name", "concurrency", "engine", "runs_dir", "data_dir", "dataset_file", "server.url"})
"""Keys that shards may have of their own. Where the rows lie is a matter of each machine: that they are the same shows
in the fingerprints. The URL is compared as it was asked."""

_NAMED = 5
"""This many shards are named in a message."""

_BEGIN_AGAIN = "answers that came about in different ways do not make one run: ask this shard again as the first one"

_ANEW = (DISPUTED, UNFOUND, MATCHING, LOSSES, SLOW, SHARD, WIDTHS, STOPPED, CHANGED)
"""How notes begin that are made anew of all records, or mean nothing of the whole."""

_OF_ONE_SHARD = frozenset({"shard", "name", "runs_dir"})


@dataclass(frozen=True, slots=True)
class Shard:
    """A saved run that asked a part of the questions.

    Attributes:
        run: As it is saved.
        config: Of the run.
    """

    run: EvalRun
    config: EvalConfig

    @property
    def part(self) -> str:
        """As it is given to --shard: 2/7."""
        return "{}/{}".format(*self.config.part)

    def __str__(self) -> str:
        return f"shard {self.part} (run {self.run.id})"


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

    def records(self) -> Iterator[EvalRecord]:
        """The records in the order in which one run would have asked.

        Question k of shard i of n (both from 1) is question i + n(k - 1) of the whole.
        """
        for place in range(sum(map(len, self.files))):
            number, shard = divmod(place, len(self.files))
            yield self.files[shard][number]


# What shards must have in common to be one run, and that each question is in one of them.


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
    shards = _in_their_order(runs)
    for shard in shards[1:]:
        if found := _difference(shards[0], shard):
            raise ConfigError(f"{shard} differs from {shards[0]} in {found}", _BEGIN_AGAIN)
    _check_whole(shards, allow_partial=allow_partial)
    files = list(map(_open, shards))
    _check_questions(shards, files)
    written = {key: value for key, value in shards[0].run.eval_config.items() if key not in _OF_ONE_SHARD}
    names = {shard.config.name for shard in shards}
    name = names.pop() if len(names) == 1 else None  # that which the shards were given, where all have one
    own = {"name": f"{name}-merged" if name else None, "runs_dir": DEFAULT_RUNS_DIR}
    written["metrics"] = _metrics_of(shards)
    config = EvalConfig.build(written, own, *layers)
    metrics = check_config(config, asking=False)
    check_calibrated(config, metrics)
    return Shards(shards, files, config, metrics)


def _metrics_of(shards: Sequence[Shard]) -> list[str]:
    """What is measured, by name: no file that a shard took a metric from is run here.

    Raises:
        ConfigError: They measured a metric that is not built in by different code.
    """
    found: dict[str, MetricDefinition] = {}
    for shard in shards:
        for one in shard.run.metric_definitions:
            if found.setdefault(one.name, one).meaning != one.meaning:
                said = f"{shard} measured {one.name} by other code, or defined it differently, than a shard before it"
                raise ConfigError(said, "rescore all shards with one file of metrics")
    names = {one.source: name for name, one in found.items()}
    return [names.get(each, each) for each in shards[0].config.metrics]


def _in_their_order(runs: Sequence[EvalRun]) -> list[Shard]:
    """The shards that these runs are, the first one first."""
    found: dict[str, Shard] = {}
    for shard in map(_shard_of, runs):
        if shard.part in found:
            raise ConfigError(
                f"shard {shard.part} was given twice: run {found[shard.part].run.id} and run {shard.run.id}",
                "name one run for each shard",
            )
        found[shard.part] = shard
    shards = sorted(found.values(), key=lambda shard: shard.config.part)
    first, last = shards[0], max(shards, key=lambda shard: shard.config.part[1])
    count = last.config.part[1]
    if any(shard.config.part[1] != count for shard in shards):
        raise ConfigError(f"{first} and {last} are not of one run", "name the shards of one and the same number")
    missing = [part for number in range(1, count + 1) if (part := f"{number}/{count}") not in found]
    if missing:
        named = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        raise ConfigError(
            f"{len(missing)} of {count} shards {'is' if len(missing) == 1 else 'are'} missing: {named}",
            f"name their runs too, or ask: the same command with --shard {missing[0]}",
        )
    return shards


def _shard_of(run: EvalRun) -> Shard:
    config = EvalConfig.build(run.eval_config)
    if config.shard is None:
        raise ConfigError(f"run {run.id} is no shard: it asked all questions", "name runs that were made with --shard")
    return Shard(run, config)


def _difference(one: Shard, other: Shard) -> str | None:
    """What two shards may not differ in and do, in words; None where they fit together."""
    ours, theirs = _facts(one), _facts(other)
    for what, mine in ours.items():
        if what in theirs and theirs[what] != mine:
            return f"{what}: {theirs[what]}, not {mine}" if isinstance(mine, str | int | None) else what
    changed = changed_keys(one.config, other.config, OF_EACH)
    return f"its configuration: {', '.join(changed)}" if changed else None


def _facts(shard: Shard) -> dict[str, Any]:
    """What the shards of one run have in common, by its name in a message; what is not known of a shard is left out.

    A profile of the same name may say something else, and a URL lead to a server that was changed in between. A shard
    that was never finished says nothing of its judge; the configuration does.
    """
    run, server, judge = shard.run, shard.run.server, shard.run.judge
    facts: dict[str, Any] = {
        "the schema of its file": run.schema_version,
        "the version of rag-evals that measured it": run.package_versions.get("rag-evals"),
        "the profile of its server": server.profile,
        f"what the profile {server.profile} says of asking and reading": [server.spec_sha256, server.citation_base],
        "the questions that the datasets gave": [each.sha256 for each in run.fingerprints],
        **{f"what its server says of itself as {key}": value for key, value in run.config.items()},
    }
    if not shard.config.embedded:
        facts["its server"] = server.url.rstrip("/")
    if run.completed_at:
        facts["whether a judge took part"] = [judge is not None]
    if judge is not None:
        facts |= {f"the {name} of its judge": getattr(judge, name) for name in ("model", "origin", "effort", "repeats")}
        facts |= {f"the prompt {name} of its judge": [value] for name, value in judge.prompt_hashes.items()}
    return facts


def _open(shard: Shard) -> RecordFile:
    """The records of a shard, which stand next to the file of its run."""
    path = shard.run.path
    if path is None:
        raise ConfigError(f"{shard} is in no folder", "load it with RunStore(folder).load(id)")
    records = path.with_name(f"{path.stem}.records.jsonl")
    if not records.exists():
        raise ConfigError(f"{shard} has no records: {records} is missing", "copy the two files of a run together")
    return RunStore(path.parent).open_records(shard.run)


def _check_questions(shards: Sequence[Shard], files: Sequence[RecordFile]) -> None:
    """Check that every question of the datasets is in one shard, and in no other."""
    total = sum(each.questions for each in shards[0].run.fingerprints) * times_asked(shards[0].run)
    homes: dict[str, Shard] = {}
    for shard, file in zip(shards, files, strict=True):
        for key in file.ids:
            if key in homes:
                raise ConfigError(
                    f"question {key!r} is in {homes[key]} and in {shard}",
                    "the records of one are not those of its part: copy both files of its run again, or ask it again",
                )
            homes[key] = shard
        number, count = shard.config.part
        planned = len(range(number - 1, total, count))
        if len(file) != planned:
            there = counted(len(file), "question")
            raise ConfigError(
                f"{shard} holds {there}, and its part of the {total} of the datasets is {planned}",
                f"copy both files of its run again, or continue with it: {_resume(shard.run)}",
            )


def _check_whole(shards: Sequence[Shard], *, allow_partial: bool) -> None:
    """Check that all shards are complete, or partial where that will do; one that failed has no answer."""
    taken = {"complete", "partial"} if allow_partial else {"complete"}
    undone = [shard for shard in shards if shard.run.status not in taken]
    if undone:
        named = ", ".join(f"{shard} is {shard.run.status}" for shard in undone[:_NAMED])
        ways = f"continue with: {'; '.join(_resume(shard.run) for shard in undone[:_NAMED])}"
        if not any(shard.run.status == "failed" for shard in undone):
            ways += "; or merge what there is, as a partial run: --allow-partial"
        raise RunIncompleteError(named + (", …" if len(undone) > _NAMED else ""), ways)


def _resume(run: EvalRun) -> str:
    """The command that asks for what a shard lacks."""
    again = command(f"eval --resume {run.rescored_from or run.id}", folder_of(run))
    return f"{again}, then {command(f'rescore {run.rescored_from}', folder_of(run))}" if run.rescored_from else again


# The records of all shards as one run, with the verdicts that they have.


async def merge(shards: Shards, observer: Observer) -> Measured:
    """Score the records of all shards together, with the verdicts that they have, and save them as a run.

    Args:
        shards: What is merged; they stay as they are.
        observer: Receives the progress.

    Raises:
        ConfigError: A model that compares texts cannot be loaded.
        StoreError: The records cannot be read, or the result cannot be written.
    """
    config, runs = shards.config, shards.runs
    RunStore(config.runs_dir).prepare()
    no_judge = config.model_copy(update={"judge": config.judge.model_copy(update={"enabled": False})})
    toolkit = await load_toolkit(no_judge, shards.metrics, observer)
    verdicts: SpilledMapping[list[JudgeVerdict]] = SpilledMapping(list[JudgeVerdict], config.runs_dir)
    measured = _without_code(shards)

    def records() -> Iterator[EvalRecord]:
        for record in shards.records():
            verdicts[record.question.id] = record.verdicts
            _keep(record, measured)
            yield record

    run = _new_run(shards)
    spec = embedded_spec(run.server.url, config.server) if config.embedded else config.server_spec()
    stopped = _why_stopped(shards.shards)
    work = replace(
        work_of(run, records(), config, notes=_notes(shards, run, stopped), free={}),
        usage_needs_concurrency=spec.usage_needs_concurrency,
        chunks_path=chunks_path(spec),
        lacks=stopped,
        cut_short=any(_is_cut_short(run, config.max_error_rate) for run in runs),
    )
    judged = None
    if wants_judge(config, shards.metrics):
        judged = VerdictSource(verdicts, _judge_of(shards), config.judge.repeats, config.judge.max_error_rate)
        judged.prevented = sum(run.judge.prevented for run in runs if run.judge)
        judged.left = sum(run.judge.left for run in runs if run.judge)
    return await measure(work, toolkit, config, observer, judged=judged)


def _without_code(shards: Shards) -> dict[str, SavedMetric]:
    """By name, the metrics whose values are taken from the shards."""
    found = {metric.name: metric for metric in shards.metrics if isinstance(metric, SavedMetric)}
    for metric in found.values():
        metric.results = SpilledMapping(MetricResult, shards.config.runs_dir)
    return found


def _keep(record: EvalRecord, measured: Mapping[str, SavedMetric]) -> None:
    """Keep what was measured of a record where the code of the metrics was."""
    for score in record.scores:
        if score.name in measured:
            measured[score.name].results[record.question.id] = score


def _judge_of(shards: Shards) -> Identity:
    """Who judged: by what the shards say, as the address may be of the environment of those machines."""
    own = shards.config.judge.identity
    first = next((run.judge for run in shards.runs if run.judge is not None), own)
    return Identity(first.model, first.origin, own.provider, first.effort)


def _is_cut_short(run: EvalRun, max_error_rate: float) -> bool:
    """Whether a shard is partial for anything but its own shares of failures: those of the whole are seen anew."""
    if run.status == "complete":
        return False
    if run.completed_at is None or run.outcomes.stopped or (run.judge and (run.judge.prevented or run.judge.left)):
        return True
    too_many = status_of(run.outcomes, max_error_rate, ended_early=False) == "partial"
    return not too_many and not any(note.startswith(TOO_MANY_FAILED) for note in run.notes)


def _notes(shards: Shards, run: EvalRun, stopped: str | None) -> list[str]:
    """What shards say, once where all say it, else with the shard's number; what the whole says as well goes later."""
    said = Counter(chain.from_iterable(dict.fromkeys(_kept_notes(one)) for one in shards.runs))
    notes = [note for note in said if said[note] == len(shards.shards)]
    for shard in shards.shards:
        notes += [f"shard {shard.part}: {note}" for note in _kept_notes(shard.run) if note not in notes]
    notes += note_on_widths(run.concurrencies)
    notes += [f"{STOPPED}{stopped}"] if stopped else []
    return [*notes, CHANGED] if run.server.changed else notes


def _kept_notes(run: EvalRun) -> list[str]:
    return [note for note in run.notes if not note.startswith(_ANEW)]


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
    run_id = token_hex(4)
    return measured_again(
        runs[0],
        config,
        _server(runs),
        id=run_id,
        name=f"merged-{run_id}",
        count=sum(map(len, shards.files)),
        concurrency=max(widths),
        concurrencies=widths if len(widths) > 1 else [],
        duration_s=round(sum(run.duration_s for run in runs), 3),
        merged_from=[
            MergedShard(id=shard.run.id, shard=shard.part, status=shard.run.status, duration_s=shard.run.duration_s)
            for shard in shards.shards
        ],
        outcomes=Outcomes(warmup_ms=list(chain.from_iterable(run.outcomes.warmup_ms for run in runs))),
    )


def _server(runs: Sequence[EvalRun]) -> ServerRecord:
    """The server as it was met first and left last; it changed where it differs at any end of a shard."""
    first = min(runs, key=lambda run: run.created_at).server
    last = max(runs, key=lambda run: run.completed_at or run.created_at).server
    known = {run.server.changed for run in runs} - {None}
    ends = chain.from_iterable((run.server.snapshot_start, run.server.snapshot_end) for run in runs)
    changed = True in known or any(has_changed(first.snapshot_start, end) for end in ends)
    return runs[0].server.model_copy(
        update={
            "snapshot_start": first.snapshot_start,
            "snapshot_end": last.snapshot_end,
            "changed": changed if known else None,
            "missing_documents": _all_of([run.server.missing_documents for run in runs]),
            "document_ids": dict(chain.from_iterable(run.server.document_ids.items() for run in runs)),
            "masked": _all_of([run.server.masked for run in runs]),
        }
    )


def _all_of(lists: Sequence[list[str] | None]) -> list[str] | None:
    """What the shards know of the server; None where none knows anything."""
    known = [one for one in lists if one is not None]
    return sorted(set(chain.from_iterable(known))) if known else None
