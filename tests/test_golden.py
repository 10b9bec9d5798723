"""The golden set that ships with the package."""

from collections import Counter

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.golden import GoldenLoader
from evals.datasets.registry import get_loader
from evals.schemas import Document, EvalDataset, EvalQuestion, GoldPassage

TYPES = {"single_fact", "numeric", "list", "multi_hop", "yes_no", "calculation", "unanswerable"}
GOLDEN = GoldenLoader().load(LoadOptions(samples=None))
DOCUMENTS = {document.id: document for document in GOLDEN.documents}
GOLDS = [
    pytest.param(gold, id=f"{question.id}-{number}")
    for question in GOLDEN.questions
    for number, gold in enumerate(question.gold_passages)
]


def section_of(document: Document, gold: GoldPassage) -> list[tuple[int, int]]:
    """Where the sections of the gold's name stand."""
    return [(section.start, section.end) for section in document.sections if section.title == gold.section]


@pytest.mark.parametrize("gold", GOLDS)
def test_a_gold_stands_exactly_once_in_its_document_and_in_its_section(gold: GoldPassage) -> None:
    """The span cuts the gold out of its file, the text is found nowhere else in it, and the section holds it."""
    document = DOCUMENTS[gold.document_id or ""]
    assert gold.span is not None
    start, end = gold.span
    assert document.text[start:end] == gold.text
    assert document.text.count(gold.text) == 1
    assert any(low <= start and end <= high for low, high in section_of(document, gold))


def test_ids_and_questions_are_unique() -> None:
    """No question is asked twice."""
    for values in ([q.id for q in GOLDEN.questions], [q.question for q in GOLDEN.questions]):
        assert [value for value, count in Counter(values).items() if count > 1] == []


def test_every_type_of_question_is_there() -> None:
    """Single facts, numbers, lists, several documents, yes or no, calculations and what cannot be answered."""
    counts = Counter(question.metadata["type"] for question in GOLDEN.questions)
    assert set(counts) == TYPES
    assert min(counts.values()) >= 5


@pytest.mark.parametrize(("name", "kind"), [("EF_1", "list"), ("EF_2", "facts"), ("EF_3", "calculation")])
def test_the_named_questions_carry_their_checks(name: str, kind: str) -> None:
    """The three questions of the early scripts ship as data, with what is checked in them."""
    question = next(question for question in GOLDEN.questions if question.id == name)
    assert kind in {check.kind for check in question.checks}


@pytest.mark.parametrize("question", [pytest.param(q, id=q.id) for q in GOLDEN.questions])
def test_only_unanswerable_questions_lack_gold_and_answer(question: EvalQuestion) -> None:
    """Whether a question can be answered is said, and gold, answer and type agree with it."""
    assert question.is_unanswerable is (question.metadata["type"] == "unanswerable")
    assert bool(question.gold_passages) is not question.is_unanswerable
    assert bool(question.expected_answer) is not question.is_unanswerable


def load(samples: int | None) -> EvalDataset:
    """Load a sample by name, as a run does."""
    return get_loader("golden").load(LoadOptions(samples=samples))


def test_a_sample_keeps_the_whole_corpus() -> None:
    """Fewer questions are not asked of an easier corpus, and are the first of the whole draw."""
    assert load(5).documents == GOLDEN.documents
    assert load(5).questions == GOLDEN.questions[:5]
