"""A user's own questions: what is wrong with a file, by row and column."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evals.datasets.base import Draft
from evals.datasets.file import read_file
from evals.errors import DatasetError

Read = Callable[..., Draft]

TWICE = ".the key 'answer' stands twice"
BAD = [
    ("q.json", "[", "q.json: not valid JSON"),
    ("q.json", "5", "q.json, questions: must be a list, not a number"),
    ("q.json", '{"question": []}', "q.json, question: unknown key"),
    ("q.json", "[]", "q.json holds no questions"),
    ("q.json", "[" * 100_000, "q.json: not valid JSON"),
    ("q.json", "[5]", "q.json, question 1: expected an object with `question`, not int"),
    ("q.json", '[{"question": "a"}, {"id": "x"}]', "q.json, question 2, column question: it is missing"),
    ("q.json", '[{"question": 5}]', "question 1, column question: must be a text, not a number"),
    ("q.json", '[{"question": "  "}]', "question 1, column question: it is missing"),
    ("q.json", '[{"question": "\\ud800"}]', "question 1, column question: must be a text without"),
    ("q.json", '[{"question": "a", "answers": ["b", "\\udfff"]}]', "column answers.1: must be a text without"),
    ("q.json", '[{"question": "a", "id": "\\ud800"}]', "column id: must be a text without"),
    ("q.json", '[{"question": "a", "gold_passages": [{"text": "\\ud800"}]}]', "gold_passages.0.text: must be a text"),
    ("q.json", '{"questions": [], "documents": [{"id": "d", "name": "n", "text": "\\ud800"}]}', "column text: must be"),
    ("q.json", '[{"question": "a", "gold_passages": [{}]}]', "column gold_passages.0: it needs a text, a chunk_id or"),
    ("q.json", '[{"question": "a", "gold_passages": [{"text": "t", "relevance": NaN}]}]', "gold_passages.0.relevance"),
    ("q.json", '[{"question": "a"}, {"question": "a"}]', "question 2: the same question stands at q.json, question 1"),
    ("q.json", '{"questions": [], "documents": [{"id": "d"}]}', "q.json, document 1, column name: it is missing"),
    ("q.json", '{"questions": [], "documents": ["d"]}', "q.json, document 1: must hold keys and values, not a text"),
    ("q.json", '{"questions": [], "documents": 5}', "q.json, documents: must be a list, not a number"),
    ("q.json", '{"questions":[],"documents":[{"id":"d","name":"","text":""}, {"id":"d","name":"","text":""}]}',
     "document 2: id 'd'"),
    ("q.jsonl", '{"question": "a"}\n{', "q.jsonl, line 2: not valid JSON"),
    ("q.jsonl", '\n\n{"question": ""}', "q.jsonl, line 3, column question"),
    ("q.jsonl", "\n \n", "q.jsonl holds no questions"),
    ("q.csv", "question\n", "q.csv holds no questions"),
    ("q.csv", "answer,topic\nx,y\n", "q.csv: no column holds the question; its columns: answer, topic"),
    ("q.json", '[{"antwort": "a"}]', "q.json: no column holds the question; its columns: antwort"),
    ("q.json", "[{}]", "q.json: no column holds the question; its columns: none"),
    ("q.csv", "question,expected_answer\n,x\n", r"q.csv, row 1 \(line 2\), column question: it is missing"),
    ("q.csv", "Question,topic\nN/A,x\n,y\n", r"q.csv, row 1 \(line 2\), column Question: it is missing"),
    ("q.csv", "question\na\nb,c\n", r"q.csv, row 2 \(line 3\): more cells than the header has columns"),
    ("q.csv", 'question\n"a\nb', r"q.csv, line 3: not valid CSV"),
    ("q.csv", 'question\n"a"b\n', r"q.csv, line 2: not valid CSV"),
    ("q.csv", 'question,answers\na,"[""b"""\n', r"q.csv, row 1 \(line 2\), column answers: not valid JSON"),
    ("q.csv", 'question,context\na,"[\'b\', [c]"\n', r"q.csv, row 1 \(line 2\), column context: not valid JSON"),
    ("q.csv", "question,metadata\na,easy\n", r"row 1 \(line 2\), column metadata: must hold keys and values"),
    ("q.csv", 'question,inputs\na,"{""b"": "\n', r"q.csv, row 1 \(line 2\): not valid JSON"),
    ("q.csv", "question,is_unanswerable\na,maybe\n", r"row 1 \(line 2\), column is_unanswerable: 'maybe' is not true"),
    ("q.csv", "id,question\n1,a\n1,b\n", r"q.csv, row 2 \(line 3\): id '1' stands at q.csv, row 1 \(line 2\) already"),
    ("q.csv", "id,question\n,a\n,b\n,a\n", r"row 3 \(line 4\): the same question stands at q.csv, row 1 \(line 2\)"),
    ("q.csv", "question,expected_answer,question\na,b,c\n", "q.csv: the header holds the column 'question' twice"),
    ("q.csv", "Question,question\na,b\n", "q.csv: the columns 'Question' and 'question' have one name"),
    ("q.json", '[{"question": "a", "gold_passages": [5]}]', "gold_passages.0: must hold keys and values, not a number"),
    ("q.json", '[{"question": "a", "gold_passages": [{"txet": "t"}]}]', "column gold_passages.0.txet: unknown key"),
    ("q.txt", "Who?\tWhere?\na\tb", r"q.txt: no column holds the question; its columns: Who\?"),
    ("q.docx", "Who?", "q.docx: the file must end with"),
    ("q.yaml", "a: [", "q.yaml: not valid YAML"),
    ("q.yaml", "- 5", "q.yaml, question 1: expected an object"),
    ("q.parquet", "PAR1", "cannot read .*q.parquet: "),
    ("q.xlsx", "Who?", "cannot read .*q.xlsx: it is no spreadsheet"),
    ("q", "Who?", "q: the file must end with"),
    ("q.csv", b"question\n\x81\n", "neither UTF-8 nor Windows-1252"),
    ("q.csv", b"question\n\x00\n", "it holds zero bytes"),
    ("q.csv", b"\xff\xfeq", "it is not UTF-16 text"),
    ("q.jsonl", '{"question": "a"}\n{"answer": "c", "answer": "d"}', f"line 2: not valid JSON {TWICE}"),
    ("q.json", '[{"question": "b", "answer": "c", "answer": "d"}]', f"q.json: not valid JSON {TWICE}"),
    ("q.json", '[{"question": "b", "metadata": {"answer": "c", "answer": "d"}}]', f"q.json: not valid JSON {TWICE}"),
    ("q.yaml", "- question: b\n  answer: c\n  answer: d\n", f"q.yaml: not valid YAML {TWICE}"),
    ("q.json", '[{"question": "a", "is_unanswerable": true, "expected_answer": "96 hours"}]',
     "question 1: the expected answer is '96 hours', and is_unanswerable is true"),
    ("q.json", '[{"question": "a", "is_unanswerable": true, "answers": ["I don\'t know", "5 euros"]}]',
     "question 1: the expected answer is '5 euros', and is_unanswerable is true"),
    ("q.json", '[{"question": "a", "is_unanswerable": false, "expected_answer": "unanswerable"}]',
     "the expected answer is 'unanswerable', and is_unanswerable is false"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "message"), BAD, ids=[f"{name}-{message[:30]}" for name, _, message in BAD]
)
def test_what_is_wrong_is_told_by_row_and_column(read: Read, name: str, content: str | bytes, message: str) -> None:
    """Every error of a file is one sentence that names the place."""
    with pytest.raises(DatasetError, match=message):
        read(name, content)


@pytest.mark.parametrize(
    ("column", "known"),
    [
        ("gold_pasages", "gold_passages"),
        ("Refernce", "reference"),
        ("expected_asnwer", "expected_answer"),
        ("retrieved context", "retrieved_contexts"),
    ],
)
def test_a_column_that_is_nearly_a_known_one_is_named_with_it(read: Read, column: str, known: str) -> None:
    """A typing error in a header is not lost in silence, as metadata."""
    noted = read("q.csv", f"question,{column}\na,b\n")
    assert noted.notes == [f"q.csv: column `{column}` is kept as metadata (did you mean {known}?)"]
    assert noted.questions[0].metadata == {column: "b"}
    (question,) = read("q.csv", f"question,{column}\na,b\n", expected_answer=column).questions
    assert question.expected_answer == "b"
    assert read("q.csv", f"question,{column}\na,\n").notes == []


@pytest.mark.parametrize(
    ("content", "key", "hint"),
    [
        ('{"questions": [{"question": "a"}], "docs": []}', "docs", "did you mean 'documents'?"),
        ('{"question": [{"question": "a"}]}', "question", "did you mean 'questions'?"),
        ('{"questions": [{"question": "a"}], "x": 1}', "x", "known: documents, questions"),
    ],
)
def test_an_unknown_key_beside_the_questions_says_the_nearest(read: Read, content: str, key: str, hint: str) -> None:
    """Documents under a misspelt key would not be uploaded, without a word."""
    with pytest.raises(DatasetError, match=f"q.json, {key}: unknown key") as caught:
        read("q.json", content)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda path: None, "No such file"), (Path.mkdir, r"it is a folder without queries\.jsonl")],
    ids=["missing", "folder"],
)
def test_a_path_that_is_no_file_is_our_error(tmp_path: Path, make: Callable[[Path], None], message: str) -> None:
    """What the disk says is passed on in one sentence."""
    make(tmp_path / "q.csv")
    with pytest.raises(DatasetError, match=message):
        read_file(tmp_path / "q.csv")
