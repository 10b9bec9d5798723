"""Commands that make runs: `evals eval`, of one server or of variants, `merge`, `rescore` and `score`."""

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from evals.cli import measuring
from evals.cli.ci import Reporter
from evals.cli.flags import EvalFlags, MergeFlags, RescoreFlags, ScoreFlags, flag_name
from evals.cli.terminal import check_output, print_result, say, warn
from evals.client.http import check_url
from evals.client.spec import ServerSpec
from evals.compare.paired import compare_runs
from evals.compare.pareto import common_objectives
from evals.config import EvalConfig
from evals.errors import ConfigError, RunInterruptedError
from evals.report.compared import comparison_parts, several_table
from evals.report.elements import TextLine
from evals.report.summary import questions_of
from evals.run.checks import check_config, estimate_of
from evals.run.merge import merge, put_together
from evals.run.production import SUITE, answers_of_log, with_server_times
from evals.run.resume import MAY_CHANGE, rescore_config, resumed_config
from evals.run.saved import answers_of_file, answers_of_run
from evals.run.workload import check_conversations, load_workload
from evals.runner import EvaluationRunner
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.notes import reading_notes
from evals.scoring.passages import score_predictions
from evals.secrets import public_url
from evals.store.atomic import write_output
from evals.store.runs import DEFAULT_RUNS_DIR, RunStore, command, folder_of
from evals.text.numbers import counted
from evals.variants import VariantsRunner, saved_together, variants_of, vary, with_alike


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
            configs = [resumed_config(part, measuring.overrides(flags)) for part in together]
            _evaluate_variants(configs, flags, reporter, resume=together)
        elif flags.dry_run:
            print_result(*_asking_plan(settings), flags)
        else:
            runner = EvaluationRunner(settings, measuring.observer_for(flags), resume=run)
            done = measuring.until_ctrl_c(runner.evaluate(), lambda: _interrupted(runner.run_id, settings.runs_dir))
            measuring.finish(done, settings, reporter, flags)


def _configured(flags: EvalFlags) -> EvalConfig:
    """The configuration of a new run, with the variants of --vary."""
    layers = measuring.config_layers(flags)
    config = EvalConfig.build(*layers)
    if flags.vary:
        config = EvalConfig.build(*layers, {"variants": vary(flags.vary, config.variants)})
    for key in set().union(*config.variants.values()) - ServerSpec.model_fields.keys():
        hint = f"did you mean ask.json.{key}? Fields of the request are below ask.json"
        raise ConfigError(f"server has no key {key!r}", hint)
    return config


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
        message = f"run {run.id} is in {saved_in}, and what is asked is saved to {runs_dir}"
        raise ConfigError(message, f"add --runs-dir {saved_in}")
    return run, resumed_config(run, measuring.overrides(flags))


def _interrupted(run_id: str | None, runs_dir: Path) -> RunInterruptedError:
    if run_id is None:
        return RunInterruptedError("interrupted before anything was asked")
    again = command(f"eval --resume {run_id}", runs_dir)
    return RunInterruptedError("interrupted; what was answered is saved", f"continue with: {again}")


def _evaluate_variants(
    configs: Sequence[EvalConfig], flags: EvalFlags, reporter: Reporter, *, resume: Sequence[EvalRun] = ()
) -> None:
    """Run all variants in turn, print how they compare, and end the command with the exit code of the worst run.

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
    observer, runs_dir = measuring.observer_for(flags), configs[0].runs_dir
    if flags.dry_run and flags.as_json:
        raise ConfigError("--dry-run prints the plan of one run as JSON", "leave --json out, or the variants")
    if flags.dry_run:
        for config in configs:
            say(f"\nvariant {config.name}")
            print_result(*_asking_plan(config), flags)
        return
    runner = VariantsRunner(configs, observer, resume=resume)
    done = measuring.until_ctrl_c(runner.evaluate(), lambda: _interrupted(next(iter(runner.run_ids), None), runs_dir))
    runs = [saved.run for saved in done]
    comparison = reporter.comparison = with_alike(compare_runs(done, with_pareto=bool(common_objectives(runs))), done)
    reporter.runs += done
    data = {"runs": [run.model_dump(mode="json") for run in runs], "comparison": comparison.model_dump(mode="json")}
    parts = [several_table(comparison)] if flags.quiet else comparison_parts(comparison, every=flags.every)
    more = TextLine(f"\nmore on a run: {command(f'show {runs[-1].id}', runs_dir)}", whole=True)
    print_result(data, chain(parts, [more]), flags)
    measuring.conclude(done, runs_dir, reporter)


# `--dry-run`: what would be done, without asking a server or a judge.


def _asking_plan(config: EvalConfig) -> measuring.Preview:
    """What `eval` would do.

    Raises:
        EvalsError: It could not be done.
    """
    metrics, spec = check_config(config, asking=False), config.server_spec()
    server = "embedded" if config.embedded else public_url(check_url(spec.url))
    workload = load_workload(config)
    check_conversations(spec, workload.questions)
    files = workload.fingerprints
    uploaded = len(workload.documents) if config.ingest or config.embedded else 0
    records = [EvalRecord(question=question) for question in workload.questions]
    facts, lines = measuring.judging_plan(estimate_of(config, metrics, records), metrics, config)
    facts |= {"server": server, "profile": spec.profile, "questions": len(records), "upload_documents": uploaded}
    facts |= {"datasets": [file.model_dump(mode="json") for file in files]}
    first = [f"would ask {server} {questions_of(files, len(records))}, {config.concurrency} at a time, nothing asked"]
    for file in files:
        held = f"{questions_of([file], file.questions)}, {counted(file.documents, 'document')}"
        first.append(f"  {file.name}: {held}, from {file.source}")
    first += [*reading_notes(files), *([f"would upload {counted(uploaded, 'document')} first"] if uploaded else [])]
    return facts, first + lines


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
        done = measuring.until_ctrl_c(merge(shards, measuring.observer_for(flags)), lambda: unchanged)
        measuring.finish(done, shards.config, reporter, flags)


def rescore(flags: RescoreFlags) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags) as reporter:
        layers = measuring.config_layers(flags)
        runs_dir = measuring.runs_dir_of(layers)
        source = RunStore(runs_dir).load(flags.run)
        config = rescore_config(source, *layers, {"runs_dir": runs_dir}, remap=flags.remap)
        answers = answers_of_run(source, config, remap=flags.remap)
        if flags.traces is not None:
            answers = with_server_times(answers, source, flags.traces, runs_dir)
        if (done := measuring.measure_now(answers, config, flags)) is not None:
            measuring.finish(done, config, reporter, flags)


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
        layers = measuring.config_layers(flags)
        config = EvalConfig.build(*layers, {"samples_per_dataset": None})
        is_log = config.dataset_file is None
        if is_log:
            suite = {} if config.suite or config.metrics else {"suite": [SUITE]}
            # A question that failed is what a log tells; it is no run that went wrong.
            config = EvalConfig.build({"max_error_rate": 1.0}, *layers, {"dataset_file": flags.predictions, **suite})
        elif flags.sample is not None or flags.stratify is not None:
            raise ConfigError("--sample and --stratify are of a log, and --dataset-file names questions", _FORMS)
        answers = (answers_of_log if is_log else answers_of_file)(flags.predictions, config)
        if (done := measuring.measure_now(answers, config, flags)) is not None:
            measuring.finish(done, config, reporter, flags)


_FORMS = "score predictions.json gold.json, score answers.jsonl --dataset-file questions.jsonl, or score log.jsonl"
_RULE, _DEFAULT_K = "=" * 26, 10


def _score_passages(gold: Path, flags: ScoreFlags) -> None:
    """Score the files and print the means; what to know about them goes to stderr."""
    names = ("config", "dry_run", "lenient", "quiet", "verbose", "every", "junit", "comment")
    idle = {name: getattr(flags, name) for name in names if getattr(flags, name)} | flags.given()
    for name, value in idle.items():
        raise ConfigError(f"{flag_name(name, value)} does nothing where retrieved passages are scored", _FORMS)
    if flags.output is not None:
        check_output(flags.output)
    scores = score_predictions(flags.predictions, gold, k=_DEFAULT_K if flags.k is None else flags.k)
    means = scores.labelled()
    for note in scores.notes:
        warn(note)
    if flags.output is not None:
        write_output(flags.output, f"{json.dumps(means, indent=2)}\n".encode())
    lines = ["Evaluation Results:", _RULE, *(f"{label}: {value:.4f}" for label, value in means.items()), _RULE]
    print_result(means, lines, flags)
