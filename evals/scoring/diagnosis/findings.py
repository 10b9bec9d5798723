"""The questions of a run that ended wrong, in the order of the chain."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
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


def in_turn(findings: Iterable[_Linked], most: int | None = None) -> list[_Linked]:
    """Order findings so that each link comes first once, then each a second time, and so on.

    Args:
        findings: In whatever order; of one link they stay in it.
        most: So many are wanted at most; all where None.
    """
    by_link: dict[Link, list[_Linked]] = {}
    for finding in findings:
        some = by_link.setdefault(finding.link, [])
        if most is None or len(some) < most:
            some.append(finding)
    turns = zip_longest(*(by_link[link] for link in sorted(by_link, key=lambda link: link.place)))
    return [finding for turn in turns for finding in turn if finding is not None][:most]


def finding_of(record: EvalRecord, cases: Cases, facts: RunFacts) -> Finding | None:
    """What `diagnose` says of one record; None where no link broke."""
    failure = find_failure(record, cases, facts)
    if failure is None:
        return None
    case = cases.of(record)
    answered = record.response is not None and record.response.error is None
    remarks = tuple(remark.text for remark in remarks_on(record, case)) if answered else ()
    return Finding(*failure, record, tuple(case.matches.hit_ranks) if answered else (), remarks)
