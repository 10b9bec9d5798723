"""Question answering over a fixed number of returned documents: were they the right ones, is the fact in the answer?

The definitions of the retrieval metrics here differ from those of the same family elsewhere: the discount is
1 / (i + 1), no cut-off applies to the ideal, all golds are equally important, and "precision" divides by what is
relevant, not by what was returned.
"""

import re
from typing import ClassVar, NamedTuple

from evals.metrics.answer import language_for
from evals.metrics.base import Aggregation, BaseMetric, Need, settled_by_abstention
from evals.metrics.judge_tasks import JudgeTask, answer_beside_reference
from evals.metrics.judged import JudgedMetric, Replies
from evals.metrics.retrieval import adapted_ndcg
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.numbers import numbers
from evals.text.runs import Tokens, covered
from evals.text.tokens import NEGATORS, UNSPACED, fold, tokens

# Whether the fact of an expected answer is included in an answer: letters that nearly agree, the same numbers, and no
# negator that is not expected.

THRESHOLD = 90.0
"""Of the fuzzy score, from 0 to 100: altered claims reach 80 and more."""
_SHORT, _LONG = 10, 200
"""Characters below which an expected answer is looked for letter by letter, and from which by runs of tokens."""
_BEFORE = 3
"""Tokens before the stretch that is compared in which a negator denies it."""
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")

Stretch = tuple[float, Tokens, Tokens]
"""The part of an answer that is most like the expected one: its score, its tokens, and those before it."""


class Inclusion(NamedTuple):
    """Whether an expected answer is included in an answer.

    Attributes:
        expected: The expected answer, or an accepted variant.
        score: The fuzzy score, from 0 to 100.
        differs: What does not agree (text, words, numbers, negation); None where it is included.
    """

    expected: str
    score: float
    differs: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it is included."""
        return self.differs is None


def inclusion(expected: str, answer: str, language: str = "") -> Inclusion:
    """Look for an expected answer in an answer; numbers are read by the language, an ISO 639-1 code."""
    wanted, given = tokens(expected), tokens(answer)
    if not wanted:
        same = bool(expected.strip()) and fold(expected.strip()) in fold(answer)
        return Inclusion(expected, 100.0 * same, None if same else "text")
    score, stretch, before = _nearest(expected, wanted, given)
    differs, is_short = None, len(expected) <= _LONG
    if score < THRESHOLD:
        differs = "text"
    elif not numbers(expected, language, words=False) <= numbers(answer, language):
        differs = "numbers"
    elif is_short and NEGATORS.isdisjoint(wanted) and not NEGATORS.isdisjoint((*before, *stretch)):
        differs = "negation"
    elif is_short and not _begin_alike(wanted, stretch):
        differs = "words"
    return Inclusion(expected, score, differs)


def _nearest(expected: str, wanted: Tokens, given: Tokens) -> Stretch:
    if len(expected.strip()) < _SHORT:
        return _whole_tokens(wanted, given)
    if len(expected) > _LONG:
        return 100 * covered(wanted, given), given, ()
    return _aligned(" ".join(wanted), " ".join(given))


def _whole_tokens(wanted: Tokens, given: Tokens) -> Stretch:
    """Where the tokens stand in the answer one after the other, best where no negator stands before them."""
    size = len(wanted)
    places = [place for place in range(len(given) - size + 1) if given[place : place + size] == wanted]
    before = [given[max(0, place - _BEFORE) : place] for place in places]
    if not places:
        return 0.0, (), ()
    return 100.0, wanted, next(filter(NEGATORS.isdisjoint, before), before[0])


def _aligned(wanted: str, given: str) -> Stretch:
    """The stretch of the answer that is most alike, between bounds of tokens."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - for this metric only

    if len(given) <= len(wanted):
        return fuzz.ratio(wanted, given), tuple(_WORD.findall(given)), ()
    aligned = fuzz.partial_ratio_alignment(wanted, given, score_cutoff=THRESHOLD - 10)
    if aligned is None:
        return 0.0, (), ()
    words = list(_WORD.finditer(given))
    inside = [n for n, word in enumerate(words) if word.start() < aligned.dest_end and word.end() > aligned.dest_start]
    first, last = inside[0], inside[-1]
    options = [(a, b) for a in (first, first + 1) for b in (last, last - 1) if a <= b]
    score, first, last = max((fuzz.ratio(wanted, given[words[a].start() : words[b].end()]), a, b) for a, b in options)
    texts = tuple(word[0] for word in words)
    return score, texts[first : last + 1], texts[max(0, first - _BEFORE) : first]


def _begin_alike(wanted: Tokens, stretch: Tokens) -> bool:
    """Whether no word has another first letter in its place: "illegal" is not "legal", nor "decrease" "increase"."""
    if len(wanted) != len(stretch):
        wanted, stretch = (wanted[0], wanted[-1]), (stretch[0], stretch[-1])
    return all(word[0] == given[0] for word, given in zip(wanted, stretch, strict=True))


class _Returned(BaseMetric):
    """What the metrics over all returned chunks share."""

    group = MetricGroup.RETRIEVAL
    suites = frozenset({"qa"})
    needs = frozenset({Need.GOLD, Need.CHUNKS})


class AdaptedNDCG(_Returned):
    """How high the relevant chunks stand among those returned, with a discount of 1 / (i + 1).

    Formula: DCG / IDCG, DCG = Σ f(d_i) / (i + 1) over the n chunks returned, i from 0 in the server's order, IDCG =
    Σ 1 / (i + 1) over all m relevant ones, also where the server returns fewer: then 1 cannot be reached. f is 1 for a
    chunk that is first to cover a gold, else 0; every gold is equally important, whatever its grade. Golds covered
    together by one chunk form one ideal unit, so the value never exceeds 1, and is the formula to the letter wherever
    chunks and golds match one to one. Not comparable with ndcg_at_K, whose discount is log2.
    Range 0 to 1, higher is better. None without gold passages; 0 where the server returned none of them.
    Reference: as the specification writes it, after Järvelin & Kekäläinen 2002; where one chunk holds several golds
    they are one unit of the ideal.
    """

    name = "adapted_ndcg"

    def measure(self, sample: Sample) -> MetricResult:
        matches = sample.matches
        hits = [bool(golds) for golds in matches.newly_found]
        relevant = sum(hits) + len(sample.question.gold_passages) - len(matches.found)
        return self.result(adapted_ndcg(hits, relevant), returned=len(hits), relevant=relevant, **matches.evidence)


class ModifiedPrecision(_Returned):
    """Share of the relevant passages that are among the chunks returned, however many those are.

    Formula: |gold found in any returned chunk| / |gold|: true positives divided by what should have been returned,
    that is the recall of the whole list. Each gold counts once, however many chunks hold it.
    Range 0 to 1, higher is better. None without gold passages.
    Reference: as the specification writes it; it is the recall of Manning et al. 2008 without a cut-off.
    """

    name = "modified_precision"

    def measure(self, sample: Sample) -> MetricResult:
        matched, relevant = len(sample.matches.found), len(sample.question.gold_passages)
        return self.result(matched / relevant, found=matched, relevant=relevant, **sample.matches.evidence)


class FuzzyMatch(BaseMetric):
    """Whether the expected answer, or an accepted variant, is included in the answer.

    Formula: 1 where partial_ratio (rapidfuzz) of the expected answer and a longer answer is at least 90, else ratio,
    both over their tokens; and the stretch of the answer that is compared begins and ends with whole tokens none of
    which begins with another letter ("legal" is not in "illegal"); and all numbers of the expected answer are among
    those of the answer; and no negator (a table of fourteen languages) stands in the stretch or in the three tokens
    before it that the expected answer has not. An expected answer under ten characters is looked for letter by letter,
    as whole tokens; one of more than 200 by runs of tokens that are 90 % of it. It compares letters, not meanings: a
    paraphrase is 0. Range 0 or 1, higher is better. 0 where the server abstains on an answerable question, or answers
    an unanswerable one. None for a right abstention, and without an expected answer.
    Reference: fuzzy match as the fact inclusion check that the specification names; bounds of tokens, numbers and
    negators are ours.
    """

    name = "fuzzy_match"
    suites = frozenset({"qa"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.EXPECTED_ANSWER})
    heeds_abstention = True
    of_answer = True

    def measure(self, sample: Sample) -> MetricResult:
        settled = settled_by_abstention(self, sample)
        if settled is not None:
            return settled
        question, answer = sample.question, sample.answer or ""
        accepted, language = [question.expected_answer or "", *question.answers], language_for(question)
        nearest = (inclusion(text, answer, language) for text in accepted)
        best = max(nearest, key=lambda item: (item.holds, item.score))
        details = {"matched": best.expected} if best.holds else {"nearest": best.expected, "differs": best.differs}
        return self.result(best.holds, score=round(best.score, 1), threshold=THRESHOLD, **details)


# Factual match: by letters, or by a judge that finds five criteria fulfilled.


FIVE_CRITERIA = JudgeTask("gptscore", "gptscore", answer_beside_reference)
"""The five criteria of a factual answer, each met, not met or not applicable."""


class GPTScore(JudgedMetric):
    """Whether the answer factually matches the expected one, by five criteria.

    Formula: 1 if the judge finds no criterion that applies not met, else 0. The criteria: the key topic is there; the
    central fact is not left out; nothing contradicts the expected answer; figures agree; the state or direction of
    indicators agrees. Range 0 or 1, higher is better. 0 for an abstention on an answerable question, and for an
    answer to an unanswerable one; None for a right abstention and without an expected answer. Not Fu et al.'s
    GPTScore, which needs token probabilities.
    Reference: as the specification writes it: five criteria and a binary decision, by a judge as in Liu et al. 2023
    (G-Eval). Not Fu et al.'s GPTScore, which needs token probabilities.
    """

    name = "gptscore"
    suites: ClassVar = frozenset({"qa"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (FIVE_CRITERIA,)
    settled = settled_by_abstention

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        verdicts = {item["id"]: item["verdict"] for item in replies[FIVE_CRITERIA.name]["criteria"]}
        if "not_met" in verdicts.values():
            failed = [name for name, verdict in verdicts.items() if verdict == "not_met"]
            return self.result(0.0, criteria=verdicts, not_met=failed)
        if "cannot_tell" in verdicts.values() or "met" not in verdicts.values():
            return self.undecided(criteria=verdicts)
        return self.result(1.0, criteria=verdicts)


class FactualMatch(GPTScore):
    """Whether the answer holds the expected fact, by letters or by meaning.

    Formula: 1 if `fuzzy_match` or `gptscore` is 1, else 0. Both always run; where they disagree the details say
    `needs_verification`, which `show --question` names. Where the judge gave no
    verdict, 1 on a fuzzy match and else None. Without a judge there is no value: only the hits would be in it. Range 0
    or 1, higher is better. None for a right abstention and without an expected answer.
    Reference: as the specification writes it.
    """

    name = "factual_match"

    def measure(self, sample: Sample) -> MetricResult:
        letters, meaning = FuzzyMatch().score(sample), GPTScore().score(sample)
        details = {"fuzzy_match": letters.value, "gptscore": meaning.value, **self.injection_flag(sample)}
        judged_by = letters.judged_by
        if not letters.value and sample.judged:
            judged_by = list(dict.fromkeys([*judged_by, *meaning.judged_by]))
        known = [part.value for part in (letters, meaning) if part.value is not None]
        if letters.value or len(known) == 2:
            disagree = {"needs_verification": True} if len(set(known)) == 2 else {}
            result = self.result(max(known), **details, **disagree)
        else:
            lacking = letters if letters.value is None else meaning
            result = self.undefined(lacking.reason or "", missing=lacking.missing or "not_applicable", **details)
        return self.with_verdicts(result, judged_by)
