"""What came out of comparing the chunks of a response with the golds of its question."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property


@dataclass
class Matches:
    """Which chunk is which gold.

    Attributes:
        by_chunk: For each rank, the golds (by index) that the chunk covers, or holds a piece of that others complete,
            with the rule. Duplicates of an earlier chunk cover nothing.
        found: For each gold recognised, the place at which it is found and the rule. A gold cut by chunk borders is
            found where enough of it has been seen.
        original: For each rank, the place of the first chunk that this one repeats; its own place if it repeats none.
        complete: For a place and a gold of which the chunk there holds a piece only, the place that completes it.
        elsewhere: How many times a gold's text was seen in another document than its own, where that does not count.
    """

    by_chunk: list[dict[int, str]]
    found: dict[int, tuple[int, str]] = field(default_factory=dict)
    original: list[int] = field(default_factory=list)
    complete: dict[tuple[int, int], int] = field(default_factory=dict)
    elsewhere: int = 0

    @cached_property
    def hits(self) -> list[bool]:
        """Whether the chunk at each rank is relevant."""
        return [bool(golds) for golds in self.by_chunk]

    def hits_within(self, k: int) -> list[bool]:
        """Whether the chunk at each of the top k ranks is relevant, seen from these ranks alone.

        A piece of a gold that chunk borders have cut counts only where the top k complete the gold.
        """
        return [place is not None and place < k for place in self._known_from[:k]]

    @cached_property
    def _known_from(self) -> list[int | None]:
        """For each rank, the place at which its first gold is found, or complete if it is a piece; None for a miss."""
        return [
            min((self.complete.get((place, gold), self.found[gold][0]) for gold in golds), default=None)
            for place, golds in enumerate(self.by_chunk)
        ]

    @cached_property
    def hit_ranks(self) -> list[int]:
        """The ranks, from 1, of the relevant chunks."""
        return [rank for rank, hit in enumerate(self.hits, start=1) if hit]

    @cached_property
    def newly_found(self) -> list[set[int]]:
        """For each rank, the golds that are found there and at no earlier rank."""
        fresh: list[set[int]] = [set() for _ in self.by_chunk]
        for gold, (place, _) in self.found.items():
            fresh[place].add(gold)
        return fresh

    @cached_property
    def found_counts(self) -> list[int]:
        """For each rank, how many golds are found there and at no earlier rank."""
        return [len(golds) for golds in self.newly_found]

    @cached_property
    def evidence(self) -> dict[str, object]:
        """What a result says of the match: the ranks that hold gold, and by which rules it was recognised."""
        elsewhere = {"other_documents": self.elsewhere} if self.elsewhere else {}
        return {"hit_ranks": self.hit_ranks, "rules": self.rules, **elsewhere}

    @cached_property
    def rules(self) -> dict[str, int]:
        """How many golds each rule recognised."""
        return dict(Counter(rule for _, rule in self.found.values()))
