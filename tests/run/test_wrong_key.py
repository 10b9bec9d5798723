"""A login that the server refuses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
