"""Every text is embedded once in a run, and every pair scored once.

Not by `functools.lru_cache`, which remembers whole calls: here the new texts of a call are passed on, in one batch.
"""

from collections.abc import Sequence

from evals.semantics.base import Embedder, TextScorer, Vector


class RememberingEmbedder:
    """Passes on to an embedder what it has not embedded before, each text once.

    Args:
        embedder: Does the work.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return [self._known[text] for text in texts]


class RememberingScorer:
    """Passes on to a scorer the pairs that it has not scored before, each once.

    A pair with an empty text scores 0 and is never passed on: BERTScore's own package breaks on it.

    Args:
        scorer: Does the work.
    """

    def __init__(self, scorer: TextScorer) -> None:
        self.name = scorer.name
        self._scorer = scorer
        self._known: dict[tuple[str, str], float] = {}

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The F1 of each (candidate, reference), in their order."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known and _both_say_something(pair)]
        if new:
            self._known.update(zip(new, self._scorer.f1(new), strict=True))
        return [self._known.get(pair, 0.0) for pair in pairs]


def _both_say_something(pair: tuple[str, str]) -> bool:
    return all(text.strip() for text in pair)
