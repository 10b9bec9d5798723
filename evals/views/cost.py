"""What a run has cost: the server by the tokens that it says it used, and the judge."""

from evals.schemas import EvalRun
from evals.views.formatting import interval, number, value
from evals.views.judge_line import judge_cost

COST_PER_QUERY = "cost_per_query"


def cost_lines(run: EvalRun) -> list[str]:
    """A line of the server and one of the judge: what each has cost, or why that is not known."""
    return [f"server: {_of_server(run)}", f"judge: {judge_cost(run.judge) if run.judge else 'none was used'}"]


def _of_server(run: EvalRun) -> str:
    summary = next((one for one in run.scorecard.metrics if one.name == COST_PER_QUERY), None)
    if summary is None:
        return f"{COST_PER_QUERY} was not measured"
    if summary.value is None:
        return f"not known: {summary.reason}"
    total = number(summary.value * summary.sample_size, summary.unit)
    ends = f" ({interval(summary)})" if summary.ci else ""
    return f"{value(summary)} a question{ends}, {total} for the {summary.sample_size} that it counted tokens of"
