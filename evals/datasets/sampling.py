"""Which rows are drawn: the same on every machine, in every order of the rows, with every library version."""

from collections.abc import Sequence
from hashlib import sha256


def sample(ids: Sequence[str], count: int | None, seed: int) -> list[int]:
    """Places of the rows drawn, in the order of the draw.

    Rows are ranked by sha256 of seed and id, so a smaller sample is a prefix of a larger one.

    Args:
        ids: The rows' ids; of equal ids the first row counts.
        count: How many rows; None draws all, still in the order of the draw.
        seed: Any integer.
    """
    first: dict[str, int] = {}
    for place, row_id in enumerate(ids):
        first.setdefault(row_id, place)
    ranked = sorted(first, key=lambda row_id: (sha256(f"{seed}:{row_id}".encode()).digest(), row_id))
    return [first[row_id] for row_id in ranked[:count]]
