"""`evals metrics`: what a metric is, and which metrics a suite has."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from evals.metrics import BaseMetric
from evals.metrics.registry import facts, metric_classes, suites, value_range
from evals.report.wording import label_of

Cli = Callable[..., Any]


def _first_words(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines() if line[:1].strip()]


@pytest.mark.parametrize("cls", metric_classes(), ids=lambda cls: cls.pattern())
def test_a_metric_is_printed_with_all_that_it_declares(evals_cli: Cli, cls: type[BaseMetric]) -> None:
    """Its name with a plain label, the whole docstring, then what it declares."""
    result = evals_cli("metrics", cls.pattern())
    assert result.code == 0
    printed = result.out.split()
    label = label_of(cls.pattern())
    assert result.out.startswith(f"{cls.pattern()}: {label}\n")
    assert 0 < len(label) <= 40
    assert " ".join(inspect.cleandoc(cls.__doc__ or "").split()) in " ".join(printed)
    for label, text in facts(cls).items():
        assert text
        assert f"{label}: {text}" in " ".join(printed)


@pytest.mark.parametrize("suite", suites())
def test_a_suite_lists_its_metrics_and_no_other(evals_cli: Cli, suite: str) -> None:
    """--suite shows what `eval --suite` computes."""
    listed = set(_first_words(evals_cli("metrics", "--suite", suite).out))
    for cls in metric_classes():
        assert (cls.pattern() in listed) == (suite == "all" or suite in cls.suites), cls.pattern()


def test_the_list_shows_suites_range_direction_aggregation_and_judge_calls(
    evals_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of the list says what the numbers of a metric look like; a wide terminal shows all of it."""
    monkeypatch.setenv("COLUMNS", "110")
    out = evals_cli("metrics").out
    assert re.search(r"^latency_p95 +core +0 to – ms ↓ +percentile 95 +0", out, re.MULTILINE)
    assert re.search(r"^answer_correctness +core +0 to 1 ↑ +mean +1 +expected answer", out, re.MULTILINE)
    assert re.search(r"^ragas_score +graphrag +0 to 100 % ↑ +mean +\d", out, re.MULTILINE)


def test_a_narrow_terminal_cuts_no_name_and_folds_no_word(evals_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """At eighty columns every name, range and count of calls stands whole on its own line."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = evals_cli("metrics").out.splitlines()
    for cls in metric_classes():
        [line] = [line for line in lines if line.startswith(f"{cls.pattern()} ")]
        assert re.search(rf" {cls.judge_calls}( |$)", line), line
        assert value_range(cls, questions="n") in line
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("recall_at_0",), "unknown metric 'recall_at_0'"),
        (("--suite", "cores"), "unknown suite 'cores'"),
        (("--suite", " ,"), "--suite ' ,' names nothing"),
        (("mmr",), "unknown metric 'mmr'"),
        (("mrr", "--suite", "core"), "leave out either the metric or --suite"),
    ],
)
def test_what_does_not_exist_is_refused(evals_cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    """A wrong name or a contradiction ends with exit code 2 and says what is wrong."""
    result = evals_cli("metrics", *arguments)
    assert result.code == 2
    assert message in result.err
