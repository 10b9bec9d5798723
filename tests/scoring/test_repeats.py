"""Runs that ask every question several times."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.work import load_workload
from evals.schemas import EvalQuestion, EvalRun, MetricGroup, MetricResult
from evals.schemas.run_parts import RepeatedMetric
from evals.scoring.repeats import repeated, with_repeats
from evals.scoring.run_columns import cluster_of
from evals.store.runs import RunStore

LOST = MetricResult(
    name="recall_at_1", group=MetricGroup.RETRIEVAL, value=None, missing="transport", reason="no answer: timeout"
)
"""What a failed question leaves of a metric."""


@pytest.fixture
def summarised(build_run: Callable[..., Any]) -> Callable[..., EvalRun]:
    """A run of values by question, of which `q1#2` is the second time that `q1` was asked."""

    def make(values: dict[str, Any], answers: dict[str, str] | None = None, repeats: int = 2) -> EvalRun:
        told = {key: {"metadata": {"repeat_of": key.partition("#")[0]}} for key in values}
        run, records = build_run("a", values, questions=told, eval_config={"repeats": repeats})
        for number, record in enumerate(records):
            if record.response.error is not None:
                records[number] = record.model_copy(update={"scores": [LOST]})
            answer = (answers or {}).get(record.question.id)
            if answer is not None:
                changed = record.response.model_copy(update={"answer": answer})
                records[number] = record.model_copy(update={"response": changed})
        return with_repeats(run, records)

    return make


def metric_of(run: EvalRun, name: str = "recall_at_1") -> RepeatedMetric:
    return next(metric for metric in run.repeats.metrics if metric.name == name)


def test_a_run_that_asks_once_says_nothing_of_stability(build_run: Callable[..., Any]) -> None:
    """There is nothing to compare."""
    run, records = build_run("a", {"q1": {"mrr": 1.0}})
    assert with_repeats(run, records).repeats is None


LATE = "timeout"


@pytest.mark.parametrize(
    ("first", "again", "expected"),
    [
        pytest.param(
            [1.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            {"pass_hat": [0.5, 1 / 3], "within_variance": 0.5 / 3, "questions": 3},
            id="pass^1 is the mean, pass^2 counts the one that is right twice",
        ),
        pytest.param([1.0] * 3, [1.0, LATE, 1.0], {"pass_hat": [5 / 6, 2 / 3], "questions": 2}, id="a failure"),
        pytest.param(
            [1.0, 1.0, LATE], [1.0, 1.0, LATE], {"pass_hat": [2 / 3, 2 / 3], "questions": 2}, id="always fails"
        ),
        pytest.param(
            [1.0],
            [0.0],
            {
                "pass_hat": [0.5, 0.0],
                "within_variance": 0.5,
                "between_variance": None,
                "reliability": None,
                "reason": "one question alone does not vary between questions",
            },
            id="one question",
        ),
        *[
            pytest.param(
                [value] * 2,
                [value] * 2,
                {"within_variance": 0.0, "between_variance": 0.0, "reliability": None, "reason": "nothing varies"},
                id=f"always {value}",
            )
            for value in (0.0, 1.0, 0.1)
        ],
        pytest.param(
            [1.0, 1.0],
            [LATE, LATE],
            {"pass_hat": [0.5, 0.0], "questions": 0, "within_variance": None, "reason": "no question has two values"},
            id="one value each",
        ),
    ],
)
def test_what_is_said_of_a_metric(
    first: list[Any], again: list[Any], expected: dict[str, Any], summarised: Callable[..., EvalRun]
) -> None:
    """A lost answer did not pass; what nobody knows is None, with a reason."""
    values = {f"q{n}{time}": value for time, row in (("", first), ("#2", again)) for n, value in enumerate(row)}
    told = {key: value if value is LATE else {"recall_at_1": value} for key, value in values.items()}
    found = metric_of(summarised(told))
    assert {name: getattr(found, name) for name in expected} == {
        name: approx(value) for name, value in expected.items()
    }
    assert found.pass_all_ci[0] <= found.pass_hat[-1] <= found.pass_all_ci[1]


def approx(value: Any) -> Any:
    return value if isinstance(value, str) else pytest.approx(value)


def test_a_metric_without_a_best_value_has_no_pass(summarised: Callable[..., EvalRun]) -> None:
    """Latency has variances alone."""
    values = {"q1": 1.0, "q2": 5.0, "q1#2": 3.0, "q2#2": 7.0}
    found = metric_of(summarised({key: {"latency_p50": value} for key, value in values.items()}), "latency_p50")
    assert (found.pass_hat, found.within_variance) == ([], 2.0)


def test_answers_are_the_same_but_for_case_and_punctuation(summarised: Callable[..., EvalRun]) -> None:
    """One of two questions has the same answer twice."""
    answers = {"q1": "Four francs.", "q1#2": "four  Francs", "q2": "Four", "q2#2": "Five"}
    found = summarised({key: {"mrr": 1.0} for key in answers}, answers).repeats
    assert (found.same_answers, found.agreement, found.compared, found.questions) == (0.5, 0.5, 2, 2)


@pytest.mark.parametrize("key", ["question", "document", "author"])
def test_repeats_of_a_question_are_one_cluster(key: str) -> None:
    """By whatever questions are clustered, and though an unanswerable one has no document."""
    asked = list(repeated([EvalQuestion(id="q1", question="Who?"), EvalQuestion(id="q2", question="Why?")], 3))
    assert [one.id for one in asked] == ["q1", "q2", "q1#2", "q2#2", "q1#3", "q2#3"]
    assert len({cluster_of(one, key) for one in asked}) == 2


def test_the_questions_of_a_run_are_repeated(tmp_path: Path) -> None:
    """All once, then all again; the dataset is the same one."""
    keys = {"datasets": ["golden"], "samples_per_dataset": 4, "runs_dir": str(tmp_path)}
    once, thrice = (load_workload(EvalConfig.build({**keys, "repeats": repeats})) for repeats in (1, 3))
    assert len(thrice.questions) == 12
    assert [one.id for one in thrice.questions][:4] == [one.id for one in once.questions]
    assert thrice.fingerprints == once.fingerprints


@pytest.mark.parametrize(("keys", "own"), [({"repeats": 2}, "q1#2"), ({"load": [4, 16]}, "q1@16")])
@pytest.mark.parametrize("order", [1, -1])
def test_an_id_of_the_file_that_a_question_would_get_is_named(
    keys: dict[str, Any], own: str, order: int, tmp_path: Path
) -> None:
    """Nobody is told to part two datasets where there is one."""
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(f'{{"id": "{name}", "question": "Who?"}}' for name in ["q1", own][::order]))
    config = EvalConfig.build({"dataset_file": str(file), "runs_dir": str(tmp_path / "runs"), **keys})
    with pytest.raises(ConfigError, match=f"'{own}' is in 'own', and is what question 'q1' is called"):
        load_workload(config)


def test_a_run_with_repeats_shows_how_stable_it_is(
    evals_cli: Callable[..., Any], start_server: Callable[..., str], tmp_path: Path
) -> None:
    """The reference server gives the same answer each time; intervals know of six clusters at most."""
    url = start_server("--corpus", "golden")
    result = evals_cli(
        *("eval", "--no-judge", "--datasets", "golden", "--samples", 6, "--rag-url", url, "--repeats", 3),
        *("--runs-dir", tmp_path),
    )
    assert result.code == 0
    assert "6 questions, each asked 3 times" in result.out
    assert "the same answer each time to 100.0% of 6 questions" in result.out
    (run,) = RunStore(tmp_path).runs()
    assert (run.question_count, run.repeats and run.repeats.questions) == (18, 6)
    interval = run.scorecard.get("latency_p50").interval
    assert interval.clusters <= 6
