"""Qasper on small papers, and on the one real paper."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.datasets.base import DatasetRows, LoadOptions
from evals.datasets.qasper import QasperLoader
from evals.reference_server.documents import split
from evals.schemas import Document, EvalDataset, EvalQuestion

DATASET = "qasper"
Row = dict[str, Any]
Load = Callable[..., EvalDataset]
Ask = Callable[..., EvalQuestion]
LONG = "We compare three approaches to translation on two public datasets, and find that the simplest of them wins."
SHORT = "It is fast."
FLOAT, ABSENT = "evidence that is a figure or table", "evidence that is not in the paper"
DISAGREE = "answerability: annotators disagree"
DATA = os.environ.get("EVALS_REAL_DATA")


def answer(**changes: Any) -> Row:
    """One annotator's answer: an extract of the long paragraph."""
    return {
        "unanswerable": False,
        "extractive_spans": ["two public datasets"],
        "yes_no": None,
        "free_form_answer": "",
        "evidence": [LONG],
        "highlighted_evidence": [LONG],
        **changes,
    }


UNANSWERABLE = answer(unanswerable=True, extractive_spans=[], evidence=[], highlighted_evidence=[])


def paper(*questions: Sequence[Row], paper_id: str = "1912.01214", **changes: Any) -> Row:
    """A paper with questions, each of them given as the answers to it; their ids are `<paper>-q0` and so on."""
    return {
        "id": paper_id,
        "title": "On Translation",
        "abstract": " We study translation. ",
        "full_text": {"section_name": ["Introduction", "Results"], "paragraphs": [[SHORT, ""], [f" {LONG}\n", "End."]]},
        "qas": {
            "question": [" Which datasets? "] * len(questions),
            "question_id": [f"{paper_id}-q{number}" for number in range(len(questions))],
            "answers": [{"answer": list(answers)} for answers in questions],
        },
        **changes,
    }


@pytest.fixture
def ask(load: Load) -> Callable[..., EvalQuestion]:
    """The question that these answers of annotators make."""

    def read(*answers: Row, **changes: Any) -> EvalQuestion:
        (question,) = load(paper(answers, **changes)).questions
        return question

    return read


def text_of(question: EvalQuestion, documents: Sequence[Document]) -> list[str]:
    """What the spans of its golds cut out of their documents."""
    texts = {document.id: document.text for document in documents}
    return [texts[gold.document_id or ""][slice(*gold.span or ())] for gold in question.gold_passages]


def test_the_evidence_paragraphs_are_gold(load: Load) -> None:
    """Gold is a paragraph with its section, and its span cuts it out of the Markdown document."""
    dataset = load(paper([answer(evidence=[LONG, SHORT])]))
    (question,) = dataset.questions
    sections = {gold.text: gold.section for gold in question.gold_passages}
    assert sections == {LONG: "Results", SHORT: "Introduction"}
    assert text_of(question, dataset.documents) == [LONG, SHORT]
    assert dataset.fingerprint.dropped == {}


def test_a_paper_is_one_markdown_document(load: Load) -> None:
    """Title and sections are headings, the abstract comes first, and empty paragraphs are left out."""
    (document,) = load(paper([answer()])).documents
    assert (document.id, document.name) == ("qasper-1912.01214", "On Translation")
    assert document.file_name == "qasper-1912.01214.md"
    assert document.text == (
        "# On Translation\n\n## Abstract\n\nWe study translation.\n"
        f"\n## Introduction\n\n{SHORT}\n\n## Results\n\n{LONG}\n\nEnd.\n"
    )
    assert [(one.title, document.text[one.start : one.end]) for one in document.sections] == [
        ("Abstract", "\nWe study translation.\n"),
        ("Introduction", f"\n{SHORT}\n"),
        ("Results", f"\n{LONG}\n\nEnd.\n"),
    ]


NAMES = st.one_of(
    st.none(), st.text("ab \n", max_size=8), st.sampled_from(["Experiments ::: Setup", "Results", "Related\nWork"])
)


@settings(derandomize=True, max_examples=60)
@given(names=st.lists(NAMES, min_size=1, max_size=5), title=st.text("Tx :", min_size=1, max_size=9))
def test_a_chunk_stands_under_the_heading_that_is_its_golds_section(names: list[str | None], title: str) -> None:
    """Whatever the sections are called, a server that splits at headings gives each paragraph the section of its gold.

    Names that are null, blank, repeated or broken over lines are among them.
    """
    pa = pytest.importorskip("pyarrow")
    texts = [f"Paragraph number {number}." for number in range(len(names))]
    full = {"section_name": names, "paragraphs": [[text] for text in texts]}
    row = paper([answer(evidence=texts)], title=title, full_text=full)
    rows = DatasetRows(pa.Table.from_pylist([row]), "here", "qasper")
    in_memory = type("InMemory", (QasperLoader,), {"open": lambda self, options: rows})
    dataset = in_memory().load(LoadOptions())
    (document,) = dataset.documents
    (question,) = dataset.questions
    sections = {
        document.text[start:end]: section for section, start, end in split(document.text, document.file_name, 50)
    }
    assert text_of(question, [document]) == texts
    assert all(gold.section for gold in question.gold_passages)
    for gold in question.gold_passages:
        assert sections[gold.text] == gold.section


FIGURE = "FLOAT SELECTED: Table 1: Results."
EVIDENCE: dict[str, tuple[list[str], list[str], dict[str, int]]] = {
    "figure": ([FIGURE], [], {FLOAT: 1}),
    "figures and text": ([FIGURE, LONG, "FLOAT SELECTED"], [LONG], {FLOAT: 2}),
    "not in the paper": (["It is slow."], [], {ABSENT: 1}),
    "blank": (["", " "], [], {ABSENT: 2}),
    "cut short": ([LONG[:-20]], [LONG], {}),
    "paragraph cut short": ([LONG + " This is not in the paper any more."], [LONG], {}),
    "middle cut out": ([LONG[:60] + " and then another text, because the middle was cut out."], [LONG], {}),
    "cut too short": ([LONG[:59]], [], {ABSENT: 1}),
    "short and cut": ([SHORT[:-1]], [], {ABSENT: 1}),
    "blanks around": ([f"\n{SHORT} "], [SHORT], {}),
    "named thrice": ([LONG, LONG[:80], LONG], [LONG], {}),
    "none": ([], [], {}),
}


@pytest.mark.parametrize("case", EVIDENCE)
def test_evidence_is_matched_or_dropped_and_counted(load: Load, case: str) -> None:
    """Equal text or the same beginning is the paragraph; figures and what the paper lacks are counted."""
    evidence, golds, dropped = EVIDENCE[case]
    dataset = load(paper([answer(evidence=evidence)]))
    assert text_of(dataset.questions[0], dataset.documents) == golds
    assert [gold.text for gold in dataset.questions[0].gold_passages] == golds
    assert dataset.fingerprint.dropped == dropped


def test_highlighted_sentences_are_the_key_sentences(ask: Ask) -> None:
    """Each once over all annotators, without figures and blanks."""
    question = ask(
        answer(highlighted_evidence=[" It wins. ", "FLOAT SELECTED: Table 1", ""]),
        answer(highlighted_evidence=["It wins.", "It is fast."]),
    )
    assert [key.text for key in question.key_sentences] == ["It wins.", "It is fast."]
    origins = {(key.source, key.document_id) for key in question.key_sentences}
    assert origins == {("highlighted_evidence", "qasper-1912.01214")}


@pytest.mark.parametrize(
    ("given", "variants"),
    [
        ([answer(extractive_spans=[], yes_no=True)], ["Yes"]),
        ([answer(extractive_spans=[], yes_no=False)], ["No"]),
        ([answer(extractive_spans=["Europarl", "MultiUN"])], ["Europarl, MultiUN"]),
        ([answer(extractive_spans=[], free_form_answer=" Two of them. ")], ["Two of them."]),
        ([answer(extractive_spans=[]), answer()], ["two public datasets"]),
        ([answer(), answer(extractive_spans=[], yes_no=True), answer()], ["two public datasets", "Yes"]),
        ([UNANSWERABLE, answer()], ["two public datasets"]),
        ([UNANSWERABLE], []),
        ([answer(extractive_spans=None, free_form_answer=None)], []),
    ],
    ids=["yes", "no", "extracts", "free", "one says nothing", "several", "one cannot", "unanswerable", "null"],
)
def test_the_answers_of_the_annotators_are_the_variants(ask: Ask, given: list[Row], variants: list[str]) -> None:
    """Every kind of answer becomes text; equal ones count once, and the first is expected."""
    question = ask(*given)
    assert question.answers == variants
    assert question.expected_answer == (variants[0] if variants else None)


@pytest.mark.parametrize(
    ("given", "unanswerable", "golds", "dropped"),
    [
        ([UNANSWERABLE, UNANSWERABLE], True, 0, {}),
        ([UNANSWERABLE, answer()], None, 1, {DISAGREE: 1}),
        ([answer(), answer()], False, 1, {}),
        ([answer(unanswerable=True)], True, 0, {}),
        ([], None, 0, {}),
    ],
    ids=["all", "some", "none", "with evidence", "nobody"],
)
def test_a_question_is_unanswerable_where_all_annotators_say_so(
    load: Load, given: list[Row], unanswerable: bool | None, golds: int, dropped: dict[str, int]
) -> None:
    """Where they disagree it is not said, and counted; who cannot answer names no gold."""
    dataset = load(paper(given))
    (question,) = dataset.questions
    assert question.is_unanswerable is unanswerable
    assert len(question.gold_passages) == golds
    assert dataset.fingerprint.dropped == dropped


def test_questions_are_drawn_not_papers(load: Load) -> None:
    """A smaller sample begins a larger one, and the corpus is only the papers of the questions drawn."""
    papers = [paper(*[[answer()]] * 3, paper_id=f"19.{number}") for number in range(4)]
    everything = load(*papers)
    assert len({question.id for question in everything.questions}) == 12
    assert {document.id for document in everything.documents} == {f"qasper-19.{number}" for number in range(4)}
    for count in (1, 2, 5, 12, 20):
        some = load(*papers, samples=count)
        assert some.questions == everything.questions[:count]
        asked_of = {question.id.split(":")[1].split("-")[0] for question in some.questions}
        assert {document.id for document in some.documents} == {f"qasper-{name}" for name in asked_of}


@pytest.mark.real_rows
@pytest.mark.skipif(DATA is None, reason="EVALS_REAL_DATA names no folder of real rows")
def test_the_real_paper_gives_exact_golds_under_its_headings() -> None:
    """All spans of the real paper are exact, each gold starts in a section of its name, and few are lost."""
    dataset = QasperLoader().load(LoadOptions(samples=None, data_dir=Path(DATA or "") / "hf"))
    (document,) = dataset.documents
    assert len(dataset.questions) == 4
    assert dataset.fingerprint.dropped == {ABSENT: 2, FLOAT: 1}
    for question in dataset.questions:
        assert question.answers
        assert question.is_unanswerable is False
        assert text_of(question, [document]) == [gold.text for gold in question.gold_passages] != []
        for gold in question.gold_passages:
            start = gold.span[0] if gold.span else -1
            assert [s.title for s in document.sections if s.start <= start < s.end] == [gold.section]
