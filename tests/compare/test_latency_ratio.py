"""How many times as long a run takes: slower, faster, equal or undecided, and how often that is right."""

import asyncio
from collections import Counter
from collections.abc import Callable
from math import exp, log, sin
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from virtual_time import run_virtually

from evals.compare import SavedRun, compare_runs
from evals.compare.models import Comparison, RunComparison
from evals.compare.paired import LatencyRatioMetric, rate
from evals.compare.statistics import ALPHA, Ruling, measure
from evals.run.asking import StopRule
from evals.run.notebook import Observer
from evals.schemas import EvalQuestion, EvalResponse
from evals.variants import Variant, ask_in_turn

Saved = Callable[..., SavedRun]
TURNS = {"interleaved_with": ["a", "b"]}


def compared(saved: Saved, first: list[float], last: list[float], **changes: Any) -> Comparison:
    runs = [
        saved(name, {f"q{n}": {"latency_p50": value} for n, value in enumerate(values)}, **{**TURNS, **changes})
        for name, values in (("a", first), ("b", last))
    ]
    return compare_runs(runs)


def noisy(seed: int, factor: float = 1.0, n: int = 100, spread: float = 0.1) -> list[float]:
    draw = Random(seed)  # noqa: S311
    return [factor * (50 + n) * exp(draw.gauss(0, spread)) for n in range(n)]


@pytest.mark.parametrize(
    ("factor", "spread", "n", "verdict"),
    [
        (1.2, 0.1, 100, "slower"),
        (0.8, 0.1, 100, "faster"),
        (1.0, 0.1, 100, "equal"),
        (1.0, 0.5, 40, "undecided"),
        (1.0, 0.3, 12, "undecided"),
    ],
)
def test_the_four_verdicts(saved: Saved, factor: float, spread: float, n: int, verdict: str) -> None:
    """What is not known to differ is equal only where it is known to lie within the margin."""
    latency = compared(saved, noisy(1, n=n, spread=spread), noisy(2, factor, n, spread)).against[0].latency
    assert latency is not None
    assert latency.verdict == verdict
    assert latency.interval is not None
    assert latency.equivalence_interval is not None
    low, high = latency.equivalence_interval
    assert (low > 1 / 1.1 and high < 1.1) or verdict != "equal"
    assert (latency.interval[0] <= 1 <= latency.interval[1]) == (verdict in {"equal", "undecided"})


def test_the_ratio_is_that_of_the_questions(saved: Saved) -> None:
    """A question that takes a minute counts as much as one that takes a second."""
    first = [10.0 * (n + 1) for n in range(20)]
    latency = compared(saved, first, [3 * value if n % 2 else value / 3 for n, value in enumerate(first)])
    found = latency.against[0].latency
    assert found is not None
    assert found.ratio == pytest.approx(1)
    assert found.last_ms == pytest.approx(found.first_ms)


@pytest.mark.parametrize(
    ("first", "changes"),
    [
        (noisy(1), {"interleaved_with": []}),
        ([5.0] * 40, {}),
        ([0.0] * 40, {}),
        (noisy(1, n=4), {}),
    ],
    ids=["not in turn", "no difference", "no time", "too few"],
)
def test_where_nothing_can_be_said_there_is_no_ratio(saved: Saved, first: list[float], changes: dict[str, Any]) -> None:
    """Runs of different hours, latencies that do not differ, have no logarithm, or are fewer than six."""
    last = [2 * value for value in first] if "interleaved_with" in changes or len(first) < 6 else first
    assert compared(saved, first, last, **changes).against[0].latency is None


def test_several_runs_share_the_level(saved: Saved) -> None:
    """Of equivalence too: with two runs against the baseline each test has half."""
    names = ["a", "b", "c"]
    runs = [
        saved(
            name,
            {f"q{n}": {"latency_p50": value} for n, value in enumerate(noisy(seed))},
            interleaved_with=names,
        )
        for seed, name in enumerate(names)
    ]
    alone = compare_runs(runs[:2]).against[0].latency
    among = compare_runs(runs).against[0].latency
    assert alone is not None
    assert among is not None
    assert alone.equivalence_interval is not None
    assert among.equivalence_interval is not None
    assert among.equivalence_interval[0] < alone.equivalence_interval[0]
    assert among.level == pytest.approx(alone.level / 2)


class Drifting:
    """A server whose answers take a time of their own each, with noise, a wave and a long tail."""

    unavailable = None

    def __init__(self, clock: Callable[[], float], random: Random, factor: float) -> None:
        self.clock, self.random, self.factor = clock, random, factor

    async def ask(self, question: EvalQuestion) -> EvalResponse:
        own = exp(Random(question.question).gauss(0, 0.4) + self.random.gauss(0, 0.25))  # noqa: S311
        drift = 1 + 0.3 * sin(self.clock() / 20)
        tail = 3 if self.random.random() < 0.02 else 1
        seconds = self.factor * own * drift * tail
        await asyncio.sleep(seconds)
        return EvalResponse(answer="a", latency_ms=1000 * seconds)


def asked_in_turn(seed: int, factor: float, n: int = 200) -> list[dict[str, float]]:
    """Latencies of two variants asked in turn in simulated time; the second takes so many times as long."""
    questions = [EvalQuestion(id=f"q{number}", question=f"question {number}") for number in range(n)]
    found: list[dict[str, EvalResponse]] = [{}, {}]

    def variant(there: dict[str, EvalResponse], client: Drifting) -> Variant:
        server, asking = SimpleNamespace(client=client), SimpleNamespace(stop=StopRule(1))
        work = SimpleNamespace(responses=there, journal=None)
        return Variant(None, server, asking, work, None, Observer())  # type: ignore[arg-type]

    async def ask(clock: Callable[[], float]) -> None:
        random = Random(seed)  # noqa: S311
        servers = [Drifting(clock, random, each) for each in (1.0, factor)]
        variants = [variant(there, server) for there, server in zip(found, servers, strict=True)]
        await ask_in_turn(variants, questions, concurrency=4, seed=seed)

    run_virtually(ask)
    return [{one.id: there[one.id].latency_ms or 0.0 for one in questions} for there in found]


def ratio_verdict(seed: int, factor: float) -> str:
    """By the ratio alone, which is a quarter of the work."""
    first, last = asked_in_turn(seed, factor)
    paired = measure(
        LatencyRatioMetric(), [log(x) for x in first.values()], [log(x) for x in last.values()], list(first)
    )
    return rate(paired, Ruling(ALPHA, paired.p or 1.0), ALPHA).verdict


@pytest.mark.slow
def test_equal_variants_seldom_get_a_verdict_and_one_slower_by_a_fifth_mostly_does() -> None:
    """In 36 of 40 each, at least, though all latencies rise and fall by a third, and some take three times as long."""
    equal = Counter(ratio_verdict(seed, 1.0) for seed in range(40))
    slower = Counter(ratio_verdict(seed, 1.2) for seed in range(40))
    assert equal["slower"] + equal["faster"] <= 4
    assert slower["slower"] >= 36
    assert not slower["faster"] + slower["equal"]


@pytest.mark.slow
@pytest.mark.slow
def test_percentiles_beside_the_ratio_make_no_more_false_verdicts(saved: Saved) -> None:
    """They share one level: of forty equal variants at most four get a verdict on any of them."""
    equal = Counter(bool(named(compared_in_turn(saved, seed, 1.0))) for seed in range(40))
    slower = [named(compared_in_turn(saved, seed, 1.2)) for seed in range(40)]
    assert equal[False] >= 36
    assert sum("slower" in verdicts for verdicts in slower) >= 36
    assert not any("faster" in verdicts or "better" in verdicts for verdicts in slower)


def compared_in_turn(saved: Saved, seed: int, factor: float) -> RunComparison:
    """The whole comparison of the two variants."""
    runs = []
    for name, there in zip("ab", asked_in_turn(seed, factor), strict=True):
        values = {key: {"latency_p50": value, "latency_p95": value} for key, value in there.items()}
        runs.append(saved(name, values, **TURNS))
    return compare_runs(runs).against[0]


def named(one: RunComparison) -> set[str]:
    """All verdicts on latency that say there is a difference."""
    assert one.latency is not None
    return ({pair.verdict for pair in one.pairs} & {"better", "worse"}) | ({one.latency.verdict} & {"slower", "faster"})
