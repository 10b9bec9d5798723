"""Commands about the judge and people's labels: `evals calibrate`, `evals review`."""

from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

from evals.cli.flags import CalibrateFlags, ReviewFlags
from evals.cli.measuring import config_layers, measure_now, runs_dir_of
from evals.cli.saved import what_is_undone
from evals.cli.terminal import check_output, print_result, say
from evals.cli.views import calibration_parts
from evals.config import EvalConfig
from evals.datasets.answers import read_labels
from evals.datasets.file import read_file
from evals.errors import ConfigError, RunIncompleteError
from evals.generate.journal import journal_lines, question_line
from evals.report.elements import TextLine
from evals.report.question_review import DROP, EDIT, KEEP, question_sheet, read_decisions, reviewed
from evals.report.review import DEFAULT_METRIC, answers_to_label, judged_metric, labels_of, review_sheet
from evals.run.calibrating import calibration_from, labelled_answers, read_label_set
from evals.run.checks import check_config
from evals.scoring.saved import open_run
from evals.store.atomic import write_output
from evals.store.naming import DEFAULT_RUNS_DIR, command
from evals.store.runs import RunStore, refuse_damaged, save_calibration
from evals.text.numbers import counted


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
    if (done := measure_now(answers, metrics, settings, flags)) is None:
        return
    if done.run.status != "complete":
        raise RunIncompleteError(
            f"nothing is calibrated, as judging is {done.run.status}: {what_is_undone(done)}",
            "what was judged is kept: give the same command again",
        )
    calibration = calibration_from(labels, done, score_cut=flags.score_cut, label_cut=flags.label_cut)
    unquoted = [disagreement.model_copy(update={"quote": None}) for disagreement in calibration.disagreements]
    path = save_calibration(settings.runs_dir, calibration.model_copy(update={"disagreements": unquoted}))
    parts = calibration_parts(calibration, done.run)
    saved = f"saved to {path}: every report of a run judged in the same way shows it"
    shown = f"answer by answer: {command(f'show {done.run.id}', settings.runs_dir)}"
    more = (TextLine(line, whole=True) for line in (saved, shown))
    print_result(calibration, chain(parts, more), flags)


def _rubrics_of(flags: CalibrateFlags, store: RunStore) -> dict[str, Any]:
    """The rubrics of the runs whose answers are labelled."""
    rows = chain.from_iterable(map(read_labels, flags.labels))
    runs = sorted({row.run for row in rows if row.label is not None and row.run} | {flags.run or ""} - {""})
    return {name: spec for run in runs for name, spec in store.load(run).eval_config.get("judged", {}).items()}


def review(flags: ReviewFlags) -> None:
    """Write the sheet, and say what to write into it.

    Raises:
        ConfigError: The metric has no labels, no question was answered, or the file is there already: labels may be
            in it.
        RunNotFoundError: There is no such run.
        RunIncompleteError: Records were lost or changed.
        StoreError: The sheet cannot be written.
    """
    if Path(flags.run).suffix in {".jsonl", ".csv", ".xlsx"} and Path(flags.run).is_file():
        _review_questions(Path(flags.run), flags)
        return
    if flags.apply is not None:
        raise ConfigError(f"--apply is for a file of questions, and {flags.run} is none", "name the file")
    metric = judged_metric(flags.metric or DEFAULT_METRIC)
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    saved = open_run(store, flags.run)
    refuse_damaged(saved.run, saved.damage)
    count = len(answers_to_label(saved))
    if not count:
        raise ConfigError(f"run {saved.run.id} has no answers to label")
    sheets = RunStore(store.folder / "reviews")
    if flags.output is None:
        sheets.prepare()
    path = flags.output or sheets.folder / f"{saved.run.id}-{metric.name}.csv"
    _write(path, "".join(review_sheet(saved, metric)).encode("utf-8-sig"))
    say(f"wrote {counted(count, 'answer')} to {path}, in random order")
    say(f"write into the column verdict: {', '.join(labels_of(metric))}; empty rows are left out")
    say(f"then: {command(f'calibrate {path}', flags.runs_dir)}")


def _review_questions(path: Path, flags: ReviewFlags) -> None:
    """Write the sheet of a file of questions, or the questions that a filled sheet keeps."""
    questions = list(read_file(path).questions)
    if flags.apply is None:
        target = flags.output or path.with_name(f"{path.stem}-review.csv")
        paragraphs = {line.accepted: line.paragraphs for line in journal_lines(path) if line.accepted}
        _write(target, "".join(question_sheet(questions, paragraphs)).encode("utf-8-sig"))
        say(f"wrote {counted(len(questions), 'question')} to {target}; quotations are in [[ ]]")
        say(f"write into the column verdict: {KEEP}, {EDIT} (change question or answer in the sheet) or {DROP}")
        say(f"then: evals review {quote(str(path))} --apply {quote(str(target))}")
        return
    target = flags.output or path.with_name(f"{path.stem}-reviewed.jsonl")
    kept, counts = reviewed(questions, read_decisions(flags.apply))
    if not kept:
        raise ConfigError(f"{flags.apply} keeps no question", f"write {KEEP} or {EDIT} into the column verdict")
    _write(target, b"".join(map(question_line, kept)))
    undecided = f", {counts['']} without a verdict left out" if counts[""] else ""
    say(f"wrote {counted(len(kept), 'question')} to {target}: {counts[EDIT]} edited, {counts[DROP]} dropped{undecided}")
    say(f"then: evals eval --dataset-file {target}")


def _write(path: Path, data: bytes) -> None:
    if path.exists():
        raise ConfigError(f"{path} is there already, maybe with work in it", "name another file with --output")
    check_output(path)
    write_output(path, data)
