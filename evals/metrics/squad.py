"""Exact match and F1 as the official evaluation script of SQuAD v2 computes them.

The script is no package, and the package `evaluate` downloads its copy when it is used.
"""

import re
import string
from abc import abstractmethod
from collections.abc import Callable, Iterable

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.folding import remembered

_ARTICLES = re.compile(r"\b(a|an|the)\b")

_WORDS = frozenset({"a", "an", "the"})

_CLOSED = frozenset({"yes", "no", "noanswer"})

_HOTPOTQA = "hotpotqa"

_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))

_DELETED = string.punctuation.encode()


_LOWER = bytes(range(256)).lower()
"""For ASCII text, which most is, bytes are changed many times faster than characters."""


@remembered(1_000_000)
def normalise(text: str) -> str:
    """Lower the case, delete ASCII punctuation, then articles, then superfluous white space; in this order."""
    if text.isascii() and text.isprintable():  # then what stands between blanks is what stands between word boundaries
        words = text.encode().translate(_LOWER, _DELETED).decode().split()
        return " ".join(words if _WORDS.isdisjoint(words) else [word for word in words if word not in _WORDS])
    plain = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def best_exact(prediction: str, golds: Iterable[str]) -> float:
    """1 where the prediction equals a gold, both normalised, else 0. No golds, or only empty ones: the gold is ""."""
    return float(normalise(prediction) in _normal(golds))


def best_f1(prediction: str, golds: Iterable[str]) -> float:
    """The best F1 of the prediction's tokens with those of a gold, as multisets; range 0 to 1.

    Where either side has no tokens it is 1 if neither has any, else 0.
    """
    predicted = normalise(prediction).split()
    return max([_f1(predicted, gold.split()) for gold in _normal(golds)])


def best_hotpot_f1(prediction: str, golds: Iterable[str]) -> float:
    """As `best_f1`, by HotpotQA's script: a yes, no or noanswer on either side must be met exactly; nothing is 0."""
    normal = normalise(prediction)
    return max(
        0.0 if (normal != gold and {normal, gold} & _CLOSED) or not normal else _f1(normal.split(), gold.split())
        for gold in _normal(golds)
    )


def _normal(golds: Iterable[str]) -> list[str]:
    return [normal for normal in map(normalise, golds) if normal] or [""]


def _f1(predicted: list[str], gold: list[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    shared = _shared(predicted, gold)
    if not shared:
        return 0.0
    precision, recall = shared / len(predicted), shared / len(gold)
    return 2 * precision * recall / (precision + recall)


def _shared(predicted: list[str], gold: list[str]) -> int:
    """How many tokens the two share, as multisets; counted by hand, as `Counter` takes longer than all the rest."""
    left: dict[str, int] = {}
    for token in gold:
        left[token] = left.get(token, 0) + 1
    shared = 0
    for token in predicted:
        if left.get(token):
            left[token] -= 1
            shared += 1
    return shared


class _Squad(BaseMetric):
    """What both share: the golds of the question, and, where it has no answer, an abstention as the empty one."""

    group = MetricGroup.GENERATION
    suites = frozenset({"answer"})
    needs = frozenset({Need.EXPECTED_ANSWER})
    of_answer = True

    def measure(self, case: Sample) -> MetricResult:
        golds = _golds(case.question)
        prediction = "" if case.question.is_unanswerable and case.abstained else case.answer or ""
        return self.result(self.compare(case.question)(prediction, golds), has_answer=any(map(normalise, golds)))

    def hangs_on_abstention(self, case: Sample) -> bool:
        return bool(case.question.is_unanswerable)

    @abstractmethod
    def compare(self, question: EvalQuestion) -> Callable[[str, Iterable[str]], float]:
        """How a prediction is compared with the golds."""


class SquadEM(_Squad):
    """Exact match by the rules of SQuAD v2.

    Formula: 1 where the answer equals the expected answer or an accepted variant after normalisation (lower case,
    ASCII punctuation and the articles a, an, the deleted, white space collapsed), else 0. Citation marks such as [1]
    are taken off both sides before, where the server sends chunks or citations. The gold of an unanswerable question is
    the empty answer, and so is an abstention from one; of an extractive prediction only the empty one abstains. On any
    other question an answer counts by its words, as the official script has it. Range 0 to 1, higher is better. The
    details say whether the question has an answer. None without an expected answer.
    Reference: Rajpurkar et al. 2018 and its official evaluation script.
    """

    name = "squad_em"
    aggregation = Aggregation.RATE

    def compare(self, question: EvalQuestion) -> Callable[[str, Iterable[str]], float]:
        return best_exact


class SquadF1(_Squad):
    """Overlap of tokens by the rules of SQuAD v2.

    Formula: the harmonic mean of |shared tokens| / |tokens of the answer| and |shared tokens| / |tokens of the gold|,
    as multisets, without citation marks and after the normalisation of `squad_em`; the best over expected answer and
    accepted variants. The gold of an unanswerable question is the empty answer, and so is an abstention from one; F1
    with nothing is 1 where both are nothing, else 0. On rows of hotpotqa a gold or an answer of yes or no must be met
    exactly, as HotpotQA's own script has it. Range 0 to 1, higher is better. None without an expected answer.
    Reference: Rajpurkar et al. 2018 and its official evaluation script; Yang et al. 2018 for HotpotQA.
    """

    name = "squad_f1"

    def compare(self, question: EvalQuestion) -> Callable[[str, Iterable[str]], float]:
        return best_hotpot_f1 if question.dataset == _HOTPOTQA else best_f1


def _golds(question: EvalQuestion) -> list[str]:
    return [] if question.is_unanswerable else [question.expected_answer or "", *question.answers]
