"""RAGBench on small rows."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.datasets.base import LoadOptions
from evals.datasets.ragbench import DOMAINS, RAGBenchLoader
from evals.errors import DatasetError
from evals.schemas import EvalDataset

Row = dict[str, Any]
Load = Callable[..., EvalDataset]
UNKNOWN, TWICE = "relevant key of no sentence", "relevant key named twice"


def row(row_id: str, relevant: list[str] | None = None, **changes: Any) -> Row:
    """A row with two documents of two sentences each, and an adherent response."""
    return {
        "id": row_id,
        "question": f" What about {row_id}? ",
        "documents": ["Cats purr. Dogs bark.", "Cows moo. Bees hum."],
        "response": " They make noise. ",
        "generation_model_name": "gpt",
        "documents_sentences": [
            [["0a", "Cats purr."], ["0b", "Dogs bark."]],
            [["1a", "Cows moo. "], ["1b", "Bees hum."]],
        ],
        "unsupported_response_sentence_keys": [],
        "adherence_score": True,
        "all_relevant_sentence_keys": ["0a"] if relevant is None else relevant,
        "all_utilized_sentence_keys": ["0a"],
        **changes,
    }


@pytest.fixture
def load(put: Callable[..., Path]) -> Load:
    """Load rows of subsets through a data directory; rows without a subset are covidqa's."""

    def read(*rows: Row, config: str | None = None, samples: int | None = None, **subsets: list[Row]) -> EvalDataset:
        for subset, its in ({"covidqa": list(rows)} if rows else subsets).items():
            folder = put("ragbench", its, "test-00000-of-00001.parquet", config=subset)
        return RAGBenchLoader().load(LoadOptions(data_dir=folder, config=config, samples=samples))

    return read


def rows_of(count: int) -> list[Row]:
    """So many rows of a subset."""
    return [row(str(number)) for number in range(count)]


def subsets_of(dataset: EvalDataset) -> list[str]:
    """The subset of each question, in order."""
    return [question.metadata["subset"] for question in dataset.questions]


def test_the_documents_with_a_relevant_sentence_are_gold(load: Load) -> None:
    """Gold is the whole document, with a span that cuts it out; the relevant sentences are the key sentences."""
    dataset = load(row("a", ["1a", "1b"], documents=["Cats purr. Dogs bark.", "\n Cows moo. Bees hum. "]))
    (question,) = dataset.questions
    documents = {document.id: document.text for document in dataset.documents}
    (gold,) = question.gold_passages
    assert gold.span is not None
    assert documents[gold.document_id or ""][slice(*gold.span)] == gold.text == "Cows moo. Bees hum."
    assert sorted(documents.values()) == ["Cats purr. Dogs bark.", "Cows moo. Bees hum."]
    assert [key.text for key in question.key_sentences] == ["Cows moo.", "Bees hum."]
    origins = {(key.source, key.document_id) for key in question.key_sentences}
    assert origins == {("all_relevant_sentence_keys", gold.document_id)}
    assert dataset.fingerprint.dropped == {}


def test_a_question_carries_its_subset_and_domain(load: Load) -> None:
    """What slices group by is there, and the id holds the subset, because ids repeat over subsets."""
    (question,) = load(cuad=[row("7")]).questions
    assert question.id == "ragbench:cuad:7"
    assert question.question == "What about 7?"
    assert question.is_unanswerable is False
    assert question.metadata == {"subset": "cuad", "domain": "legal", "reference_model": "gpt"}


@pytest.mark.parametrize(
    ("relevant", "golds", "keys", "dropped"),
    [
        ([], 0, 0, {}),
        (["9z"], 0, 0, {UNKNOWN: 1}),
        (["0a", "0z", "5a"], 1, 1, {UNKNOWN: 2}),
        (["0a", "0a", "1b", "0a"], 2, 2, {TWICE: 2}),
        (["general", "0", "a", "", "0A", " 0a"], 0, 0, {UNKNOWN: 6}),
        (["general", "general", "1a"], 1, 1, {UNKNOWN: 2}),
    ],
    ids=str,
)
def test_relevant_keys_of_no_use_are_dropped_and_counted(
    load: Load, relevant: list[str], golds: int, keys: int, dropped: dict[str, int]
) -> None:
    """Dirt in the annotation costs the key, not the question, and the fingerprint tells."""
    dataset = load(row("a", relevant))
    (question,) = dataset.questions
    assert (len(question.gold_passages), len(question.key_sentences)) == (golds, keys)
    assert dataset.fingerprint.dropped == dropped


@pytest.mark.parametrize(
    ("documents", "corpus", "golds", "dropped"),
    [
        ([], 0, [], {UNKNOWN: 2}),
        (["", " \n"], 0, [], {}),
        (["", "Cows moo."], 1, ["Cows moo."], {}),
        (["Cats purr. Dogs bark."], 1, ["Cats purr. Dogs bark."], {UNKNOWN: 1}),
    ],
)
def test_a_document_without_text_is_neither_in_the_corpus_nor_gold(
    load: Load, documents: list[str], corpus: int, golds: list[str], dropped: dict[str, int]
) -> None:
    """A relevant sentence of a document that is not there at all is dropped, and counted."""
    dataset = load(row("a", ["0a", "1a"], documents=documents))
    assert len(dataset.documents) == corpus
    assert [gold.text for gold in dataset.questions[0].gold_passages] == golds
    assert dataset.fingerprint.dropped == dropped


@pytest.mark.parametrize(
    ("adherent", "response", "expected"),
    [
        (True, " They make noise. ", "They make noise."),
        (False, "They make noise.", None),
        (None, "They make noise.", None),
        (True, None, None),
        (True, " ", None),
    ],
    ids=["adherent", "not adherent", "not annotated", "null", "blank"],
)
def test_only_an_adherent_response_is_a_reference(
    load: Load, adherent: bool | None, response: str | None, expected: str | None
) -> None:
    """A generated answer that the documents do not support is not held against the server."""
    (question,) = load(row("a", adherence_score=adherent, response=response)).questions
    assert question.expected_answer == expected
    assert question.metadata["reference_model"] == ("gpt" if expected else None)


@pytest.mark.parametrize(
    ("answers", "model"),
    [
        ([(False, "No."), (True, "Yes.")], "model 1"),
        ([(True, "Yes."), (True, "Yes too.")], "model 0"),
        ([(True, None), (True, "Yes.")], "model 1"),
        ([(False, "No."), (False, "Nor this.")], None),
        ([(False, "No."), (False, "Nor this."), (True, "Yes.")], "model 2"),
    ],
)
def test_a_question_answered_by_several_generators_is_asked_once(
    load: Load, answers: list[tuple[bool, str | None]], model: str | None
) -> None:
    """The first adherent response among them is the reference, wherever it stands."""
    rows = [
        row("a", adherence_score=adherent, response=response, generation_model_name=f"model {number}")
        for number, (adherent, response) in enumerate(answers)
    ]
    questions = load(*rows[:1], row("other"), *rows[1:]).questions
    (question,) = (question for question in questions if question.id == "ragbench:covidqa:a")
    assert len(questions) == 2
    assert question.metadata["reference_model"] == model
    assert question.expected_answer == ("Yes." if model else None)


def test_subsets_are_drawn_in_turn_and_evenly(load: Load) -> None:
    """Six questions of three subsets are two of each, one of each before the second; for two, only two are read."""
    subsets = {name: rows_of(5) for name in ("cuad", "finqa", "hagrid")}
    drawn = subsets_of(load(**subsets, samples=6))
    assert set(drawn[:3]) == set(subsets)
    assert drawn[3:] == drawn[:3]
    dataset = load(**subsets, samples=2)
    assert len(set(subsets_of(dataset))) == dataset.fingerprint.source.count("local files") == 2


@pytest.mark.parametrize(("samples", "counts"), [(6, (1, 3, 2)), (9, (1, 4, 4)), (20, (1, 5, 5)), (None, (1, 5, 5))])
def test_a_small_subset_leaves_its_share_to_others(load: Load, samples: int | None, counts: tuple[int, ...]) -> None:
    """A subset with one row gives it, and the rest is shared evenly among those that have more."""
    drawn = Counter(subsets_of(load(cuad=rows_of(1), finqa=rows_of(5), hagrid=rows_of(5), samples=samples)))
    assert drawn["cuad"] == counts[0]
    assert sorted((drawn["finqa"], drawn["hagrid"])) == sorted(counts[1:])


@settings(derandomize=True, max_examples=25)
@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4), count=st.integers(1, 20), seed=st.integers(0, 99))
def test_a_smaller_sample_is_a_prefix_of_a_larger_one(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], count: int, seed: int
) -> None:
    """Whatever the sizes of the subsets, raising the number of samples only adds questions at the end."""
    folder = tmp_path_factory.mktemp("data")
    for subset, size in zip(DOMAINS, sizes, strict=False):
        path = folder / "ragbench" / subset / "test.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows_of(size)), path)

    def ids(samples: int | None) -> list[str]:
        options = LoadOptions(data_dir=folder, samples=samples, seed=seed)
        return [question.id for question in RAGBenchLoader().load(options).questions]

    everything = ids(None)
    assert len(everything) == sum(sizes)
    assert ids(count) == everything[:count]


def test_a_config_is_one_subset(load: Load) -> None:
    """With a name after the colon only that subset is drawn, and the fingerprint says so; a wrong one is told."""
    dataset = load(cuad=rows_of(3), finqa=rows_of(3), config="finqa")
    assert subsets_of(dataset) == ["finqa"] * 3
    assert (dataset.fingerprint.config, dataset.fingerprint.source) == ("finqa", "ragbench/finqa/test (local files)")
    with pytest.raises(DatasetError, match="no subset 'covid'") as caught:
        load(row("a"), config="covid")
    assert all(subset in (caught.value.hint or "") for subset in DOMAINS)


def test_an_adherent_answer_that_declines_is_no_reference(load: Load) -> None:
    """It claims nothing, so nothing of it is unsupported; a right answer would be marked wrong by it."""
    refusal = "The provided context does not contain information about the price."
    dataset = load(row("a", response=refusal), row("b", response=refusal, adherence_score=False), row("c"))
    known = {each.id[-1]: (each.expected_answer, each.is_unanswerable) for each in dataset.questions}
    assert known == {"a": (None, None), "b": (None, None), "c": ("They make noise.", False)}
    assert dataset.fingerprint.dropped == {"expected answer that declines to answer": 1}
