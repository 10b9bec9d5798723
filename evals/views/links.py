"""The links that broke, as lines of text."""

from collections.abc import Iterator

from evals.scoring.diagnosis import Diagnosis, LinkCount, WrongSlice

_REMARKS = {
    "unsupported_claims": "with claims that no chunk supports",
    "needs_verification": "of which fuzzy match and judge disagree",
}


def link_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """A line a link, in the order of the chain, then what is counted apart."""
    for one in diagnosis.links:
        yield f"{one.count} × {one.link.label} ({_share(one)}): {one.link}"
    apart = diagnosis.right_without_gold
    if apart is not None:
        yield f"apart: {apart.count} × {apart.link.label} ({_share(apart)}): {apart.link}"
    for kind, ids in diagnosis.remarks.items():
        yield f"beside: {len(ids)} answers {_REMARKS[kind]}"


def wrong_line(one: WrongSlice) -> str:
    """How many questions of a slice ended wrong, and where first."""
    low, high = one.interval
    links = ", ".join(f"{link} {count}" for link, count in one.links.items())
    mark = ", worse than the run" if one.is_worse else ""
    said = f"{one.value}: {one.wrong} of {one.asked} ({one.share:.0%}, {low:.0%} to {high:.0%}{mark})"
    return f"{said}: {links}" if links else said


def _share(one: LinkCount) -> str:
    low, high = one.interval
    return f"{one.share:.0%}, {low:.0%} to {high:.0%}"
