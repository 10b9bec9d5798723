"""Every text is embedded once in a run, and every pair scored once.

Not by `functools.lru_cache`, which remembers whole calls: here the new texts of a call are passed on, in one batch.
What was found lies on disk: the vectors of a large run take gigabytes.
"""

from array import array
from collections.abc import Sequence

from evals.semantics.base import Embedder, TextScorer, Vector
from evals.semantics.places import Places
from evals.store.spill import Spill


class RememberingEmbedder:
    """Passes on to an embedder what it has not embedded before, each text once.

    Args:
        embedder: Does the work.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._places = Places()
        self._vectors: Spill[Vector] = Spill(None)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order."""
        new = [text for text in dict.fromkeys(texts) if self._places.find(text) is None]
        found = dict(zip(new, self._embedder.embed(new), strict=True)) if new else {}
        for text, vector in found.items():
            self._vectors.append(vector)
            self._places.add(text)
        return [found[text] if text in found else self._known(text) for text in texts]

    def _known(self, text: str) -> Vector:
        number = self._places.find(text)
        if number is None:
            raise KeyError(text)
        return self._vectors.read(number)


class RememberingScorer:
    """Passes on to a scorer the pairs that it has not scored before, each once.

    A pair with an empty text scores 0 and is never passed on: BERTScore's own package breaks on it.

    Args:
        scorer: Does the work.
    """

    def __init__(self, scorer: TextScorer) -> None:
        self.name = scorer.name
        self._scorer = scorer
        self._places = Places()
        self._scores = array("d")

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The F1 of each (candidate, reference), in their order."""
        new = [pair for pair in dict.fromkeys(pairs) if self._place(pair) is None and _both_say_something(pair)]
        for pair, score in zip(new, self._scorer.f1(new) if new else (), strict=True):
            self._scores.append(score)
            self._places.add(key_of_pair(pair))
        places = map(self._place, pairs)
        return [0.0 if place is None else self._scores[place] for place in places]

    def _place(self, pair: tuple[str, str]) -> int | None:
        return self._places.find(key_of_pair(pair))


def key_of_pair(pair: tuple[str, str]) -> str:
    """The two as one text, which no other pair makes."""
    return f"{len(pair[0])} {pair[0]}{pair[1]}"


def _both_say_something(pair: tuple[str, str]) -> bool:
    return all(text.strip() for text in pair)
