"""Streams that are read as their profile says, and not as their server means."""

from typing import Any

import pytest
from streaming import OPENAI, ask, event, token

from evals.client.streams import CUMULATIVE, UNREAD_ERROR

GROWING = ["The", "The battery", "The battery lasts", "The battery lasts 96 hours"]


def test_pieces_that_repeat_the_text_so_far_are_noted() -> None:
    """Without `whole` each would be added to the one before it; with it nothing is repeated."""
    texts = [token(text) for text in GROWING]
    assert ask(texts, **OPENAI)[0].notes == [CUMULATIVE]
    whole, _ = ask(texts, **{**OPENAI, "stream": {**OPENAI["stream"], "whole": True}})
    assert (whole.answer, whole.notes) == (GROWING[-1], [])


@pytest.mark.parametrize(
    "last",
    [
        event({"message": "out of memory"}, "error"),
        event({"error": {"message": "out of memory"}}),
        event({"type": "error", "message": "out of memory"}),
    ],
)
def test_an_error_that_the_profile_does_not_look_for_is_noted(last: bytes) -> None:
    """What came before it would be taken for the answer."""
    response, _ = ask([token("The "), last], **OPENAI)
    assert (response.answer, response.notes) == ("The ", [UNREAD_ERROR])


@pytest.mark.parametrize("data", [{"error": None}, {"error": ""}, {"error": False, "type": "ping"}, {"type": "end"}])
def test_a_piece_without_an_error_is_no_reason_for_a_note(data: dict[str, Any]) -> None:
    """Many servers send the key in every piece."""
    assert ask([token("The "), event(data)], **OPENAI)[0].notes == []


@pytest.mark.parametrize("texts", [["ha", "ha", "haha"], ["1", "10", "100"], ["-"] * 60, ["a " * 12, "b " * 12]])
def test_texts_that_happen_to_be_alike_are_no_repetition(texts: list[str]) -> None:
    """Short ones, and a line of dashes."""
    assert CUMULATIVE not in ask([token(text) for text in texts], **OPENAI)[0].notes
