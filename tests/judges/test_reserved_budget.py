"""What a budget holds back for calls in flight, and by how much it can be exceeded."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evals.judges.backends.base import BackendError, Call, JudgeReply
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from whole_runs import put_records

from evals.config import EvalConfig
from evals.judges.llm_judge import LLMJudge
from evals.judges.money import Budget, BudgetSpentError, Cost
from evals.run.saved import rescore
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas import EvalRun, JudgeVerdict
from evals.schemas.verdicts import JudgeUsage, VerdictRequest
from evals.store.runs import RunStore

RIGHT = {"justification": "same", "quote": "", "verdict": "correct", "injection_suspected": False}


def requests(count: int) -> list[VerdictRequest]:
    data = {"question": "How long?", "expected_answer": "96 hours", "accepted_variants": []}
    return [
        VerdictRequest(name="answer_correctness", prompt="answer_correctness", data={**data, "answer": f"It is {n}."})
        for n in range(count)
    ]


class Counting:
    """A backend whose calls all take the same; some of them do not say it."""

    model, origin = "judge-1", "http://judge"

    def __init__(self, *, silent: Callable[[int], bool] = lambda _n: False, torn: bool = False) -> None:
        self.calls = self.in_flight = self.most_in_flight = 0
        self.silent, self.torn = silent, torn

    async def complete(self, _call: Call) -> JudgeReply:
        self.calls += 1
        number = self.calls
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0.001)
        self.in_flight -= 1
        if self.torn:
            raise BackendError("torn", unanswered=True)
        usage = None if self.silent(number) else JudgeUsage(input_tokens=500, output_tokens=500)
        return JudgeReply(json.dumps(RIGHT), "end", "judge-1", usage)

    async def aclose(self) -> None:
        """Nothing to close."""


def thousandth(_model: str, usage: JudgeUsage) -> float:
    """A dollar for a thousand tokens."""
    return (usage.input_tokens + usage.output_tokens) / 1000


def decide(backend: Counting, count: int, limit: float, **options: Any) -> tuple[LLMJudge, list[JudgeVerdict]]:
    async def run() -> tuple[LLMJudge, list[JudgeVerdict]]:
        judge = LLMJudge(backend, max_cost_usd=limit, **{"price": thousandth, **options})
        found = await asyncio.gather(*map(judge.decide, requests(count)))
        return judge, [verdict for verdicts in found for verdict in verdicts]

    return asyncio.run(run())


def test_calls_in_flight_are_counted_before_they_are_paid() -> None:
    """However many could go at the same time, no more are made than the budget holds."""
    backend = Counting()
    judge, verdicts = decide(backend, 40, 10.5, concurrency=32)
    assert len(verdicts) == backend.calls
    assert judge.spent_usd <= 10.5
    assert (backend.calls, judge.prevented) == (10, 30)


def test_calls_go_together_where_the_budget_is_large() -> None:
    """Holding back slows nothing down as long as even the most that calls can cost is there."""
    backend = Counting()
    decide(backend, 40, 1000.0, concurrency=16)
    assert backend.most_in_flight == 16


@pytest.mark.parametrize("torn", [False, True])
def test_calls_of_unknown_cost_count_at_the_estimate(torn: bool) -> None:
    """Replies without tokens, and torn ones, may have been paid for: the budget ends all the same, and says so."""
    backend = Counting(silent=lambda _n: True, torn=torn)
    judge, verdicts = decide(backend, 40, 5.0, concurrency=4)
    assert 0 < backend.calls < 40
    assert judge.prevented == 40 - backend.calls
    assert judge.spent_usd <= 5.0
    assert ["counts calls of unknown cost at the estimate" in remark for remark in judge.remarks] == [True]
    assert all(verdict.unpriced == 1 and not verdict.cost_usd for verdict in verdicts)


def test_what_is_unknown_is_estimated_by_the_calls_before() -> None:
    """A call that took a dollar stands for the one that does not say what it took."""
    judge, _ = decide(Counting(silent=lambda n: n == 2), 3, 100.0, concurrency=1)
    assert judge.spent_usd == pytest.approx(3.0, rel=0.05)


def test_without_a_price_there_is_nothing_to_hold_back() -> None:
    """All calls are made, and it is said."""
    backend = Counting()
    judge, _ = decide(backend, 5, 0.01, price=lambda _model, _usage: None)
    assert backend.calls == 5
    assert ["has no effect" in remark for remark in judge.remarks] == [True]


call_costs = st.tuples(
    st.floats(0.001, 1), st.floats(0, 1), st.floats(0, 1)
)  # expected, and by which share of what it can cost at most the truth is elsewhere


@settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(call_costs, max_size=20), st.floats(0.01, 5), st.integers(1, 8))
def test_a_budget_is_exceeded_by_one_misestimate_at_most(
    costs: list[tuple[float, float, float]], limit: float, width: int
) -> None:
    """Whatever the calls cost within the most that they can, in whatever order they end; and nobody waits for ever."""
    over = [0.0]

    async def run() -> Budget:
        budget, slots = Budget(limit), asyncio.Semaphore(width)

        async def make(expected: float, above: float, share: float) -> None:
            most = expected + above
            true = most * share
            try:
                async with slots, budget.hold(lambda: Cost(expected, most)):
                    for _ in range(int(10 * share)):
                        await asyncio.sleep(0)
                    budget.spent_usd += true
                    over.append(true - expected)
            except BudgetSpentError:
                pass

        await asyncio.wait_for(asyncio.gather(*(make(*cost) for cost in costs)), 20)
        return budget

    assert asyncio.run(run()).spent_usd <= limit + max(over) + 1e-6


@pytest.fixture
def answered(
    golden_server: str, start_messages_api: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """A configuration of a judge that takes a while and thinks, and a run without a judge to measure with it."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    api = start_messages_api("--delay", "0.02")
    base = {"datasets": ["golden"], "samples_per_dataset": 16, "rag_server_url": golden_server, "runs_dir": tmp_path}
    plain = run_evaluation(EvalConfig(**base, judge={"enabled": False}))

    def run(thinking: int = 0, **judge: Any) -> tuple[EvalConfig, EvalRun]:
        api.script({"then": {"python": "judge", "thinking": "x" * 3 * thinking}})
        config = EvalConfig(**base, judge={"base_url": api.url, "cache": False, **judge})
        return config, asyncio.run(rescore(plain, config))

    return run


@pytest.mark.slow
@pytest.mark.parametrize("thinking", [0, 1000])
def test_a_run_keeps_to_its_budget(answered: Callable[..., Any], thinking: int) -> None:
    """With eight calls in flight, exceeded by no more than a call; more money completes the run, paid once."""
    config, run = answered(thinking, max_cost_usd=0.05)
    assert run.status == "partial"
    assert run.judge is not None
    assert run.judge.prevented > 0
    assert 0.02 < (run.judge.cost_usd or 0) < 0.05 + 0.012
    largest = max(v.cost_usd or 0 for record in RunStore(config.runs_dir).records(run) for v in record.verdicts)
    assert (run.judge.cost_usd or 0) <= 0.05 + largest


def test_a_run_that_goes_on_counts_what_nobody_knows(
    golden_server: str, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls of unknown cost count in the budget of the next leg too, at the estimate."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script({"then": {"python": "judge"}})
    judge = {"base_url": messages_api.url, "cache": False, "max_cost_usd": 0.05}
    config = EvalConfig(
        datasets=["golden"], samples_per_dataset=16, rag_server_url=golden_server, runs_dir=tmp_path, judge=judge
    )
    run = run_evaluation(config)
    store, calls = RunStore(tmp_path), len(messages_api.log())
    records = store.records(run)
    for record in records:
        record.verdicts[:] = [v.model_copy(update={"cost_usd": None, "usage": None}) for v in record.verdicts]
    put_records(store, run, records)
    asyncio.run(EvaluationRunner(config, resume=run.id).run())
    assert calls > 8
    assert len(messages_api.log()) - calls < calls / 3
