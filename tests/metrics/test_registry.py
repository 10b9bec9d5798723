"""The registry: every metric by its name, and no other name."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import evals.metrics
from evals.errors import UnknownNameError
from evals.metrics import MRR, NDCG, BaseMetric, PrecisionAtK, RecallAtK, parse_metric, registry, select
from evals.metrics.registry import METRICS, default_names, metric_classes, suites

CORE = [
    "recall_at_1",
    "recall_at_3",
    "recall_at_5",
    "recall_at_10",
    "precision_at_1",
    "precision_at_3",
    "precision_at_5",
    "mrr",
    "ndcg_at_10",
    "faithfulness",
    "answer_correctness",
    "answer_relevancy",
    "citation_precision",
    "citation_recall",
    "section_accuracy",
    "unanswerable_accuracy",
    "abstention_false_positive_rate",
    "abstention_false_negative_rate",
    "latency_p50",
    "latency_p95",
    "cost_per_query",
]


def _concrete_metrics() -> set[type[BaseMetric]]:
    modules = pkgutil.iter_modules(evals.metrics.__path__, "evals.metrics.")
    members = (inspect.getmembers(importlib.import_module(module.name), inspect.isclass) for module in modules)
    return {
        cls
        for found in members
        for _, cls in found
        if issubclass(cls, BaseMetric) and (hasattr(cls, "name") or hasattr(cls, "family"))
    }


class _Entry:
    """An entry point of an installed plug-in."""

    name, value, dist = "extra", "package:thing", None

    def __init__(self, loaded: object) -> None:
        self.loaded = loaded

    def load(self) -> object:
        return self.loaded


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[_Entry]]:
    """What other packages have installed; nothing, until a test adds to it."""
    entries: list[_Entry] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == "evals.metrics" else [])
    metric_classes.cache_clear()
    yield entries
    metric_classes.cache_clear()


def test_every_metric_of_the_package_is_registered_exactly_once() -> None:
    """A metric that nobody registered could not be asked for."""
    assert set(METRICS) == _concrete_metrics()
    assert len(METRICS) == len(set(METRICS))


@pytest.mark.parametrize("name", [*CORE, "recall_at_7", "precision_at_20", "ndcg_at_1", "recall_at_1000"])
def test_a_name_gives_the_metric_of_that_name(name: str) -> None:
    """Reading a name and writing it again is the same name, with any cut-off."""
    assert parse_metric(name).name == name


@pytest.mark.parametrize(
    ("name", "cls", "k"), [("recall_at_7", RecallAtK, 7), ("precision_at_2", PrecisionAtK, 2), ("ndcg_at_50", NDCG, 50)]
)
def test_the_number_in_a_name_is_the_cut_off(name: str, cls: type[RecallAtK], k: int) -> None:
    """recall_at_7 is recall at 7."""
    metric = parse_metric(name)
    assert isinstance(metric, cls)
    assert metric.k == k


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("recall_at_0", "recall_at_10"),
        ("recall_at_01", "recall_at_1"),
        ("recall_at_-1", "recall_at_1"),
        ("recall_at_x", "recall_at_K"),
        ("recall_at_", "recall_at_K"),
        ("recall_at_٣", "recall_at_K"),
        ("recall@5", "recall_at_5"),
        ("MRR", "mrr"),
        ("ndgc_at_10", "ndcg_at_10"),
        ("latency_p95 ", "latency_p95"),
    ],
)
def test_a_name_that_does_not_exist_says_the_nearest_that_does(name: str, nearest: str) -> None:
    """A typing error is answered with what was probably meant."""
    with pytest.raises(UnknownNameError) as error:
        parse_metric(name)
    assert repr(name) in error.value.message
    assert f"did you mean {nearest!r}?" in (error.value.hint or "")


def test_the_suite_all_holds_every_metric() -> None:
    """All means all."""
    assert [metric.name for metric in select(["all"], [])] == default_names()
    assert {"core", "all"} <= set(suites())


@pytest.mark.parametrize(
    ("suite_names", "metric_names", "expected"),
    [
        ([], ["mrr", "recall_at_7"], ["mrr", "recall_at_7"]),
        ([], ["mrr", "mrr"], ["mrr"]),
        (["core"], ["recall_at_7"], [*CORE, "recall_at_7"]),
        (["core"], ["mrr"], CORE),
        (["core", "core"], [], CORE),
        ([], [], []),
    ],
)
def test_selecting_gives_each_metric_once(suite_names: list[str], metric_names: list[str], expected: list[str]) -> None:
    """Suites come first, then the single names; nothing is computed twice."""
    assert [metric.name for metric in select(suite_names, metric_names)] == expected


def test_an_unknown_suite_is_refused() -> None:
    """A suite that does not exist is answered with the nearest."""
    with pytest.raises(UnknownNameError) as error:
        select(["cores"], [])
    assert "did you mean 'core'?" in (error.value.hint or "")


def test_the_metric_of_a_plug_in_can_be_asked_for(plug_in: list[_Entry]) -> None:
    """Another package's metric works by its name."""

    class Extra(MRR):
        name = "extra"

    plug_in.append(_Entry(Extra))
    assert isinstance(parse_metric("extra"), Extra)


def test_a_plug_in_that_is_no_metric_is_left_out(plug_in: list[_Entry], caplog: pytest.LogCaptureFixture) -> None:
    """It is named in a warning, and every other metric is there."""
    plug_in.append(_Entry("not a metric"))
    assert metric_classes() == METRICS
    assert "plug-in 'extra' is no metric" in caplog.text


@pytest.mark.parametrize("name", ["recall_at_" + "1" * 5000, "ndcg_at_1234567890"])
def test_a_cut_off_of_ten_digits_and_more_is_no_metric(name: str) -> None:
    """No server returns so many chunks, and no name ends the program."""
    with pytest.raises(UnknownNameError):
        parse_metric(name)
    assert parse_metric("recall_at_123456789").name == "recall_at_123456789"
