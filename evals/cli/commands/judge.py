"""Commands about what a model writes or judges, and people look at: `evals generate`, `calibrate`, `review`."""

import re
from contextlib import nullcontext
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

from evals.answers.files import read_labels
from evals.cli.flags import CalibrateFlags, GenerateFlags, ReviewFlags
from evals.cli.measuring import config_layers, measure_now, observer_for, runs_dir_of, until_ctrl_c
from evals.cli.saved import what_is_undone
from evals.cli.terminal import check_output, print_result, say
from evals.config import EvalConfig
from evals.datasets.file import read_file
from evals.errors import ConfigError, JudgeError, RunIncompleteError, RunInterruptedError
from evals.generate.documents import SourceDocument, read_documents, server_documents
from evals.generate.drafts import Prompts
from evals.generate.journal import QuestionJournal, journal_lines, journal_path, question_line
from evals.generate.passages import PassageSet
from evals.generate.pipeline import AGAIN, Generated, Generator, QuestionPlan, estimate_generation
from evals.generate.relocate import GoldCheck
from evals.generate.review import DROP, EDIT, KEEP, question_sheet, read_decisions, reviewed
from evals.report import review as labelling
from evals.report.elements import TextLine
from evals.run.calibrating import calibration_from, labelled_answers, read_label_set
from evals.run.checks import missing_key
from evals.run.estimate import Estimate
from evals.run.observer import Observer
from evals.run.workload import load_workload
from evals.runtime import run_anywhere
from evals.scoring.saved import open_run
from evals.store.atomic import write_output
from evals.store.runs import DEFAULT_RUNS_DIR, RunStore, command, refuse_damaged, save_calibration
from evals.text.numbers import counted, listed


def generate(flags: GenerateFlags) -> int:
    """Make questions until there are enough, or look for the gold of questions that are there.

    Returns:
        1 where gold of checked questions is gone or stands in two places, else 0.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    layers, observer = config_layers(flags), observer_for(flags)
    config = EvalConfig.build(*layers)
    passages = PassageSet.cut(_documents(flags, config, observer))
    if flags.check is not None:
        return _check(flags, flags.check, passages)
    if not passages.passages:
        raise ConfigError("the documents hold no passage of twenty words", "name a folder with more text")
    solver = EvalConfig.build(*layers, {"judge": {"model": flags.solver_model}}) if flags.solver_model else config
    prompts = Prompts(flags.notes, flags.language, flags.closed_book)
    plan = QuestionPlan(flags.number, config, solver, _mix(flags.mix), prompts)
    output = flags.output or Path("questions.jsonl")
    if output.suffix != ".jsonl":
        raise ConfigError(f"{output} is no file of lines", "name one that ends in .jsonl with --output")
    observer.phase(str(passages))
    if flags.dry_run:
        with QuestionJournal(output) if journal_path(output).exists() else nullcontext() as known:
            estimate = estimate_generation(plan, passages, known)
        print_result(asdict(estimate), [f"{plan.number} questions will take {estimate}"], flags)
        return 0
    for name in filter(None, (missing_key(config.judge), missing_key(solver.judge))):
        hint = f"export {name}=…, or name a model of your own: --model openai:NAME --base-url URL"
        raise JudgeError(f"questions are written by a model, and {name} is not set", hint)
    check_output(output)
    with QuestionJournal(output) as journal:
        generator = Generator(passages, plan, journal, observer)
        _run(generator, journal, estimate_generation(plan, passages, journal), plan, observer)
    made = Generated(generator, journal)
    print_result(made.facts(), (TextLine(line, whole=True) for line in made.lines()), flags)
    if len(journal.questions) < plan.number:
        raise made.too_few(plan.number)
    return 0


def _mix(text: str) -> tuple[int, int, int]:
    """The shares in a text such as 60/20/20.

    Raises:
        ConfigError: They are not three whole numbers of which one is above 0.
    """
    shares = re.fullmatch(r"(\d{1,3})/(\d{1,3})/(\d{1,3})", text)
    if shares is None or not any(map(int, shares.groups())):
        hint = "write three shares, of one passage, of two passages and of near misses: 60/20/20"
        raise ConfigError(f"--mix is no mix: {text!r}", hint)
    single, pair, near_miss = map(int, shares.groups())
    return single, pair, near_miss


def _documents(flags: GenerateFlags, config: EvalConfig, observer: Observer) -> list[SourceDocument]:
    """The documents that the flags name, else those of the datasets of the configuration.

    Raises:
        ConfigError: No place is named, or several are.
    """
    datasets = flags.datasets or (config.datasets if not (flags.documents or flags.rag_url) else None)
    places = {"a folder": flags.documents, "datasets": datasets, "a server": flags.rag_url}
    named = [name for name, value in places.items() if value]
    if len(named) != 1:
        hint = "name a folder of documents, --datasets NAME, or --rag-url URL"
        raise ConfigError(f"the documents are of {' and of '.join(named)}" if named else "no documents are named", hint)
    if flags.documents is not None:
        documents, left_out = read_documents(flags.documents)
        if left_out:
            observer.note(f"left out: {listed(left_out, 5)}")
        return documents
    if datasets:
        corpus = load_workload(config.model_copy(update={"dataset_file": None})).documents
        return [SourceDocument(document.id, document.text) for document in corpus if document.text.strip()]
    return run_anywhere(server_documents(config.server_spec()))


def _run(
    generator: Generator, journal: QuestionJournal, estimate: Estimate, plan: QuestionPlan, observer: Observer
) -> None:
    """Make questions, after saying what they will take.

    Raises:
        JudgeError: A model cannot be used.
        RunInterruptedError: Somebody pressed Ctrl-C.
    """
    if journal.questions:
        observer.note(f"continuing {journal.path}, which has {counted(len(journal.questions), 'question')}")
    observer.phase(f"{plan.number} questions will take {estimate}")
    if warning := estimate.warning(plan.writer.judge.max_cost_usd, journal.spent.cost_usd):
        observer.note(warning)
    interrupted = RunInterruptedError(f"interrupted; accepted questions are in {journal.path}", AGAIN)
    try:
        until_ctrl_c(generator.run(), lambda: interrupted)
    except JudgeError as error:
        raise JudgeError(error.message, "; then ".join(filter(None, [error.hint, AGAIN]))) from error


def _check(flags: GenerateFlags, path: Path, passages: PassageSet) -> int:
    """Say what became of the gold of questions, and write them anew where a file is named."""
    if flags.output is not None and flags.output.exists():
        raise ConfigError(f"{flags.output} exists", "name another file with --output")
    check = GoldCheck.of(read_file(path).questions, passages)
    lines = check.lines()
    if flags.output is not None:
        kept = check.kept()
        write_output(flags.output, b"".join(map(question_line, kept)))
        lines.append(f"wrote {counted(len(kept), 'question')} to {flags.output}")
    print_result(check.facts(), (TextLine(line, limit=200) for line in lines), flags)
    return int(bool(check.lost))


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
    if (done := measure_now(labelled_answers(labels, settings), settings, flags)) is None:
        return
    if done.run.status != "complete":
        raise RunIncompleteError(
            f"nothing is calibrated, as judging is {done.run.status}: {what_is_undone(done)}",
            "what was judged is kept: give the same command again",
        )
    calibration = calibration_from(labels, done, score_cut=flags.score_cut, label_cut=flags.label_cut)
    unquoted = [disagreement.model_copy(update={"quote": None}) for disagreement in calibration.disagreements]
    path = save_calibration(settings.runs_dir, calibration.model_copy(update={"disagreements": unquoted}))
    parts = labelling.calibration_parts(calibration, done.run)
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
    if Path(flags.run).suffix not in {"", ".json"} and Path(flags.run).is_file():
        _review_questions(Path(flags.run), flags)
        return
    if flags.apply is not None:
        raise ConfigError(f"--apply is for a file of questions, and {flags.run} is none", "name the file")
    metric = labelling.judged_metric(flags.metric or labelling.DEFAULT_METRIC)
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    saved = open_run(store, flags.run)
    refuse_damaged(saved.run, saved.damage)
    count = len(labelling.answers_to_label(saved))
    if not count:
        raise ConfigError(f"run {saved.run.id} has no answers to label")
    sheets = RunStore(store.folder / "reviews")
    if flags.output is None:
        sheets.prepare()
    path = flags.output or sheets.folder / f"{saved.run.id}-{metric.name}.csv"
    _write(path, "".join(labelling.review_sheet(saved, metric)).encode("utf-8-sig"))
    say(f"wrote {counted(count, 'answer')} to {path}, in random order")
    say(f"write into the column verdict: {', '.join(labelling.labels_of(metric))}; empty rows are left out")
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
