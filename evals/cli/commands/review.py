"""`evals review`: the sheets in which people label the answers of a run, or look through a file of questions."""

from pathlib import Path
from shlex import quote

from evals.cli.flags import ReviewFlags
from evals.cli.terminal import check_output, say
from evals.datasets.file import read_file
from evals.errors import ConfigError
from evals.generate.journal import journal_lines, question_line
from evals.report.question_review import DROP, EDIT, KEEP, question_sheet, read_decisions, reviewed
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
    path = flags.output
    if path is None:
        folder = store.folder / "reviews"
        try:
            make_folder(folder)
        except OSError as error:
            raise ConfigError(f"cannot make {folder}: {error.strerror}", "name another file with --output") from error
        path = folder / f"{saved.run.id}-{metric.name}.csv"
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
