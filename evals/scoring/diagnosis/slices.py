"""Where questions end wrong more often than elsewhere: by the values of a key, with regard to how many there are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb

from evals.schemas import EvalRecord
from evals.schemas.base import Finite, Record
from evals.scoring.diagnosis.findings import Finding
from evals.scoring.diagnosis.links import Link
from evals.scoring.slices import slice_by
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
    asked = [record for record in records if record.response is not None]
    links = {one.record.question.id: one.link for one in findings if one.link.is_failure}
    groups = slice_by(asked, key)
    each = 1 - (1 - confidence) / max(len(groups), 1)
    slices = [_slice(value, group, links, each, len(asked)) for value, group in groups.items()]
    return sorted(slices, key=lambda one: (-one.interval[0], -one.share, one.value))


def _slice(
    value: str, group: Sequence[EvalRecord], links: dict[str, Link], confidence: float, asked: int
) -> WrongSlice:
    broken = Counter(links[record.question.id] for record in group if record.question.id in links)
    wrong = broken.total()
    interval = wilson(wrong, len(group), confidence) or (0.0, 1.0)
    return WrongSlice(
        value=value,
        asked=len(group),
        wrong=wrong,
        share=wrong / len(group),
        interval=interval,
        is_worse=_chance(wrong, len(group), len(links), asked) < 1 - confidence,
        links=dict(broken.most_common()),
    )


def _chance(wrong: int, drawn: int, all_wrong: int, asked: int) -> float:
    """P(X >= wrong) of a hypergeometric X: so many drawn of those asked, of which so many are wrong (Fisher 1935)."""
    rest = asked - all_wrong
    ways = sum(comb(all_wrong, k) * comb(rest, drawn - k) for k in range(wrong, min(drawn, all_wrong) + 1))
    return ways / comb(asked, drawn)
