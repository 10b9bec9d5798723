"""Which texts came before, and as the how-manieth, without holding them."""

from array import array

from evals.text.hashing import hash64

_FIRST = 1 << 10
_BYTES = 8


class Places:
    """Numbers by text, of each of which 24 to 48 bytes are held, however long it is.

    Texts are told apart by their `hash64`. A table with open addressing, as a `dict` takes four times as much.
    """

    def __init__(self) -> None:
        self._hashes = array("Q", bytes(_BYTES * _FIRST))
        self._numbers = array("I", [0]) * _FIRST
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def find(self, text: str) -> int | None:
        """The number of a text; None where it did not come yet."""
        wanted = _hash(text)
        slot = self._slot(wanted)
        return self._numbers[slot] if self._hashes[slot] else None

    def add(self, text: str) -> bool:
        """Give a text the next number, counted from 0; returns whether it is new."""
        wanted = _hash(text)
        slot = self._slot(wanted)
        if self._hashes[slot]:
            return False
        self._hashes[slot], self._numbers[slot] = wanted, self._count
        self._count += 1
        if 2 * self._count > len(self._hashes):
            self._grow()
        return True

    def _slot(self, wanted: int) -> int:
        """Where a hash stands, or would be put."""
        hashes, mask = self._hashes, len(self._hashes) - 1
        slot = wanted & mask
        while hashes[slot] not in (0, wanted):
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        before = zip(self._hashes, self._numbers, strict=True)
        size = 2 * len(self._hashes)
        self._hashes, self._numbers = array("Q", bytes(_BYTES * size)), array("I", [0]) * size
        for wanted, number in before:
            if wanted:
                slot = self._slot(wanted)
                self._hashes[slot], self._numbers[slot] = wanted, number


def _hash(text: str) -> int:
    """Never 0, which stands for an empty place."""
    return hash64(text) or 1
