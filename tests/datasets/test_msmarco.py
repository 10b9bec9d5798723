"""MS MARCO on small rows."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.msmarco import MSMarcoLoader
from evals.schemas import EvalDataset

Row = dict[str, Any]
NOTHING = "No Answer Present."
UNSELECTED = "gold: no passage was selected"


def row(passages: Sequence[tuple[str, int]], *answers: str, query_id: int = 7, **changes: Any) -> Row:
    """A row with these passages, each selected or not."""
    columns = {
        "answers": list(answers),
        "passages": {
            "is_selected": [selected for _, selected in passages],
            "passage_text": [text for text, _ in passages],
            "url": ["http://example.com/"] * len(passages),
        },
        "query": " does hair stop squirrels ",
        "query_id": query_id,
        "query_type": "DESCRIPTION",
        "wellFormedAnswers": [],
    }
    return {**columns, **changes}


HAIR, MANGE = ("Hair stops them.", 1), ("Mange is a disease.", 0)


@pytest.fixture
def load(put: Callable[..., Path]) -> Callable[..., EvalDataset]:
    """Load rows through a data directory."""

    def read(*rows: Row, samples: int | None = None) -> EvalDataset:
        return MSMarcoLoader().load(LoadOptions(data_dir=put("msmarco", rows), samples=samples))

    return read


def test_the_selected_passages_are_gold(load: Callable[..., EvalDataset]) -> None:
    """Every selected passage is gold with a span that cuts it out of its document; all passages are the corpus."""
    dataset = load(row([HAIR, MANGE, ("  So does soap.\n", 1)], "Yes"))
    (question,) = dataset.questions
    documents = {document.id: document.text for document in dataset.documents}
    assert sorted(documents.values()) == ["Hair stops them.", "Mange is a disease.", "So does soap."]
    assert [gold.text for gold in question.gold_passages] == ["Hair stops them.", "So does soap."]
    for gold in question.gold_passages:
        assert gold.span is not None
        assert documents[gold.document_id or ""][slice(*gold.span)] == gold.text


@pytest.mark.parametrize(
    ("passages", "answers", "unanswerable", "golds", "dropped"),
    [
        ([HAIR, MANGE], ["Yes"], False, 1, {}),
        ([MANGE], [NOTHING], True, 0, {}),
        ([MANGE], [], True, 0, {}),
        ([MANGE], [" "], True, 0, {}),
        ([MANGE], ["Yes"], False, 0, {UNSELECTED: 1}),
        ([HAIR], [NOTHING], None, 1, {}),
        ([], [NOTHING], True, 0, {}),
        ([("", 1), (" \n", 0)], ["Yes"], False, 0, {"empty passage": 2, UNSELECTED: 1}),
        ([("", 1), HAIR], ["Yes"], False, 1, {"empty passage": 1}),
    ],
    ids=[
        "answered",
        "no answer",
        "no answers at all",
        "blank answer",
        "answer without selection",
        "selection without answer",
        "no passages",
        "only empty passages",
        "one empty passage",
    ],
)
def test_answers_and_selections_say_what_is_known(
    load: Callable[..., EvalDataset],
    passages: list[tuple[str, int]],
    answers: list[str],
    unanswerable: bool | None,
    golds: int,
    dropped: dict[str, int],
) -> None:
    """No answer and no selection is unanswerable; an answer without a selection has no gold and is counted."""
    dataset = load(row(passages, *answers))
    (question,) = dataset.questions
    assert question.is_unanswerable is unanswerable
    assert len(question.gold_passages) == golds
    assert dataset.fingerprint.dropped == dropped


@pytest.mark.parametrize(
    ("well_formed", "given", "variants"),
    [
        ([], ["Yes"], ["Yes"]),
        (None, ["Yes"], ["Yes"]),
        (["Hair stops squirrels."], ["Yes"], ["Hair stops squirrels.", "Yes"]),
        (["Yes"], ["Yes ", "Yes"], ["Yes"]),
        ([], [NOTHING], []),
        ([NOTHING], ["Yes"], ["Yes"]),
        ([], None, []),
    ],
)
def test_well_formed_answers_come_first(
    put: Callable[..., Path], well_formed: list[str] | None, given: list[str] | None, variants: list[str]
) -> None:
    """Each once."""
    line = row([HAIR], wellFormedAnswers=well_formed, answers=given)
    folder = put("msmarco", [line], "validation.parquet")
    (question,) = MSMarcoLoader().load(LoadOptions(data_dir=folder)).questions
    assert question.answers == variants
    assert question.expected_answer == (variants[0] if variants else None)


def test_an_equal_passage_of_two_queries_is_one_document(load: Callable[..., EvalDataset]) -> None:
    """The corpus holds a passage once, and a passage selected twice is one gold."""
    dataset = load(row([HAIR, HAIR], "Yes"), row([MANGE, HAIR], "Yes", query_id=8))
    assert len(dataset.documents) == 2
    assert [len(question.gold_passages) for question in dataset.questions] == [1, 1]
