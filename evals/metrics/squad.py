"""Exact match and F1 as the official evaluation script of SQuAD v2 computes them."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricResult
from evals.text.tokens import normalised

_CLOSED = frozenset({"yes", "no", "noanswer"})


GoldComparison = Callable[[str, str], float]
"""Of an answer with a gold, both normalised; range 0 to 1."""


def exact(answer: str, gold: str) -> float:
    """1 where the two are equal, else 0."""
    return float(answer == gold)


def f1(answer: str, gold: str) -> float:
    """The F1 of the tokens of the two, as multisets. Where either has no tokens it is 1 if neither has any, else 0."""
    predicted, wanted = answer.split(), gold.split()
    if not predicted or not wanted:
        return float(predicted == wanted)
    shared = (Counter(predicted) & Counter(wanted)).total()
    precision, recall = shared / len(predicted), shared / len(wanted)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def hotpot_f1(answer: str, gold: str) -> float:
    """As `f1`, by HotpotQA's script: a yes, no or noanswer on either side must be met exactly; nothing is 0."""
    is_missed = answer != gold and not _CLOSED.isdisjoint((answer, gold))
    return f1(answer, gold) if answer and not is_missed else 0.0


def best(comparison: GoldComparison, prediction: str, golds: Iterable[str], language: str = "en") -> float:
    """The best comparison of a prediction with a gold. No golds, or only empty ones: the gold is ""."""
    plain = [text for gold in golds if (text := normalised(gold, language))] or [""]
    return max(comparison(normalised(prediction, language), gold) for gold in plain)


class _Squad(BaseMetric):
    """What both share: the golds of the question, and, where it has no answer, an abstention as the empty one."""

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
        value = best(self.comparison(question), prediction, golds, language)
        return self.result(value, has_answer=any(normalised(gold, language) for gold in golds))

    @abstractmethod
    def comparison(self, question: EvalQuestion) -> GoldComparison:
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

    def comparison(self, question: EvalQuestion) -> GoldComparison:
        return exact


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

    def comparison(self, question: EvalQuestion) -> GoldComparison:
        return hotpot_f1 if question.dataset == "hotpotqa" else f1
