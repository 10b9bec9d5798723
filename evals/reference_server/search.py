"""BM25 over chunks, and answers made of the sentences that share most words with the question."""

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

import bm25s
import numpy as np

from evals.reference_server.documents import Chunk, sentences

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG

ABSTENTION = "I don't have enough information in the provided documents to answer this question."

_STOPWORDS = """
a about also am an and any are as at be been being but by can could describe did do does doing don explain for from get
gets give got had has have having he her here hers him his how i if in into is isn it its itself just list many may me
might much must my name no nor not of on or our ours please shall she should show so some such s t tell than that the
their theirs them then there these they this those to too us very was we were what when where which while who whom whose
why will with would you your yours"""
_LEAST_SHARED = 0.5
"""Share of the question's words, weighted by rarity, that the best chunk must have for an answer."""
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ies|ied|ing|ed|es|(?<![su])s|e|y)$")
_ITEM = ("-", "*", "+", "1", "2", "3", "4", "5", "6", "7", "8", "9", "|")
_CHUNKS_READ, _MOST_SENTENCES, _NEAR_BEST, _HEADING_WEIGHT = 3, 3, 0.6, 0.3


def tokenize(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text without stopwords and endings."""
    words = {"token_pattern": r"\d+(?:[.,]\d+)+|\w+", "stopwords": _STOPWORDS.split(), "stemmer": stem}
    tokens: list[list[str]] = bm25s.tokenize(list(texts), **words, return_ids=False, show_progress=False)
    return tokens


def stem(words: Sequence[str]) -> list[str]:
    """Words without usual endings: "policies" and "policy", "stored" and "storing" meet, "1,234" is "1234"."""
    return [_ENDING.sub("", word).replace(",", "") for word in words]


class Hit(NamedTuple):
    """A chunk that shares a word with the question."""

    chunk: Chunk
    score: float


class Index:
    """BM25 over chunks."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self.chunks = tuple(chunks)
        tokens = tokenize([f"{chunk.heading}\n{chunk.text}" for chunk in self.chunks])
        self._words = {chunk.chunk_id: set(words) for chunk, words in zip(self.chunks, tokens, strict=True)}
        self._frequency = Counter(word for words in self._words.values() for word in words)
        self._bm25 = bm25s.BM25(method="lucene")
        if self._frequency:
            self._bm25.index(tokens, show_progress=False)

    def search(self, question: str, top_k: int) -> list[Hit]:
        """The best chunks, best first; one without a word of the question is no hit."""
        known = [word for word in dict.fromkeys(tokenize([question])[0]) if word in self._frequency]
        if not known:
            return []
        scores = self._bm25.get_scores(known)
        best = np.argsort(-scores, kind="stable")[:top_k]
        return [Hit(self.chunks[place], round(float(scores[place]), 6)) for place in best if scores[place] > 0]

    def rarity(self, words: Iterable[str]) -> float:
        """The sum of the inverse document frequencies of words."""
        counts = [self._frequency[word] for word in words]
        return math.fsum(math.log(1 + (len(self.chunks) - count + 0.5) / (count + 0.5)) for count in counts)

    def answers(self, asked: set[str], chunk: Chunk) -> bool:
        """Whether a chunk has enough of the question's words."""
        total = self.rarity(asked)
        return total > 0 and self.rarity(asked & self._words[chunk.chunk_id]) >= _LEAST_SHARED * total


class Answer(NamedTuple):
    """An answer, the chunks that it cites in its order, and the characters that were read for it."""

    text: str
    cited: tuple[Chunk, ...]
    characters_read: int


def answer(question: str, hits: Sequence[Hit], index: Index, number: Callable[[Chunk], int]) -> Answer:
    """Quote the sentences of the best chunks that share most words with the question, or decline.

    Args:
        question: The question.
        hits: What was retrieved for it, best first.
        index: That of the hits.
        number: The source number by which a chunk is cited.
    """
    asked = set(tokenize([question])[0])
    chunks = [hit.chunk for hit in hits[:_CHUNKS_READ]]
    quoted: dict[Chunk, list[str]] = {}
    if chunks and index.answers(asked, chunks[0]):
        scored = [pair for chunk in chunks for pair in _scored(chunk, asked, index)]
        best = sorted(range(len(scored)), key=lambda place: -scored[place][0])[:_MOST_SENTENCES]
        for score, chunk, text in (scored[place] for place in sorted(best)):
            if score > 0 and score >= _NEAR_BEST * scored[best[0]][0]:
                quoted.setdefault(chunk, []).append(text)
    text = "\n".join(f"{' '.join(texts)} [{number(chunk)}]" for chunk, texts in quoted.items())
    return Answer(text or ABSTENTION, tuple(quoted), sum(len(chunk.text) for chunk in chunks))


def _scored(chunk: Chunk, asked: set[str], index: Index) -> Iterator[tuple[float, Chunk, str]]:
    """The sentences of a chunk, by the rarity of the words that they share with the question."""
    quotable = sentences(chunk.text)
    heading, *words = (asked.intersection(words) for words in tokenize([chunk.heading, *quotable]))
    for place, shared in enumerate(words):
        following = quotable[place + 1 :] if quotable[place].endswith(":") else []
        text = "\n".join([quotable[place], *takewhile(lambda item: item.startswith(_ITEM), following)])
        yield index.rarity(shared) + _HEADING_WEIGHT * index.rarity(heading - shared), chunk, text
