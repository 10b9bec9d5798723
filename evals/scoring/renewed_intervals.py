"""The intervals of a saved run by the rules of this version, where an earlier one saved it."""

from collections.abc import Sequence

from evals.schemas import EvalRecord, EvalRun, MetricSummary
from evals.scoring.gates import Gate
from evals.scoring.gathered.columns import ScoreTable
from evals.scoring.influence import with_interval
from evals.scoring.saved_config import scoring_config
from evals.scoring.scorecard import make_scorecard
from evals.scoring.seen import SCORE
from evals.scoring.settings import known_metrics, score_settings


def is_earlier(summary: MetricSummary) -> bool:
    """Whether a metric's interval is by an earlier rule: since then each says how it was made."""
    return summary.ci is not None and summary.interval is None


def has_earlier_intervals(run: EvalRun) -> bool:
    """Whether the intervals of a run's metrics are by an earlier rule."""
    return any(map(is_earlier, run.scorecard.metrics))


def with_intervals(run: EvalRun, records: Sequence[EvalRecord], gates: Sequence[Gate]) -> EvalRun:
    """The run with the intervals that these gates are on, by today's rule; its values stay.

    Args:
        run: As it was saved.
        records: Of the run, with what was measured of each question.
        gates: Those that are not on the end of an interval need nothing.
    """
    wanted = {gate.metric for gate in gates if gate.at_low}
    if SCORE in wanted and run.weighted_score.interval is None:
        metrics, settings = known_metrics(run), score_settings(run)
        table = ScoreTable.of(metrics, records, settings.cluster)
        score = with_interval(run.weighted_score, metrics, table, settings, scoring_config(run))
        run = run.model_copy(update={"weighted_score": score})
    earlier = {summary.name for summary in run.scorecard.metrics if summary.name in wanted and is_earlier(summary)}
    return _with_those(run, records, earlier) if earlier else run


def _with_those(run: EvalRun, records: Sequence[EvalRecord], names: set[str]) -> EvalRun:
    metrics = [metric for metric in known_metrics(run) if metric.name in names]
    made = make_scorecard(metrics, records, score_settings(run))
    summaries = [_remade(summary, made.find(summary.name)) for summary in run.scorecard.metrics]
    return run.model_copy(update={"scorecard": run.scorecard.model_copy(update={"metrics": summaries})})


def _remade(saved: MetricSummary, made: MetricSummary | None) -> MetricSummary:
    if made is None:
        return saved
    return saved.model_copy(update={"ci": made.ci, "interval": made.interval})
