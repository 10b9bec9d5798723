"""From records to numbers: the scorecard, the weighted score, how questions ended, gates and diagnosis.

Names are imported when they are first used: the configuration reads a part of this package, and needs no metric for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.scoring.scorecard import (
        ScoreSettings,
        check_feeds,
        make_scorecard,
        make_weighted_score,
        score_record,
        score_records,
        slice_by,
        slice_scorecards,
        summarise,
    )

__all__ = [
    "ScoreSettings",
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
    if name not in __all__:
        raise AttributeError(f"module 'evals.scoring' has no attribute {name!r}")
    return getattr(import_module("evals.scoring.scorecard"), name)
