"""What a run has cost, in words."""

from collections.abc import Callable
from typing import Any

from evals.report.parts import cost_lines
from evals.schemas.verdicts import JudgeRecord


def test_the_server_and_the_judge_have_a_line_each(build_run: Callable[..., Any]) -> None:
    """A cost a question comes with its interval and with the sum over those that it is known of."""
    run, _ = build_run("a", {"q1": {"cost_per_query": 0.25}, "q2": {"cost_per_query": 0.75}})
    judge = JudgeRecord(model="m", origin="http://j", calls=4, cost_usd=0.5, unpriced=1)
    server, said = cost_lines(run.model_copy(update={"judge": judge}))
    assert server.startswith("server: $0.5")
    assert server.endswith(" $1.000 for the 2 that it counted tokens of")
    assert said == "judge: at least $0.5000, as 1 call has no known cost"


def test_a_cost_of_a_fraction_of_a_cent_has_digits(build_run: Callable[..., Any]) -> None:
    """Of the server and of the judge alike."""
    run, _ = build_run("a", {"q1": {"cost_per_query": 0.0000456}, "q2": {"cost_per_query": 0.0000466}})
    judge = JudgeRecord(model="m", origin="http://j", calls=4, cost_usd=0.5, cost_per_query_usd=0.0000123)
    server, said = cost_lines(run.model_copy(update={"judge": judge}))
    assert server.startswith("server: $0.00004610 a question")
    assert "($0.00001230 a question" in said


def test_what_is_not_known_says_why(build_run: Callable[..., Any]) -> None:
    """Without tokens of the server, without the metric, and without a judge."""
    run, _ = build_run("a", {"q1": {"cost_per_query": None}})
    assert cost_lines(run)[0].startswith("server: not known: ")
    run, _ = build_run("a", {"q1": {"recall_at_1": 1.0}})
    assert cost_lines(run) == ["server: cost_per_query was not measured", "judge: none was used"]
