"""A judge's calibration: figures from labels and scores, which calibration is whose, and means without bias."""

import importlib.util
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from evals.scoring.label_scale import Scale, declared_scale, scale_of

from evals.errors import ConfigError, DatasetError
from evals.metrics.registry import parse_metric
from evals.schemas.calibration import Agreement, Calibration, Figure, LabelledAnswer
from evals.scoring.calibration import (
    Judged,
    Labelled,
    agreement_of,
    figures_of,
    find_calibration,
    hashes_of,
    most_frequent,
)

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "calibration.py"
CORRECTNESS, FAITHFULNESS = parse_metric("answer_correctness"), parse_metric("faithfulness")


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calibration_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("world", ["good judge, 100 labels", "three scores, 5 answers a document"])
def test_intervals_hold_the_error_rates_of_a_scripted_judge(benchmark: ModuleType, world: str) -> None:
    """In at least 93 % of simulations, which of eighty at 95 % are no fewer than 70 but in one case of a hundred."""
    found = benchmark.coverage(benchmark.WORLDS[world], 80)
    assert {name for name, each in found.items() if each is not None and each[0] < 70 / 80} == set()
    assert found["prediction-powered"] is not None


def test_a_truth_that_is_not_there_is_missed(benchmark: ModuleType) -> None:
    """The benchmark can fail: a judge of other error rates is not taken for the one that it is said to be."""
    world = benchmark.WORLDS["good judge, 200 labels"]

    class Worse(benchmark.ScriptedJudge):  # type: ignore[name-defined, misc]
        truth = world.judge.truth

    found = benchmark.coverage(benchmark.World(Worse((0.3, 0.0, 0.7), (0.5, 0.0, 0.5)), world.share, 200, 300), 4)
    assert found["sensitivity"][0] < 0.5


def labelled(labels: list[float], scores: list[float], **fields: Any) -> Labelled:
    return Labelled(labels, scores, [str(n) for n in range(len(labels))], **fields)


def test_three_labels_are_agreed_on_as_they_are() -> None:
    """Partly correct is not correct, and not incorrect either; where only one has it, good or not is compared."""
    labels, scores = [1.0, 0.5, 0.0, 1.0], [1.0, 0.0, 0.0, 0.5]
    levels = frozenset({0.0, 0.5, 1.0})
    assert agreement_of(labelled(labels, scores, levels=levels)).agreement.value == 2 / 4
    assert agreement_of(labelled(labels, scores)).agreement.value == 3 / 4


@pytest.mark.parametrize(
    ("labels", "field", "reason"),
    [
        ([0.0, 0.0], "sensitivity", "people call no answer good"),
        ([1.0, 1.0], "specificity", "people call every answer good"),
        ([1.0, 1.0], "auroc", "people call every answer good"),
        ([0.0, 0.0], "auroc", "people call no answer good"),
        ([1.0, 1.0], "spearman", "one of the two does not vary"),
        ([], "agreement", "no answer has both a label and a score"),
    ],
)
def test_what_cannot_be_told_has_a_reason(labels: list[float], field: str, reason: str) -> None:
    """None, never 0 or 1."""
    found = getattr(agreement_of(labelled(labels, [1.0, 0.0][: len(labels)])), field)
    assert (found.value, found.ci, found.reason) == (None, None, reason)


def test_the_constant_guess_is_the_most_frequent_label() -> None:
    """It is right as often as that label is there, and has no kappa to show for it."""
    found = agreement_of(most_frequent(labelled([1.0] * 7 + [0.0] * 3, [0.0] * 10)))
    assert (found.agreement.value, found.sensitivity.value, found.specificity.value) == (0.7, 1.0, 0.0)
    assert (found.kappa.value, found.auroc.value) == (0.0, 0.5)


def test_answers_about_one_document_widen_the_intervals() -> None:
    """Ten copies of each of twenty answers say no more than the twenty."""
    labels, scores = [1.0, 1.0, 0.0, 1.0] * 5, [1.0, 0.0, 0.0, 1.0] * 5
    apart = agreement_of(labelled(labels * 10, scores * 10))
    clusters = [str(n % 20) for n in range(200)]
    together = agreement_of(Labelled(labels * 10, scores * 10, clusters))
    for field in ("agreement", "kappa", "ac1", "sensitivity", "auroc", "spearman"):
        one, other = getattr(apart, field), getattr(together, field)
        assert one.value == other.value
        assert other.ci[1] - other.ci[0] > 1.3 * (one.ci[1] - one.ci[0])


@pytest.mark.parametrize(
    ("labels", "words", "worths"),
    [
        (["correct", "partly_correct"], "correct, partly_correct, incorrect, declines", [1.0, 0.5]),
        (["yes", "no", "cannot_tell"], "yes and no", [1.0, 0.0, None]),
        ([1.0, 0.0, None], "0 and 1", [1.0, 0.0, None]),
        ([0.25, 1.0], "shares from 0 to 1", [0.25, 1.0]),
        ([-2.0, 1.0], "-2 to 2", [0.0, 0.75]),
    ],
)
def test_a_scale_is_known_by_its_labels(labels: list[Any], words: str, worths: list[float | None]) -> None:
    """Each label has a worth from 0 to 1; where nobody can tell, none."""
    scale = scale_of([label for label in labels if label is not None], CORRECTNESS)
    assert scale.words == words
    assert [scale.worth(label, "row 1") for label in labels] == worths


def test_words_of_one_metric_are_no_labels_of_another() -> None:
    """Nor is a number among words."""
    with pytest.raises(DatasetError, match="row 3: label 'partly_correct' is not one of yes and no"):
        scale_of(["yes", "partly_correct"], FAITHFULNESS).worth("partly_correct", "row 3")
    with pytest.raises(DatasetError, match="label 'yes' is not one of 0 and 1"):
        scale_of([1.0, "yes"], FAITHFULNESS).worth("yes", "row 3")
    with pytest.raises(ConfigError, match="it is not stated which of them is good"):
        scale_of([1.0, 4.0], FAITHFULNESS)


@pytest.mark.parametrize("text", ["", "1", "1,1", "a,b", "1,2,3"])
def test_a_scale_has_two_different_ends(text: str) -> None:
    with pytest.raises(ConfigError, match="not a scale"):
        declared_scale(text)


def test_grades_are_averaged_and_other_labels_are_voted_on() -> None:
    """Two who say yes outvote one who says no; of one each, the worse label counts."""
    assert Scale("yes and no").together([1.0, 0.0, 1.0]) == 1.0
    assert Scale("yes and no").together([1.0, 0.0]) == 0.0
    assert Scale("-2 to 2", graded=True).together([1.0, 0.5]) == 0.75


def calibration(**fields: Any) -> Calibration:
    base: dict[str, Any] = {
        "metric": "answer_correctness",
        "model": "m",
        "prompt_hashes": hashes_of(CORRECTNESS),
        "origin": "http://judge",
        "created_at": datetime(2026, 11, 20, tzinfo=UTC),
        "labels_from": ["l.csv"],
        "run": "r",
        "scale": "0 and 1",
        "label_cut": 1.0,
        "score_cut": 1.0,
        "judge": Agreement(),
        "always_the_same": Agreement(),
        "length": Agreement(),
        "label_mean": Figure(),
        "score_mean": Figure(),
        "answers": [],
    }
    return Calibration.model_validate(base | fields)


def test_the_newest_calibration_of_the_same_judge_counts() -> None:
    """Of the same metric, model, effort and prompts; what a run asked beside does no harm."""
    old, new = calibration(), calibration(created_at=datetime(2026, 11, 20, tzinfo=UTC) + timedelta(days=1))
    others = [
        calibration(model="other"),
        calibration(effort="low"),
        calibration(metric="faithfulness"),
        calibration(prompt_hashes={"answer_correctness": "other"}),
    ]
    hashes = {**hashes_of(CORRECTNESS), "faithfulness": "whatever"}

    def found(known: list[Calibration]) -> Calibration | None:
        return find_calibration("answer_correctness", "m", None, hashes, known)

    assert found([new, old, *others]) is new
    assert found(others) is None
    assert found([calibration(prompt_hashes={"abstention": "x"})]) is None


def test_preferences_of_more_than_two_systems_are_all_pairs() -> None:
    """Three answers to one question are three pairs; people need not prefer one of each."""
    answers = [
        LabelledAnswer(id="q", answer=name, cluster="c", label=label, score=score, system=name)
        for name, label, score in (("a", 1.0, 1.0), ("b", 0.0, 0.5), ("c", 0.0, 0.0))
    ]
    judged = [Judged(answer, {"": answer.label}) for answer in answers]
    found = figures_of(judged, Scale("0 and 1"), score_cut=1.0, confidence=0.95)["preference"]
    assert (found.pairs, found.tied, found.agreement.value, found.agreement.n) == (3, 0, 1.0, 2)
    even = [Judged(each.answer.model_copy(update={"label": 1.0})) for each in judged]
    nobody = figures_of(even, Scale("0 and 1"), score_cut=1.0, confidence=0.95)["preference"]
    assert nobody.agreement.reason == "people prefer no answer"
