"""What a run has cost, in words."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.report.parts import cost_lines
from evals.schemas.verdicts import JudgeRecord


@pytest.mark.parametrize(
    ("values", "judge", "server", "said"),
    [
        pytest.param(
            {"q1": {"cost_per_query": 0.25}, "q2": {"cost_per_query": 0.75}},
            {"cost_usd": 0.5, "unpriced": 1},
            "$1.000 for the 2 that it counted tokens of",
            "judge: at least $0.5000, as 1 call has no known cost",
            id="the sum is over those that it is known of",
        ),
        pytest.param(
            {"q1": {"cost_per_query": 0.0000456}, "q2": {"cost_per_query": 0.0000466}},
            {"cost_usd": 0.5, "cost_per_query_usd": 0.0000123},
            "server: $0.00004610 a question",
            "($0.00001230 a question",
            id="a fraction of a cent has digits",
        ),
        pytest.param(
            {"q1": {"cost_per_query": None}}, None, "server: not known: ", "judge: none was used", id="no tokens"
        ),
        pytest.param({"q1": {"mrr": 1.0}}, None, "cost_per_query was not measured", "none was used", id="no metric"),
    ],
)
def test_the_server_and_the_judge_have_a_line_each(
    values: Any, judge: dict[str, Any] | None, server: str, said: str, build_run: Callable[..., Any]
) -> None:
    """What each has cost, or why that is not known."""
    record = None if judge is None else JudgeRecord(model="m", origin="http://j", calls=4, **judge)
    lines = cost_lines(build_run("a", values)[0].model_copy(update={"judge": record}))
    assert server in lines[0]
    assert said in lines[1]
