"""The weights of the model, and what they say of an answer."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.text.numbers import numbers
from evals.text.refusals.clauses import Wording, clauses_of, plain, unwrapped, wording_of
from evals.text.refusals.features import answer_values, clause_of, declining_and_rest, question_of, word_names
from evals.text.tokens import lists_of

PLACES = ("look", "clause", "declining", "rest", "first", "question")
"""Where a name is weighed: in the whole answer, for a first look; in a clause, for its score; and, for the score of the
answer, in clauses that may decline, in the others, in the first, and at the beginning of the question."""
OPENING = 3
"""Words at the beginning of a question that are weighed."""
BOUND = 9.0
FEW_WORDS = 5
_OPTION = re.compile(r"\W*[a-z]\W*")
_BESIDE_VALUES = frozenset({"source", "about", "from", "only"})
"""Classes of words that stand with a bare value too: "about four minutes"."""

_WEIGHTS = Path(__file__).resolve().parents[2] / "data" / "refusals.npz"
_FRAME = " \t\n.,;:!?*_\"'()[]"
_LONGEST_PHRASE = 60
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Whether an answer declines to answer.

    Attributes:
        declines: Whether more speaks for it than against it.
        doubtful: Whether nearly as much speaks for the opposite: a judge should decide.
        score: Log odds that it declines, from -9 to 9.
    """

    declines: bool
    doubtful: bool
    score: float


class RefusalModel:
    """Fitted weights.

    Args:
        arrays: As they are saved. `names` and `values` are bytes, a name a line; `weights` are whole steps of `scales`,
            for each name in each of the `PLACES`. `value_weights` weighs the values of an answer, `pair_weights` each
            of those at `keys` with each other. `biases` are of the first look, a clause and an answer; `limits` the
            score above which an answer declines, and the scores between which that is doubtful.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        names, values = (bytes(arrays[key]).decode().split("\n") for key in ("names", "values"))
        self.vocabulary = frozenset(filter(str.isalnum, names))
        self.weights: dict[str, dict[str, float]] = {}
        for place, steps, scale in zip(PLACES, arrays["weights"].T, arrays["scales"].tolist(), strict=True):
            weighed = np.flatnonzero(steps)
            self.weights[place] = dict(zip([names[n] for n in weighed], (scale * steps[weighed]).tolist(), strict=True))
        self.values = dict(zip(values, range(len(values)), strict=True))
        self.value_weights, self.pair_weights = arrays["value_weights"], arrays["pair_weights"].astype(np.float32)
        self.keys = arrays["keys"]
        self.biases: list[float] = arrays["biases"].tolist()
        self.threshold, self.low, self.high = arrays["limits"].tolist()

    def summed(self, place: str, names: Iterable[str]) -> float:
        """The weights of some names in a place, added up."""
        weights = self.weights[place]
        return sum([weights[name] for name in names if name in weights])

    def score(self, answer: str, question: str) -> float:
        """The log odds that an answer declines, from -9 to 9."""
        wording = wording_of(answer)
        if not wording.words:
            return BOUND
        if _is_bare_value(wording):
            return -BOUND
        if self.summed("look", word_names(wording.words, self.vocabulary)) + self.biases[0] < 0:
            return -BOUND
        asked = question_of(question)
        clauses = [clause_of(words, asked, self.vocabulary) for words in clauses_of(wording)]
        scores = [self.summed("clause", clause.names) + self.biases[1] for clause in clauses]
        total = self.biases[2] + self.summed("question", asked.stems[:OPENING])
        declining, rest = declining_and_rest(scores)
        for place, group in (("declining", declining), ("rest", rest), ("first", [0])):
            total += self.summed(place, frozenset().union(*[clauses[n].names for n in group]))
        values = np.zeros(len(self.values))
        for name, value in answer_values(clauses, scores, asked).items():
            if name in self.values:
                values[self.values[name]] = value
        total += float(self.value_weights @ values + values[self.keys] @ self.pair_weights @ values)
        return max(-BOUND, min(BOUND, round(float(total), 4)))

    def reading(self, answer: str, question: str) -> Refusal:
        """What the model says of an answer; one that is a phrase such as "I don't know" and no more declines."""
        text = unwrapped(answer)
        if len(text) < _LONGEST_PHRASE and plain(text).strip(_FRAME) in _phrases():
            return Refusal(declines=True, doubtful=False, score=BOUND)
        score = self.score(text, question)
        return Refusal(score > self.threshold, self.low < score < self.high, score)


def _is_bare_value(wording: Wording) -> bool:
    """Whether an answer is a number, in digits or English, with a few words that decline nothing, or a letter.

    Such as "three years" and "(B)", an option of several.
    """
    is_short = len(wording.words) <= FEW_WORDS and all(
        _BESIDE_VALUES.issuperset(word.classes) for word in wording.words
    )
    return is_short and (bool(numbers(wording.text, "en")) or _OPTION.fullmatch(wording.text.strip()) is not None)


@lru_cache(maxsize=512)
def reading(answer: str, question: str = "") -> Refusal:
    """Whether an answer declines to answer; an empty one does.

    Args:
        answer: As the server wrote it, with Markdown and citation marks, or as a JSON object that holds it.
        question: What was asked: "none" answers how many there are, and declines to say who it was.
    """
    return shipped_model().reading(answer, question)


@cache
def shipped_model() -> RefusalModel:
    """The weights of the package, loaded when the first answer is read."""
    with np.load(_WEIGHTS) as arrays:
        return RefusalModel(arrays)


@cache
def _phrases() -> frozenset[str]:
    return frozenset(map(plain, lists_of("refusal_words")["phrases"]))
