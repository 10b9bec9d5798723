"""`evals review`: the sheet in which people label the answers of a run."""

from evals.cli.flags import ReviewFlags
from evals.cli.terminal import check_output, console
from evals.errors import ConfigError
from evals.report.review import DEFAULT_METRIC, answers_to_label, judged_metric, labels_of, review_sheet
from evals.scoring.saved import open_run
from evals.store.atomic import make_folder, write_output
from evals.store.naming import DEFAULT_RUNS_DIR, command
from evals.store.runs import RunStore, refuse_damaged
from evals.text.numbers import counted


def review(flags: ReviewFlags) -> None:
    """Write the sheet, and say what to write into it.

    Raises:
        ConfigError: The metric has no labels, no question was answered, or the file is there already: labels may be
            in it.
        RunNotFoundError: There is no such run.
        RunIncompleteError: Records were lost or changed.
        StoreError: The sheet cannot be written.
    """
    metric = judged_metric(flags.metric or DEFAULT_METRIC)
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    saved = open_run(store, flags.run)
    refuse_damaged(saved.run, saved.damage)
    count = len(answers_to_label(saved))
    if not count:
        raise ConfigError(f"run {saved.run.id} has no answers to label")
    path = flags.output
    if path is None:
        folder = store.folder / "reviews"
        try:
            make_folder(folder)
        except OSError as error:
            raise ConfigError(f"cannot make {folder}: {error.strerror}", "name another file with --output") from error
        path = folder / f"{saved.run.id}-{metric.name}.csv"
    if path.exists():
        raise ConfigError(f"{path} is there already, maybe with labels in it", "name another file with --output")
    check_output(path)
    write_output(path, "".join(review_sheet(saved, metric)).encode("utf-8-sig"))
    out = console()
    out.print(f"wrote {counted(count, 'answer')} to {path}, in random order", soft_wrap=True)
    out.print(f"write into the column verdict: {', '.join(labels_of(metric))}; empty rows are left out", soft_wrap=True)
    out.print(f"then: {command(f'calibrate {path}', flags.runs_dir)}", soft_wrap=True)
