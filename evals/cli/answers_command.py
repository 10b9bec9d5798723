"""`evals score ANSWERS --dataset-file QUESTIONS`: saved answers, scored like those of a run."""

import asyncio
from pathlib import Path

from evals.cli.console import console
from evals.cli.dry_run import describe_measuring
from evals.cli.eval_command import EvalFlags
from evals.cli.outcome import only_judging_is_undone, raise_for, what_is_undone
from evals.cli.progress import Terminal
from evals.cli.report import print_findings, print_run
from evals.cli.streams import print_json
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.layers import read_yaml
from evals.observer import Observer
from evals.offline import saved_answers, score_answers
from evals.schemas import EvalRun
from evals.store import RunStore

_FAILURES_SHOWN = 3


def score_saved_answers(answers: Path, flags: EvalFlags, *, config: Path | None, dry_run: bool, as_json: bool) -> None:
    """Score saved answers to the questions of a dataset file, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    layers = [read_yaml(config, "configuration")] if config else []
    settings = EvalConfig.build(*layers, flags.overrides(), {"samples_per_dataset": None})
    if settings.dataset_file is None:
        raise ConfigError(
            "nothing says what the right answers are",
            "score answers.jsonl --dataset-file questions.jsonl, or score predictions.json gold.json",
        )
    if dry_run:
        describe_measuring(saved_answers(answers, settings), settings, as_json=as_json)
        return
    observer: Observer = Observer() if as_json else Terminal()
    run = asyncio.run(score_answers(answers, settings, observer))
    if as_json:
        print_json(run.model_dump_json(indent=2))
    else:
        _print(run, settings)
    _raise_for(run, settings)


def _print(run: EvalRun, settings: EvalConfig) -> None:
    out = console()
    store = RunStore(settings.runs_dir)
    print_findings(out, store.records(run), run, limit=_FAILURES_SHOWN, runs_dir=settings.runs_dir)
    print_run(out, run)
    out.print(f"saved to {store.run_path(run)}", soft_wrap=True)


def _raise_for(run: EvalRun, settings: EvalConfig) -> None:
    if only_judging_is_undone(run):
        why, hint = (
            what_is_undone(run, ()),
            "what was judged is kept: score the same answers again to go on, without paying for it again",
        )
    else:
        why = f"of {run.question_count} questions {run.outcomes.not_asked} have no saved answer"
        why += f" and {run.error_count} an error" if run.error_count else ""
        hint = "leave questions that were not asked out of the dataset file"
    raise_for(run, settings.gate, why=why, hint=hint)
