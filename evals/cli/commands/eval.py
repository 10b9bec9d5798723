"""`evals eval`."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.cli.commands.dry_run import describe_asking
from evals.cli.ending import end, observer_for
from evals.cli.flags import flag_name, sample_count
from evals.cli.names import names_of
from evals.config import EvalConfig
from evals.errors import ConfigError, RunInterruptedError
from evals.inputs.problems import problems_of
from evals.run.resume import MAY_CHANGE, resumed_config
from evals.runner import EvaluationRunner
from evals.store.commands import command
from evals.store.runs import RunStore


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
    columns: str | None = None
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
                raise ConfigError(f"{flag_name(key)} is empty", "leave the flag out, or give it a value")
        _refuse_contradictions(given)
        result: dict[str, Any] = {}
        for key, value in given.items():
            path, convert = _KEYS.get(key, ((key,), None))
            target = result
            for part in path[:-1]:
                target = target.setdefault(part, {})
            target[path[-1]] = convert(value) if convert else value
        if given.keys() & _CHOOSE_JUDGE:
            result["judge"].setdefault("enabled", True)  # whoever names a judge wants one
        _check_alone(given, result)
        return result


def _refuse_contradictions(given: Mapping[str, Any]) -> None:
    """Flags of which one would silently win over the other."""
    for one, other in (("embedded", "rag_url"), ("embedded", "profile"), ("dataset_file", "datasets")):
        if given.get(one) and given.get(other):
            raise ConfigError(f"{flag_name(one)} and {flag_name(other)} exclude each other")


def _check_alone(given: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """Check each value by itself, for who gave it as a flag knows no key; how values go together is seen later."""
    try:
        EvalConfig.build(result)
    except ConfigError as error:
        if not isinstance(error.__cause__, ValidationError):
            return
        wrong = {problem.key: problem.what for problem in problems_of(error.__cause__, EvalConfig)}
        for name in given:
            what = wrong.get(_key_of(name))
            if what:
                raise ConfigError(f"{flag_name(name)}{' ' if what.startswith('must ') else ': '}{what}") from error


def _key_of(name: str) -> str:
    """The key of the configuration that a flag gives."""
    return ".".join(_KEYS.get(name, ((name,), None))[0])


def _seconds(value: float) -> float:
    if not math.isfinite(value) or value <= 0:
        raise ConfigError(f"--timeout must be a number of seconds above 0, not {value:g}")
    return value


_CHOOSE_JUDGE = {"judge_model", "judge_base_url", "judge_repeats"}
_KEYS: dict[str, tuple[tuple[str, ...], Any]] = {
    "datasets": (("datasets",), partial(names_of, flag="--datasets")),
    "samples": (("samples_per_dataset",), sample_count),
    "rag_url": (("server", "url"), None),
    "profile": (("server", "profile"), None),
    "timeout": (("server", "timeout_s"), _seconds),
    "suite": (("suite",), partial(names_of, flag="--suite")),
    "metrics": (("metrics",), partial(names_of, flag="--metrics")),
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
    runner = EvaluationRunner(settings, observer_for(as_json=as_json), resume=resume)
    try:
        run = asyncio.run(runner.run())
    except KeyboardInterrupt as error:
        raise _interrupted(runner) from error
    end(run, settings, as_json=as_json)


def _interrupted(runner: EvaluationRunner) -> RunInterruptedError:
    if runner.run_id is None:
        return RunInterruptedError("interrupted before anything was asked")
    return RunInterruptedError(
        "interrupted; what was answered is saved",
        f"go on with: {command(f'eval --resume {runner.run_id}', runner.config.runs_dir)}",
    )


def _resumed(run_id: str, flags: EvalFlags) -> EvalConfig:
    """The configuration of a saved run; flags may change how it is asked, not what."""
    changed = {name: value for name, value in asdict(flags).items() if value not in (None, [])}
    refused = sorted(name for name in changed if _key_of(name) not in MAY_CHANGE | {"server.url"})
    if refused:
        names = ", ".join(flag_name(name, changed[name]) for name in refused)
        raise ConfigError(f"--resume takes the questions and metrics of the saved run, so not {names}")
    run = RunStore(flags.runs_dir or EvalConfig().runs_dir).load(run_id)
    return resumed_config(run, flags.overrides())
