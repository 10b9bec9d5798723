"""How often gates pass for a true value beside the limit: python benchmarks/gates.py [--write | --check].

Every number of hits, and of questions lost and gained, counts by its probability, so that the tables are exact for
questions that are right or wrong and independent of each other. Gates are judged by the functions that a run uses.
--write puts the tables into docs/simulations.md, --check fails where it holds others.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from math import comb, exp, lgamma, log
from pathlib import Path

from evals.scoring.gates import judge_end
from evals.scoring.stats import mean_interval, paired_difference

PAGE = Path(__file__).resolve().parent.parent / "docs" / "simulations.md"
BEGIN, END = "<!-- tables of benchmarks/gates.py -->", "<!-- end of tables -->"
SIZES = (50, 100, 200)
LIMIT, MARGIN, CHANGED = 0.8, 0.03, 0.1
RATES = (0.7, 0.75, 0.78, 0.8, 0.82, 0.85, 0.9)
DIFFERENCES = (-0.06, -0.03, -0.01, 0.0, 0.03)
OUTCOMES = ("met", "not enough evidence", "not met")
NEGLIGIBLE = 1e-9
"""Cases that are rarer are left out."""


def main() -> None:
    """Print the tables, write them into the page, or check that it holds them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/simulations.md")
    parser.add_argument("--check", action="store_true", help="fail where docs/simulations.md holds others")
    options = parser.parse_args()
    text = "\n\n".join((by_value(), at_the_low_end(), within_the_margin()))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    held, _, after = rest.partition(END)
    if options.check:
        raise SystemExit(
            held.strip() != text and "docs/simulations.md holds other tables: run benchmarks/gates.py --write"
        )
    if options.write:
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    else:
        print(text)


def by_value() -> str:
    """The share of runs whose value is at or above the limit."""
    rows = [[f"{rate:g}", *(percent(share_at_or_above(rate, n)) for n in SIZES)] for rate in RATES]
    return table(f"`>={LIMIT:g}`, on the value: met, in % of runs", ["true value", *heads()], rows)


def share_at_or_above(rate: float, n: int) -> float:
    """How probable it is that n questions have a rate at or above the limit."""
    return sum(chance for hits, chance in binomial(n, rate) if hits / n >= LIMIT)


def at_the_low_end() -> str:
    """How a gate at the low end ends, by the true rate."""
    rows = [[f"{rate:g}", *(shares(low_end_outcomes(rate, n)) for n in SIZES)] for rate in RATES]
    title = f"`@low>={LIMIT:g}`: met / not enough evidence / not met, in % of runs"
    return table(title, ["true value", *heads()], rows)


def low_end_outcomes(rate: float, n: int) -> Counter[str]:
    """How probable each outcome is."""
    found: Counter[str] = Counter()
    for hits, chance in binomial(n, rate):
        found[low_end_outcome(hits, n)] += chance  # type: ignore[assignment]
    return found


@cache
def low_end_outcome(hits: int, n: int) -> str:
    """How the gate ends where so many of n questions are right."""
    estimate = mean_interval([1.0] * hits + [0.0] * (n - hits), low=0.0, high=1.0)
    end = estimate.interval[0] if estimate and estimate.interval else None
    return judge_end(hits / n, end, LIMIT, n, lambda value: value >= LIMIT).outcome


def within_the_margin() -> str:
    """How a gate against a baseline ends, by the true difference."""
    rows = [[f"{change:+g}", *(shares(margin_outcomes(change, n)) for n in SIZES)] for change in DIFFERENCES]
    title = f"`--margin {MARGIN:g}`, where {CHANGED:.0%} of the answers change: met / not enough evidence / not met"
    return table(f"{title}, in % of runs", ["true difference", *heads()], rows)


def margin_outcomes(change: float, n: int) -> Counter[str]:
    """How probable each outcome is."""
    found: Counter[str] = Counter()
    for lost, gained, chance in trinomial(n, (CHANGED - change) / 2, (CHANGED + change) / 2):
        found[margin_outcome(lost, gained, n)] += chance  # type: ignore[assignment]
    return found


@cache
def margin_outcome(lost: int, gained: int, n: int) -> str:
    """How the gate ends where so many of n questions are lost and gained."""
    same = n - lost - gained
    first, last = [1.0] * lost + [0.0] * gained + [1.0] * same, [0.0] * lost + [1.0] * gained + [1.0] * same
    difference = paired_difference(first, last, low=0.0, high=1.0)
    end = difference.bounds[0] if difference and difference.bounds else None
    return judge_end((gained - lost) / n, end, -MARGIN, n, lambda value: value > -MARGIN).outcome


def binomial(n: int, rate: float) -> Iterator[tuple[int, float]]:
    """Every number of hits with its probability."""
    for hits in range(n + 1):
        yield hits, comb(n, hits) * rate**hits * (1 - rate) ** (n - hits)


def trinomial(n: int, loss: float, gain: float) -> Iterator[tuple[int, int, float]]:
    """Every number of losses and gains that is not negligible, with its probability."""
    for lost in range(n + 1):
        for gained in range(n + 1 - lost):
            same = n - lost - gained
            ways = lgamma(n + 1) - lgamma(lost + 1) - lgamma(gained + 1) - lgamma(same + 1)
            chance = exp(ways + lost * log(loss) + gained * log(gain) + same * log(1 - loss - gain))
            if chance > NEGLIGIBLE:
                yield lost, gained, chance


def shares(found: Counter[str]) -> str:
    """The outcomes in whole percent."""
    return " / ".join(percent(found[outcome]) for outcome in OUTCOMES)


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f}"


def heads() -> list[str]:
    """The heads of the columns."""
    return [f"n = {n}" for n in SIZES]


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---", *["---:"] * (len(head) - 1)], *rows)]
    return "\n".join([f"{title}:", "", *lines])


if __name__ == "__main__":
    main()
