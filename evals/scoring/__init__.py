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
    "Cases": "settings",
    "ScoreSettings": "settings",
    "check_feeds": "weighted",
    "make_scorecard": "scorecard",
    "make_weighted_score": "weighted",
    "score_record": "scorecard",
    "score_records": "scorecard",
    "slice_by": "slices",
    "slice_scorecards": "slices",
    "summarise": "scorecard",
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
    if name not in _WHERE:
        raise AttributeError(f"module 'evals.scoring' has no attribute {name!r}")
    return getattr(import_module(f"evals.scoring.{_WHERE[name]}"), name)
