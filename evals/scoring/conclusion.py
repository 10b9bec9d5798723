"""From the records of a run to what is saved of it: the same for a run that asked and for one that was scored again."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from evals.metrics.base import BaseMetric
from evals.runtime import seldom_collecting
from evals.schemas import EvalRecord, EvalRun, Outcomes, Scorecard, WeightedScore
from evals.schemas.results import SCHEMA_VERSION, RunStatus
from evals.scoring.config import ScoringConfig
from evals.scoring.gates import check_gates
from evals.scoring.influence import with_interval
from evals.scoring.judged.datasets_of_losses import notes_on_datasets
from evals.scoring.judged.losses import LOSSES, find_losses, notes_on_losses
from evals.scoring.outcomes import MATCHING, count_outcomes, notes_on_matching, status_of
from evals.scoring.prices import PriceConfig, with_prices
from evals.scoring.scorecard import make_scorecard, score_records
from evals.scoring.settings import Cases
from evals.scoring.weighted import make_weighted_score, no_score

Ended = Literal["whole", "early", "refused"]
"""All was done; something was left undone; or the answers are of a server that does not hold the documents, so that the
run is failed and has no score."""


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

    @property
    def gate(self) -> Sequence[str]:
        """Conditions on metrics."""

    @property
    def shard(self) -> str | None:
        """Which part of the questions it is; gates are not for a part."""


def conclude(
    run: EvalRun,
    records: Sequence[EvalRecord],
    metrics: Sequence[BaseMetric],
    cases: Cases,
    terms: Terms,
    *,
    warmup_ms: Sequence[float | None] = (),
    ended: Ended = "whole",
    stopped: str | None = None,
    **fields: Any,
) -> tuple[EvalRun, list[EvalRecord]]:
    """Score the records and fill in what follows from them.

    Args:
        run: The run as far as it is known.
        records: All selected questions with what happened to them.
        metrics: What to measure.
        cases: The records as metrics see them.
        terms: Prices, weights, gates and the error rate: an `EvalConfig` has them.
        warmup_ms: Latencies of the unscored questions.
        ended: How the work ended.
        stopped: Why asking ended early, where it did.
        fields: What else to set in the run.

    Returns:
        The run and the scored records; nothing is saved yet.
    """
    priced = with_prices(metrics, terms.prices, run.config)
    with seldom_collecting():
        cases.within(records)
        scored = score_records(priced, records, cases)
    semantics = cases.settings.semantics
    scorecard = make_scorecard(priced, scored, cases.settings)
    losses = find_losses(priced, scored, cases)
    outcomes = count_outcomes(scored, cases, warmup_ms)
    outcomes = outcomes.model_copy(update={"stopped": stopped, "judge_losses": losses})
    notes = [note for note in fields.pop("notes", run.notes) if not note.startswith((MATCHING, LOSSES))]
    weighted = _weighted(scorecard, terms.scoring, outcomes, ended)
    concluded = run.model_copy(
        update={
            "schema_version": SCHEMA_VERSION,
            "completed_at": datetime.now(UTC).replace(microsecond=0),
            "scorecard": scorecard,
            "weighted_score": with_interval(weighted, priced, scored, cases.settings, terms.scoring),
            "error_count": sum(outcomes.transport.values()),
            "status": _status(outcomes, terms.max_error_rate, ended),
            "outcomes": outcomes,
            "semantics": semantics.names() if semantics is not None else None,
            "notes": [
                *notes,
                *notes_on_matching(scored, cases.settings),
                *notes_on_losses(losses),
                *notes_on_datasets(scored),
            ],
            **fields,
        }
    )
    return concluded.model_copy(update={"gates": [] if terms.shard else check_gates(concluded, terms.gate)}), scored


def _weighted(scorecard: Scorecard, scoring: ScoringConfig, outcomes: Outcomes, ended: Ended) -> WeightedScore:
    if ended == "refused":
        return no_score(scoring, "the server does not hold the documents")
    return make_weighted_score(scorecard, scoring, answered=outcomes.answered)


def _status(outcomes: Outcomes, max_error_rate: float, ended: Ended) -> RunStatus:
    return "failed" if ended == "refused" else status_of(outcomes, max_error_rate, ended_early=ended == "early")
