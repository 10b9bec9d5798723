"""One run of all shards: their records are concatenated and scored; nothing is asked of a server or a judge."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from secrets import token_hex
from typing import Any

from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, StoreError
from evals.judges.models import Identity
from evals.judges.record import VerdictTally
from evals.metrics.base import BaseMetric
from evals.run.asking import CHANGED, STOPPED, has_changed
from evals.run.checks import check_calibrated, check_config, load_tools, wants_judge
from evals.run.observer import Observer
from evals.run.resume import CONCURRENCIES, changed_keys
from evals.run.saved import measured_again
from evals.run.scoring import Scoring, score_journal
from evals.run.workload import SHARD
from evals.schemas.response import Outcomes, ServerRecord
from evals.schemas.results import EvalRecord, EvalRun, MetricDefinition
from evals.schemas.run_parts import MergedShard
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.notes import ON_ANSWERS, status_of
from evals.scoring.saved import SavedRun, open_saved
from evals.store.journal import RecordLog
from evals.store.naming import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.runs import RunStore, way_back
from evals.text.numbers import counted

OF_EACH = frozenset({"shard", "name", "concurrency", "dask", "runs_dir", "data_dir", "dataset_file", "server.url"})
"""Keys that shards may have of their own. That the questions are the same shows in the fingerprints."""

_OWN_NOTES = (SHARD, CONCURRENCIES, STOPPED, CHANGED)
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Shards:
    """All shards of a run, in the order of their numbers, and what is made of them."""

    shards: Sequence[SavedRun]
    config: EvalConfig
    metrics: Sequence[BaseMetric]

    def records(self) -> Iterator[EvalRecord]:
        """The records in the order in which one run would have asked: question k of shard i of n is n(k - 1) + i."""
        for place in range(sum(len(shard.log) for shard in self.shards)):
            row, number = divmod(place, len(self.shards))
            yield self.shards[number].record(row)


def put_together(runs: Sequence[EvalRun], *layers: Mapping[str, Any], allow_partial: bool = False) -> Shards:
    """Check that these runs are the shards of one run, each once, and put them together.

    Args:
        runs: Saved, in any order.
        layers: Laid over the configuration of the shards: `name`, `runs_dir`, `gate`, `allow_uncalibrated`.
        allow_partial: Whether shards that are partial will do.

    Raises:
        ConfigError: They do not fit together, or a gate is none.
        RunIncompleteError: One is partial or failed.
        StoreError: Records are missing or damaged.
    """
    if not runs:
        raise ConfigError("there is nothing to merge", "name the runs of all shards")
    ordered = _in_order(runs)
    for run in ordered[1:]:
        if difference := _difference(ordered[0], run):
            raise ConfigError(
                f"{_name(run)} differs from {_name(ordered[0])} in {difference}",
                "answers that came about in different ways do not make one run: ask this shard again as the first one",
            )
    _check_complete(ordered, allow_partial=allow_partial)
    shards = [_opened(run) for run in ordered]
    _check_questions(shards)
    written = {key: value for key, value in ordered[0].eval_config.items() if key not in ("shard", "name", "runs_dir")}
    names = {EvalConfig.build(run.eval_config).name for run in ordered}
    name = names.pop() if len(names) == 1 else None
    own = {"name": f"{name}-merged" if name else None, "runs_dir": DEFAULT_RUNS_DIR, "metrics": _metric_names(ordered)}
    config = EvalConfig.build(written, own, *layers)
    metrics = check_config(config, asking=False)
    check_calibrated(config, metrics)
    return Shards(shards, config, metrics)


def _part(run: EvalRun) -> tuple[int, int]:
    config = EvalConfig.build(run.eval_config)
    if config.shard is None:
        raise ConfigError(f"run {run.id} is no shard: it asked all questions", "name runs that were made with --shard")
    return config.part


def _name(run: EvalRun) -> str:
    return "shard {}/{} (run {})".format(*_part(run), run.id)


def _in_order(runs: Sequence[EvalRun]) -> list[EvalRun]:
    """The shards by their number; each must be there once."""
    by_part: dict[tuple[int, int], EvalRun] = {}
    for run in runs:
        part = _part(run)
        if part in by_part:
            twice = f"shard {part[0]}/{part[1]} was given twice: run {by_part[part].id} and run {run.id}"
            raise ConfigError(twice, "name one run for each shard")
        by_part[part] = run
    counts = {count for _, count in by_part}
    count = max(counts)
    if len(counts) > 1:
        named = " and ".join(_name(by_part[part]) for part in (min(by_part), max(by_part)))
        raise ConfigError(f"{named} are not of one run", "name the shards of one and the same number")
    missing = [f"{number}/{count}" for number in range(1, count + 1) if (number, count) not in by_part]
    if missing:
        listed = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        raise ConfigError(
            f"{len(missing)} of {count} shards {'is' if len(missing) == 1 else 'are'} missing: {listed}",
            f"name their runs too, or ask: the same command with --shard {missing[0]}",
        )
    return [by_part[part] for part in sorted(by_part)]


def _difference(first: EvalRun, other: EvalRun) -> str | None:
    """What two shards differ in, in words; None where they fit together."""
    ours, theirs = _facts(first), _facts(other)
    for what, value in ours.items():
        if what in theirs and theirs[what] != value:
            return f"{what}: {theirs[what]}, not {value}" if isinstance(value, str | int | None) else what
    changed = changed_keys(EvalConfig.build(first.eval_config), EvalConfig.build(other.eval_config), OF_EACH)
    return f"its configuration: {', '.join(changed)}" if changed else None


def _facts(run: EvalRun) -> dict[str, Any]:
    """What the shards of one run have in common, by its name in a message."""
    server, judge = run.server, run.judge
    facts: dict[str, Any] = {
        "the version of rag-evals that measured it": run.package_versions.get("rag-evals"),
        "the profile of its server": server.profile,
        f"what the profile {server.profile} says of asking and reading": [server.spec_sha256, server.citation_base],
        "the questions that the datasets gave": [each.sha256 for each in run.fingerprints],
        **{f"what its server says of itself as {key}": value for key, value in run.config.items()},
    }
    if not run.eval_config.get("embedded"):
        facts["its server"] = server.url.rstrip("/")
    if run.completed_at:
        facts["whether a judge took part"] = [judge is not None]
    if judge is not None:
        facts |= {f"the {name} of its judge": getattr(judge, name) for name in ("model", "origin", "effort", "repeats")}
        facts |= {f"the prompt {name} of its judge": [value] for name, value in judge.prompt_hashes.items()}
    return facts


def _check_complete(runs: Sequence[EvalRun], *, allow_partial: bool) -> None:
    undone = [run for run in runs if run.status not in ({"complete", "partial"} if allow_partial else {"complete"})]
    if undone:
        listed = ", ".join(f"{_name(run)} is {run.status}" for run in undone[:_NAMED])
        ways = f"continue with: {'; '.join(_resume(run) for run in undone[:_NAMED])}"
        if not any(run.status == "failed" for run in undone):
            ways += "; or merge what there is, as a partial run: --allow-partial"
        raise RunIncompleteError(listed + (", …" if len(undone) > _NAMED else ""), ways)


def _resume(run: EvalRun) -> str:
    return command(f"eval --resume {run.rescored_from or run.id}", folder_of(run))


def _opened(run: EvalRun) -> SavedRun:
    if run.path is None:
        raise ConfigError(f"{_name(run)} is in no folder", "load it with RunStore(folder).load(id)")
    store = RunStore(run.path.parent)
    if not store.records_path(run).exists():
        raise ConfigError(
            f"{_name(run)} has no records: {store.records_path(run)} is missing", "copy all files of the run"
        )
    saved = open_saved(store, run)
    if saved.damage is not None and saved.damage.lost == 0:
        raise StoreError(saved.damage.said, way_back(run, saved.damage))
    return saved


def _check_questions(shards: Sequence[SavedRun]) -> None:
    """Check that every question of the datasets is in one shard, and in no other."""
    repeats = int(shards[0].run.eval_config.get("repeats") or 1)
    total = sum(each.questions for each in shards[0].run.fingerprints) * repeats
    homes: dict[str, SavedRun] = {}
    for shard in shards:
        for key in shard.log.ids:
            if key in homes:
                raise ConfigError(
                    f"question {key!r} is in {_name(homes[key].run)} and in {_name(shard.run)}",
                    "the records of one are not those of its part: copy its files again, or ask it again",
                )
            homes[key] = shard
        number, count = _part(shard.run)
        planned = len(range(number - 1, total, count))
        if len(shard.log) != planned:
            held = counted(len(shard.log), "question")
            raise ConfigError(
                f"{_name(shard.run)} holds {held}, and its part of the {total} of the datasets is {planned}",
                f"copy the files of its run again, or continue with it: {_resume(shard.run)}",
            )


def _metric_names(runs: Sequence[EvalRun]) -> list[str]:
    """What is measured, by name: no file that a shard took a metric from is run here.

    Raises:
        ConfigError: They measured a metric that is not built in by different code.
    """
    known: dict[str, MetricDefinition] = {}
    for run in runs:
        for one in run.metric_definitions:
            if known.setdefault(one.name, one).meaning != one.meaning:
                message = (
                    f"{_name(run)} measured {one.name} by other code, or defined it differently, than a shard before it"
                )
                raise ConfigError(message, "rescore all shards with one file of metrics")
    names = {one.source: name for name, one in known.items()}
    return [names.get(each, each) for each in EvalConfig.build(runs[0].eval_config).metrics]


async def merge(shards: Shards, observer: Observer) -> SavedRun:
    """Score the records of all shards together, with the verdicts that they have, and save them as a run.

    Raises:
        ConfigError: A model that compares texts cannot be loaded.
        StoreError: The records cannot be read, or the result cannot be written.
    """
    config, runs = shards.config, [shard.run for shard in shards.shards]
    store = RunStore(config.runs_dir)
    store.prepare()
    no_judge = config.model_copy(update={"judge": config.judge.model_copy(update={"enabled": False})})
    tools = await load_tools(no_judge, shards.metrics, observer)
    judged = wants_judge(config, shards.metrics)
    run = _new_run(shards, runs)
    stopped = _why_stopped(runs)
    settings = tools.settings(config, run.server.citation_base, judged=judged)
    store.save(run)
    with store.journal(run) as journal:
        journal.copy(shards.records())
        incomplete = stopped is not None or any(_is_cut_short(one, config.max_error_rate) for one in runs)
        return score_journal(
            Scoring(run, tools.metrics, settings, config, config.server_spec().usage_needs_concurrency),
            journal,
            store,
            observer,
            ended="early" if incomplete else "whole",
            stopped=stopped,
            notes=_notes(runs, run, stopped),
            judge=_judge(runs, journal, config) if judged else None,
        )


def _judge(runs: Sequence[EvalRun], log: RecordLog, config: EvalConfig) -> JudgeRecord:
    """The judge of all shards: by what they say, as the address may be of the environment of those machines."""
    own = config.judge.identity
    first = next((run.judge for run in runs if run.judge is not None), None)
    identity = Identity(first.model, first.origin, own.provider, first.effort) if first is not None else own
    prevented = sum(run.judge.prevented for run in runs if run.judge)
    left = sum(run.judge.left for run in runs if run.judge)
    tally = VerdictTally(record.verdicts for record in log)
    return tally.record(identity, config.judge.repeats, prevented=prevented, left=left)


def _is_cut_short(run: EvalRun, max_error_rate: float) -> bool:
    """Whether a shard is partial for anything but its own share of failures: that of the whole is seen anew."""
    if run.status == "complete":
        return False
    if run.completed_at is None or run.outcomes.stopped or (run.judge and (run.judge.prevented or run.judge.left)):
        return True
    return status_of(run.outcomes, max_error_rate, ended_early=False) != "partial"


def _notes(runs: Sequence[EvalRun], merged: EvalRun, stopped: str | None) -> list[str]:
    """What all shards say, once; else with the shard's number."""
    own = [
        [note for note in dict.fromkeys(run.notes) if not (note.startswith(_OWN_NOTES) or ON_ANSWERS.match(note))]
        for run in runs
    ]
    times = Counter(chain.from_iterable(own))
    notes = [note for note in times if times[note] == len(runs)]
    for run, kept in zip(runs, own, strict=True):
        notes += ["shard {}/{}: {}".format(*_part(run), note) for note in kept if times[note] < len(runs)]
    if merged.concurrencies:
        named = " and ".join(map(str, merged.concurrencies))
        notes.append(f"{CONCURRENCIES} {named}: latency is of all these, and does not compare")
    notes += [f"{STOPPED}{stopped}"] if stopped else []
    return [*notes, CHANGED] if merged.server.changed else notes


def _why_stopped(runs: Sequence[EvalRun]) -> str | None:
    stopped = ["shard {}/{}: {}".format(*_part(run), run.outcomes.stopped) for run in runs if run.outcomes.stopped]
    return "; ".join(stopped) or None


def _new_run(shards: Shards, runs: Sequence[EvalRun]) -> EvalRun:
    """The merged run before anything of it was measured."""
    concurrencies = list(dict.fromkeys(chain.from_iterable(run.concurrencies or [run.concurrency] for run in runs)))
    run_id = token_hex(4)
    merged = measured_again(
        runs[0],
        shards.config,
        _server(runs),
        id=run_id,
        name=f"merged-{run_id}",
        concurrency=max(concurrencies),
        concurrencies=concurrencies if len(concurrencies) > 1 else [],
        duration_s=round(sum(run.duration_s for run in runs), 3),
        merged_from=[
            MergedShard(id=run.id, shard="{}/{}".format(*_part(run)), status=run.status, duration_s=run.duration_s)
            for run in runs
        ],
        outcomes=Outcomes(warmup_ms=list(chain.from_iterable(run.outcomes.warmup_ms for run in runs))),
    )
    return merged.model_copy(update={"question_count": sum(len(shard.log) for shard in shards.shards)})


def _server(runs: Sequence[EvalRun]) -> ServerRecord:
    """The server as it was met first and left last; it changed where it differs at any end of a shard."""
    first = min(runs, key=lambda run: run.created_at).server
    last = max(runs, key=lambda run: run.completed_at or run.created_at).server
    known = {run.server.changed for run in runs} - {None}
    ends = chain.from_iterable((run.server.snapshot_start, run.server.snapshot_end) for run in runs)
    changed = True in known or any(has_changed(first.snapshot_start, end) for end in ends)
    lists = [run.server.missing_documents for run in runs if run.server.missing_documents is not None]
    masked = sorted(set(chain.from_iterable(run.server.masked or [] for run in runs)))
    return runs[0].server.model_copy(
        update={
            "snapshot_start": first.snapshot_start,
            "snapshot_end": last.snapshot_end,
            "changed": changed if known else None,
            "missing_documents": sorted(set(chain.from_iterable(lists))) if lists else None,
            "document_ids": dict(chain.from_iterable(run.server.document_ids.items() for run in runs)),
            "masked": masked if runs[0].server.masked is not None else None,
        }
    )
