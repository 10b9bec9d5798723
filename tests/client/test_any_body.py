"""Whatever a server sends, asking yields an answer or an error that can be saved."""

import json

import httpx
import pytest
from asking import ask_all
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.schemas import EvalResponse

NAMES = [
    *("answer", "sources", "citations", "metrics", "token_usage", "prompt_tokens", "completion_tokens", "stages"),
    *("full_text", "excerpt", "score", "chunk_id", "document_id", "document_name", "section", "source_index"),
]
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**310, max_value=10**311)
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from(["[1]", "[1-3]", "[2-1]", "\ud800", "1e999"])
)
bodies = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=25,
)
answers = st.fixed_dictionaries(
    {"answer": st.text(st.characters())},
    optional={"sources": st.lists(bodies, max_size=3), "citations": bodies, "metrics": bodies},
)
sent = (bodies | answers).map(lambda body: json.dumps(body).encode()) | st.binary(max_size=60)


def _ask(*contents: bytes) -> list[EvalResponse]:
    waiting = iter(contents)
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=next(waiting)))
    return ask_all({"url": "http://rag.test"}, *["Why?"] * len(contents), concurrency=1, transport=transport)


def _is_sound(response: EvalResponse) -> None:
    assert (response.answer is None) == (response.error is not None)
    assert EvalResponse.model_validate_json(response.model_dump_json()) == response


@settings(derandomize=True, max_examples=60)
@given(st.lists(sent, min_size=1, max_size=5))
def test_any_body_yields_an_answer_or_an_error(contents: list[bytes]) -> None:
    """Asking never raises, and what it gives can be written and read back; what is no answer is kept."""
    for response in _ask(*contents):
        _is_sound(response)
        assert response.error is None or response.raw is not None


@pytest.mark.parametrize(
    "body",
    [
        b'{"answer": "x\\ud83d"}',
        b'{"answer": "x\\uDC00"}',
        b'{"answer": "x\xed\xa0\xbd"}',
        '{"answer": "x\\ud83d"}'.encode("utf-16"),
        b"\xef\xbb\xbf" + b'{"answer": "x?"}',
    ],
)
def test_a_lone_surrogate_becomes_a_question_mark(body: bytes) -> None:
    """Escaped or encoded, in whichever Unicode encoding the body comes."""
    (response,) = _ask(body)
    _is_sound(response)
    assert response.answer == "x?"
