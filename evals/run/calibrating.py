"""Judging labelled answers, and holding what the judge says against the labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from secrets import token_hex

from evals.config import EvalConfig
from evals.datasets.answers import LabelRow, read_labels
from evals.errors import ConfigError, DatasetError
from evals.metrics.base import BaseMetric, Need
from evals.metrics.registry import parse_metric
from evals.report.review import DEFAULT_METRIC
from evals.run.judging import free_verdicts
from evals.run.saved import SavedAnswers
from evals.run.workload import new_run
from evals.schemas.calibration import Calibration, LabelledAnswer
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, RetrievedChunk, ServerRecord
from evals.schemas.results import SAVED_ANSWERS, EvalRecord
from evals.scoring.calibration import Label, Scale, figures_of, scale_of
from evals.scoring.saved import SavedRun
from evals.store.naming import CALIBRATION
from evals.store.runs import RunStore


@dataclass(frozen=True, slots=True)
class LabelledRecord:
    """An answer with people's labels.

    Attributes:
        record: Question and answer, under an id of its own; verdicts of a saved run, which cost nothing again.
        question_id: Of the question, which other answers of the file may be to as well.
        labels: With their places, by annotator.
    """

    record: EvalRecord
    question_id: str
    labels: dict[str, tuple[Label, str]]


@dataclass(frozen=True, slots=True)
class LabelSet:
    """All labels that a judge is held against.

    Attributes:
        files: That they are from.
        metric: That the judge decides on.
        scale: How they are read.
        answers: With at least one label each.
        unlabelled: Rows without a label, or that could not be decided.
    """

    files: Sequence[Path]
    metric: BaseMetric
    scale: Scale
    answers: Sequence[LabelledRecord]
    unlabelled: int


def read_label_set(
    files: Sequence[Path],
    store: RunStore,
    *,
    metric: str | None = None,
    run: str | None = None,
    scale: str | None = None,
) -> LabelSet:
    """Read label files, with the answers of the runs that they name.

    Answers that the judge is shown as examples are left out, as it knows their labels.

    Args:
        files: Each of them of one annotator or more; of several files each is an annotator, unless its rows name one.
        store: Where the runs are.
        metric: What the labels are about; what the files say, or answer_correctness, where None.
        run: The run of the answers, where the files do not say it.
        scale: The worst and the best of labels that are numbers; by what they are where None.

    Raises:
        ConfigError: The metric cannot be calibrated, or if that is unknown what the labels mean.
        DatasetError: A file cannot be read, a row is wrong, or there is no label.
        RunNotFoundError: There is no such run.
    """
    rows = list[LabelRow]()
    for path in files:
        name = path.stem if len(files) > 1 else ""
        rows += [replace(row, annotator=row.annotator or name) for row in read_labels(path)]
    chosen = _metric_of(rows, metric)
    shown, mixed = getattr(chosen, "shown", ()), len({row.metric for row in rows} - {None}) > 1
    rows = [row for row in rows if (row.question, row.answer) not in shown]
    rows = [row for row in rows if not mixed or row.metric in {None, chosen.name}]
    read_as = scale_of([row.label for row in rows if row.label is not None], chosen, scale)
    labelled = [row for row in rows if read_as.worth(row.label, row.where) is not None]
    if not labelled:
        raise DatasetError(f"{files[-1].name}: no row has a label", "fill in the column verdict")
    return LabelSet(files, chosen, read_as, _answers(labelled, store, run), len(rows) - len(labelled))


def _metric_of(rows: Sequence[LabelRow], name: str | None) -> BaseMetric:
    """The metric that is given, else the one that the rows name.

    Raises:
        ConfigError: They name several, or it is none that a judge decides on and of which more is better.
        UnknownNameError: There is no such metric.
    """
    told = {row.metric for row in rows if row.metric is not None}
    if name is None and len(told) > 1:
        raise ConfigError(f"the labels are about {' and '.join(sorted(told))}", "calibrate one metric: --metric NAME")
    metric = parse_metric(name or next(iter(told), DEFAULT_METRIC))
    if Need.JUDGE not in metric.needs:
        raise ConfigError(f"{metric.name} is not decided by a judge", "name a judged metric with --metric")
    if not metric.higher_is_better or metric.high is None:
        said = f"labels cannot be held against {metric.name}: more of it is not better"
        raise ConfigError(said, "name another with --metric")
    return metric


def _answers(rows: Sequence[LabelRow], store: RunStore, run: str | None) -> list[LabelledRecord]:
    """The labelled answers, each once, with the labels of all annotators.

    Raises:
        DatasetError: An answer is not there, or one annotator labelled it twice.
    """
    saved = cache(lambda name: {record.question.id: record for record in store.records(store.load(name))})
    answers: dict[tuple[str | None, ...], LabelledRecord] = {}
    taken = Counter[str]()
    for row in rows:
        named = row.run or run
        key = (named, row.id, row.system, None if named else row.answer)
        if key not in answers:
            record = _of_run(saved(named), named, row) if named else _of_row(row)
            question_id = record.question.id
            taken[question_id] += 1
            if taken[question_id] > 1:  # several answers to one question are several records
                own = f"{question_id} ({row.system or taken[question_id]})"
                record = record.model_copy(update={"question": record.question.model_copy(update={"id": own})})
            answers[key] = LabelledRecord(record, question_id, {})
        labels = answers[key].labels
        if row.annotator in labels:
            who = f" by {row.annotator}" if row.annotator else ""
            raise DatasetError(
                f"{row.where}: the answer to {row.id!r} is labelled{who} at {labels[row.annotator][1]} already",
                "where several people labelled it, say who did in a column annotator",
            )
        labels[row.annotator] = (row.label or 0.0, row.where)
    return list(answers.values())


def _of_run(records: Mapping[str, EvalRecord], run: str, row: LabelRow) -> EvalRecord:
    record = records.get(row.id) or records.get(row.id.removeprefix("'"))
    if record is None or record.response is None:
        raise DatasetError(f"{row.where}: run {run} has no answer to a question {row.id!r}")
    return record


def _of_row(row: LabelRow) -> EvalRecord:
    if row.question is None or row.answer is None:
        raise DatasetError(
            f"{row.where}: there is no question and answer to judge",
            "give the columns question and answer, or name the run that has them with --run RUN",
        )
    chunks = None if row.chunks is None else [RetrievedChunk(text=text) for text in row.chunks]
    question = EvalQuestion(id=row.id, question=row.question, expected_answer=row.expected_answer, dataset="labels")
    return EvalRecord(question=question, response=EvalResponse(answer=row.answer, chunks=chunks))


def labelled_answers(labels: LabelSet, config: EvalConfig) -> SavedAnswers:
    """The labelled answers, to be judged and saved as a run."""
    records = {answer.record.question.id: answer.record for answer in labels.answers}
    base = config.server_spec().citations.base
    run = new_run(
        config,
        ServerRecord(url=labels.files[0].name, profile=SAVED_ANSWERS, citation_base=base),
        sorted({record.question.dataset for record in records.values()}),
        len(records),
        name=f"calibrate-{labels.files[0].stem}",
        id=f"{CALIBRATION}{token_hex(4)}",
        concurrency=1,
    )
    bare = [EvalRecord(question=record.question, response=record.response) for record in records.values()]
    return SavedAnswers(run, bare, free=lambda key: free_verdicts(records[key]) if config.judge.cache else ())


def calibration_from(
    labels: LabelSet, done: SavedRun, *, score_cut: float | None, label_cut: float | None
) -> Calibration:
    """The calibration of the judge that has judged labelled answers.

    Args:
        labels: The answers.
        done: The run that judged them.
        score_cut: From here on a score, from 0 to 1, counts as good; the best score alone where None.
        label_cut: The same of labels; what their scale says where None.

    Raises:
        DatasetError: Not one labelled answer has a value of the metric.
    """
    run, metric = done.run, labels.metric
    scale = labels.scale if label_cut is None else replace(labels.scale, cut=label_cut)
    low, high, cut = metric.low or 0.0, metric.high or 1.0, (score_cut or 1.0) - 1e-9
    scores = [(record.question.id, score) for record in done.records() for score in record.scores]
    results = {question_id: score for question_id, score in scores if score.name == metric.name}
    if run.judge is None or all(result.value is None for result in results.values()):
        reason = next((f" ({result.reason})" for result in results.values() if result.reason), "")
        what = f"no labelled answer has a value of {metric.name}{reason}"
        raise DatasetError(what, "see that the rows hold what it needs")
    answers, quotes = list[LabelledAnswer](), list[str | None]()
    for answer in labels.answers:
        result = results[answer.record.question.id]
        label = scale.together([scale.worth(*label) or 0.0 for label in answer.labels.values()])
        score = None if result.value is None else (result.value - low) / (high - low)
        answers.append(LabelledAnswer(id=answer.question_id, label=label, score=score))
        quotes.append(result.details.get("quote") or result.details.get("justification"))
    return Calibration(
        metric=metric.name,
        model=run.judge.model,
        effort=run.judge.effort,
        prompt_hashes=run.judge.prompt_hashes,
        origin=run.judge.origin,
        created_at=datetime.now(UTC).replace(microsecond=0),
        labels_from=[path.name for path in labels.files],
        run=run.id,
        scale=scale.words,
        label_cut=scale.cut,
        score_cut=cut,
        lost=sum(answer.score is None for answer in answers),
        unlabelled=labels.unlabelled,
        answers=answers,
        **figures_of(answers, quotes, scale, cut, done.settings.confidence),
    )
