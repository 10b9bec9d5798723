"""MS MARCO on small rows."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evals.schemas import EvalDataset

DATASET = "msmarco"
Row = dict[str, Any]
Load = Callable[..., EvalDataset]
NOTHING = "No Answer Present."
UNSELECTED = "gold: no passage was selected"


def row(passages: Sequence[tuple[str, int]], *answers: str, query_id: int = 7, **changes: Any) -> Row:
    """A row with these passages, each selected or not."""
    return {
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
        **changes,
    }


HAIR, MANGE = ("Hair stops them.", 1), ("Mange is a disease.", 0)


def test_the_selected_passages_are_gold(load: Load) -> None:
    """Every selected passage is gold; all passages are the corpus."""
    dataset = load(row([HAIR, MANGE, ("  So does soap.\n", 1)], "Yes"))
    (question,) = dataset.questions
    texts = sorted(document.text for document in dataset.documents)
    assert texts == ["Hair stops them.", "Mange is a disease.", "So does soap."]
    assert [gold.text for gold in question.gold_passages] == ["Hair stops them.", "So does soap."]


CASES: dict[str, tuple[list[tuple[str, int]], list[str], bool | None, int, dict[str, int]]] = {
    "answered": ([HAIR, MANGE], ["Yes"], False, 1, {}),
    "no answer": ([MANGE], [NOTHING], True, 0, {}),
    "no answers at all": ([MANGE], [], True, 0, {}),
    "blank answer": ([MANGE], [" "], True, 0, {}),
    "answer without selection": ([MANGE], ["Yes"], False, 0, {UNSELECTED: 1}),
    "selection without answer": ([HAIR], [NOTHING], None, 1, {}),
    "no passages": ([], [NOTHING], True, 0, {}),
    "only empty passages": ([("", 1), (" \n", 0)], ["Yes"], False, 0, {"empty passage": 2, UNSELECTED: 1}),
    "one empty passage": ([("", 1), HAIR], ["Yes"], False, 1, {"empty passage": 1}),
}


@pytest.mark.parametrize("case", CASES)
def test_answers_and_selections_say_what_is_known(load: Load, case: str) -> None:
    """No answer and no selection is unanswerable; an answer without a selection has no gold and is counted."""
    passages, answers, unanswerable, golds, dropped = CASES[case]
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
def test_well_formed_answers_come_first(load: Load, well_formed: Any, given: Any, variants: list[str]) -> None:
    """Each once."""
    (question,) = load(row([HAIR], wellFormedAnswers=well_formed, answers=given)).questions
    assert question.answers == variants
    assert question.expected_answer == (variants[0] if variants else None)


def test_an_equal_passage_of_two_queries_is_one_document(load: Load) -> None:
    """The corpus holds a passage once, and a passage selected twice is one gold."""
    dataset = load(row([HAIR, HAIR], "Yes"), row([MANGE, HAIR], "Yes", query_id=8))
    assert len(dataset.documents) == 2
    assert [len(question.gold_passages) for question in dataset.questions] == [1, 1]
