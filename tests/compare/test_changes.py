"""The questions that changed between two runs, and what explains it."""

from collections.abc import Callable
from typing import Any

from evals.compare import SavedRun, compare_runs
from evals.compare.models import Comparison
from evals.scoring.diagnosis.stages import Link

Saved = Callable[..., SavedRun]


def compared(saved: Saved, first: dict[str, Any], last: dict[str, Any]) -> Comparison:
    return compare_runs([saved("a", first), saved("b", last)])


def test_a_question_that_neither_run_answered_did_not_change(saved: Saved) -> None:
    """What is lost twice is neither lost nor gained; what one run answered is."""
    first = {"both": "timeout", "lost": {"mrr": 1.0}, "gained": "connect", "same": {"mrr": 1.0}}
    last = {"both": "timeout", "lost": "timeout", "gained": {"mrr": 0.0}, "same": {"mrr": 1.0}}
    found = compared(saved, first, last)
    assert [(one.question_id, one.change, one.note) for one in found.lost] == [
        ("lost", -1.0, "no answer any more: timeout")
    ]
    assert [(one.question_id, one.change, one.note) for one in found.gained] == [("gained", 1.0, "answered now")]


def test_more_of_what_is_bad_is_a_loss(saved: Saved) -> None:
    """A rate of errors that rises moves the question down."""
    first = {"q0": {"abstention_false_positive_rate": 0.0}, "q1": {"abstention_false_positive_rate": 1.0}}
    last = {"q0": {"abstention_false_positive_rate": 1.0}, "q1": {"abstention_false_positive_rate": 0.0}}
    found = compared(saved, first, last)
    assert [(one.question_id, one.change) for one in found.lost] == [("q0", -1.0)]
    assert [(one.question_id, one.change) for one in found.gained] == [("q1", 1.0)]


def test_a_loss_is_explained_by_what_was_lost(saved: Saved) -> None:
    """The metric that fell most comes first, one that rose last, and one that did not move not at all."""
    first = {"q": {"mrr": 0.0, "citation_recall": 1.0, "section_accuracy": 0.5, "unanswerable_accuracy": 1.0}}
    last = {"q": {"mrr": 0.5, "citation_recall": 0.0, "section_accuracy": 0.5, "unanswerable_accuracy": 0.5}}
    (change,) = compared(saved, first, last).lost
    assert list(change.moved) == ["citation_recall", "unanswerable_accuracy", "mrr"]
    assert change.moved["unanswerable_accuracy"] == (1.0, 0.5)


def test_the_greatest_change_comes_first_either_way(saved: Saved) -> None:
    """Of those that lost and of those that gained; equal ones of a loss by their id."""
    steps = {"q1": 0.25, "q2": 1.0, "q3": 0.5, "q4": 0.5}
    low, high = {key: {"mrr": 0.0} for key in steps}, {key: {"mrr": step} for key, step in steps.items()}
    assert [one.question_id for one in compared(saved, high, low).lost] == ["q2", "q3", "q4", "q1"]
    assert [one.change for one in compared(saved, low, high).gained] == [1.0, 0.5, 0.5, 0.25]


def test_questions_move_from_link_to_link(saved: Saved) -> None:
    """What ended right in one run has no link there; what kept its link did not move."""
    asked = {key: {"is_unanswerable": key != "lost"} for key in ("lost", "gained", "kept")}
    first = saved("a", {"lost": {"mrr": 1.0}, "gained": "connect", "kept": "connect"}, questions=asked)
    last = saved("b", {"lost": "timeout", "gained": {"mrr": 1.0}, "kept": "timeout"}, questions=asked)
    assert [(move.first, move.last, move.questions) for move in compare_runs([first, last]).moves] == [
        (None, Link.TRANSPORT, ["lost"]),
        (Link.TRANSPORT, Link.SHOULD_HAVE_ABSTAINED, ["gained"]),
    ]
