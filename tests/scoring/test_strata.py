"""Values of a whole from a stratified sample of it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from evals.metrics import Faithfulness, LatencyP95
from evals.schemas import EvalQuestion, MetricGroup, MetricResult
from evals.scoring.results import Results
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings
from evals.scoring.strata import Strata

SHARES = (0.9, 0.07, 0.03)


def whole_of(kind: str, random: np.random.Generator, count: int = 4000) -> tuple["np.ndarray", "np.ndarray"]:  # type: ignore[type-arg]
    """The strata of a log, and a value of each of its rows: thumbs up, none and down differ."""
    strata = random.choice(3, count, p=SHARES)
    if kind == "rate":
        return strata, (random.random(count) < np.array([0.85, 0.5, 0.2])[strata]).astype(float)
    if kind == "graded":
        return strata, random.beta(np.array([4, 2, 1])[strata], np.array([1, 2, 3])[strata])
    return strata, random.lognormal(np.array([6, 7, 8])[strata], 0.6)


def drawn(strata: "np.ndarray", random: np.random.Generator, count: int) -> tuple["np.ndarray", Strata]:  # type: ignore[type-arg]
    """The rows of a sample, of each stratum by the root of its size."""
    sizes = np.bincount(strata)
    share = np.sqrt(sizes) / np.sqrt(sizes).sum()
    counts = np.minimum(sizes, np.round(count * share).astype(int))
    rows = np.concatenate(
        [random.choice(np.flatnonzero(strata == one), size, replace=False) for one, size in enumerate(counts)]
    )
    return rows, Strata(strata[rows], (sizes / counts)[strata[rows]])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rate", "graded", "times"])
def test_the_interval_covers_the_value_of_the_whole_in_95_of_100_draws(kind: str) -> None:
    """93 to 97.5 % of 1,000 draws."""
    random = np.random.default_rng(5)
    strata, values = whole_of(kind, random)
    covered = 0
    for _ in range(1000):
        rows, sample = drawn(strata, random, 200)
        high = None if kind == "times" else 1.0
        interval = sample.mean_interval(values[rows], np.arange(len(rows)), 0.0, high, 0.95).interval
        assert interval is not None
        covered += interval[0] <= values.mean() <= interval[1]
    assert 930 <= covered <= 975


def test_a_mean_weighs_each_stratum_by_its_size() -> None:
    """Two of 100 drawn of one, two of 10 of the other."""
    sample = Strata(np.array([0, 0, 1, 1]), np.array([50.0, 50.0, 5.0, 5.0]))
    assert sample.mean(np.array([1.0, 0.0, 1.0, 1.0]), np.arange(4)) == pytest.approx((50 + 10) / 110)
    assert sample.percentile(np.array([1.0, 2.0, 30.0, 40.0]), np.arange(4), 50) == 2.0
    assert sample.percentile(np.array([1.0, 2.0, 30.0, 40.0]), np.arange(4), 95) == 30.0


def test_a_stratum_that_was_drawn_whole_adds_no_uncertainty() -> None:
    """What is known of it is known."""
    sample = Strata(np.array([0] * 4), np.ones(4))
    assert sample.mean_interval(np.array([0.0, 1.0, 1.0, 1.0]), np.arange(4), 0.0, 1.0, 0.95).interval == (0.75, 0.75)


def test_a_rate_of_zero_has_an_interval() -> None:
    """None of 50 drawn is not none of all."""
    sample = Strata(np.zeros(50, dtype=np.int64), np.full(50, 20.0))
    interval = sample.mean_interval(np.zeros(50), np.arange(50), 0.0, 1.0, 0.95).interval
    assert interval is not None
    assert interval[0] == 0.0
    assert 0.03 < interval[1] < 0.12


def test_one_value_has_no_interval() -> None:
    """Nothing says how far another one would lie."""
    sample = Strata(np.zeros(1, dtype=np.int64), np.full(1, 20.0))
    assert sample.mean_interval(np.ones(1), np.arange(1), 0.0, 1.0, 0.95).interval is None


def test_the_jackknife_agrees_with_the_linearised_error() -> None:
    """Of a mean, whose values without each question are known exactly."""
    random = np.random.default_rng(1)
    strata, values = whole_of("graded", random)
    rows, sample = drawn(strata, random, 200)
    places = np.arange(len(rows))
    without = sample.means_without_each(values[rows], places)
    jackknife = sample.jackknife_interval(sample.mean(values[rows], places), without, 0.95).interval
    linear = sample.mean_interval(values[rows], places, 0.0, 1.0, 0.95).interval
    assert jackknife is not None
    assert linear is not None
    assert jackknife == pytest.approx(linear, abs=2e-3)


def test_strata_of_one_question_are_one_together() -> None:
    """Each by itself says nothing of how far its questions lie apart."""
    values = (np.arange(40) % 2).astype(float)
    alone = Strata(np.arange(40), np.full(40, 25.0)).mean_interval(values, np.arange(40), 0.0, 1.0, 0.95).interval
    as_one = Strata(np.zeros(40, dtype=np.int64), np.full(40, 25.0)).mean_interval(
        values, np.arange(40), 0.0, 1.0, 0.95
    )
    assert alone == as_one.interval


def test_of_the_server_a_log_is_a_sample_itself() -> None:
    """Nearly all of a log says nearly all of it, and no more of the server than it did."""
    values, rows = (np.arange(100) % 3 == 0).astype(float), np.arange(100)
    of_log = Strata(np.zeros(100, dtype=np.int64), np.full(100, 1.01))
    narrow = of_log.mean_interval(values, rows, 0.0, 1.0, 0.95).interval
    wide = replace(of_log, of_server=True).mean_interval(values, rows, 0.0, 1.0, 0.95).interval
    assert narrow is not None
    assert wide is not None
    assert narrow[1] - narrow[0] < 0.05
    assert wide[1] - wide[0] > 0.15


@pytest.mark.parametrize("q", [1, 50, 95])
def test_a_percentile_beyond_a_small_sample_has_no_interval(q: int) -> None:
    """The greatest of twenty is not the greatest of all."""
    sample = Strata(np.zeros(20, dtype=np.int64), np.full(20, 50.0))
    interval = sample.percentile_interval(np.arange(20.0), np.arange(20), q, 0.95)
    assert (interval.interval is not None) == (q == 50)


@pytest.fixture
def results() -> Callable[..., Results]:
    """The results of questions of which `(stratum, weight, value)` is known; None is lost with the judge."""

    def make(*drawn_questions: tuple[str, float, float | None]) -> Results:
        made = Results()
        for n, (stratum, weight, value) in enumerate(drawn_questions):
            question = EvalQuestion(
                id=f"q{n}", question="Why?", metadata={"_sampling": {"stratum": stratum, "weight": weight}}
            )
            missing = {} if value is not None else {"reason": "judge: lost", "missing": "judge"}
            result = MetricResult(name="faithfulness", group=MetricGroup.GENERATION, value=value, **missing)
            made.add(question, [result], 1)
        return made

    return make


def test_the_scorecard_of_a_sample_is_of_the_whole(results: Callable[..., Results]) -> None:
    """Value, bounds, and how many questions it stands for; groups of it are weighed alike."""
    made = results(("up", 30.0, 1.0), ("up", 30.0, 0.0), ("up", 30.0, 1.0), ("down", 2.0, 0.0), ("down", 2.0, None))
    (summary,) = make_scorecard([Faithfulness()], made, ScoreSettings()).metrics
    assert (summary.value, summary.sample_size, summary.whole) == (pytest.approx(60 / 92), 4, 92)
    assert summary.bounds == (pytest.approx(60 / 94), pytest.approx(62 / 94))
    assert summary.interval is not None
    assert summary.interval.method == "t over strata"
    (part,) = make_scorecard([Faithfulness()], made, ScoreSettings(), np.array([1, 2])).metrics
    assert (part.value, part.whole) == (0.5, 60)


def test_questions_that_are_the_whole_are_summarised_as_ever(results: Callable[..., Results]) -> None:
    """A weight of 1 is no sample."""
    made = results(("up", 1.0, 1.0), ("up", 1.0, 0.0))
    (summary,) = make_scorecard([Faithfulness()], made, ScoreSettings()).metrics
    assert summary.whole is None
    assert made.sample is None
    (empty,) = make_scorecard([LatencyP95()], results(("up", 3.0, 1.0)), ScoreSettings()).metrics
    assert empty.value is None
