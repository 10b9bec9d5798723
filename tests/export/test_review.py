"""The sheet in which people judge answers."""

import csv
import io
from collections.abc import Callable
from typing import Any

from evals.export import export_run
from evals.schemas import MetricGroup, MetricResult

Build = Callable[..., Any]


def test_what_needs_verification_is_marked_and_comes_before_what_is_sound(build_run: Build) -> None:
    """A reader who fills in the sheet meets first what is wrong, then what is disputed."""
    run, records = build_run("a", {"sound": {"mrr": 1.0}, "disputed": {"mrr": 1.0}, "lost": "timeout"})
    details = {"fuzzy_match": 0.0, "gptscore": 1.0, "needs_verification": True}
    match = MetricResult(name="factual_match", group=MetricGroup.GENERATION, value=1.0, details=details)
    marked = [r.model_copy(update={"scores": [match]}) if r.question.id == "disputed" else r for r in records]
    rows = list(csv.DictReader(io.StringIO(export_run(run, marked, "review").removeprefix("\ufeff"))))
    assert [(row["id"], row["needs_verification"]) for row in rows] == [
        ("lost", ""),
        ("disputed", "yes"),
        ("sound", ""),
    ]
    assert all((row["verdict"], row["comment"]) == ("", "") for row in rows)
