"""The official files of SQuAD."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.datasets.file import read_file
from evals.errors import DatasetError

CONTEXT = "The Aster 2 runs for 96 hours on one charge."


def write(folder: Path, *questions: dict[str, Any], **paragraph: Any) -> Path:
    path = folder / "dev.json"
    paragraphs = [{"context": CONTEXT, "qas": list(questions), **paragraph}, {"context": "Another.", "qas": []}]
    path.write_text(json.dumps({"version": "v2.0", "data": [{"title": "Aster_2", "paragraphs": paragraphs}]}))
    return path


def test_questions_come_with_their_paragraphs_and_answerability(tmp_path: Path) -> None:
    """All paragraphs are the corpus; gold is cut exactly out of its document, and an impossible question has none."""
    answers = [{"text": text, "answer_start": 21} for text in ("96 hours", "96 hours", "96")]
    content = read_file(
        write(
            tmp_path,
            {"id": "a", "question": "How long?", "is_impossible": False, "answers": answers},
            {"id": "b", "question": "Who?", "is_impossible": True, "answers": [], "plausible_answers": answers},
        )
    )
    first, second = content.questions
    assert (first.expected_answer, first.answers, first.is_unanswerable) == ("96 hours", ["96 hours", "96"], False)
    assert (second.expected_answer, second.gold_passages, second.is_unanswerable) == (None, [], True)
    assert first.metadata == {"article": "Aster 2"}
    (gold,) = first.gold_passages
    documents = {document.id: document.text for document in content.documents.values()}
    assert len(documents) == 2
    assert documents[gold.document_id or ""][slice(*(gold.span or ()))] == gold.text == CONTEXT


@pytest.mark.parametrize(
    ("question", "paragraph", "message"),
    [
        ({"id": "a", "answers": []}, {}, ", question 1, column question: it is missing"),
        (
            {"question": "Q?", "answers": [{}]},
            {},
            r", question 1, column answers\.0: must be a text, not keys and values",
        ),
        *(({}, wrong, ": not a file of SQuAD") for wrong in ({"context": None}, {"qas": None}, {"qas": [5]})),
    ],
)
def test_what_is_missing_or_of_another_form_is_named(
    tmp_path: Path, question: dict[str, Any], paragraph: dict[str, Any], message: str
) -> None:
    """One message, no traceback; the file is named, whatever it lacks."""
    with pytest.raises(DatasetError, match=rf"dev\.json{message}"):
        read_file(write(tmp_path, question, **paragraph))
