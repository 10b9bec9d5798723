"""Which questions moved from which broken link to which."""

from collections.abc import Sequence

from evals.compare.models import LinkMove
from evals.compare.pairing import Pairing, SavedRun
from evals.scoring.diagnosis import Link, diagnose, facts_of
from evals.scoring.settings import cases_of


def find_moves(pairing: Pairing, saved: Sequence[SavedRun]) -> list[LinkMove]:
    """The questions whose first broken link is not the same in the last run as in the first.

    Args:
        pairing: The questions that all runs asked.
        saved: The runs with all their records, which say what a run says of itself.

    Returns:
        The most frequent moves first, then in the order of the chain.
    """
    first, last = _links(saved[0]), _links(saved[-1])
    moved: dict[tuple[Link | None, Link | None], list[str]] = {}
    for key in pairing.ids:
        before, after = first.get(key), last.get(key)
        if before is not after:
            moved.setdefault((before, after), []).append(key)
    moves = [LinkMove(first=before, last=after, questions=ids) for (before, after), ids in moved.items()]
    return sorted(moves, key=lambda move: (-len(move.questions), _place(move.last), _place(move.first)))


def _links(saved: SavedRun) -> dict[str, Link]:
    findings = diagnose(saved.records, cases_of(saved.run, saved.records), facts_of(saved.run, saved.records))
    return {finding.record.question.id: finding.link for finding in findings}


def _place(link: Link | None) -> int:
    return len(Link) if link is None else link.place
