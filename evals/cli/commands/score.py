"""`evals merge RUN…`: one run of all shards."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from evals.cli.ci import Reporter
from evals.cli.commands.eval import describe_measuring
from evals.cli.ending import end, measure_now, observer_for
from evals.cli.flags import CiFlags, RescoreFlags, ScoreFlags, given_flags, refuse_idle
from evals.cli.overrides import config_layers
from evals.cli.terminal import DOUBTFUL, check_output, clean, console
from evals.config import EvalConfig
from evals.errors import ConfigError, RunInterruptedError
from evals.run.merge import merge, put_together
from evals.run.resume import rescore_config
from evals.run.saved import saved_answers, saved_run
from evals.run.setup import check_config
from evals.scoring.passages import PassageScores, score_predictions
from evals.store.atomic import write_output
from evals.store.naming import DEFAULT_RUNS_DIR
from evals.store.runs import RunStore


def merge_runs(
    run_ids: Sequence[str],
    *,
    name: str | None,
    gates: Sequence[str],
    lenient: bool,
    allow_uncalibrated: bool,
    allow_partial: bool,
    as_json: bool,
    runs_dir: Path | None,
    flags: CiFlags,
) -> None:
    """Make one run of the shards, and print what came out.

    Raises:
        RunInterruptedError: Somebody pressed Ctrl-C; the shards are as they were.
        EvalsError: With the exit code of what went wrong.
    """
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    given: dict[str, Any] = {"name": name, "gate": list(gates), "allow_uncalibrated": allow_uncalibrated}
    with Reporter(flags, as_json=as_json, lenient=lenient) as reporter:
        _merge(store, run_ids, given, reporter, allow_partial=allow_partial, as_json=as_json)


def _merge(
    store: RunStore,
    run_ids: Sequence[str],
    given: dict[str, Any],
    reporter: Reporter,
    *,
    allow_partial: bool,
    as_json: bool,
) -> None:
    layer = {key: value for key, value in given.items() if value} | {"runs_dir": store.folder}
    shards = put_together([store.load(run_id) for run_id in run_ids], layer, allow_partial=allow_partial)
    try:
        done = asyncio.run(merge(shards, observer_for(as_json=as_json)))
    except KeyboardInterrupt as error:
        raise RunInterruptedError("interrupted", "the shards are as they were: merge them again") from error
    end(done, shards.config, reporter, as_json=as_json)


# `evals rescore`.


def rescore_run(run_id: str, flags: RescoreFlags) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        _rescore(run_id, flags, reporter)


def _rescore(run_id: str, flags: RescoreFlags, reporter: Reporter) -> None:
    layers, remap, as_json = config_layers(flags), flags.remap, flags.as_json
    runs_dir = EvalConfig.build(*({"runs_dir": layer["runs_dir"]} for layer in layers if "runs_dir" in layer)).runs_dir
    source = RunStore(runs_dir).load(run_id)
    settings = rescore_config(source, *layers, {"runs_dir": runs_dir}, remap=remap)
    metrics = check_config(settings, asking=not flags.dry_run)
    work = saved_run(source, settings, remap=remap)
    if flags.dry_run:
        describe_measuring(work, metrics, settings, as_json=as_json)
        return
    observer = observer_for(as_json=as_json, quiet=flags.quiet, verbose=flags.verbose)
    done = measure_now(work, metrics, settings, observer)
    end(done, settings, reporter, as_json=as_json, remapped=remap, quiet=flags.quiet)


# `evals score ANSWERS --dataset-file QUESTIONS`: saved answers, scored like those of a run.


def score_saved_answers(answers: Path, flags: ScoreFlags, *, k: int | None, output: Path | None) -> None:
    """Score saved answers to the questions of a dataset file, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    refuse_idle("saved answers", k=k, output=output)
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        _score(answers, flags, reporter)


def _score(answers: Path, flags: ScoreFlags, reporter: Reporter) -> None:
    settings = EvalConfig.build(*config_layers(flags), {"samples_per_dataset": None})
    if settings.dataset_file is None:
        raise ConfigError(
            "nothing says what the right answers are",
            "score answers.jsonl --dataset-file questions.jsonl, or score predictions.json gold.json",
        )
    metrics = check_config(settings, asking=not flags.dry_run)
    work = saved_answers(answers, settings)
    if flags.dry_run:
        describe_measuring(work, metrics, settings, as_json=flags.as_json)
        return
    observer = observer_for(as_json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose)
    done = measure_now(work, metrics, settings, observer)
    end(done, settings, reporter, as_json=flags.as_json, quiet=flags.quiet)


# `evals score PREDICTIONS GOLD`: retrieved passages against gold passages.


_RULE = "=" * 26

_DEFAULT_K = 10


def score_passages(predictions: Path, gold: Path, flags: ScoreFlags, *, k: int | None, output: Path | None) -> None:
    """Score the files and print the means; what to know about them goes to stderr.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    names = ("dry_run", "lenient", "quiet", "verbose", "no_fail", "junit", "comment")
    switches = {name: getattr(flags, name) or None for name in names}
    refuse_idle("retrieved passages", config=flags.config, **switches, **given_flags(flags))
    if output is not None:
        check_output(output)
    scores = score_predictions(predictions, gold, k=_DEFAULT_K if k is None else k)
    err = console(sys.stderr)
    for note in scores.notes:
        err.print(clean(f"! {note}"), style=DOUBTFUL, soft_wrap=True)
    text = json.dumps(scores.labelled(), indent=2)
    if output is not None:
        write_output(output, f"{text}\n".encode())
    typer.echo(text if flags.as_json else _block(scores))


def _block(scores: PassageScores) -> str:
    lines = [f"{label}: {value:.4f}" for label, value in scores.labelled().items()]
    return "\n".join(["Evaluation Results:", _RULE, *lines, _RULE])
