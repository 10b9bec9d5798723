"""Columns of other tools: which is which, and what becomes of the rest."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.datasets.base import Draft
from evals.errors import DatasetError

Read = Callable[..., Draft]


@pytest.fixture
def read_rows(read: Read) -> Read:
    """Read rows as a JSON file; keywords are columns that are said to be fields."""
    return lambda *rows, **columns: read("q.json", rows, **columns)


TOOLS: list[tuple[str, dict[str, Any], str | None, list[str], list[str]]] = [
    ("ragas", {"user_input": "Q?", "response": "r", "retrieved_contexts": ["x"], "reference": "A",
               "reference_contexts": ["g", "h"]}, "A", ["g", "h"], ["response", "retrieved_contexts"]),
    ("ragas 0.1", {"question": "Q?", "answer": "r", "contexts": ["x"], "ground_truth": "A"}, "A", [],
     ["answer", "contexts"]),
    ("ragas 0.0", {"question": "Q?", "answer": "r", "contexts": ["x"], "ground_truths": ["A", "B"]}, "A", [],
     ["answer", "contexts"]),
    ("no reference yet", {"question": "Q?", "answer": "r", "ground_truth": ""}, None, [], ["answer"]),
    ("deepeval", {"input": "Q?", "actual_output": "r", "expected_output": "A", "context": ["g"],
                  "retrieval_context": ["x"], "name": None}, "A", ["g"], ["actual_output", "retrieval_context"]),
    ("deepeval, joined", {"input": "Q?", "expected_output": "A", "context": "g|h"}, "A", ["g", "h"], []),
    ("deepeval, camel case", {"input": "Q?", "expectedOutput": "A", "actualOutput": "r"}, "A", [], ["actualOutput"]),
    ("a bar in a passage", {"question": "Q?", "context": "g|h"}, None, ["g|h"], []),
    ("MLflow", {"inputs": {"question": "Q?"}, "outputs": {"response": "r"},
                "expectations": {"expected_response": "A"}}, "A", [], ["outputs"]),
    ("MLflow, retrieval", {"inputs": {"query": "Q?"}, "expectations": {"expected_retrieved_context": [
        {"content": "g", "doc_uri": "hr.md"}]}}, None, ["g"], []),
    ("LangSmith", {"inputs": {"question": "Q?"}, "outputs": {"answer": "A"}, "metadata": {}}, "A", [], []),
    ("LangSmith, experiment", {"inputs": {"input": "Q?"}, "outputs": {"output": "r"},
                               "reference_outputs": {"answer": "A", "sources": ["s"]}}, "A", [], ["outputs"]),
    ("LangSmith, CSV", {"inputs.question": "Q?", "outputs.answer": "A"}, "A", [], []),
    ("Langfuse", {"id": "1", "input": {"question": "Q?"}, "expectedOutput": {"answer": "A", "score": 1}}, "A", [], []),
    ("Langfuse, one key", {"input": "Q?", "expectedOutput": {"total": "A"}}, "A", [], []),
    ("Langfuse, CSV", {"input": '{"question": "Q?"}', "expectedOutput": '{"answer": "A"}'}, "A", [], []),
    ("an answer with braces", {"input": "Q?", "expected_output": '{"a": the key'}, '{"a": the key', [], []),
    ("LangSmith, messages", {"inputs": {"messages": [{"role": "system", "content": "Be brief."},
                                                     {"role": "user", "content": "Q?"}]},
                             "outputs": {"messages": [{"role": "assistant", "content": "A"}]}}, "A", [], []),
    ("Phoenix", {"input": {"query": "Q?"}, "output": {"text": "A"}}, "A", [], []),
    ("Phoenix, CSV", {"input": '{"query": "Q?"}', "output": "{'answer': 'A'}"}, "A", [], []),
    ("one of ours", {"query": "Q?", "answer": "A"}, "A", [], []),
    ("a sheet", {"Question": "Q?", "Ground Truth": "A", "Reference-Contexts": "g"}, "A", ["g"], []),
    ("inspect", {"input": "Q?", "target": "A", "id": 1}, "A", [], []),
    ("inspect, variants", {"input": "Q?", "target": ["A", "B"]}, "A", [], []),
    ("OpenAI's evals", {"input": "Q?", "ideal": "A"}, "A", [], []),
    ("FlashRAG", {"id": "t_0", "question": "Q?", "golden_answers": ["A", "B"]}, "A", [], []),
    ("PopQA", {"question": "Q?", "possible_answers": '["A", "B"]'}, "A", [], []),
    ("by hand", {"Prompt": "Q?", "Expected": "A"}, "A", [], []),
    ("by hand, with answers", {"user query": "Q?", "Reference answer": "A", "Answer": "r"}, "A", [], ["Answer"]),
    ("by hand, variants", {"question": "Q?", "correct_answer": "A", "Accepted answers": ["B"]}, "A", [], []),
    ("by hand, golds", {"question": "Q?", "gold_answer": "A", "ground_truth_contexts": ["g", "h"], "contexts": ["x"]},
     "A", ["g", "h"], ["contexts"]),
    ("a reference beside a target", {"question": "Q?", "reference": "A", "target": ""}, "A", [], []),
    ("ours first", {"question": "Q?", "expected_answer": "A", "gold_passages": ["g"], "context": ""}, "A", ["g"], []),
]  # fmt: skip


@pytest.mark.parametrize(("row", "expected", "golds", "answers"), [t[1:] for t in TOOLS], ids=[t[0] for t in TOOLS])
def test_the_columns_of_tools_are_read(
    read_rows: Read, row: dict[str, Any], expected: str | None, golds: list[str], answers: list[str]
) -> None:
    """Question, reference and gold of each, and what a system answered is none of them."""
    content = read_rows(row)
    (question,) = content.questions
    assert question.question == "Q?"
    assert (question.expected_answer, [gold.text for gold in question.gold_passages]) == (expected, golds)
    assert question.metadata == {}
    said = f"q.json: for `evals score`: {', '.join(answers)} (what a system answered)"
    assert content.notes == ([said] if answers else [])


SPOKEN = [("user", "Is there a fee?"), ("assistant", "Yes."), ("user", "How much?"), ("assistant", "5 euros.")]
LANGCHAIN = {"user": "human", "assistant": "ai"}
CONVERSATION: dict[str, list[dict[str, Any]]] = {
    "ragas": [{"type": LANGCHAIN[role], "content": text} for role, text in SPOKEN],
    "LangChain": [{"type": LANGCHAIN[role], "data": {"content": text}} for role, text in SPOKEN],
    "constructors": [
        {"lc": 1, "type": "constructor", "kwargs": {"type": LANGCHAIN[role], "content": text}} for role, text in SPOKEN
    ],
    "parts": [
        {"role": role, "content": [{"type": "text", "text": part} for part in (text[:4], text[4:])]}
        for role, text in SPOKEN
    ],
}


@pytest.mark.parametrize("column", ["user_input", "messages"])
@pytest.mark.parametrize("form", CONVERSATION)
@pytest.mark.parametrize("written", [list, repr], ids=["list", "text"])
def test_a_list_of_messages_is_a_conversation(read_rows: Read, column: str, form: str, written: Read) -> None:
    """What the user says are its turns; what the assistant says last is the system's answer, for `evals score`."""
    content = read_rows({column: written(CONVERSATION[form]), "reference": "5 euros"})
    (question,) = content.questions
    assert (question.turns, question.question) == (["Is there a fee?", "How much?"], "How much?")
    assert question.expected_answer == "5 euros"
    assert content.notes == ["q.json: for `evals score`: response (what a system answered)"]


def test_a_sheet_may_say_where_its_golds_stand(read_rows: Read) -> None:
    """Document, section and page in columns of their own; the page is metadata too."""
    row = {"question": "Q?", "answer": "A", "gold_passages": ["One.", "Two."]}
    (question,) = read_rows({**row, "gold_document": "fees.pdf", "gold_section": ["§ 1", "§ 2"]}).questions
    golds = [(gold.text, gold.document_id, gold.section) for gold in question.gold_passages]
    assert golds == [("One.", "fees.pdf", "§ 1"), ("Two.", "fees.pdf", "§ 2")]
    (question,) = read_rows({"question": "Q?", "answer": "A", "source": "fees.pdf", "page": 12}).questions
    (gold,) = question.gold_passages
    assert (gold.document_id, gold.section, question.metadata) == ("fees.pdf", "page 12", {"page": 12})


@pytest.mark.parametrize(
    ("cells", "read_as"),
    [
        (["fees.pdf", "docs/Tariff 2024.docx"], ["fees.pdf", "docs/Tariff 2024.docx"]),
        (["https://a.example/fees", ""], ["https://a.example/fees"]),
        (["fees.pdf", "The fee is 5 euros."], []),
        (["written by hand", "fees.pdf"], []),
        (["wikipedia", "wikipedia"], []),
    ],
)
def test_a_source_is_a_gold_document_where_all_are_files(read_rows: Read, cells: list[str], read_as: list[str]) -> None:
    """Else it may be a passage, or where the question is from: metadata, which `columns` can call otherwise."""
    questions = list(read_rows(*({"question": f"Q{n}?", "source": cell} for n, cell in enumerate(cells))).questions)
    assert [gold.document_id for question in questions for gold in question.gold_passages] == read_as
    assert [question.metadata for question in questions] == [{} if read_as else {"source": cell} for cell in cells]


DOCUMENTS, CHUNKS = ["Expected source", "relevant_doc_ids", "gold_document_id"], ["relevant_chunk_ids", "gold_chunk_id"]


@pytest.mark.parametrize("title", [*DOCUMENTS, *CHUNKS])
def test_golds_known_by_an_id_are_called_by_many_names(read_rows: Read, title: str) -> None:
    """One in a cell, or a list."""
    known_by = "chunk_id" if title in CHUNKS else "document_id"
    one, two = read_rows({"question": "Q?", title: "a.md"}, {"question": "R?", title: ["a.md", "b.md"]}).questions
    assert [getattr(gold, known_by) for gold in one.gold_passages] == ["a.md"]
    assert [getattr(gold, known_by) for gold in two.gold_passages] == ["a.md", "b.md"]


@pytest.mark.parametrize("title", ["targets", "idea", "expecting", "unexpected", "prompts", "target_audience"])
def test_a_column_that_is_near_a_short_common_word_is_no_slip(read_rows: Read, title: str) -> None:
    """It is metadata like others."""
    (question,) = read_rows({"question": "Q?", "expected_answer": "A", title: "x"}).questions
    assert question.metadata == {title: "x"}


def test_other_columns_become_metadata_and_one_note_says_so(read_rows: Read) -> None:
    """The user's own metadata goes before them; what holds nothing is not named."""
    row = {"question": "Q?", "Topic": "fees", "level": 2, "empty": "", "metadata": {"Topic": "rates"}, "response": "r"}
    content = read_rows(row, {"question": "R?", "tags": ["a"], "metadata": None})
    assert [question.metadata for question in content.questions] == [{"Topic": "rates", "level": 2}, {"tags": ["a"]}]
    assert content.notes == [
        "q.json: kept as metadata: Topic, level, tags (`columns` names what is read otherwise); "
        "for `evals score`: response (what a system answered)"
    ]
    assert content.columns == {"question": "question", "metadata": "metadata"}


def test_expected_facts_are_key_sentences(read_rows: Read) -> None:
    """A full answer draws on them; they are no wording of it."""
    (question,) = read_rows({"inputs": {"question": "Q?"}, "expectations": {"expected_facts": ["f1", "f2"]}}).questions
    assert [key.text for key in question.key_sentences] == ["f1", "f2"]
    assert {key.source for key in question.key_sentences} == {"expected_facts"}
    assert question.expected_answer is None


def test_columns_that_are_said_go_before_what_they_are_called(read_rows: Read) -> None:
    """For names of one's own, and where a known name holds something else."""
    row = {"Frage": "Q?", "answer": "r", "Soll": "A", "Source": "The text.", "nr": 7}
    content = read_rows(row, question="Frage", expected_answer="soll", gold_passages="Source", id="nr")
    (question,) = content.questions
    assert (question.id, question.question, question.expected_answer) == ("7", "Q?", "A")
    assert [gold.text for gold in question.gold_passages] == ["The text."]
    assert content.columns == {"question": "Frage", "expected_answer": "Soll", "gold_passages": "Source", "id": "nr"}
    assert "for `evals score`: answer" in content.notes[0]


@pytest.mark.parametrize(
    ("row", "unanswerable"),
    [
        ({"Answerable?": "no"}, True),
        ({"Answerable?": "Yes"}, False),
        ({"Answerable?": "n"}, True),
        ({"is_answerable": True, "is_unanswerable": False}, False),
        ({"unanswerable": 1}, True),
        *(({"is_unanswerable": cell}, True) for cell in ("true", "YES", "1")),
        *(({"is_unanswerable": cell}, False) for cell in ("False", "no", "0")),
        ({"Answerable?": ""}, None),
    ],
    ids=str,
)
def test_whether_there_is_an_answer_is_said(read_rows: Read, row: dict[str, Any], unanswerable: bool | None) -> None:
    """Nobody who writes a table thinks of a negation; an empty cell says nothing."""
    (question,) = read_rows({"question": "Q?", **row}).questions
    assert question.is_unanswerable is unanswerable
    assert question.metadata == {}


def test_a_column_that_is_said_must_be_there(read_rows: Read) -> None:
    """The message lists those that are."""
    with pytest.raises(DatasetError, match=r"q\.json has no column 'Frge', which `columns` names") as caught:
        read_rows({"Frage": "Q?"}, question="Frge")
    assert caught.value.hint == "its columns: Frage"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "Q?", "gold_passages": ["1.", "2.", "3."], "gold_section": ["§ 1", "§ 2"]},
            "question 1: gold_section holds 2 values for 3 passages: give one for each",
        ),
        ({"question": "Q?", "answerable": "yes", "is_unanswerable": "yes"}, "answerable and unanswerable at once"),
        ({"question": "Q?", "answerable": "maybe"}, "column answerable: 'maybe' is not true or false"),
        ({"question": "Q?", "answerable": [1]}, r"column answerable: \[1\] is not true or false"),
        ({"user_input": 5}, "column user_input: must be a text, not a number"),
        ({"question": "Q?", "reference": {"a": 1, "b": 2}}, "column reference: must be a text, not keys and values"),
        ({"question": "Q?", "reference_contexts": [{"txt": "g"}]}, r"column reference_contexts\.0\.txt: unknown key"),
        ({"inputs": {"messages": []}}, "column messages: it is no list of what a user says"),
    ],
    ids=str,
)
def test_a_fault_is_told_by_the_name_that_the_file_has(read_rows: Read, row: dict[str, Any], message: str) -> None:
    """Nobody looks for a column that is not in their file."""
    with pytest.raises(DatasetError, match=message):
        read_rows(row)


@pytest.mark.parametrize(
    ("column", "cell", "criteria"),
    [
        ("rubric", "Is it polite?", ["Is it polite?"]),
        ("criteria", ["is short", "names a year"], ["is short", "names a year"]),
        ("Criteria", '["is short", "names a year"]', ["is short", "names a year"]),
        ("expectations", {"guidelines": ["is polite"]}, ["is polite"]),
        ("rubric", "", []),
    ],
)
def test_the_rubric_of_a_question_is_text_or_list(read_rows: Read, column: str, cell: Any, criteria: list[str]) -> None:
    """MLflow calls it guidelines; a reader learns which metric judges by it."""
    content = read_rows({"question": "Q?", column: cell})
    assert [question.rubric for question in content.questions] == [criteria]
    assert any("the metric `rubric`" in note for note in content.notes) == bool(criteria)
    assert ("rubric" in content.questions[0].model_dump()) == bool(criteria)
