"""What a calibration says of the judge that it is of, and how sure its figures are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.judges.rubrics import RubricConfig, rubric_metric
from evals.run.calibrating import cohen_kappa, scale_of
from evals.scoring.stats import wilson
from evals.store.runs import saved_calibrations


@pytest.fixture
def calibrated(evals_cli: Callable[..., Any], judge_api: Any, tmp_path: Path) -> Callable[..., Any]:
    """Calibrate on answers with these labels, which the imitation of the judge calls correct; keywords are columns."""

    def calibrate(labels: dict[str, dict[str, Any]], *flags: object) -> Any:
        asked = {"expected_answer": "At noon.", "answer": "It sails at noon."}
        rows = [{"question": f"When does {name} sail?", **asked, **columns} for name, columns in labels.items()]
        file = tmp_path / "labels.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        done = evals_cli("calibrate", file, *flags, "--runs-dir", tmp_path / "runs", "--json")
        assert done.code == 0, done.err
        return done.json

    return calibrate


@pytest.mark.parametrize("effort", ["low", None])
def test_a_calibration_is_of_the_effort_that_judged(
    calibrated: Callable[..., Any], tmp_path: Path, effort: str | None
) -> None:
    """Else it would be shown with runs of another effort, which may be another judge."""
    settings = tmp_path / "c.yml"
    settings.write_text(json.dumps({"judge": {"effort": effort}}), encoding="utf-8")
    calibrated({"it": {"label": "correct"}}, "--config", settings)
    assert [calibration.effort for calibration in saved_calibrations(tmp_path / "runs")] == [effort]


JUSTIFIED = {"quote": "", "justification": "Half of it.", "verdict": "partly_correct", "injection_suspected": False}


@pytest.mark.parametrize(
    ("flags", "sensitivity", "specificity"),
    [
        ((), (1 / 2, 2), (1 / 2, 2)),
        (("--score-cut", "0.5"), (2 / 2, 2), (0 / 2, 2)),
        (("--label-cut", "0.5"), (1 / 3, 3), (0 / 1, 1)),
        (("--score-cut", "0.5", "--label-cut", "0.5"), (3 / 3, 3), (0 / 1, 1)),
    ],
)
def test_what_counts_as_good_can_be_set(
    calibrated: Callable[..., Any],
    messages_api: Any,
    flags: tuple[str, ...],
    sensitivity: tuple[float, int],
    specificity: tuple[float, int],
) -> None:
    """Of labels and of scores each; half a worth is good from 0.5 on. A reason stands in for a missing quotation."""
    halves = [{"match": f"ferry {name} sail", "then": {"json": JUSTIFIED}} for name in ("B", "C")]
    messages_api.script(*halves, {"then": {"python": "judge"}})
    told = {"A": "correct", "B": "correct", "C": "partly_correct", "D": "incorrect"}
    found = calibrated({f"ferry {name}": {"label": label} for name, label in told.items()}, *flags)
    rates = [(found["judge"][name]["value"], found["judge"][name]["n"]) for name in ("sensitivity", "specificity")]
    assert rates == [sensitivity, specificity]
    assert found["disagreements"][0]["quote"] == "Half of it."


@pytest.mark.parametrize(
    ("rows", "counted", "unlabelled"),
    [
        ([{"metric": "answer_correctness"}, {"metric": "answer_relevancy"}, {}], 2, 0),
        ([{}, *({"label": label} for label in ("cannot tell", "?", "Unsure", "skip", "N/A", ""))], 1, 6),
    ],
)
def test_what_is_about_another_metric_or_open_is_no_label(
    calibrated: Callable[..., Any], rows: list[dict[str, Any]], counted: int, unlabelled: int
) -> None:
    """What names no metric is about the one that is given; what people did not decide is counted, and not judged."""
    found = calibrated(
        {str(n): {"label": "yes", **row} for n, row in enumerate(rows)}, "--metric", "answer_correctness"
    )
    assert (found["judge"]["agreement"]["n"], found["unlabelled"]) == (counted, unlabelled)


def test_the_interval_of_kappa_is_wider_than_that_of_agreement() -> None:
    """By 1 / (1 - p_e): of 45, 15, 25 and 15 answers p_o is 0.6 and p_e 0.54."""
    counts = {"yy": 45, "yn": 15, "ny": 25, "nn": 15}
    pairs = [(pair[0], pair[1]) for pair, count in counts.items() for _ in range(count)]
    kappa, narrower = (cohen_kappa(pairs, confidence) for confidence in (0.95, 0.8))
    assert kappa.value == pytest.approx(0.1304, abs=1e-4)
    assert kappa.ci == pytest.approx([(share - 0.54) / 0.46 for share in wilson(60, 100, 0.95)])
    assert narrower.ci == pytest.approx([(share - 0.54) / 0.46 for share in wilson(60, 100, 0.8)])


def test_kappa_of_a_few_labels_that_all_agree_is_not_sure() -> None:
    """Four of four say little, as they do of agreement."""
    kappa = cohen_kappa([("yes", "yes")] * 2 + [("no", "no")] * 2, 0.95)
    assert kappa.value == 1
    assert kappa.ci == pytest.approx((2 * wilson(4, 4, 0.95)[0] - 1, 1.0))


def test_numbers_that_a_metric_uses_as_labels_are_its_labels() -> None:
    """Whichever of them people gave; with a scale of their own they are numbers."""
    tone = rubric_metric("tone", RubricConfig(ask="Is it polite?", labels={"0": 0, "1": 0.5, "2": 1}))
    assert [scale_of([0.0, 1.0], tone, None).worth(label) for label in (0.0, 1.0)] == [0.0, 0.5]
    assert [scale_of([0.0, 2.0], tone, None).worth(label) for label in (0.0, 2.0)] == [0.0, 1.0]
    written = rubric_metric("tone", RubricConfig(ask="Is it polite?", labels={"1.0": 0, "2.0": 0.5, "3.0": 1}))
    assert scale_of([2.0], written, None).worth(2.0) == 0.5
    assert [scale_of([0.0, 2.0], tone, "0,4").worth(label) for label in (0.0, 2.0)] == [0.0, 0.5]


@pytest.mark.parametrize("labels", [{"fine": 0, "bad": -1}, {"fine": 0.8, "bad": 0.2}, {"fine": 1, "bad": 0}])
def test_the_best_label_is_good_whatever_its_value(labels: dict[str, float]) -> None:
    """And the worst one is worth nothing: a judge that says the same agrees with it."""
    scale = scale_of(["fine", "bad"], rubric_metric("tone", RubricConfig(ask="Is it polite?", labels=labels)), None)
    assert [scale.worth("fine"), scale.worth("bad")] == [1.0, 0.0]
    assert scale.worth("fine") >= scale.cut > scale.worth("bad")
