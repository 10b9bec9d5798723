"""Which source the numbers in an answer stand for, where an answer is put together from several."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

Serve = Callable[..., httpx.Client]
FILES = {
    "animals.md": b"# Animals\n\n## Coat\n\nA quagga has stripes.\n\n## Food\n\nEvery quagga eats grass.",
    "herds.md": b"# Herds\n\nThe quagga lives in herds of thirty.",
    "boats.md": b"# Boats\n\nThe ferry leaves at noon.",
}


@pytest.fixture
def ask(serve: Serve) -> Callable[[bool], Any]:
    """Ask a question whose answer has a sentence of two sections of one document and of another document."""
    client = serve(files=FILES)

    def query(include_chunks: bool) -> Any:
        reply = client.post("/query", json={"query": "quagga", "include_chunks": include_chunks})
        assert reply.status_code == 200, reply.text
        return reply.json()

    return query


def cited(body: Any) -> list[tuple[str, int]]:
    """The sentences of the answer, each with the number behind it."""
    return [(text, int(number)) for text, number in re.findall(r"^(.*) \[(\d+)\]$", body["answer"], re.MULTILINE)]


@pytest.mark.parametrize("include_chunks", [True, False])
def test_a_number_is_that_of_the_source_which_holds_the_sentence(
    ask: Callable[[bool], Any], include_chunks: bool
) -> None:
    """By chunk where chunks are given, else by document, however many of its sections were read."""
    body = ask(include_chunks)
    found = cited(body)
    assert len(found) == 3
    for text, number in found:
        source = body["sources"][number - 1]
        held = source["full_text"] if include_chunks else FILES[source["document_name"]].decode()
        assert text in held
    assert len({number for _, number in found}) == len(body["sources"]) == (3 if include_chunks else 2)


def test_each_citation_repeats_the_identity_of_its_source(ask: Callable[[bool], Any]) -> None:
    """In the order of the numbers in the answer."""
    body = ask(True)
    assert [citation["source_index"] for citation in body["citations"]] == [number for _, number in cited(body)]
    for citation in body["citations"]:
        source = body["sources"][citation.pop("source_index") - 1]
        assert citation == {key: source[key] for key in ("document_id", "chunk_id", "chunk_index", "section")}
