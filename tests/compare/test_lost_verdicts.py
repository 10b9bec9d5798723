"""Runs of which verdicts are lost: pairs that are there stand for those that needed the same verdicts."""

from collections.abc import Callable, Container
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from evals.compare import SavedRun, compare_runs, paired_change
from evals.compare.gates import hold_against
from evals.compare.pairing import pair_up
from evals.compare.statistics import PairedMetric
from evals.compare.values import align_all
from evals.metrics.registry import parse_metric
from evals.schemas import EvalRecord, EvalRun, MetricResult
from evals.scoring.config import ScoringConfig
from evals.scoring.run_columns import ScoreTable
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings
from evals.scoring.weighted import make_weighted_score, with_interval

NAME = "answer_correctness"
REFUSED = [f"q{n}" for n in range(40)]
JUDGED = [f"q{n}" for n in range(40, 100)]
FIRST = {**dict.fromkeys(REFUSED, 0.0), **{key: 1.0 if n % 3 else 0.5 for n, key in enumerate(JUDGED)}}
LAST = {**dict.fromkeys(REFUSED, 0.0), **{key: 1.0 if n % 4 else 0.0 for n, key in enumerate(JUDGED)}}
Build = Callable[..., SavedRun]


@pytest.fixture
def judged_run(build_run: Callable[..., Any]) -> Build:
    """A run whose answers that do not decline hang on a verdict, of which some are lost."""

    def build(run_id: str, values: dict[str, float], lost: Container[str] = (), **also: dict[str, float]) -> SavedRun:
        columns = {NAME: values, **also}
        made = {key: {name: column[key] for name, column in columns.items()} for key in values}
        run, records = build_run(run_id, made)
        return with_losses(run, records, lost)

    return build


def with_losses(run: EvalRun, records: list[EvalRecord], lost: Container[str]) -> SavedRun:
    marked = [
        record.model_copy(update={"scores": [_marked(score, record.question.id, lost) for score in record.scores]})
        for record in records
    ]
    metrics = [parse_metric(summary.name) for summary in run.scorecard.metrics]
    card = make_scorecard(metrics, marked, ScoreSettings())
    table = ScoreTable("document", metrics).add_all(marked)
    score = with_interval(make_weighted_score(card, ScoringConfig()), metrics, table, ScoreSettings(), ScoringConfig())
    return SavedRun(run.model_copy(update={"scorecard": card, "weighted_score": score}), marked)


def _marked(score: MetricResult, key: str, lost: Container[str]) -> MetricResult:
    metric = parse_metric(score.name)
    if score.name != NAME or key in REFUSED:
        return score
    return metric.judged(metric.undefined("judge refused", missing="judge") if key in lost else score, [NAME])


def change(first: SavedRun, last: SavedRun) -> PairedMetric:
    found = paired_change(first, last, NAME)
    assert found is not None
    return found


def test_a_difference_is_of_the_strata_as_they_are(judged_run: Build) -> None:
    """Twenty of sixty verdicts lost in either run; the difference of all is kept, a plain mean would have halved it."""
    one = judged_run("a", FIRST, JUDGED[:24])
    other = judged_run("b", LAST, JUDGED[36:])
    found = change(one, other)
    both = JUDGED[24:36]
    step = fmean(LAST[key] - FIRST[key] for key in both)
    assert found.difference == pytest.approx(0.6 * step)
    assert found.test == "t"
    interval = found.interval(0.05)
    assert interval is not None
    assert interval[0] < found.difference < interval[1]
    whole = change(judged_run("a", FIRST), judged_run("b", LAST)).interval(0.05)
    assert whole is not None
    assert interval[1] - interval[0] > whole[1] - whole[0]


def test_the_table_shows_what_the_runs_show(judged_run: Build) -> None:
    """With all verdicts lost in the same places, rows and pairs have the runs' own values."""
    one, other = judged_run("a", FIRST, JUDGED[::2]), judged_run("b", LAST, JUDGED[::2])
    found = compare_runs([one, other], pareto=True)
    row = next(row for row in found.metrics if row.name == NAME)
    pair = next(pair for pair in found.against[0].pairs if pair.name == NAME)
    own = [saved.run.scorecard.get(NAME).value for saved in (one, other)]
    assert row.values == pytest.approx(own)
    assert [pair.first, pair.last] == pytest.approx(own)
    assert pair.n == 70
    assert pair.interval is not None
    assert pair.interval[0] <= pair.difference <= pair.interval[1]


def test_where_no_pair_has_its_verdicts_nothing_is_compared(judged_run: Build) -> None:
    """Refusals of both runs alone say nothing of their answers."""
    one, other = judged_run("a", FIRST, JUDGED[:30]), judged_run("b", LAST, JUDGED[30:])
    assert paired_change(one, other, NAME) is None
    row = next(row for row in compare_runs([one, other]).metrics if row.name == NAME)
    assert (row.n, row.reason) == (0, "no question for which all runs have a value")


def test_a_gate_against_a_baseline_sees_the_same_difference(judged_run: Build) -> None:
    """Of the metric, and of the weighted score, which mind what pairs stand for."""
    also = {"citation_recall": {key: (n % 5) / 4 for n, key in enumerate(FIRST)}}
    one = judged_run("a", FIRST, JUDGED[:20], **also)
    other = judged_run("b", LAST, JUDGED[:20], **also)
    pairing = pair_up([one, other])
    metric, score = hold_against(pairing, align_all(pairing), [NAME, "score"], 0.5)
    assert metric.value == pytest.approx(change(one, other).difference)
    assert score.value == pytest.approx(0.6 * change(one, other).difference)
    assert score.ci is not None
    assert score.ci[0] < (score.value or 0.0) < score.ci[1]


def test_the_weighted_score_of_a_run_is_made_of_the_same_values(judged_run: Build) -> None:
    """And its interval is wider than that of a run with all verdicts."""
    also = {"citation_recall": {key: (n % 5) / 4 for n, key in enumerate(FIRST)}}
    whole, lost = judged_run("a", LAST, **also).run, judged_run("a", LAST, JUDGED[:44], **also).run
    correct = lost.scorecard.get(NAME).value
    assert correct == pytest.approx(0.45)
    assert lost.weighted_score.score == pytest.approx(whole.weighted_score.score, abs=1e-12)
    spreads = [high - low for low, high in (whole.weighted_score.ci or (0, 0), lost.weighted_score.ci or (0, 0))]
    assert 0 < spreads[0] < spreads[1]


def test_dominance_is_of_the_same_differences(judged_run: Build) -> None:
    """An objective fed by one metric moves by what the pairs say."""
    one, other = judged_run("a", FIRST, JUDGED[:20]), judged_run("b", LAST, JUDGED[:20])
    report = compare_runs([one, other], pareto=True).pareto
    assert report is not None
    gains = {test.objective: test.gain for test in report.tests}
    assert gains["accuracy"] == pytest.approx(change(one, other).difference)


@pytest.mark.slow
def test_equal_runs_seldom_seem_to_differ(judged_run: Build) -> None:
    """With 40 % of the verdicts lost at random in either, in about one comparison of twenty at most."""
    rng, seen = np.random.default_rng(3), 0
    for _ in range(60):
        sides = []
        for name in "ab":
            values = {key: float(rng.random() < 0.8) * (key in JUDGED) for key in FIRST}
            lost = {key for key in JUDGED if rng.random() < 0.4}
            sides.append(judged_run(name, values, lost))
        p = change(*sides).p
        seen += p is not None and p < 0.05
    assert seen <= 7
