"""From the records of a run to what is saved of it: the same for a run that asked and for one that was scored again."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from evals.config import EvalConfig
from evals.metrics.base import BaseMetric
from evals.runtime import seldom_collecting
from evals.schemas import EvalRecord, EvalRun
from evals.scoring.outcomes import MATCHING, count_outcomes, notes_on_matching, status_of
from evals.scoring.prices import with_prices
from evals.scoring.scorecard import ScoreSettings, make_scorecard, make_weighted_score, score_records


def conclude(
    run: EvalRun,
    records: Sequence[EvalRecord],
    metrics: Sequence[BaseMetric],
    settings: ScoreSettings,
    config: EvalConfig,
    *,
    warmup_ms: Sequence[float | None] = (),
    ended_early: bool = False,
    stopped: str | None = None,
    **fields: Any,
) -> tuple[EvalRun, list[EvalRecord]]:
    """Score the records and fill in what follows from them.

    Args:
        run: The run as far as it is known.
        records: All selected questions with what happened to them.
        metrics: What to measure.
        settings: How.
        config: Prices, weights and the error rate.
        warmup_ms: Latencies of the unscored questions.
        ended_early: Whether something was left undone.
        stopped: Why asking ended early, where it did.
        fields: What else to set in the run.

    Returns:
        The run and the scored records; nothing is saved yet.
    """
    settings = settings.within(records)
    priced = with_prices(metrics, config.prices, run.config)
    with seldom_collecting():
        scored = score_records(priced, records, settings)
    scorecard = make_scorecard(priced, scored, settings)
    outcomes = count_outcomes(scored, settings, warmup_ms).model_copy(update={"stopped": stopped})
    notes = [note for note in fields.pop("notes", run.notes) if not note.startswith(MATCHING)]
    concluded = run.model_copy(
        update={
            "completed_at": datetime.now(UTC).replace(microsecond=0),
            "scorecard": scorecard,
            "weighted_score": make_weighted_score(scorecard, config.scoring, answered=outcomes.answered),
            "error_count": sum(outcomes.transport.values()),
            "status": status_of(outcomes, config.max_error_rate, ended_early=ended_early),
            "outcomes": outcomes,
            "semantics": settings.semantics.names() if settings.semantics is not None else None,
            "notes": [*notes, *notes_on_matching(scored, settings)],
            **fields,
        }
    )
    return concluded, scored
