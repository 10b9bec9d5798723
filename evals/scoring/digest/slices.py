"""A run by the values of a key, out of its columns: none of its records is held."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from evals.metrics.base import BaseMetric
from evals.schemas import MetricSummary, Scorecard
from evals.scoring.digest.columns import Results, ScoreColumn
from evals.scoring.digest.run_columns import RunColumns, taken
from evals.scoring.scorecard import in_groups, summarise
from evals.scoring.settings import ScoreSettings


@dataclass(slots=True)
class SliceRows:
    """The questions with one value of a key.

    Attributes:
        questions: How many there are, those included that were not asked.
        rows: Where the columns of the run have those that were.
    """

    questions: int = 0
    rows: "array[int]" = field(default_factory=lambda: array("I"))


def rows_by(values: Sequence[str | None], columns: RunColumns) -> dict[str, SliceRows]:
    """The questions for each value of `dataset` or a key of the metadata; one without the key is in no slice.

    Args:
        values: What each question of the run has for the key.
        columns: Of those that were asked.
    """
    row_of = {number: row for row, number in enumerate(columns.numbers)}
    found: dict[str, SliceRows] = {}
    for number, value in enumerate(values):
        if value is not None:
            own = found.setdefault(value, SliceRows())
            own.questions += 1
            own.rows.extend([row_of[number]] if number in row_of else [])
    return dict(sorted(found.items()))


def slice_scorecard(
    metrics: Sequence[BaseMetric], columns: RunColumns, rows: Sequence[int], settings: ScoreSettings
) -> Scorecard:
    """What `make_scorecard` says of the records that stand in these rows."""
    return in_groups(_summary(metric, columns, rows, settings) for metric in metrics)


def _summary(metric: BaseMetric, columns: RunColumns, rows: Sequence[int], settings: ScoreSettings) -> MetricSummary:
    column = columns.scores.get(metric.name, ScoreColumn(metric.name))
    measured = array("I", (row for row in rows if column.has(row)))
    return summarise(metric, Results(column, measured), settings, taken(columns.clusters, measured))
