"""The first failure of one record.

A question ended wrong where no answer came, where it was declined or answered wrongly, where its answer is not
right, or is right and cites wrongly. The links are looked at in their order, and the first that explains it is named.
Right is what the judge says; without one, what the words say (`lexical`). Of a server that sent no chunks nothing is
said of retrieval, of the context, or of what its citations point to.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evals.metrics.base import known_answerable
from evals.metrics.qa import ModifiedPrecision
from evals.metrics.sample import Sample
from evals.schemas.results import EvalRecord, MetricResult
from evals.scoring.diagnosis.lexical import has_other_value, is_evasive, is_right, states_otherwise
from evals.scoring.diagnosis.stages import (
    DEFAULT_K,
    JudgedAs,
    Judgement,
    Link,
    RunFacts,
    found_by_stage,
    lost_in,
)
from evals.scoring.settings import ScoringContext
from evals.text.documents import document_key
from evals.text.numbers import counted, share


def first_link(
    record: EvalRecord,
    cases: ScoringContext,
    *,
    cites: bool = False,
    k: int | None = None,
    missing: Iterable[str] = (),
    answers: bool = False,
) -> Link | None:
    """The first link that broke.

    Args:
        record: A question with its response, and what the judge said of it.
        cases: How the run's records are seen.
        cites: Whether the server cites in any answer of the run.
        k: How many chunks it sends on; 10 where None.
        missing: Gold documents that its corpus lacks, by id or name.
        answers: Whether the server answers elsewhere in the run: one that only retrieves never does.

    Returns:
        None where the question ended right, was not asked, or its end is unknown. `Link.RIGHT_WITHOUT_GOLD`,
        which is no failure, where the answer is right and none of the gold was retrieved.
    """
    facts = RunFacts(cites, answers, k or DEFAULT_K, frozenset(map(document_key, missing)))
    failure = find_failure(record, cases, facts)
    return failure[0] if failure else None


def find_failure(record: EvalRecord, cases: ScoringContext, facts: RunFacts) -> tuple[Link, str] | None:
    """The first link that broke, with a sentence on it; what is None says `first_link`."""
    response = record.response
    if response is None:
        return None
    if response.error is not None:
        tries = f" after {response.attempts} attempts" if response.attempts > 1 else ""
        return Link.TRANSPORT, f"no answer{tries}: {response.error.kind}, {response.error.message}"
    if response.answer is None and (facts.answers or response.chunks is None):
        return Link.TRANSPORT, "no answer: the server sent none"
    return _Chain(record, cases.of(record), facts).broken()


def answered_right(record: EvalRecord, cases: ScoringContext) -> bool | None:
    """Whether an answer is right, by the judge, else by its words; an answer to what cannot be answered is wrong.

    Returns:
        None where there is no answer, it declines, or its correctness is unknown.
    """
    response = record.response
    if response is None or response.error is not None or response.answer is None:
        return None
    return _Chain(record, cases.of(record), RunFacts()).answered_right()


@dataclass
class _Chain:
    """One answered record, and what each link needs to know of it: a link that broke says what happened."""

    record: EvalRecord
    case: Sample
    facts: RunFacts

    def broken(self) -> tuple[Link, str] | None:
        """The first link that broke, where the question ended wrong."""
        if self.case.question.is_unanswerable:
            answers = self._answered and not self.case.abstention_open
            return (Link.SHOULD_HAVE_ABSTAINED, "answered an unanswerable question") if answers else None
        for link, explain in _IN_ORDER if self._ended_wrong else _ENDED_RIGHT:
            said = explain(self)
            if said is not None:
                return link, said
        if not self._is_wrong:
            return None
        link, what = _BY_VERDICT[self._verdict]
        return link, self._said(what)

    def answered_right(self) -> bool | None:
        """What `answered_right` says of a record with an answer."""
        if self.case.abstained and self._verdict is not JudgedAs.CORRECT:
            return None
        if self.case.question.is_unanswerable:
            return None if self.case.abstention_open else False
        decided = self._verdict not in {None, JudgedAs.CANNOT_TELL}
        return self._verdict is JudgedAs.CORRECT if decided else self._by_words

    @cached_property
    def _judgement(self) -> Judgement:
        return Judgement(self.record, self.case)

    @property
    def _verdict(self) -> JudgedAs | None:
        return self._judgement.verdict

    @cached_property
    def _by_words(self) -> bool | None:
        return is_right(self.case.question, self.case.answer or "")

    @cached_property
    def _abstained(self) -> bool:
        """Whether it declines what can be answered; not where a judge calls the answer right."""
        declines = self.case.response.answer is not None and self.case.abstained and not self.case.abstention_open
        return declines and self._verdict is not JudgedAs.CORRECT and known_answerable(self.case.question)

    @cached_property
    def _is_wrong(self) -> bool:
        """Whether the answer is not right, by the judge, else by its words."""
        if self.case.response.answer is None or (self.case.abstained and not self._abstained):
            return False
        if self._verdict in {None, JudgedAs.CANNOT_TELL}:
            return self._by_words is False or (self._verdict is not None and self._by_words is None)
        return self._verdict is not JudgedAs.CORRECT

    @property
    def _may_be_wrong(self) -> bool:
        return self._is_wrong or self._verdict is JudgedAs.CANNOT_TELL

    @property
    def _ended_wrong(self) -> bool:
        retrieves = self.case.response.answer is None
        return self._abstained or self._is_wrong or retrieves or self._wrong_citation() is not None

    @cached_property
    def _is_measured(self) -> bool:
        """Whether it can be told which golds were retrieved."""
        return ModifiedPrecision().score(self.case).value is not None

    @property
    def _found_nothing(self) -> bool:
        """Whether none of the golds is known to have been retrieved."""
        return self._is_measured and not self.case.matches.found

    @cached_property
    def _lost(self) -> list[int]:
        """The golds that no chunk holds; all where the server sent no chunks."""
        return [at for at in range(len(self.case.question.gold_passages)) if at not in self.case.matches.found]

    @property
    def _answered(self) -> bool:
        return self.case.response.answer is not None and not self.case.abstained

    def _right_without_gold(self) -> str | None:
        known = self._by_words or self._verdict is JudgedAs.CORRECT
        if not (self._answered and known and self._found_nothing):
            return None
        return f"right, though {self._none_found()}"

    def _none_found(self) -> str:
        golds, chunks = len(self.case.question.gold_passages), len(self.case.response.chunks or [])
        none = "the reference passage is not" if golds == 1 else f"none of {golds} reference passages is"
        return f"{none} among {counted(chunks, 'chunk')}"

    def _corpus(self) -> str | None:
        names = [self.case.question.gold_passages[at].document_id for at in self._lost]
        gone = next((name for name in names if name and document_key(name) in self.facts.missing), None)
        return f"the server does not hold {gone}" if gone else None

    def _not_retrieved(self) -> str | None:
        if not self._found_nothing:
            return None
        return f"{'declined: ' if self._abstained else ''}{self._none_found()}{self._where_lost()}"

    def _part_retrieved(self) -> str | None:
        golds = len(self.case.question.gold_passages)
        if not self._is_measured or not self._lost:
            return None
        return f"{share(golds - len(self._lost), golds, 'reference passage')} retrieved{self._where_lost()}"

    def _where_lost(self) -> str:
        """At which stages of the retrieval the golds were lost, where the server lists them."""
        stages = found_by_stage(self.case, self.facts.library)
        places = dict.fromkeys(where for gold in self._lost if (where := lost_in(gold, stages)))
        return f"; {'; '.join(places)}" if places else ""

    def _below_k(self) -> str | None:
        lowest = max((place for place, _ in self.case.matches.found.values()), default=0)
        if not self._is_measured or lowest < self.facts.k:
            return None
        return f"reference passage at rank {lowest + 1}, and {counted(self.facts.k, 'chunk', 'is')} sent on"

    def _wrong_abstention(self) -> str | None:
        if not self._abstained:
            return None
        ranks = self.case.matches.hit_ranks
        return f"declined, with a reference passage at rank {ranks[0]}" if ranks else "declined an answerable question"

    def _contradicts(self) -> str | None:
        if not self._is_wrong or self._verdict is JudgedAs.CANNOT_TELL:
            return None
        otherwise = self._judgement.contradicted()
        if otherwise is None:
            question, answer = self.case.question, self.case.answer or ""
            if self._verdict is JudgedAs.INCORRECT:
                otherwise = states_otherwise(question, answer) or self._judgement.denies
            else:
                otherwise = has_other_value(question, answer)
        return self._said("says something else than the reference") if otherwise else None

    def _unused(self) -> str | None:
        if not self._is_wrong or self._verdict is JudgedAs.CANNOT_TELL or not self._in_context():
            return None
        if self._verdict is None and not is_evasive(self.case.question, self.case.answer or ""):
            return None
        return self._said("the reference passage was retrieved, and the answer does not say it")

    def _in_context(self) -> bool:
        """Whether all that is needed was retrieved: the gold, or, without any, chunks that say what is expected."""
        if self.case.question.gold_passages:
            return self._is_measured
        texts = [chunk.text for chunk in (self.case.response.chunks or [])[: self.facts.k] if chunk.text]
        return any(is_right(self.case.question, text) for text in texts)

    def _wrong_citation(self) -> str | None:
        """That an answer which nothing calls wrong cites wrongly: else its citations are not what went wrong."""
        case = self.case
        if not self._answered or self._may_be_wrong:
            return None
        if not case.cited:
            # Nothing is missed where the server is known to have found nothing to cite.
            should = self.facts.cites and not self._found_nothing
            return "cites nothing, where the server cites" if should else None
        # One citation of gold is enough: a further one may be right for what the answer says beside.
        if any(case.cited_golds.values()) or not self._is_measured or self._found_nothing:
            return None
        invalid = sum(source.place is None for source in case.cited)
        return f"none of {counted(len(case.cited), 'citation')} holds a reference passage, {invalid} invalid"

    def _said(self, what: str) -> str:
        """What is said of the answer, and by whom."""
        if self._verdict is None:
            return f"{what}, by its words"
        words = self._judgement.words
        return f"{what}, says the judge: {words}" if words else f"{what}, by the judge's verdict"


_IN_ORDER: tuple[tuple[Link, Callable[[_Chain], str | None]], ...] = (
    (Link.CORPUS, _Chain._corpus),
    (Link.NOT_RETRIEVED, _Chain._not_retrieved),
    (Link.PART_RETRIEVED, _Chain._part_retrieved),
    (Link.BELOW_K, _Chain._below_k),
    (Link.WRONG_ABSTENTION, _Chain._wrong_abstention),
    (Link.CONTRADICTS_REFERENCE, _Chain._contradicts),
    (Link.UNUSED, _Chain._unused),
    (Link.WRONG_CITATION, _Chain._wrong_citation),
)

_ENDED_RIGHT = ((Link.RIGHT_WITHOUT_GOLD, _Chain._right_without_gold),)

_BY_VERDICT: dict[JudgedAs | None, tuple[Link, str]] = {
    JudgedAs.PARTLY: (Link.PARTLY_CORRECT, "partly correct"),
    JudgedAs.INCORRECT: (Link.CONTRADICTS_REFERENCE, "does not say what is expected"),
    JudgedAs.CANNOT_TELL: (Link.JUDGE_COULD_NOT_TELL, "the judge could not tell whether the answer is right"),
    None: (Link.NO_MATCH_BY_WORDS, "does not match the reference"),
}
"""What is said of a wrong answer where no link explains it."""


# What is worth a look beside the link that broke, in right answers too.


RemarkKind = Literal["unsupported_claims", "needs_verification"]


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to look at."""

    kind: RemarkKind
    text: str


def remarks_on(record: EvalRecord, case: Sample) -> list[Remark]:
    """Claims that no chunk supports, and where fuzzy match and judge disagree.

    Details that a saved run cannot have of us say nothing: somebody changed them.
    """
    grounded = next((score.details for score in record.scores if score.name == "faithfulness"), {})
    claims = grounded.get("unsupported")
    found = []
    if isinstance(claims, list) and claims and not case.abstained:
        said = f"{len(claims)} of {grounded.get('claims', len(claims))} claims unsupported: {claims[0]}"
        found.append(Remark("unsupported_claims", said))
    disputed = needs_verification(record)
    halves = disputed.details if disputed is not None else {}
    by_letters, by_meaning = halves.get("fuzzy_match"), halves.get("gptscore")
    if isinstance(by_letters, int | float) and isinstance(by_meaning, int | float):
        found.append(Remark("needs_verification", f"verify: fuzzy match says {by_letters:g}, the judge {by_meaning:g}"))
    return found


def needs_verification(record: EvalRecord) -> MetricResult | None:
    """The factual match whose two halves disagree, which a person should settle; None where there is none."""
    for score in record.scores:  # no generator, which takes longer: it is asked of every record
        if score.details.get("needs_verification"):
            return score
    return None


# The questions of a run that ended wrong, in the order of the chain.


@dataclass(frozen=True, slots=True)
class Finding:
    """One record with the link that broke first.

    Attributes:
        link: The link.
        explanation: A sentence on what happened.
        record: The record.
        hit_ranks: Ranks of the chunks that hold gold, from 1.
        remarks: Other findings.
    """

    link: Link
    explanation: str
    record: EvalRecord
    hit_ranks: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


def diagnose(records: Iterable[EvalRecord], cases: ScoringContext, facts: RunFacts) -> list[Finding]:
    """Find the first broken link of each record: in the order of the chain, then of the questions.

    Those that are right without retrieved gold stand at the end; `Link.is_failure` tells them apart.
    """
    found = (finding_of(record, cases, facts) for record in records)
    return sorted((finding for finding in found if finding), key=lambda finding: finding.link.place)


def finding_of(record: EvalRecord, cases: ScoringContext, facts: RunFacts) -> Finding | None:
    """What `diagnose` says of one record; None where no link broke."""
    failure = find_failure(record, cases, facts)
    if failure is None:
        return None
    case = cases.of(record)
    answered = record.response is not None and record.response.error is None
    remarks = tuple(remark.text for remark in remarks_on(record, case)) if answered else ()
    return Finding(*failure, record, tuple(case.matches.hit_ranks) if answered else (), remarks)
