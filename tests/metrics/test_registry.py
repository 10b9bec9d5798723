"""The registry: every metric by its name, and no other name; and how often each asks a judge about one question."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import evals.metrics
from evals.cli.commands.catalogue import list_metrics
from evals.errors import ConfigError, UnknownNameError
from evals.metrics import MRR, NDCG, BaseMetric, PrecisionAtK, RecallAtK, parse_metric, registry, select
from evals.metrics.judged import judge_calls
from evals.metrics.registry import METRICS, default_names, metric_classes, metrics_of, suites

# The metrics of the definitions that the suites follow, in the order and by the numbers of those.
DEFINED = [
    *("passage_exact_match", "span_f1", "passage_recall_at_10", "passage_ndcg_at_10"),  # legal passage retrieval
    # Answers against expected outputs.
    *("exact_match", "keyword_coverage", "number_match", "answer_completeness", "source_citation_quality"),
    *("rules_coverage", "fact_score", "is_correct"),  # EF_1, EF_2, EF_3
    *("faithfulness", "answer_relevancy", "context_precision", "context_recall"),
    # Question answering.
    *("adapted_ndcg", "modified_precision", "fuzzy_match", "gptscore", "factual_match", "sentence_coverage"),
    # GraphRAG, 1 to 11.
    *("ragas_faithfulness", "ragas_context_precision", "ragas_context_precision_ordered", "ragas_context_recall"),
    *("ragas_answer_relevance", "ragas_score", "factual_accuracy_percentage", "semantic_similarity_percentage"),
    *("bert_score_f1", "correct_answers_count", "wrong_answers_count", "dont_know_answers_count"),
    *("squad_em", "squad_f1"),
    *("claim_recall", "claim_f1", "claim_precision", "context_utilization", "hallucination"),  # RAGChecker
    *("citation_support_precision", "citation_support_recall", "over_citation_rate"),  # ALCE
]
CORE = [metric.name for metric in select(["core"], [])]
"""Which these are is the matter of test_seed_core.py."""


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


def test_the_package_lists_every_metric() -> None:
    """By the names of their classes, each of which can be imported from it."""
    assert {"Sample", "Price", *(cls.__name__ for cls in METRICS)} <= set(evals.metrics.__all__)
    assert all(getattr(evals.metrics, name) for name in evals.metrics.__all__)


def test_every_metric_of_a_definition_can_be_asked_for_and_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """The name gives the metric of that name, and the catalogue has a line for it."""
    list_metrics("all")
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()}
    found = [parse_metric(name) for name in (*CORE, *DEFINED)]
    assert [metric.name for metric in found] == [*CORE, *DEFINED]
    assert {metric.pattern() for metric in found} <= listed


@pytest.mark.parametrize(
    ("name", "cls", "k"),
    [
        *[("recall_at_7", RecallAtK, 7), ("recall_at_1000", RecallAtK, 1000), ("precision_at_2", PrecisionAtK, 2)],
        *[("ndcg_at_1", NDCG, 1), ("ndcg_at_50", NDCG, 50), ("recall_at_123456789", RecallAtK, 123456789)],
    ],
)
def test_the_number_in_a_name_is_the_cut_off(name: str, cls: type[RecallAtK], k: int) -> None:
    """recall_at_7 is recall at 7."""
    metric = parse_metric(name)
    assert isinstance(metric, cls)
    assert (metric.name, metric.k) == (name, k)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        *[("recall_at_0", "recall_at_10"), ("recall_at_01", "recall_at_1"), ("recall_at_-1", "recall_at_1")],
        *[(name, "recall_at_K") for name in ("recall_at_x", "recall_at_", "recall_at_٣")],
        *[("recall@5", "recall_at_5"), ("MRR", "mrr"), ("ndgc_at_10", "ndcg_at_10"), ("latency_p95 ", "latency_p95")],
    ],
)
def test_a_name_that_does_not_exist_says_the_nearest_that_does(name: str, nearest: str) -> None:
    """A typing error is answered with what was probably meant."""
    with pytest.raises(UnknownNameError) as error:
        parse_metric(name)
    assert repr(name) in error.value.message
    assert f"did you mean {nearest!r}?" in (error.value.hint or "")


@pytest.mark.parametrize("name", ["nugget_vital", "noise_sensitivity", "self_knowledge", "latency_total_p95"])
def test_a_metric_that_is_withdrawn_says_what_is_instead(name: str) -> None:
    """Nothing is accepted and ignored."""
    with pytest.raises(ConfigError, match=f"metric {name} is withdrawn"):
        parse_metric(name)


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


# How often a judge is asked: what the registry says, the catalogue shows and the page tells.

PAGE = Path(__file__).resolve().parents[2] / "docs" / "judge.md"
CALLS = {"core": 3, "answer": 5, "qa": 1, "graphrag": 8, "claims": 6, "passage": 0, "production": 5, "all": 16}


def test_the_registry_and_the_page_tell_what_each_suite_asks() -> None:
    """A suite that becomes dearer is noticed, and docs/judge.md has a true row for every suite."""
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {suite: judge_calls(metrics_of([suite])) for suite in suites()} == CALLS
    assert {name: int(calls) for name, calls in rows} == CALLS


def test_metrics_share_their_calls() -> None:
    """All together ask less than one by one, each at most once for what it needs, and none twice."""
    assert judge_calls(METRICS) < sum(cls.judge_calls for cls in METRICS)
    for cls in METRICS:
        assert judge_calls([cls]) == judge_calls([cls, cls]) == cls.judge_calls, cls.name


def test_a_metric_with_calls_of_its_own_is_counted() -> None:
    """One of another package may ask a judge in its own way, not built on inquiries, and says how often."""
    own = type("Own", (BaseMetric,), {"judge_calls": 2})
    assert judge_calls([*metrics_of(["core"]), own]) == CALLS["core"] + 2


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
