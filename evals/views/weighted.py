"""What the weighted score is made of, in lines of text."""

from collections.abc import Iterator

from evals.schemas import EvalRun
from evals.scoring.headline import Headline
from evals.scoring.saved_config import scoring_config


def weighted_remarks(run: EvalRun, head: Headline) -> Iterator[str]:
    """What the score is made of, what feeds an objective in part only, and what is left out: a line each."""
    weighted = run.weighted_score
    if weighted.objectives:
        parts = (f"{name} {value:.3f} × {weighted.weights[name]:g}" for name, value in weighted.objectives.items())
        yield ", ".join(parts)
    feeds = scoring_config(run).feeds
    for name, fed in weighted.fed_by.items():
        few = weighted.left_out_metrics.get(name, {})
        if len(fed) < len(feeds.get(name, fed)):
            why = "".join(f"; without {metric}: {reason}" for metric, reason in few.items())
            yield f"{name} is fed by {', '.join(fed)} alone{why}"
    if weighted.left_out and head.score is not None:
        yield f"left out, weights renormalised: {', '.join(weighted.left_out)}"
