"""A user's own questions: good files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evals.config import EvalConfig
from evals.datasets.base import Draft, LoadOptions, fingerprint
from evals.datasets.file import load_file, read_file
from evals.errors import DatasetError

Read = Callable[..., Draft]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.json", '[{"question": "Où?"}, {"question": "Who?"}]'),
        ("q.json", '{"questions": [{"question": "Où?"}, {"question": "Who?"}]}'),
        ("q.jsonl", '{"question": "Où?"}\n\n{"question": "Who?"}\n'),
        ("q.jsonl", '{"question": "Où?"}\r\n{"question": "Who?"}'),
        ("q.csv", "question\nOù?\nWho?\n"),
        ("q.csv", "question\r\nOù?\r\n\r\nWho?\r\n"),
        ("Q.CSV", "question\nOù?\nWho?"),
    ],
)
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_every_format_needs_only_the_question(read: Read, name: str, content: str, bom: bytes) -> None:
    """JSON, JSONL and CSV, with or without a byte order mark, with any line end and blank lines."""
    content_of = read(name, bom + content.encode())
    assert [question.question for question in content_of.questions] == ["Où?", "Who?"]


def test_an_id_that_is_missing_is_derived_and_stable(read: Read) -> None:
    """The same question has the same id in every file and at every place."""
    first = {q.question: q.id for q in read("a.csv", "question\nWho?\nWhere?\n").questions}
    again = read("b.json", '[{"question": "Where?", "id": ""}, {"question": "Who?", "id": null}]').questions
    assert first == {q.question: q.id for q in again}
    assert len({key for key in first.values() if key.startswith("q-")}) == 2


@pytest.mark.parametrize(("written", "read_as"), [("0", "0"), ("7", "7"), ('"x 1"', "x 1")])
def test_an_id_that_is_given_is_kept(read: Read, written: str, read_as: str) -> None:
    """A number is as good an id as a word, zero too."""
    (question,) = read("q.json", f'[{{"question": "Who?", "id": {written}}}]').questions
    assert question.id == read_as


def test_a_csv_has_lists_as_json_in_its_cells(read: Read) -> None:
    """Quoted cells hold JSON, commas, quotes and line breaks."""
    content = (
        "id,question,answers,gold_passages,metadata\n"
        '1,"Who, ""now""\nand then?","[""a"", ""b""]",'
        '"[{""text"": ""gold"", ""span"": [0, 4]}]","{""type"": ""list""}"\n'
    )
    (question,) = read("q.csv", content).questions
    assert (question.question, question.answers) == ('Who, "now"\nand then?', ["a", "b"])
    assert (question.gold_passages[0].span, question.metadata) == ((0, 4), {"type": "list"})


def test_json_can_bring_documents(read: Read) -> None:
    """What is to be ingested stands beside the questions."""
    data = {"questions": [{"question": "Who?"}], "documents": [{"id": "d1", "name": "D", "text": "t"}]}
    assert [document.id for document in read("q.json", data).documents.values()] == ["d1"]


def test_the_dataset_of_a_question_has_the_files_name_unless_said(tmp_path: Path) -> None:
    """Runs, slices and tables call a user's questions by one name."""
    rows = '[{"question": "a"}, {"question": "b", "dataset": "mine"}]'
    (tmp_path / "q.json").write_text(rows)
    dataset = load_file(tmp_path / "q.json", LoadOptions())
    assert {each.question: each.dataset for each in dataset.questions} == {"a": "q", "b": "mine"}
    assert dataset.name == dataset.fingerprint.name == "q"
    assert dataset.fingerprint.source == "q.json"


def test_a_copy_of_a_file_under_another_name_asks_the_same(tmp_path: Path) -> None:
    """The fingerprint is of the questions, and as it was when all of them were of the dataset `file`."""
    rows = '[{"question": "a"}, {"question": "b"}]'
    for name, text in (("one", rows), ("two", rows), ("other", rows.replace("b", "c"))):
        (tmp_path / f"{name}.json").write_text(text)
    first, second, other = (load_file(tmp_path / f"{n}.json", LoadOptions()) for n in ("one", "two", "other"))
    assert first.fingerprint.sha256 == second.fingerprint.sha256
    before = [question.model_copy(update={"dataset": "file"}) for question in first.questions]
    assert first.fingerprint.sha256 == fingerprint(before)
    assert other.fingerprint.sha256 != first.fingerprint.sha256


@pytest.mark.parametrize("answers", [[], ["The manual does not say."], ["N/A"], ["I don't know", "unanswerable"]])
def test_what_cannot_be_answered_may_have_a_refusal_as_its_answer(read: Read, answers: list[str]) -> None:
    """That is how a right answer to it reads."""
    row = {"question": "Price?", "is_unanswerable": True, "answers": answers, "expected_answer": (answers or [None])[0]}
    (question,) = read("q.json", [row]).questions
    assert question.is_unanswerable is True


def test_titles_and_cells_may_be_german(read: Read) -> None:
    """As a German Excel writes them."""
    row = "Frage;Musterantwort;Quelle;Beantwortbar\nWie lange hält der Akku?;96 Stunden;akku.md;WAHR\n"
    (question,) = read("fragen.csv", row).questions
    assert (question.question, question.expected_answer) == ("Wie lange hält der Akku?", "96 Stunden")
    assert question.gold_passages[0].document_id == "akku.md"
    assert question.is_unanswerable is False


@pytest.mark.parametrize("name", ["gold_document", "Gold Document", "gold_document_ids"])
def test_a_column_may_be_named_by_any_name_of_its_field(name: str) -> None:
    config = EvalConfig(dataset_file=Path("q.csv"), columns={name: "Datei"})
    assert config.columns == {"gold_document_ids": "Datei"}


def test_a_text_without_columns_holds_a_question_a_line(read: Read) -> None:
    content = read("questions.txt", "What is it, and who sells it?\n\n  How long does it last?\n")
    asked = [question.question for question in content.questions]
    assert asked == ["What is it, and who sells it?", "How long does it last?"]


def test_a_file_that_is_not_there_is_called_that_whatever_its_ending(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot read questions: no such file"):
        read_file(tmp_path / "questions")
