"""Judging labelled answers, and holding what the judge says against the labels."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from secrets import token_hex

from evals.config import EvalConfig
from evals.datasets.answers import LabelRow, read_labels
from evals.errors import ConfigError, DatasetError
from evals.metrics.base import BaseMetric, Need
from evals.metrics.registry import parse_metric
from evals.report.review import DEFAULT_METRIC
from evals.run.saved import saved_verdicts, work_of
from evals.run.work import RunPlan, new_run
from evals.schemas.calibration import Calibration, LabelledAnswer
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, RetrievedChunk, ServerRecord
from evals.schemas.results import SAVED_ANSWERS, EvalRecord, EvalRun
from evals.scoring.calibration import Judged, answer_hash, figures_of
from evals.scoring.conclusion import Measured
from evals.scoring.label_scale import Label, Scale, declared_scale, scale_of
from evals.scoring.run_columns import cluster_of
from evals.store.naming import CALIBRATION
from evals.store.runs import RunStore

_ROUNDING = 1e-9


@dataclass(slots=True)
class LabelledRecord:
    """An answer with people's labels.

    Attributes:
        record: Question and answer, as the judge is given them.
        question_id: Of the question, which other answers of the file may be to as well.
        system: Whose answer it is, where several systems answered the question.
        labels: As they stand in the files, with their places, by annotator.
    """

    record: EvalRecord
    question_id: str
    system: str | None = None
    labels: dict[str, tuple[Label, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """All labels that a judge is held against.

    Attributes:
        files: That they are from.
        metric: That the judge decides on.
        scale: How they are read.
        answers: With at least one label each.
        unlabelled: Rows without a label, or that could not be decided.
        compares: Whether labels say only which of several answers is better.
    """

    files: Sequence[Path]
    metric: BaseMetric
    scale: Scale
    answers: Sequence[LabelledRecord]
    unlabelled: int
    compares: bool


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
        files: Each of them of one annotator or more.
        store: Where the runs are.
        metric: What the labels are about; what the files say, or answer_correctness, where None.
        run: The run of the answers, where the files do not say it.
        scale: The worst and the best of labels that are numbers; by what they are where None.

    Raises:
        ConfigError: The metric cannot be calibrated, or if that is unknown what the labels mean.
        DatasetError: A file cannot be read, a row is wrong, or there is no label.
        RunNotFoundError: There is no such run.
    """
    rows = list(chain.from_iterable(_signed(path, several=len(files) > 1) for path in files))
    chosen = _metric_of(rows, metric)
    rows = _about(rows, chosen)
    labels = [(row, row.label) for row in rows if row.label is not None]
    read_as = declared_scale(scale) if scale else scale_of([label for _, label in labels], chosen)
    answers, count = _Answers(store, run), 0
    for row, label in labels:
        if read_as.worth(label, row.where) is not None:
            answers.add(row, label)
            count += 1
    if not count:
        raise DatasetError(f"{files[-1].name}: no row has a label", "fill in the column verdict")
    return LabelSet(files, chosen, read_as, answers.found, len(rows) - count, all(row.compares for row in rows))


def _about(rows: list[LabelRow], metric: BaseMetric) -> list[LabelRow]:
    """The rows about a metric, where they are about several, but for the examples that its prompt shows."""
    shown = getattr(metric, "shown", ())
    rows = [row for row in rows if (row.question, row.answer) not in shown]
    several = len({row.metric for row in rows} - {None}) > 1
    return [row for row in rows if row.metric in {None, metric.name}] if several else rows


def _signed(path: Path, *, several: bool) -> Iterator[LabelRow]:
    """The rows of a file; its name is the annotator, where there are several files and a row names none."""
    for row in read_labels(path):
        yield replace(row, annotator=path.stem) if several and not row.annotator else row


def work_of_labels(labels: LabelSet, config: EvalConfig) -> RunPlan:
    """The labelled answers, to be judged and saved as a run.

    Raises:
        ConfigError: No question has the key that they are clustered by.
    """
    records = [each.record for each in labels.answers]
    base = config.server_spec().citations.base
    run = new_run(
        config,
        ServerRecord(url=labels.files[0].name, profile=SAVED_ANSWERS, citation_base=base),
        sorted({record.question.dataset for record in records}),
        len(records),
        name=f"calibrate-{labels.files[0].stem}",
        id=f"{CALIBRATION}{token_hex(4)}",
        concurrency=1,
    )
    saved = saved_verdicts(config, lambda saved: saved.judge is not None)
    ids = {each.record.question.id: each.question_id for each in labels.answers}
    free = {record.question.id: saved.get(ids[record.question.id], ()) for record in records}
    return work_of(run, records, config, notes=[], free=free)


def calibration_from(
    labels: LabelSet, done: Measured, *, score_cut: float | None, label_cut: float | None
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
    scores = {record.question.id: _score(record, metric) for record in done.records()}
    if run.judge is None or all(score is None for score in scores.values()):
        raise _nothing_scored(done, metric)
    judged = [_judged(each, labels.scale, scores[each.record.question.id], run) for each in labels.answers]
    scale, cut = labels.scale.cut_at(label_cut), (score_cut or 1.0) - _ROUNDING
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
        lost=sum(score is None for score in scores.values()),
        unlabelled=labels.unlabelled,
        answers=[each.answer for each in judged],
        **figures_of(judged, scale, score_cut=cut, confidence=done.cases.settings.confidence, compares=labels.compares),
    )


def _nothing_scored(done: Measured, metric: BaseMetric) -> DatasetError:
    reasons = [score.reason for record in done.records() for score in record.scores if score.reason]
    why = f" ({reasons[0]})" if reasons else ""
    return DatasetError(f"no labelled answer has a value of {metric.name}{why}", "see that the rows hold what it needs")


def _judged(each: LabelledRecord, scale: Scale, score: float | None, run: EvalRun) -> Judged:
    question, response = each.record.question, each.record.response or EvalResponse()
    worths = {name: scale.worth(label, where) or 0.0 for name, (label, where) in each.labels.items()}
    asked = question.model_copy(update={"id": each.question_id})
    answer = LabelledAnswer(
        id=each.question_id,
        answer=answer_hash(question, response),
        cluster=cluster_of(asked, run.eval_config.get("cluster", "document")),
        label=scale.together(list(worths.values())),
        score=score,
        words=len((response.answer or "").split()),
        system=each.system,
    )
    return Judged(answer, worths)


def _score(record: EvalRecord, metric: BaseMetric) -> float | None:
    """The value of the metric, from 0 to 1."""
    value = next((score.value for score in record.scores if score.name == metric.name), None)
    low, high = metric.low or 0.0, metric.high or 1.0
    return None if value is None else (value - low) / (high - low)


class _Answers:
    """The labelled answers, each once, with the labels of all annotators.

    Args:
        store: Where runs are.
        run: Of rows that name none.
    """

    def __init__(self, store: RunStore, run: str | None) -> None:
        self._store, self._run = store, run
        self._records: dict[str, dict[str, EvalRecord]] = {}
        self._by_key: dict[tuple[str | None, str, str | None, str | None], LabelledRecord] = {}
        self._taken: defaultdict[str, int] = defaultdict(int)

    @property
    def found(self) -> list[LabelledRecord]:
        """In the order of their first labels."""
        return list(self._by_key.values())

    def add(self, row: LabelRow, label: Label) -> None:
        """Take a label.

        Raises:
            DatasetError: The answer is not there, or this annotator labelled it before.
        """
        run = row.run or self._run
        key = (run, row.id, row.system, None if run else row.answer)
        each = self._by_key.get(key)
        if each is None:
            record = self._of_run(run, row) if run else _of_row(row)
            system = row.system or (run if len(self._records) > 1 else None)  # answers of several runs are of systems
            each = self._by_key[key] = LabelledRecord(self._named(record, row), record.question.id, system)
        if row.annotator in each.labels:
            who = f" by {row.annotator}" if row.annotator else ""
            raise DatasetError(
                f"{row.where}: the answer to {row.id!r} is labelled{who} at {each.labels[row.annotator][1]} already",
                "where several people labelled it, say who did in a column annotator",
            )
        each.labels[row.annotator] = (label, row.where)

    def _named(self, record: EvalRecord, row: LabelRow) -> EvalRecord:
        """The record under an id of its own: several answers to one question are several records."""
        self._taken[record.question.id] += 1
        times = self._taken[record.question.id]
        if times == 1:
            return record
        question = record.question.model_copy(update={"id": f"{record.question.id} ({row.system or times})"})
        return record.model_copy(update={"question": question})

    def _of_run(self, run_id: str, row: LabelRow) -> EvalRecord:
        if run_id not in self._records:
            records = self._store.records(self._store.load(run_id))
            self._records[run_id] = {record.question.id: record for record in records}
        known = self._records[run_id]
        record = known.get(row.id) or known.get(row.id.removeprefix("'"))
        if record is None or record.response is None:
            raise DatasetError(f"{row.where}: run {run_id} has no answer to a question {row.id!r}")
        return EvalRecord(question=record.question, response=record.response)


def _of_row(row: LabelRow) -> EvalRecord:
    if row.question is None or row.answer is None:
        raise DatasetError(
            f"{row.where}: there is no question and answer to judge",
            "give the columns question and answer, or name the run that has them with --run RUN",
        )
    chunks = None if row.chunks is None else [RetrievedChunk(text=text) for text in row.chunks]
    question = EvalQuestion(id=row.id, question=row.question, expected_answer=row.expected_answer, dataset="labels")
    return EvalRecord(question=question, response=EvalResponse(answer=row.answer, chunks=chunks))


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
        raise ConfigError(
            f"labels cannot be held against {metric.name}: more of it is not better", "name another with --metric"
        )
    return metric
