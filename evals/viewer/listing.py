"""The list of runs as the first page shows it: the columns of `evals runs`, and how the main metrics went."""

from collections.abc import Sequence
from typing import Any

from evals.schemas import EvalRun
from evals.scoring.headline import by_objectives, headline
from evals.store.runs import SavedRuns
from evals.views.formatting import arrow, number, one_line
from evals.views.run_list import TITLES, mark_of, objective_lines, run_cells

_MOST = 7
"""Metrics beside the score whose course is shown."""
_LATENCY = "latency_p95"


def listing(saved: SavedRuns) -> dict[str, Any]:
    """What the page of all runs shows, oldest first."""
    groups = by_objectives(saved.runs)
    return {
        "titles": TITLES,
        "runs": [_row(run, mark_of(run, groups)) for run in saved.runs],
        "objectives": [one_line(line, 600) for line in objective_lines(groups)],
        "trends": trends(saved.runs, groups),
        "unreadable": [f"{one.message}{f' ({one.hint})' if one.hint else ''}" for one in saved.unreadable],
    }


def trends(runs: Sequence[EvalRun], groups: Sequence[Sequence[EvalRun]]) -> list[dict[str, Any]]:
    """How score and main metrics went from run to run, apart for each choice of datasets, the newest first.

    Main are the metrics that feed the score of the newest run, and the 95th percentile of latency. A score stands only
    beside those that measure the same.

    Args:
        runs: Oldest first.
        groups: The runs whose scores compare.
    """
    by_datasets: dict[str, list[EvalRun]] = {}
    for run in runs:
        if not run.is_unscored:
            by_datasets.setdefault(",".join(sorted(run.datasets)), []).append(run)
    several = [found for found in by_datasets.values() if len(found) > 1]
    several.sort(key=lambda found: found[-1].created_at, reverse=True)
    return [
        {"datasets": one_line(",".join(found[-1].datasets), 60), "metrics": _courses(found, groups)}
        for found in several
    ]


def _courses(runs: Sequence[EvalRun], groups: Sequence[Sequence[EvalRun]]) -> list[dict[str, Any]]:
    fed = [name for names in runs[-1].weighted_score.fed_by.values() for name in names if name != _LATENCY]
    names = [*[*dict.fromkeys(fed)][: _MOST - 1], _LATENCY]
    courses = [_score(runs, groups), *(_course(runs, name) for name in names)]
    return [course for course in courses if len(course["points"]) > 1]


def _score(runs: Sequence[EvalRun], groups: Sequence[Sequence[EvalRun]]) -> dict[str, Any]:
    alike = {run.id for run in next((group for group in groups if runs[-1] in group), ())}
    points = [_point(run, headline(run).score, "ratio") for run in runs if run.id in alike]
    return {"name": "score", "arrow": arrow(True), "points": points}


def _course(runs: Sequence[EvalRun], name: str) -> dict[str, Any]:
    found = [(run, summary) for run in runs if (summary := run.scorecard.find(name)) and summary.value is not None]
    better = found[-1][1].higher_is_better if found else None
    return {
        "name": name,
        "arrow": arrow(better),
        "points": [_point(run, summary.value, summary.unit) for run, summary in found],
    }


def _point(run: EvalRun, value: float | None, unit: str) -> dict[str, Any]:
    return {
        "run": run.id,
        "created": f"{run.created_at:%Y-%m-%d %H:%M}",
        "value": value,
        "shown": number(value, unit),
    }


def _row(run: EvalRun, mark: str) -> dict[str, Any]:
    return {
        "id": run.id,
        "cells": run_cells(run, mark),
        "status": run.status if run.completed_at else "unfinished",
        "finished": run.completed_at is not None,
    }
