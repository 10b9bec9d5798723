"""The weighted score on the terminal: of how much of the weight it is, how sure it is, and what is not in it."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import clean
from evals.schemas import EvalRun
from evals.scoring.headline import Headline, headline, percent
from evals.scoring.saved_config import scoring_config
from evals.scoring.settings import confidence
from evals.views.formatting import score_range


def print_weighted(out: Console, run: EvalRun) -> None:
    """Print the score with its objectives, or why there is none; then what feeds it in part, or not at all."""
    head = headline(run)
    out.print(_line(run, head))
    for remark in _remarks(run, head):
        out.print(clean(f"  {remark}"), style="dim")


def _line(run: EvalRun, head: Headline) -> Text:
    weighted = run.weighted_score
    if head.score is None:
        return clean(f"\nweighted score: – ({head.reason})")
    line = Text.assemble("\nweighted score: ", (f"{head.score:.3f}", "bold"))
    if not head.is_whole:
        line.append(f" of {percent(head.coverage)} of the weight")
    if weighted.ci is not None:
        line.append(f", {score_range(weighted.ci)} ({confidence(run):.0%} interval)")
    if weighted.bounds is not None:
        line.append(f", {score_range(weighted.bounds)} with lost questions")
    return line


def _remarks(run: EvalRun, head: Headline) -> Iterator[str]:
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
