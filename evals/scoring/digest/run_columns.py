"""The questions and answers of a run as columns, for comparisons: no text is held."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from evals.metrics.abstaining import known_answerable
from evals.schemas import EvalQuestion, EvalRecord
from evals.scoring.clusters import cluster_of
from evals.scoring.digest.columns import ColumnMaker, ScoreColumn
from evals.text.hashing import hash64

GOLD: dict[str, Callable[[EvalQuestion], object]] = {
    "gold passages": lambda question: question.gold_passages,
    "expected answers": lambda question: (question.expected_answer, question.answers),
    "answerability": lambda question: question.is_unanswerable,
    "key sentences": lambda question: question.key_sentences,
    "checks": lambda question: question.checks,
}
"""What is known of a question's answer, by name."""
CHUNKS, CITATIONS, ANSWERABLE = 1, 2, 4
"""Flags of a question: its answer has a list of chunks, of citations; it is known to be answerable."""


@dataclass(slots=True)
class Labels:
    """A text a question, of which many share one."""

    places: "array[int]" = field(default_factory=lambda: array("I"))
    table: list[str] = field(default_factory=list)

    def __getitem__(self, row: int) -> str:
        return self.table[self.places[row]]


@dataclass(slots=True)
class RunColumns:
    """The questions that a run asked, a row each, in their order.

    Attributes:
        ids: Of the questions.
        numbers: The number of each among all records of the run.
        texts: A hash of each question's text.
        gold: By name, a hash of what is known of each question's answer.
        flags: Of each question.
        clusters: What each belongs to.
        models: The model that answered; "" where it is not said.
        errors: Why there is no answer; "" where there is one.
        scores: The results of each metric, by its name.
    """

    ids: list[str] = field(default_factory=list)
    numbers: "array[int]" = field(default_factory=lambda: array("I"))
    texts: "array[int]" = field(default_factory=lambda: array("Q"))
    gold: "dict[str, array[int]]" = field(default_factory=lambda: {name: array("Q") for name in GOLD})
    flags: bytearray = field(default_factory=bytearray)
    clusters: Labels = field(default_factory=Labels)
    models: Labels = field(default_factory=Labels)
    errors: Labels = field(default_factory=Labels)
    scores: dict[str, ScoreColumn] = field(default_factory=dict)

    def rows(self) -> dict[str, int]:
        """The row of each question, by its id."""
        return {key: row for row, key in enumerate(self.ids)}


def columns_of(records: Iterable[EvalRecord], cluster: str) -> RunColumns:
    """Go over the records of a run once.

    Args:
        records: All of the run.
        cluster: What its questions are clustered by.
    """
    maker = _Maker(cluster)
    for number, record in enumerate(records):
        maker.add(number, record)
    return maker.made()


class _Maker:
    """Makes the columns of a run, record by record."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._columns = RunColumns()
        self._scores: dict[str, ColumnMaker] = {}
        self._labels: tuple[dict[str, int], ...] = ({}, {}, {})

    def add(self, number: int, record: EvalRecord) -> None:
        """Add a record; one that was not asked is passed over."""
        question, response, to = record.question, record.response, self._columns
        if response is None:
            return
        to.ids.append(question.id)
        to.numbers.append(number)
        to.texts.append(hash64(question.question))
        for name, part in GOLD.items():
            to.gold[name].append(hash64(repr(part(question))))
        answered = response.error is None
        to.flags.append(
            CHUNKS * (answered and response.chunks is not None)
            + CITATIONS * (answered and response.citations is not None)
            + ANSWERABLE * known_answerable(question)
        )
        said = cluster_of(question, self._cluster), response.model or "", response.error.kind if response.error else ""
        for labels, known, text in zip((to.clusters, to.models, to.errors), self._labels, said, strict=True):
            _add_label(labels, known, text)
        self._add_scores(record)

    def made(self) -> RunColumns:
        """The columns of what was added."""
        self._columns.scores = {name: maker.column for name, maker in self._scores.items()}
        return self._columns

    def _add_scores(self, record: EvalRecord) -> None:
        before = len(self._columns.ids) - 1
        seen = set()
        for score in record.scores:
            if score.name not in self._scores:
                self._scores[score.name] = ColumnMaker(score.name, before)
            if score.name not in seen:  # the first of a name counts
                seen.add(score.name)
                self._scores[score.name].add(score)
        for name in self._scores.keys() - seen:
            self._scores[name].skip(1)


def _add_label(labels: Labels, known: dict[str, int], text: str) -> None:
    place = known.setdefault(text, len(labels.table))
    if place == len(labels.table):
        labels.table.append(text)
    labels.places.append(place)


def taken(labels: Labels, rows: Sequence[int]) -> list[str]:
    """The labels of these rows."""
    return [labels[row] for row in rows]
