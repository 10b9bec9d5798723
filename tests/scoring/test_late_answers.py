"""Percentiles of requests that ran out of time: their times are lower bounds, and so is what lands on them."""

from pathlib import Path

import numpy as np
import pytest
from whole_runs import scorecard_of, valued_run

from evals.export import export_pieces
from evals.metrics.performance import LatencyP50, LatencyP95
from evals.report.summary import scorecard_table
from evals.report.wording import interval, value
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, MetricSummary, ResponseError
from evals.scoring.results import Column
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings

METRICS = [LatencyP50(), LatencyP95()]


def measured(answered: list[float], late: list[float]) -> tuple[MetricSummary, MetricSummary]:
    """Both percentiles over questions that were answered and questions whose requests ran out of time."""
    timeout = ResponseError(kind="timeout", message="no answer in time")
    responses = [EvalResponse(answer="yes", latency_ms=time) for time in answered]
    responses += [EvalResponse(latency_ms=time, error=timeout) for time in late]
    records = [
        EvalRecord(question=EvalQuestion(id=f"q{n}", question="Why?"), response=response)
        for n, response in enumerate(responses)
    ]
    half, most = scorecard_of(METRICS, records, ScoreSettings()).metrics
    return half, most


TIMES = [float(100 + n) for n in range(90)]


def test_a_percentile_on_a_late_request_is_a_lower_bound() -> None:
    """The slowest tenth ran out of time: the median is known, the 95th percentile is at least that time."""
    half, most = measured(TIMES, [30_000.0] * 10)
    assert (half.at_least, most.at_least) == (False, True)
    assert (value(half), value(most)) == ("149.0 ms", "≥ 30.00 s")


def test_a_percentile_above_a_late_request_is_one_too() -> None:
    """Who had less time to answer might have come out above."""
    assert measured(TIMES, [120.0])[0].at_least
    assert not measured(TIMES, [150.0])[0].at_least


def test_an_interval_that_ends_on_a_late_request_is_open_above() -> None:
    """Nobody knows how far above it ends; two ends at one time are no interval."""
    half, _ = measured(TIMES[:55], [30_000.0] * 45)
    assert half.interval.open_above
    assert not half.at_least
    assert interval(half) == "139.0 ms … ≥ 30.00 s"
    late, _ = measured(TIMES[:10], [30_000.0] * 90)
    assert late.ci is None
    assert late.interval.note == "too few different values"


def test_without_late_requests_nothing_is_open() -> None:
    """Another failure has no time that counts."""
    half, most = measured(TIMES, [])
    assert not half.at_least
    assert not most.at_least
    assert not half.interval.open_above


def test_the_late_requests_of_some_questions_say_nothing_of_others() -> None:
    """A slice of slow answers is no lower bound because a fast one of another slice had less time."""
    timeout = EvalResponse(latency_ms=120.0, error=ResponseError(kind="timeout", message="no answer in time"))
    responses = [timeout, *(EvalResponse(answer="yes", latency_ms=200.0 + n) for n in range(20))]
    metric, column = LatencyP50(), Column("latency_p50")
    for response in responses:
        column.add(metric.score(ScoreSettings().sample(EvalQuestion(question="Why?"), response)))
    whole, slow = (summarise(metric, column, ScoreSettings(), None, rows) for rows in (None, np.arange(1, 21)))
    assert (whole.at_least, slow.at_least) == (True, False)
    assert (whole.interval.open_above, slow.interval.open_above) == (True, False)


@pytest.mark.parametrize("fmt", ["markdown", "json"])
def test_it_is_shown_wherever_the_value_is(tmp_path: Path, fmt: str) -> None:
    """On the terminal, in the export and in a notebook."""
    saved = valued_run(tmp_path, "a", {"latency_p95": [100.0]})
    summary = saved.run.scorecard.metrics[0].model_copy(update={"at_least": True})
    card = saved.run.scorecard.model_copy(update={"metrics": [summary]})
    saved.run = saved.run.model_copy(update={"scorecard": card})
    assert any("≥ 100.0 ms" in row.cells for row in scorecard_table(saved.run).rows)
    assert "≥ 100" in card._repr_html_()
    document = "".join(map(str, export_pieces(saved, fmt)))
    assert ("≥ 100.0 ms" if fmt == "markdown" else '"at_least":true') in document
