"""What the weighted score is made of, in lines of text."""

from collections.abc import Iterator

from evals.schemas import EvalRun
from evals.scoring.headline import Headline
from evals.scoring.objectives import FEW
from evals.scoring.saved_config import scoring_config

_TENTH = 10
"""Of a run: an objective that fewer questions feed may hang on a kind of question that is rare."""


def weighted_remarks(run: EvalRun, head: Headline) -> Iterator[str]:
    """What the score is made of, what feeds an objective in part or by few questions, and what is left out."""
    weighted = run.weighted_score
    if weighted.objectives:
        parts = (f"{name} {value:.3f} × {weighted.weights[name]:g}" for name, value in weighted.objectives.items())
        yield ", ".join(parts)
    yield from fed_by_few(run)
    feeds = scoring_config(run).feeds
    for name, fed in weighted.fed_by.items():
        few = weighted.left_out_metrics.get(name, {})
        if len(fed) < len(feeds.get(name, fed)):
            why = "".join(f"; without {metric}: {reason}" for metric, reason in few.items())
            yield f"{name} is fed by {', '.join(fed)} alone{why}"
    if weighted.left_out and head.score is not None:
        yield f"left out, weights renormalised: {', '.join(weighted.left_out)}"


def fed_by_few(run: EvalRun) -> Iterator[str]:
    """The note on objectives that fewer than 10 questions feed, or less than a tenth of the run."""
    few = []
    for name, fed in run.weighted_score.fed_by.items():
        most = max((one.sample_size for one in map(run.scorecard.find, fed) if one is not None), default=0)
        if most < max(FEW, run.question_count / _TENTH):
            few.append(f"{name} ({most} of {run.question_count})")
    if few:
        yield f"fed by few questions, and uncertain: {', '.join(few)}"
