"""The sheet in which people look through questions, what they decided in it, and what a file of questions covers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.datasets.tables import read_rows
from evals.errors import DatasetError
from evals.report.sheets import sheet
from evals.schemas.dataset import EvalQuestion
from evals.text.numbers import counted, share

KEEP, EDIT, DROP = "keep", "edit", "drop"
COLUMNS = ("id", "kind", "question", "expected_answer", "paragraph", "document", "verdict", "comment")


def question_sheet(questions: Iterable[EvalQuestion], paragraphs: Mapping[str, str]) -> Iterator[str]:
    """The lines of the sheet, with the column `verdict` empty.

    Args:
        questions: Of the file.
        paragraphs: By the id of a question, what it was made from; quotations alone are shown where it is not known.
    """
    return sheet(COLUMNS, (_row(question, paragraphs.get(question.id, "")) for question in questions))


def _row(question: EvalQuestion, paragraph: str) -> dict[str, Any]:
    golds, elsewhere = [gold.text for gold in question.gold_passages if gold.text], list[str]()
    for gold in golds:
        marked = paragraph.replace(gold, f"[[{gold}]]", 1)
        elsewhere += [f"[[{gold}]]"] if marked == paragraph else []
        paragraph = marked
    documents = [gold.document_id for gold in question.gold_passages if gold.document_id]
    return {
        "id": question.id,
        "kind": question.metadata.get("kind"),
        "question": question.question,
        "expected_answer": "(not answerable)" if question.is_unanswerable else question.expected_answer,
        "paragraph": "\n\n".join(filter(None, [paragraph, *elsewhere])),
        "document": ", ".join(dict.fromkeys(documents)) or question.metadata.get("near"),
    }


def read_decisions(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a filled sheet by the id of the question.

    Raises:
        DatasetError: It cannot be read, has no column `id` or `verdict`, or a verdict is none.
    """
    rows, _ = read_rows(path, COLUMNS.__contains__, "id and verdict")
    decisions: dict[str, dict[str, str]] = {}
    for where, cells in rows:
        row = {title: str(cell).strip() for title, cell in cells.items()}
        if missing := {"id", "verdict", "question", "expected_answer"} - row.keys():
            hint = "save the sheet of the review as CSV or Excel"
            raise DatasetError(f"{path.name} has no column {min(missing)!r}", hint)
        row["verdict"] = verdict = row["verdict"].lower()
        if verdict not in {"", KEEP, EDIT, DROP}:
            raise DatasetError(f"{where}: no verdict {verdict!r}", f"write {KEEP}, {EDIT} or {DROP}")
        if verdict == EDIT and not (row["question"] and row["expected_answer"]):
            raise DatasetError(f"{where}: an edited question needs its text and its answer", f"or {DROP} it")
        decisions[row["id"]] = row
    return decisions


def reviewed(
    questions: Iterable[EvalQuestion], decisions: Mapping[str, Mapping[str, str]]
) -> tuple[list[EvalQuestion], Counter[str]]:
    """The questions that are kept, edited ones with the texts of the sheet, and how many were decided how."""
    kept, counts = list[EvalQuestion](), Counter[str]()
    for question in questions:
        row = decisions.get(question.id, {})
        verdict = row.get("verdict", "")
        counts[verdict] += 1
        if verdict not in {KEEP, EDIT}:
            continue
        update: dict[str, Any] = {"metadata": {**question.metadata, "reviewed": verdict}}
        if verdict == EDIT:
            update["question"] = row["question"]
            update |= {} if question.is_unanswerable else {"expected_answer": row["expected_answer"]}
        kept.append(question.model_copy(update=update))
    return kept, counts


def coverage(questions: Sequence[EvalQuestion]) -> Iterator[str]:
    """What questions cover: kinds, documents, and how many copy their passage."""
    kinds = Counter(str(question.metadata["kind"]) for question in questions if "kind" in question.metadata)
    if kinds:
        yield f"kinds: {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}"
    documents = Counter(
        name for question in questions for name in {gold.document_id for gold in question.gold_passages}
    )
    documents.pop(None, None)
    if documents:
        name, most = documents.most_common(1)[0]
        yield f"gold in {counted(len(documents), 'document')}; most in {name}: {counted(most, 'question')}"
    copied = sum("copied" in question.metadata.get("checks", ()) for question in questions)
    if kinds:
        yield f"{share(copied, len(questions), 'question', 'has')} six words in a row of the passage"
