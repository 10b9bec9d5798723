"""What was asked, and how it was read, as outputs say it."""

from collections.abc import Iterable, Mapping

from evals.schemas import DatasetFingerprint
from evals.text.counts import counted, share


def questions_of(fingerprints: Iterable[DatasetFingerprint], count: int) -> str:
    """How many questions were asked, and of how many where rows of a file were left out: "100 of 150 questions"."""
    there = sum(each.questions if each.available is None else each.available for each in fingerprints)
    return share(count, there, "question") if there > count else counted(count, "question")


def reading_notes(fingerprints: Iterable[DatasetFingerprint]) -> list[str]:
    """What a reader must know of how files of the user's own were read, what was left out of them included."""
    notes = []
    for each in fingerprints:
        notes += each.notes
        if each.available is not None and each.dropped:
            notes.append(f"{each.source}: left out: {left_out(each.dropped)}")
    return notes


def left_out(dropped: Mapping[str, int]) -> str:
    """What was left out of a dataset, by reason."""
    return ", ".join(f"{count} × {reason}" for reason, count in dropped.items())
