"""`assert_metric`: what a failing threshold says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whole_runs import put_records

from evals.errors import ConfigError, UnknownNameError
from evals.schemas import EvalRun
from evals.store.runs import RunStore
from evals.testing import assert_metric

Build = Callable[..., Any]


@pytest.fixture
def run(build_run: Build, tmp_path: Path) -> EvalRun:
    """Twenty questions, of which six find nothing, one has no value, and one was not answered."""
    values: dict[str, Any] = {
        f"q{n}": {"mrr": 1.0 if n > 5 else 0.0, "recall_at_5": 0.5, "latency_p50": 10.0 * n} for n in range(18)
    }
    values |= {"none": {"mrr": None, "recall_at_5": 0.5}, "late": "timeout"}
    built, records = build_run("abcd1234", values)
    store = RunStore(tmp_path)
    store.prepare()
    built = built.model_copy(update={"record_sum": put_records(store, built, records)})
    store.save(built)
    return store.load("abcd")


def failure(*given: Any, **limits: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_metric(*given, **limits)
    return str(caught.value)


def test_what_holds_passes(run: EvalRun) -> None:
    """The value, and an end of its interval."""
    assert_metric(run, "mrr", at_least=0.6, at_most=0.7)
    assert_metric(run, "mrr", at_least=0.3, low=True)
    assert_metric(run, "mrr", at_most=0.95, high=True)


def test_a_failure_says_value_interval_coverage_and_the_worst_questions(run: EvalRun) -> None:
    """What somebody needs who has to mend it."""
    said = failure(run, "mrr", at_least=0.8)
    assert said.startswith("mrr>=0.8: mrr is 0.6667\n  value 0.667, interval 0.")
    assert "over 18 of 20 questions, 1 to which it does not apply" in said, said
    worst = said.split("worst questions:\n")[1].splitlines()
    assert [line.split()[:2] for line in worst[:5]] == [["0.000", f"q{n}"] for n in range(5)]
    assert "What is q0?" in worst[0]
    assert "evals show abcd1234 --runs-dir" in said
    slowest = failure(run, "latency_p50", at_most=50).split("worst questions:\n")[1].splitlines()
    assert [line.split()[:3] for line in slowest[:2]] == [["170.0", "ms", "q17"], ["160.0", "ms", "q16"]]


def test_lost_values_are_counted_by_what_lost_them(run: EvalRun) -> None:
    """A mean over what is left says less."""
    summary = run.scorecard.get("mrr")
    counts = summary.counts.model_copy(update={"transport": 1, "judge": 2})
    lost = run.scorecard.model_copy(update={"metrics": [summary.model_copy(update={"counts": counts})]})
    said = failure(run.model_copy(update={"scorecard": lost}), "mrr", at_least=0.8)
    assert "does not apply, 1 lost (transport), 2 lost (judge)" in said


def test_the_lower_end_decides_where_it_is_asked_for(run: EvalRun) -> None:
    """A value that may be chance is no evidence."""
    assert_metric(run, "mrr", at_least=0.6)
    assert failure(run, "mrr", at_least=0.6, low=True).startswith("mrr@low>=0.6: mrr is 0.6667 (interval 0.")
    assert failure(run, "mrr", at_most=0.7, high=True).startswith("mrr@low<=0.7: ")
    assert failure(run, "mrr", at_most=0.5).startswith("mrr<=0.5: mrr is 0.6667")


@pytest.mark.parametrize(
    ("changes", "limits", "said"),
    [
        ({"value": None, "reason": "no gold passages"}, {"at_least": 0.0}, "mrr has no value (no gold passages)"),
        ({"ci": None}, {"at_least": 0.1, "low": True}, "the end of the interval is unknown"),
        ({"at_least": True}, {"at_most": 1.0}, "mrr is at least 0.6667, as requests ran out of time"),
    ],
    ids=["no value", "no interval", "a lower bound"],
)
def test_what_is_not_known_fails_with_its_reason(
    run: EvalRun, changes: dict[str, Any], limits: dict[str, Any], said: str
) -> None:
    """It is never taken for 0, nor for good."""
    summary = run.scorecard.get("mrr").model_copy(update=changes)
    changed = run.model_copy(update={"scorecard": run.scorecard.model_copy(update={"metrics": [summary]})})
    assert said in failure(changed, "mrr", **limits)


def test_an_unknown_metric_is_answered_with_the_nearest(run: EvalRun) -> None:
    """A typing error is no failed threshold."""
    with pytest.raises(UnknownNameError) as caught:
        assert_metric(run, "recal_at_5", at_least=0.5)
    assert "did you mean 'recall_at_5'" in (caught.value.hint or "")


@pytest.mark.parametrize("limits", [{}, {"low": True, "at_most": 1.0}, {"high": True, "at_least": 0.1}])
def test_limits_that_say_nothing_are_wrong_usage(run: EvalRun, limits: dict[str, Any]) -> None:
    """Else a test could pass by a slip."""
    with pytest.raises(ConfigError):
        assert_metric(run, "mrr", **limits)
