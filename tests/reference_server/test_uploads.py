"""Uploads that meet what nobody foresaw, and more of them than are remembered."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from evals.reference_server import app
from evals.reference_server.documents import Document, read_document

Serve = Callable[..., httpx.Client]
Upload = Callable[[httpx.Client, dict[str, bytes]], dict[str, dict[str, Any]]]


def test_a_file_that_breaks_the_reader_costs_no_other_file(
    serve: Serve, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends as an error with its reason, and those after it, also of later uploads, are processed."""

    def read(content: bytes, file_name: str, max_words: int) -> Document:
        if file_name == "bad.txt":
            raise RecursionError("too deep")
        return read_document(content, file_name, max_words)

    client = serve(files={})
    monkeypatch.setattr(app, "read_document", read)
    found = upload(client, {"bad.txt": b"x", "good.txt": b"fine"})
    assert found["bad.txt"]["status"] == "error"
    assert found["bad.txt"]["error"] == "too deep"
    assert found["good.txt"]["status"] == "completed"
    assert upload(client, {"later.txt": b"fine"})["later.txt"]["status"] == "completed"
