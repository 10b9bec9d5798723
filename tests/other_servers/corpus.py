"""What the small servers of these tests hold: three documents of two chunks each, and what becomes of five questions.

One retriever stands behind all of them, so that a run over any of them has the same figures:

=================  =====================================================================
recall_at_1        (1 + 0 + 0 + 0) / 4 = 0.25
recall_at_3        (1 + 1 + 1 + 0) / 4 = 0.75
mrr                (1 + 1/2 + 1/3 + 0) / 4 = 11/24
citation_recall    (1 + 1 + 1 + 0) / 4 = 0.75
citation_precision (1 + 1/2 + 1 + 0) / 4 = 0.625
=================  =====================================================================
"""

from typing import Any, NamedTuple


class Chunk(NamedTuple):
    """A chunk: the name of its document, its number within that, and its text."""

    document: str
    number: int
    text: str


class Asked(NamedTuple):
    """What the servers make of a question: the answer, what is retrieved, and the ranks, from 1, that are cited."""

    answer: str
    ranking: tuple[Chunk, ...]
    cited: tuple[int, ...]


BACKUP = (
    Chunk("backup-guide.md", 0, "Daily snapshots are kept for thirty days before the oldest of them is removed."),
    Chunk("backup-guide.md", 1, "A restore of one folder takes four minutes, and that of a whole vault two hours."),
)
WIND = (
    Chunk("wind-station.md", 0, "The Boreas station has two sensors, of which the lower one hangs at three metres."),
    Chunk("wind-station.md", 1, "Its heated anemometer draws eighteen watts as soon as the air is below two degrees."),
)
TRAVEL = (
    Chunk("travel-policy.md", 0, "Hotels are paid for up to one hundred and eighty euros a night in capital cities."),
    Chunk("travel-policy.md", 1, "A journey by train in first class needs no approval where it takes five hours."),
)

ANSWERS = {
    "How long are daily snapshots kept?": Asked("For thirty days.", (BACKUP[0], WIND[0], TRAVEL[0]), (1,)),
    "How long does the restore of a folder take?": Asked("Four minutes.", (WIND[1], BACKUP[1], TRAVEL[0]), (2, 1)),
    "What does the anemometer draw?": Asked("Eighteen watts.", (TRAVEL[1], BACKUP[1], WIND[1]), (3,)),
    "What may a hotel cost in a capital?": Asked("A hundred euros.", (BACKUP[0], WIND[0], WIND[1]), (1,)),
    "Who founded the company?": Asked("I could not find this in the documents.", (BACKUP[0], TRAVEL[1], WIND[0]), ()),
}
_GOLDS = (BACKUP[0], BACKUP[1], WIND[1], TRAVEL[0], None)

RETRIEVAL = {"recall_at_1": 0.25, "recall_at_3": 0.75, "mrr": 11 / 24}
CITATION = {"citation_recall": 0.75, "citation_precision": 0.625}
ABSTENTION = {"unanswerable_accuracy": 1.0, "abstention_false_positive_rate": 0.0}


def questions() -> list[dict[str, Any]]:
    """The questions as the lines of a user's file: the last one cannot be answered."""
    return [
        {
            "question": question,
            "is_unanswerable": gold is None,
            "gold_passages": [{"text": gold.text, "document_id": gold.document}] if gold else [],
        }
        for question, gold in zip(ANSWERS, _GOLDS, strict=True)
    ]
