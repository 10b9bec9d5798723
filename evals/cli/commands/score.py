"""Commands that measure answers which are there: `evals merge`, `evals rescore`, `evals score`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from evals.cli.ci import Reporter
from evals.cli.commands.eval import describe_measuring
from evals.cli.flags import MergeFlags, RescoreFlags, ScoreFlags
from evals.cli.measuring import config_layers, finish, measure_now, observer_for, runs_dir_of, until_ctrl_c
from evals.cli.parameters import flag_name, given_flags
from evals.cli.terminal import DOUBTFUL, check_output, clean, console
from evals.config import EvalConfig
from evals.errors import ConfigError, RunInterruptedError
from evals.metrics.base import BaseMetric
from evals.run.merge import merge, put_together
from evals.run.resume import rescore_config
from evals.run.saved import saved_answers, saved_run
from evals.run.setup import check_config
from evals.run.work import RunPlan
from evals.scoring.passages import score_predictions
from evals.store.atomic import write_output
from evals.store.naming import DEFAULT_RUNS_DIR
from evals.store.runs import RunStore


def merge_shards(flags: MergeFlags) -> None:
    """Make one run of the shards, and print what came out.

    Raises:
        RunInterruptedError: Somebody pressed Ctrl-C; the shards are as they were.
        EvalsError: With the exit code of what went wrong.
    """
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    given = {"name": flags.name, "gate": flags.gate, "allow_uncalibrated": flags.allow_uncalibrated}
    layer = {key: value for key, value in given.items() if value} | {"runs_dir": store.folder}
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        loaded = [store.load(run_id) for run_id in flags.runs]
        shards = put_together(loaded, layer, allow_partial=flags.allow_partial)
        unchanged = RunInterruptedError("interrupted", "the shards are as they were: merge them again")
        done = until_ctrl_c(merge(shards, observer_for(as_json=flags.as_json)), lambda: unchanged)
        finish(done, shards.config, reporter, as_json=flags.as_json)


def rescore(flags: RescoreFlags) -> None:
    """Measure a saved run again, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        layers = config_layers(flags)
        runs_dir = runs_dir_of(layers)
        source = RunStore(runs_dir).load(flags.run)
        settings = rescore_config(source, *layers, {"runs_dir": runs_dir}, remap=flags.remap)
        metrics = check_config(settings, asking=not flags.dry_run)
        _measure(saved_run(source, settings, remap=flags.remap), metrics, settings, flags, reporter)


def _measure(
    work: RunPlan,
    metrics: Sequence[BaseMetric],
    settings: EvalConfig,
    flags: RescoreFlags | ScoreFlags,
    reporter: Reporter,
) -> None:
    """Measure the answers of a plan and print the run, or say what would be done."""
    if flags.dry_run:
        describe_measuring(work, metrics, settings, as_json=flags.as_json)
        return
    observer = observer_for(as_json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose)
    done = measure_now(work, metrics, settings, observer)
    remapped = isinstance(flags, RescoreFlags) and flags.remap
    finish(done, settings, reporter, as_json=flags.as_json, remapped=remapped, quiet=flags.quiet)


def score(flags: ScoreFlags) -> None:
    """Score retrieved passages against gold passages, or saved answers to the questions of a dataset file.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    if flags.gold is not None:
        _score_passages(flags.gold, flags)
        return
    _refuse_idle("saved answers", k=flags.k, output=flags.output)
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient) as reporter:
        settings = EvalConfig.build(*config_layers(flags), {"samples_per_dataset": None})
        if settings.dataset_file is None:
            raise ConfigError(
                "nothing says what the right answers are",
                "score answers.jsonl --dataset-file questions.jsonl, or score predictions.json gold.json",
            )
        metrics = check_config(settings, asking=not flags.dry_run)
        _measure(saved_answers(flags.predictions, settings), metrics, settings, flags, reporter)


_RULE = "=" * 26

_DEFAULT_K = 10


def _score_passages(gold: Path, flags: ScoreFlags) -> None:
    """Score the files and print the means; what to know about them goes to stderr."""
    names = ("dry_run", "lenient", "quiet", "verbose", "no_fail", "junit", "comment")
    switches = {name: getattr(flags, name) or None for name in names}
    _refuse_idle("retrieved passages", config=flags.config, **switches, **given_flags(flags))
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


def _refuse_idle(what: str, **flags: object) -> None:
    """Refuse flags of the other form of `score`, which would do nothing.

    Raises:
        ConfigError: One of them is given: it is neither None nor an empty list.
    """
    for name, value in flags.items():
        if value not in (None, []):
            raise ConfigError(
                f"{flag_name(name, value)} does nothing where {what} are scored",
                "score predictions.json gold.json, or score answers.jsonl --dataset-file questions.jsonl",
            )
