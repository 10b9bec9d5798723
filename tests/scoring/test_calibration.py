"""Figures of agreement between judge and people, and which calibration is of the judge of a run."""

from datetime import UTC, datetime
from typing import Any

import pytest

from evals.errors import ConfigError, DatasetError
from evals.metrics.registry import parse_metric
from evals.run.calibrating import agreement_of, cohen_kappa, scale_of
from evals.schemas.verdicts import Agreement, Calibration
from evals.scoring.calibration import find_calibration

CORRECTNESS = parse_metric("answer_correctness")


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
    assert cohen_kappa([(pair[0], pair[1]) for pair in pairs.split()], 0.95).value == pytest.approx(kappa, abs=0.001)


@pytest.mark.parametrize(
    ("labels", "declared", "words", "worths"),
    [
        (["correct", "partly_correct", "incorrect"], None, "correct, partly_correct", [1.0, 0.5, 0.0]),
        (["yes", "no"], None, "yes and no", [1.0, 0.0]),
        (["yes", 0.0], None, "yes and no", [1.0, 0.0]),
        ([1.0, 0.25, 0.0], None, "yes and no, or numbers from 0 (worst) to 1", [1.0, 0.25, 0.0]),
        ([1.0, 3.0, 5.0], "1,5", "yes and no, or numbers from 1 (worst) to 5", [0.0, 0.5, 1.0]),
        ([1.0, 5.0], "5,1", "yes and no, or numbers from 5 (worst) to 1", [1.0, 0.0]),
        ([-2.0, 1.0], "-2,2", "yes and no, or numbers from -2 (worst) to 2", [0.0, 0.75]),
    ],
)
def test_labels_are_read_by_what_they_are(
    labels: list[Any], declared: str | None, words: str, worths: list[float]
) -> None:
    """Words of the metric, yes and no, numbers."""
    scale = scale_of(labels, CORRECTNESS, declared)
    assert str(scale).startswith(words)
    assert [scale.worth(label) for label in labels] == worths


@pytest.mark.parametrize(
    ("labels", "declared", "worth", "name"),
    [
        (["correct", "partly_correct"], None, 0.5, "partly_correct"),
        (["yes", "no"], None, 0.5, "not good"),
        (["yes", "no"], None, 1.0, "good"),
        ([1.0, 5.0], "1,5", 0.75, "good"),
        ([1.0, 5.0], "1,5", 0.5, "not good"),
    ],
)
def test_a_worth_is_named_by_the_metric_where_people_use_its_labels(
    labels: list[Any], declared: str | None, worth: float, name: str
) -> None:
    """Else it is good or not: by the best value, or by the middle of a declared scale."""
    scale = scale_of(labels, CORRECTNESS, declared)
    assert scale.named(worth, scale.cut) == name


@pytest.mark.parametrize(("label", "declared"), [(7.0, None), (-1.0, None), (7.0, "1,5"), ("maybe", "1,5")])
def test_a_label_outside_its_scale_is_refused(label: Any, declared: str | None) -> None:
    """A number of an unknown scale is nothing that could be compared."""
    with pytest.raises(DatasetError, match="is not one of yes and no, or numbers from"):
        scale_of([label], CORRECTNESS, declared).worth(label)


@pytest.mark.parametrize("declared", ["7", "x,y", "3,3"])
def test_what_is_no_scale_is_refused(declared: str) -> None:
    """With an example of one."""
    with pytest.raises(ConfigError) as raised:
        scale_of([1.0], CORRECTNESS, declared)
    assert "--scale 1,5" in (raised.value.hint or "")


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
