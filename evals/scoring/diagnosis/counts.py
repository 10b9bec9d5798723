"""Counts of the questions that ended wrong, by the first failure, with intervals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evals.schemas.base import Finite, Record
from evals.schemas.results import EvalRecord
from evals.scoring.diagnosis.outcome import Finding, RemarkKind, remarks_on
from evals.scoring.diagnosis.stages import Link
from evals.scoring.settings import ScoringContext
from evals.scoring.stats.intervals import too_many_p, wilson

# Where questions end wrong more often than elsewhere: by the values of a key, with regard to how many there are.


class WrongSlice(Record):
    """The questions with one value of a key."""

    value: str
    asked: int
    wrong: int
    share: Finite
    """Of the questions asked, 0 to 1."""
    interval: tuple[Finite, Finite]
    """Wilson's, so wide that all slices together hold their shares with the confidence (Bonferroni)."""
    is_worse: bool
    """Whether these go wrong more often than by chance: Fisher's exact test against the rest, one-sided, at the
    level that all slices share."""
    links: dict[Link, int]
    """How many went wrong where first, the most frequent link first."""


def wrong_slices(
    links: Mapping[int, Link],
    asked: Iterable[tuple[int, str | None]],
    confidence: float = 0.95,
    questions: Mapping[int, str] | None = None,
) -> list[WrongSlice]:
    """The share of questions that ended wrong for each value of a key, the worst first by the low end of its interval.

    Args:
        links: The first broken link of questions, by their number in the run.
        asked: The number of each question that was asked, and what it has for the key.
        confidence: Of all intervals together.
        questions: Where questions were asked several times, by these numbers which one it was.
    """
    distinct: dict[str, set[int | str]] = {}
    broken: dict[str, Counter[Link | None]] = {}
    every: Counter[bool] = Counter()
    for number, value in asked:
        link = links.get(number)
        link = link if link is not None and link.is_failure else None
        every[link is not None] += 1
        if value is not None:
            broken.setdefault(value, Counter())[link] += 1
            distinct.setdefault(value, set()).add(questions[number] if questions else number)
    each = 1 - (1 - confidence) / max(len(broken), 1)
    slices = [_slice(value, found, every, each, len(distinct[value])) for value, found in broken.items()]
    return sorted(slices, key=lambda one: (-one.interval[0], -one.share, one.value))


def _slice(
    value: str, found: "Counter[Link | None]", every: Counter[bool], confidence: float, distinct: int
) -> WrongSlice:
    """A slice, with how many of all went wrong; a question that was asked again is no more evidence."""
    asked = found.total()
    wrong, times = asked - found[None], asked / distinct
    marked, all_marked = int(wrong / times), int(every[True] / times)
    total = max(int(every.total() / times), distinct, all_marked)
    return WrongSlice(
        value=value,
        asked=asked,
        wrong=wrong,
        share=wrong / asked,
        interval=wilson(wrong, asked, confidence, times=times) or (0.0, 1.0),
        is_worse=too_many_p(marked, distinct, all_marked, total) < 1 - confidence,
        links={link: count for link, count in found.most_common() if link is not None and count},
    )


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
    """The first failures of a run's questions."""

    asked: int
    wrong: int
    links: list[LinkCount] = []
    """In the order of the chain; only links that broke."""
    right_without_gold: LinkCount | None = None
    """No failures: answers that are right although nothing of the gold was retrieved."""
    remarks: dict[RemarkKind, list[str]] = {}
    """Ids of questions with something to look at, however they ended."""


def count_links(
    findings: Sequence[Finding], records: Iterable[EvalRecord], cases: ScoringContext, confidence: float = 0.95
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


def add_remarks(found: RemarksSeen, record: EvalRecord, cases: ScoringContext) -> bool:
    """Add what there is to look at in one answer; returns whether the question was asked."""
    if record.response is not None and record.response.error is None:
        for remark in remarks_on(record, cases.of(record)):
            found.setdefault(remark.kind, []).append(record.question.id)
    return record.response is not None
