"""How often a judge is asked about one question: what the registry says, the catalogue shows and the page tells."""

import re
from pathlib import Path

import pytest

from evals.cli.commands.catalogue import list_metrics
from evals.metrics import BaseMetric
from evals.metrics.judged import JudgedMetric, judge_calls
from evals.metrics.registry import METRICS, metrics_of, suites

PAGE = Path(__file__).resolve().parents[2] / "docs" / "judge.md"
CALLS = {"core": 3, "answer": 5, "qa": 1, "graphrag": 8, "claims": 6, "passage": 0, "production": 5, "all": 16}


@pytest.mark.parametrize(("suite", "calls"), CALLS.items())
def test_a_suite_asks_so_often(suite: str, calls: int) -> None:
    """A suite that becomes dearer is noticed."""
    assert judge_calls(metrics_of([suite])) == calls


def test_metrics_share_their_calls() -> None:
    """All together ask less than one by one, each at most once for what it needs, and none twice."""
    judged = [cls for cls in METRICS if issubclass(cls, JudgedMetric)]
    assert judge_calls(judged) < sum(cls.judge_calls for cls in judged)
    for cls in METRICS:
        assert judge_calls([cls]) == judge_calls([cls, cls]) == cls.judge_calls, cls.name


def test_a_metric_with_calls_of_its_own_is_counted() -> None:
    """One of another package may ask a judge in its own way, and says how often."""

    class Own(BaseMetric):
        """Not built on inquiries."""

        judge_calls = 2

    assert judge_calls([*metrics_of(["core"]), Own]) == CALLS["core"] + 2


def test_the_page_tells_what_each_suite_asks() -> None:
    """docs/judge.md has a row for every suite, and it is true."""
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: int(calls) for name, calls in rows} == {name: judge_calls(metrics_of([name])) for name in suites()}


@pytest.mark.parametrize(
    ("wanted", "together"), [(None, 3), ("all", 16), ("core, qa", 4), ("answer,graphrag", 10), ("passage", 0)]
)
def test_the_catalogue_shows_what_the_suites_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wanted: str | None, together: int
) -> None:
    """For the suites together, which share calls."""
    monkeypatch.setenv("COLUMNS", "200")
    list_metrics(wanted)
    assert f"judge calls for a question, shared: {together}\n" in capsys.readouterr().out
