"""Queries with judgements of relevance, as BEIR lays them out."""

import json
from collections import Counter
from pathlib import Path

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.file import load_file, read_file
from evals.errors import DatasetError

QRELS = "query-id\tcorpus-id\tscore\n"


def lines(*rows: dict[str, object]) -> str:
    return "\n".join(map(json.dumps, rows))


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """Three queries of which two have a relevant document, and two documents."""
    home = tmp_path / "scifact"
    (home / "qrels").mkdir(parents=True)
    (home / "queries.jsonl").write_text(
        lines(*({"_id": f"q{n}", "text": f"Query {n}?", "metadata": {"level": n}} for n in (1, 2, 3)))
    )
    (home / "corpus.jsonl").write_text(
        lines({"_id": "d1", "title": "One", "text": "First."}, {"_id": "2", "title": "", "text": "Second."})
    )
    (home / "qrels" / "test.tsv").write_text(QRELS + "q1\td1\t2\nq1\t2\t1\nq2\t2\t0\nq3\t2\t1\n")
    (home / "qrels" / "train.tsv").write_text(QRELS + "q2\td1\t1\n")
    return home


@pytest.mark.parametrize("named", ["", "queries.jsonl"])
def test_beir_is_read_by_its_folder_or_its_queries(beir: Path, named: str) -> None:
    """Queries of the split `test` with their relevant documents and grades, and the corpus to upload."""
    content = read_file(beir / named)
    golds = [[(gold.document_id, gold.relevance, gold.text) for gold in q.gold_passages] for q in content.questions]
    assert [q.id for q in content.questions] == ["q1", "q3"]
    assert golds == [[("d1", 2.0, ""), ("2", 1.0, "")], [("2", 1.0, "")]]
    assert content.questions[0].metadata == {"level": 1}
    documents = [(document.id, document.name, document.text) for document in content.documents.values()]
    assert documents == [("d1", "One", "One\n\nFirst."), ("2", "2", "Second.")]
    assert content.dropped == Counter({"query without a relevant document": 1})
    assert content.notes[0].endswith(": relevant documents by test.tsv: gold is known by the document alone")


def test_the_dataset_of_a_folder_is_called_by_it(beir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a file is called by its name, also where it is given as a point."""
    monkeypatch.chdir(beir)
    for folder in (beir, Path()):
        dataset = load_file(folder, LoadOptions(samples=None))
        assert (dataset.name, dataset.fingerprint.source, dataset.fingerprint.documents) == ("scifact", "scifact", 2)
        assert {question.id: question.dataset for question in dataset.questions} == {"q1": "scifact", "q3": "scifact"}


def test_which_of_several_judgements_is_wanted_must_be_said(beir: Path) -> None:
    """By a file beside the queries that is called qrels, which goes before the folder."""
    (beir / "qrels" / "test.tsv").rename(beir / "qrels" / "dev.tsv")
    with pytest.raises(DatasetError, match=r"holds dev\.tsv, train\.tsv"):
        read_file(beir)
    (beir / "qrels.tsv").write_text(QRELS + "q2\td1\t1\n")
    assert [q.id for q in read_file(beir).questions] == ["q2"]


def test_documents_that_cannot_be_files_are_not_uploaded(beir: Path) -> None:
    """Their ids are those of the judgements, so they cannot be changed; the questions can be asked all the same."""
    (beir / "corpus.jsonl").write_text(lines({"_id": "https://a.com/x", "text": "First."}))
    content = read_file(beir)
    assert (len(content.questions), content.documents) == (2, {})
    assert content.dropped["document whose id cannot be the name of a file"] == 1


def test_queries_without_judgements_are_questions_and_that_is_said(tmp_path: Path) -> None:
    """They can be asked; nothing is known of what is relevant."""
    (tmp_path / "queries.jsonl").write_text(lines({"_id": "301", "text": "What?"}))
    content = read_file(tmp_path / "queries.jsonl")
    assert [(q.id, q.gold_passages) for q in content.questions] == [("301", [])]
    assert "no judgements (qrels) are next to the queries" in content.notes[0]


def test_a_table_with_a_header_is_no_list_of_topics(tmp_path: Path) -> None:
    """A known column tells it, whatever the file is called."""
    (tmp_path / "topics.tsv").write_text("question\tanswer\nWhat?\tThis.\n")
    assert [q.question for q in read_file(tmp_path / "topics.tsv").questions] == ["What?"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("qrels.tsv", "301 0 FT-1 1\n302 0 FT-1 1\n", r"qrels\.tsv, row 1 .*: expected query, document and grade"),
        ("qrels.tsv", f"{QRELS}301\tFT-1\thigh\n", r"qrels\.tsv, row 1 \(line 2\): expected query"),
        ("qrels.tsv", f"{QRELS}301\t\t1\n", r"qrels\.tsv, row 1 \(line 2\): expected query, document and grade"),
        ("qrels.tsv", f"{QRELS}999\tFT-1\t1\n", r"qrels\.tsv judges none of the queries of queries\.jsonl"),
        ("queries.jsonl", '{"_id": "q1", "text": "a?"}\n{"_id": "q2"}', r"line 2, column text: it is missing"),
        ("corpus.jsonl", '{"_id": "d1"}', r"corpus\.jsonl, line 1: expected an object with `_id` and `text`"),
        ("corpus.jsonl", '{"_id": "d", "text": "a"}\n{"_id": "d", "text": "b"}', r"line 2: id 'd' is that of another"),
    ],
)  # fmt: skip
def test_a_fault_beside_the_queries_is_named(tmp_path: Path, name: str, content: str, message: str) -> None:
    """The file and the line that are wrong, not the queries."""
    (tmp_path / "queries.jsonl").write_text(lines({"_id": "301", "text": "What?"}))
    (tmp_path / name).write_text(content)
    with pytest.raises(DatasetError, match=message):
        read_file(tmp_path / "queries.jsonl")
