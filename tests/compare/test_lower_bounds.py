"""Percentiles of times that are lower bounds, because requests ran out of time, stay such beside another run."""

from collections.abc import Callable
from typing import Any

from evals.compare import SavedRun, compare_runs
from evals.metrics.performance import RAN_OUT
from evals.report.compared import pair_cells, row_values
from evals.schemas import EvalRecord

Build = Callable[..., Any]
QUICK = {f"q{n}": {"latency_p95": 100.0 + n} for n in range(40)}
SLOW = {f"q{n}": {"latency_p95": 100.0 + n if n < 30 else 6000.0} for n in range(40)}


def ran_out(records: list[EvalRecord]) -> list[EvalRecord]:
    """The same, with those that took six seconds cut off."""
    return [
        record.model_copy(
            update={
                "scores": [
                    score.model_copy(update={"details": {RAN_OUT: True} if score.value == 6000.0 else {}})
                    for score in record.scores
                ]
            }
        )
        for record in records
    ]


def saved(build_run: Build, run_id: str, values: Any) -> SavedRun:
    """A run of such values."""
    run, records = build_run(run_id, values)
    return SavedRun(run, ran_out(records))


def test_a_bound_is_printed_as_one(build_run: Build) -> None:
    """So is the difference from it; of two bounds nobody knows it."""
    quick, slow, slower = (saved(build_run, *each) for each in (("aaaa", QUICK), ("bbbb", SLOW), ("cccc", SLOW)))
    found = compare_runs([quick, slow])
    (pair,) = (each for each in found.against[0].pairs if each.name == "latency_p95")
    assert pair.at_least == (False, True)
    assert pair_cells(pair)[1:4] == ["137.0 ms", "≥ 6000.0 ms", "≥ +5863.0 ms"]
    (back,) = (each for each in compare_runs([slow, quick]).against[0].pairs if each.name == "latency_p95")
    assert pair_cells(back)[3] == "≤ −5863.0 ms"
    (both,) = (each for each in compare_runs([slow, slower]).against[0].pairs if each.name == "latency_p95")
    assert pair_cells(both)[1:4] == ["≥ 6000.0 ms", "≥ 6000.0 ms", "–"]
    (row,) = (each for each in compare_runs([quick, slow, slower]).metrics if each.name == "latency_p95")
    assert row_values(row) == ["137.0 ms", "≥ 6000.0 ms", "≥ 6000.0 ms"]


def test_a_percentile_below_what_ran_out_is_a_value(build_run: Build) -> None:
    """One of forty that ran out of time leaves the 95th percentile as it is."""
    few = {key: {"latency_p95": 100.0 + n if n < 39 else 6000.0} for n, key in enumerate(QUICK)}
    found = compare_runs([saved(build_run, "aaaa", few), saved(build_run, "bbbb", QUICK)])
    (pair,) = (each for each in found.against[0].pairs if each.name == "latency_p95")
    assert pair.at_least == (False, False)
