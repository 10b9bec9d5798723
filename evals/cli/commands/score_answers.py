"""`evals score ANSWERS --dataset-file QUESTIONS`: saved answers, scored like those of a run."""

from pathlib import Path

from evals.cli.ci.reporter import Reporter
from evals.cli.commands.dry_run import describe_measuring
from evals.cli.ending import end, measure_now, observer_for
from evals.cli.flags import ScoreFlags, refuse_idle
from evals.cli.overrides import config_layers
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.answers import saved_answers
from evals.run.checks import check_config


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
