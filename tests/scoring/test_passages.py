"""Files of retrieved passages against files of gold passages."""

import json
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import pytest

from evals.errors import ConfigError, DatasetError
from evals.scoring.passages import PassageScores, score_predictions

Score = Callable[..., PassageScores]


def gold(query: str, *answers: str) -> dict[str, Any]:
    return {"query": query, "snippets": [{"file_path": "a.txt", "span": [0, 9], "answer": text} for text in answers]}


def predicted(query: str, *passages: str) -> dict[str, Any]:
    return {"query": query, "retrieved_passages": list(passages)}


@pytest.fixture
def score(tmp_path: Path) -> Score:
    """Score predictions against tests, each given as data or as the text of the file."""

    def run(predictions: Any, tests: Any, k: int = 10) -> PassageScores:
        data = {"predictions.json": predictions, "gold.json": {"tests": tests} if isinstance(tests, list) else tests}
        for name, value in data.items():
            (tmp_path / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return score_predictions(tmp_path / "predictions.json", tmp_path / "gold.json", k=k)

    return run


def test_the_means_are_over_all_queries_with_gold(score: Score) -> None:
    """One query answered at rank 1, one at rank 2, by hand."""
    found = score(
        [predicted("q2", "nothing", "the deed of sale"), predicted("q1", "The Deed")],
        [gold("q1", "the deed"), gold("q2", "deed", "lease")],
    )
    expected = {
        "exact_match": 1 / 2,
        "span_f1": 1 / 2,
        "recall@10": (1 + 1 / 2) / 2,
        "ndcg@10": (1 + (1 / log2(3)) / (1 + 1 / log2(3))) / 2,
        "num_examples": 2,
    }
    assert found.labelled() == pytest.approx(expected)
    assert list(found.labelled()) == list(expected)
    assert found.notes == []


def test_the_cut_off_is_in_the_labels_and_the_numbers(score: Score) -> None:
    """With k 1 a hit at rank 2 is none."""
    labels = score([predicted("q", "miss", "deed")], [gold("q", "deed")], k=1).labelled()
    assert (labels["recall@1"], labels["ndcg@1"]) == (0, 0)
    assert "recall@10" not in labels


def test_the_nth_prediction_of_a_query_is_of_its_nth_test(score: Score) -> None:
    """A query that stands twice has two golds, and two predictions in the same order."""
    tests = [gold("same", "deed"), gold("other", "x"), gold("same", "lease")]
    right = [predicted("same", "deed"), predicted("same", "lease"), predicted("other", "x")]
    assert score(right, tests).exact_match == 1
    assert score([right[1], right[0], right[2]], tests).exact_match == pytest.approx(1 / 3)


def test_a_missing_prediction_scores_0_and_is_noted(score: Score) -> None:
    """A query that was not predicted stays in the mean."""
    found = score([predicted("q1", "deed")], [gold("q1", "deed"), gold("q2", "lease")])
    assert (found.recall, found.num_examples) == (0.5, 2)
    assert found.notes == ["1 prediction for 2 queries", "1 query without a prediction, scored 0: 'q2'"]


def test_an_unknown_query_is_noted_and_ignored(score: Score) -> None:
    """A prediction of a query that the gold file lacks, or holds fewer times, changes no number."""
    found = score([predicted("q1", "deed"), predicted("q1", "deed"), predicted("?", "x")], [gold("q1", "deed")])
    assert (found.recall, found.num_examples) == (1, 1)
    assert found.notes[0] == "3 predictions for 1 query"
    assert found.notes[1].startswith("2 queries predicted that the gold file does not hold")
    assert found.notes[1].endswith("'q1', '?'")


def test_a_test_without_gold_is_left_out_and_noted(score: Score) -> None:
    """Nothing can be found where nothing is to be found; an empty snippet is no gold."""
    tests = [gold("q1", "deed", " "), gold("q2"), {"query": "q3", "snippets": [{"file_path": "a", "span": [0, 1]}]}]
    found = score([predicted("q1", "deed"), predicted("q2", "x"), predicted("q3", "x")], tests)
    assert (found.recall, found.num_examples) == (1, 1)
    assert found.notes == [
        "2 queries without a gold passage, left out: 'q2', 'q3'",
        "2 gold snippets without `answer`, not counted",
    ]


GOOD: list[Any] = [[predicted("q", "deed")], [gold("q", "deed")]]


@pytest.mark.parametrize(
    ("predictions", "tests", "message"),
    [
        ("{}", GOOD[1], "predictions.json: expected a JSON list"),
        ("[{]", GOOD[1], "predictions.json: not valid JSON"),
        ("[" * 100_000, GOOD[1], "predictions.json: not valid JSON"),
        (["q"], GOOD[1], "predictions.json, entry 1: must hold keys and values"),
        ([*GOOD[0], {"query": 3}], GOOD[1], "predictions.json, entry 2: query: must be a text"),
        ([{"query": "q"}], GOOD[1], "predictions.json, entry 1: retrieved_passages: it is missing"),
        ([{"query": "q", "retrieved_passages": [None]}], GOOD[1], "predictions.json, entry 1: retrieved_passages.0"),
        (GOOD[0], "[]", "gold.json: must hold keys and values"),
        (GOOD[0], '{"tests": 3}', "gold.json: tests: must be a list"),
        (GOOD[0], "{", "gold.json: not valid JSON"),
        (GOOD[0], [*GOOD[1], {"query": "q"}], "gold.json: tests.1.snippets: it is missing"),
        (GOOD[0], [{"query": "q", "snippets": [{"answer": 3}]}], "gold.json: tests.0.snippets.0.answer: must be a"),
        (GOOD[0], [gold("q")], "gold.json: no query has a gold passage"),
        (GOOD[0], [], "gold.json: no query has a gold passage"),
    ],
)
def test_a_wrong_shape_is_named_with_file_and_entry(score: Score, predictions: Any, tests: Any, message: str) -> None:
    """One message that says where to look."""
    with pytest.raises(DatasetError) as error:
        score(predictions, tests)
    assert error.value.message.startswith(message)


def test_a_cut_off_below_1_is_refused(score: Score) -> None:
    """Nothing can be found in the top 0."""
    with pytest.raises(ConfigError, match=r"^k must be at least 1"):
        score(*GOOD, k=0)
