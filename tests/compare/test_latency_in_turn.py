"""Latency of variants that were asked in turn: how often a verdict is right."""

import asyncio
from collections.abc import Callable
from math import exp, sin
from random import Random

import pytest
from virtual_time import run_virtually

from evals.compare import SavedRun, compare_runs
from evals.schemas import EvalQuestion, EvalResponse
from evals.variants import Lane, ask_in_turn

Saved = Callable[..., SavedRun]


class Drifting:
    """A server whose answers take a time of their own each, with noise, a wave and a long tail."""

    unavailable = None

    def __init__(self, clock: Callable[[], float], random: Random, factor: float) -> None:
        self.clock, self.random, self.factor = clock, random, factor

    async def ask(self, question: str) -> EvalResponse:
        own = exp(Random(question).gauss(0, 0.4) + self.random.gauss(0, 0.25))  # noqa: S311
        drift = 1 + 0.3 * sin(self.clock() / 20)
        tail = 3 if self.random.random() < 0.02 else 1
        seconds = self.factor * own * drift * tail
        await asyncio.sleep(seconds)
        return EvalResponse(answer="a", latency_ms=1000 * seconds)


def asked_in_turn(seed: int, factor: float, n: int = 200) -> list[dict[str, float]]:
    """Latencies of two variants asked in turn in simulated time; the second takes so many times as long."""
    questions = [EvalQuestion(id=f"q{number}", question=f"question {number}") for number in range(n)]
    found: list[dict[str, EvalResponse]] = [{}, {}]

    def lane(there: dict[str, EvalResponse], server: Drifting) -> Lane:
        return Lane(server, there, lambda question, response: there.update({question.id: response}))

    async def ask(clock: Callable[[], float]) -> None:
        random = Random(seed)  # noqa: S311
        servers = [Drifting(clock, random, each) for each in (1.0, factor)]
        lanes = [lane(there, server) for there, server in zip(found, servers, strict=True)]
        await ask_in_turn(lanes, questions, concurrency=4, seed=seed)

    run_virtually(ask)
    return [{one.id: there[one.id].latency_ms or 0.0 for one in questions} for there in found]


def latency_verdict(saved: Saved, seed: int, factor: float) -> str:
    runs = [
        saved(name, {key: {"latency_p50": value} for key, value in there.items()}, interleaved_with=["a", "b"])
        for name, there in zip("ab", asked_in_turn(seed, factor), strict=True)
    ]
    (pair,) = compare_runs(runs).pairs
    return pair.verdict


@pytest.mark.slow
def test_equal_variants_seldom_get_a_verdict_and_one_slower_by_a_fifth_mostly_does(saved: Saved) -> None:
    """In 27 of 30 each, at least, though all latencies rise and fall by a third, and some take three times as long."""
    assert sum(latency_verdict(saved, seed, 1.0) in {"better", "worse"} for seed in range(30)) <= 3
    assert sum(latency_verdict(saved, seed, 1.2) == "worse" for seed in range(30)) >= 27
