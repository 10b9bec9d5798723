"""Several runs as a page shows them: each beside the first, metrics from run to run, and the space of objectives."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from evals.compare import compare_runs
from evals.compare.models import Comparison, MetricPair, MetricRow, ParetoReport, QuestionChange, RunComparison
from evals.compare.pairing import SavedRun
from evals.errors import ConfigError
from evals.report import compared
from evals.report.overview import metric_row
from evals.report.wording import arrow, ends_of, number, one_line, printable, six_digits
from evals.schemas.results import EvalRun, MetricSummary
from evals.scoring.conclusion import Measured
from evals.scoring.diagnosis.stages import Link
from evals.text.numbers import share

_TEXT = 240
"""Characters of a question that the list holds."""

_NAME = 120


class Several:
    """What a page says of several runs, the baseline first.

    Where not all compare with each other, each is compared with the first alone.

    Args:
        runs: Two or more, with their records, which are read one at a time.
    """

    def __init__(self, runs: Sequence[Measured]) -> None:
        self._runs = [each.run for each in runs]
        self._saved = [SavedRun(each.run, each.source) for each in runs]
        self._labels = compared.labels_of(len(runs))

    @cached_property
    def _compared(self) -> tuple[Comparison | None, str]:
        return _compare(self._saved, pareto=len(self._saved) > 2)

    def head(self) -> dict[str, Any]:
        """What is read without JavaScript: the runs, the warnings, and a table of metrics."""
        comparison, why = self._compared
        if comparison is None:
            return {"why": why}
        labels = self._labels
        others = zip(labels[1:], comparison.against, strict=True)
        return {
            "why": "",
            "runs": _runs_of(comparison, labels),
            "warnings": compared.warnings_of(comparison),
            "sums": [compared.sum_of(one, label, labels[0]) for label, one in others],
            **(_pairs_table(comparison) if len(labels) == 2 else _rows_table(comparison, labels)),
        }

    def blocks(self) -> dict[str, Callable[[], Any]]:
        """The data blocks: `compared/A/B` for each run B beside the first, A, and `trend` of more than two."""
        first, *others = self._runs
        made: dict[str, Callable[[], Any]] = {
            f"compared/{first.id}/{other.id}": partial(self._beside_first, place)
            for place, other in enumerate(others, start=1)
        }
        return made | ({"trend": self._trend} if len(others) > 1 else {})

    def _beside_first(self, place: int) -> dict[str, Any]:
        """What is said of the run at a place of the page beside the first; of one that cannot be compared, why."""
        comparison, _ = self._compared
        labels, within = self._labels, place - 1
        if comparison is None:
            comparison, why = _compare([self._saved[0], self._saved[place]])
            labels, within = [labels[0], labels[place]], 0
            if comparison is None:
                return {"why": printable(why)}
        changes = changes_of(comparison.against[within], self._saved[0], self._saved[place])
        return {**comparison_of(comparison, within, labels), "questions": changes}

    def _trend(self) -> dict[str, Any]:
        comparison, why = self._compared
        report = comparison.pareto if comparison is not None else None
        return {
            **trend_of(self._runs, comparison),
            "why": printable(why),
            "verdicts": verdicts_of(comparison) if comparison is not None else [],
            "pareto": pareto_of(report) if report is not None and report.objectives else None,
        }


def _compare(saved: Sequence[SavedRun], *, pareto: bool = False) -> tuple[Comparison | None, str]:
    """The comparison; or none, and why."""
    try:
        return compare_runs(saved, pareto=pareto), ""
    except ConfigError as error:
        return None, error.message


def _pairs_table(comparison: Comparison) -> dict[str, Any]:
    """The metrics of two runs, those that moved first."""
    rows = []
    for pair in sorted(comparison.against[0].pairs, key=worst_first):
        name, *values, verdict = compared.pair_cells(pair)
        kind = pair.verdict if pair.verdict in {"better", "worse", "changed"} else "same"
        rows.append((kind, [name, verdict, *values]))
    titles = ["metric", "B is", "A", "B", "B − A", "interval", "p", "n"]
    return {"title": "What moved", "titles": titles, "rows": rows, "legend": compared.legend("B", "A")}


def _rows_table(comparison: Comparison, labels: Sequence[str]) -> dict[str, Any]:
    """The metrics of many runs with the verdict on each against the first."""
    rows = []
    for row in comparison.metrics:
        said = [compared.said_of(row, one) for one in comparison.against]
        rows.append(("", [compared.title_of(row), *said, *compared.row_values(row), str(row.n)]))
    titles = ["metric", *(f"{label} against {labels[0]}" for label in labels[1:]), *labels, "n"]
    return {"title": "Metrics", "titles": titles, "rows": rows, "legend": []}


# One run beside the baseline: the words of `evals compare`, and its numbers for the charts.


def comparison_of(comparison: Comparison, place: int, labels: Sequence[str]) -> dict[str, Any]:
    """What a page says of one of the runs beside the baseline, but for their questions.

    Args:
        comparison: Of two runs or more.
        place: Of the run among those beside the baseline.
        labels: What its runs are called, the baseline first.
    """
    one, first, own = comparison.against[place], labels[0], labels[place + 1]
    return {
        "runs": [run for run in _runs_of(comparison, labels) if run["label"] in {first, own}],
        "common": one.common,
        "warnings": list(map(printable, compared.warnings_of(comparison))),
        "differences": list(map(printable, comparison.differences)),
        "reasons": list(map(printable, compared.without_verdict(comparison, labels))),
        "legend": [*compared.legend(own, first), *([compared.STAR] if any(pair.primary for pair in one.pairs) else [])],
        "sum": compared.sum_of(one, own, first),
        "latency": None if one.latency is None else printable(compared.latency_line(one.latency, own, first)),
        "levels": [*compared.levels_of(one), *compared.reach_of(one)],
        "pairs": [pair_row(pair) for pair in sorted(one.pairs, key=worst_first)],
        "moves": [
            {"first": _link(move.first), "last": _link(move.last), "count": len(move.questions)} for move in one.moves
        ],
    }


def _runs_of(comparison: Comparison, labels: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "id": run.id,
            "name": one_line(run.name, _NAME),
            "url": one_line(run.url, _TEXT),
            "datasets": one_line(", ".join(run.datasets), _TEXT),
            "facts": [one_line(fact, _TEXT) for fact in compared.facts_of(run)],
        }
        for run, label in zip(comparison.runs, labels, strict=True)
    ]


def pair_row(pair: MetricPair) -> dict[str, Any]:
    """A metric in two runs: its words in the order of the table, and the numbers that a chart is drawn of."""
    return {
        "name": pair.name,
        "group": pair.group,
        "unit": pair.unit,
        "better": pair.higher_is_better,
        "difference": pair.difference,
        "interval": pair.interval,
        "verdict": pair.verdict,
        "regression": pair.is_regression,
        "cells": compared.pair_cells(pair),
        "risen": len(pair.risen),
        "fallen": len(pair.fallen),
    }


def worst_first(pair: MetricPair) -> int:
    """Where a metric stands: what got worse, then what got better or changed, then the rest as it was."""
    return {"worse": 0 if pair.is_of_quality else 1, "better": 2, "changed": 3}.get(pair.verdict, 4)


def changes_of(one: RunComparison, baseline: SavedRun, other: SavedRun) -> dict[str, Any]:
    """The questions that fared differently in a run: the greatest loss first, then the greatest gain.

    Args:
        one: The run beside the baseline.
        baseline: The baseline.
        other: The run.

    Returns:
        A list for each thing that is said of all these questions, so that thousands take little room: `first` and
        `last` are their numbers in either run, counted from 0; `moved` has the place of a metric among `metrics`, its
        value in the baseline, and that in the run; `links` the first broken links where these differ.
    """
    changes = [*one.lost, *one.gained]
    ids = [change.question_id for change in changes]
    places = {name: n for n, name in enumerate(dict.fromkeys(name for change in changes for name in change.moved))}
    links = {key: [_link(move.first), _link(move.last)] for move in one.moves for key in move.questions}
    return {
        "metrics": list(places),
        "labels": {link.value: link.label for link in Link},
        "lost": len(one.lost),
        "said": [
            f"lost: {share(len(one.lost), one.common, 'question')}",
            f"gained: {share(len(one.gained), one.common, 'question')}",
        ],
        "ids": [one_line(key, _NAME) for key in ids],
        "first": _numbers(baseline, ids),
        "last": _numbers(other, ids),
        "links": list(map(links.get, ids)),
        **_columns(changes, places),
    }


def _columns(changes: Sequence[QuestionChange], places: Mapping[str, int]) -> dict[str, list[Any]]:
    return {
        "questions": [one_line(change.question[: 4 * _TEXT], _TEXT) for change in changes],
        "changes": [round(change.change, 6) for change in changes],
        "shown": [compared.signed(change.change, "ratio") for change in changes],
        "notes": [printable(change.note or "") for change in changes],
        "moved": [
            [[places[name], six_digits(first), six_digits(last)] for name, (first, last) in change.moved.items()]
            for change in changes
        ],
    }


def _numbers(saved: SavedRun, ids: Iterable[str]) -> list[int]:
    """Where questions stand among the records of a run."""
    rows = saved.asked.rows()
    return [saved.asked.numbers[rows[key]] for key in ids]


def _link(link: Link | None) -> str:
    return "right" if link is None else link.value


# Each metric from run to run.


def trend_of(runs: Sequence[EvalRun], comparison: Comparison | None) -> dict[str, Any]:
    """Each metric from run to run, the oldest first.

    Args:
        runs: In the order in which they were named: the first is the baseline, A.
        comparison: Of these runs; None where they do not compare.

    Returns:
        By group and metric, a list for the runs of what each measured (`own`), and one over the questions that all
        runs have in common (`shared`); None where a run has no value.
    """
    labels = compared.labels_of(len(runs))
    order = sorted(range(len(runs)), key=lambda place: (runs[place].created_at, place))
    rows = {row.name: row for row in comparison.metrics} if comparison is not None else {}
    return {
        "runs": [
            {
                "label": labels[place],
                "id": runs[place].id,
                "name": one_line(runs[place].name, _NAME),
                "created": runs[place].created_at.isoformat(timespec="seconds"),
                "when": f"{runs[place].created_at:%Y-%m-%d %H:%M}",
                "status": "unfinished" if runs[place].is_unscored else runs[place].status,
            }
            for place in order
        ],
        "common": comparison.common if comparison is not None else 0,
        "groups": [
            {
                "group": group,
                "metrics": [_course(name, [runs[place] for place in order], rows.get(name), order) for name in names],
            }
            for group, names in _names(runs, rows).items()
        ],
    }


def _names(runs: Sequence[EvalRun], rows: Mapping[str, MetricRow]) -> dict[str, list[str]]:
    """The metrics that some run has a value of, by group, in the order of the first run's scorecard."""
    named = [(one.group.value, one.name, one.value is not None) for run in runs for one in run.scorecard.metrics]
    groups: dict[str, dict[str, None]] = {}
    for group, name, has_value in [*named, *((row.group, row.name, True) for row in rows.values())]:
        groups.setdefault(group, {}).update({name: None} if has_value else {})
    return {group: list(names) for group, names in groups.items() if names}


def _course(name: str, runs: Sequence[EvalRun], row: MetricRow | None, order: Sequence[int]) -> dict[str, Any]:
    """What each run measured over all its questions, and over those of all runs."""
    own = [_own(run.scorecard.find(name)) for run in runs]
    known = next((one for one in own if one is not None), None)
    unit, better = (row.unit, row.higher_is_better) if row is not None else (known["unit"], known["better"])  # type: ignore[index]
    return {
        "name": name,
        "arrow": arrow(better),
        "better": better,
        "unit": unit,
        "own": own,
        "shared": None if row is None else [_shared(row, place) for place in order],
    }


def _own(summary: MetricSummary | None) -> dict[str, Any] | None:
    if summary is None or summary.value is None:
        return None
    row = metric_row(summary)
    return {key: row[key] for key in ("value", "ci", "shown", "interval", "n", "unit", "better")}


def _shared(row: MetricRow, place: int) -> dict[str, Any] | None:
    if row.values[place] is None:
        return None
    point = _point(row.values[place], row.intervals[place], row.unit)
    return {**point, "shown": compared.row_values(row)[place], "n": row.n}


def _point(value: float | None, ends: tuple[float, float] | None, unit: str) -> dict[str, Any]:
    return {"value": value, "ci": ends, "shown": number(value, unit), "interval": ends_of(ends, unit)}


def verdicts_of(comparison: Comparison) -> list[dict[str, Any]]:
    """A row a metric: its value in each run over the questions of all, and the verdict on each against the first."""
    return [
        {
            "name": row.name,
            "arrow": arrow(row.higher_is_better),
            "n": row.n,
            "values": compared.row_values(row),
            "said": [compared.said_of(row, one) for one in comparison.against],
        }
        for row in comparison.metrics
    ]


def pareto_of(report: ParetoReport) -> dict[str, Any]:
    """The runs in the space of objectives: the numbers of `evals compare --pareto`."""
    label_of = dict(zip((point.run_id for point in report.points), compared.labels_of(len(report.points)), strict=True))
    points = zip(report.points, report.intervals, report.scores, strict=True)
    return {
        "objectives": [
            {
                "name": name,
                "direction": way,
                "unit": report.units[name],
                "fedBy": report.fed_by[name],
                "best": [label_of[run_id] for run_id in report.best[name]],
            }
            for name, way in report.objectives.items()
        ],
        "leftOut": [f"{name} ({reason})" for name, reason in report.left_out.items()],
        "points": [
            {
                "label": label_of[point.run_id],
                "id": point.run_id,
                "name": one_line(point.name, _NAME),
                "onFront": point.run_id in report.front,
                "dominatedBy": [label_of[run_id] for run_id in point.dominated_by],
                "score": number(score, "ratio"),
                "values": {
                    name: _point(value, ends.get(name), report.units[name]) for name, value in point.objectives.items()
                },
            }
            for point, ends, score in points
        ],
        "says": [*compared.dominance_lines(report, label_of), compared.front_by_values(report, label_of)],
        "weights": ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items()),
    }
