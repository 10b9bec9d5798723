"""What came out of comparing the chunks of a response with the golds of its question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from evals.case.derived import derived


@dataclass
class Matches:
    """Which chunk is which gold.

    Attributes:
        size: How many chunks there are.
        held: For the place of each relevant chunk, the golds (by index) that it covers, or holds a piece of that others
            complete, with the rule. Duplicates of an earlier chunk cover nothing.
        found: For each gold recognised, the place at which it is found and the rule. A gold cut by chunk borders is
            found where enough of it has been seen.
        original: For each rank, the place of the first chunk that this one repeats; its own place if it repeats none.
        complete: For a place and a gold of which the chunk there holds a piece only, the place that completes it.
        elsewhere: How many times a gold's text was seen in another document than its own, where that does not count.
    """

    size: int
    held: dict[int, dict[int, str]] = field(default_factory=dict)
    found: dict[int, tuple[int, str]] = field(default_factory=dict)
    original: Sequence[int] = ()
    complete: dict[tuple[int, int], int] = field(default_factory=dict)
    elsewhere: int = 0

    def add(self, place: int, gold: int, rule: str) -> None:
        """Say that the chunk at a place holds a gold."""
        self.held.setdefault(place, {})[gold] = rule

    @derived
    def by_chunk(self) -> list[Mapping[int, str]]:
        """For each rank, the golds (by index) that the chunk holds, with the rule."""
        return [self.held.get(place, _NOTHING) for place in range(self.size)]

    @derived
    def hits(self) -> list[bool]:
        """Whether the chunk at each rank is relevant."""
        return [place in self.held for place in range(self.size)]

    def hits_within(self, k: int) -> list[bool]:
        """Whether the chunk at each of the top k ranks is relevant, seen from these ranks alone.

        A piece of a gold that chunk borders have cut counts only where the top k complete the gold.
        """
        return [self._known_from.get(place, k) < k for place in range(min(k, self.size))]

    @derived
    def _known_from(self) -> dict[int, int]:
        """For the place of each relevant chunk, that at which its first gold is found, or complete if it is a piece."""
        return {
            place: min(self.complete.get((place, gold), self.found[gold][0]) for gold in golds)
            for place, golds in self.held.items()
        }

    @derived
    def hit_ranks(self) -> list[int]:
        """The ranks, from 1, of the relevant chunks."""
        return sorted(place + 1 for place in self.held)

    @derived
    def newly_found(self) -> list[set[int]]:
        """For each rank, the golds that are found there and at no earlier rank."""
        return self.newly_found_within(self.size)

    def newly_found_within(self, k: int) -> list[set[int]]:
        """For each of the top k ranks, the golds that are found there and at no earlier rank."""
        fresh: list[set[int]] = [set() for _ in range(min(k, self.size))]
        for gold, (place, _) in self.found.items():
            if place < len(fresh):
                fresh[place].add(gold)
        return fresh

    @derived
    def found_counts(self) -> list[int]:
        """For each rank down to the last at which a gold is found, how many are found there and at no earlier rank."""
        places = [place for place, _ in self.found.values()]
        counts = [0] * (max(places, default=-1) + 1)
        for place in places:
            counts[place] += 1
        return counts

    @derived
    def evidence(self) -> dict[str, object]:
        """What a result says of the match: the ranks that hold gold, and by which rules it was recognised."""
        elsewhere = {"other_documents": self.elsewhere} if self.elsewhere else {}
        return {"hit_ranks": self.hit_ranks, "rules": self.rules, **elsewhere}

    @derived
    def rules(self) -> dict[str, int]:
        """How many golds each rule recognised."""
        counts: dict[str, int] = {}
        for _, rule in self.found.values():
            counts[rule] = counts.get(rule, 0) + 1
        return counts


_NOTHING: Mapping[int, str] = MappingProxyType({})
