"""Holding a judge against people's labels: they are read as worths from 0 to 1, and so are its scores."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from statistics import fmean

from evals.answers.files import LabelRow, read_labels
from evals.config import EvalConfig
from evals.datasets.tables import located
from evals.errors import ConfigError, DatasetError
from evals.judges.rubrics import UNDECIDED, label_key
from evals.metrics.base import BaseMetric, Need
from evals.metrics.registry import parse_metric
from evals.metrics.sample import CORRECTNESS
from evals.run.judging import without_cost
from evals.run.saved import SavedAnswers
from evals.run.workload import new_run
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, RetrievedChunk, ServerRecord
from evals.schemas.results import SAVED_ANSWERS, EvalRecord
from evals.schemas.verdicts import Agreement, Calibration, Disagreement, Figure, LabelledAnswer
from evals.scoring.saved import SavedRun
from evals.scoring.stats import wilson
from evals.store.runs import CALIBRATION, RunStore

# How labels are read.

Label = str | float

_YES = ("yes", "y", "true", "right", "correct", "pass", "good", "supported", "adherent")
_NO = ("no", "n", "false", "wrong", "incorrect", "fail", "bad", "unsupported", "not_adherent")
_YES_OR_NO: dict[Label, float] = {word: float(word in _YES) for word in (*_YES, *_NO)}

_EXACT = 1e-9
"""Rounding tolerance where a score is compared with a cut."""

_SCALE_HINT = "give the label of the worst answer and that of the best: --scale 1,5"


@dataclass(frozen=True, slots=True)
class Scale:
    """How labels are read: words by their worth, numbers by their place between the worst and the best.

    Attributes:
        words: What each word is worth, from 0 to 1.
        low: The number of the worst answer.
        high: That of the best.
        cut: From this worth on an answer counts as good.
        names: The metric's own label by worth, where people use these: they are what is agreed on; else good or not is.
    """

    words: Mapping[Label, float]
    low: float = 0.0
    high: float = 1.0
    cut: float = 1.0
    names: Mapping[float, str] = field(default_factory=dict)

    def worth(self, label: Label) -> float:
        """What a label is worth, from 0 to 1.

        Raises:
            DatasetError: A word is unknown, or a number is not between the worst and the best.
        """
        if (key := label_key(label)) in self.words:
            return self.words[key]
        if isinstance(label, str):
            raise DatasetError(f"label {label!r} is not one of {self}")
        share = (label - self.low) / (self.high - self.low)
        if not 0 <= share <= 1:
            raise DatasetError(f"label {label:g} is not one of {self}", _SCALE_HINT)
        return share

    def named(self, worth: float, cut: float) -> str:
        """A worth in words."""
        return self.names.get(worth) or ("good" if worth >= cut else "not good")

    def __str__(self) -> str:
        words = ", ".join(word if isinstance(word, str) else f"{word:g}" for word in self.words)
        return words if self.names else f"yes and no, or numbers from {self.low:g} (worst) to {self.high:g}"


def _share(value: float, metric: BaseMetric) -> float:
    """The place of a value, from 0 to 1, between the ends of a metric: of its labels where it has some, else of all."""
    ends = (metric.low or 0.0, 1.0 if metric.high is None else metric.high)
    values = getattr(metric, "scale", {}).values() or ends
    return (value - min(values)) / (max(values) - min(values))


def scale_of(labels: Collection[Label], metric: BaseMetric, declared: str | None) -> Scale:
    """The scale that labels are on: words of the metric, yes and no, 0 to 1, or numbers between what is declared.

    Raises:
        ConfigError: What is declared is no scale.
    """
    worths = {word: _share(value, metric) for word, value in getattr(metric, "scale", {}).items()}
    own: dict[Label, float] = {label_key(word): worth for word, worth in worths.items()}
    if declared is None and own.keys() >= set(map(label_key, labels)):
        return Scale(own, names={worth: word for word, worth in reversed(worths.items())})
    if declared is None:
        return Scale(_YES_OR_NO | own)
    try:
        worst, best = map(float, declared.split(","))
    except ValueError:
        worst = best = 0.0
    if worst == best:
        raise ConfigError(f"not a scale: {declared!r}", _SCALE_HINT)
    words: dict[Label, float] = {word: worth for word, worth in (_YES_OR_NO | own).items() if isinstance(word, str)}
    return Scale(words, worst, best, cut=0.5 + _EXACT)


# What is labelled.


@dataclass(frozen=True, slots=True)
class LabelSet:
    """All labels that a judge is held against.

    Attributes:
        files: That they are from.
        metric: That the judge decides on.
        scale: How they are read.
        answers: By an id of its own, each question with its answer and, of a saved run, its verdicts; and what people's
            label is worth.
        unlabelled: Rows without a label, or that could not be decided.
    """

    files: Sequence[Path]
    metric: BaseMetric
    scale: Scale
    answers: Mapping[str, tuple[EvalRecord, float]]
    unlabelled: int


def read_label_set(
    files: Sequence[Path], store: RunStore, metric: str | None, run: str | None, scale: str | None
) -> LabelSet:
    """Read label files, with the answers of the runs that they name.

    Answers that the judge is shown as examples are left out, as it knows their labels.

    Args:
        files: With one label for each answer.
        store: Where the runs are.
        metric: What the labels are about; what the files say, or answer_correctness, where None.
        run: The run of the answers, where the files do not say it.
        scale: The worst and the best of labels that are numbers; by what they are where None.

    Raises:
        ConfigError: The metric cannot be calibrated, or it is unknown what the labels mean.
        DatasetError: A file cannot be read, a row is wrong, or there is no label.
        RunNotFoundError: There is no such run.
    """
    every = [replace(row, run=row.run or run) for path in files for row in read_labels(path)]
    chosen = _metric_of(every, metric)
    about = [row for row in every if row.metric in {None, chosen.name}]
    if not about:
        raise DatasetError(f"{files[-1].name}: no row is about {chosen.name}", f"name {every[0].metric} with --metric")
    rows = [row for row in about if (row.question, row.answer) not in getattr(chosen, "shown", ())]
    labelled = {row: row.label for row in rows if row.label is not None and row.label not in UNDECIDED}
    if not labelled:
        raise DatasetError(f"{files[-1].name}: no row has a label", "fill in the column verdict")
    read_as = scale_of(labelled.values(), chosen, scale)
    return LabelSet(files, chosen, read_as, _answers(labelled, read_as, store), len(rows) - len(labelled))


def _metric_of(rows: Sequence[LabelRow], name: str | None) -> BaseMetric:
    """The metric that is given, else the one that the rows name.

    Raises:
        ConfigError: They name several, or it is none that a judge decides on and of which more is better.
        UnknownNameError: There is no such metric.
    """
    named = {row.metric for row in rows if row.metric is not None}
    if name is None and len(named) > 1:
        raise ConfigError(f"the labels are about {' and '.join(sorted(named))}", "calibrate one metric: --metric NAME")
    metric = parse_metric(name or next(iter(named), CORRECTNESS))
    if Need.JUDGE not in metric.needs:
        raise ConfigError(f"{metric.name} is not decided by a judge", "name a judged metric with --metric")
    if not metric.higher_is_better or metric.high is None:
        what = f"labels cannot be held against {metric.name}: more of it is not better"
        raise ConfigError(what, "name another with --metric")
    return metric


def _answers(labelled: Mapping[LabelRow, Label], scale: Scale, store: RunStore) -> dict[str, tuple[EvalRecord, float]]:
    """The labelled answers by ids of their own, and what their labels are worth.

    Raises:
        DatasetError: A label is unknown, or an answer was not saved, or has two labels.
    """
    runs = {name: store.load(name) for name in {row.run for row in labelled} if name}
    saved = {(name, record.question.id): record for name, run in runs.items() for record in store.records(run)}
    first = dict[tuple[str | None, ...], LabelRow]()
    answers = dict[str, tuple[EvalRecord, float]]()
    for row, label in labelled.items():
        with located(row.where):
            worth = scale.worth(label)
            before = first.setdefault((row.run, row.id, row.system, None if row.run else row.answer), row)
            if before is not row:
                what = f"the answer to {row.id!r} is labelled at {before.where} already"
                raise DatasetError(what, "keep one label for each answer; of several people, what they agree on")
            unguarded = row.id.removeprefix("'")  # a sheet guards an id that would be a formula
            record = saved.get((row.run, row.id)) or saved.get((row.run, unguarded)) if row.run else _record(row)
            if record is None or record.response is None:
                raise DatasetError(f"run {row.run} has no answer to a question {row.id!r}")
        key = record.question.id
        if key in answers:
            key = f"{key} ({len(answers) + 1})"
        question = record.question.model_copy(update={"id": key})
        answers[key] = record.model_copy(update={"question": question}), worth
    return answers


def _record(row: LabelRow) -> EvalRecord:
    """The question and the answer that a row holds."""
    if row.question is None or row.answer is None:
        what = "there is no question and answer to judge"
        raise DatasetError(what, "give the columns question and answer, or name the run that has them with --run RUN")
    chunks = None if row.chunks is None else [RetrievedChunk(text=text) for text in row.chunks]
    question = EvalQuestion(id=row.id, question=row.question, expected_answer=row.expected_answer, dataset="labels")
    return EvalRecord(question=question, response=EvalResponse(answer=row.answer, chunks=chunks))


def labelled_answers(labels: LabelSet, config: EvalConfig) -> SavedAnswers:
    """The labelled answers, to be judged and saved as a run."""
    records = {key: record for key, (record, _) in labels.answers.items()}
    file, datasets = labels.files[0], sorted({record.question.dataset for record in records.values()})
    server = ServerRecord(url=file.name, profile=SAVED_ANSWERS, citation_base=config.server_spec().citations.base)
    name, run_id = f"calibrate-{file.stem}", f"{CALIBRATION}{token_hex(4)}"
    run = new_run(config, server, datasets, len(records), name=name, id=run_id, concurrency=1)
    bare = [EvalRecord(question=record.question, response=record.response) for record in records.values()]
    return SavedAnswers(run, bare, free=lambda key: without_cost(records[key]) if config.judge.cache else ())


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
    scored = ((record.question.id, score) for record in done.records() for score in record.scores)
    results = {key: score for key, score in scored if score.name == metric.name}
    scores = {key: _share(result.value, metric) for key, result in results.items() if result.value is not None}
    if run.judge is None or not scores:
        reason = next((f" ({result.reason})" for result in results.values() if result.reason), "")
        what = f"no labelled answer has a value of {metric.name}{reason}"
        raise DatasetError(what, "see that the rows hold what it needs")
    worths = {key: worth for key, (_, worth) in labels.answers.items()}
    label_cut, score_cut = scale.cut if label_cut is None else label_cut, score_cut or 1.0
    pairs = {key: (scale.named(worths[key], label_cut), scale.named(scores[key], score_cut - _EXACT)) for key in scores}
    good = [(worths[key] >= label_cut, scores[key] >= score_cut - _EXACT) for key in scores]
    people = sorted({label for label, _ in pairs.values()})
    apart = {key: {"label": label, "judged": judged} for key, (label, judged) in pairs.items() if label != judged}
    quotes = {key: results[key].details.get("quote") or results[key].details.get("justification") for key in apart}
    return Calibration(
        metric=metric.name,
        **run.judge.model_dump(include={"model", "effort", "prompt_hashes", "origin"}),
        created_at=datetime.now(UTC).replace(microsecond=0),
        labels_from=[path.name for path in labels.files],
        run=run.id,
        scale=str(scale),
        label_cut=label_cut,
        score_cut=score_cut,
        lost=len(worths) - len(scores),
        unlabelled=labels.unlabelled,
        judge=agreement_of(list(pairs.values()), good, done.settings.confidence),
        confusion={label: dict(Counter(judged for own, judged in pairs.values() if own == label)) for label in people},
        disagreements=[Disagreement(id=key, **pair, quote=quotes[key]) for key, pair in apart.items()],
        answers=[LabelledAnswer(id=key, label=worth, score=scores.get(key)) for key, worth in worths.items()],
    )


def agreement_of(pairs: Sequence[tuple[str, str]], good: Sequence[tuple[bool, bool]], confidence: float) -> Agreement:
    """How people's labels and the judge's agree.

    Args:
        pairs: People's label and the judge's of each answer, one or more.
        good: Whether people call each answer good, and whether the judge does.
        confidence: Of the intervals.
    """

    def rate(hits: Sequence[bool], reason: str = "") -> Figure:
        ci = wilson(sum(hits), len(hits), confidence)
        return Figure(value=fmean(hits), ci=ci, n=len(hits)) if ci else Figure(reason=reason)

    return Agreement(
        agreement=rate([label == judged for label, judged in pairs]),
        kappa=cohen_kappa(pairs, confidence),
        sensitivity=rate([judged for people, judged in good if people], "people call no answer good"),
        specificity=rate([not judged for people, judged in good if not people], "people call every answer good"),
    )


def cohen_kappa(pairs: Sequence[tuple[str, str]], confidence: float) -> Figure:
    """Agreement beyond chance: (p_o - p_e) / (1 - p_e) (Cohen 1960); its interval is that of p_o, so transformed."""
    n, (people, judge) = len(pairs), map(Counter, zip(*pairs, strict=True))
    chance = sum(people[label] * judge[label] for label in people) / n**2
    if chance == 1:
        return Figure(n=n, reason="both give one label alone")
    agreed = sum(label == judged for label, judged in pairs)
    low, high = wilson(agreed, n, confidence) or (0.0, 1.0)
    value, *ci = ((share - chance) / (1 - chance) for share in (agreed / n, low, high))
    return Figure(value=value, ci=(max(-1.0, ci[0]), ci[1]), n=n)
