"""Several runs as a page shows them: each metric from run to run, and the runs in the space of objectives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any

from evals.compare import compare_runs
from evals.compare.models import Comparison, MetricPair, MetricRow, ParetoReport, QuestionChange, RunComparison, RunHead
from evals.compare.pairing import SavedRun
from evals.errors import ConfigError
from evals.report.compared import (
    STAR,
    dominance_lines,
    facts_of,
    front_by_values,
    label_runs,
    labels_of,
    latency_line,
    legend,
    levels_of,
    pair_cells,
    reach_of,
    row_values,
    said_of,
    signed,
    sum_of,
    title_of,
    warnings_of,
    without_verdict,
)
from evals.report.overview import metric_row
from evals.report.page import Block
from evals.report.wording import arrow, interval_end, number, one_line, printable
from evals.schemas.results import EvalRun, Scorecard
from evals.scoring.conclusion import Measured
from evals.scoring.diagnosis.stages import Link
from evals.text.numbers import share

# Runs beside a baseline as a page shows them: the words of `evals compare`, and its numbers for the charts.


_TEXT = 240
"""Characters of a question that the list holds."""

_ID = 120


def comparison_of(comparison: Comparison, place: int, labels: Sequence[str]) -> dict[str, Any]:
    """What a page says of one of the runs beside the baseline, but for their questions.

    Args:
        comparison: Of two runs or more.
        place: Of the run among those beside the baseline.
        labels: What its runs are called, the baseline first.
    """
    one, own = comparison.against[place], [labels[0], labels[place + 1]]
    starred = [STAR] if any(pair.primary for pair in one.pairs) else []
    return {
        "runs": [
            _head_comparison(run, label) for run, label in zip(comparison.runs, labels, strict=True) if label in own
        ],
        "common": one.common,
        "warnings": list(map(printable, warnings_of(comparison))),
        "differences": list(map(printable, comparison.differences)),
        "reasons": list(map(printable, without_verdict(comparison, labels))),
        "legend": [*legend(own[1], own[0]), *starred],
        "sum": sum_of(one, own[1], own[0]),
        "latency": None if one.latency is None else printable(latency_line(one.latency, own[1], own[0])),
        "levels": [*levels_of(one), *reach_of(one)],
        "pairs": [pair_row(pair) for pair in sorted(one.pairs, key=worst_first)],
        "moves": [
            {"first": _link(move.first), "last": _link(move.last), "count": len(move.questions)} for move in one.moves
        ],
    }


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
    names = list(dict.fromkeys(name for change in changes for name in change.moved))
    return {
        "metrics": names,
        "labels": {link.value: link.label for link in Link},
        "lost": len(one.lost),
        "said": _said(one),
        "ids": [one_line(key, _ID) for key in ids],
        "first": _numbers(baseline, ids),
        "last": _numbers(other, ids),
        "links": list(map(_moved_links(one).get, ids)),
        **_columns(changes, {name: place for place, name in enumerate(names)}),
    }


def _columns(changes: Sequence[QuestionChange], places: Mapping[str, int]) -> dict[str, list[Any]]:
    return {
        "questions": [one_line(change.question[: 4 * _TEXT], _TEXT) for change in changes],
        "changes": [round(change.change, 6) for change in changes],
        "shown": [signed(change.change, "ratio") for change in changes],
        "notes": [printable(change.note or "") for change in changes],
        "moved": [_moved(change, places) for change in changes],
    }


def _head_comparison(run: RunHead, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "id": run.id,
        "name": one_line(run.name, _ID),
        "url": one_line(run.url, _TEXT),
        "datasets": one_line(", ".join(run.datasets), _TEXT),
        "facts": [one_line(fact, _TEXT) for fact in facts_of(run)],
    }


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
        "cells": pair_cells(pair),
        "risen": len(pair.risen),
        "fallen": len(pair.fallen),
    }


def _numbers(saved: SavedRun, ids: Iterable[str]) -> list[int]:
    """Where questions stand among the records of a run."""
    columns = saved.asked
    rows = columns.rows()
    return [columns.numbers[rows[key]] for key in ids]


def worst_first(pair: MetricPair) -> int:
    """Where a metric stands: what got worse, then what got better or changed, then the rest as it was."""
    return {"worse": 0 if pair.is_of_quality else 1, "better": 2, "changed": 3}.get(pair.verdict, 4)


def _said(one: RunComparison) -> list[str]:
    """How many questions lost and gained."""
    return [
        f"{kind}: {share(len(changes), one.common, 'question')}"
        for kind, changes in (("lost", one.lost), ("gained", one.gained))
    ]


def _moved(change: QuestionChange, places: Mapping[str, int]) -> list[list[float]]:
    return [[places[name], _rounded(first), _rounded(last)] for name, (first, last) in change.moved.items()]


def _rounded(value: float) -> float:
    """Six digits, which is more than is shown."""
    return float(f"{value:.6g}")


def _moved_links(one: RunComparison) -> dict[str, list[str]]:
    return {key: [_link(move.first), _link(move.last)] for move in one.moves for key in move.questions}


def _link(link: Link | None) -> str:
    return "right" if link is None else link.value


# What of several runs is read without JavaScript: which they are, and what moved.


_LONGEST = 300


def several_head(comparison: Comparison | None, why: str) -> Iterator[str]:
    """A section with the runs, the warnings, and a table of metrics.

    Args:
        comparison: Of the runs; None where they do not compare.
        why: They do not.
    """
    yield '<section class="several">\n'
    if comparison is None:
        yield f"<h2>Several runs</h2>\n<p>They are not compared: {_text(why)}.</p>\n"
    else:
        yield from _compared(comparison)
    yield "</section>\n"


def _compared(comparison: Comparison) -> Iterator[str]:
    labels = label_runs(comparison)
    yield f"<h2>{len(labels)} runs beside each other</h2>\n"
    yield from _runs(comparison, labels)
    for warning in warnings_of(comparison):
        yield f'<p class="note">{_text(warning)}</p>\n'
    for label, one in zip(labels[1:], comparison.against, strict=True):
        yield f'<p class="sum">{_text(sum_of(one, label, labels[0]))}</p>\n'
    if len(labels) == 2:
        yield from _pairs(comparison.against[0])
    else:
        yield from _rows(comparison, labels)


def _runs(comparison: Comparison, labels: Sequence[str]) -> Iterator[str]:
    yield '<ul class="runs">\n'
    for label, run in zip(labels, comparison.runs, strict=True):
        facts = ", ".join([run.url, *facts_of(run)])
        named = f"<code>{escape(run.id)}</code> <bdi>{_text(run.name)}</bdi>"
        yield f'<li><strong>{label}</strong> {named} <span class="facts">{_text(facts)}</span></li>\n'
    yield "</ul>\n"


def _pairs(one: RunComparison) -> Iterator[str]:
    rows = []
    for pair in sorted(one.pairs, key=worst_first):
        name, *values, verdict = pair_cells(pair)
        rows.append(([name, verdict, *values], _kind(pair)))
    yield from _table("What moved", ["metric", "B is", "A", "B", "B − A", "interval", "p", "n"], rows)
    yield f'<p class="faint">{escape("; ".join(legend("B", "A")))}</p>\n'


def _rows(comparison: Comparison, labels: Sequence[str]) -> Iterator[str]:
    titles = ["metric", *(f"{label} against {labels[0]}" for label in labels[1:]), *labels, "n"]
    rows = []
    for row in comparison.metrics:
        said = [said_of(row, one) for one in comparison.against]
        rows.append(([title_of(row), *said, *row_values(row), str(row.n)], ""))
    yield from _table("Metrics", titles, rows)


def _table(title: str, titles: Sequence[str], rows: Sequence[tuple[Sequence[str], str]]) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in titles)
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{escape(title)}">\n<table class="moved">\n'
    yield f"<caption>{escape(title)}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    for (first, *rest), kind in rows:
        cells = "".join(f"<td>{_text(each)}</td>" for each in rest)
        yield f'<tr class="{kind}"><th scope="row">{_text(first)}</th>{cells}</tr>\n'
    yield "</tbody>\n</table>\n</div>\n"


def _kind(pair: MetricPair) -> str:
    return pair.verdict if pair.verdict in {"better", "worse", "changed"} else "same"


def _text(text: str) -> str:
    """Foreign text on one line, without what steers or hides, escaped."""
    return escape(one_line(text, _LONGEST))


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


# The parts of a page that is about two runs or more: each beside the first, and all from run to run.


class Several:
    """What a page says of several runs, the baseline first; of one run it says nothing.

    Args:
        runs: With their records, which are read one at a time.
    """

    def __init__(self, runs: Sequence[Measured]) -> None:
        self._runs = runs
        self._saved = [SavedRun(each.run, each.source) for each in runs]

    @cached_property
    def _compared(self) -> tuple[Comparison | None, str]:
        """The comparison; or none, and why."""
        return _compare(self._saved, pareto=len(self._saved) > 2)

    def head(self) -> Iterator[str]:
        """What is read without JavaScript."""
        if len(self._runs) > 1:
            yield from several_head(*self._compared)

    def blocks(self) -> Iterator[Block]:
        """What the page needs when it opens: `compared/A/B` for each run B beside the first, A, and `trend` of many.

        Where not all compare with each other, each is compared with the first alone; of one that cannot be, the block
        says why.
        """
        if len(self._runs) < 2:
            return
        comparison, _ = self._compared
        for place in range(len(self._runs) - 1):
            yield self._alone(place) if comparison is None else self._pair(comparison, place, place)
        if len(self._runs) > 2:
            yield self._trend()

    def _alone(self, place: int) -> Block:
        """A run beside the first, whatever the others are."""
        comparison, why = _compare([self._saved[0], self._saved[place + 1]])
        if comparison is not None:
            return self._pair(comparison, 0, place)
        first, other = self._runs[0].run, self._runs[place + 1].run
        return Block(f"compared/{first.id}/{other.id}", {"why": printable(why)})

    def _pair(self, comparison: Comparison, within: int, place: int) -> Block:
        """A run beside the first.

        Args:
            comparison: In which it is.
            within: Its place in there, among those beside the first.
            place: Its place on the page, which says what it is called.
        """
        one, baseline, other = comparison.against[within], self._saved[0], self._saved[place + 1]
        labels = labels_of(len(self._runs))
        called = labels if len(comparison.runs) == len(labels) else [labels[0], labels[place + 1]]
        data = {**comparison_of(comparison, within, called), "questions": changes_of(one, baseline, other)}
        return Block(f"compared/{one.baseline}/{one.run}", data)

    def _trend(self) -> Block:
        comparison, why = self._compared
        report = comparison.pareto if comparison is not None else None
        data = {
            **trend_of([each.run for each in self._runs], comparison),
            "why": printable(why),
            "verdicts": verdicts_of(comparison) if comparison is not None else [],
            "pareto": pareto_of(report) if report is not None and report.objectives else None,
        }
        return Block("trend", data)


def _compare(saved: Sequence[SavedRun], *, pareto: bool = False) -> tuple[Comparison | None, str]:
    """The comparison; or none, and why."""
    try:
        return compare_runs(saved, pareto=pareto), ""
    except ConfigError as error:
        return None, error.message
