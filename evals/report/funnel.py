"""First broken links as a funnel: how many questions got how far down the chain."""

from typing import Any

from evals.scoring.diagnosis import Diagnosis, Link, LinkCount

_STAGES: tuple[tuple[str, str, frozenset[Link]], ...] = (
    ("answered", "an answer came", frozenset({Link.TRANSPORT})),
    (
        "retrieved",
        "the gold was found, and sent on, as far as it is known",
        frozenset({Link.CORPUS, Link.NOT_RETRIEVED, Link.PART_RETRIEVED, Link.BELOW_K}),
    ),
    (
        "used",
        "the answer makes use of it, and declines only where it should",
        frozenset(
            (
                *(Link.SHOULD_HAVE_ABSTAINED, Link.WRONG_ABSTENTION, Link.CONTRADICTS_REFERENCE),
                *(Link.NO_MATCH_BY_WORDS, Link.UNUSED),
            )
        ),
    ),
    (
        "right",
        "nothing is known to have gone wrong",
        frozenset({Link.WRONG_CITATION, Link.PARTLY_CORRECT, Link.JUDGE_COULD_NOT_TELL}),
    ),
)
"""Each stage with the links that break before it. `Link` has them in the order of the chain, and so have the stages."""


def funnel(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """The stages, each with how many questions no link is known to have broken up to it, and which broke before it."""
    left = diagnosis.asked
    stages: list[dict[str, Any]] = [{"stage": "asked", "says": "questions asked", "count": left, "links": []}]
    for stage, says, links in _STAGES:
        broken = [one for one in diagnosis.links if one.link in links]
        left -= sum(one.count for one in broken)
        stages.append({"stage": stage, "says": says, "count": left, "links": [_told(one) for one in broken]})
    return stages


def _told(one: LinkCount) -> dict[str, Any]:
    link = one.link
    return {"link": link.value, "label": link.label, "count": one.count, "share": one.share, "ci": one.interval}
