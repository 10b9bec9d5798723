"""What holds of all metrics: where they stand, and what real inputs of other scripts and servers give."""

import json
import os
from pathlib import Path

import pytest

import evals.metrics
from evals.metrics import parse_metric
from evals.metrics.registry import METRICS
from evals.schemas import EvalQuestion, EvalResponse


def test_the_package_lists_every_metric() -> None:
    """By the names of their classes, each of which can be imported from it."""
    assert {cls.__name__ for cls in METRICS} <= set(evals.metrics.__all__)
    assert all(getattr(evals.metrics, name) for name in evals.metrics.__all__)


@pytest.mark.parametrize("cls", METRICS)
def test_every_docstring_has_formula_range_and_source(cls: type) -> None:
    """As `evals metrics NAME` prints it."""
    assert all(word in (cls.__doc__ or "") for word in ("Formula:", "Range", "Reference:"))


@pytest.mark.parametrize(
    ("name", "expected", "answer", "value"),
    [
        ("squad_em", "北京", "北京。", 1),
        ("squad_f1", "中国北部", "北京位于中国北部。", 2 / 3),
        ("squad_em", "مُحَمَّد", "محمد", 1),
        ("keyword_coverage", "東京", "「東京」です", 1),
        ("answer_completeness", "東京", "「東京」", 1),
        ("number_match", "96 hours", "<p>It lasts <b>96</b>&nbsp;hours.</p>", 1),
        ("fuzzy_match", "96 hours", "<p>It lasts <b>96</b>&nbsp;hours.</p>", 1),
        ("squad_em", "AT&T", "AT&amp;T", 1),
        ("squad_em", "96 hours", "<think>maybe 48 hours</think>96 hours", 1),
        ("exact_match", "There are 5 offices.", "There are 5 offices. [Document 1]", 1),
        ("number_match", "1", "There are 5. [[1]](https://example.org/a)", 0),
    ],
)
def test_what_is_no_part_of_an_answer_makes_no_difference(name: str, expected: str, answer: str, value: float) -> None:
    """HTML, thoughts, marks of citations; and scripts without blanks."""
    question = EvalQuestion(id="q", question="?", expected_answer=expected)
    assert parse_metric(name).compute(question, EvalResponse(answer=answer)).value == pytest.approx(value)


@pytest.mark.real_rows
def test_the_cases_of_real_inputs_hold() -> None:
    """Each row is an answer with the values that a person gives."""
    folder = os.environ.get("EVALS_REAL_DATA")
    if not folder:
        pytest.skip("EVALS_REAL_DATA names no folder")
    for line in (Path(folder) / "cases/texts.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        values, answer = row.pop("values"), row.pop("answer")
        question = EvalQuestion(id="q", **row)
        found = {name: parse_metric(name).compute(question, EvalResponse(answer=answer)).value for name in values}
        assert found == pytest.approx(values, abs=1e-4), row
