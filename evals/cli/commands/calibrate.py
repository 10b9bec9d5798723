"""`evals calibrate`: the judge against people's labels."""

from collections.abc import Sequence
from pathlib import Path

from evals.cli.commands.dry_run import describe_measuring
from evals.cli.ending import measure_now, observer_for
from evals.cli.flags import CalibrateFlags
from evals.cli.overrides import config_layers
from evals.cli.terminal.console import console
from evals.cli.terminal.streams import print_json
from evals.cli.undone import what_is_undone
from evals.cli.views.calibration import print_calibration
from evals.config import EvalConfig
from evals.errors import ConfigError, RunIncompleteError
from evals.run.calibrating import calibration_from, read_label_set, work_of_labels
from evals.run.checks import check_config
from evals.store.calibrations import save_calibration
from evals.store.commands import command
from evals.store.runs import RunStore


def calibrate(
    files: Sequence[Path],
    flags: CalibrateFlags,
    *,
    metric: str | None,
    run: str | None,
    scale: str | None,
    label_cut: float | None,
    score_cut: float | None,
) -> None:
    """Judge labelled answers, print how the judge fares against the labels, and save that.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    _check_cuts(label_cut=label_cut, score_cut=score_cut)
    layers = config_layers(flags)
    runs_dir = EvalConfig.build(*({"runs_dir": layer["runs_dir"]} for layer in layers if "runs_dir" in layer)).runs_dir
    labels = read_label_set(files, RunStore(runs_dir), metric=metric, run=run, scale=scale)
    settings = EvalConfig.build(*layers, {"suite": [], "metrics": [labels.metric.name], "gate": []})
    if not settings.judge.enabled:
        raise ConfigError("there is nothing to calibrate without a judge", "leave out --no-judge")
    metrics = check_config(settings, asking=not flags.dry_run)
    work = work_of_labels(labels, settings)
    if flags.dry_run:
        describe_measuring(work, metrics, settings, as_json=flags.as_json)
        return
    done = measure_now(work, metrics, settings, observer_for(as_json=flags.as_json))
    if done.run.status != "complete":
        raise RunIncompleteError(
            f"nothing is calibrated, as judging is {done.run.status}: {what_is_undone(done.run, list(done.records()))}",
            "what was judged is kept: give the same command again",
        )
    found = calibration_from(labels, done, score_cut=score_cut, label_cut=label_cut)
    path = save_calibration(settings.runs_dir, found)
    if flags.as_json:
        print_json(found.model_dump_json(indent=2))
        return
    out = console()
    print_calibration(out, found, done.run)
    out.print(f"saved to {path}: every report of a run judged in the same way shows it", soft_wrap=True)
    out.print(f"answer by answer: {command(f'show {done.run.id}', settings.runs_dir)}", soft_wrap=True)


def _check_cuts(**cuts: float | None) -> None:
    for name, value in cuts.items():
        if value is not None and not 0 < value <= 1:
            raise ConfigError(f"--{name.replace('_', '-')} must be above 0 and at most 1, not {value:g}")
