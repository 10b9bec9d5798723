"""`evals metrics`: what a metric is, and which metrics a suite has."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from evals.metrics import BaseMetric
from evals.metrics.registry import facts, metric_classes, suites
from evals.report.wording import label_of

Cli = Callable[..., Any]


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
    """--suite shows what `eval --suite` computes, each with a plain label."""
    lines = {line.split()[0]: line for line in evals_cli("metrics", "--suite", suite).out.splitlines() if line.split()}
    for cls in metric_classes():
        assert (cls.pattern() in lines) == (suite == "all" or suite in cls.suites), cls.pattern()
        assert label_of(cls.pattern()) in lines.get(cls.pattern(), label_of(cls.pattern()))


def test_the_list_is_one_screen_and_names_the_other_suites(evals_cli: Cli) -> None:
    """Of more than seventy metrics those of the default suite are shown."""
    out = evals_cli("metrics").out
    assert len(out.splitlines()) < 60
    assert "answer_completeness" not in out
    assert all(re.search(rf"\b{name} \(\d+\)", " ".join(out.split())) for name in suites() if name != "core")


@pytest.mark.parametrize("width", [80, 130])
def test_a_line_says_how_a_metric_looks(evals_cli: Cli, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """A narrow terminal leaves out columns, and cuts no name; a wide one says how runs are aggregated too."""
    monkeypatch.setenv("COLUMNS", str(width))
    out = evals_cli("metrics", "--suite", "all").out
    assert all(len(line) <= width for line in out.splitlines())
    for cls in metric_classes():
        assert re.search(rf"^{cls.pattern()} .*{label_of(cls.pattern())}", out, re.MULTILINE)
    wide = r"^latency_p95 ↓ .*0 or more ms +percentile 95 +0$"
    assert bool(re.search(wide, out.replace(" \n", "\n"), re.MULTILINE)) == (width == 130)


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
    assert (result.code, message in result.err) == (2, True)
