"""Holding a judge against people's labels: they are read as worths from 0 to 1, and so are its scores."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from secrets import token_hex
from statistics import fmean, median_low
from typing import Any

import numpy as np

from evals.config import EvalConfig
from evals.datasets.answers import LabelRow, read_labels
from evals.errors import ConfigError, DatasetError
from evals.metrics.base import BaseMetric, Need
from evals.metrics.registry import parse_metric
from evals.report.review import DEFAULT_METRIC
from evals.run.judging import free_verdicts
from evals.run.saved import SavedAnswers
from evals.run.workload import new_run
from evals.schemas.calibration import Agreement, Calibration, Disagreement, Figure, LabelledAnswer
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, RetrievedChunk, ServerRecord
from evals.schemas.results import SAVED_ANSWERS, EvalRecord
from evals.scoring.saved import SavedRun
from evals.scoring.stats import wilson
from evals.store.naming import CALIBRATION
from evals.store.runs import RunStore

# How labels are read.

Label = str | float

_YES_AND_NO: dict[Label, float] = {
    **dict.fromkeys(("yes", "y", "true", "right", "correct", "pass", "good", "supported", "adherent"), 1.0),
    **dict.fromkeys(("no", "n", "false", "wrong", "incorrect", "fail", "bad", "unsupported", "not_adherent"), 0.0),
}

_UNDECIDED = frozenset({"cannot_tell", "?", "unsure", "skip", "n/a"})

_SCALE_HINT = "give the label of the worst answer and that of the best: --scale 1,5"


@dataclass(frozen=True, slots=True)
class Scale:
    """How labels are read.

    Attributes:
        words: What it is called.
        worths: What each label is worth, from 0 to 1.
        cut: From this worth on an answer counts as good.
        graded: Whether the mean of several annotators' labels means something; else most of them decide.
        shared: Whether judge and people have the same few words: these are what is agreed on; else good or not is.
    """

    words: str
    worths: Mapping[Label, float]
    cut: float = 1.0
    graded: bool = False
    shared: bool = False

    def worth(self, label: Label | None, where: str) -> float | None:
        """A label from 0 to 1; None if the annotator could not tell.

        Raises:
            DatasetError: It is not of the scale.
        """
        if label is None or label in _UNDECIDED:
            return None
        if label not in self.worths:
            raise DatasetError(f"{where}: label {label!r} is not one of {self.words}")
        return self.worths[label]

    def together(self, worths: Iterable[float]) -> float:
        """The label of several annotators: the mean of grades; else the middle one, of two the worse."""
        return fmean(worths) if self.graded else median_low(worths)

    def named(self, worth: float, cut: float) -> str:
        """A worth in words: the metric's label, else good or not."""
        if self.shared:
            return next((str(word) for word, value in self.worths.items() if value == worth), f"{worth:g}")
        return "good" if worth >= cut else "not good"


def scale_of(labels: Sequence[Label], metric: BaseMetric, declared: str | None) -> Scale:
    """The scale that labels are on: words of the metric, yes and no, 0 and 1, shares, -2 to 2, or as it is declared.

    Raises:
        ConfigError: The scale of the numbers is unknown, or that which is declared is none.
    """
    numbers = {label for label in labels if isinstance(label, float)}
    if declared is None and not numbers:
        low, high = metric.low or 0.0, metric.high or 1.0
        scale = getattr(metric, "scale", {}).items()
        own = {word.casefold().replace(" ", "_"): (value - low) / (high - low) for word, value in scale}
        shared = bool(own) and set(labels) - _UNDECIDED <= own.keys()
        return Scale(", ".join(own), own, shared=True) if shared else Scale("yes and no", {**_YES_AND_NO, **own})
    if declared is not None:
        low, high = _ends(declared)
        words, cut = f"numbers from {low:g} (worst) to {high:g}", 0.5 + 1e-9
    elif all(0 <= number <= 1 for number in numbers):
        words, low, high, cut = "0 and 1" if numbers <= {0.0, 1.0} else "shares from 0 to 1", 0.0, 1.0, 1.0
    elif numbers <= {-2.0, -1.0, 0.0, 1.0, 2.0}:
        words, low, high, cut = "-2 to 2", -2.0, 2.0, 0.75
    else:
        what = f"labels from {min(numbers):g} to {max(numbers):g}: it is not stated which of them is good"
        raise ConfigError(what, _SCALE_HINT)
    worths = {number: (number - low) / (high - low) for number in numbers}
    on_scale: dict[Label, float] = {number: worth for number, worth in worths.items() if 0 <= worth <= 1}
    return Scale(words, on_scale, cut, graded=words != "0 and 1")


def _ends(declared: str) -> tuple[float, float]:
    """The worst and the best label of a scale such as `1,5`."""
    try:
        low, high = map(float, declared.split(","))
    except ValueError:
        low = high = 0.0
    if low == high:
        raise ConfigError(f"not a scale: {declared!r}", _SCALE_HINT)
    return low, high


# What is labelled.


@dataclass(frozen=True, slots=True)
class LabelledRecord:
    """An answer with people's labels.

    Attributes:
        record: Question and answer, under an id of its own; verdicts of a saved run, which cost nothing again.
        question_id: Of the question, which other answers of the file may be to as well.
        labels: By annotator, what the label is worth, and where it stands.
    """

    record: EvalRecord
    question_id: str
    labels: dict[str, tuple[float, str]] = field(default_factory=dict)


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
    files: Sequence[Path], store: RunStore, metric: str | None, run: str | None, scale: str | None
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
        rows += [replace(row, annotator=row.annotator or name, run=row.run or run) for row in read_labels(path)]
    chosen = _metric_of(rows, metric)
    shown, mixed = getattr(chosen, "shown", ()), len({row.metric for row in rows} - {None}) > 1
    rows = [row for row in rows if (row.question, row.answer) not in shown]
    rows = [row for row in rows if not mixed or row.metric in {None, chosen.name}]
    read_as = scale_of([row.label for row in rows if row.label is not None], chosen, scale)
    labelled = [(row, worth) for row in rows if (worth := read_as.worth(row.label, row.where)) is not None]
    if not labelled:
        raise DatasetError(f"{files[-1].name}: no row has a label", "fill in the column verdict")
    return LabelSet(files, chosen, read_as, _answers(labelled, store), len(rows) - len(labelled))


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
        what = f"labels cannot be held against {metric.name}: more of it is not better"
        raise ConfigError(what, "name another with --metric")
    return metric


def _answers(labelled: Sequence[tuple[LabelRow, float]], store: RunStore) -> list[LabelledRecord]:
    """The labelled answers, each once, with the labels of all annotators.

    Raises:
        DatasetError: An answer is not there, or one annotator labelled it twice.
    """
    saved = cache(lambda name: {record.question.id: record for record in store.records(store.load(name))})
    answers: dict[tuple[str | None, ...], LabelledRecord] = {}
    taken = Counter[str]()
    for row, worth in labelled:
        key = (row.run, row.id, row.system, None if row.run else row.answer)
        if key not in answers:
            record = _of_run(saved(row.run), row) if row.run else _of_row(row)
            question = record.question
            taken[question.id] += 1
            if taken[question.id] > 1:  # several answers to one question are several records
                own = f"{question.id} ({row.system or taken[question.id]})"
                record = record.model_copy(update={"question": question.model_copy(update={"id": own})})
            answers[key] = LabelledRecord(record, question.id)
        labels = answers[key].labels
        if row.annotator in labels:
            who = f" by {row.annotator}" if row.annotator else ""
            what = f"{row.where}: the answer to {row.id!r} is labelled{who} at {labels[row.annotator][1]} already"
            raise DatasetError(what, "where several people labelled it, say who did in a column annotator")
        labels[row.annotator] = worth, row.where
    return list(answers.values())


def _of_run(records: Mapping[str, EvalRecord], row: LabelRow) -> EvalRecord:
    record = records.get(row.id) or records.get(row.id.removeprefix("'"))
    if record is None or record.response is None:
        raise DatasetError(f"{row.where}: run {row.run} has no answer to a question {row.id!r}")
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
    file, base = labels.files[0], config.server_spec().citations.base
    run = new_run(
        config,
        ServerRecord(url=file.name, profile=SAVED_ANSWERS, citation_base=base),
        sorted({record.question.dataset for record in records.values()}),
        len(records),
        name=f"calibrate-{file.stem}",
        id=f"{CALIBRATION}{token_hex(4)}",
        concurrency=1,
    )
    bare = [EvalRecord(question=record.question, response=record.response) for record in records.values()]
    return SavedAnswers(run, bare, free=lambda key: free_verdicts(records[key]) if config.judge.cache else ())


# How far the judge agrees with the labels.


def calibration_from(labels: LabelSet, done: SavedRun, score_cut: float | None, label_cut: float | None) -> Calibration:
    """The calibration of the judge that has judged labelled answers.

    Args:
        labels: The answers.
        done: The run that judged them.
        score_cut: From here on a score, from 0 to 1, counts as good; the best score alone where None.
        label_cut: The same of labels; what their scale says where None.

    Raises:
        DatasetError: Not one labelled answer has a value of the metric.
    """
    run, metric, scale = done.run, labels.metric, labels.scale
    low, high = metric.low or 0.0, metric.high or 1.0
    scores = [(record.question.id, score) for record in done.records() for score in record.scores]
    results = {question_id: score for question_id, score in scores if score.name == metric.name}
    if run.judge is None or all(result.value is None for result in results.values()):
        reason = next((f" ({result.reason})" for result in results.values() if result.reason), "")
        what = f"no labelled answer has a value of {metric.name}{reason}"
        raise DatasetError(what, "see that the rows hold what it needs")
    answers, judged = list[LabelledAnswer](), list[tuple[LabelledAnswer, str | None]]()
    for answer in labels.answers:
        result = results[answer.record.question.id]
        label = scale.together(worth for worth, _ in answer.labels.values())
        score = None if result.value is None else (result.value - low) / (high - low)
        answers.append(LabelledAnswer(id=answer.question_id, label=label, score=score))
        if score is not None:
            judged.append((answers[-1], result.details.get("quote") or result.details.get("justification")))
    label_cut, score_cut = scale.cut if label_cut is None else label_cut, (score_cut or 1.0) - 1e-9
    return Calibration(
        metric=metric.name,
        **run.judge.model_dump(include={"model", "effort", "prompt_hashes", "origin"}),
        created_at=datetime.now(UTC).replace(microsecond=0),
        labels_from=[path.name for path in labels.files],
        run=run.id,
        scale=scale.words,
        label_cut=label_cut,
        score_cut=score_cut,
        lost=len(answers) - len(judged),
        unlabelled=labels.unlabelled,
        answers=answers,
        **agreement_of(judged, scale, (label_cut, score_cut), done.settings.confidence),
    )


def agreement_of(
    judged: Sequence[tuple[LabelledAnswer, str | None]], scale: Scale, cuts: tuple[float, float], confidence: float
) -> dict[str, Any]:
    """How labels and scores agree, by the fields of `Calibration`.

    Args:
        judged: The answers with label and score, one or more, each with what the judge quotes for its score.
        scale: How the labels were read.
        cuts: From which label, and from which score on an answer counts as good.
        confidence: Of the intervals.
    """
    worths = np.array([(answer.label, answer.score) for answer, _ in judged])
    good, called = (worths >= cuts).T
    pairs = [(scale.named(label, cuts[0]), scale.named(score, cuts[1])) for label, score in worths]
    people = sorted({label for label, _ in pairs})
    label_mean, score_mean = (Figure(value=column.mean(), n=len(judged)) for column in worths.T)

    def rate(hits: Any, reason: str = "") -> Figure:
        ci = wilson(hits.sum(), hits.size, confidence)
        return Figure(value=hits.mean(), ci=ci, n=hits.size) if ci else Figure(reason=reason)

    return {
        "judge": Agreement(
            agreement=rate(np.array([label == verdict for label, verdict in pairs])),
            kappa=cohen_kappa(pairs),
            sensitivity=rate(called[good], "people call no answer good"),
            specificity=rate(~called[~good], "people call every answer good"),
        ),
        "confusion": {label: dict(Counter(verdict for truth, verdict in pairs if truth == label)) for label in people},
        "disagreements": [
            Disagreement(id=answer.id, label=label, judged=verdict, quote=quote)
            for (answer, quote), (label, verdict) in zip(judged, pairs, strict=True)
            if label != verdict
        ],
        "label_mean": label_mean,
        "score_mean": score_mean,
    }


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> Figure:
    """Agreement beyond chance: (p_o - p_e) / (1 - p_e) (Cohen 1960), with the interval of its large-sample error."""
    n, (people, judge) = len(pairs), map(Counter, zip(*pairs, strict=True))
    chance = sum(people[label] * judge[label] for label in people) / n**2
    if chance == 1:
        return Figure(n=n, reason="both give one label alone")
    observed = fmean(label == verdict for label, verdict in pairs)
    value = (observed - chance) / (1 - chance)
    half = 1.96 * (observed * (1 - observed) / n) ** 0.5 / (1 - chance)
    return Figure(value=value, ci=(max(-1.0, value - half), min(1.0, value + half)), n=n)
