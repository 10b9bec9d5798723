"""What went wrong, question by question: the records worth looking at, worst first."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import itemgetter

from evals.case.case import Case
from evals.metrics.abstaining import known_answerable
from evals.schemas import EvalRecord, MetricResult
from evals.scoring.settings import Cases

LOW_RANK = 5
"""A gold first found below this rank is found, but low."""


class Fault(IntEnum):
    """Kinds of failure, the gravest first."""

    @property
    def label(self) -> str:
        """The kind in words."""
        return _LABELS[self]

    NO_ANSWER = 1
    ANSWERED_UNANSWERABLE = 2
    NOT_RETRIEVED = 3
    ABSTAINED = 4
    INCORRECT = 5
    UNSUPPORTED = 6
    PART_NOT_RETRIEVED = 7
    NEEDS_VERIFICATION = 8
    WRONG_CITATION = 9
    LOW_RANK = 10


_LABELS = {
    Fault.NO_ANSWER: "no answer",
    Fault.ANSWERED_UNANSWERABLE: "answered, though unanswerable",
    Fault.NOT_RETRIEVED: "gold not retrieved",
    Fault.ABSTAINED: "abstained, though answerable",
    Fault.INCORRECT: "incorrect, says the judge",
    Fault.UNSUPPORTED: "claims that no chunk supports",
    Fault.PART_NOT_RETRIEVED: "part of the gold not retrieved",
    Fault.NEEDS_VERIFICATION: "fuzzy match and judge disagree",
    Fault.WRONG_CITATION: "cites without gold",
    Fault.LOW_RANK: "gold only at a low rank",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One record with what is wrong about it."""

    fault: Fault
    explanation: str
    record: EvalRecord
    hit_ranks: tuple[int, ...]
    """Ranks of the chunks that hold gold."""


def diagnose(records: Iterable[EvalRecord], cases: Cases) -> list[Finding]:
    """Find the records in which something went wrong, the gravest first, then in the order of the questions."""
    findings = (find_fault(record, cases) for record in records)
    return sorted((finding for finding in findings if finding), key=lambda finding: finding.fault)


def in_turn(findings: Iterable[Finding]) -> list[Finding]:
    """Order findings so that each kind of fault comes first once, then each a second time, and so on."""
    seen: Counter[Fault] = Counter()
    keyed = []
    for finding in findings:
        seen[finding.fault] += 1
        keyed.append(((seen[finding.fault], finding.fault), finding))
    return [finding for _, finding in sorted(keyed, key=lambda pair: pair[0])]


def find_fault(record: EvalRecord, cases: Cases) -> Finding | None:
    """The gravest fault of a record; None where there is none, or it was not asked."""
    response = record.response
    if response is None:
        return None
    if response.error is not None:
        error = response.error
        tries = f" after {response.attempts} attempts" if response.attempts > 1 else ""
        return Finding(Fault.NO_ANSWER, f"no answer{tries}: {error.kind}, {error.message}", record, ())
    case = cases.of(record)
    ranks = tuple(case.matches.hit_ranks)
    found = (
        _answer_fault(case, ranks),
        _retrieval_fault(case, ranks),
        _citation_fault(case),
        *_judged_faults(record, case),
    )
    fault = min((each for each in found if each), default=None, key=itemgetter(0))
    return Finding(fault[0], fault[1], record, ranks) if fault else None


def _answer_fault(case: Case, ranks: Sequence[int]) -> tuple[Fault, str] | None:
    if case.response.answer is None:
        return None
    if case.question.is_unanswerable:
        return None if case.abstained else (Fault.ANSWERED_UNANSWERABLE, "answered, though it cannot be answered")
    if not case.abstained:
        return None
    if ranks:
        return Fault.ABSTAINED, f"abstained, though gold was retrieved at rank {ranks[0]}"
    return (Fault.ABSTAINED, "abstained, though it can be answered") if known_answerable(case.question) else None


def needs_verification(record: EvalRecord) -> MetricResult | None:
    """The factual match whose two halves disagree, which a person should settle; None where there is none."""
    return next((score for score in record.scores if score.details.get("needs_verification")), None)


def _judged_faults(record: EvalRecord, case: Case) -> Iterator[tuple[Fault, str]]:
    scores = {score.name: score for score in record.scores}
    for name in ("answer_correctness", "wrong_answers_count"):
        score = scores.get(name)
        worst = 0.0 if name == "answer_correctness" else 1.0
        if score is not None and score.value == worst and "justification" in score.details:
            yield Fault.INCORRECT, f"incorrect, says the judge: {score.details['justification']}"
    grounded = scores.get("faithfulness")
    if grounded is not None and grounded.details.get("unsupported") and not case.abstained:
        claims = grounded.details["unsupported"]
        yield Fault.UNSUPPORTED, f"{len(claims)} of {grounded.details['claims']} claims unsupported: {claims[0]}"
    disputed = needs_verification(record)
    if disputed is not None:
        by_letters, by_meaning = disputed.details["fuzzy_match"], disputed.details["gptscore"]
        yield Fault.NEEDS_VERIFICATION, f"verify: fuzzy match says {by_letters:g}, the judge {by_meaning:g}"


def _retrieval_fault(case: Case, ranks: Sequence[int]) -> tuple[Fault, str] | None:
    golds, found = len(case.question.gold_passages), len(case.matches.found)
    if not golds or case.response.chunks is None:
        return None
    if not found:
        said = "abstained: " if case.abstained and case.response.answer is not None else ""
        return Fault.NOT_RETRIEVED, f"{said}none of {golds} gold passages among {len(case.response.chunks)} chunks"
    if found < golds:
        return Fault.PART_NOT_RETRIEVED, f"{found} of {golds} gold passages retrieved"
    return (Fault.LOW_RANK, f"gold first found at rank {ranks[0]}") if ranks[0] > LOW_RANK else None


def _citation_fault(case: Case) -> tuple[Fault, str] | None:
    if not case.question.gold_passages or case.abstained or not case.cited:
        return None
    wrong = [source for source in case.cited if not any(case.cited_golds[place] for place in source.places)]
    if not wrong:
        return None
    invalid = sum(source.place is None for source in wrong)
    return Fault.WRONG_CITATION, f"{len(wrong)} of {len(case.cited)} citations without gold, {invalid} of them invalid"
