"""A run by the values of a key: by dataset, or by what the metadata of its questions says."""

from collections.abc import Iterable, Sequence

from evals.metrics.base import BaseMetric
from evals.schemas import (
    EvalQuestion,
    EvalRecord,
    Scorecard,
)
from evals.scoring.clusters import spelled
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings


def slice_scorecards(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], key: str, settings: ScoreSettings
) -> dict[str, Scorecard]:
    """A scorecard for each value of a key, over the records of `slice_by`."""
    return {value: make_scorecard(metrics, part, settings) for value, part in slice_by(records, key).items()}


def value_of(question: EvalQuestion, key: str) -> str | None:
    """What a question has for `dataset` or a key of its metadata, as text; None where it has nothing."""
    return spelled(question.dataset if key == "dataset" else question.metadata.get(key))


def slice_by(records: Iterable[EvalRecord], key: str) -> dict[str, list[EvalRecord]]:
    """Group records by `dataset` or a key of their metadata; a record without the key is in no group."""
    groups: dict[str, list[EvalRecord]] = {}
    for record in records:
        value = value_of(record.question, key)
        if value is not None:
            groups.setdefault(value, []).append(record)
    return dict(sorted(groups.items()))
