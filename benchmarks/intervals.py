"""How often intervals contain the true value, and how often tests find a difference between equal runs.

    python benchmarks/intervals.py [--samples 4000] [--seed 7]

Each cell simulates runs of n questions from a distribution with a known mean. docs/statistics.md has the table.
"""

import argparse
from collections.abc import Callable
from functools import cache

import numpy as np

from evals.compare.independent import difference_interval, independent_p
from evals.run.production import draw
from evals.scoring.stats import ALPHA, Estimate, Groups, Vector, holm, mean_interval, paired_test, percentile_interval
from evals.scoring.strata import Strata

SIZES = (10, 30, 100, 300)
PER_DOCUMENT = 5
METRICS = 5
MEAN = 0.75

Generator = np.random.Generator
Trial = Callable[[Generator, int], bool]


def yes_or_no(random: Generator, n: int, rate: float = 0.8) -> Vector:
    """Values such as correct or not."""
    return (random.random(n) < rate).astype(float)


def graded(random: Generator, n: int) -> Vector:
    """Values such as nDCG, with the mean 0.75: 60 % are 1, 10 % are 0, the others lie between them."""
    parts = random.random(n)
    return np.where(parts < 0.6, 1.0, np.where(parts < 0.7, 0.0, random.beta(2, 2, n)))


def by_document(random: Generator, n: int) -> tuple[Vector, Groups]:
    """Yes/no values with the mean 0.75: each document has a rate of its own (intraclass correlation 0.25)."""
    groups = np.repeat(np.arange(n // PER_DOCUMENT), PER_DOCUMENT)
    return (random.random(n) < random.beta(2.25, 0.75, n // PER_DOCUMENT)[groups]).astype(float), groups


def holds(estimate: Estimate | None, truth: float) -> bool:
    """Whether an interval contains the true value; one that cannot be computed claims nothing."""
    if estimate is None or estimate.interval is None:
        return True
    return estimate.interval[0] - 1e-12 <= truth <= estimate.interval[1] + 1e-12


def rate(truth: float) -> Trial:
    """The interval of a rate."""
    return lambda random, n: holds(mean_interval(yes_or_no(random, n, truth), 0.0, 1.0), truth)


def clustered(random: Generator, n: int, *, cluster: bool) -> bool:
    """The interval of a rate whose questions share documents."""
    values, groups = by_document(random, n)
    return holds(mean_interval(values, 0.0, 1.0, groups=groups if cluster else None), 0.75)


STRATA = (0.9, 0.07, 0.03)
"""Shares of a log: without feedback, with good and with bad feedback."""


@cache
def log_of(kind: str, count: int = 5000) -> tuple[dict[str, list[int]], Vector]:
    """The rows of a log by their strata, and their values."""
    random = np.random.default_rng(11)
    strata = random.choice(len(STRATA), count, p=STRATA)
    places = {str(one): np.flatnonzero(strata == one).tolist() for one in range(len(STRATA))}
    if kind == "rate":
        return places, (random.random(count) < np.array([0.85, 0.95, 0.2])[strata]).astype(float)
    return places, random.lognormal(np.array([6.0, 7.0, 8.0])[strata], 0.6)


def of_sample(random: Generator, n: int, kind: str, high: float | None) -> bool:
    """The interval of the mean of a log, of a sample that is drawn of each stratum by the root of its size."""
    places, values = log_of(kind)
    drawn = draw(places, n, int(random.integers(2**31)))
    rows = np.concatenate(list(drawn.values()))
    numbers = np.repeat(np.arange(len(drawn)), [len(part) for part in drawn.values()])
    weights = np.concatenate([np.full(len(part), len(places[name]) / len(part)) for name, part in drawn.items()])
    sample = Strata(numbers, weights)
    return holds(sample.mean_interval(values[rows], np.arange(len(rows)), 0.0, high, 0.95), values.mean())


COVERAGE: dict[str, Trial] = {
    "rate of 0.05": rate(0.05),
    "rate of 0.5": rate(0.5),
    "rate of 0.95": rate(0.95),
    "graded values": lambda random, n: holds(mean_interval(graded(random, n), 0.0, 1.0), MEAN),
    "costs (log-normal, σ = 1)": lambda random, n: holds(mean_interval(random.lognormal(size=n), 0.0, None), np.e**0.5),
    "median of log-normal times": lambda random, n: holds(percentile_interval(random.lognormal(size=n), 50), 1.0),
    "5 questions per document, with `scoring.cluster`": lambda random, n: clustered(random, n, cluster=True),
    "5 questions per document, without": lambda random, n: clustered(random, n, cluster=False),
    "rate of a log, stratified sample": lambda random, n: of_sample(random, n, "rate", 1.0),
    "mean time of a log, stratified sample": lambda random, n: of_sample(random, n, "times", None),
}


def p_of_equal(random: Generator, n: int, draw: Callable[[Generator, int], Vector]) -> float:
    """The p of two equal runs, of which a third of the values differs; 1 where too few questions differ."""
    first, other = draw(random, n), draw(random, n)
    p = paired_test(first, np.where(random.random(n) < 1 / 3, other, first), 1.0).p
    return 1.0 if p is None else p


def p_by_document(random: Generator, n: int) -> float:
    """The p of two equal runs whose differences go by document."""
    (first, groups), (last, _) = by_document(random, n), by_document(random, n)
    p = paired_test(first, last, 1.0, groups=groups).p
    return 1.0 if p is None else p


def least_after_holm(random: Generator, n: int) -> float:
    """The least adjusted p of several metrics."""
    return min(holm({str(metric): p_of_equal(random, n, graded) for metric in range(METRICS)}).values())


def p_of_two_logs(random: Generator, n: int) -> float:
    """The p of two runs of different questions with one rate."""
    sides = [yes_or_no(random, n) for _ in range(2)]
    ends = [mean_interval(values, 0.0, 1.0) for values in sides]
    first, last = (float(values.mean()) for values in sides)
    if ends[0] is None or ends[1] is None or ends[0].interval is None or ends[1].interval is None:
        return 1.0
    return independent_p(last - first, difference_interval(first, ends[0].interval, last, ends[1].interval), 0.95)


FALSE_POSITIVES: dict[str, Trial] = {
    "yes/no values (exact McNemar)": lambda random, n: p_of_equal(random, n, yes_or_no) < ALPHA,
    "graded values (paired t)": lambda random, n: p_of_equal(random, n, graded) < ALPHA,
    "5 questions per document, with `scoring.cluster`": lambda random, n: p_by_document(random, n) < ALPHA,
    "two logs with different questions": lambda random, n: p_of_two_logs(random, n) < ALPHA,
    f"any of {METRICS} metrics (Holm)": lambda random, n: least_after_holm(random, n) < ALPHA,
}


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description="Coverage of intervals, and false positives of tests.")
    parser.add_argument("--samples", type=int, default=4000, help="simulated runs for each cell")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    for title, rows in (("coverage", COVERAGE), ("false positives", FALSE_POSITIVES)):
        print(f"| {title} | {' | '.join(f'n = {n}' for n in SIZES)} |\n|---|{'---|' * len(SIZES)}")
        for name, trial in rows.items():
            shares = [sum(trial(random, n) for _ in range(options.samples)) / options.samples for n in SIZES]
            print(f"| {name} | {' | '.join(f'{share:.3f}' for share in shares)} |")


if __name__ == "__main__":
    main()
