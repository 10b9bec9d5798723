"""Two runs, question by question: differences, tests, verdicts, and which questions moved."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole_runs import valued_run

from evals.compare.models import ANSWER_RATE, MetricPair, RunComparison
from evals.compare.paired import compare_runs
from evals.config import EvalConfig
from evals.scoring.saved import SavedRun
from evals.scoring.stats import mcnemar_p

Made = Callable[..., SavedRun]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Make a run of values by metric."""

    def make(run_id: str, columns: dict[str, Sequence[float | None]], **about: Any) -> SavedRun:
        return valued_run(tmp_path, run_id, columns, **about)

    return make


def ones_but(zeros: int, of: int) -> list[float]:
    """So many questions, of which the last ones have 0 and the others 1."""
    return [1.0] * (of - zeros) + [0.0] * zeros


def compared(first: SavedRun, last: SavedRun, **how: Any) -> RunComparison:
    return compare_runs([first, last], **how).against[0]


def pair_of(comparison: RunComparison, name: str) -> MetricPair:
    pair = comparison.pair(name)
    assert pair is not None
    return pair


@pytest.mark.parametrize(
    ("fell", "of", "verdict"),
    [(0, 100, "identical"), (5, 100, "not established"), (6, 100, "worse"), (10, 100, "worse"), (8, 50, "worse")],
)
def test_a_yes_or_no_metric_is_worse_from_six_fallen_questions_on(made: Made, fell: int, of: int, verdict: str) -> None:
    """Exact McNemar: five that all fall have p = 0.0625, six have 0.03125; here the metric is tested alone."""
    before, after = made("a", {"mrr": ones_but(0, of)}), made("b", {"mrr": ones_but(fell, of)})
    pair = pair_of(compared(before, after, primary="mrr"), "mrr")
    assert (pair.verdict, pair.differing, len(pair.fallen), pair.risen) == (verdict, fell, fell, [])
    assert pair.p == (pytest.approx(mcnemar_p(fell, 0)) if fell >= 6 else None)
    assert pair.difference == pytest.approx(-fell / of)


def test_ten_of_a_hundred_fell_is_worse_in_a_family_of_many_metrics(made: Made) -> None:
    """Holm over all metrics that feed the score leaves p = 0.002 below 0.05; each of half a point too."""
    names = ("mrr", "recall_at_5", "ndcg_at_10", "citation_recall", "citation_precision", "unanswerable_accuracy")
    graded = [1.0] * 90 + [0.5] * 10
    before = made("a", {name: ones_but(0, 100) for name in names})
    after = made("b", {name: graded if name == "recall_at_5" else ones_but(10, 100) for name in names})
    found = compared(before, after, named=names)
    assert {pair_of(found, name).verdict for name in names} == {"worse"}


def test_a_difference_within_chance_says_how_many_questions_would_do(made: Made) -> None:
    """Ten rose and six fell: p is near 0.45, and the number is that of 80 % power at this size."""
    base = [0.0, 1.0] * 50
    after = list(base)
    for place in range(10):
        after[2 * place] = 1.0
    for place in range(6):
        after[2 * place + 1] = 0.0
    pair = pair_of(compared(made("a", {"mrr": base}), made("b", {"mrr": after}), primary="mrr"), "mrr")
    differences = np.array(after) - np.array(base)
    needed = np.ceil((1.959964 + 0.841621) ** 2 * differences.var(ddof=1) / differences.mean() ** 2)
    assert pair.questions_needed == needed
    assert pair.reason == f"about {needed:,.0f} questions would do"


def test_a_metric_that_passes_alone_and_not_among_many_says_how_to_test_it_alone(made: Made) -> None:
    """Six of 100 fell, p = 0.031: one of four tested metrics needs less; --primary gives it the full level."""
    names = ("mrr", "recall_at_5", "citation_recall", "citation_precision")
    runs = [made(key, {name: ones_but(fell, 100) for name in names}) for key, fell in (("a", 0), ("b", 6))]
    pair = pair_of(compared(*runs, named=names), "recall_at_5")
    assert pair.verdict == "not established"
    assert pair.reason is not None
    assert "--primary" in pair.reason
    assert pair_of(compared(*runs, named=names, primary="recall_at_5"), "recall_at_5").verdict == "worse"


def test_what_feeds_no_objective_has_no_verdict(made: Made) -> None:
    """The more is tested, the less is found: the rest is shown with its figures alone."""
    columns = [{"mrr": ones_but(0, 60), "recall_at_1": ones_but(fell, 60)} for fell in (0, 30)]
    found = compared(made("a", columns[0]), made("b", columns[1]))
    assert pair_of(found, "recall_at_1").verdict == "no verdict"
    assert (
        pair_of(compared(made("c", columns[0]), made("d", columns[1]), named=["recall_at_1"]), "recall_at_1").verdict
        == "worse"
    )


def test_less_is_better_of_what_is_so(made: Made) -> None:
    """A rate of wrong answers that falls is better."""
    values = [[1.0] * 20 + [0.0] * 80, [0.0] * 100]
    name = "abstention_false_positive_rate"
    pair = pair_of(
        compared(*(made(key, {name: each}) for key, each in zip("ab", values, strict=True)), primary=name), name
    )
    assert (pair.verdict, pair.gain) == ("better", pytest.approx(0.2))


def test_questions_without_a_value_in_one_run_are_left_out_of_the_pair(made: Made) -> None:
    """Each pair is over the questions that have a value in both."""
    before = made("a", {"mrr": [1.0, 0.5, None, 0.0]})
    after = made("b", {"mrr": [1.0, None, 1.0, 1.0]})
    pair = pair_of(compared(before, after), "mrr")
    assert (pair.n, pair.first, pair.last, pair.risen) == (2, 0.5, 1.0, ["q3"])


def test_lost_answers_are_a_metric_of_their_own(made: Made) -> None:
    """Twelve more questions without an answer are worse, though all that was answered is as before."""
    before, after = made("a", {"mrr": [1.0] * 60}), made("b", {"mrr": [1.0] * 60}, failed=range(12))
    pair = pair_of(compared(before, after), ANSWER_RATE)
    assert (pair.first, pair.last, pair.verdict) == (1.0, pytest.approx(0.8), "worse")
    assert pair.is_regression


def test_questions_that_moved_are_named_the_greatest_change_first(made: Made) -> None:
    """By the quality metrics of the score, over those that the question has."""
    before = made("a", {"mrr": [1.0, 1.0, 0.5], "recall_at_5": [1.0, 1.0, 0.0]})
    after = made("b", {"mrr": [0.0, 1.0, 1.0], "recall_at_5": [1.0, 0.5, 1.0]})
    found = compared(before, after)
    assert [change.question_id for change in found.lost] == ["q0", "q1"]
    assert [(change.question_id, change.change) for change in found.gained] == [("q2", pytest.approx(0.75))]


def test_questions_of_a_group_count_as_one_where_the_configuration_says_so(made: Made, tmp_path: Path) -> None:
    """Twenty fallen questions of one team are one observation; without groups they are twenty."""
    teams = ["a"] * 20 + [f"t{number}" for number in range(20)]
    values = [[1.0] * 40, [0.0] * 20 + [1.0] * 20]
    config = EvalConfig(judge=False, runs_dir=tmp_path, scoring={"cluster": "team"})
    alone = [made(key, {"mrr": each}) for key, each in zip("ab", values, strict=True)]
    grouped = [made(key, {"mrr": each}, groups=teams, config=config) for key, each in zip("cd", values, strict=True)]
    assert pair_of(compared(*alone, primary="mrr"), "mrr").verdict == "worse"
    assert pair_of(compared(*grouped, primary="mrr"), "mrr").verdict == "not established"


def test_the_interval_of_the_score_holds_its_difference_and_agrees_with_its_verdict(made: Made) -> None:
    """By the jackknife over questions; whatever falls, the end next to 0 says the same as the verdict."""
    draw, names = np.random.default_rng(1), ("mrr", "citation_recall", "unanswerable_accuracy")
    for number in range(12):
        runs = []
        for key in "ab":
            values = (draw.random((3, 60)) < draw.uniform(0.3, 0.9)).astype(float).tolist()
            runs.append(made(f"{key}{number}", dict(zip(names, values, strict=True))))
        score = compared(*runs).score
        assert score is not None
        assert score.interval is not None
        low, high = score.interval
        assert low <= score.difference <= high
        assert (score.verdict in ("better", "worse")) == (not low <= 0 <= high)
