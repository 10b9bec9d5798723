"""Texts told apart by 64 bits of their hash, where there may be too many of them to be held."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from hashlib import blake2b
from itertools import chain

_BYTES = 8
_MOST_DOUBLE = 1 << 14
"""So many hashes at least are collected before those that came twice are dropped."""
_AT_ONCE = 1 << 16
"""So many are compared at once: as objects they take ten times as much as packed."""


def hash64(text: str) -> int:
    """The first 64 bits of a text's BLAKE2b hash: of a million texts, two share theirs in one of forty million runs."""
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=_BYTES).digest())


class Hashes:
    """A set of hashes, of each of which some eight bytes are held."""

    def __init__(self) -> None:
        self._all = array("Q")
        self._most = _MOST_DOUBLE

    def __bool__(self) -> bool:
        return bool(self._all)

    def update(self, hashes: Iterable[int]) -> None:
        """Add some."""
        self._all.extend(hashes)
        if len(self._all) > self._most:
            self._drop_doubles()
            self._most = max(_MOST_DOUBLE, 2 * len(self._all))

    def _drop_doubles(self) -> None:
        parts = self._parts(len(self._all))
        self._all = array("Q", chain.from_iterable(self._part(number, parts) for number in range(parts)))

    def _parts(self, count: int) -> int:
        return 1 + count // _AT_ONCE

    def _part(self, number: int, parts: int) -> set[int]:
        return {one for one in self._all if one % parts == number}

    def in_both(self, other: "Hashes") -> bytes:
        """Those that another set has too, packed: `holds` looks into them."""
        parts = self._parts(len(self._all) + len(other._all))
        both: list[int] = []
        for number in range(parts):
            both += self._part(number, parts) & other._part(number, parts)
        return b"".join(one.to_bytes(_BYTES, "little") for one in sorted(both))


def holds(packed: bytes, wanted: int) -> bool:
    """Whether a hash is among those that `Hashes.in_both` packed, each as eight bytes and in their order."""

    def at(place: int) -> int:
        return int.from_bytes(packed[_BYTES * place : _BYTES * (place + 1)], "little")

    count = len(packed) // _BYTES
    place = bisect_left(range(count), wanted, key=at)
    return place < count and at(place) == wanted
