"""Figures of agreement between judge and people, and which calibration is of the judge of a run."""

from datetime import UTC, datetime
from typing import Any

import pytest

from evals.errors import ConfigError
from evals.metrics.registry import parse_metric
from evals.run.calibrating import agreement_of, cohen_kappa, scale_of
from evals.schemas.calibration import Agreement, Calibration
from evals.scoring.calibration import find_calibration, spearman

CORRECTNESS, FAITHFULNESS = parse_metric("answer_correctness"), parse_metric("faithfulness")


def test_figures_are_those_of_a_table_of_two_by_two() -> None:
    """Good answers that the judge calls good, and others that it does not."""
    good = [(True, True)] * 6 + [(True, False)] * 2 + [(False, True)] + [(False, False)] * 3
    judge = agreement_of([(str(people), str(judged)) for people, judged in good], good, 0.95)
    assert (judge.agreement.value, judge.sensitivity.value, judge.specificity.value) == (9 / 12, 6 / 8, 3 / 4)
    assert (judge.agreement.n, judge.sensitivity.n, judge.specificity.n) == (12, 8, 4)
    assert judge.kappa.value == pytest.approx((9 / 12 - 0.5277777) / (1 - 0.5277777), abs=1e-4)


@pytest.mark.parametrize(
    ("good", "name", "reason"),
    [
        (True, "specificity", "people call every answer good"),
        (False, "sensitivity", "people call no answer good"),
        (True, "kappa", "both give one label alone"),
    ],
)
def test_what_is_a_share_of_nothing_has_a_reason(good: bool, name: str, reason: str) -> None:
    """And no value."""
    figure = getattr(agreement_of([("good", "good")] * 3, [(good, True)] * 3, 0.95), name)
    assert (figure.value, figure.ci, figure.reason) == (None, None, reason)


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ("aa bb cc", 1.0),
        ("ab ba", -1.0),
        ("aa ab ba bb", 0.0),
        ("aa aa aa aa aa aa aa aa aa ab ba bb bb bb bb", 0.7),
    ],
)
def test_kappa_is_agreement_beyond_chance(pairs: str, kappa: float) -> None:
    """Cohen 1960: (p_o - p_e) / (1 - p_e)."""
    assert cohen_kappa([(pair[0], pair[1]) for pair in pairs.split()]).value == pytest.approx(kappa, abs=0.001)


@pytest.mark.parametrize(
    ("labels", "metric", "declared", "words", "worths"),
    [
        (["correct", "partly_correct", "incorrect"], CORRECTNESS, None, "correct, partly", [1.0, 0.5, 0.0]),
        (["yes", "no"], CORRECTNESS, None, "yes and no", [1.0, 0.0]),
        ([1.0, 0.0], CORRECTNESS, None, "0 and 1", [1.0, 0.0]),
        ([0.25, 1.0], CORRECTNESS, None, "shares", [0.25, 1.0]),
        ([-2.0, 1.0, 2.0], CORRECTNESS, None, "-2 to 2", [0.0, 0.75, 1.0]),
        ([1.0, 3.0, 5.0], CORRECTNESS, "1,5", "numbers from 1 (worst) to 5", [0.0, 0.5, 1.0]),
        ([1.0, 5.0], CORRECTNESS, "5,1", "numbers from 5 (worst) to 1", [1.0, 0.0]),
    ],
)
def test_labels_are_read_by_what_they_are(
    labels: list[Any], metric: Any, declared: str | None, words: str, worths: list[float]
) -> None:
    """Words of the metric, yes and no, numbers."""
    scale = scale_of(labels, metric, declared)
    assert scale.words.startswith(words)
    assert [scale.worths[label] for label in labels] == worths


@pytest.mark.parametrize(
    ("labels", "worth", "name"),
    [
        (["correct", "partly_correct"], 0.5, "partly_correct"),
        (["correct", "partly_correct"], 0.75, "0.75"),
        (["yes", "no"], 0.5, "not good"),
        ([-2.0, 2.0], 0.75, "good"),
    ],
)
def test_a_worth_is_named_by_the_metric_where_people_use_its_labels(labels: list[Any], worth: float, name: str) -> None:
    """Else it is good or not."""
    scale = scale_of(labels, CORRECTNESS, None)
    assert scale.named(worth, scale.cut) == name


@pytest.mark.parametrize(
    ("labels", "declared"), [([1.0, 7.0], None), ([1.0, 7.0], "7"), ([1.0], "x,y"), ([1.0], "3,3")]
)
def test_numbers_without_a_scale_are_refused(labels: list[Any], declared: str | None) -> None:
    """It is not known which of them is good."""
    with pytest.raises(ConfigError) as raised:
        scale_of(labels, CORRECTNESS, declared)
    assert "--scale 1,5" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("labels", "together"),
    [(["yes", "no"], 0.0), (["yes", "yes", "no"], 1.0), ([1.0, 1.0, 0.0], 1.0), ([2.0, 0.0], 0.75)],
)
def test_of_several_annotators_most_decide(labels: list[Any], together: float) -> None:
    """A tie is the worse label; grades are averaged."""
    assert scale_of(labels, FAITHFULNESS, None).together(labels) == together


def calibration(**fields: Any) -> Calibration:
    base = {
        "metric": "answer_correctness",
        "model": "m",
        "prompt_hashes": {"answer_correctness": "h"},
        "origin": "o",
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        "labels_from": ["l.csv"],
        "run": "r",
        "scale": "yes and no",
        "label_cut": 1.0,
        "score_cut": 1.0,
        "judge": Agreement(),
        "answers": [],
    }
    return Calibration(**{**base, **fields})


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({}, True),
        ({"prompt_hashes": {"answer_correctness": "h", "abstention": "another"}}, True),
        ({"prompt_hashes": {"answer_correctness": "another"}}, False),
        ({"prompt_hashes": {"abstention": "a"}}, False),
        ({"model": "another"}, False),
        ({"effort": "low"}, False),
        ({"metric": "faithfulness"}, False),
    ],
)
def test_a_card_is_of_the_very_judge(fields: dict[str, Any], fits: bool) -> None:
    """Model, effort, metric and prompts are the same; of several, the newest."""
    old = calibration(**fields)
    new = calibration(**fields, run="new", created_at=datetime(2026, 2, 1, tzinfo=UTC))
    hashes = {"answer_correctness": "h", "abstention": "a", "answer_relevancy": "r"}
    found = find_calibration("answer_correctness", "m", None, hashes, [new, old])
    assert found is (new if fits else None)


def test_a_card_of_a_former_version_is_read() -> None:
    """Keys that are not known any more are passed over."""
    data = calibration().model_dump(mode="json")
    data["judge"]["auroc"] = {"value": 0.9}
    assert Calibration.model_validate({**data, "always_the_same": {}, "label_mean": {"value": 0.5}}) == calibration()


@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        ([(1, 1), (2, 5), (3, 9)], 1.0),
        ([(1, 9), (2, 5), (3, 1)], -1.0),
        ([(1, 1), (1, 2), (0, 3), (0, 4)], -0.894),
        ([(1, 1), (1, 2)], None),
    ],
)
def test_whether_length_pays_is_a_correlation_of_ranks(pairs: list[Any], value: float | None) -> None:
    """Ties have their mean rank; where one side does not vary, there is none."""
    found = spearman(pairs)
    assert found.value == (None if value is None else pytest.approx(value, abs=0.001))
    assert found.n == len(pairs)
