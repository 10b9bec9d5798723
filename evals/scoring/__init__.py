"""From records to numbers: the scorecard, the weighted score, how questions ended, gates and diagnosis.

Names are imported when they are first used: the configuration reads a part of this package, and needs no metric for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.scoring.scorecard import (
        make_scorecard,
        score_record,
        score_records,
        slice_by,
        slice_scorecards,
        summarise,
    )
    from evals.scoring.settings import ScoreSettings, ScoringContext
    from evals.scoring.weighted import check_feeds, make_weighted_score


_WHERE = {
    "settings": ("ScoreSettings", "ScoringContext"),
    "weighted": ("check_feeds", "make_weighted_score"),
    "scorecard": (
        "make_scorecard",
        "score_record",
        "score_records",
        "slice_by",
        "slice_scorecards",
        "summarise",
    ),
}


__all__ = [
    "ScoreSettings",
    "ScoringContext",
    "check_feeds",
    "make_scorecard",
    "make_weighted_score",
    "score_record",
    "score_records",
    "slice_by",
    "slice_scorecards",
    "summarise",
]


def __getattr__(name: str) -> Any:
    for module, names in _WHERE.items():
        if name in names:
            return getattr(import_module(f"evals.scoring.{module}"), name)
    raise AttributeError(f"module 'evals.scoring' has no attribute {name!r}")
