"""Which column of a file is which field: by our own names, those of other tools, or as the user says."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evals.errors import DatasetError
from evals.inputs.cells import is_nothing

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "question_id", "query_id", "_id", "qid"),
    "question": (
        *("question", "user_input", "query", "input"),
        *("user_query", "user_question", "question_text", "query_text", "prompt"),
    ),
    "turns": ("turns",),
    "expected_answer": (
        "expected_answer",
        "reference",
        "ground_truth",
        "ground_truths",
        "expected_output",
        "expected_response",
        "reference_outputs",
        *("reference_answer", "gold_answer", "golden_answer", "correct_answer", "ideal_answer", "ground_truth_answer"),
        *("target", "ideal", "expected"),
    ),
    "answers": (
        *("answers", "golden_answers", "possible_answers", "answer_aliases", "accepted_answers", "acceptable_answers"),
        *("gold_answers", "correct_answers", "reference_answers", "expected_answers"),
    ),
    "gold_passages": (
        *("gold_passages", "reference_contexts", "expected_retrieved_context", "context"),
        *("gold_passage", "gold_contexts", "gold_context", "ground_truth_contexts", "ground_truth_context"),
        *("reference_context", "expected_contexts", "expected_context", "relevant_passages", "relevant_contexts"),
    ),
    "gold_document_ids": (
        *("gold_document_ids", "gold_document_id", "gold_doc_ids", "gold_sources", "gold_source"),
        *("expected_document_ids", "expected_doc_ids", "expected_sources", "expected_source"),
        *("relevant_document_ids", "relevant_doc_ids", "reference_document_ids"),
    ),
    "gold_chunk_ids": (
        *("gold_chunk_ids", "reference_context_ids"),
        *("gold_chunk_id", "expected_chunk_ids", "relevant_chunk_ids", "reference_chunk_ids"),
    ),
    "key_sentences": ("key_sentences", "expected_facts"),
    "is_unanswerable": ("is_unanswerable", "is_impossible", "unanswerable"),
    "is_answerable": ("is_answerable", "answerable"),
    "dataset": ("dataset",),
    "checks": ("checks",),
    "metadata": ("metadata", "additional_metadata"),
}
"""Fields of a question, and the names of their columns: our own, then those of ragas, deepeval, MLflow, LangSmith,
Phoenix, BEIR, SQuAD, inspect and FlashRAG, and those that people give. Where a file has several the first counts. The
`gold_…_ids` are golds known by an id alone, `is_answerable` is the contrary of `is_unanswerable`."""
EITHER = ("answer", "output", "outputs")
"""The expected answer where no other column holds it; beside one that does, what a system answered (ragas before 0.2,
MLflow). In a file of answers they hold what a system answered, unless one of `SYSTEM_ANSWER` does."""
SYSTEM_ANSWER = (
    *("response", "actual_output"),
    *("prediction", "predicted_answer", "generated_answer", "model_answer", "rag_answer", "model_output"),
)
SYSTEM_CHUNKS = (
    *("retrieved_contexts", "retrieval_context", "contexts"),
    *("retrieved_chunks", "retrieved_passages", "retrieved_docs", "retrieved_documents"),
)
"""Lists of the texts that were retrieved, the best first."""
SYSTEM_IDS = {
    "chunk_id": ("retrieved_context_ids", "retrieved_chunk_ids"),
    "document_id": ("retrieved_doc_ids", "retrieved_document_ids"),
}
"""Lists of the ids of the same."""
SYSTEM = (*SYSTEM_ANSWER, *SYSTEM_CHUNKS, *(name for names in SYSTEM_IDS.values() for name in names))
"""What a system answered and retrieved: saved answers, which are no part of a question."""
_KNOWN = frozenset({*(name for names in NAMES.values() for name in names), *EITHER, *SYSTEM})
_NESTED = re.compile(r"^(?:inputs?|outputs?|expectations|vars)[./]", re.IGNORECASE)
"""How tools name what stood within an object: `inputs.question`."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHORTEST_SLIP = 4
"""Names of fewer letters have too many neighbours for one of them to be a slip."""
_NO_SLIPS = frozenset({"turns", "target", "ideal", "expected", "prompt", "prediction"})
"""Names whose neighbours mean something else: `turn` is a number, and `idea` no reference."""
_LISTED = 12


@lru_cache(maxsize=1024)
def plain_name(title: str) -> str:
    """A title as names are compared: "Ground Truth:", "groundTruth" and "ground-truth" are `ground_truth`."""
    return re.sub(r"[\s-]+", "_", _HUMP.sub("_", _NESTED.sub("", title.strip().rstrip("?:* ")))).casefold()


def is_known(title: str) -> bool:
    """Whether a column of this title is read."""
    return plain_name(title) in _KNOWN


@dataclass(frozen=True, slots=True)
class Reading:
    """How the columns of a file are read.

    Attributes:
        fields: By field, its column.
        filled: The columns that hold anything.
        metadata: The columns that are kept as metadata.
        answers: The columns that hold what a system answered.
    """

    fields: Mapping[str, str]
    filled: frozenset[str] = frozenset()
    metadata: Sequence[str] = ()
    answers: Sequence[str] = ()

    def used(self) -> dict[str, str]:
        """By field its column, of those that hold anything."""
        return {field: self.fields[field] for field in NAMES if self.fields.get(field) in self.filled}

    def notes(self) -> list[str]:
        """What a reader must know: what became metadata, and what was not read."""
        notes = []
        if self.metadata:
            notes.append(f"kept as metadata: {_some(self.metadata)} (`columns` names what is read otherwise)")
        if self.answers:
            notes.append(f"for `evals score`: {_some(self.answers)} (what a system answered)")
        return notes


def reading_of(
    name: str, rows: Iterable[Mapping[str, Any]], said: Mapping[str, str], *, answered: bool = False
) -> Reading:
    """Find the columns of a file.

    Args:
        name: Of the file, for messages.
        rows: All rows; they are walked once.
        said: What the user says, by field the column.
        answered: Whether the file is the one of the answers that are scored, so that `answer` is no reference.

    Raises:
        DatasetError: A column that the user names is not there, one is called nearly like a known one, or none holds
            the question.
    """
    filled, there = _looked_over(rows)
    titles = _by_name(name, there)
    fields = {field: _said(name, column, titles) for field, column in said.items()}
    for field_name, names in NAMES.items():
        found = _first(names, titles, filled)
        if field_name not in fields and found and found not in fields.values():
            fields[field_name] = found
    either = [titles[known] for known in EITHER if known in titles and titles[known] not in fields.values()]
    if either and _lacks_reference(fields, titles, answered=answered):
        fields["expected_answer"] = either.pop(0)
    taken = set(fields.values())
    answers = [*either, *(titles[known] for known in SYSTEM if known in titles and titles[known] not in taken)]
    rest = [title for title in titles.values() if title in filled and title not in taken.union(answers)]
    for title in rest:
        _refuse_slip(name, title)
    if not {"question", "turns"} & fields.keys():
        columns = ", ".join(titles.values()) or "none"
        raise DatasetError(
            f"{name}: no column holds the question; its columns: {columns}", "say which does: --columns question=COLUMN"
        )
    return Reading(fields, filled, rest, [title for title in answers if title in filled])


def _lacks_reference(fields: Collection[str], titles: Collection[str], *, answered: bool) -> bool:
    """Whether `answer` is the reference: no other column is, nor is it what the system answered."""
    return "expected_answer" not in fields and not (answered and not set(SYSTEM_ANSWER).intersection(titles))


def _looked_over(rows: Iterable[Mapping[str, Any]]) -> tuple[frozenset[str], Iterable[str]]:
    """The columns that hold anything, and all that there are, in the order in which they come."""
    filled: set[str] = set()
    there: dict[str, None] = {}
    for row in rows:
        there.update(dict.fromkeys(map(str, row)))
        filled.update(title for title in row.keys() - filled if not is_nothing(row[title]) and row[title] != [])
    return frozenset(filled), there


def _by_name(name: str, titles: Iterable[str]) -> dict[str, str]:
    """The titles by their plain names."""
    found: dict[str, str] = {}
    for title in titles:
        other = found.setdefault(plain_name(title), title)
        if other != title:
            raise DatasetError(f"{name}: the columns {other!r} and {title!r} have one name", "name each column once")
    return found


def _first(names: Sequence[str], titles: Mapping[str, str], filled: Collection[str]) -> str | None:
    """The first of the columns that holds anything, else the first that is there."""
    there = [titles[known] for known in names if known in titles]
    return next((title for title in there if title in filled), there[0] if there else None)


def _said(name: str, column: str, titles: Mapping[str, str]) -> str:
    found = column if column in titles.values() else titles.get(plain_name(column))
    if found is None:
        raise DatasetError(
            f"{name} has no column {column!r}, which `columns` names", f"its columns: {', '.join(titles.values())}"
        )
    return found


def _refuse_slip(name: str, title: str) -> None:
    """Stop at what is nearly a known name: lost as metadata, a whole group of metrics would go without a word."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - 40 ms that only a column of no known name needs

    plain = plain_name(title)
    near = [
        known
        for known in sorted(_KNOWN - _NO_SLIPS)
        if len(known) >= _SHORTEST_SLIP and OSA.distance(plain, known) == 1
    ]
    if near:
        raise DatasetError(
            f"{name}: unknown column {title!r}",
            f"did you mean {near[0]!r}? Say what it is with --columns FIELD=COLUMN, or give it another name",
        )


def _some(titles: Sequence[str]) -> str:
    more = len(titles) - _LISTED
    return ", ".join(titles[:_LISTED]) + (f" and {more} more" if more > 0 else "")
