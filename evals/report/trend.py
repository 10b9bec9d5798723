"""Several runs as a page shows them: each metric from run to run, and the runs in the space of objectives."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.compare import Comparison, MetricRow, ParetoReport
from evals.report.scorecard import metric_row
from evals.schemas import EvalRun, Scorecard
from evals.views.compared import labels_of, said_of
from evals.views.differences import row_values
from evals.views.formatting import arrow, interval_end, number, one_line
from evals.views.pareto import dominance_lines, front_by_values

_NAME = 120


def trend_of(runs: Sequence[EvalRun], comparison: Comparison | None) -> dict[str, Any]:
    """Each metric from run to run, the oldest first.

    Args:
        runs: In the order in which they were named: the first is the baseline, A.
        comparison: Of these runs; None where they do not compare.

    Returns:
        By group and metric, a list for the runs of what each measured (`own`), and one over the questions that all
        runs have in common (`shared`); None where a run has no value.
    """
    labels = labels_of(len(runs))
    order = sorted(range(len(runs)), key=lambda place: (runs[place].created_at, place))
    rows = {row.name: row for row in comparison.metrics} if comparison is not None else {}
    return {
        "runs": [_head(runs[place], labels[place]) for place in order],
        "common": comparison.common if comparison is not None else 0,
        "groups": [
            {"group": group, "metrics": [_metric(name, runs, rows.get(name), order) for name in names]}
            for group, names in _names(runs, rows).items()
        ],
    }


def pareto_of(report: ParetoReport) -> dict[str, Any]:
    """The runs in the space of objectives: the numbers of `evals compare --pareto`."""
    labels = labels_of(len(report.points))
    label_of = dict(zip((point.run_id for point in report.points), labels, strict=True))
    return {
        "objectives": [
            {"name": name, "direction": way, "unit": report.units[name], "fedBy": report.fed_by[name],
             "best": [label_of[run_id] for run_id in report.best[name]]}
            for name, way in report.objectives.items()
        ],
        "leftOut": [f"{name} ({reason})" for name, reason in report.left_out.items()],
        "points": [_point(place, report, label_of) for place in range(len(report.points))],
        "says": [*dominance_lines(report, label_of), front_by_values(report, label_of)],
        "weights": ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items()),
    }  # fmt: skip


def verdicts_of(comparison: Comparison) -> list[dict[str, Any]]:
    """A row a metric: its value in each run over the questions of all, and the verdict on each against the first."""
    return [
        {
            "name": row.name,
            "arrow": arrow(row.higher_is_better),
            "n": row.n,
            "values": row_values(row),
            "said": [said_of(row, one) for one in comparison.against],
        }
        for row in comparison.metrics
    ]


def _head(run: EvalRun, label: str) -> dict[str, str]:
    return {
        "label": label,
        "id": run.id,
        "name": one_line(run.name, _NAME),
        "created": run.created_at.isoformat(timespec="seconds"),
        "when": f"{run.created_at:%Y-%m-%d %H:%M}",
        "status": "unfinished" if run.is_unscored else run.status,
    }


def _names(runs: Sequence[EvalRun], rows: Mapping[str, MetricRow]) -> dict[str, list[str]]:
    """The metrics that some run has a value of, by group, in the order of the first run's scorecard."""
    groups: dict[str, list[str]] = {}
    for run in runs:
        for one in run.scorecard.metrics:
            names = groups.setdefault(one.group.value, [])
            if one.value is not None and one.name not in names:
                names.append(one.name)
    for row in rows.values():
        if row.name not in groups.setdefault(row.group, []):
            groups[row.group].append(row.name)
    return {group: names for group, names in groups.items() if names}


def _metric(name: str, runs: Sequence[EvalRun], row: MetricRow | None, order: Sequence[int]) -> dict[str, Any]:
    own = [_own(run.scorecard, name) for run in runs]
    known = next((each for each in own if each is not None), None)
    unit, better = (row.unit, row.higher_is_better) if row is not None else (known["unit"], known["better"])  # type: ignore[index]
    return {
        "name": name,
        "arrow": arrow(better),
        "better": better,
        "unit": unit,
        "own": [own[place] for place in order],
        "shared": [_shared(row, place) for place in order] if row is not None else None,
    }


def _own(card: Scorecard, name: str) -> dict[str, Any] | None:
    """What a run measured over all its questions."""
    found = card.find(name)
    if found is None or found.value is None:
        return None
    row = metric_row(found)
    return {key: row[key] for key in ("value", "ci", "shown", "interval", "n", "unit", "better")}


def _shared(row: MetricRow, place: int) -> dict[str, Any] | None:
    """The same over the questions of all runs."""
    value = row.values[place]
    if value is None:
        return None
    ends = row.intervals[place]
    return {
        "value": value,
        "ci": ends,
        "shown": row_values(row)[place],
        "interval": _interval(ends, row.unit),
        "n": row.n,
    }


def _point(place: int, report: ParetoReport, label_of: Mapping[str, str]) -> dict[str, Any]:
    point, ends = report.points[place], report.intervals[place]
    return {
        "label": label_of[point.run_id],
        "id": point.run_id,
        "name": one_line(point.name, _NAME),
        "onFront": point.run_id in report.front,
        "dominatedBy": [label_of[run_id] for run_id in point.dominated_by],
        "score": number(report.scores[place], "ratio"),
        "values": {
            name: {
                "value": value,
                "ci": ends.get(name),
                "shown": number(value, report.units[name]),
                "interval": _interval(ends.get(name), report.units[name]),
            }
            for name, value in point.objectives.items()
        },
    }


def _interval(ends: tuple[float, float] | None, unit: str) -> str:
    return "–" if ends is None else " … ".join(interval_end(end, unit) for end in ends)
