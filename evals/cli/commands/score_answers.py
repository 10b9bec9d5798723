"""`evals score ANSWERS --dataset-file QUESTIONS`: saved answers, scored like those of a run."""

from pathlib import Path

from evals.cli.commands.dry_run import describe_measuring
from evals.cli.commands.eval import EvalFlags
from evals.cli.ending import end, measure_now
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.inputs.yaml_layers import read_yaml
from evals.run.answers import saved_answers
from evals.run.checks import check_config


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
    metrics = check_config(settings, asking=not dry_run)
    work = saved_answers(answers, settings)
    if dry_run:
        describe_measuring(work, metrics, settings, as_json=as_json)
        return
    end(measure_now(work, metrics, settings, as_json=as_json), settings, as_json=as_json)
