"""Runs beside a baseline as a page shows them: the words of `evals compare`, and its numbers for the charts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evals.compare import Comparison, MetricPair, QuestionChange, RunComparison, RunHead
from evals.compare.pairing import SavedRun
from evals.scoring.diagnosis import Link
from evals.text.counts import share
from evals.views.compared import (
    STAR,
    facts_of,
    latency_line,
    legend,
    levels_of,
    pair_cells,
    reach_of,
    sum_of,
    warnings_of,
    without_verdict,
)
from evals.views.differences import signed
from evals.views.formatting import one_line, printable

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
        "runs": [_head(run, label) for run, label in zip(comparison.runs, labels, strict=True) if label in own],
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


def _head(run: RunHead, label: str) -> dict[str, Any]:
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
