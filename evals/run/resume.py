"""Resuming a saved run: what may have changed since, and what is kept of it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.errors import ConfigError, StoreError
from evals.schemas.base import MayChange, marked
from evals.schemas.results import SAVED_ANSWERS, EvalRun
from evals.secrets import MASK, leaves, without_credentials
from evals.store.atomic import drop_leftovers
from evals.store.journal import Journal, RecordLog
from evals.store.runs import RunStore, command
from evals.text.numbers import agree, counted

MAY_CHANGE = marked(EvalConfig, MayChange.ON_RESUME) | marked(ServerSpec, MayChange.ON_RESUME, "server.")
"""Keys that say how questions are asked and when a run is good, not what is measured of which server."""

_EFFECTIVE = marked(EvalConfig, MayChange.ON_RESCORE) | marked(ServerSpec, MayChange.ON_RESCORE, "server.")
"""Keys that say how answers are measured, not which questions are asked of which server and how."""

_READING = marked(ServerSpec, MayChange.ON_REMAP, "server.")
"""Keys of the server that say how a stored body is read."""

_PLACE_IN_LIST = re.compile(r"(?:\.\d+)+$")

CONCURRENCIES = "asked at concurrency"
"""How the note begins of a run whose answers were asked at several concurrencies."""

APART = "not asked in turn with its variants"
"""How the note begins of a run that has lost the mark that lets its latency compare."""


def changed_keys(before: EvalConfig, after: EvalConfig, free: Iterable[str]) -> list[str]:
    """The keys that have other values, as dotted paths, defaults filled in.

    Args:
        before: One configuration.
        after: The other one.
        free: Keys that may differ, with all that is below them.
    """
    was, now = _values(before), _values(after)
    changed = {_PLACE_IN_LIST.sub("", path) for path in was.keys() | now.keys() if was.get(path) != now.get(path)}
    return [path for path in sorted(changed) if not _is_among(path, free)]


def _values(config: EvalConfig) -> dict[str, Any]:
    data = config.as_written()
    data["server"] = without_credentials(config.server_spec().model_dump(mode="json", by_alias=True))
    data["datasets"], data["suite"] = config.dataset_names, config.suite_names
    return dict(leaves(data))


def _is_among(path: str, keys: Iterable[str]) -> bool:
    return any(path == key or path.startswith(f"{key}.") for key in keys)


def rescore_config(source: EvalRun, *layers: Mapping[str, Any], remap: bool = False) -> EvalConfig:
    """The configuration of a saved run with something changed, to measure its answers again.

    Name and gates are those of the layers only. Metrics named without a suite go without the run's suite.

    Args:
        source: The saved run.
        layers: What goes before its own configuration; later ones go before earlier ones. Except for keys that
            say how answers are measured, they must not change anything.
        remap: Whether the stored bodies are read again, so that keys which say how may change too.

    Raises:
        ConfigError: A key is unknown, a value wrong, or another value of a key would change nothing but what is
            written of the run.
    """
    dropped = {"name", "gate", "allow_uncalibrated", "dask"}
    named = {key for layer in layers for key in layer}
    if "metrics" in named and "suite" not in named:
        dropped.add("suite")
    base = {key: value for key, value in source.eval_config.items() if key not in dropped}
    config = EvalConfig.build(base, *layers)
    _refuse_idle(EvalConfig.build(base), config, remap=remap)
    return config


def _refuse_idle(before: EvalConfig, after: EvalConfig, *, remap: bool) -> None:
    """Stop at keys whose other values would change nothing."""
    if remap:  # what another profile brings is how bodies are read
        before = EvalConfig.build(before.model_dump(), {"server": {"profile": after.server_spec().profile}})
    changed = changed_keys(before, after, _EFFECTIVE | (_READING if remap else {"server.citations.base"}))
    if "server.profile" in changed:  # what else differs of the server is mostly what the profile brings
        changed = [key for key in changed if not _is_among(key, ["server"])] + ["server.profile"]
    if idle := [key for key in changed if not _is_among(key, _READING)]:
        hint = "leave such keys out of the configuration; `evals eval` asks anew with them"
        raise ConfigError(f"{_named(idle)} no effect on answers that are there already", hint)
    if changed:
        hint = "--remap reads them again"
        raise ConfigError(f"{_named(changed)} no effect unless the stored bodies are read again", hint)


def _named(keys: Sequence[str]) -> str:
    return f"{', '.join(keys)} {agree(len(keys), 'has', 'have')}"


def resumed_config(run: EvalRun, overrides: Mapping[str, Any]) -> EvalConfig:
    """The configuration of a saved run with something changed, to resume the run; by this process without `dask`.

    Args:
        run: The saved run.
        overrides: Keys of the configuration: those of `MAY_CHANGE`, and `server.url` with a login that is not saved.

    Raises:
        ConfigError: The run cannot be resumed, or not with these changes.
    """
    saved = {key: value for key, value in run.eval_config.items() if key != "dask"}  # its cluster may be gone
    config = EvalConfig.build(saved, overrides)
    check_resumable(run, config)
    return config


def check_resumable(run: EvalRun, config: EvalConfig) -> None:
    """Check that answers of this configuration belong to the run: the same server, questions and measures.

    Raises:
        ConfigError: They do not, or a credential that was given in clear is not there any more.
    """
    for is_wrong, problem, hint in _refusals(run, config):
        if is_wrong:
            raise ConfigError(f"run {run.id} {problem}", hint)


def _refusals(run: EvalRun, config: EvalConfig) -> Iterator[tuple[object, str, str]]:
    """Each: whether it holds, what is said of the run, and what to do."""
    yield (
        run.rescored_from,
        f"measured the answers of run {run.rescored_from} again: it asks none itself",
        f"use `{command(f'rescore {run.rescored_from}', config.runs_dir)}`; "
        f"where answers are missing, resume run {run.rescored_from} first",
    )
    shards = counted(len(run.merged_from), "shard")
    yield (
        run.merged_from,
        f"was merged from {shards}: it asks none itself",
        "resume the shards that lack answers, and merge again",
    )
    is_saved = run.server.profile == SAVED_ANSWERS
    yield is_saved, "scored saved answers: there is no server to continue with", "use `evals score`"
    stored, given = dict(leaves(run.eval_config.get("server"))), dict(leaves(config.server))
    masked = run.server.masked
    if masked is None:
        masked = [path for path, value in stored.items() if value == MASK]
    free = {*MAY_CHANGE, "server.url", *(f"server.{path}" for path in masked)}
    changed = changed_keys(EvalConfig.build(run.eval_config), config, free)
    yield (
        changed,
        f"was begun with another value of {', '.join(changed)}",
        f"begin a new run; a resumed one may change only {', '.join(sorted(MAY_CHANGE))}",
    )
    lost = [f"server.{path}" for path in masked if given.get(path) == stored.get(path)]
    yield (
        lost,
        f"was given a credential in clear, which is not saved: {', '.join(lost)}",
        "write it as ${NAME} in the configuration; for this run, "
        + ("give the URL again with --rag-url" if lost == ["server.url"] else "begin a new one"),
    )
    if not config.embedded:
        spec = config.server_spec()
        url = RAGClient(spec).url
        yield (
            url.rstrip("/") != run.server.url.rstrip("/"),
            f"asked {run.server.url}, not {url}",
            "answers of two servers do not make one run: begin a new one, or name the run's server with --rag-url",
        )
        yield (  # the run names the profile's file, and holds a hash of what it said
            run.server.spec_sha256 not in {None, spec.fingerprint()},
            f"was asked by the profile {run.server.profile}, which is not what it was",
            "begin a new run; or put the profile back; or read all saved answers anew: `evals rescore` with --remap",
        )


def reopen(store: RunStore, run: EvalRun) -> tuple[EvalRun, Journal]:
    """The saved run, as it is once no other process writes it, with its journal.

    Raises:
        StoreError: Another process has resumed it, or it cannot be read.
    """
    path = store.records_path(run)
    if not path.exists():
        raise StoreError(f"{path} is missing: nothing is known of what run {run.id} asked", "begin a new run")
    journal = store.journal(run)
    for written in (path, store.run_path(run)):
        drop_leftovers(written)
    return store.load(run.id), journal  # again: another process may have finished it a moment ago


def unanswered(log: RecordLog) -> list[int]:
    """The rows of the questions without an answer: not asked yet, or asked in vain."""
    rows = []
    for row, key in enumerate(log.ids):
        response = log.record(row).response if log.has_answer(key) else None
        if response is None or response.error is not None:
            rows.append(row)
    return rows


def with_concurrency(run: EvalRun, config: EvalConfig) -> EvalRun:
    """The run as one whose remaining questions are asked at the concurrency of this configuration.

    Of a run that was asked in turn with others, latency does not compare any more.
    """
    before = run.concurrencies or [run.concurrency]
    concurrencies = list(dict.fromkeys([*before, config.concurrency]))
    notes = [note for note in run.notes if not note.startswith((CONCURRENCIES, APART))]
    if len(concurrencies) > 1:
        named = " and ".join(map(str, concurrencies))
        notes.append(f"{CONCURRENCIES} {named}: latency is of all these, and does not compare")
    if run.interleaved_with:
        notes.append(f"{APART}: latency does not compare")
    return run.model_copy(
        update={
            "concurrency": max(concurrencies),
            "concurrencies": concurrencies if len(concurrencies) > 1 else [],
            "interleaved_with": [],
            "notes": notes,
        }
    )
