"""What the tests of comparing texts share: an embedder and a scorer that need no model."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import pytest

from evals.metrics import Sample
from evals.metrics.embedders import Embedding, Semantics
from evals.schemas import EvalQuestion, EvalResponse
from evals.schemas.dataset import KeySentence
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


@pytest.fixture
def embedder() -> BagOfWords:
    """An embedder without a model."""
    return BagOfWords()


@pytest.fixture
def scorer() -> WordOverlap:
    """A scorer without a model."""
    return WordOverlap()


@pytest.fixture
def semantics(embedder: BagOfWords, scorer: WordOverlap) -> Semantics:
    """Both, as metrics take them."""
    return Semantics(embedder, scorer)


@pytest.fixture
def make_case(semantics: Semantics) -> Callable[..., Sample]:
    """An answered question; keywords are fields of the question, or `answer`, `error` and `semantics`."""

    def make(answer: str | None = "Burst pipes are covered.", **fields: Any) -> Sample:
        keys = [KeySentence(text=text, source="test") for text in fields.pop("keys", ())]
        response = EvalResponse(answer=answer, error=fields.pop("error", None))
        with_semantics = fields.pop("semantics", semantics)
        question = EvalQuestion(**{"question": "What is covered?", "key_sentences": keys, **fields})
        return Sample(question, response, semantics=with_semantics)

    return make
