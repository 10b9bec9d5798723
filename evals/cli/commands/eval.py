"""`evals eval`."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from itertools import product
from math import prod
from typing import Any

import typer

from evals.cli.ci import Reporter
from evals.cli.ending import end, interrupted, observer_for, what_is_undone
from evals.cli.flags import EvalFlags, flag_name, given_flags, keys_of
from evals.cli.overrides import config_layers, overrides
from evals.cli.terminal import console, print_json
from evals.cli.views.compare import print_comparison
from evals.compare import compare_runs
from evals.compare.models import Comparison
from evals.compare.pairing import SavedRun
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError
from evals.metrics.base import BaseMetric, Need
from evals.report.ci import Beside
from evals.report.wording import questions_of, reading_notes
from evals.run.estimate import Estimate
from evals.run.resume import MAY_CHANGE, resumed_config
from evals.run.saved import estimate_saved
from evals.run.setup import check_config, estimate_of, refusal_for_key, wants_judge
from evals.run.work import RunPlan, check_conversations, load_workload
from evals.runner import EvaluationRunner
from evals.schemas.results import EvalRun
from evals.scoring.conclusion import Measured
from evals.secrets import public_url
from evals.store.naming import command, folder_of
from evals.store.runs import RunStore
from evals.text.numbers import counted
from evals.text.yaml_files import YamlTextError, load_yaml, merge
from evals.variants import VariantsRunner, added_fields, saved_together, variants_of

# `--dry-run`: what would be done, without asking a server or a judge.


def describe_asking(config: EvalConfig, *, as_json: bool) -> None:
    """Say what `eval` would do.

    Raises:
        EvalsError: It could not be done.
    """
    metrics = check_config(config, asking=False)
    workload = load_workload(config)
    check_conversations(config.server_spec(), workload.questions)
    estimate = estimate_of(config, metrics, workload.questions, workload.documents)
    plan: dict[str, Any] = {
        "server": "embedded" if config.embedded else public_url(config.rag_server_url),
        "profile": config.server_spec().profile,
        "questions": len(workload.questions),
        "datasets": [each.model_dump(mode="json") for each in workload.fingerprints],
        "seed": config.seed,
        "concurrency": config.concurrency,
        "upload_documents": len(workload.documents) if config.ingest or config.embedded else 0,
        **_measuring(metrics, config, estimate),
        "runs_dir": str(config.runs_dir),
    }
    asked = questions_of(workload.fingerprints, len(workload.questions))
    lines = [
        f"would ask {plan['server']} {asked}, {config.concurrency} at a time, nothing asked",
        *(
            f"  {e.name}: {questions_of([e], e.questions)}, {counted(e.documents, 'document')}, from {e.source}"
            for e in workload.fingerprints
        ),
        *reading_notes(workload.fingerprints),
        *([f"would upload {counted(plan['upload_documents'], 'document')} first"] if plan["upload_documents"] else []),
        *_measured(plan, estimate),
        f"seed {config.seed}, runs in {config.runs_dir}",
    ]
    _print_dry_run(plan, lines, as_json=as_json)


def describe_measuring(work: RunPlan, metrics: Sequence[BaseMetric], config: EvalConfig, *, as_json: bool) -> None:
    """Say what `rescore` and `score` would do over answers that are there.

    Raises:
        EvalsError: It could not be done.
    """
    estimate = estimate_saved(work, metrics, config)
    answered = len(work.answered)
    plan: dict[str, Any] = {
        "source": work.run.rescored_from or work.run.server.url,
        "questions": len(work.questions),
        "answered": answered,
        **_measuring(metrics, config, estimate),
        "runs_dir": str(config.runs_dir),
    }
    lines = [
        f"would measure {counted(answered, 'answer')} to {counted(len(work.questions), 'question')} "
        f"of {plan['source']}, nothing judged",
        *_measured(plan, estimate),
        f"runs in {config.runs_dir}",
    ]
    _print_dry_run(plan, [*work.notes, *lines], as_json=as_json)


def _measuring(metrics: Sequence[BaseMetric], config: EvalConfig, estimate: Estimate | None) -> dict[str, Any]:
    judged = wants_judge(config, metrics)
    refusal = refusal_for_key(config, metrics)
    return {
        "metrics": [metric.name for metric in metrics if judged or Need.JUDGE not in metric.needs],
        "judge": config.judge.model if judged else None,
        "estimate": asdict(estimate) if estimate else None,
        "refusal": {"message": refusal.message, "hint": refusal.hint} if refusal else None,
    }


def _measured(plan: dict[str, Any], estimate: Estimate | None) -> list[str]:
    judge = f"would judge with {plan['judge']}: {estimate}" if plan["judge"] else "no judge"
    return [f"would compute {', '.join(plan['metrics'])}", judge, *_refused(plan["refusal"])]


def _refused(refusal: dict[str, str] | None) -> list[str]:
    """What would stop the run before it begins; a plan is made all the same."""
    if refusal is None:
        return []
    return [f"! as it stands the run would refuse to begin: {refusal['message']}", f"  {refusal['hint']}"]


def _print_dry_run(plan: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(plan, indent=2))
        return
    for line in lines:
        console().print(line)


# `evals eval` with variants: one run each, asked in turn, and how they compare.


def evaluate_variants(
    configs: Sequence[EvalConfig],
    flags: EvalFlags,
    reporter: Reporter,
    resume: Sequence[EvalRun] = (),
    notes: Sequence[str] = (),
) -> None:
    """Run all variants, and print how they compare.

    Args:
        configs: Of each run.
        flags: As they were given.
        reporter: Who tells CI of them.
        resume: The saved runs to go on with.
        notes: To be said before anything is asked.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    observer = observer_for(as_json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose)
    for note in notes:
        observer.note(note)
    if flags.dry_run:
        _describe(configs, as_json=flags.as_json)
        return
    runner = VariantsRunner(configs, observer, resume=resume)
    try:
        done = asyncio.run(runner.evaluate())
    except KeyboardInterrupt as error:
        raise _interrupted(runner.run_ids, configs[0]) from error
    _end(done, configs[0], reporter, as_json=flags.as_json, quiet=flags.quiet)


def _describe(configs: Sequence[EvalConfig], *, as_json: bool) -> None:
    """Say what would be done of each variant.

    Raises:
        ConfigError: As JSON: it is of one run.
    """
    if as_json:
        raise ConfigError("--dry-run prints the plan of one run as JSON", "leave --json out, or the variants")
    for config in configs:
        console().print(f"\nvariant {config.name}", style="bold")
        describe_asking(config, as_json=False)


def _interrupted(run_ids: Sequence[str], config: EvalConfig) -> RunInterruptedError:
    if not run_ids:
        return RunInterruptedError("interrupted before anything was asked")
    again = command(f"eval --resume {run_ids[0]}", config.runs_dir)
    return RunInterruptedError("interrupted; what was answered is saved", f"go on with all variants: {again}")


def _end(done: Sequence[Measured], config: EvalConfig, reporter: Reporter, *, as_json: bool, quiet: bool) -> None:
    """Print the comparison, and end as the worst of the runs deserves.

    Raises:
        RunIncompleteError: A run is partial or failed.
        GateFailedError: A gate is not met by a run.
    """
    store = RunStore(config.runs_dir)
    for each in done:
        reporter.found(each, each.run.gates)
    saved = [SavedRun(each.run, store.open_records(each.run)) for each in done]
    comparison = compare_runs(saved, pareto=True)
    reporter.compared(Beside(comparison, saved))
    if as_json:
        print_json(_as_json(done, comparison))
    else:
        _print(done, comparison, config, quiet=quiet)
    for each in done:
        if each.run.status != "complete":
            raise RunIncompleteError(
                f"run {each.run.id} ({each.run.name}) is {each.run.status}: {what_is_undone(each.run, each.source)}",
                f"go on with all variants: {command(f'eval --resume {each.run.id}', config.runs_dir)}",
            )
    for each in done:
        reporter.judge(each.run.gates, each.run.name)


def _as_json(done: Sequence[Measured], comparison: Comparison) -> str:
    runs = [each.run.model_dump(mode="json") for each in done]
    return json.dumps({"runs": runs, "comparison": comparison.model_dump(mode="json")}, indent=2, ensure_ascii=False)


def _print(done: Sequence[Measured], comparison: Comparison, config: EvalConfig, *, quiet: bool) -> None:
    out = console()
    if not quiet:
        print_comparison(out, comparison)
        out.print()
    for each in done:
        shown = command(f"show {each.run.id}", config.runs_dir)
        out.print(f"{each.run.id}  {each.run.name}  {each.run.status}: {shown}", soft_wrap=True, markup=False)


# `--vary ask.json.top_k=3,5,10`: which keys of the server take which values.


_HINT = "write it as --vary ask.json.top_k=3,5,10: a key of server, and its values with commas"


MOST = 64
"""More variants than these are a mistake: each asks every question."""


def vary(given: Sequence[str], variants: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """The variants that these axes make: one for each combination of their values, and of what there is already.

    Args:
        given: Each a key below `server`, with dots between its parts, and its values; these are read as YAML is.
        variants: Those of the configuration, each of which is combined with all values.

    Returns:
        By label, the keys laid over `server`.

    Raises:
        ConfigError: One has no key or no value, a key or a value is named twice, or there are too many.
    """
    axes = [_axis(text) for text in given]
    _refuse_twice([key for key, _ in axes], "--vary names")
    there = list((variants or {"": {}}).items())
    if len(there) * prod(len(values) for _, values in axes) > MOST:
        raise ConfigError(f"these are more than {MOST} variants", "each asks every question: vary less at a time")
    names = _short([key for key, _ in axes])
    labelled = (_labelled(name, key, values) for name, (key, values) in zip(names, axes, strict=True))
    return dict(_together(chosen) for chosen in product(there, *labelled))


def _short(keys: Sequence[str]) -> list[str]:
    """Of each key the last part, and of all as many parts as tell them apart."""
    parts = [key.split(".") for key in keys]
    for count in range(1, max(map(len, parts), default=1)):
        names = [".".join(part[-count:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return list(keys)


def _labelled(name: str, key: str, values: Iterable[Any]) -> list[tuple[str, dict[str, Any]]]:
    """For each value its label, with the layer that sets it."""
    return [(f"{name}={_said(value)}", _layer(key.split("."), value)) for value in values]


def _together(chosen: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """One label, and one layer, of several."""
    labels, layers = zip(*chosen, strict=True)
    return " ".join(filter(None, labels)), reduce(merge, layers, {})


def _axis(text: str) -> tuple[str, list[Any]]:
    """The key and its values."""
    key, equals, values = text.partition("=")
    parts = key.strip().removeprefix("server.").split(".")
    if not equals or not all(parts):
        raise ConfigError(f"--vary {text!r} has no key or no values", _HINT)
    read = _values(values, text)
    _refuse_twice([_said(value) for value in read], f"--vary {key.strip()} has the value")
    return ".".join(parts), read


def _values(values: str, text: str) -> list[Any]:
    try:
        read = load_yaml(f"[{values}]")
    except YamlTextError as error:
        raise ConfigError(f"the values of --vary {text!r} cannot be read: {error}", _HINT) from None
    if not read:
        raise ConfigError(f"--vary {text!r} has no values", _HINT)
    return list(read)


def _said(value: Any) -> str:
    """The value as JSON; a text as it is, unless it reads as something else, such as the text "3"."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, default=str)
    try:
        is_plain = load_yaml(f"[{value}]") == [value]
    except YamlTextError:
        is_plain = True  # it can be read as nothing else
    return value if is_plain or "," in value else json.dumps(value, ensure_ascii=False)


def _layer(parts: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = parts
    return {first: _layer(rest, value) if rest else value}


def _refuse_twice(names: Sequence[str], what: str) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigError(f"{what} {name} twice", "each variant is asked once; --repeats asks it more often")


def evaluate(flags: EvalFlags) -> None:
    """Run an evaluation and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        _evaluate(flags, reporter)


def _evaluate(flags: EvalFlags, reporter: Reporter) -> None:
    if flags.alone and flags.resume is None:
        raise ConfigError("--alone is of a run that goes on", "name it with --resume")
    run: EvalRun | None = None
    if flags.resume is None:
        settings = _configured(flags)
        if settings.variants:
            evaluate_variants(variants_of(settings), flags, reporter, notes=_of_added_fields(settings))
            return
    else:
        run, settings = _resumed(flags.resume, flags)
        if run.interleaved_with and not flags.alone:
            together = saved_together(RunStore(settings.runs_dir), run)
            configs = [resumed_config(each, overrides(flags)) for each in together]
            evaluate_variants(configs, flags, reporter, together)
            return
    if flags.dry_run:
        describe_asking(settings, as_json=flags.as_json)
        return
    runner = EvaluationRunner(
        settings, observer_for(as_json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose), resume=run
    )
    try:
        done = asyncio.run(runner.evaluate())
    except KeyboardInterrupt as error:
        raise interrupted("eval --resume", runner.run_id, settings.runs_dir) from error
    end(done, settings, reporter, as_json=flags.as_json, quiet=flags.quiet)


def _of_added_fields(config: EvalConfig) -> list[str]:
    """What a reader must know of fields that variants add to a request: a misspelt one would go unnoticed."""
    said = "the profile's request does not have it, so it is added; see that the server knows it"
    return [f"{path}: {said}" for path in added_fields(config)]


def _configured(flags: EvalFlags) -> EvalConfig:
    """The configuration of a new run, with the variants of --vary."""
    config = EvalConfig.build(*config_layers(flags))
    if not flags.vary:
        return config
    return EvalConfig.build(*config_layers(flags), {"variants": vary(flags.vary, config.variants)})


def _resumed(run_id: str, flags: EvalFlags) -> tuple[EvalRun, EvalConfig]:
    """A saved run with its configuration; flags may change how it is asked, not what."""
    if flags.vary:
        raise ConfigError("--resume takes the variants of the saved run, so not --vary")
    given, told = given_flags(flags), keys_of(flags)
    refused = sorted(name for name in given if told[name][0] not in MAY_CHANGE | {"server.url"})
    if refused:
        names = ", ".join(flag_name(name, given[name]) for name in refused)
        raise ConfigError(f"--resume takes the questions and metrics of the saved run, so not {names}")
    runs_dir = flags.runs_dir or EvalConfig().runs_dir
    run = RunStore(runs_dir).load(run_id)
    there = folder_of(run)
    if there is not None and there.resolve() != runs_dir.resolve():
        raise ConfigError(
            f"run {run.id} is in {there}, and what is asked is saved to {runs_dir}", f"add --runs-dir {there}"
        )
    return run, resumed_config(run, overrides(flags))
