"""How many questions ended wrong, by the first link that broke, with intervals."""

from collections.abc import Iterable

from evals.schemas import EvalRecord
from evals.schemas.base import Finite, Record
from evals.scoring.diagnosis.findings import Finding
from evals.scoring.diagnosis.links import Link
from evals.scoring.diagnosis.remarks import RemarkKind, remarks_on
from evals.scoring.settings import Cases
from evals.stats.intervals import wilson


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


class LinkTally:
    """Counts questions by link, one record after the other."""

    def __init__(self) -> None:
        self._asked = 0
        self._by_link: dict[Link, list[str]] = {}
        self._remarks: dict[RemarkKind, list[str]] = {}

    def found(self, link: Link, question_id: str) -> None:
        """Count the link of a question."""
        self._by_link.setdefault(link, []).append(question_id)

    def add(self, record: EvalRecord, cases: Cases) -> None:
        """Count a record, and what is worth a look in it."""
        if record.response is None:
            return
        self._asked += 1
        if record.response.error is None:
            for remark in remarks_on(record, cases.of(record)):
                self._remarks.setdefault(remark.kind, []).append(record.question.id)

    def diagnosis(self, confidence: float) -> Diagnosis:
        """The counts, with intervals of this confidence."""
        by_link = sorted(self._by_link.items(), key=lambda one: one[0].place)
        counts = [_count(link, ids, self._asked, confidence) for link, ids in by_link]
        failures = [one for one in counts if one.link.is_failure]
        return Diagnosis(
            asked=self._asked,
            wrong=sum(one.count for one in failures),
            links=failures,
            right_without_gold=next((one for one in counts if not one.link.is_failure), None),
            remarks=self._remarks,
        )


def count_links(
    findings: Iterable[Finding], records: Iterable[EvalRecord], cases: Cases, confidence: float = 0.95
) -> Diagnosis:
    """Count findings by link.

    Args:
        findings: As `diagnose` gives them.
        records: All of the run.
        cases: They as metrics see them.
        confidence: Of the intervals.
    """
    tally = LinkTally()
    for finding in findings:
        tally.found(finding.link, finding.record.question.id)
    for record in records:
        tally.add(record, cases)
    return tally.diagnosis(confidence)


def _count(link: Link, ids: list[str], asked: int, confidence: float) -> LinkCount:
    interval = wilson(len(ids), asked, confidence) or (0.0, 1.0)
    return LinkCount(link=link, count=len(ids), share=len(ids) / asked, interval=interval, questions=ids)
