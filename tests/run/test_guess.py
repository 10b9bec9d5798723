"""What `evals init` makes of anything that a server sends: expressions and requests that can be used."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evals.client.mapping import compiled
from evals.client.spec import RequestSpec
from evals.run.guess import guess_text, unread_fields
from evals.run.plans import OpenApi, amended, usual_plans

NAMES = st.sampled_from(
    ["answer", "text", "type", "role", "sources", "file", "größe", "a b", "", 'say "it"', "1st", "o'b"]
)
TEXTS = st.sampled_from(
    ["", "user", "a.md", "o'reilly", "It hangs at three metres.", "The heated one draws eighteen watts."]
)
WORDS = "type properties required items enum anyOf allOf $ref default question messages role content detail loc id"
KINDS = st.sampled_from(
    ["string", "object", "array", "boolean", "null", "question", "the 'tenant' is missing", "#/a/b"]
)
DOCUMENTS = st.recursive(
    KINDS | st.none() | st.booleans() | st.integers() | st.lists(KINDS, max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS.split()), inner, max_size=5),
    max_leaves=20,
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


@given(BODIES)
def test_every_expression_of_a_body_is_valid(body: Any) -> None:
    """Whatever the names of its fields are."""
    for expression in expressions(json.dumps(body)):
        compiled(expression)
    assert all(isinstance(path, str) for path in unread_fields(body, "answer"))


@given(st.lists(st.tuples(st.sampled_from(["a", "o'b", "end"]), BODIES), min_size=1, max_size=4))
def test_every_expression_of_a_stream_is_valid(events: list[tuple[str, Any]]) -> None:
    """Whatever its events are called."""
    for expression in expressions("".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)):
        compiled(expression)


@given(DOCUMENTS, DOCUMENTS)
def test_no_document_and_no_refusal_is_beyond_a_request(schema: Any, other: Any) -> None:
    """Whatever stands where a list or an object is expected."""
    operation = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    document = {"paths": {"/ask": {"post": operation}}, "a": {"b": other}, "components": {"securitySchemes": other}}
    for plan in [*OpenApi(document).plans, *amended(usual_plans("/ask")[0], json.dumps(schema))]:
        RequestSpec.model_validate(plan.ask)
