"""How stable the answers of a run are that asked every question several times."""

from rich.console import Console
from rich.table import Table

from evals.cli.terminal.console import clean
from evals.schemas import EvalRun
from evals.schemas.repeats import RepeatedMetric, RepeatSummary
from evals.text.counts import counted


def print_repeats(out: Console, run: EvalRun) -> None:
    """Print what the repeats say; nothing where each question was asked once."""
    found = run.repeats
    if found is None:
        return
    out.print(f"\n{counted(found.questions, 'question')}, each asked {found.repeats} times", style="bold")
    out.print(clean(_answers(found)))
    if found.metrics:
        out.print(_table(found))
        out.print(
            "within: the variance that asking again makes; between: that of questions; reliability: between / both; "
            "pass: that so many answers to a question all have the best value",
            style="dim",
        )
        _print_reasons(out, found)


def _print_reasons(out: Console, found: RepeatSummary) -> None:
    """Print why metrics have no reliability, each reason once with its metrics."""
    for reason in dict.fromkeys(metric.reason for metric in found.metrics if metric.reason):
        names = ", ".join(metric.name for metric in found.metrics if metric.reason == reason)
        out.print(clean(f"–: {reason} ({names})"), style="dim")


def _answers(found: RepeatSummary) -> str:
    if found.same_answers is None or found.agreement is None:
        return "no question has two answers to compare"
    ends = found.agreement_ci
    interval = f" ({ends[0]:.3f} … {ends[1]:.3f})" if ends else ""
    same = f"the same answer each time to {found.same_answers:.1%} of {counted(found.compared, 'question')}"
    return f"{same}; {found.agreement:.3f}{interval} of pairs of answers are the same"


def _table(found: RepeatSummary) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("metric", "n", "within", "between", "reliability", "pass^1", f"pass^{found.repeats}", "interval"):
        table.add_column(title, justify="left" if title == "metric" else "right")
    for metric in found.metrics:
        table.add_row(metric.name, str(metric.questions), *_numbers(metric))
    return table


def _numbers(metric: RepeatedMetric) -> list[str]:
    reliability = "–" if metric.reliability is None else f"{metric.reliability:.3f}"
    ends = metric.pass_all_ci
    passes = [f"{metric.pass_hat[0]:.3f}", f"{metric.pass_hat[-1]:.3f}"] if metric.pass_hat else ["–", "–"]
    interval = f"{ends[0]:.3f} … {ends[1]:.3f}" if ends else "–"
    variances = ("–" if one is None else f"{one:.4g}" for one in (metric.within_variance, metric.between_variance))
    return [*variances, reliability, *passes, interval]
