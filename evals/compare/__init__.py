"""Compare saved runs, question by question.

    from evals.compare import SavedRun, compare_runs

    comparison = compare_runs([SavedRun(run, store.records(run)) for run in runs])

The last run is set against the first, over the questions that all runs asked.
"""

from collections.abc import Sequence

from evals.compare.changes import find_changes
from evals.compare.models import (
    Comparison,
    LinkMove,
    MetricPair,
    MetricRow,
    ParetoReport,
    QuestionChange,
    RunHead,
)
from evals.compare.moves import find_moves
from evals.compare.paired import compare_pairs
from evals.compare.pairing import SavedRun, find_warnings, pair_up
from evals.compare.pareto import dominates, find_pareto
from evals.compare.values import align_all, find_unknown
from evals.schemas import EvalRun
from evals.scoring.settings import score_settings

__all__ = [
    "Comparison",
    "LinkMove",
    "MetricPair",
    "MetricRow",
    "ParetoReport",
    "QuestionChange",
    "RunHead",
    "SavedRun",
    "compare_runs",
    "dominates",
]


def compare_runs(saved: Sequence[SavedRun], *, pareto: bool = False) -> Comparison:
    """Compare two or more runs over the questions that all of them asked.

    Intervals have the first run's confidence; whether something is better or worse is decided at 0.05 all the same.

    Args:
        saved: The runs with their records; the last is set against the first.
        pareto: Whether to find the Pareto front too.

    Raises:
        ConfigError: Fewer than two runs, or no question that all of them asked.
    """
    pairing = pair_up(saved)
    metrics = align_all(pairing)
    same_concurrency = len({run.concurrency for run in pairing.runs}) == 1
    same_concurrency = same_concurrency and not any(run.concurrencies for run in pairing.runs)
    settings = score_settings(pairing.runs[0])
    pairs = compare_pairs(metrics, same_concurrency=same_concurrency, confidence=settings.confidence)
    quality = [pair.name for pair in pairs if pair.group != "performance"]
    unknown = [f"metric {name} does not exist here and is left out" for name in find_unknown(pairing)]
    changes = find_changes(pairing, quality)
    return Comparison(
        runs=[_head(run) for run in pairing.runs],
        common=len(pairing.ids),
        warnings=[*find_warnings(pairing), *unknown],
        metrics=[aligned.row(settings) for aligned in metrics],
        pairs=pairs,
        lost=[change for change in changes if change.change < 0],
        gained=[change for change in reversed(changes) if change.change > 0],
        moves=find_moves(pairing, saved),
        confidence=settings.confidence,
        pareto=find_pareto(pairing.runs, metrics, same_concurrency=same_concurrency) if pareto else None,
    )


def _head(run: EvalRun) -> RunHead:
    return RunHead(
        id=run.id,
        name=run.name,
        created_at=run.created_at,
        status=run.status,
        url=run.server.url,
        datasets=run.datasets,
        question_count=run.question_count,
        error_count=run.error_count,
        concurrency=run.concurrency,
        judge=run.judge.model if run.judge else None,
    )
