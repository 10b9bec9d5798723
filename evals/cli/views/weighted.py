"""The weighted score on the terminal: of how much of the weight it is, how sure it is, and what is not in it."""

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import clean
from evals.schemas import EvalRun
from evals.scoring.headline import Headline, headline, percent
from evals.scoring.settings import confidence
from evals.views.formatting import level, score_range
from evals.views.weighted import weighted_remarks


def print_weighted(out: Console, run: EvalRun) -> None:
    """Print the score with its objectives, or why there is none; then what feeds it in part, or not at all."""
    head = headline(run)
    out.print(_line(run, head))
    for remark in weighted_remarks(run, head):
        out.print(clean(f"  {remark}"), style="dim")


def _line(run: EvalRun, head: Headline) -> Text:
    weighted = run.weighted_score
    if head.score is None:
        return clean(f"\nweighted score: – ({head.reason})")
    line = Text.assemble("\nweighted score: ", (f"{head.score:.3f}", "bold"))
    if not head.is_whole:
        line.append(f" of {percent(head.coverage)} of the weight")
    if weighted.ci is not None:
        line.append(f", {score_range(weighted.ci)} ({level(confidence(run))} interval)")
    if weighted.bounds is not None:
        line.append(f", {score_range(weighted.bounds)} with lost questions")
    return line
