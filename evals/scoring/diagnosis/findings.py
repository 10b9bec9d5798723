"""The questions of a run that ended wrong, in the order of the chain."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from evals.schemas import EvalRecord
from evals.scoring.diagnosis.facts import RunFacts
from evals.scoring.diagnosis.first import find_failure
from evals.scoring.diagnosis.links import Link
from evals.scoring.diagnosis.remarks import remarks_on
from evals.scoring.settings import Cases


class HasLink(Protocol):
    """What is said of a question that has a link."""

    @property
    def link(self) -> Link:
        """The link that broke first."""


_Linked = TypeVar("_Linked", bound=HasLink)


@dataclass(frozen=True, slots=True)
class Finding:
    """One record with the link that broke first.

    Attributes:
        link: The link.
        explanation: A sentence on what happened.
        record: The record.
        hit_ranks: Ranks of the chunks that hold gold, from 1.
        remarks: What is worth a look beside it.
    """

    link: Link
    explanation: str
    record: EvalRecord
    hit_ranks: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


def diagnose(records: Iterable[EvalRecord], cases: Cases, facts: RunFacts) -> list[Finding]:
    """Find the first broken link of each record: in the order of the chain, then of the questions.

    Those that are right without retrieved gold stand at the end; `Link.is_failure` tells them apart.
    """
    found = (finding_of(record, cases, facts) for record in records)
    return sorted((finding for finding in found if finding), key=lambda finding: finding.link.place)


def in_turn(findings: Iterable[_Linked]) -> list[_Linked]:
    """Order findings so that each link comes first once, then each a second time, and so on."""
    seen: Counter[Link] = Counter()
    keyed: list[tuple[tuple[int, int], _Linked]] = []
    for finding in findings:
        seen[finding.link] += 1
        keyed.append(((seen[finding.link], finding.link.place), finding))
    return [finding for _, finding in sorted(keyed, key=lambda pair: pair[0])]


def finding_of(record: EvalRecord, cases: Cases, facts: RunFacts) -> Finding | None:
    """What `diagnose` says of one record; None where no link broke."""
    failure = find_failure(record, cases, facts)
    if failure is None:
        return None
    case = cases.of(record)
    answered = record.response is not None and record.response.error is None
    remarks = tuple(remark.text for remark in remarks_on(record, case)) if answered else ()
    return Finding(*failure, record, tuple(case.matches.hit_ranks) if answered else (), remarks)
