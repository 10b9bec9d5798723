"""The scorecard in terminals of any width."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from evals.cli.terminal import show
from evals.report.elements import TableRow, TextLine, TextTable
from evals.report.summary import scorecard_table

Build = Callable[..., Any]
LONG = "abstention_false_positive_rate"


def drawn(width: int, *parts: TextLine | TextTable) -> list[str]:
    """The lines of what is shown in a terminal of this width."""
    out = io.StringIO()
    show(Console(width=width, file=out, highlight=False, markup=False), parts)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_continued_line_is_indented_and_keeps_numbers_with_their_units() -> None:
    """By two columns, or by the title at its beginning: what begins at the edge looks like another item."""
    told = ["in all it took 12 s or 1200 ms", "  answer    it takes 12 s or so", "  first things first, it took 1 s"]
    told += ["✓ gold  3 guide.md: it takes 12 s"]
    assert drawn(24, *map(TextLine, told)) == [
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
    text = " ".join(drawn(width, table))
    assert "fd4a782c" in text.split()
    assert sorted("".join(text.split())) == sorted("".join("".join([*table.columns, *row]).split()))


@pytest.mark.parametrize(("width", "intervals"), [(70, False), (78, False), (110, True)])
def test_a_spare_column_gives_way_to_words(width: int, intervals: bool) -> None:
    """A verdict would fold over many short lines next to the numbers."""
    cells = ["unanswerable_accuracy", "0.860", "0.900", "-0.063 … +0.083", "better (7 rose, 13 fell)"]
    columns = ["metric", "before", "after", "95% interval", "verdict"]
    table = TextTable(columns, [TableRow(cells)], words=["verdict"], spare=["95% interval"])
    titles, row = drawn(width, table)
    assert ("95% interval" in titles, "-0.063 … +0.083" in row) == (intervals, intervals)
    assert row.endswith("better (7 rose, 13 fell)")


@pytest.mark.parametrize("width", [79, 80, 200])
def test_no_name_and_no_number_is_cut(build_run: Build, width: int) -> None:
    """Whatever the width."""
    run, _ = build_run("a", {f"q{n}": {LONG: float(n < 2)} for n in range(8)})
    metric = run.scorecard.metrics[0].model_copy(update={"ci": (0.1, 0.4), "reason": "a remark of a few words"})
    card = run.scorecard.model_copy(update={"metrics": [metric]})
    lines = drawn(width, scorecard_table(run.model_copy(update={"scorecard": card})))
    assert all(len(line) <= width for line in lines)
    said = " ".join(" ".join(lines).replace(";", "").split())
    assert {LONG, "0.250", "0.100", "0.400", "8"} <= set(said.split())
    assert "a remark of a few words" in said


def test_a_large_scorecard_shows_the_main_metrics_of_each_group(build_run: Build) -> None:
    """Those that feed the score or decide in comparisons, and others up to three; all of them when asked."""
    run, _ = build_run("a", {"q": {**{f"recall_at_{k}": 1.0 for k in range(1, 40)}, "mrr": 1.0}})
    few, every = (scorecard_table(run, every=every).rows for every in (False, True))
    names = ["retrieval (3 of 40; --all)", "  recall_at_1 ↑", "  recall_at_5 ↑", "  mrr ↑"]
    assert [row.cells[0] for row in few] == names
    assert len(every) == 41
