"""Whether two runs were judged, and compared texts, by the same models."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.compare.conditions import find_warnings
from evals.compare.pairing import SavedRun, pair_up
from evals.schemas.verdicts import JudgeRecord

Build = Callable[..., Any]


def warned(build_run: Build, one: dict[str, Any], other: dict[str, Any]) -> str:
    runs = [SavedRun(*build_run(name, {"q1": {"mrr": 1.0}}, **parts)) for name, parts in (("a", one), ("b", other))]
    return " ".join(find_warnings(pair_up(runs)))


def judged(model: str = "m", **hashes: str) -> dict[str, Any]:
    return {"judge": JudgeRecord(model=model, origin="http://judge", prompt_hashes=hashes)}


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (judged(faithfulness="1"), judged(faithfulness="1"), False),
        (judged(faithfulness="1"), judged(faithfulness="1", gptscore="2"), False),
        (judged(faithfulness="1"), judged(faithfulness="2"), True),
        (judged("m"), judged("n"), True),
        (judged(), {}, False),
    ],
)
def test_only_what_both_judges_were_asked_can_differ(
    build_run: Build, one: dict[str, Any], other: dict[str, Any], differ: bool
) -> None:
    """Another suite asks other prompts, which makes nothing incomparable."""
    assert ("the runs were judged by different" in warned(build_run, one, other)) is differ


def test_runs_judged_with_different_effort_are_warned_of(build_run: Build) -> None:
    """A model that thinks longer may decide otherwise; both efforts are named."""
    low, own = ({"judge": JudgeRecord(model="m", origin="o", effort=effort)} for effort in ("low", None))
    assert "judged with different effort (low, the model's own)" in warned(build_run, low, own)
    assert "effort" not in warned(build_run, low, low)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ({"embedder": "a"}, {"embedder": "a", "scorer": "s"}, False),
        ({"embedder": "a"}, {"embedder": "b"}, True),
        (None, {"scorer": "b"}, False),
        (None, {"embedder": "b"}, True),
    ],
)
def test_texts_compared_by_different_models_are_warned_of(
    build_run: Build, one: dict[str, str] | None, other: dict[str, str], differ: bool
) -> None:
    """Values of two embedders do not compare."""
    said = warned(build_run, {"semantics": one}, {"semantics": other})
    assert ("no verdict on semantic metrics" in said) is differ
