"""What the tests of comparing texts share: models that need no weights, and choices of models."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from evals.metrics.embedders import Embedding, ModelChoice, SemanticConfig
from evals.text.tokens import tokens


class BagOfWords:
    """An embedder: how often each of 512 kinds of words occurs. It counts what it is asked for."""

    name = "bag of words"

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.calls.append(list(texts))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Embedding:
        vector = [0.0] * 512
        for word, count in Counter(tokens(text)).items():
            vector[crc32(word.encode()) % 512] += count
        return vector


class WordOverlap:
    """A scorer: F1 over bags of words, or what `script` holds for the pair. It counts what it is asked for."""

    name = "word overlap"

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str]]] = []
        self.script: dict[tuple[str, str], float] = {}

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.calls.append(list(pairs))
        return [self.script.get(pair, self._overlap(*pair)) for pair in pairs]

    def _overlap(self, candidate: str, reference: str) -> float:
        said, wanted = Counter(tokens(candidate)), Counter(tokens(reference))
        common = sum(min(count, wanted.get(word, 0)) for word, count in said.items())
        return 2 * common / (sum(said.values()) + sum(wanted.values())) if common else 0.0


def choice_of(**keys: Any) -> ModelChoice:
    """A configuration with these keys, of which the models that they name are wanted."""
    return SemanticConfig(**keys).choice(embedder="embedder" in keys, scorer="bert_score_model" in keys)
