"""Question answering over a fixed number of returned documents: were they the right ones, is the fact in the answer?

The definitions of the retrieval metrics here differ from those of the same family elsewhere: the discount is
1 / (i + 1), no cut-off applies to the ideal, all golds are equally important, and "precision" divides by what is
relevant, not by what was returned.
"""

from evals.case.case import Case
from evals.metrics.abstaining import settled_by_abstention
from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.fact_inclusion import THRESHOLD, Inclusion, inclusion
from evals.metrics.ranking import adapted_ndcg
from evals.schemas import MetricGroup, MetricResult


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
    Reference: the formula here, after Järvelin & Kekäläinen 2002.
    """

    name = "adapted_ndcg"

    def measure(self, case: Case) -> MetricResult:
        hits = [bool(golds) for golds in case.matches.newly_found]
        relevant = sum(hits) + len(case.question.gold_passages) - len(case.matches.found)
        return self.result(adapted_ndcg(hits, relevant), returned=len(hits), relevant=relevant, **case.matches.evidence)


class ModifiedPrecision(_Returned):
    """Share of the relevant passages that are among the chunks returned, however many those are.

    Formula: |gold found in any returned chunk| / |gold|: true positives divided by what should have been returned,
    that is the recall of the whole list. Each gold counts once, however many chunks hold it.
    Range 0 to 1, higher is better. None without gold passages.
    Reference: the formula here; it is the recall of Manning et al. 2008 without a cut-off.
    """

    name = "modified_precision"

    def measure(self, case: Case) -> MetricResult:
        found, relevant = len(case.matches.found), len(case.question.gold_passages)
        return self.result(found / relevant, found=found, relevant=relevant, **case.matches.evidence)


class FuzzyMatch(BaseMetric):
    """Whether the fact of the expected answer, or of an accepted variant, is included in the answer.

    Formula: 1 if partial_ratio(default_process(expected), default_process(answer)) ≥ 90 (rapidfuzz) and the claim there
    is the same, else 0. The same claim is: every word of the expected answer in its order (articles and forms of "be"
    aside; an s at its end, or a d behind an e, is the same word), every number of it, with sign and percent, and as
    many negations in that clause of the answer as in the expected one. A word of at least five letters may be misspelt
    where that seldom makes another word: two neighbours that have changed places, a letter doubled or not, s for z, and
    inside a word of eight letters a letter more or less or another vowel ("government", "goverment"); so "public" is
    not "pubic", nor "contract" "contact", and listed pairs such as "causal" and "casual" are two words. Nor is the
    first letter, a number word ("billion") or a form in -ed, -ee, -en, -er or -es ("employee") misspelt. It is not
    claimed where it is set aside ("London rather than Paris", "instead of Paris") or called false ("Paris, which is
    wrong"), or taken back behind it: as a slip ("Paris, or rather Lyon"), or as a guess or the opinion of others where
    "actually" or the like follows with another number for a number and another name for a name ("it might be Paris, but
    it is actually Lyon"); nor is yes or no in "yes and no". So "the budget was cut" is not "the budget was raised",
    however long the sentence around it. Folded before comparing: case, Unicode forms, punctuation (but for C++ and C#),
    white space, Markdown, citation marks such as [1], dots of abbreviations (D.C., J. K.), accents on Latin letters,
    grouping of digits (10,000 and 10 000), "%" and "percent", "5-10%" and "5% to 10%", "n't" and "not", "colour" and
    "color"; a name may stand with the family name first ("Curie, Marie"). An answer shorter than the expected one is
    compared whole (ratio), else a part of the fact would count as all of it. An expected answer of more than 1,000
    characters (200, where the answer is so long that trying every place would take seconds) is compared (ratio) with
    the part of the answer between the best places of its first and last 200 characters, or as long as itself from
    either of them. It compares letters, not meanings: a paraphrase is 0. Only the best place is looked at, also where
    another one says otherwise. Negations and phrases that take back are known in English. Range 0 or 1, higher is
    better. 0 where the server abstains on an answerable question, or answers an unanswerable one. None for a right
    abstention, and without an expected answer.
    Reference: partial_ratio and ratio are those of rapidfuzz; the rest is the formula here.
    """

    name = "fuzzy_match"
    group = MetricGroup.GENERATION
    suites = frozenset({"qa"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.EXPECTED_ANSWER})
    heeds_abstention = True
    of_answer = True

    def measure(self, case: Case) -> MetricResult:
        settled = settled_by_abstention(self, case)
        if settled is not None:
            return settled
        question = case.question
        best = best_inclusion([question.expected_answer or "", *question.answers], case.answer or "")
        return self.result(best.holds, score=round(best.score, 1), threshold=THRESHOLD, **best.details)


def best_inclusion(expected: list[str], answer: str) -> Inclusion:
    """The first of the accepted answers that is included, else the nearest."""
    tried = (inclusion(text, answer) for text in expected)
    return max(tried, key=lambda found: (found.holds, found.score))
