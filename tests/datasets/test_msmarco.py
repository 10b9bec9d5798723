"""MS MARCO on small rows."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.msmarco import MSMarcoLoader
from evals.errors import DatasetError
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


ALIKE = ("passage 41898", "passage 81372")
"""The hashes from which their documents are named agree in the first eight digits."""
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


def test_a_question_has_the_text_of_its_query_and_the_kind_in_small_letters(load: Callable[..., EvalDataset]) -> None:
    """The two versions spell the kind of query differently; slices do not."""
    (question,) = load(row([HAIR], "Yes")).questions
    assert question.id == "msmarco:7"
    assert question.question == "does hair stop squirrels"
    assert question.metadata == {"type": "description"}


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
        ("[]", ["Yes"], ["Yes"]),
        (None, ["Yes"], ["Yes"]),
        (["Hair stops squirrels."], ["Yes"], ["Hair stops squirrels.", "Yes"]),
        (["Yes"], ["Yes ", "Yes"], ["Yes"]),
        ("[]", [NOTHING], []),
        ([NOTHING], ["Yes"], ["Yes"]),
        ("[]", None, []),
    ],
)
def test_well_formed_answers_come_first_and_the_string_of_none_is_none(
    put: Callable[..., Path], well_formed: list[str] | str | None, given: list[str] | None, variants: list[str]
) -> None:
    """The raw file writes an empty list as a string, which is no answer made of brackets."""
    line = row([HAIR], wellFormedAnswers=well_formed, answers=given)
    folder = put("msmarco", [line], "validation.jsonl")
    (question,) = MSMarcoLoader().load(LoadOptions(data_dir=folder)).questions
    assert question.answers == variants
    assert question.expected_answer == (variants[0] if variants else None)


def test_the_old_version_alone_in_a_folder_is_the_one(put: Callable[..., Path]) -> None:
    """A data directory with only v1.1 is read without naming it."""
    folder = put("msmarco", [row([HAIR], "Yes", query_type="description")], config="v1.1")
    dataset = MSMarcoLoader().load(LoadOptions(data_dir=folder))
    assert dataset.fingerprint.config == "v1.1"
    assert dataset.questions[0].metadata == {"type": "description"}


def test_an_equal_passage_of_two_queries_is_one_document(load: Callable[..., EvalDataset]) -> None:
    """The corpus holds a passage once, and a passage selected twice is one gold."""
    dataset = load(row([HAIR, HAIR], "Yes"), row([MANGE, HAIR], "Yes", query_id=8))
    assert len(dataset.documents) == 2
    assert [len(question.gold_passages) for question in dataset.questions] == [1, 1]


def test_whole_number_ids_are_drawn_as_a_prefix(load: Callable[..., EvalDataset]) -> None:
    """A smaller sample begins a larger one, though the ids are numbers."""
    rows = [row([HAIR], "Yes", query_id=number) for number in (0, 1, 7, 10, 2**31 - 1)]
    everything, some = ([question.id for question in load(*rows, samples=count).questions] for count in (None, 3))
    assert some == everything[:3]
    assert sorted(everything) == ["msmarco:0", "msmarco:1", "msmarco:10", "msmarco:2147483647", "msmarco:7"]


def test_loading_twice_gives_the_same_fingerprint(load: Callable[..., EvalDataset]) -> None:
    """The same rows are the same questions; another selection is not."""
    first, again = (load(row([HAIR, MANGE], "Yes")) for _ in range(2))
    other = load(row([HAIR, (MANGE[0], 1)], "Yes"))
    assert first.fingerprint == again.fingerprint
    assert first.fingerprint.sha256 != other.fingerprint.sha256


@pytest.mark.parametrize("column", ["answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers"])
def test_a_missing_column_is_named(put: Callable[..., Path], column: str) -> None:
    """Rows of another shape than the hub's are told by the column that they lack."""
    line = row([HAIR], "Yes")
    del line[column]
    with pytest.raises(DatasetError, match=f"no column '{column}'"):
        MSMarcoLoader().load(LoadOptions(data_dir=put("msmarco", [line], "validation.jsonl")))


@pytest.mark.parametrize("part", ["is_selected", "passage_text"])
def test_a_missing_part_of_the_passages_is_named(put: Callable[..., Path], part: str) -> None:
    """The same holds for what a column is made of."""
    line = row([HAIR], "Yes")
    del line["passages"][part]
    with pytest.raises(DatasetError, match=f"no column '{part}'"):
        MSMarcoLoader().load(LoadOptions(data_dir=put("msmarco", [line], "validation.jsonl")))


def test_passages_whose_hashes_begin_alike_stay_apart(load: Callable[..., EvalDataset]) -> None:
    """Among a million passages, some agree in the first 32 bits of their hash: they are documents of their own."""
    dataset = load(row([(text, 1) for text in ALIKE], "Yes"))
    assert sorted(document.text for document in dataset.documents) == sorted(ALIKE)
