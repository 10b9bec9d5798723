"""How many questions ended wrong, by the first link that broke, with intervals."""

from collections.abc import Iterable, Mapping, Sequence

from evals.schemas import EvalRecord
from evals.schemas.base import Finite, Record
from evals.scoring.diagnosis.findings import Finding
from evals.scoring.diagnosis.links import Link
from evals.scoring.diagnosis.remarks import RemarkKind, remarks_on
from evals.scoring.settings import Cases
from evals.stats.intervals import wilson

RemarksSeen = dict[RemarkKind, list[str]]
"""The ids of questions with something to look at."""


class LinkCount(Record):
    """How many questions have a link."""

    link: Link
    count: int
    share: Finite
    """Of the questions that were asked."""
    interval: tuple[Finite, Finite]
    """Wilson's, of the share."""
    questions: list[str]
    """Their ids."""


class Diagnosis(Record):
    """Where the questions of a run went wrong first."""

    asked: int
    wrong: int
    links: list[LinkCount] = []
    """In the order of the chain; only links that broke."""
    right_without_gold: LinkCount | None = None
    """No failures: answers that are right although nothing of the gold was retrieved."""
    remarks: dict[RemarkKind, list[str]] = {}
    """Ids of questions with something to look at, however they ended."""


def count_links(
    findings: Sequence[Finding], records: Iterable[EvalRecord], cases: Cases, confidence: float = 0.95
) -> Diagnosis:
    """Count findings by link.

    Args:
        findings: As `diagnose` gives them.
        records: All of the run.
        cases: They as metrics see them.
        confidence: Of the intervals.
    """
    by_link: dict[Link, list[str]] = {}
    for finding in findings:
        by_link.setdefault(finding.link, []).append(finding.record.question.id)
    remarks: RemarksSeen = {}
    asked = sum(add_remarks(remarks, record, cases) for record in records)
    return diagnosis_of(asked, by_link, remarks, confidence)


def diagnosis_of(
    asked: int, by_link: Mapping[Link, list[str]], remarks: RemarksSeen, confidence: float, times: int = 1
) -> Diagnosis:
    """The diagnosis of a run whose questions are counted already.

    Args:
        asked: How many were asked.
        by_link: The ids of those with a finding, in the order of the chain.
        remarks: The ids of those with something to look at.
        confidence: Of the intervals.
        times: How often each question was asked.
    """
    counts = [_count(link, ids, asked, confidence, times) for link, ids in by_link.items()]
    failures = [one for one in counts if one.link.is_failure]
    return Diagnosis(
        asked=asked,
        wrong=sum(one.count for one in failures),
        links=failures,
        right_without_gold=next((one for one in counts if not one.link.is_failure), None),
        remarks=remarks,
    )


def _count(link: Link, ids: list[str], asked: int, confidence: float, times: int) -> LinkCount:
    interval = wilson(len(ids), asked, confidence, times=times) or (0.0, 1.0)
    return LinkCount(link=link, count=len(ids), share=len(ids) / asked, interval=interval, questions=ids)


def add_remarks(found: RemarksSeen, record: EvalRecord, cases: Cases) -> bool:
    """Add what there is to look at in one answer; returns whether the question was asked."""
    if record.response is not None and record.response.error is None:
        for remark in remarks_on(record, cases.of(record)):
            found.setdefault(remark.kind, []).append(record.question.id)
    return record.response is not None
