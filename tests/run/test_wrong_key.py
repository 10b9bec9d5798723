"""A login that the server refuses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from raw_server import answering

from evals.store.runs import RunStore


def test_a_wrong_key_ends_with_3_and_leaves_no_run(
    evals_cli: Callable[..., Any], start_server: Callable[..., str], tmp_path: Path
) -> None:
    """Nothing was answered, so there is nothing to resume; the message names the way out."""
    url = start_server("--corpus", "golden", "--misbehave", "status:401")
    flags = ("--no-judge", "--datasets", "golden", "--samples", 8, "--warmup", 0, "--no-preflight")
    refused = evals_cli("eval", *flags, "--rag-url", url, "--runs-dir", tmp_path)
    assert refused.code == 3
    assert "refuses the login" in refused.err
    assert "server.headers" in refused.err
    assert RunStore(tmp_path).survey().runs == []
    assert [path.name for path in tmp_path.glob("*Z.*")] == []


def test_a_wrong_key_of_the_judge_asks_nothing_and_leaves_no_run(
    evals_cli: Callable[..., Any], golden_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that nobody can judge would be paid for in vain; the message says whose key it is."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-wrong")
    body = b'{"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}'
    head = f"HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with answering(lambda _: [head.encode() + body]) as judge:
        flags = ("--datasets", "golden", "--samples", 2, "--rag-url", golden_server, "--no-preflight")
        refused = evals_cli("eval", *flags, "--judge-base-url", judge.url, "--runs-dir", tmp_path)
        asked = [request.split(b" ", 1)[0] for _, request in judge.asked]
    assert (refused.code, asked) == (2, [b"GET"])
    assert "invalid x-api-key" in refused.err
    assert "check the key" in refused.err
    assert RunStore(tmp_path).survey().runs == []
