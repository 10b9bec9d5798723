"""Where questions end wrong more often than elsewhere: by the values of a key, with regard to how many there are."""

from collections import Counter
from collections.abc import Iterable, Mapping

from evals.schemas import EvalRecord
from evals.schemas.base import Finite, Record
from evals.scoring.diagnosis.findings import Finding
from evals.scoring.diagnosis.links import Link
from evals.scoring.slices import value_of
from evals.stats.hypergeometric import too_many_p
from evals.stats.intervals import wilson


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
    """Whether so many of these go wrong by chance too rarely: Fisher's exact test against the rest, one-sided, at the
    level that all slices share."""
    links: dict[Link, int]
    """How many went wrong where first, the most frequent link first."""


def wrong_by(
    findings: Iterable[Finding], records: Iterable[EvalRecord], key: str, confidence: float = 0.95
) -> list[WrongSlice]:
    """The share of questions that ended wrong for each value of a key, the worst first by the low end of its interval.

    Args:
        findings: As `diagnose` gives them.
        records: All of the run.
        key: `dataset`, or a key of the metadata.
        confidence: Of all intervals together.
    """
    every = list(records)
    links = {one.record.question.id: one.link for one in findings}
    by_number = enumerate(links.get(record.question.id) for record in every)
    asked = ((n, value_of(record.question, key)) for n, record in enumerate(every) if record.response is not None)
    return wrong_slices({number: link for number, link in by_number if link is not None}, asked, confidence)


def wrong_slices(
    links: Mapping[int, Link],
    asked: Iterable[tuple[int, str | None]],
    confidence: float = 0.95,
    questions: Mapping[int, str] | None = None,
) -> list[WrongSlice]:
    """The same without records.

    Args:
        links: The first broken link of questions, by their number in the run.
        asked: The number of each question that was asked, and what it has for the key.
        confidence: Of all intervals together.
        questions: Where questions were asked several times, by these numbers which one it was.
    """
    distinct: dict[str, set[str]] = {}
    broken: dict[str, Counter[Link | None]] = {}
    all_asked = all_wrong = 0
    for number, value in asked:
        link = links.get(number)
        link = link if link is not None and link.is_failure else None
        all_asked, all_wrong = all_asked + 1, all_wrong + (link is not None)
        if value is not None:
            broken.setdefault(value, Counter())[link] += 1
            if questions is not None:
                distinct.setdefault(value, set()).add(questions[number])
    each = 1 - (1 - confidence) / max(len(broken), 1)
    slices = [
        _slice(value, found, (all_wrong, all_asked), each, len(distinct.get(value, ())) or found.total())
        for value, found in broken.items()
    ]
    return sorted(slices, key=lambda one: (-one.interval[0], -one.share, one.value))


def _slice(
    value: str, found: "Counter[Link | None]", every: tuple[int, int], confidence: float, distinct: int
) -> WrongSlice:
    """A slice, beside how many of all went wrong; a question that was asked again is no more evidence."""
    asked, right = found.total(), found[None]
    wrong, times = asked - right, asked / distinct
    interval = wilson(wrong, asked, confidence, times=times) or (0.0, 1.0)
    marked, all_marked = int(wrong / times), int(every[0] / times)
    total = max(int(every[1] / times), distinct, all_marked)
    return WrongSlice(
        value=value,
        asked=asked,
        wrong=wrong,
        share=wrong / asked,
        interval=interval,
        is_worse=too_many_p(marked, distinct, all_marked, total) < 1 - confidence,
        links={link: count for link, count in found.most_common() if link is not None and count},
    )
