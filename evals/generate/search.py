"""BM25 over passages."""

from collections import Counter
from collections.abc import Sequence

import bm25s
import numpy as np

from evals.text.tokens import STOP_WORDS, tokens


def content_words(text: str) -> list[str]:
    """The distinct words of a text that say what it is about, in their order."""
    return list(dict.fromkeys(word for word in tokens(text) if word not in STOP_WORDS))


class PassageIndex:
    """Finds passages by their words.

    Args:
        texts: Of the passages, in their order.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words = [[word for word in tokens(text) if word not in STOP_WORDS] for text in texts]
        self.words = [frozenset(held) for held in words]
        self.frequency = Counter(word for held in self.words for word in held)
        """In how many passages a word stands."""
        self._bm25 = bm25s.BM25(method="lucene")
        if self.frequency:
            self._bm25.index(words, show_progress=False)

    def best(self, query: str, count: int) -> list[int]:
        """Places of the passages that fit best, best first; what shares no word with the query is not among them."""
        known = [word for word in content_words(query) if word in self.frequency]
        if not known:
            return []
        scores = self._bm25.get_scores(known)
        order = np.argsort(-scores, kind="stable")[:count]
        return [int(place) for place in order if scores[place] > 0]
