"""From the records of a run to what is saved of it: the same for a run that asked and for one that was scored again."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from evals.metrics.base import BaseMetric
from evals.runtime import seldom_collecting
from evals.schemas import EvalRecord, EvalRun
from evals.scoring.config import ScoringConfig
from evals.scoring.outcomes import count_outcomes, status_of
from evals.scoring.prices import PriceConfig, with_prices
from evals.scoring.scorecard import make_scorecard, score_records
from evals.scoring.settings import Cases
from evals.scoring.weighted import make_weighted_score


class Terms(Protocol):
    """What of a configuration decides how a run is concluded."""

    @property
    def prices(self) -> Mapping[str, PriceConfig]:
        """The user's, by model."""

    @property
    def scoring(self) -> ScoringConfig:
        """Weights, feeds and thresholds of the weighted score."""

    @property
    def max_error_rate(self) -> float:
        """With more failures than this the run is partial."""


def conclude(
    run: EvalRun,
    records: Sequence[EvalRecord],
    metrics: Sequence[BaseMetric],
    cases: Cases,
    terms: Terms,
    *,
    warmup_ms: Sequence[float | None] = (),
    ended_early: bool = False,
    stopped: str | None = None,
    judging_incomplete: bool = False,
    **fields: Any,
) -> tuple[EvalRun, list[EvalRecord]]:
    """Score the records and fill in what follows from them.

    Args:
        run: The run as far as it is known.
        records: All selected questions with what happened to them.
        metrics: What to measure.
        cases: The records as metrics see them.
        terms: Prices, weights and the error rate: an `EvalConfig` has them.
        warmup_ms: Latencies of the unscored questions.
        ended_early: Whether something was left undone.
        stopped: Why asking ended early, where it did.
        judging_incomplete: Whether the budget ended the judging, or most of it failed.
        fields: What else to set in the run.

    Returns:
        The run and the scored records; nothing is saved yet.
    """
    priced = with_prices(metrics, terms.prices, run.config)
    with seldom_collecting():
        scored = score_records(priced, records, cases)
    semantics = cases.settings.semantics
    scorecard = make_scorecard(priced, scored, cases.settings)
    outcomes = count_outcomes(scored, cases, warmup_ms).model_copy(update={"stopped": stopped})
    concluded = run.model_copy(
        update={
            "completed_at": datetime.now(UTC).replace(microsecond=0),
            "scorecard": scorecard,
            "weighted_score": make_weighted_score(scorecard, terms.scoring, answered=outcomes.answered),
            "error_count": sum(outcomes.transport.values()),
            "status": status_of(outcomes, terms.max_error_rate, ended_early=ended_early or judging_incomplete),
            "outcomes": outcomes,
            "semantics": semantics.names() if semantics is not None else None,
            **fields,
        }
    )
    return concluded, scored
