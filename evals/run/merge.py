"""One run of all shards: their records are concatenated and scored; nothing is asked of a server or a judge."""

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
from evals.schemas.results import EvalRecord, EvalRun, MergedShard
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.notes import ON_ANSWERS, status_of
from evals.scoring.saved import SavedRun, open_saved
from evals.store.journal import RecordLog
from evals.store.runs import DEFAULT_RUNS_DIR, RunStore, command, folder_of, way_back
from evals.text.foreign import shortened
from evals.text.numbers import counted, listed

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
        ConfigError: They do not fit together, measured a metric by different code, or a gate is none.
        RunIncompleteError: One is partial or failed.
        StoreError: Records are missing or damaged.
    """
    if not runs:
        raise ConfigError("there is nothing to merge", "name the runs of all shards")
    first, *others = ordered = _in_order(runs)
    for run in others:
        if difference := _difference(first, run):
            what = f"{_name(run)} differs from {_name(first)} in {difference}"
            raise ConfigError(what, "ask this shard again; if only metrics differ, rescore all with one file of them")
    _check_complete(ordered, allow_partial=allow_partial)
    shards = [_opened(run) for run in ordered]
    _check_questions(shards)
    written = {key: value for key, value in first.eval_config.items() if key not in ("shard", "name", "runs_dir")}
    names = {run.eval_config.get("name") for run in ordered}
    name = f"{first.eval_config['name']}-merged" if len(names) == 1 and None not in names else None
    # By name, as no file that a shard took a metric from is run here.
    known = {definition.source: definition.name for definition in first.metric_definitions}
    metrics = [known.get(metric, metric) for metric in EvalConfig.build(first.eval_config).metrics]
    own = {"name": name, "runs_dir": DEFAULT_RUNS_DIR, "metrics": metrics}
    config = EvalConfig.build(written, own, *layers)
    measured = check_config(config, asking=False)
    check_calibrated(config, measured)
    return Shards(shards, config, measured)


def _part(run: EvalRun) -> tuple[int, int]:
    """The number of a shard, and of how many."""
    number, _, count = str(run.eval_config["shard"]).partition("/")
    return int(number), int(count)


def _name(run: EvalRun) -> str:
    return f"shard {run.eval_config['shard']} (run {run.id})"


def _in_order(runs: Sequence[EvalRun]) -> list[EvalRun]:
    """The shards by their number; each must be there once."""
    for run in runs:
        if run.eval_config.get("shard") is None:
            raise ConfigError(f"run {run.id} is no shard: it asked all questions", "name runs made with --shard")
    ordered = sorted(runs, key=_part)
    parts = [_part(run) for run in ordered]
    count = max(count for _, count in parts)
    wanted = [(number, count) for number in range(1, count + 1)]
    if parts != wanted:
        given = shortened(", ".join(map(_name, ordered)), 300)
        missing = ", ".join(f"{number}/{count}" for number, _ in wanted if (number, count) not in parts)
        hint = f"missing are {shortened(missing, 100)}: name their runs, or ask them with --shard" if missing else None
        what = f"these are not the shards 1/{count} to {count}/{count}, each once: {given}"
        raise ConfigError(what, hint or "name one run for each shard")
    return ordered


def _difference(first: EvalRun, other: EvalRun) -> str | None:
    """What two shards differ in, in words; None where they fit together."""
    ours, theirs = _facts(first), _facts(other)
    if differing := [what for what in ours if what in theirs and theirs[what] != ours[what]]:
        return differing[0]
    changed = changed_keys(EvalConfig.build(first.eval_config), EvalConfig.build(other.eval_config), OF_EACH)
    return f"its configuration: {', '.join(changed)}" if changed else None


def _facts(run: EvalRun) -> dict[str, Any]:
    """What the shards of one run have in common, by its name in a message."""
    server, judge = run.server, run.judge
    facts: dict[str, Any] = {
        "the version of rag-evals that measured it": run.package_versions.get("rag-evals"),
        "the profile of its server": server.profile,
        f"what the profile {server.profile} says of asking and reading": (server.spec_sha256, server.citation_base),
        "the questions that the datasets gave": [each.sha256 for each in run.fingerprints],
        **{f"what its server says of itself as {key}": value for key, value in run.config.items()},
        **{f"the code of its metric {metric.name}": metric.meaning for metric in run.metric_definitions},
    }
    if not run.eval_config.get("embedded"):
        facts["the address of its server"] = server.url.rstrip("/")
    if run.completed_at:
        facts["whether a judge took part"] = judge is not None
    if judge is not None:
        facts["its judge"] = (judge.model, judge.origin, judge.effort, judge.repeats)
        facts |= {f"the prompt {name} of its judge": value for name, value in judge.prompt_hashes.items()}
    return facts


def _check_complete(runs: Sequence[EvalRun], *, allow_partial: bool) -> None:
    undone = [run for run in runs if run.status not in ({"complete", "partial"} if allow_partial else {"complete"})]
    if undone:
        hint = f"continue with: {'; '.join(map(_resume, undone[:_NAMED]))}"
        if not any(run.status == "failed" for run in undone):
            hint += "; or merge what there is, as a partial run: --allow-partial"
        raise RunIncompleteError(listed([f"{_name(run)} is {run.status}" for run in undone], _NAMED), hint)


def _resume(run: EvalRun) -> str:
    return command(f"eval --resume {run.rescored_from or run.id}", folder_of(run))


def _opened(run: EvalRun) -> SavedRun:
    store = None if run.path is None else RunStore(run.path.parent)
    if store is None or not store.records_path(run).exists():
        raise ConfigError(f"{_name(run)} has no records", "copy all files of the run")
    saved = open_saved(store, run)
    if saved.damage is not None and saved.damage.lost == 0:
        raise StoreError(saved.damage.said, way_back(run, saved.damage))
    return saved


def _check_questions(shards: Sequence[SavedRun]) -> None:
    """Check that every question of the datasets is in one shard, and in no other."""
    repeats = int(shards[0].run.eval_config.get("repeats") or 1)
    total = sum(each.questions for each in shards[0].run.fingerprints) * repeats
    homes: dict[str, EvalRun] = {}
    for shard in shards:
        if twice := homes.keys() & set(shard.log.ids):
            key = min(twice)
            what = f"question {key!r} is in {_name(homes[key])} and in {_name(shard.run)}"
            raise ConfigError(what, "copy the files of both again, or ask one again")
        homes |= dict.fromkeys(shard.log.ids, shard.run)
        number, count = _part(shard.run)
        planned = len(range(number - 1, total, count))
        if len(shard.log) != planned:
            held = counted(len(shard.log), "question")
            what = f"{_name(shard.run)} holds {held}, and its part of the {total} of the datasets is {planned}"
            raise ConfigError(what, f"copy the files of its run again, or continue with it: {_resume(shard.run)}")


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
    ends = [f"shard {part.eval_config['shard']}: {part.outcomes.stopped}" for part in runs if part.outcomes.stopped]
    stopped = "; ".join(ends) or None
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
    shards_of: dict[str, list[str]] = {}
    for run in runs:
        for note in dict.fromkeys(run.notes):
            if not (note.startswith(_OWN_NOTES) or ON_ANSWERS.match(note)):
                shards_of.setdefault(note, []).append(str(run.eval_config["shard"]))
    notes = [note for note, shards in shards_of.items() if len(shards) == len(runs)]
    notes += [f"shard {', '.join(shards)}: {note}" for note, shards in shards_of.items() if len(shards) < len(runs)]
    if merged.concurrencies:
        named = " and ".join(map(str, merged.concurrencies))
        notes.append(f"{CONCURRENCIES} {named}: latency is of all these, and does not compare")
    notes += [f"{STOPPED}{stopped}"] if stopped else []
    return [*notes, CHANGED] if merged.server.changed else notes


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
            MergedShard(id=run.id, shard=run.eval_config["shard"], status=run.status, duration_s=run.duration_s)
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
