"""How often intervals hold the truth and equal runs seem to differ: python benchmarks/intervals.py [--write].

Draws samples whose true mean is known, takes the interval of each by the functions that a run uses, and prints tables
as docs/simulations.md has them; --write puts them there. A table is of 4,000 samples a cell unless --samples says
otherwise, by a fixed seed: the standard error of a coverage of 95 % is then 0.3 points.
"""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from math import exp, lgamma, log, log1p
from pathlib import Path
from statistics import fmean

import numpy as np
from evals.scoring.stats.differences import sign_flip_p
from evals.scoring.stats.intervals import Mark, group, wilson

from evals.scoring.stats import mean_interval, paired_difference

PAGE = Path(__file__).resolve().parent.parent / "docs" / "simulations.md"
BEGIN, END = "<!-- tables of benchmarks/intervals.py -->", "<!-- end of tables -->"
SIZES = (5, 10, 20, 50, 100, 500)
Sampler = Callable[[np.random.Generator, int], np.ndarray]
"""Draws n values."""

METRIC_VALUES: dict[str, Sequence[tuple[float, float]]] = {
    "precision_at_5 (0, 0.2, 0.4)": [(0.0, 0.2), (0.2, 0.6), (0.4, 0.2)],
    "mrr (1, 1/2, 1/3, 1/5, 0)": [(1.0, 0.6), (0.5, 0.15), (1 / 3, 0.08), (0.2, 0.05), (0.0, 0.12)],
    "recall_at_5 of two golds": [(0.0, 0.1), (0.5, 0.25), (1.0, 0.65)],
    "near the ceiling (1; 1 % are 0)": [(1.0, 0.99), (0.0, 0.01)],
    "near the ceiling (1; 5 % are 0.9)": [(1.0, 0.95), (0.9, 0.05)],
}
"""Values of a metric with their shares."""


def main() -> None:
    """Print all tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4000, help="of each cell")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/simulations.md")
    options = parser.parse_args()
    text = "\n\n".join(tables(options.samples))
    if not options.write:
        print(text)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def tables(samples: int) -> list[str]:
    """Every table, as Markdown; each cell is drawn for itself, so that how many work on them changes nothing."""
    made: list[Callable[[int], str]] = [clusters, skewed_runs, equal_runs, changed_runs, costs, values, rates]
    with ProcessPoolExecutor() as workers:
        return list(workers.map(_call, made, [samples] * len(made)))[::-1]


def _call(make: Callable[[int], str], samples: int) -> str:
    return make(samples)


def rates(_samples: int) -> str:
    """Rates: coverage and width against Wilson's interval, exact: each number of hits counts by its probability."""
    rows = []
    for rate in (0.02, 0.1, 0.5, 0.9, 0.98):
        cells = [rate_cell(rate, n) for n in SIZES]
        rows.append([f"rate {rate}", *cells])
    return table("Rates: coverage in %, and width as a multiple of Wilson's", ["", *heads()], rows)


def rate_cell(rate: float, n: int) -> str:
    """Over all numbers of hits."""
    held = ours = theirs = 0.0
    for hits, share in enumerate(binomial(n, rate)):
        low, high = of_independent(hits, n)
        reference = wilson(hits, n) or (0.0, 0.0)
        held += share * (low <= rate <= high)
        ours += share * (high - low)
        theirs += share * (reference[1] - reference[0])
    return f"{percent(held)} ({ours / theirs:.2f}×)"


def values(samples: int) -> str:
    """Values as metrics have them, between 0 and 1."""
    rows = []
    for name, shares in METRIC_VALUES.items():
        truth = sum(value * share for value, share in shares)
        draw = partial(of_shares, shares)
        rows.append([name, *(percent(coverage(draw, n, truth, samples, high=1)[0]) for n in SIZES)])
    rows.append(["F1 (beta 2, 1)", *(percent(coverage(beta, n, 2 / 3, samples, high=1)[0]) for n in SIZES)])
    return table("Means of other values: coverage in %", ["", *heads()], rows)


def costs(samples: int) -> str:
    """Costs, lognormal: coverage, and how many intervals are marked as rough."""
    rows = []
    for sigma in (0.1, 0.5, 1.0, 1.5):
        draw, truth = partial(lognormal, sigma), float(np.exp(sigma**2 / 2))
        found = [coverage(draw, n, truth, samples, high=None) for n in SIZES]
        rows.append([f"sigma {sigma}", *(f"{percent(held)} ({percent(rough)})" for held, rough in found)])
    return table("Lognormal costs: coverage in % (how many are marked as rough, in %)", ["", *heads()], rows)


def clusters(samples: int) -> str:
    """Rates that differ between documents as a beta distribution: coverage with and without minding it."""
    shapes = ((40, 5), (20, 10), (8, 5), (6, 10), (10, 50), (6, 50))
    rows = []
    for rate in (0.5, 0.9, 0.98):
        for alike in (0.0, 0.1, 0.3, 0.6):
            cells = [cluster_cell(rate, alike, documents, size, samples) for documents, size in shapes]
            rows.append([f"rate {rate}, correlation {alike}", *cells])
    heading = [f"{documents} × {size}" for documents, size in shapes]
    title = "Documents × questions: coverage in % (of intervals that take questions as independent, in %)"
    return table(title, ["", *heading], rows)


def cluster_cell(rate: float, alike: float, documents: int, size: int, samples: int) -> str:
    """Coverage by documents, and by questions."""
    rng, labels = generator(), names(documents, size)
    held = plain = 0
    for _ in range(samples):
        drawn = (rng.random(documents * size) < beta_rates(rng, rate, alike, documents, size)).astype(float).tolist()
        held += holds(interval(drawn, labels, high=1), rate)
        plain += holds(of_independent(int(sum(drawn)), documents * size), rate)
    return f"{percent(held / samples)} ({percent(plain / samples)})"


PAIRS = ((None, 100), (None, 500), (20, 5), (40, 5), (10, 10), (20, 10), (50, 10))


def equal_runs(samples: int) -> str:
    """Two runs of one server: how often they seem to differ."""
    rows = []
    for kind in ("yes or no", "between 0 and 1"):
        for share in (0.02, 0.2):
            for alike in (0.0, 0.5):
                cells = [alarms(kind, share, alike, documents, size, samples) for documents, size in PAIRS]
                rows.append([f"{kind}, {share:.0%} differ, correlation {alike}", *map(percent, cells)])
    return table("Equal runs: how many seem to differ at 5 %, in %", ["", *shape_heads()], rows)


def changed_runs(samples: int) -> str:
    """Two runs of which one is better by a known amount: how often the interval holds it, and leaves out 0."""
    rows = []
    for better, worse, step in (
        (0.03, 0.01, 1.0), (0.1, 0.02, 1.0), (0.2, 0.1, 1.0), (0.03, 0.01, 0.1), (0.1, 0.02, 0.1), (0.2, 0.1, 0.1),
    ):  # fmt: skip
        cells = [gain_cell(better, worse, step, documents, size, samples) for documents, size in PAIRS]
        rows.append([f"{better:.0%} gained, {worse:.0%} lost" + ("" if step == 1 else f", by {step:g}"), *cells])
    return table("Runs that differ: coverage of the difference in % (found, in %)", ["", *shape_heads()], rows)


def alarms(kind: str, share: float, alike: float, documents: int | None, size: int, samples: int) -> float:
    """The share of comparisons with p below 5 %; with a correlation, a document's questions change together."""
    rng, alarmed = generator(), 0
    units, per = (size, 1) if documents is None else (documents, size)
    labels = None if documents is None else names(units, per)
    for _ in range(samples):
        change = rng.random(units * per) < beta_rates(rng, share, alike, units, per)
        together = rng.random(units * per) < alike
        way = np.where(together, rng.integers(0, 2, units).repeat(per), rng.integers(0, 2, units * per))
        if kind == "yes or no":
            first, last = np.where(change, way, 1), np.where(change, 1 - way, 1)
        else:
            first = rng.random(units * per)
            moved = np.minimum(first, 1 - first) * rng.random(units * per)
            last = first + np.where(change, np.where(way == 1, moved, -moved), 0)
        differences = (last.astype(float) - first).tolist()
        alarmed += sign_flip_p(group(differences, labels).sums) < 0.05
    return alarmed / samples


def gain_cell(better: float, worse: float, step: float, documents: int | None, size: int, samples: int) -> str:
    """Of values that change by a step, where a document's questions are gained together (correlation 0.2)."""
    rng, held, found = generator(), 0, 0
    units, per = (size, 1) if documents is None else (documents, size)
    labels = None if documents is None else names(units, per)
    for _ in range(samples):
        gained = rng.random(units * per) < beta_rates(rng, better, 0.2 if documents else 0.0, units, per)
        lost = ~gained & (rng.random(units * per) < worse / (1 - better))
        first, last = np.where(gained, 1 - step, 1.0), np.where(lost, 1 - step, 1.0)
        change = paired_difference(first.tolist(), last.tolist(), labels, low=0, high=1)
        assert change is not None
        held += holds(change.estimate.interval or (0, 0), step * (better - worse))
        found += change.p < 0.05
    return f"{percent(held / samples)} ({percent(found / samples)})"


def skewed_runs(samples: int) -> str:
    """Two runs that are not equal, though their means are: what the sign-flip test does not suppose."""
    rows = []
    for gained, step, lost in ((0.1, 0.1, 0.01), (0.2, 0.1, 0.02), (0.3, 0.5, 0.15)):
        cells = [skewed_cell(gained, step, lost, n, samples) for n in SIZES[2:]]
        rows.append([f"{gained:.0%} gained {step:g}, {lost:.0%} lost 1", *cells])
    title = "Equal means by many small gains and few great losses: p below 5 %, in % (the bounds hold 0, in %)"
    return table(title, ["", *heads()[2:]], rows)


def skewed_cell(gained: float, step: float, lost: float, n: int, samples: int) -> str:
    """How often the two seem to differ, and how often the bounds of a loss hold that they do not."""
    rng, found, held = generator(), 0, 0
    for _ in range(samples):
        drawn = rng.random(n)
        first = np.where(drawn < lost, 1.0, 0.0)
        last = np.where((drawn >= lost) & (drawn < lost + gained), step, 0.0)
        change = paired_difference(first.tolist(), last.tolist(), low=0, high=1)
        assert change is not None
        found += change.p < 0.05
        held += holds(change.bounds or (0, 0), 0.0)
    return f"{percent(found / samples)} ({percent(held / samples)})"


def coverage(draw: Sampler, n: int, truth: float, samples: int, *, high: float | None) -> tuple[float, float]:
    """How often the interval of n values from 0 up holds the true mean, and how often it is marked as rough."""
    rng, held, rough = generator(), [], []
    for _ in range(samples):
        found = mean_interval(draw(rng, n).tolist(), low=0, high=high)
        assert found is not None
        held.append(found.interval is not None and holds(found.interval, truth))
        rough.append(Mark.SKEWED in found.marks or Mark.FEW_VALUES in found.marks)
    return fmean(held), fmean(rough)


def interval(drawn: Sequence[float], labels: Sequence[str] | None = None, *, high: float) -> tuple[float, float]:
    """The interval of values from 0 to a greatest one."""
    found = mean_interval(drawn, labels, low=0, high=high)
    assert found is not None
    assert found.interval is not None
    return found.interval


@cache
def of_independent(hits: int, n: int) -> tuple[float, float]:
    """The interval of a rate whose questions are taken as independent."""
    return interval([1.0] * hits + [0.0] * (n - hits), high=1)


def holds(ends: tuple[float, float], truth: float) -> bool:
    """Whether the truth lies in the interval; the last digits do not count."""
    return ends[0] - 1e-12 <= truth <= ends[1] + 1e-12


def of_shares(shares: Sequence[tuple[float, float]], rng: np.random.Generator, n: int) -> np.ndarray:
    """Values drawn by their shares."""
    return rng.choice([value for value, _ in shares], n, p=[share for _, share in shares])


def beta(rng: np.random.Generator, n: int) -> np.ndarray:
    """Values between 0 and 1, more of them high."""
    return rng.beta(2, 1, n)


def lognormal(sigma: float, rng: np.random.Generator, n: int) -> np.ndarray:
    """Costs with a median of 1."""
    return rng.lognormal(0, sigma, n)


def beta_rates(rng: np.random.Generator, rate: float, alike: float, units: int, per: int) -> np.ndarray:
    """The rate of each question, the same within a unit; `alike` is the correlation of two questions of a unit."""
    if not alike:
        return np.full(units * per, rate)
    weight = 1 / alike - 1
    return rng.beta(rate * weight, (1 - rate) * weight, units).repeat(per)


def binomial(n: int, rate: float) -> list[float]:
    """The probability of each number of hits."""
    ways = [lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in range(n + 1)]
    return [exp(way + k * log(rate) + (n - k) * log1p(-rate)) for k, way in enumerate(ways)]


def names(documents: int, size: int) -> list[str]:
    """A label a question."""
    return [str(document) for document in range(documents) for _ in range(size)]


def generator() -> np.random.Generator:
    """The same draws each time."""
    return np.random.default_rng(20260115)


def percent(share: float) -> str:
    """With one decimal and without the sign, for a cell."""
    return f"{100 * share:.1f}"


def heads() -> list[str]:
    """Of columns by the number of values."""
    return [f"n = {n}" for n in SIZES]


def shape_heads() -> list[str]:
    """Of columns by documents and questions."""
    return [f"{size}" if documents is None else f"{documents} × {size}" for documents, size in PAIRS]


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown with its title."""
    lines = [f"**{title}**", "", f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


if __name__ == "__main__":
    main()
