"""A saved run read again: by its own settings, whatever is here and now."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from whole_runs import score_records

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.metrics.registry import select
from evals.schemas import (
    EvalQuestion,
    EvalRecord,
    EvalResponse,
    EvalRun,
    GoldPassage,
    ResponseError,
    RetrievedChunk,
    ServerRecord,
)
from evals.scoring.config import scoring_config
from evals.scoring.scorecard import by_threshold, make_scorecard
from evals.scoring.settings import ScoreSettings, ScoringContext, known_metrics, score_settings

TEXT = "the cooling-off period is fourteen days from the day on which the policy begins"


@pytest.fixture
def saved() -> Callable[..., EvalRun]:
    """A saved run; keywords are its configuration, or parts of the run."""

    def make(server: dict[str, Any] | None = None, **keys: Any) -> EvalRun:
        return EvalRun(
            id="abc12345",
            name="trial",
            created_at=datetime(2026, 1, 15, tzinfo=UTC),
            datasets=["golden"],
            question_count=2,
            server=ServerRecord(**{"url": "http://localhost:8001", "profile": "rag-server", **(server or {})}),
            seed=42,
            concurrency=4,
            eval_config={**EvalConfig().as_written(), **keys},
        )

    return make


@pytest.fixture
def records() -> list[EvalRecord]:
    """One question whose gold was retrieved, and one that brought no answer."""
    gold = [GoldPassage(text=TEXT)]
    right = EvalResponse(answer="Fourteen days.", chunks=[RetrievedChunk(chunk_id="a", text=TEXT)])
    lost = EvalResponse(error=ResponseError(kind="timeout", message="120 s"))
    return [
        EvalRecord(
            question=EvalQuestion(id=name, question=name, dataset="golden", gold_passages=gold), response=response
        )
        for name, response in (("right", right), ("lost", lost))
    ]


@pytest.mark.parametrize("on_error", ["exclude", "worst"])
def test_the_threshold_that_was_used_gives_the_value_of_the_scorecard(
    saved: Callable[..., EvalRun], records: list[EvalRecord], on_error: str
) -> None:
    """Looking at how much depends on it changes nothing."""
    settings = score_settings(saved(on_error=on_error))
    metrics = select([], ["recall_at_5"])
    (whole,) = make_scorecard(metrics, score_records(metrics, records, ScoringContext(settings)), settings).metrics
    (row,) = by_threshold(records, metrics, settings, [settings.match.overlap_threshold])
    assert row.summaries[0].value == whole.value


def test_how_citations_count_is_known_without_the_profile(saved: Callable[..., EvalRun]) -> None:
    """A profile's file may be gone, or in another folder."""
    run = saved(server={"profile": "gone.yml", "citation_base": 0})
    run.eval_config["server"] = {"profile": "nowhere/gone.yml"}
    assert score_settings(run).citation_base == 0


def test_keys_of_a_newer_version_are_passed_over(saved: Callable[..., EvalRun]) -> None:
    """What is known is used."""
    run = saved(match={"rule": "document", "colour": "red"}, scoring={"weights": {"accuracy": 1.0}, "taste": 3})
    assert score_settings(run).match.rule == "document"
    assert scoring_config(run).weights["accuracy"] == 1.0


@pytest.mark.parametrize("broken", [None, [], "auto"])
def test_a_part_that_is_no_table_counts_as_left_out(saved: Callable[..., EvalRun], broken: Any) -> None:
    """Such a run can still be looked at."""
    assert score_settings(saved(match=broken)).match == ScoreSettings().match


def test_rules_of_matching_that_cannot_be_are_named(saved: Callable[..., EvalRun]) -> None:
    """A share above 1, written into a saved run by hand, is no traceback."""
    with pytest.raises(ConfigError, match=r"match\.overlap_threshold"):
        score_settings(saved(match={"overlap_threshold": 3}))


def test_metrics_that_do_not_exist_here_are_passed_over(
    saved: Callable[..., EvalRun], records: list[EvalRecord]
) -> None:
    """Of a plug-in that is not installed."""
    metrics = select([], ["mrr"])
    card = make_scorecard(metrics, score_records(metrics, records, ScoringContext(ScoreSettings())), ScoreSettings())
    foreign = card.metrics[0].model_copy(update={"name": "cosiness"})
    run = saved().model_copy(update={"scorecard": card.model_copy(update={"metrics": [foreign, *card.metrics]})})
    assert [metric.name for metric in known_metrics(run)] == ["mrr"]


def test_cases_hold_the_records_in_hand_and_no_more() -> None:
    """However many records pass."""
    cases = ScoringContext(ScoreSettings())
    records = [EvalRecord(question=EvalQuestion(id=f"q{n}", question="Who?")) for n in range(400)]
    response = EvalResponse(answer="Ada")
    first = cases.about(records[0].question, response)
    assert cases.about(records[0].question, response) is first
    for record in records[1:]:
        cases.of(record)
    assert cases.about(records[0].question, response) is not first
