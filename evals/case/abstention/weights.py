"""What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.

Above 0 it speaks for an answer that declines. They are logarithms of odds, given all other evidence; so what goes with
something stronger may weigh less than nothing. `weights.json` beside this file holds them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evals.case.abstention.roles import BITS

_FILE = Path(__file__).with_name("weights.json")
_WRITTEN: Mapping[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))


def _by_bits(written: Mapping[str, float]) -> dict[int, float]:
    """The weights of signs and of pairs of signs, by the bits of their names, which blanks separate."""
    return {sum(BITS[name] for name in names.split()): weight for names, weight in written.items()}


BIAS: float = _WRITTEN["bias"]
"""The weight of no evidence at all."""

CIRCUMSTANCES: Mapping[str, float] = _WRITTEN["circumstances"]
"""The weights of `evidence.circumstances`, for each 1 that they measure."""

TOGETHER: Mapping[str, Mapping[str, float]] = _WRITTEN["together"]
"""The weights of two circumstances by name, for each 1 of their product; the one first in the alphabet comes first."""

SIGNS: Mapping[str, Mapping[int, float]] = {place: _by_bits(written) for place, written in _WRITTEN["signs"].items()}
"""The weights of `evidence.signs` by place: of a part or sign in a clause there, or of two in one clause."""
