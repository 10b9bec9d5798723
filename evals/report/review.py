"""The sheet in which people label the answers of a run, and how a judge agrees with the labels."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any

from evals.errors import ConfigError
from evals.metrics.base import BaseMetric, Need
from evals.metrics.registry import parse_metric
from evals.report.elements import EMPTY, ShownPart, TextLine, grid
from evals.report.sheets import sheet
from evals.report.summary import judge_cost
from evals.report.wording import place_of, ratio
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import Agreement, Calibration, Figure
from evals.scoring.saved import SavedRun
from evals.text.numbers import counted

DEFAULT_METRIC = "answer_correctness"
CANNOT_TELL = "cannot_tell"
COLUMNS = ("id", "run", "metric", "question", "expected_answer", "passages", "answer", "verdict", "comment")
_LONGEST_CELL = 32_000
"""A cell of Excel holds 32,767 characters."""
_MOST = 20
"""Disagreements that are shown."""


def judged_metric(name: str) -> BaseMetric:
    """The metric that labels are about.

    Raises:
        ConfigError: A judge does not decide on it.
        UnknownNameError: There is no such metric.
    """
    metric = parse_metric(name)
    if Need.JUDGE not in metric.needs:
        raise ConfigError(f"{name} has no labels to give", f"label {DEFAULT_METRIC} or another judged metric")
    return metric


def labels_of(metric: BaseMetric) -> list[str]:
    """The words that may stand in the column `verdict`."""
    return [*(getattr(metric, "scale", None) or getattr(metric, "labels", None) or ("yes", "no")), CANNOT_TELL]


def review_sheet(saved: SavedRun, metric: BaseMetric) -> Iterator[str]:
    """The lines of the sheet; nothing in it is the judge's or a metric's opinion.

    The column `verdict` is empty, but for what users themselves said of the answers of a log.
    """
    scale = getattr(metric, "scale", None) or {"yes": 1.0, "no": 0.0}
    verdicts = {"good": max(scale, key=scale.__getitem__), "bad": min(scale, key=scale.__getitem__)}
    return sheet(COLUMNS, (_row(saved.run.id, metric.name, record, verdicts) for record in answers_to_label(saved)))


def answers_to_label(saved: SavedRun) -> Sequence[EvalRecord]:
    """The answered records in an order drawn by their ids: the first hundred are a random sample, whatever is asked."""
    answered = [record for record in saved.records() if record.response is not None and record.response.answer]
    return sorted(answered, key=lambda record: sha256(f"{saved.run.id}\0{record.question.id}".encode()).hexdigest())


def _row(run: str, metric: str, record: EvalRecord, verdicts: Mapping[str, str]) -> dict[str, Any]:
    question, response = record.question, record.response
    chunks = (response.chunks if response else None) or []
    passages = "\n\n".join(f"[{place_of(chunk)}] {chunk.text or ''}" for chunk in chunks)
    return {
        "id": question.id,
        "run": run,
        "metric": metric,
        "question": question.question,
        "expected_answer": question.expected_answer,
        "passages": passages[:_LONGEST_CELL],
        "answer": ((response.answer if response else None) or "")[:_LONGEST_CELL],
        "verdict": verdicts.get(question.metadata.get("feedback", ""), ""),
    }


# What came of the labels.


def calibration_parts(calibration: Calibration, run: EvalRun) -> Iterator[ShownPart]:
    """How a judge agrees with people, what it confuses, and where the two disagree."""
    counts = [f"{counted(len(calibration.answers), 'labelled answer')} ({calibration.scale})"]
    counts += [f"{calibration.lost} without a value of the judge"] if calibration.lost else []
    counts += [f"{counted(calibration.unlabelled, 'row')} without a label"] if calibration.unlabelled else []
    yield EMPTY
    yield TextLine(f"{calibration.model} against people: {calibration.metric}", "strong")
    yield TextLine(", ".join(counts))
    yield EMPTY
    for name in Agreement.model_fields:
        figure: Figure = getattr(calibration.judge, name)
        why = f" ({figure.reason})" if figure.value is None and figure.reason else ""
        yield TextLine(f"{name:>12}  {ratio(figure)}{why}")
    confusion = calibration.confusion
    labels = list(dict.fromkeys(chain(confusion, *confusion.values())))
    columns = ["people \\ judge", *labels]
    rows = [[label, *(str(confusion.get(label, {}).get(judged, 0)) for judged in labels)] for label in labels]
    yield EMPTY
    yield grid("", columns, rows, columns)
    yield EMPTY
    for row in calibration.disagreements[:_MOST]:
        quoted = f": {row.quote}" if row.quote else ""
        yield TextLine(f"{row.id}  people {row.label}, judge {row.judged}{quoted}")
    if (more := len(calibration.disagreements) - _MOST) > 0:
        yield TextLine(f"and {counted(more, 'further disagreement')}, which JSON lists", "faint")
    if run.judge is not None:
        took = f"{counted(run.judge.calls, 'call')}, {run.judge.cached} from the cache"
        yield TextLine(f"{took}, {judge_cost(run.judge)}")
    yield from (TextLine(f"! {note}", "doubtful") for note in run.notes)
