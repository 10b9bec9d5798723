"""`evals eval`: one evaluation, or one of each variant."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from itertools import product
from math import prod
from typing import Any

import typer

from evals.cli.ci import Reporter
from evals.cli.flags import EvalFlags
from evals.cli.measuring import config_layers, finish, layer_of, observer_for, overrides, until_ctrl_c
from evals.cli.parameters import flag_name, given_flags, keys_of
from evals.cli.saved import what_is_undone
from evals.cli.terminal import console, print_json
from evals.cli.views.comparison import print_comparison
from evals.compare import compare_runs
from evals.compare.pairing import SavedRun
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError
from evals.metrics.base import BaseMetric, Need
from evals.report.ci import Beside
from evals.report.parts import questions_of, reading_notes
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


def evaluate(flags: EvalFlags) -> None:
    """Run an evaluation and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        if flags.alone and flags.resume is None:
            raise ConfigError("--alone is of a run that goes on", "name it with --resume")
        run, settings = (None, _configured(flags)) if flags.resume is None else _resumed(flags.resume, flags)
        if settings.variants:
            _evaluate_variants(variants_of(settings), flags, reporter, added=added_fields(settings))
        elif run is not None and run.interleaved_with and not flags.alone:
            together = saved_together(RunStore(settings.runs_dir), run)
            configs = [resumed_config(each, overrides(flags)) for each in together]
            _evaluate_variants(configs, flags, reporter, resume=together)
        elif flags.dry_run:
            describe_asking(settings, as_json=flags.as_json)
        else:
            observer = observer_for(as_json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose)
            runner = EvaluationRunner(settings, observer, resume=run)
            done = until_ctrl_c(runner.evaluate(), lambda: _interrupted([runner.run_id], settings, "go on with"))
            finish(done, settings, reporter, as_json=flags.as_json, quiet=flags.quiet)


def _configured(flags: EvalFlags) -> EvalConfig:
    """The configuration of a new run, with the variants of --vary."""
    layers = config_layers(flags)
    config = EvalConfig.build(*layers)
    return EvalConfig.build(*layers, {"variants": vary(flags.vary, config.variants)}) if flags.vary else config


def _resumed(run_id: str, flags: EvalFlags) -> tuple[EvalRun, EvalConfig]:
    """A saved run with its configuration; flags may change how it is asked, not what."""
    if flags.vary:
        raise ConfigError("--resume takes the variants of the saved run, so not --vary")
    given, keys = given_flags(flags), keys_of(flags)
    refused = sorted(name for name in given if keys[name][0] not in MAY_CHANGE | {"server.url"})
    if refused:
        names = ", ".join(flag_name(name, given[name]) for name in refused)
        raise ConfigError(f"--resume takes the questions and metrics of the saved run, so not {names}")
    runs_dir = flags.runs_dir or EvalConfig().runs_dir
    run = RunStore(runs_dir).load(run_id)
    saved_in = folder_of(run)
    if saved_in is not None and saved_in.resolve() != runs_dir.resolve():
        raise ConfigError(
            f"run {run.id} is in {saved_in}, and what is asked is saved to {runs_dir}", f"add --runs-dir {saved_in}"
        )
    return run, resumed_config(run, overrides(flags))


def _interrupted(run_ids: Sequence[str | None], config: EvalConfig, way_on: str) -> RunInterruptedError:
    if not run_ids or run_ids[0] is None:
        return RunInterruptedError("interrupted before anything was asked")
    again = command(f"eval --resume {run_ids[0]}", config.runs_dir)
    return RunInterruptedError("interrupted; what was answered is saved", f"{way_on}: {again}")


# Variants: one run each, asked in turn, and how they compare.


def _evaluate_variants(
    configs: Sequence[EvalConfig],
    flags: EvalFlags,
    reporter: Reporter,
    *,
    resume: Sequence[EvalRun] = (),
    added: Sequence[str] = (),
) -> None:
    """Run all variants, print how they compare, and end the command with the exit code of the worst of the runs.

    Args:
        configs: Of each run.
        flags: As they were given.
        reporter: Who tells CI of them.
        resume: The saved runs to go on with.
        added: Fields that variants add to a request; a misspelt one would go unnoticed.

    Raises:
        RunIncompleteError: A run is partial or failed.
        GateFailedError: A gate is not met by a run.
        EvalsError: With the exit code of what else went wrong.
    """
    observer = observer_for(as_json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose)
    for path in added:
        observer.note(f"{path}: the profile's request does not have it, so it is added; see that the server knows it")
    if flags.dry_run:
        if flags.as_json:
            raise ConfigError("--dry-run prints the plan of one run as JSON", "leave --json out, or the variants")
        for config in configs:
            console().print(f"\nvariant {config.name}", style="bold")
            describe_asking(config, as_json=False)
        return
    runner = VariantsRunner(configs, observer, resume=resume)
    way_on = "go on with all variants"
    done = until_ctrl_c(runner.evaluate(), lambda: _interrupted(runner.run_ids, configs[0], way_on))
    _print_variants(done, configs[0], flags, reporter)
    for run, measured in ((each.run, each) for each in done):
        if run.status != "complete":
            raise RunIncompleteError(
                f"run {run.id} ({run.name}) is {run.status}: {what_is_undone(run, measured.source)}",
                f"{way_on}: {command(f'eval --resume {run.id}', configs[0].runs_dir)}",
            )
    for each in done:
        reporter.judge(each.run.gates, each.run.name)


def _print_variants(done: Sequence[Measured], config: EvalConfig, flags: EvalFlags, reporter: Reporter) -> None:
    store = RunStore(config.runs_dir)
    for each in done:
        reporter.found(each, each.run.gates)
    saved = [SavedRun(each.run, store.open_records(each.run)) for each in done]
    comparison = compare_runs(saved, pareto=True)
    reporter.compared(Beside(comparison, saved))
    if flags.as_json:
        plain = {
            "runs": [each.run.model_dump(mode="json") for each in done],
            "comparison": comparison.model_dump(mode="json"),
        }
        print_json(json.dumps(plain, indent=2, ensure_ascii=False))
        return
    out = console()
    if not flags.quiet:
        print_comparison(out, comparison)
        out.print()
    for run in (each.run for each in done):
        shown = command(f"show {run.id}", config.runs_dir)
        out.print(f"{run.id}  {run.name}  {run.status}: {shown}", soft_wrap=True, markup=False)


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
    lines = [f"would compute {', '.join(plan['metrics'])}", judge]
    if refusal := plan["refusal"]:  # it would stop the run before it begins; a plan is made all the same
        lines += [f"! as it stands the run would refuse to begin: {refusal['message']}", f"  {refusal['hint']}"]
    return lines


def _print_dry_run(plan: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(plan, indent=2))
        return
    for line in lines:
        console().print(line)


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
    known = list((variants or {"": {}}).items())
    if len(known) * prod(len(values) for _, values in axes) > MOST:
        raise ConfigError(f"these are more than {MOST} variants", "each asks every question: vary less at a time")
    names = _short([key for key, _ in axes])
    labelled = [
        [(f"{name}={_said(value)}", layer_of(key, value)) for value in values]
        for name, (key, values) in zip(names, axes, strict=True)
    ]
    varied: dict[str, dict[str, Any]] = {}
    for chosen in product(known, *labelled):
        labels, layers = zip(*chosen, strict=True)
        varied[" ".join(filter(None, labels))] = reduce(merge, layers, {})
    return varied


def _short(keys: Sequence[str]) -> list[str]:
    """Of each key the last part, and of all as many parts as tell them apart."""
    parts = [key.split(".") for key in keys]
    for count in range(1, max(map(len, parts), default=1)):
        names = [".".join(part[-count:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return list(keys)


def _axis(text: str) -> tuple[str, list[Any]]:
    """The key and its values."""
    key, equals, values = text.partition("=")
    parts = key.strip().removeprefix("server.").split(".")
    if not equals or not all(parts):
        raise ConfigError(f"--vary {text!r} has no key or no values", _HINT)
    try:
        read = load_yaml(f"[{values}]")
    except YamlTextError as error:
        raise ConfigError(f"the values of --vary {text!r} cannot be read: {error}", _HINT) from None
    if not read:
        raise ConfigError(f"--vary {text!r} has no values", _HINT)
    _refuse_twice([_said(value) for value in read], f"--vary {key.strip()} has the value")
    return ".".join(parts), list(read)


def _said(value: Any) -> str:
    """The value as JSON; a text as it is, unless it reads as something else, such as the text "3"."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, default=str)
    try:
        is_plain = load_yaml(f"[{value}]") == [value]
    except YamlTextError:
        is_plain = True  # it can be read as nothing else
    return value if is_plain or "," in value else json.dumps(value, ensure_ascii=False)


def _refuse_twice(names: Sequence[str], what: str) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigError(f"{what} {name} twice", "each variant is asked once; --repeats asks it more often")
