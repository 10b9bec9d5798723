"""What shards must have in common to be one run, and that each question is in one of them."""

from collections.abc import Iterator, Sequence
from typing import Any

from evals.config import EvalConfig
from evals.credentials.stored import leaves
from evals.errors import ConfigError, RunIncompleteError
from evals.run.merging.shards import Shard
from evals.schemas import EvalRun
from evals.schemas.verdicts import JudgeRecord
from evals.store.commands import command, folder_of
from evals.store.record_file import RecordFile
from evals.text.counts import counted

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
