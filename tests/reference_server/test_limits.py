"""What the server lets in: names that are its own, files of a bounded size, texts that JSON can hold."""

import json
from collections.abc import Callable

import httpx
import pytest

from evals.reference_server import Settings

Serve = Callable[..., httpx.Client]
MIB = 1024 * 1024
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.:80", "127.0.0.1:9", "127.8.8.8", "[::1]:8001", "[::1]", "rag.localhost"]
)
def test_names_of_this_machine_are_answered(host: str, serve: Serve) -> None:
    """With a port and without, in any writing."""
    assert serve().get("/documents", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["rebound.example", "rebound.example:8001", "127.0.0.1.example", "localhost.example", "", "8.8.8.8"]
)
def test_another_name_is_refused(host: str, serve: Serve) -> None:
    """A page whose name leads to this machine reads and asks nothing."""
    client = serve()
    for method, path in (("GET", "/documents"), ("POST", "/query"), ("GET", "/health"), ("DELETE", "/documents/x")):
        response = client.request(method, path, headers={"Host": host})
        assert response.status_code == 421
        assert "--allow-host" in response.json()["detail"]


def test_a_name_that_is_allowed_is_answered(serve: Serve) -> None:
    """In any writing, and no other with it."""
    client = serve(settings=Settings(allow_hosts=("Rag.Internal",)))
    codes = [
        client.get("/health", headers={"Host": host}).status_code for host in ("rag.internal:80", "a.rag.internal")
    ]
    assert codes == [200, 421]


def test_a_file_that_is_too_large_is_refused(serve: Serve) -> None:
    """By its name; what fits is taken."""
    client = serve(files={}, settings=Settings(max_upload_mb=1))
    whole = [("files", (f"{number}.txt", b"word " * (MIB // 5))) for number in range(4)]
    assert client.post("/upload", files=whole).status_code == 200
    refused = client.post("/upload", files=[("files", ("long.txt", b"word " * MIB))])
    assert (refused.status_code, "'long.txt' is larger than 1 MB" in refused.text) == (400, True)


@pytest.mark.parametrize(
    "body",
    [
        b'{"query": "\\ud800"}',
        b'{"query": "a", "session_id": "\\udfff"}',
        b'{"\\ud800": 1}',
        b'{"query": "a", "top_k": NaN}',
        b'{"query": "a", "top_k": 1e999}',
        b'{"query": "a", "top_k": %s}' % (b"9" * 5000),
        b"[" * 500_000,
        b'{"query": "\xff"}',
    ],
)
def test_what_no_json_can_hold_is_a_refusal(body: bytes, serve: Serve) -> None:
    """Half of a pair of surrogates, numbers that are none, depth: never a failure of the server."""
    client = serve()
    response = client.post("/query", content=body, headers=JSON)
    assert response.status_code in {400, 422}
    json.dumps(response.json()).encode()
