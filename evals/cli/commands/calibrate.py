"""`evals calibrate`: the judge held against the labels of people."""

from itertools import chain
from typing import Any

from evals.cli.commands.eval import describe_measuring
from evals.cli.flags import CalibrateFlags
from evals.cli.measuring import config_layers, measure_now, observer_for, runs_dir_of
from evals.cli.saved import what_is_undone
from evals.cli.terminal import console, print_json
from evals.cli.views import print_calibration
from evals.config import EvalConfig
from evals.datasets.answers import read_labels
from evals.errors import ConfigError, RunIncompleteError
from evals.run.calibrating import calibration_from, labelled_answers, read_label_set
from evals.run.checks import check_config
from evals.store.naming import command
from evals.store.runs import RunStore, save_calibration


def calibrate(flags: CalibrateFlags) -> None:
    """Judge labelled answers, print how the judge fares against the labels, and save that.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    for name, value in (("--label-cut", flags.label_cut), ("--score-cut", flags.score_cut)):
        if value is not None and not 0 < value <= 1:
            raise ConfigError(f"{name} must be above 0 and at most 1, not {value:g}")
    layers = config_layers(flags)
    store = RunStore(runs_dir_of(layers))
    layers = [{"judged": _rubrics_of(flags, store)}, *layers]
    EvalConfig.build(*layers)  # from here on rubrics are known by their names
    labels = read_label_set(flags.labels, store, metric=flags.metric, run=flags.run, scale=flags.scale)
    settings = EvalConfig.build(*layers, {"suite": [], "metrics": [labels.metric.name], "gate": []})
    judged = {name: spec for name, spec in settings.judged.items() if name == labels.metric.name}
    settings = settings.model_copy(update={"judged": judged})
    if not settings.judge.enabled:
        raise ConfigError("there is nothing to calibrate without a judge", "leave out --no-judge")
    metrics = check_config(settings, asking=not flags.dry_run)
    answers = labelled_answers(labels, settings)
    if flags.dry_run:
        describe_measuring(answers, metrics, settings, flags)
        return
    done = measure_now(answers, metrics, settings, observer_for(flags))
    if done.run.status != "complete":
        raise RunIncompleteError(
            f"nothing is calibrated, as judging is {done.run.status}: {what_is_undone(done)}",
            "what was judged is kept: give the same command again",
        )
    found = calibration_from(labels, done, score_cut=flags.score_cut, label_cut=flags.label_cut)
    unquoted = [disagreement.model_copy(update={"quote": None}) for disagreement in found.disagreements]
    path = save_calibration(settings.runs_dir, found.model_copy(update={"disagreements": unquoted}))
    if flags.as_json:
        print_json(found.model_dump_json(indent=2))
        return
    out = console()
    print_calibration(out, found, done.run)
    out.print(f"saved to {path}: every report of a run judged in the same way shows it", soft_wrap=True)
    out.print(f"answer by answer: {command(f'show {done.run.id}', settings.runs_dir)}", soft_wrap=True)


def _rubrics_of(flags: CalibrateFlags, store: RunStore) -> dict[str, Any]:
    """The rubrics of the runs whose answers are labelled."""
    rows = chain.from_iterable(map(read_labels, flags.labels))
    runs = sorted({row.run for row in rows if row.label is not None and row.run} | {flags.run or ""} - {""})
    return {name: spec for run in runs for name, spec in store.load(run).eval_config.get("judged", {}).items()}
