"""The table of what judging costs in docs/judge.md."""

import re
from pathlib import Path

from evals.metrics.registry import suites

PAGE = Path(__file__).resolve().parents[2] / "docs" / "judge.md"


def rows() -> dict[str, list[str]]:
    found = re.search(r"<!-- judge_prices: begin -->\n(.*)<!-- judge_prices: end -->", PAGE.read_text(), re.DOTALL)
    assert found is not None
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in found[1].splitlines()[2:]]
    return {cells[0].strip("`"): cells[1:] for cells in lines}


def test_every_suite_has_its_price() -> None:
    """A new suite needs `python benchmarks/judge_prices.py --write`."""
    assert list(rows()) == suites()


def test_a_batch_takes_half_or_a_little_more() -> None:
    """In a batch nothing is taken to be in the vendor's cache. Ends are rounded to cents."""
    for _calls, _rounds, *cells in rows().values():
        ranges = [[float(end.strip("$")) for end in cell.split("–")] for cell in cells if cell != "–"]
        for whole, batch in zip(ranges[::2], ranges[1::2], strict=True):
            assert batch[0] <= whole[0]
            assert whole[1] / 2 - 0.0101 <= batch[1] <= 0.65 * whole[1] + 0.0101
