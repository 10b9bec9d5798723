"""What all tests share: reference servers on loopback, and an environment without surprises."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, URL or proxy of the machine reaches a test."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "RAG_SERVER_URL", "HTTP_PROXY", "http_proxy", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(scope="session")
def start_server() -> Iterator[Callable[..., str]]:
    """Start a reference server with the arguments given, once for each set of arguments; returns its URL."""
    running: dict[tuple[str, ...], tuple[subprocess.Popen[str], str]] = {}

    def start(*arguments: str) -> str:
        if arguments not in running:
            command = [sys.executable, "-m", "evals.reference_server", "--port", "0", "--exit-with-stdin", *arguments]
            child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=HOME
            )
            assert child.stdout is not None
            running[arguments] = (child, f"http://127.0.0.1:{json.loads(child.stdout.readline())['port']}")
        return running[arguments][1]

    yield start
    for child, _ in running.values():
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.close()
        child.wait(timeout=10)
        child.stdout.close()


@pytest.fixture(scope="session")
def golden_server(start_server: Callable[..., str]) -> str:
    """The URL of a server that holds the golden corpus."""
    return start_server("--corpus", "golden")
