"""The server as a process: starting, announcing, ending."""

import signal
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from servers import PATIENCE_S, ServerProcess, wait_until

from evals.reference_server.__main__ import bind

Spawn = Callable[..., ServerProcess]
QUERY = b"POST /query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n"
QUERY += b'{"query":"x"}'


def get(url: str, **headers: str) -> httpx.Response:
    """What is there; a server on a busy machine may take its time."""
    return httpx.get(url, headers=headers, timeout=PATIENCE_S)


def test_the_end_of_stdin_ends_the_process_even_while_requests_hang(spawn: Spawn) -> None:
    """A server whose parent is gone ends by itself, without noise."""
    server = spawn("--exit-with-stdin", "--misbehave", "slow:3600")
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port)) as hanging:
        hanging.sendall(QUERY)
        assert get(f"{server.url}/documents").json() == {"documents": []}
        assert server.end() == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_process_cleanly(number: signal.Signals, spawn: Spawn, tmp_path: Path) -> None:
    """A signal ends it with exit code 0, and broken answers on purpose log nothing."""
    (tmp_path / "a.md").write_text("# Apples\n\nApples are red.\n")
    (tmp_path / "ignored.csv").write_text("x")
    server = spawn("--corpus", str(tmp_path), "--misbehave", "every:2:status:500")
    assert [d["file_name"] for d in get(f"{server.url}/documents").json()["documents"]] == ["a.md"]
    for i in range(8):
        httpx.post(f"{server.url}/query", json={"query": f"Are apples red {i}?"}, timeout=PATIENCE_S)
    server.child.send_signal(number)
    assert server.end() == (0, "", "")


def test_a_port_in_use_is_one_line_and_exit_code_2(spawn: Spawn) -> None:
    """No traceback and no greeting when another process has the port: why, and the way out."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = spawn("--port", str(port), "--corpus", "none", "--greet").end()
    assert (code, out) == (2, "")
    assert err.startswith(f"Cannot listen on 127.0.0.1:{port}: Address already in use; name another --port")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("localhost", "localhost")])
def test_the_greeting_names_the_port_that_was_taken(host: str, shown: str, spawn: Spawn) -> None:
    """People are told the URL at which the server answers, when it does."""
    server = spawn("--host", host, "--corpus", "none", "--greet")
    assert server.announced["event"] == "listening"
    wait_until(lambda: server.said().endswith("\n"), "the greeting")
    assert server.said() == f"reference server on {server.url}, corpus none; stop it with Ctrl-C\n"
    assert server.url.startswith(f"http://{shown}:")
    assert get(f"{server.url}/health").status_code == 200


def test_a_missing_corpus_is_one_line_and_exit_code_2(spawn: Spawn, tmp_path: Path) -> None:
    """The line names the folder."""
    code, out, err = spawn("--corpus", str(tmp_path / "nowhere")).end()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "nowhere" in err


def test_a_response_does_not_wait_for_an_acknowledgement() -> None:
    """Connections send small packets at once: else a latency of 5 ms would be measured as 45."""
    with bind("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
