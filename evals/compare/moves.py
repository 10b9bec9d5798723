"""Which questions moved from which broken link to which."""

from evals.compare.models import LinkMove
from evals.compare.pairing import Pairing, SavedRun
from evals.scoring.diagnosis import Link


def find_moves(pairing: Pairing, baseline: SavedRun, other: SavedRun) -> list[LinkMove]:
    """The questions whose first broken link is not the same in a run as in the baseline.

    Args:
        pairing: The questions that the two asked.
        baseline: The run that the other is set against, with all its records, which say what a run says of itself.
        other: The run, with all its records.

    Returns:
        The most frequent moves first, then in the order of the chain.
    """
    if (baseline.run.judge is None) is not (other.run.judge is None):
        return []  # one is diagnosed by a judge and the other by words: a question may move though nothing changed
    moved: dict[tuple[Link | None, Link | None], list[str]] = {}
    for key in pairing.ids:
        before, after = baseline.links.get(key), other.links.get(key)
        if before is not after:
            moved.setdefault((before, after), []).append(key)
    moves = [LinkMove(first=before, last=after, questions=ids) for (before, after), ids in moved.items()]
    return sorted(moves, key=lambda move: (-len(move.questions), _place(move.last), _place(move.first)))


def _place(link: Link | None) -> int:
    return len(Link) if link is None else link.place
