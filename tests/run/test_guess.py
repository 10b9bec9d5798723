"""What `evals init` guesses of any body: expressions that can be evaluated."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.client.mapping import compiled
from evals.run.guess import guess_text, unread_fields

NAMES = st.sampled_from(
    ["answer", "text", "type", "role", "sources", "file", "größe", "a b", "", 'say "it"', "1st", "o'b"]
)
TEXTS = st.sampled_from(
    ["", "user", "a.md", "o'reilly", "It hangs at three metres.", "The heated one draws eighteen watts."]
)
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


def expressions(raw: str) -> list[str]:
    """All that is guessed of a response and can be evaluated."""
    guess = guess_text(raw, "", "How high?")
    stream = guess.stream or {}
    return [*guess.map.values(), *(stream[key] for key in ("delta", "done") if key in stream)]


@settings(deadline=None)  # the first call compiles patterns
@given(BODIES)
def test_every_expression_of_a_body_is_valid(body: Any) -> None:
    """Whatever the names of its fields are."""
    for expression in expressions(json.dumps(body)):
        compiled(expression)
    assert all(isinstance(path, str) for path in unread_fields(body, "answer"))


@settings(deadline=None)  # the first call compiles patterns
@given(st.lists(st.tuples(st.sampled_from(["a", "o'b", "end"]), BODIES), min_size=1, max_size=4))
def test_every_expression_of_a_stream_is_valid(events: list[tuple[str, Any]]) -> None:
    """Whatever its events are called."""
    for expression in expressions("".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)):
        compiled(expression)
