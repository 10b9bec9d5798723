"""The scorecard in terminals of any width."""

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from evals.cli.terminal import show
from evals.report.elements import TableRow, TextLine, TextTable
from evals.report.summary import scorecard_table
from evals.schemas import EvalRun, MetricSummary, Scorecard, ServerRecord
from evals.schemas.results import MetricCounts

LONG = "abstention_false_positive_rate"


def summary(name: str = "mrr", **keys: Any) -> MetricSummary:
    """A metric of a scorecard; keywords replace parts of it."""
    base = {
        "name": name,
        "group": "retrieval",
        "value": 0.5,
        "sample_size": 7,
        "counts": MetricCounts(scored=7),
        "unit": "ratio",
        "higher_is_better": True,
    }
    return MetricSummary(**{**base, **keys})


def run_of(*metrics: MetricSummary) -> EvalRun:
    """A run with these metrics."""
    by_group: dict[str, list[str]] = {}
    for metric in metrics:
        by_group.setdefault(metric.group.value, []).append(metric.name)
    return EvalRun(
        id="abc12345",
        name="trial",
        created_at=datetime(2026, 1, 15, tzinfo=UTC),
        datasets=["golden"],
        question_count=7,
        server=ServerRecord(url="http://localhost:8001", profile="rag-server"),
        seed=42,
        concurrency=4,
        scorecard=Scorecard(metrics=list(metrics), by_group=by_group),
    )


def lines(*metrics: MetricSummary, width: int) -> list[str]:
    """The lines of a scorecard of these metrics."""
    out = Console(width=width, file=io.StringIO(), highlight=False, markup=False)
    show(out, [scorecard_table(run_of(*metrics))])
    return [line.rstrip() for line in out.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_a_continued_line_is_indented_and_keeps_numbers_with_their_units() -> None:
    """By two columns, or by the title at its beginning: what begins at the edge looks like another item."""
    told = ["in all it took 12 s or 1200 ms", "  answer    it takes 12 s or so", "  first things first, it took 1 s"]
    told += ["✓ gold  3 guide.md: it takes 12 s"]
    out = Console(width=24, file=io.StringIO(), highlight=False, markup=False)
    show(out, [TextLine(line) for line in told])
    assert out.file.getvalue().splitlines() == [  # type: ignore[attr-defined]
        "in all it took 12 s or",
        "  1200 ms",
        "  answer    it takes",
        "            12 s or so",
        "  first things first, it",
        "    took 1 s",
        "✓ gold  3 guide.md: it",
        "          takes 12 s",
    ]


@pytest.mark.parametrize("width", [70, 80, 100])
def test_nothing_of_a_table_is_lost_in_a_narrow_terminal(width: int) -> None:
    """What has no room on a line is folded; the id of a run stays whole, to be copied."""
    row = ["fd4a782c", "complete", "1250 (3 failed)", "0.704 (80 % measured)", "top_k=2, a new prompt"]
    table = TextTable(["id", "status", "questions", "score", "name"], [TableRow(row)], words=["name"])
    out = Console(width=width, file=io.StringIO(), highlight=False, markup=False)
    show(out, [table])
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert "fd4a782c" in text.split()
    assert sorted("".join(text.split())) == sorted("".join("".join([*table.columns, *row]).split()))


@pytest.mark.parametrize(("width", "intervals"), [(70, False), (78, False), (110, True)])
def test_a_spare_column_gives_way_to_words(width: int, intervals: bool) -> None:
    """A verdict would fold over many short lines next to the numbers."""
    cells = ["unanswerable_accuracy", "0.860", "0.900", "-0.063 … +0.083", "better (7 rose, 13 fell)"]
    columns = ["metric", "before", "after", "95% interval", "verdict"]
    out = Console(width=width, file=io.StringIO(), highlight=False, markup=False)
    show(out, [TextTable(columns, [TableRow(cells)], words=["verdict"], spare=["95% interval"])])
    titles, row = out.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert ("95% interval" in titles, "-0.063 … +0.083" in row) == (intervals, intervals)
    assert row.rstrip().endswith("better (7 rose, 13 fell)")


@pytest.mark.parametrize("width", [79, 80, 200])
def test_no_name_and_no_number_is_cut(width: int) -> None:
    """Whatever the width."""
    drawn = lines(summary(LONG, value=0.25, ci=(0.1, 0.4), reason="a remark of a few words"), width=width)
    assert all(len(line) <= width for line in drawn)
    said = " ".join(" ".join(drawn).replace(";", "").split())
    assert {LONG, "0.250", "0.100", "0.400", "7"} <= set(said.split())
    assert "a remark of a few words" in said


def test_a_large_scorecard_shows_the_main_metrics_of_each_group() -> None:
    """Those that feed the score or decide in comparisons, and others up to three; all of them when asked."""
    many = [summary(f"recall_at_{k}") for k in range(1, 40)]
    few, every = (scorecard_table(run_of(*many, summary("mrr")), every=every).rows for every in (False, True))
    assert [row.cells[0] for row in few] == [
        "retrieval (3 of 40; --all)",
        "  recall_at_1 ↑",
        "  recall_at_5 ↑",
        "  mrr ↑",
    ]
    assert len(every) == 41
