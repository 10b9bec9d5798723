"""The scorecard in terminals of any width."""

from datetime import UTC, datetime
from typing import Any

import pytest

from evals.cli.views.scorecard import scorecard_lines
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


def lines(*metrics: MetricSummary, width: int, pictures: bool = False) -> list[str]:
    """The lines of a scorecard of these metrics."""
    by_group: dict[str, list[str]] = {}
    for metric in metrics:
        by_group.setdefault(metric.group.value, []).append(metric.name)
    run = EvalRun(
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
    return "\n".join(str(line) for line in scorecard_lines(run, width, pictures=pictures)).split("\n")


def test_numbers_stand_in_columns_under_their_names() -> None:
    """Value, interval and count end at the same place in every line."""
    head, group, *rows = lines(summary(), summary(LONG, value=0.25, ci=(0.1, 0.4), sample_size=1200), width=80)
    assert group == "retrieval"
    assert len({len(row) for row in (head, *rows)}) == 1
    assert rows[1].split() == [LONG, "↑", "0.250", "0.100", "…", "0.400", "1200"]


@pytest.mark.parametrize("width", [20, 40, 60, 79, 80, 200])
def test_no_name_and_no_number_is_cut(width: int) -> None:
    """In a narrow terminal the numbers stand below the name."""
    drawn = lines(summary(LONG, value=0.25, ci=(0.1, 0.4)), width=width)
    place = next(number for number, line in enumerate(drawn) if LONG in line)
    assert {LONG, "0.250", "0.100", "0.400", "7"} <= set(" ".join(drawn[place:]).split())
    if width >= 40:
        assert all(len(line) <= width for line in drawn)


def test_a_remark_stands_beside_the_numbers_where_there_is_room() -> None:
    """Else below them; it is never lost."""
    lost = summary(counts=MetricCounts(scored=7, transport=2, judge=1), bounds=(0.3, 0.8))
    wide, narrow = (lines(lost, summary("ndcg_at_10"), width=width) for width in (100, 44))
    assert wide[2].endswith("7  3 lost, with them 0.300 … 0.800")
    assert narrow[3] == "    3 lost, with them 0.300 … 0.800"


def test_a_picture_shows_where_value_and_interval_lie() -> None:
    """A dot for the value, a line for the interval, from 0 to 1; nothing for what is no share, or has no value."""
    head, _, share, time, none = lines(
        summary(value=0.5, ci=(0.31, 0.68)),
        summary("latency_p50", unit="ms", value=0.5),
        summary("ndcg_at_10", value=None, reason="no gold"),
        width=80,
        pictures=True,
    )[:5]
    assert "0 … 1" in head
    assert "···──●──···" in share
    assert "●" not in time + none
