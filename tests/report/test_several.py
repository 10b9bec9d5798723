"""Several runs as data blocks, and what of them is read without JavaScript."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from evals.compare import compare_runs
from evals.compare.pairing import SavedRun
from evals.report.runs import MOST_BASELINES
from evals.schemas import Scorecard
from evals.schemas.results import WeightedScore

Run = Callable[..., Any]
HITS = ("mrr", "recall_at_5")


def values(count: int, hits: set[int], ms: float = 20.0) -> dict[str, dict[str, float]]:
    """Questions of which some find their gold."""
    return {f"q{n}": {**dict.fromkeys(HITS, float(n in hits)), "latency_p50": ms + n} for n in range(count)}


@pytest.fixture
def two(a_run: Run) -> list[Any]:
    """Of sixty questions twenty are lost and one is gained."""
    first = a_run(values(60, set(range(40))), "aaaa", name="Before")
    last = a_run(values(60, {*range(20), 59}), "bbbb", name="After")
    return [first, last]


@pytest.fixture
def four(a_run: Run) -> list[Any]:
    """Ever fewer hits, named in another order than that in which they were made."""
    days = {"aaaa": (3, 50), "bbbb": (1, 30), "cccc": (4, 10), "dddd": (2, 40)}
    return [
        a_run(values(60, set(range(hits))), key, created_at=datetime(2026, 5, day, tzinfo=UTC))
        for key, (day, hits) in days.items()
    ]


def test_two_runs_give_a_block_of_what_moved(page_of: Run, two: list[Any]) -> None:
    """What got worse stands first, with the numbers and words of the comparison."""
    page = page_of(*two)
    data = page.blocks["compared/aaaa/bbbb"]
    found = compare_runs([SavedRun(each.run, each.source) for each in two]).against[0]
    by_name = {pair.name: pair for pair in found.pairs}
    assert [run["label"] for run in data["runs"]] == ["Before", "After"]
    assert data["sum"] == "After against Before: worse on 2 of 2 metrics"
    assert [pair["verdict"] for pair in data["pairs"]] == ["worse", "worse", "not compared"]
    for pair in data["pairs"]:
        alone = by_name[pair["name"]]
        assert (pair["difference"], pair["interval"]) == (alone.difference, alone.interval and list(alone.interval))
    assert data["pairs"][0]["cells"][2:5] == ["0.667", "0.350", "−0.317"]


def test_the_questions_that_changed_stand_with_their_numbers_in_either_run(page_of: Run, a_run: Run) -> None:
    """The losses first: by their numbers the details of either run are found, though the runs have another order."""
    before = values(6, {0, 1, 2})
    after = dict(reversed(values(6, {2, 4}).items()))
    after["q1"] = "timeout"  # type: ignore[assignment]
    changed = page_of(a_run(before, "aaaa"), a_run(after, "bbbb")).blocks["compared/aaaa/bbbb"]["questions"]
    assert changed["lost"] == 2
    assert (changed["first"], changed["last"]) == ([0, 1, 4], [5, 4, 1])
    assert changed["changes"] == [-1, -1, 1]
    assert changed["notes"] == ["", "no answer any more: timeout", ""]
    assert [[changed["metrics"][place], *moved] for place, *moved in changed["moved"][0]] == [
        ["mrr", 1, 0],
        ["recall_at_5", 1, 0],
    ]


def test_one_run_has_no_comparison(page_of: Run, two: list[Any]) -> None:
    """No block, and no section."""
    page = page_of(two[0])
    assert [name for name in page.blocks if name.startswith(("compared", "trend"))] == []
    assert "Comparison of" not in page.words


def test_what_moved_is_read_without_javascript(page_of: Run, two: list[Any]) -> None:
    """A table with values, difference, interval and verdict; the runs by letter."""
    page = page_of(*two)
    assert "Comparison of 2 runs" in page.words
    assert "Before aaaa" in page.words
    assert "mrr ↑worse0.6670.350−0.317" in page.words
    assert "After against Before: worse on 2 of 2 metrics" in page.words


def test_many_runs_keep_the_order_and_the_names_in_which_they_were_given(page_of: Run, four: list[Any]) -> None:
    """Whenever they were made; values are over the questions of all, or over their own; each can be the baseline."""
    page = page_of(*four)
    trend = page.blocks["trend"]
    ids = ["aaaa", "bbbb", "cccc", "dddd"]
    assert [(run["label"], run["id"]) for run in trend["runs"]] == [(f"run {name}", name) for name in ids]
    metrics = {metric["name"]: metric for group in trend["groups"] for metric in group["metrics"]}
    assert [point["shown"] for point in metrics["mrr"]["shared"]] == ["0.833", "0.500", "0.167", "0.667"]
    assert [point["value"] for point in metrics["mrr"]["own"]] == pytest.approx([50 / 60, 30 / 60, 10 / 60, 40 / 60])
    assert all(point["ci"][0] < point["value"] < point["ci"][1] for point in metrics["mrr"]["shared"])
    pairs = {f"compared/{one}/{other}" for one in ids for other in ids if one != other}
    assert {name for name in page.blocks if name.startswith("compared/")} == pairs
    assert page.blocks["compared/aaaa/cccc"]["sum"].startswith("run cccc against run aaaa: worse on 2 of 2")
    assert page.blocks["compared/cccc/aaaa"]["sum"].startswith("run aaaa against run cccc: better on 2 of 2")
    columns = page.blocks["against/cccc"]["table"]["columns"]
    assert columns == ["metric", *(f"run {name}" for name in ("cccc", "aaaa", "bbbb", "dddd")), "n"]


def test_runs_of_one_name_are_told_apart_by_their_ids(page_of: Run, a_run: Run) -> None:
    """A name that is long is cut."""
    name = "a name of more than twenty-four characters"
    page = page_of(*(a_run(values(5, {1}), run_id, name=name) for run_id in ("aaaa", "bbbb")))
    labels = [run["label"] for run in page.blocks["report"]["runs"]]
    assert labels == ["a name of more than twe… (aaaa)", "a name of more than twe… (bbbb)"]


def test_of_many_runs_the_first_is_the_baseline(page_of: Run, a_run: Run) -> None:
    """Pairs grow with the square of the runs."""
    page = page_of(*(a_run(values(5, {1}), f"run{n}") for n in range(MOST_BASELINES + 1)))
    assert {name.split("/")[1] for name in page.blocks if name.startswith(("compared/", "against/"))} == {"run0"}


def test_the_pareto_plot_has_the_numbers_of_the_comparison(page_of: Run, four: list[Any]) -> None:
    """Values, intervals, front and who dominates whom are those of `compare --pareto`."""
    told = page_of(*four).blocks["trend"]["pareto"]
    report = compare_runs([SavedRun(each.run, each.source) for each in four], pareto=True).pareto
    assert report is not None
    assert {one["name"]: one["direction"] for one in told["objectives"]} == report.objectives
    for point, found, ends in zip(told["points"], report.points, report.intervals, strict=True):
        assert {name: one["value"] for name, one in point["values"].items()} == found.objectives
        assert {name: tuple(one["ci"]) for name, one in point["values"].items() if one["ci"]} == ends
        assert point["onFront"] is (found.run_id in report.front)
    assert [sorted(point["dominatedBy"]) for point in told["points"]] == [
        [],
        ["run aaaa", "run dddd"],
        ["run aaaa", "run bbbb", "run dddd"],
        ["run aaaa"],
    ]


def test_runs_without_a_common_question_are_shown_all_the_same(page_of: Run, a_run: Run) -> None:
    """They are not compared, and the page says why; those that have some are, and keep their letters."""
    others = {f"other {key}": value for key, value in values(5, {1}).items()}
    runs = [a_run(values(5, {1, 2}), "aaaa"), a_run(others, "bbbb"), a_run(values(5, {1}), "cccc")]
    page = page_of(*runs)
    assert "no question in common" in page.words
    trend = page.blocks["trend"]
    assert "no question in common" in trend["why"]
    assert (trend["common"], trend["pareto"], page.blocks["against/aaaa"]["table"]) == (0, None, None)
    assert trend["groups"][0]["metrics"][0]["shared"] is None
    assert list(page.blocks["compared/aaaa/bbbb"]) == ["why"]
    assert "no question in common" in page.blocks["compared/aaaa/bbbb"]["why"]
    pair = page.blocks["compared/aaaa/cccc"]
    assert [run["label"] for run in pair["runs"]] == ["run aaaa", "run cccc"]
    assert pair["sum"].startswith("run cccc against run aaaa")
    alone = page_of(*runs[:2])
    assert list(alone.blocks["compared/aaaa/bbbb"]) == ["why"]


def test_a_run_that_did_not_finish_stands_beside_others(page_of: Run, two: list[Any], a_run: Run) -> None:
    """It has no value, and the page says so."""
    begun = a_run(
        values(60, {1}), "cccc", status="partial", scorecard=Scorecard(), weighted_score=WeightedScore(score=None)
    )
    page = page_of(*two, begun)
    trend = page.blocks["trend"]
    assert [run["status"] for run in trend["runs"]] == ["complete", "complete", "unfinished"]
    assert [point is None for point in trend["groups"][0]["metrics"][0]["own"]] == [False, False, True]
    assert "run cccc did not finish, and none of it is scored yet" in page.words
