"""`evals eval`."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evals.cli.console import console
from evals.cli.dry_run import describe_asking
from evals.cli.outcome import only_judging_is_undone, raise_for, what_is_undone
from evals.cli.progress import Terminal
from evals.cli.report import print_findings, print_run, print_slices
from evals.cli.streams import print_json
from evals.client.redaction import MASK, public_url
from evals.config import EvalConfig
from evals.errors import ConfigError, RunInterruptedError
from evals.observer import Observer
from evals.offline import SAVED_ANSWERS
from evals.runner import EvaluationRunner
from evals.schemas import EvalRun
from evals.store import RunStore

_FAILURES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class EvalFlags:
    """The flags of `eval` that are configuration; None means not given."""

    datasets: str | None = None
    samples: int | None = None
    seed: int | None = None
    name: str | None = None
    rag_url: str | None = None
    profile: str | None = None
    suite: str | None = None
    metrics: str | None = None
    match: str | None = None
    judge: bool | None = None
    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_repeats: int | None = None
    judge_cache: bool | None = None
    max_cost: float | None = None
    concurrency: int | None = None
    rps: float | None = None
    timeout: float | None = None
    warmup: int | None = None
    on_error: str | None = None
    max_error_rate: float | None = None
    data_dir: Path | None = None
    dataset_file: Path | None = None
    ingest: bool | None = None
    preflight: bool | None = None
    embedded: bool | None = None
    gate: list[str] | None = None
    runs_dir: Path | None = None

    def overrides(self) -> dict[str, Any]:
        """The flags given, as keys of the configuration."""
        given = {key: value for key, value in asdict(self).items() if value is not None and value != []}
        for key, value in given.items():
            if value == "" or (isinstance(value, Path) and str(value) == "."):
                raise ConfigError(f"--{key.replace('_', '-')} is empty", "leave the flag out, or give it a value")
        _refuse_contradictions(given)
        result: dict[str, Any] = {}
        for key, value in given.items():
            path, convert = _KEYS.get(key, ((key,), None))
            target = result
            for part in path[:-1]:
                target = target.setdefault(part, {})
            target[path[-1]] = convert(value) if convert else value
        return result


def _refuse_contradictions(given: Mapping[str, Any]) -> None:
    """Flags of which one would silently win over the other."""
    for one, other in (("embedded", "rag_url"), ("embedded", "profile"), ("dataset_file", "datasets")):
        if given.get(one) and given.get(other):
            raise ConfigError(f"--{one.replace('_', '-')} and --{other.replace('_', '-')} exclude each other")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _count(samples: int) -> int | None:
    if samples < 0:
        raise ConfigError(f"--samples must be 0 (all) or more, not {samples}")
    return samples or None


def _seconds(value: float) -> float:
    if not math.isfinite(value) or value <= 0:
        raise ConfigError(f"--timeout must be a number of seconds above 0, not {value:g}")
    return value


_KEYS: dict[str, tuple[tuple[str, ...], Any]] = {
    "datasets": (("datasets",), _names),
    "samples": (("samples_per_dataset",), _count),
    "rag_url": (("server", "url"), None),
    "profile": (("server", "profile"), None),
    "timeout": (("server", "timeout_s"), _seconds),
    "suite": (("suite",), _names),
    "metrics": (("metrics",), _names),
    "match": (("match", "rule"), None),
    "judge": (("judge", "enabled"), None),
    "judge_model": (("judge", "model"), None),
    "judge_base_url": (("judge", "base_url"), None),
    "judge_repeats": (("judge", "repeats"), None),
    "judge_cache": (("judge", "cache"), None),
    "max_cost": (("judge", "max_cost_usd"), None),
}


def evaluate(flags: EvalFlags, *, config: Path | None, resume: str | None, dry_run: bool, as_json: bool) -> None:
    """Run an evaluation and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    if resume is not None:
        settings = _resumed(resume, flags)
    elif config is not None:
        settings = EvalConfig.from_file(config, flags.overrides())
    else:
        settings = EvalConfig.build(flags.overrides())
    if dry_run:
        describe_asking(settings, as_json=as_json)
        return
    observer: Observer = Observer() if as_json else Terminal()
    runner = EvaluationRunner(settings, observer, resume=resume)
    try:
        run = asyncio.run(runner.run())
    except KeyboardInterrupt as error:
        raise _interrupted(runner) from error
    if as_json:
        print_json(run.model_dump_json(indent=2))
    else:
        _print(run, settings)
    _raise_for(run, settings)


def _interrupted(runner: EvaluationRunner) -> RunInterruptedError:
    if runner.run_id is None:
        return RunInterruptedError("interrupted before anything was asked")
    return RunInterruptedError(
        "interrupted; what was answered is saved",
        f"go on with: evals eval --resume {runner.run_id}{_elsewhere(runner.config)}",
    )


def _resumed(run_id: str, flags: EvalFlags) -> EvalConfig:
    """The configuration of a saved run; flags may change how it is asked, not what."""
    changed = {key for key, value in asdict(flags).items() if value not in (None, [])}
    free = {"concurrency", "rps", "timeout", "runs_dir", "max_error_rate", "max_cost", "gate", "rag_url", "preflight"}
    if changed - free:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(changed - free))
        raise ConfigError(f"--resume takes the questions and metrics of the saved run, so not {names}")
    run = RunStore(flags.runs_dir or EvalConfig().runs_dir).load(run_id)
    if run.server.profile == SAVED_ANSWERS:
        raise ConfigError(f"run {run.id} scored saved answers: there is no server to go on with", "use `evals score`")
    if flags.rag_url is not None and public_url(flags.rag_url).rstrip("/") != run.server.url.rstrip("/"):
        raise ConfigError(
            f"run {run.id} asked {run.server.url}, not {public_url(flags.rag_url)}",
            "answers of two servers do not make one run: begin a new one",
        )
    if MASK in str(run.eval_config.get("server")):
        raise ConfigError(
            f"run {run.id} was given a credential in clear, which is not saved",
            "write it as ${NAME} in the configuration; for this run, begin a new one",
        )
    return EvalConfig.build(run.eval_config, flags.overrides())


def _print(run: EvalRun, config: EvalConfig) -> None:
    store = RunStore(config.runs_dir)
    out = console()
    records = store.records(run)
    print_findings(out, records, run, limit=_FAILURES_SHOWN)
    print_run(out, run)
    if len(run.datasets) > 1:
        print_slices(out, records, run, "dataset")
    out.print(f"saved to {store.run_path(run)}", soft_wrap=True)
    out.print(f"question by question: evals show {run.id}{_elsewhere(config)}")


def _elsewhere(config: EvalConfig) -> str:
    default = EvalConfig.model_fields["runs_dir"].default
    return "" if config.runs_dir == default else f" --runs-dir {config.runs_dir}"


def _raise_for(run: EvalRun, config: EvalConfig) -> None:
    again = f"evals eval --resume {run.id}{_elsewhere(config)}"
    judged = only_judging_is_undone(run)
    hint = f"go on with: {again} (--max-cost for more money)" if judged else f"when the server is well again: {again}"
    raise_for(run, config.gate, why=what_is_undone(run), hint=hint)
