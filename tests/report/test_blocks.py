"""The data blocks of a run."""

import gzip
import json
from collections.abc import Callable
from typing import Any

from evals.report.document import RunsPage, packed
from evals.report.questions import marked
from evals.schemas import EvalRecord
from evals.scoring.conclusion import measured


def test_a_block_is_the_same_bytes_for_the_same_value() -> None:
    """A page that is written twice is the same file."""
    assert packed({"b": [1, None, "é"]}) == packed({"b": [1, None, "é"]})


def test_half_of_a_surrogate_pair_breaks_nothing() -> None:
    """A judge's reply may hold one: JSON has an escape for it, UTF-8 has not."""
    assert json.loads(gzip.decompress(packed("é \ud83d?"))) == "é \ud83d?"


def test_details_stand_in_blocks_of_a_hundred(a_run: Callable[..., Any]) -> None:
    """Each question in the block that its number says."""
    run = a_run({f"q{number}": {"mrr": 1.0} for number in range(220)})
    page = RunsPage([run])
    assert list(page.overviews) == ["abcd1234/overview", "abcd1234/questions"]
    assert list(page.details) == [f"abcd1234/details/{n}" for n in range(3)]
    assert [one["id"] for one in page.details["abcd1234/details/2"]()] == [f"q{n}" for n in range(200, 220)]
    assert page.overviews["abcd1234/questions"]()["perBlock"] == 100


def test_the_columns_say_of_each_question_what_a_list_needs(a_run: Callable[..., Any]) -> None:
    """Values, None where there is none, the failure, and the slices, in the order of the questions."""
    questions = {f"q{n}": {"dataset": "ab"[n % 2], "metadata": {"kind": "long"}} for n in (1, 2, 3)}
    data = RunsPage([a_run(questions=questions)]).overviews["abcd1234/questions"]()
    assert data["ids"] == ["q1", "q2", "q3"]
    assert data["links"] == [None, None, "transport"]
    assert data["errors"] == [None, None, "timeout"]
    assert [(one["name"], one["values"]) for one in data["metrics"]] == [("mrr", [0.5, 1.0, None])]
    assert data["slices"] == [{"key": "dataset", "values": ["b", "a"], "places": [0, 1, 0]}]


def test_first_failures_have_their_stage_and_questions_their_golds(a_run: Callable[..., Any]) -> None:
    """From both a page draws the funnel of the questions with gold passages."""
    questions = {"q1": {"gold_passages": [{"text": "some words of a gold passage"}]}, "q2": {"gold_passages": []}}
    overviews = RunsPage([a_run(questions=questions)]).overviews
    (failure,) = overviews["abcd1234/overview"]()["failures"]
    assert (failure["link"], failure["stage"], failure["count"]) == ("transport", "answered", 1)
    assert overviews["abcd1234/questions"]()["golds"][:2] == [1, 0]


def test_clusters_are_said_once_and_not_with_each_metric(a_run: Callable[..., Any]) -> None:
    """Questions of one document are a cluster."""
    golds = [[{"text": "some words of a gold passage", "document_id": f"document {n % 15}"}] for n in range(30)]
    questions = {f"q{n}": {"gold_passages": gold} for n, gold in enumerate(golds)}
    page = RunsPage([a_run({name: {"mrr": n / 30} for n, name in enumerate(questions)}, questions=questions)])
    (group,) = page.overviews["abcd1234/overview"]()["scorecard"]
    assert [(one["clusters"], one["remarks"]) for one in group["metrics"]] == [(15, [])]
    assert page.head().count("30 questions in 15 clusters") == 1


def test_only_a_few_records_are_held(build_run: Callable[..., Any]) -> None:
    """A block of details reads its own records and no others."""
    run, records = build_run("abcd1234", {f"q{number}": {"mrr": 1.0} for number in range(220)})
    read: list[Any] = []

    class Watched(list[EvalRecord]):
        def __getitem__(self, place: Any) -> Any:
            read.append(place)
            return super().__getitem__(place)

    page = RunsPage([measured(run, Watched(records))])
    read.clear()  # the corpus of the run was looked at
    page.details["abcd1234/details/1"]()
    assert read == [*range(100, 200)]


def test_the_words_of_a_gold_are_marked_in_a_chunk() -> None:
    """As they stand in the chunk, whatever their case and what stands between words."""
    pieces = marked("Before. Remote  work is limited TO 20 days, they say.", ["remote work is limited to 20 days"])
    assert pieces == [["Before. ", False], ["Remote  work is limited TO 20 days", True], [", they say.", False]]


def test_a_few_words_in_common_are_not_marked() -> None:
    """They are found anywhere."""
    assert marked("It is the case.", ["the case of a very long gold passage is here"]) == [["It is the case.", False]]
