"""The estimate of a run, narrowed by its own first replies."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.config import EvalConfig
from evals.run.estimate import Estimate
from evals.run.learnt.narrowing import FIRST_REPLIES, Narrowing, narrowed
from evals.run.observer import Observer
from evals.runner import run_evaluation

PRIOR = Estimate(
    calls=100,
    input_tokens=150_000,
    output_tokens=30_000,
    cost_usd=1.2,
    minutes=1,
    basis="assumed",
    cost_low_usd=0.6,
    cost_high_usd=1.8,
    thinking_tokens_high=110_000,
    unthought_usd=0.5,
)


class Ears(Observer):
    """Remembers the estimates that were told, and the notes."""

    def __init__(self) -> None:
        self.estimates: list[Estimate] = []
        self.notes: list[str] = []

    def estimate(self, estimate: Estimate) -> None:
        self.estimates.append(estimate)

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def judged(
    golden_server: str, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Ears, float]]:
    """Judge golden questions by a model that thinks so many tokens a call: what was told, and what was paid."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")

    def run(thinking: int, **judge: Any) -> tuple[Ears, float]:
        messages_api.script({"then": {"python": "judge", **({"thinking": "x" * 3 * thinking} if thinking else {})}})
        ears = Ears()
        config = EvalConfig(
            datasets=["golden"],
            samples_per_dataset=20,
            rag_server_url=golden_server,
            runs_dir=tmp_path,
            judge={"base_url": messages_api.url, "cache": False, **judge},
        )
        record = run_evaluation(config, ears).judge
        assert record is not None
        return ears, record.cost_usd or 0.0

    return run


def holds(estimate: Estimate, paid: float) -> bool:
    assert estimate.cost_low_usd is not None
    assert estimate.cost_high_usd is not None
    assert estimate.cost_high_usd <= 3.001 * estimate.cost_low_usd
    return estimate.cost_low_usd <= paid <= estimate.cost_high_usd


@pytest.mark.parametrize(("thinking", "foreseen"), [(0, False), (200, False), (1000, True)])
def test_the_first_replies_tell_what_a_run_will_cost(
    judged: Callable[..., tuple[Ears, float]], thinking: int, foreseen: bool
) -> None:
    """Whatever the model thinks; before, no range of three times its lower end holds all of that. Once is enough."""
    ears, paid = judged(thinking)
    before, after = ears.estimates
    assert holds(before, paid) is foreseen
    assert holds(after, paid)
    assert "by its first 10 replies" in str(after)
    again, _ = judged(thinking)
    assert [each.measured for each in again.estimates] == [True]


def test_the_narrowed_estimate_warns_of_the_budget(judged: Callable[..., tuple[Ears, float]]) -> None:
    """As the first one did, which could not know it."""
    ears, _ = judged(1000, max_cost_usd=0.4)
    assert [note for note in ears.notes if "the budget" in note] == [
        "the budget of $0.4 may not do: the run would end partial",
        "the budget of $0.4 will probably not do: the run would end partial",
    ]


def told(before: Estimate, replies: int) -> list[Estimate]:
    """What is told over so many replies of 300 tokens more than usual."""
    heard: list[Estimate] = []
    narrowing = Narrowing(before, lambda _model, usage: 1e-5 * usage.output_tokens, "a-model", heard.append)
    for _ in range(replies):
        narrowing.add(300)
    return heard


def test_it_is_narrowed_once_and_only_where_that_tells_something() -> None:
    """Not before enough replies, not where calls are saved, the run is short, or no price is known."""
    assert told(PRIOR, FIRST_REPLIES - 1) == []
    (only,) = told(PRIOR, 3 * FIRST_REPLIES)
    assert only.cost_usd == pytest.approx(0.5 + 100 * 300 * 1e-5)
    assert [each.replies for each in told(replace(PRIOR, calls=12), 12)] == [4]
    assert told(replace(PRIOR, calls=8), 8) == []
    assert told(replace(PRIOR, measured=True), 30) == []
    assert told(replace(PRIOR, unthought_usd=None), 30) == []


@given(
    thought=st.lists(st.integers(-500, 20_000), min_size=2, max_size=20),
    unthought=st.floats(0.001, 100),
    calls=st.integers(9, 10_000),
)
def test_the_upper_end_is_at_most_three_times_the_lower(thought: list[int], unthought: float, calls: int) -> None:
    """Whatever the replies took, also where they were shorter than usual ones."""
    found = narrowed(replace(PRIOR, calls=calls, unthought_usd=unthought), thought, 1e-5)
    assert found.cost_low_usd is not None
    assert found.cost_usd is not None
    assert found.cost_high_usd is not None
    assert 0 < found.cost_low_usd <= found.cost_usd <= found.cost_high_usd <= 3.001 * found.cost_low_usd
    assert 0 <= found.thinking_tokens_low <= found.thinking_tokens_high
