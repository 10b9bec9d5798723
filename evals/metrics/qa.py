"""Question answering over a fixed number of returned documents: were they the right ones, is the fact in the answer?

The definitions of the retrieval metrics here differ from those of the same family elsewhere: the discount is
1 / (i + 1), no cut-off applies to the ideal, all golds are equally important, and "precision" divides by what is
relevant, not by what was returned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from evals.metrics.base import Aggregation, BaseMetric, Need, settled_by_abstention
from evals.metrics.judge_tasks import JudgeTask, ReplyData, answer_beside_reference
from evals.metrics.judged import JudgedMetric
from evals.metrics.ranking import adapted_ndcg
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult
from evals.schemas.verdicts import VerdictRequest
from evals.text.folding import fold, given_name_first, with_name_turned
from evals.text.numbers import agree, counted
from evals.text.quantities import in_other_units, written_numbers
from evals.text.sentences import Clauses, denials, is_called_false, is_set_aside, is_undecided, read_clauses
from evals.text.spelling import is_misspelt, is_taken_back

# Is the fact of an expected answer included in an answer? By letters that nearly agree, and a claim that does
# agree.


THRESHOLD = 90.0
"""Of the fuzzy score, from 0 to 100: altered claims reach 80 and more."""


_LONG = 1000
"""Characters from which an expected answer is looked for by its ends, for `partial_ratio` tries every place."""


_END = 200
"""Characters of such an end."""


_STEPS = 10**10
"""So is a shorter one in a long answer, where its length squared times that of the answer is more than this."""


_LIGHT = frozenset({"a", "an", "the", "is", "are", "was", "were", "be", "been", "s"})
"""Words that may be there or not without changing what is claimed."""


_NEXT = 6
"""Clauses behind a fact in which it may be taken back."""


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Whether an expected answer is included in an answer, and why not."""

    expected: str
    score: float
    """The fuzzy score, from 0 to 100."""
    differs: str | None = None
    """What does not agree; None where the fact is included."""

    @property
    def holds(self) -> bool:
        """Whether the fact is included."""
        return self.differs is None

    @property
    def details(self) -> dict[str, Any]:
        """What a result says of it."""
        return {"matched": self.expected} if self.holds else {"nearest": self.expected, "differs": self.differs}


def inclusion(expected: str, answer: str) -> Inclusion:
    """Look for the fact of the expected answer in the answer.

    Args:
        expected: The expected answer, or an accepted variant; a name alone may stand with the family name first in one
            of the two.
        answer: The answer as given.
    """
    found = _inclusion(expected, with_name_turned(answer, expected))
    name = None if found.holds else given_name_first(expected)
    turned = _inclusion(name, answer) if name else found
    return replace(turned, expected=expected) if turned.holds else found


def _inclusion(expected: str, answer: str) -> Inclusion:
    wanted, given = read_clauses(expected), read_clauses(answer)
    if not wanted.words:
        same = bool(expected.strip()) and fold(expected).strip() in fold(answer)
        return Inclusion(expected, 100.0 * same, None if same else "text")
    score, window = _find(wanted.joined, given.joined)
    if score < THRESHOLD:
        return Inclusion(expected, score, "text")
    places = _in_order(wanted.words, given.words, window)
    if places is None:
        return Inclusion(expected, score, "words")
    has_numbers = written_numbers(expected) <= written_numbers(answer)  # the words that multiply are compared as words
    if not has_numbers or in_other_units(expected, answer):
        return Inclusion(expected, score, "numbers")
    is_claimed = _is_claimed(wanted, given, places) and not _is_taken_back(expected, answer, given, places)
    return Inclusion(expected, score, None if is_claimed else "negation")


def _find(wanted: str, given: str) -> tuple[float, range]:
    """The fuzzy score, and the places of the words of the answer among which the expected one was found."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - for this metric only
    from rapidfuzz.utils import default_process  # noqa: PLC0415

    # partial_ratio looks for the shorter text in the longer, whichever is which.
    whole = len(given) <= len(wanted)
    if not whole and (len(wanted) > _LONG or (len(wanted) > _END and len(wanted) ** 2 * len(given) > _STEPS)):
        return _find_long(wanted, given)
    score = (fuzz.ratio if whole else fuzz.partial_ratio)(wanted, given, processor=default_process)
    if score < THRESHOLD:
        return score, range(0)
    # Framed by blanks, "art" is found as a word and not in "Stuttgart".
    spot = None if whole else fuzz.partial_ratio_alignment(f" {wanted} ", f" {given} ")
    if spot is None:
        return score, range(given.count(" ") + 1)
    return score, _window(wanted, given, spot.dest_start, spot.dest_end)


def _find_long(wanted: str, given: str) -> tuple[float, range]:
    """The same for a long expected answer: where its first and its last characters stand, it is compared whole."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - for this metric only

    head = fuzz.partial_ratio_alignment(wanted[:_END], given)
    tail = fuzz.partial_ratio_alignment(wanted[-_END:], given)
    if head is None or tail is None:
        return 0.0, range(0)
    start, end, length = head.dest_start, tail.dest_end, len(wanted)
    # An end may stand twice, then it says nothing of where the other one is.
    places = [(start, start + length), (max(0, end - length), end)]
    if end - start < 2 * length:  # longer, and it could not score what is needed
        places.append((start, end))
    score, start, end = max((fuzz.ratio(wanted, given[first:last]), first, last) for first, last in places)
    if score < THRESHOLD:
        return score, range(0)
    return score, _window(wanted, given, start, end)


def _window(wanted: str, given: str, start: int, end: int) -> range:
    """The places of the words around a match: what is inserted in its middle pushes an end out of it."""
    margin = len(wanted) // 5
    return range(given.count(" ", 0, max(0, start - margin)), given.count(" ", 0, end + margin) + 1)


def _in_order(wanted: Sequence[str], given: Sequence[str], window: range) -> tuple[int, int] | None:
    """The places of the first and the last word where all that matter stand in the window in their order."""
    candidates = iter(window[: len(given)])
    matter = [word for word in wanted if word not in _LIGHT] or wanted
    places: list[int] = []
    for word in matter:
        at = next((at for at in candidates if _same_word(word, given[at])), None)
        if at is None:
            return None
        places.append(at)
    return places[0], places[-1]


def _same_word(wanted: str, given: str) -> bool:
    """Whether two words are one but for an ending (hour, hours; raise, raised) or a misspelling (Barack, Barak)."""
    if wanted == given:
        return True
    short, long = sorted((wanted, given), key=len)
    if long[:-1] == short and long[-1] in "sd":  # an ending, so no misspelling: prince and princes, not princess
        if len(short) < 4 or not long.isalpha():
            return False
        return short[-1] == "e" if long[-1] == "d" else short[-1] != "s"
    return is_misspelt(wanted, given)


def _is_claimed(wanted: Clauses, given: Clauses, places: tuple[int, int]) -> bool:
    """Whether the answer claims the fact where it stands: negated as often as expected, and not set aside."""
    first, last = (given.clauses[at] for at in places)
    around = [word for word, clause in zip(given.words, given.clauses, strict=True) if first <= clause <= last]
    if wanted.words in {("yes",), ("no",)}:
        # "There is no doubt" does not say no
        if is_undecided(given.words, given.clauses) or (wanted.words == ("no",) and around[-1] != "no"):
            return False
    elif is_set_aside(given.of_clause(first, places[0])) or is_called_false(given.of_clause(given.following(last))):
        return False
    return denials(around) == denials(wanted.words)


def _is_taken_back(expected: str, answer: str, given: Clauses, places: tuple[int, int]) -> bool:
    """Whether the answer says something else instead, right behind the fact; a bare yes or no is never taken back."""
    if expected.strip(" .!").lower() in {"yes", "no"}:
        return False
    first, last = places
    return is_taken_back(expected, answer, given.of_clause(given.clauses[first], first), given.behind(last, _NEXT))


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

    def measure(self, case: Sample) -> MetricResult:
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

    def measure(self, case: Sample) -> MetricResult:
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

    def measure(self, case: Sample) -> MetricResult:
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
    Reference: the formula here; the judge as in Liu et al. 2023 (G-Eval), with criteria in place of a scale.
    """

    name = "gptscore"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"qa"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (FIVE_CRITERIA,)

    def settled(self, case: Sample) -> MetricResult | None:
        return settled_by_abstention(self, case)

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        verdicts = {item["id"]: item["verdict"] for item in replies[FIVE_CRITERIA.name]["criteria"]}
        if "not_met" in verdicts.values():
            failed = [name for name, verdict in verdicts.items() if verdict == "not_met"]
            return self.result(0.0, criteria=verdicts, not_met=failed)
        if "cannot_tell" in verdicts.values() or "met" not in verdicts.values():
            return self.undecided(criteria=verdicts)
        return self.result(1.0, criteria=verdicts)


class FactualMatch(JudgedMetric):
    """Whether the answer holds the expected fact, by letters or by meaning.

    Formula: 1 if `fuzzy_match` or `gptscore` is 1, else 0. Both always run; where they disagree the details say
    `needs_verification`, which `show` lists and `export --format review` gives to a reader. Where the judge gave no
    verdict, or none was used, 1 on a fuzzy match and else None. A run without a judge has no value: only the hits
    would be in it. Range 0 or 1, higher is better. None for a right abstention and without an expected answer.
    Reference: the formula here.
    """

    name = "factual_match"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"qa"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (FIVE_CRITERIA,)

    def requests(self, case: Sample) -> list[VerdictRequest]:
        return GPTScore().requests(case)

    def score(self, case: Sample) -> MetricResult:
        by_letters, by_meaning = FuzzyMatch().score(case), GPTScore().score(case)
        scores = {"fuzzy_match": by_letters.value, "gptscore": by_meaning.value}
        details: dict[str, Any] = {**scores, **self.injection_flag(case), **self.dispute_flag(case)}
        settled = bool(by_letters.value) or not case.judged
        needed = list(dict.fromkeys([*by_letters.judged_by, *([] if settled else by_meaning.judged_by)]))
        return self.judged(self._either(by_letters, by_meaning, details), needed)

    def _either(self, by_letters: MetricResult, by_meaning: MetricResult, details: Mapping[str, Any]) -> MetricResult:
        if by_letters.value is not None and by_meaning.value is not None:
            disagree = {"needs_verification": True} if by_letters.value != by_meaning.value else {}
            return self.result(max(by_letters.value, by_meaning.value), **details, **disagree)
        if by_letters.value:
            return self.result(1.0, **details)
        lacking = by_letters if by_letters.value is None else by_meaning
        return self.undefined(lacking.reason or "", missing=lacking.missing or "not_applicable", **details)

    def unavailable(self, case: Sample) -> str | None:
        return None  # fuzzy match alone finds hits

    def one_sided(self, results: Sequence[MetricResult]) -> str | None:
        undecided = sum(
            result.details.get("fuzzy_match") == 0 and result.missing == "not_applicable" for result in results
        )
        if not undecided:
            return None
        answers, are = counted(undecided, "answer"), agree(undecided, "is", "are")
        return f"no judge was used: the {answers} that fuzzy_match does not find {are} undecided"

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        return self.score(case)
