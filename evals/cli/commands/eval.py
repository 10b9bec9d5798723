"""Commands that make runs: `evals eval`, of one server or of variants, `merge`, `rescore` and `score`."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import typer

from evals.cli.ci import Reporter
from evals.cli.flags import EvalFlags, MergeFlags, RescoreFlags, ScoreFlags
from evals.cli.measuring import (
    config_layers,
    finish,
    layer_of,
    measure_now,
    observer_for,
    overrides,
    runs_dir_of,
    until_ctrl_c,
)  # fmt: skip
from evals.cli.parameters import Flags, flag_name
from evals.cli.saved import what_is_undone
from evals.cli.terminal import DOUBTFUL, check_output, clean, console, hung, print_json
from evals.cli.views import print_comparison
from evals.client.spec import ServerSpec
from evals.compare.paired import compare_runs
from evals.compare.pareto import common_objectives
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError
from evals.metrics.base import BaseMetric, Need
from evals.report.summary import questions_of, reading_notes
from evals.run.checks import check_config, estimate_of, refusal_of, wants_judge
from evals.run.estimate import Estimate
from evals.run.merge import merge as merge_runs
from evals.run.merge import put_together
from evals.run.production import SUITE, answers_of_log
from evals.run.resume import MAY_CHANGE, rescore_config, resumed_config
from evals.run.saved import SavedAnswers, answers_of_file, answers_of_run, estimate_saved
from evals.run.server_spans import with_server_times
from evals.run.workload import check_conversations, load_workload
from evals.runner import EvaluationRunner
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.config import headline
from evals.scoring.passages import score_predictions
from evals.scoring.saved import SavedRun
from evals.secrets import public_url
from evals.store.atomic import write_output
from evals.store.naming import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.runs import RunStore
from evals.text.numbers import counted
from evals.text.yaml_files import YamlTextError, load_yaml, merge
from evals.variants import VariantsRunner, saved_together, variants_of, with_alike


def evaluate(flags: EvalFlags) -> None:
    """Run an evaluation and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags) as reporter:
        run, settings = (None, _configured(flags)) if flags.resume is None else _resumed(flags.resume, flags)
        if settings.variants:
            _evaluate_variants(variants_of(settings), flags, reporter)
        elif run is not None and run.interleaved_with:
            together = saved_together(RunStore(settings.runs_dir), run)
            configs = [resumed_config(each, overrides(flags)) for each in together]
            _evaluate_variants(configs, flags, reporter, resume=together)
        elif flags.dry_run:
            describe_asking(settings, flags)
        else:
            runner = EvaluationRunner(settings, observer_for(flags), resume=run)
            done = until_ctrl_c(runner.evaluate(), lambda: _interrupted([runner.run_id], settings, "continue with"))
            finish(done, settings, reporter, flags)


def _configured(flags: EvalFlags) -> EvalConfig:
    """The configuration of a new run, with the variants of --vary."""
    layers = config_layers(flags)
    config = EvalConfig.build(*layers)
    variants = vary(flags.vary or [], config.variants) if flags.vary else config.variants
    for key in {key for over in variants.values() for key in over if key not in ServerSpec.model_fields}:
        hint = f"did you mean ask.json.{key}? Fields of the request are below ask.json"
        raise ConfigError(f"server has no key {key!r}", hint)
    return EvalConfig.build(*layers, {"variants": variants}) if flags.vary else config


def _resumed(run_id: str, flags: EvalFlags) -> tuple[EvalRun, EvalConfig]:
    """A saved run with its configuration; flags may change how it is asked, not what."""
    if flags.vary:
        raise ConfigError("--resume takes the variants of the saved run, so not --vary")
    given, keys = flags.given(), flags.keys()
    refused = [flag_name(name, given[name]) for name in sorted(given) if keys[name] not in MAY_CHANGE | {"server.url"}]
    if refused:
        raise ConfigError(f"--resume takes the questions and metrics of the saved run, so not {', '.join(refused)}")
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
) -> None:
    """Run all variants, print how they compare, and end the command with the exit code of the worst of the runs.

    Args:
        configs: Of each run.
        flags: As they were given.
        reporter: Who tells CI of them.
        resume: The saved runs to continue.

    Raises:
        RunIncompleteError: A run is partial or failed.
        GateFailedError: A gate is not met by a run.
        EvalsError: With the exit code of what else went wrong.
    """
    observer = observer_for(flags)
    if flags.dry_run:
        if flags.as_json:
            raise ConfigError("--dry-run prints the plan of one run as JSON", "leave --json out, or the variants")
        for config in configs:
            console().print(f"\nvariant {config.name}", style="bold")
            describe_asking(config, flags)
        return
    runner = VariantsRunner(configs, observer, resume=resume)
    way_on = "continue with all variants"
    done = until_ctrl_c(runner.evaluate(), lambda: _interrupted(runner.run_ids, configs[0], way_on))
    _print_variants(done, configs[0], flags, reporter)
    for each in done:
        if each.run.status != "complete":
            raise RunIncompleteError(
                f"run {each.run.id} ({each.run.name}) is {each.run.status}: {what_is_undone(each)}",
                f"{way_on}: {command(f'eval --resume {each.run.id}', configs[0].runs_dir)}",
            )
    for each in done:
        reporter.judge(each.run.gates, each.run.name)


def _print_variants(done: Sequence[SavedRun], config: EvalConfig, flags: EvalFlags, reporter: Reporter) -> None:
    for saved in done:
        reporter.add(saved, saved.run.gates)
    has_front = bool(common_objectives([saved.run for saved in done]))
    comparison = with_alike(compare_runs(done, with_pareto=has_front), done)
    reporter.compared(comparison)
    if flags.as_json:
        runs = [each.run.model_dump(mode="json") for each in done]
        print_json(
            json.dumps({"runs": runs, "comparison": comparison.model_dump(mode="json")}, indent=2, ensure_ascii=False)
        )
        return
    out = console()
    if not flags.quiet:
        print_comparison(out, comparison, every=flags.every)
        out.print(f"\nmore on a run: {command(f'show {done[-1].run.id}', config.runs_dir)}", soft_wrap=True)
    for run in (each.run for each in done if flags.quiet):
        shown = command(f"show {run.id}", config.runs_dir)
        out.print(f"{run.id}  {run.name}  {run.status}, score {headline(run)}: {shown}", soft_wrap=True, markup=False)


# `--dry-run`: what would be done, without asking a server or a judge.


def describe_asking(config: EvalConfig, flags: Flags) -> None:
    """Say what `eval` would do.

    Raises:
        EvalsError: It could not be done.
    """
    metrics = check_config(config, asking=False)
    workload = load_workload(config)
    check_conversations(config.server_spec(), workload.questions)
    files = workload.fingerprints
    plan: dict[str, Any] = {
        "server": "embedded" if config.embedded else public_url(config.rag_server_url),
        "profile": config.server_spec().profile,
        "questions": len(workload.questions),
        "datasets": [each.model_dump(mode="json") for each in files],
        "seed": config.seed,
        "concurrency": config.concurrency,
        "upload_documents": len(workload.documents) if config.ingest or config.embedded else 0,
    }
    asked = questions_of(files, len(workload.questions))
    lines = [f"would ask {plan['server']} {asked}, {config.concurrency} at a time, nothing asked"]
    for each in files:
        held = f"{questions_of([each], each.questions)}, {counted(each.documents, 'document')}"
        lines.append(f"  {each.name}: {held}, from {each.source}")
    lines += reading_notes(files)
    if plan["upload_documents"]:
        lines.append(f"would upload {counted(plan['upload_documents'], 'document')} first")
    records = [EvalRecord(question=question) for question in workload.questions]
    _print_plan(plan, lines, metrics, config, estimate_of(config, metrics, records, workload.documents), flags)


def describe_measuring(answers: SavedAnswers, metrics: Sequence[BaseMetric], config: EvalConfig, flags: Flags) -> None:
    """Say what `rescore` and `score` would do over answers that are there.

    Raises:
        EvalsError: It could not be done.
    """
    records = list(answers.records)
    answered = sum(record.response is not None and record.response.error is None for record in records)
    source = answers.run.rescored_from or answers.run.server.url
    plan = {"source": source, "questions": len(records), "answered": answered}
    measured = f"{counted(answered, 'answer')} to {counted(len(records), 'question')} of {source}"
    lines = [*answers.notes, f"would measure {measured}, nothing judged"]
    _print_plan(plan, lines, metrics, config, estimate_saved(answers, metrics, config), flags)


def _computed(metrics: Sequence[BaseMetric], *, judged: bool) -> list[str]:
    return [metric.name for metric in metrics if judged or Need.JUDGE not in metric.needs]


def _print_plan(
    plan: Mapping[str, Any],
    lines: Sequence[str],
    metrics: Sequence[BaseMetric],
    config: EvalConfig,
    estimate: Estimate | None,
    flags: Flags,
) -> None:
    """Print what would be asked, then what would be computed and judged."""
    judge = config.judge.model if wants_judge(config, metrics) else None
    names = _computed(metrics, judged=judge is not None)
    refusal = refusal_of(config, metrics)  # it would stop the run before it begins; a plan is made all the same
    if flags.as_json:
        measuring = {
            "metrics": names,
            "judge": judge,
            "estimate": estimate and asdict(estimate),
            "refusal": refusal and {"message": refusal.message, "hint": refusal.hint},
            "runs_dir": str(config.runs_dir),
        }
        typer.echo(json.dumps({**plan, **measuring}, indent=2))
        return
    judging = f"would judge with {judge}: {estimate}" if judge else "no judge"
    for line in (*lines, f"would compute {counted(len(names), 'metric')}: {', '.join(names)}", judging):
        console().print(hung(console(), line), soft_wrap=True)
    if refusal:
        console().print(f"! as it stands the run would refuse to begin: {refusal.message}\n  {refusal.hint}")
    console().print(f"seed {config.seed}, runs in {config.runs_dir}")


# `--vary ask.json.top_k=3,5,10`: which keys of the server take which values.


_HINT = "write it as --vary ask.json.top_k=3,5,10: a key of server, and its values with commas, each once"


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
    axes = dict(map(_axis, given))
    if len(axes) < len(given):
        raise ConfigError("--vary names a key twice", _HINT)
    known = list((variants or {"": {}}).items())
    if len(known) * prod(map(len, axes.values())) > MOST:
        raise ConfigError(f"these are more than {MOST} variants", "each asks every question: vary less at a time")
    last = {key: key.rpartition(".")[2] for key in axes}
    names = last if len(set(last.values())) == len(last) else {key: key for key in axes}
    labelled = [
        [(f"{names[key]}={label}", layer_of(key, value)) for label, value in values.items()]
        for key, values in axes.items()
    ]
    varied: dict[str, dict[str, Any]] = {}
    for chosen in product(known, *labelled):
        labels, layers = zip(*chosen, strict=True)
        varied[" ".join(filter(None, labels))] = reduce(merge, layers, {})
    return varied


def _axis(text: str) -> tuple[str, dict[str, Any]]:
    """The key, and its values by how a label says them: a text as it is, anything else as JSON."""
    key, _, values = text.partition("=")
    parts = key.strip().removeprefix("server.").split(".")
    try:
        read = load_yaml(f"[{values}]")
    except YamlTextError as error:
        raise ConfigError(f"the values of --vary {text!r} cannot be read: {error}", _HINT) from None
    if not read or not all(parts):
        raise ConfigError(f"--vary {text!r} has no key or no values", _HINT)
    said = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str) for value in read]
    if len(set(said)) < len(said):
        raise ConfigError(f"--vary {text!r} has a value twice", _HINT)
    return ".".join(parts), dict(zip(said, read, strict=True))


# Runs of answers that are there: `evals merge`, `rescore`, `score`.


def merge_shards(flags: MergeFlags) -> None:
    """Make one run of the shards, and print what came out.

    Raises:
        RunInterruptedError: Somebody pressed Ctrl-C; the shards are as they were.
        EvalsError: With the exit code of what went wrong.
    """
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    with Reporter(flags) as reporter:
        loaded = [store.load(run_id) for run_id in flags.runs]
        shards = put_together(loaded, flags.given() | {"runs_dir": store.folder}, allow_partial=flags.allow_partial)
        unchanged = RunInterruptedError("interrupted", "the shards are as they were: merge them again")
        done = until_ctrl_c(merge_runs(shards, observer_for(flags)), lambda: unchanged)
        finish(done, shards.config, reporter, flags)


def rescore(flags: RescoreFlags) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags) as reporter:
        layers = config_layers(flags)
        runs_dir = runs_dir_of(layers)
        source = RunStore(runs_dir).load(flags.run)
        settings = rescore_config(source, *layers, {"runs_dir": runs_dir}, remap=flags.remap)
        metrics = check_config(settings, asking=not flags.dry_run)
        answers = answers_of_run(source, settings, remap=flags.remap)
        if flags.traces is not None:
            answers = with_server_times(answers, source, flags.traces, runs_dir)
        _measure(answers, metrics, settings, flags, reporter)


def _measure(
    answers: SavedAnswers,
    metrics: Sequence[BaseMetric],
    settings: EvalConfig,
    flags: RescoreFlags | ScoreFlags,
    reporter: Reporter,
) -> None:
    """Measure answers and print the run, or say what would be done."""
    if flags.dry_run:
        describe_measuring(answers, metrics, settings, flags)
    else:
        finish(measure_now(answers, metrics, settings, observer_for(flags)), settings, reporter, flags)


def score(flags: ScoreFlags) -> None:
    """Score retrieved passages against gold passages, saved answers to the questions of a dataset file, or a log.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    if flags.gold is not None:
        _score_passages(flags.gold, flags)
        return
    if flags.k is not None or flags.output is not None:
        raise ConfigError("--k and --output do nothing where saved answers are scored", _FORMS)
    with Reporter(flags) as reporter:
        layers = config_layers(flags)
        settings = EvalConfig.build(*layers, {"samples_per_dataset": None})
        is_log = settings.dataset_file is None
        if is_log:
            suite = {} if settings.suite or settings.metrics else {"suite": [SUITE]}
            # A question that failed is what a log tells; it is no run that went wrong.
            settings = EvalConfig.build({"max_error_rate": 1.0}, *layers, {"dataset_file": flags.predictions, **suite})
        elif flags.sample is not None or flags.stratify is not None:
            raise ConfigError("--sample and --stratify are of a log, and --dataset-file names questions", _FORMS)
        log = answers_of_log(flags.predictions, settings) if is_log else None
        metrics = check_config(settings, asking=not flags.dry_run)
        _measure(log or answers_of_file(flags.predictions, settings), metrics, settings, flags, reporter)


_FORMS = "score predictions.json gold.json, score answers.jsonl --dataset-file questions.jsonl, or score log.jsonl"

_RULE = "=" * 26

_DEFAULT_K = 10


def _score_passages(gold: Path, flags: ScoreFlags) -> None:
    """Score the files and print the means; what to know about them goes to stderr."""
    names = ("config", "dry_run", "lenient", "quiet", "verbose", "junit", "comment")
    idle = {name: getattr(flags, name) for name in names if getattr(flags, name)} | flags.given()
    for name, value in idle.items():
        raise ConfigError(f"{flag_name(name, value)} does nothing where retrieved passages are scored", _FORMS)
    if flags.output is not None:
        check_output(flags.output)
    scores = score_predictions(flags.predictions, gold, k=_DEFAULT_K if flags.k is None else flags.k)
    err = console(sys.stderr)
    for note in scores.notes:
        err.print(clean(f"! {note}"), style=DOUBTFUL, soft_wrap=True)
    means = scores.labelled()
    text = json.dumps(means, indent=2)
    if flags.output is not None:
        write_output(flags.output, f"{text}\n".encode())
    lines = [f"{label}: {value:.4f}" for label, value in means.items()]
    typer.echo(text if flags.as_json else "\n".join(["Evaluation Results:", _RULE, *lines, _RULE]))
