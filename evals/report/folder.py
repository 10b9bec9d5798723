"""The runs of one folder, read again where their files changed; nothing outside of it is ever opened."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import Any

from evals.errors import RunNotFoundError, StoreError
from evals.metrics.registry import known_metric
from evals.report.parts import objective_lines, runs_table
from evals.report.wording import arrow, number, one_line
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRun
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.calibration import with_cards
from evals.scoring.conclusion import Measured, measured
from evals.scoring.config import by_objectives, headline, scoring_config
from evals.scoring.settings import ScoringContext, score_settings
from evals.scoring.stats.intervals import percentile
from evals.store.records import as_found
from evals.store.runs import FOLDER, RunStore, SavedRuns, read_run, saved_calibrations
from evals.text.decoding import parse_stored

# The list of runs as the first page shows it: the columns of `evals runs`, and how the main metrics went.


_MOST = 7
"""Objectives whose trend is shown in addition to the score."""


def listing(saved: SavedRuns) -> dict[str, Any]:
    """What the page of all runs shows, oldest first."""
    groups = by_objectives(saved.runs)
    table = runs_table(saved.runs, groups)
    return {
        "titles": table.columns,
        "runs": [
            {
                "id": run.id,
                "cells": row.cells,
                "status": run.status if run.completed_at else "unfinished",
                "finished": run.completed_at is not None,
            }
            for run, row in zip(saved.runs, table.rows, strict=True)
        ],
        "objectives": [one_line(line, 600) for line in objective_lines(groups)],
        "trends": trends(saved.runs, groups),
        "unreadable": [f"{one.message}{f' ({one.hint})' if one.hint else ''}" for one in saved.unreadable],
    }


def trends(runs: Sequence[EvalRun], groups: Sequence[Sequence[EvalRun]]) -> list[dict[str, Any]]:
    """How score and main metrics went from run to run, apart for each choice of datasets, the newest first.

    Main is the first metric of each objective of the newest run. A score is shown only with scores that measure the
    same.

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
        {
            "datasets": one_line(",".join(found[-1].datasets), 60),
            "metrics": [course for course in _courses(found, groups) if len(course["points"]) > 1],
        }
        for found in several
    ]


def _courses(runs: Sequence[EvalRun], groups: Sequence[Sequence[EvalRun]]) -> Iterator[dict[str, Any]]:
    """The score, and the main metrics."""
    newest = runs[-1]
    alike = {run.id for run in next((group for group in groups if newest in group), ())}
    scores = [_point(run, headline(run).score, "ratio") for run in runs if run.id in alike]
    yield {"name": "score", "arrow": arrow(True), "points": scores}
    fed = dict.fromkeys(names[0] for names in newest.weighted_score.fed_by.values() if names)
    yield from (_course(runs, name) for name in [*fed][:_MOST])


def _course(runs: Sequence[EvalRun], name: str) -> dict[str, Any]:
    found = [(run, summary) for run in runs if (summary := run.scorecard.find(name)) and summary.value is not None]
    better = found[-1][1].higher_is_better if found else None
    points = [_point(run, summary.value, summary.unit) for run, summary in found]
    return {"name": name, "arrow": arrow(better), "points": points}


def _point(run: EvalRun, value: float | None, unit: str) -> dict[str, Any]:
    created = f"{run.created_at:%Y-%m-%d %H:%M}"
    return {"run": run.id, "created": created, "value": value, "shown": number(value, unit)}


_HELD = 24
"""Runs whose records are held open, with what was derived of them: those opened last."""

_RUNS = "*_*Z.json"

_Stamp = tuple[int, int]


@dataclass(frozen=True, eq=False, slots=True)
class HeldRun:
    """A run with its records, and a lock: what is derived of records is derived by one request at a time."""

    measured: Measured
    lock: Lock = field(default_factory=Lock)


class RunsFolder:
    """Saved runs as the pages need them.

    A run is found by its whole id. Links to files outside the folder are not followed, as a folder that others
    can write could lead anywhere.

    Args:
        folder: Where the runs are.
    """

    def __init__(self, folder: Path) -> None:
        self.store = RunStore(folder)
        self._parsed = lru_cache(2_000)(lambda path, _stamp: read_run(path))
        self._held = lru_cache(_HELD)(self._measure)
        self._lock = Lock()

    def survey(self) -> SavedRuns:
        """All runs that can be read, oldest first, and what is wrong with the others."""
        runs, unreadable = [], []
        for path in self._files():
            try:
                runs.append(self._read(path))
            except StoreError as error:
                unreadable.append(error)
        return SavedRuns(sorted(runs, key=lambda run: run.created_at), unreadable)

    def run(self, run_id: str) -> EvalRun:
        """A run.

        Raises:
            RunNotFoundError: The folder has no run of this id, or several.
            StoreError: Its file cannot be read.
        """
        return self._read(self._path(run_id))

    def records_path(self, run_id: str) -> Path:
        """The records of a run, or the log of one that is not finished.

        Raises:
            RunNotFoundError: The folder has no such run, or its records are elsewhere.
        """
        path = self._path(run_id)
        records = path.with_name(f"{path.stem}.records.jsonl")
        if not self._is_inside(records):
            raise RunNotFoundError(f"the records of run {run_id} are not in the folder")
        return records

    def measured(self, run_id: str) -> HeldRun:
        """A run with its records and what calibrations say of its judge.

        Raises:
            RunNotFoundError: The folder has no such run.
            StoreError: It cannot be read.
        """
        path, records = self._path(run_id), self.records_path(run_id)
        beside = self.store.folder / FOLDER  # its time changes with each calibration that comes or goes
        stamps = (_stamp(path), *(_stamp(each) if each.exists() else None for each in (records, beside)))
        with self._lock:
            return self._held(path, stamps)

    def _measure(self, path: Path, _: tuple[_Stamp | None, ...]) -> HeldRun:
        run = read_run(path)
        records = self.store.open_records(run)
        found = with_cards(as_found(run, records), saved_calibrations(self.store.folder))
        return HeldRun(measured(found, records))

    def _read(self, path: Path) -> EvalRun:
        """The run in a file; read once for each state of the file."""
        return self._parsed(path, _stamp(path))

    def _path(self, run_id: str) -> Path:
        found = [path for path in self._files() if path.name.partition("_")[0] == run_id]
        if len(found) != 1:
            said = f"there are {len(found)} runs {run_id}" if found else "there is no such run"
            raise RunNotFoundError(said, "`evals runs` lists the saved runs")
        return found[0]

    def _files(self) -> Sequence[Path]:
        folder = self.store.folder
        return [path for path in sorted(folder.glob(_RUNS)) if self._is_inside(path)] if folder.is_dir() else []

    def _is_inside(self, path: Path) -> bool:
        try:
            return path.resolve().parent == self.store.folder.resolve()
        except (OSError, RuntimeError):  # a link that leads to itself leads nowhere; before Python 3.13 it raises
            return False


def _stamp(path: Path) -> _Stamp:
    """By which it is known whether a file changed.

    Raises:
        StoreError: It is gone.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise StoreError(f"cannot read {path.name}: {error.strerror}") from error
    return state.st_mtime_ns, state.st_size


# Progress of a run: read from its log, of which each look takes only what is new.


_LATENCY_MS = "latency"


class RunProgress:
    """Counts what the log of a run says.

    What is measured so far is a glance and no result: the first metric of each objective, where it needs no judge; what
    the whole run says of matching is not known yet.

    Args:
        run: As it was saved when it began.
        path: Its log.
    """

    def __init__(self, run: EvalRun, path: Path) -> None:
        self._run, self._path = run, path
        first = dict.fromkeys(names[0] for names in scoring_config(run).feeds.values() if names)
        found = (known_metric(name) for name in first)
        self._metrics = [metric for metric in found if metric is not None and metric.unit == "ratio"]
        self._begin()

    def _begin(self) -> None:
        self._inode, self._read_to = 0, 0
        self._cases = ScoringContext(score_settings(self._run))
        self._questions: dict[str, EvalQuestion] = {}
        self._errors: dict[str, str | None] = {}  # by question that was asked; None of one that was answered
        self._values: dict[str, dict[str, float]] = {
            name: {} for name in (*(one.name for one in self._metrics), _LATENCY_MS)
        }
        self._verdicts = self._lost_verdicts = 0
        self._spent_usd = 0.0

    def look(self) -> dict[str, Any]:
        """What is known now.

        Raises:
            StoreError: The log cannot be read, or is none.
        """
        try:
            state = self._path.stat()
            if state.st_ino != self._inode or state.st_size < self._read_to:
                self._begin()
                self._inode = state.st_ino
            self._take_new()
        except OSError as error:
            raise StoreError(f"cannot read {self._path.name}: {error.strerror}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{self._path.name} is not the log of a run") from error
        return {**self._told(), "quiet_s": max(0.0, round(time.time() - state.st_mtime, 1))}

    def _take_new(self) -> None:
        """Take the lines that were added since the last look; one that is still written waits for the next."""
        with self._path.open("rb") as file:
            file.seek(self._read_to)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._take(parse_stored(line))
                self._read_to += len(line)

    def _take(self, event: dict[str, Any]) -> None:
        key, kind = event["question_id"], event["type"]
        if kind == "question":
            self._questions[key] = EvalQuestion.model_validate(event["question"])
        elif kind == "answer":
            self._answer(key, EvalResponse.model_validate(event["answer"]))
        elif kind == "verdict":
            verdict = JudgeVerdict.model_validate(event["verdict"])
            self._verdicts += 1
            self._lost_verdicts += verdict.failure is not None
            self._spent_usd += verdict.cost_usd or 0.0
        else:  # of a run that was resumed, or was just finished
            record = event["record"]
            self._questions[key] = EvalQuestion.model_validate(record["question"])
            if record["response"] is not None:
                self._answer(key, EvalResponse.model_validate(record["response"]))

    def _answer(self, key: str, response: EvalResponse) -> None:
        """The last answer to a question counts, as one that failed is asked again when a run is resumed."""
        self._errors[key] = response.error.kind if response.error else None
        for values in self._values.values():
            values.pop(key, None)
        if response.error is not None:
            return
        case = self._cases.about(self._questions[key], response)
        found = {_LATENCY_MS: response.latency_ms, **{one.name: one.score(case).value for one in self._metrics}}
        for name, value in found.items():
            if value is not None:
                self._values[name][key] = value

    def _told(self) -> dict[str, Any]:
        errors = Counter(kind for kind in self._errors.values() if kind is not None)
        return {
            "total": len(self._questions),
            "asked": len(self._errors),
            "answered": len(self._errors) - errors.total(),
            "errors": [{"kind": kind.replace("_", " "), "count": count} for kind, count in errors.most_common()],
            "verdicts": self._verdicts,
            "lostVerdicts": self._lost_verdicts,
            "spent": number(self._spent_usd, "USD") if self._verdicts else None,
            "values": self._shown(),
        }

    def _shown(self) -> list[dict[str, Any]]:
        """The values so far: means of metrics, percentiles of latency."""
        figures: list[tuple[str, list[float], Callable[[list[float]], float], str]] = [
            (one.name, list(self._values[one.name].values()), fmean, "ratio") for one in self._metrics
        ]
        latencies = sorted(self._values[_LATENCY_MS].values())
        figures += [(f"latency p{p}", latencies, partial(percentile, q=p), "ms") for p in (50, 95)]
        return [
            {"name": f"{name} so far", "shown": number(figure(values), unit), "n": len(values)}
            for name, values, figure, unit in figures
            if values
        ]


# Runs as they are now: the list, and the progress of those that are running.


_FRESH_S = 600.0
"""A log to which nothing was added for so long is of a run that was cut off: the list does not follow it."""


class LiveRuns:
    """What the pages ask for again and again.

    Args:
        folder: The runs.
    """

    def __init__(self, folder: RunsFolder) -> None:
        self._folder = folder
        self._followed: dict[str, RunProgress] = {}
        self._lock = Lock()

    def listing(self) -> dict[str, Any]:
        """All runs; those in progress with how far they are."""
        saved = self._folder.survey().without_calibrations()
        found = listing(saved)
        going_on = {run.id: told for run in saved.runs if (told := self._going_on(run)) is not None}
        for row in found["runs"]:
            row["progress"] = going_on.get(row["id"])
        return found

    def progress(self, run_id: str) -> dict[str, Any]:
        """How far a run is.

        Raises:
            RunNotFoundError: There is no such run.
            StoreError: Its log cannot be read.
        """
        run = self._folder.run(run_id)
        if run.completed_at is not None:
            self._followed.pop(run_id, None)
            return {"finished": True}
        return {"finished": False, **self._look(run)}

    def _going_on(self, run: EvalRun) -> dict[str, Any] | None:
        if run.completed_at is not None:
            return None
        try:
            quiet_s = time.time() - self._folder.records_path(run.id).stat().st_mtime
            return self._look(run) if quiet_s < _FRESH_S else None
        except (OSError, StoreError):  # its own page says what is wrong
            return None

    def _look(self, run: EvalRun) -> dict[str, Any]:
        path = self._folder.records_path(run.id)
        with self._lock:
            return self._followed.setdefault(run.id, RunProgress(run, path)).look()
