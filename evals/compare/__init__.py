"""Compare saved runs, question by question.

    from evals.compare import SavedRun, compare_runs

    comparison = compare_runs([SavedRun(run, store.records(run)) for run in runs])

Each run is set against the first, the baseline, over the questions that these two share.
"""

from collections.abc import Sequence

from evals.compare.conditions import find_differences, find_warnings
from evals.compare.models import Comparison, RunComparison, RunHead
from evals.compare.paired import compare_with_baseline, paired_change
from evals.compare.pairing import SavedRun, pair_up
from evals.compare.pareto import find_pareto
from evals.compare.values import align_all, find_unknown
from evals.errors import ConfigError
from evals.schemas.results import EvalRun
from evals.scoring.settings import score_settings

__all__ = ["SavedRun", "compare_runs", "paired_change"]


def compare_runs(saved: Sequence[SavedRun], *, pareto: bool = False, primary: str | None = None) -> Comparison:
    """Compare two or more runs, each with the first.

    Args:
        saved: The runs with their records, the baseline first.
        pareto: Whether to find the Pareto front too.
        primary: The one metric that the comparison is about: it is tested at 0.05, whatever else is tested.

    Raises:
        ConfigError: Fewer than two runs, no question that a run shares with the baseline, or a primary metric that
            cannot be compared.
    """
    pairing = pair_up(saved, may_be_empty=len(saved) > 2)
    against = [compare_with_baseline(saved[0], other, primary, len(saved) - 1) for other in saved[1:]]
    _check_primary(primary, against)
    metrics = align_all(pairing)
    unknown = [f"metric {name} does not exist here and is left out" for name in find_unknown(pairing)]
    settings = score_settings(pairing.runs[0])
    return Comparison(
        runs=[_head(run) for run in pairing.runs],
        common=len(pairing.ids),
        warnings=[*find_warnings(pairing), *unknown],
        differences=find_differences(pairing),
        metrics=[aligned.row(settings) for aligned in metrics],
        against=against,
        confidence=settings.confidence,
        primary=primary,
        pareto=find_pareto(saved, metrics) if pareto else None,
    )


def _check_primary(primary: str | None, against: Sequence[RunComparison]) -> None:
    for one in against:
        names = [pair.name for pair in one.pairs]
        if primary is not None and primary not in [*names, *(metric.name for metric in one.vanished)]:
            raise ConfigError(
                f"the primary metric {primary} has no values in both {one.baseline} and {one.run}",
                f"these can be compared: {', '.join(names) or 'none'}",
            )


def _head(run: EvalRun) -> RunHead:
    return RunHead(
        id=run.id,
        name=run.name,
        created_at=run.created_at,
        status=run.status,
        scored=not run.is_unscored,
        url=run.server.url,
        datasets=run.datasets,
        question_count=run.question_count,
        error_count=run.error_count,
        concurrency=run.concurrency,
        judge=run.judge.model if run.judge else None,
    )
