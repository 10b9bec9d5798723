"""Several runs as a page shows them: each compared with a baseline, metrics by run, and the space of objectives."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from typing import Any

from evals.compare import compare_runs
from evals.compare.models import Comparison, MetricRow, ParetoReport, QuestionChange, RunComparison
from evals.compare.pairing import SavedRun
from evals.errors import ConfigError
from evals.report import compared
from evals.report.elements import words_first
from evals.report.overview import metric_row
from evals.report.wording import arrow, ends_of, label_of, number, one_line, printable, six_digits
from evals.schemas.results import EvalRun, MetricSummary
from evals.scoring.conclusion import Measured
from evals.scoring.diagnosis.stages import Link
from evals.text.numbers import share

_TEXT = 240
"""Characters of a question that the list holds."""


MOST_BASELINES = 6
"""Up to this number of runs, any can be the baseline; of more, only the first: pairs grow with the square of runs."""

_LABEL = 24


def names_of(runs: Sequence[EvalRun]) -> list[str]:
    """The names of runs, cut where they are long; with the id where two would be the same."""
    names = [one_line(run.name, _LABEL) for run in runs]
    distinct = len(set(names)) == len(names)
    return names if distinct else [f"{name} ({run.id})" for name, run in zip(names, runs, strict=True)]


class Several:
    """What a page says of several runs, in the order in which they were named.

    Where not all can be compared, each is compared with the baseline alone.

    Args:
        runs: Two or more, with their records, which are read one at a time.
    """

    def __init__(self, runs: Sequence[Measured]) -> None:
        self._runs = [each.run for each in runs]
        self._saved = [SavedRun(each.run, each.source) for each in runs]
        self._names = names_of(self._runs)
        self._compared = cache(self._compare_with)

    def _compare_with(self, base: int) -> tuple[list[int], Comparison | None, str]:
        """The places of the runs, the baseline first, and their comparison; or none, and why."""
        order = [base, *(place for place in range(len(self._runs)) if place != base)]
        return order, *_compare([self._saved[place] for place in order], pareto=base == 0 and len(order) > 2)

    def head(self) -> dict[str, Any]:
        """What is read without JavaScript: the runs, the warnings, and a table of metrics."""
        _, comparison, why = self._compared(0)
        if comparison is None:
            return {"why": why}
        first, *others = self._names
        return {
            "why": "",
            "runs": _runs_of(comparison, self._names),
            "warnings": compared.warnings_of(comparison),
            "sums": [compared.sum_of(one, name, first) for name, one in zip(others, comparison.against, strict=True)],
            "table": words_first(compared.comparison_table(comparison, self._names)),
            "legend": compared.legend(comparison, self._names),
        }

    def blocks(self) -> dict[str, Callable[[], Any]]:
        """`compared/A/B` for run B with baseline A; of several also `trend`, and `against/A` for each baseline."""
        places = range(len(self._runs))
        bases = places if len(places) <= MOST_BASELINES else places[:1]
        made: dict[str, Callable[[], Any]] = {
            f"compared/{self._runs[base].id}/{self._runs[place].id}": partial(self._pair, base, place)
            for base in bases
            for place in places
            if place != base
        }
        if len(places) > 2:
            made |= {f"against/{self._runs[base].id}": partial(self._against, base) for base in bases}
            made["trend"] = self._trend
        return made

    def _pair(self, base: int, place: int) -> dict[str, Any]:
        """What is said of a run with a baseline; of one that cannot be compared, why."""
        order, comparison, why = self._compared(base)
        labels, within = [self._names[base], self._names[place]], order.index(place) - 1
        if comparison is None:
            (comparison, why), within = _compare([self._saved[base], self._saved[place]]), 0
        if comparison is None:
            return {"why": printable(why)}
        changes = _changes_of(comparison.against[within], self._saved[base], self._saved[place])
        return {**_comparison_of(comparison, within, labels), "questions": changes}

    def _against(self, base: int) -> dict[str, Any]:
        """All runs with a baseline as one table of metrics; none where they cannot be compared."""
        order, comparison, _ = self._compared(base)
        names = [self._names[place] for place in order]
        return {"table": comparison and asdict(words_first(compared.comparison_table(comparison, names)))}

    def _trend(self) -> dict[str, Any]:
        """Each metric run by run, and the space of objectives."""
        _, comparison, why = self._compared(0)
        report = comparison.pareto if comparison is not None else None
        named = {run.id: name for run, name in zip(self._runs, self._names, strict=True)}
        return {
            "runs": [
                {
                    "id": run.id,
                    "label": named[run.id],
                    "when": f"{run.created_at:%Y-%m-%d %H:%M}",
                    "status": "unfinished" if run.is_unscored else run.status,
                }
                for run in self._runs
            ],
            "common": comparison.common if comparison is not None else 0,
            "groups": _courses(self._runs, comparison),
            "why": printable(why),
            "pareto": _pareto_of(report, named) if report is not None and report.objectives else None,
        }


def _compare(saved: Sequence[SavedRun], *, pareto: bool = False) -> tuple[Comparison | None, str]:
    """The comparison; or none, and why."""
    try:
        return compare_runs(saved, pareto=pareto), ""
    except ConfigError as error:
        return None, error.message


def _runs_of(comparison: Comparison, labels: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "id": run.id,
            "facts": [one_line(fact, _TEXT) for fact in (run.url, ", ".join(run.datasets), *compared.run_facts(run))],
        }
        for run, label in zip(comparison.runs, labels, strict=True)
    ]


# One run compared with the baseline: the words of `evals compare`, and its numbers for the charts.


def _comparison_of(comparison: Comparison, place: int, labels: Sequence[str]) -> dict[str, Any]:
    """What a page says of a run compared with the baseline, apart from their questions.

    Args:
        comparison: Of two runs or more.
        place: Of the run among those that are compared with the baseline.
        labels: What the baseline and the run are called.
    """
    one = comparison.against[place]
    alone = comparison
    if len(comparison.runs) > 2:
        runs = [comparison.runs[0], comparison.runs[place + 1]]
        alone = comparison.model_copy(update={"runs": runs, "against": [one], "metrics": []})
    table = words_first(compared.comparison_table(alone, labels))
    pairs = sorted(one.pairs, key=compared.worst_first)
    return {
        "runs": _runs_of(alone, labels),
        "warnings": list(map(printable, compared.warnings_of(comparison))),
        "differences": list(map(printable, comparison.differences)),
        "reasons": list(map(printable, compared.without_verdict(alone, labels))),
        "legend": compared.legend(alone, labels),
        "sum": compared.sum_of(one, labels[1], labels[0]),
        "latency": None if one.latency is None else compared.latency_line(one.latency, labels[1], labels[0]),
        "columns": table.columns,
        "pairs": [
            {
                "name": pair.name,
                "unit": pair.unit,
                "difference": pair.difference,
                "interval": pair.interval,
                "verdict": pair.verdict,
                "kind": row.tone,
                "cells": row.cells,
            }
            for pair, row in zip(pairs, table.rows, strict=True)
        ],
        "moves": [
            {"first": _link(move.first), "last": _link(move.last), "count": len(move.questions)} for move in one.moves
        ],
    }


def _changes_of(one: RunComparison, baseline: SavedRun, other: SavedRun) -> dict[str, Any]:
    """The questions that fared differently in a run: the greatest loss first, then the greatest gain.

    Args:
        one: The run compared with the baseline.
        baseline: The baseline.
        other: The run.

    Returns:
        A list for each thing that is said of all these questions, so that thousands take little room: `first` and
        `last` are their numbers in either run, counted from 0; `moved` has the place of a metric among `metrics`, its
        value in the baseline, and that in the run; `links` the first failures where these differ.
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
        "first": _numbers(baseline, ids),
        "last": _numbers(other, ids),
        "links": list(map(links.get, ids)),
        **_columns(changes, places),
    }


def _columns(changes: Sequence[QuestionChange], places: Mapping[str, int]) -> dict[str, list[Any]]:
    return {
        "changes": [round(change.change, 6) for change in changes],
        "shown": [compared.signed(change.change, "ratio") for change in changes],
        "notes": [printable(change.note or "") for change in changes],
        "moved": [
            [[places[name], six_digits(first), six_digits(last)] for name, (first, last) in change.moved.items()]
            for change in changes
        ],
    }


def _numbers(saved: SavedRun, ids: Iterable[str]) -> list[int]:
    """The numbers of questions among the records of a run."""
    rows = saved.asked.rows()
    return [saved.asked.numbers[rows[key]] for key in ids]


def _link(link: Link | None) -> str:
    return "right" if link is None else link.value


# Each metric from run to run.


def _courses(runs: Sequence[EvalRun], comparison: Comparison | None) -> list[dict[str, Any]]:
    """By group and metric, what each run measured (`own`), and over the questions that all runs have (`shared`)."""
    rows = {row.name: row for row in comparison.metrics} if comparison is not None else {}
    measured: Iterable[MetricSummary | MetricRow] = (
        one for run in runs for one in run.scorecard.metrics if one.value is not None
    )
    known: MetricSummary | MetricRow
    groups: dict[str, dict[str, Any]] = {}
    for known in (*measured, *rows.values()):
        metrics = groups.setdefault(str(known.group), {})
        if known.name not in metrics:
            metrics[known.name] = _course(known, runs, rows.get(known.name))
    return [{"group": group, "metrics": list(metrics.values())} for group, metrics in groups.items()]


def _course(known: MetricSummary | MetricRow, runs: Sequence[EvalRun], row: MetricRow | None) -> dict[str, Any]:
    found = [run.scorecard.find(known.name) for run in runs]
    return {
        "name": known.name,
        "label": label_of(known.name),
        "arrow": arrow(known.higher_is_better),
        "unit": known.unit,
        "own": [metric_row(one) if one is not None and one.value is not None else None for one in found],
        "shared": None if row is None else [_shared(row, place) for place in range(len(runs))],
    }


def _shared(row: MetricRow, place: int) -> dict[str, Any] | None:
    if row.values[place] is None:
        return None
    point = _point(row.values[place], row.intervals[place], row.unit)
    return {**point, "shown": compared.row_values(row)[place], "n": row.n}


def _point(value: float | None, ends: tuple[float, float] | None, unit: str) -> dict[str, Any]:
    return {"value": value, "ci": ends, "shown": number(value, unit), "interval": ends_of(ends, unit)}


def _pareto_of(report: ParetoReport, label_of: Mapping[str, str]) -> dict[str, Any]:
    """The runs in the space of objectives: the numbers of `evals compare --pareto`."""
    points = zip(report.points, report.intervals, report.scores, strict=True)
    return {
        "objectives": [
            {
                "name": name,
                "direction": way,
                "unit": report.units[name],
            }
            for name, way in report.objectives.items()
        ],
        "leftOut": [f"{name} ({reason})" for name, reason in report.left_out.items()],
        "points": [
            {
                "label": label_of[point.run_id],
                "onFront": point.run_id in report.front,
                "dominatedBy": [label_of[run_id] for run_id in point.dominated_by],
                "score": number(score, "ratio"),
                "values": {
                    name: _point(value, ends.get(name), report.units[name]) for name, value in point.objectives.items()
                },
            }
            for point, ends, score in points
        ],
        "says": list(compared.pareto_lines(report, label_of)),
        "weights": ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items()),
    }
