"""Which questions moved from which broken link to which."""

from evals.compare.models import LinkMove
from evals.compare.pairing import Pairing
from evals.scoring.diagnosis import Link


def find_moves(pairing: Pairing) -> list[LinkMove]:
    """The questions whose first broken link is not the same in a run as in the baseline.

    Args:
        pairing: The baseline and the run that is set against it.

    Returns:
        The most frequent moves first, then in the order of the chain.
    """
    baseline, other = pairing.runs
    if (baseline.judge is None) is not (other.judge is None):
        return []  # one is diagnosed by a judge and the other by words: a question may move though nothing changed
    moved: dict[tuple[Link | None, Link | None], list[str]] = {}
    for key, before, after in zip(pairing.ids, *(side.links() for side in pairing.sides), strict=True):
        if before is not after:
            moved.setdefault((before, after), []).append(key)
    moves = [LinkMove(first=before, last=after, questions=ids) for (before, after), ids in moved.items()]
    return sorted(moves, key=lambda move: (-len(move.questions), _place(move.last), _place(move.first)))


def _place(link: Link | None) -> int:
    return len(Link) if link is None else link.place
