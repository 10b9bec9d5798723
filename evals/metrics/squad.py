"""Exact match and F1 as the official evaluation script of SQuAD v2 computes them."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.tokens import normalised

_CLOSED = frozenset({"yes", "no", "noanswer"})


def best_exact(prediction: str, golds: Iterable[str], language: str = "en") -> float:
    """1 where the prediction equals a gold, both normalised, else 0. No golds, or only empty ones: the gold is ""."""
    return float(normalised(prediction, language) in _normal(golds, language))


def best_f1(prediction: str, golds: Iterable[str], language: str = "en") -> float:
    """The best F1 of the prediction's tokens with those of a gold, as multisets; range 0 to 1.

    Where either side has no tokens it is 1 if neither has any, else 0.
    """
    predicted = normalised(prediction, language).split()
    return max(_f1(predicted, gold.split()) for gold in _normal(golds, language))


def best_hotpot_f1(prediction: str, golds: Iterable[str], language: str = "en") -> float:
    """As `best_f1`, by HotpotQA's script: a yes, no or noanswer on either side must be met exactly; nothing is 0."""
    said = normalised(prediction, language)
    return max(
        0.0 if not said or (said != gold and {said, gold} & _CLOSED) else _f1(said.split(), gold.split())
        for gold in _normal(golds, language)
    )


def _normal(golds: Iterable[str], language: str) -> list[str]:
    return [plain for gold in golds if (plain := normalised(gold, language))] or [""]


def _f1(predicted: list[str], gold: list[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    shared = (Counter(predicted) & Counter(gold)).total()
    precision, recall = shared / len(predicted), shared / len(gold)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


class _Squad(BaseMetric):
    """What both share: the golds of the question, and, where it has no answer, an abstention as the empty one."""

    group = MetricGroup.GENERATION
    suites = frozenset({"answer"})
    needs = frozenset({Need.EXPECTED_ANSWER})
    of_answer = True

    def hangs_on_abstention(self, sample: Sample) -> bool:
        return bool(sample.question.is_unanswerable)

    def measure(self, sample: Sample) -> MetricResult:
        question = sample.question
        golds = [] if question.is_unanswerable else [question.expected_answer or "", *question.answers]
        prediction = "" if question.is_unanswerable and sample.abstained else sample.answer or ""
        language = str(question.metadata.get("language") or "en")[:2].lower()
        value = self.comparison(question)(prediction, golds, language)
        return self.result(value, has_answer=any(normalised(gold, language) for gold in golds))

    @abstractmethod
    def comparison(self, question: EvalQuestion) -> Callable[[str, list[str], str], float]:
        """What compares an answer to the question with the golds."""


class SquadEM(_Squad):
    """Exact match by the rules of SQuAD v2.

    Formula: 1 where the answer equals the expected answer or an accepted variant after normalisation (lower case,
    ASCII punctuation and the articles a, an, the deleted, white space collapsed), else 0. In scripts of the Middle East
    and of Asia, and where `metadata.language` is another than English, as the script of MLQA: punctuation of all
    scripts and articles of the language (German, Spanish, Vietnamese, Arabic) fall, one token a character in Chinese,
    Japanese and Thai; Arabic vowel marks do not count. The gold of an unanswerable question is
    the empty answer, and so is an abstention from one. On any other question an answer counts by its words, as the
    official script has it. Range 0 to 1, higher is better. The details say whether the question has an answer. None
    without an expected answer.
    Reference: Rajpurkar et al. 2018 and its official evaluation script; Lewis et al. 2020 (MLQA).
    """

    name = "squad_em"
    aggregation = Aggregation.RATE

    def comparison(self, question: EvalQuestion) -> Callable[[str, list[str], str], float]:
        return best_exact


class SquadF1(_Squad):
    """Overlap of tokens by the rules of SQuAD v2.

    Formula: the harmonic mean of |shared tokens| / |tokens of the answer| and |shared tokens| / |tokens of the gold|,
    as multisets, after the normalisation of `squad_em`; the best over expected answer and accepted variants. The gold
    of an unanswerable question is the empty answer, and so is an abstention from one; F1 with nothing is 1 where both
    are nothing, else 0. On rows of hotpotqa a gold or an answer of yes or no must be met exactly, as HotpotQA's own
    script has it. Range 0 to 1, higher is better. None without an expected answer.
    Reference: Rajpurkar et al. 2018 and its official evaluation script; Yang et al. 2018 for HotpotQA.
    """

    name = "squad_f1"

    def comparison(self, question: EvalQuestion) -> Callable[[str, list[str], str], float]:
        return best_hotpot_f1 if question.dataset == "hotpotqa" else best_f1
