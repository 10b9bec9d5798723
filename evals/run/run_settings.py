"""By which settings a saved run was scored, for whatever reads it again: views, comparisons, slices.

A run is read with what it says of itself and nothing else: the profile of its server need not be here any more. Keys
that this version does not know are passed over, as a newer one may have written them.
"""

from collections.abc import Mapping
from typing import Any

from evals.case.matching import MatchSettings
from evals.config import EvalConfig, ScoringConfig
from evals.metrics.base import BaseMetric
from evals.metrics.registry import known_metric
from evals.schemas import EvalRun
from evals.scoring.scorecard import ScoreSettings


def score_settings(run: EvalRun) -> ScoreSettings:
    """How the run's records were scored; models that compare texts are not loaded again.

    Raises:
        ConfigError: The rules of matching were changed by hand to something that cannot be.
    """
    match = {key: value for key, value in _part(run, "match").items() if key in MatchSettings.model_fields}
    return ScoreSettings(
        match=EvalConfig.build({"match": match}).match,
        citation_base=run.server.citation_base,
        worst_on_error=run.eval_config.get("on_error") == "worst",
        confidence=confidence(run),
        judged=run.judge is not None,
    )


def confidence(run: EvalRun) -> float:
    """Of the run's intervals, such as 0.95."""
    return float(run.eval_config.get("confidence", EvalConfig.model_fields["confidence"].default))


def scoring_config(run: EvalRun) -> ScoringConfig:
    """The weights, feeds and thresholds of the run's weighted score.

    Raises:
        ConfigError: They were changed by hand to something that cannot be.
    """
    part = _part(run, "scoring")
    known = {key: value for key, value in part.items() if key in ScoringConfig.model_fields}
    return EvalConfig.build({"scoring": known}).scoring


def known_metrics(run: EvalRun) -> list[BaseMetric]:
    """The metrics of the run's scorecard that exist here, in its order."""
    found = (known_metric(summary.name) for summary in run.scorecard.metrics)
    return [metric for metric in found if metric is not None]


def _part(run: EvalRun, key: str) -> Mapping[str, Any]:
    part = run.eval_config.get(key)
    return part if isinstance(part, Mapping) else {}
