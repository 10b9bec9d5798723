"""The server as a process: starting, announcing, ending."""

import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

Spawn = Callable[..., "subprocess.Popen[str]"]
BaseUrl = Callable[["subprocess.Popen[str]"], str]
FREE = ("--port", "0")


def _hang_one_query(url: str) -> None:
    def ask() -> None:
        with pytest.raises(httpx.HTTPError):
            httpx.post(f"{url}/query", json={"query": "x"}, timeout=10)

    threading.Thread(target=ask, daemon=True).start()
    time.sleep(0.3)


def test_the_end_of_stdin_ends_the_process_even_while_requests_hang(spawn: Spawn, base_url: BaseUrl) -> None:
    """A server whose parent is gone ends by itself within about a second, without noise."""
    process = spawn(*FREE, "--exit-with-stdin", "--misbehave", "hang")
    url = base_url(process)
    assert httpx.get(f"{url}/documents").json() == {"documents": []}
    _hang_one_query(url)
    started = time.perf_counter()
    out, err = process.communicate(timeout=5)
    assert time.perf_counter() - started < 1.5
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_process_cleanly(
    number: signal.Signals, spawn: Spawn, base_url: BaseUrl, tmp_path: Path
) -> None:
    """A signal ends it with exit code 0, and broken answers on purpose log nothing."""
    (tmp_path / "a.md").write_text("# Apples\n\nApples are red.\n")
    (tmp_path / "ignored.csv").write_text("x")
    process = spawn(*FREE, "--corpus", str(tmp_path), "--misbehave", "every:2:truncated")
    url = base_url(process)
    assert [d["file_name"] for d in httpx.get(f"{url}/documents").json()["documents"]] == ["a.md"]
    for i in range(8):
        try:
            httpx.post(f"{url}/query", json={"query": f"Are apples red {i}?"})
        except httpx.RemoteProtocolError:
            continue
    process.send_signal(number)
    out, err = process.communicate(timeout=5)
    assert (process.returncode, out, err) == (0, "", "")


def test_the_token_can_come_from_the_environment(spawn: Spawn, base_url: BaseUrl) -> None:
    """REFERENCE_SERVER_TOKEN guards the server like --auth-token."""
    url = base_url(spawn(*FREE, "--corpus", "none", REFERENCE_SERVER_TOKEN="abc"))
    assert httpx.get(f"{url}/config").status_code == 401
    assert httpx.get(f"{url}/config", headers={"Authorization": "Bearer abc"}).status_code == 200


def test_a_port_in_use_is_one_line_and_exit_code_2(spawn: Spawn) -> None:
    """No traceback when another process has the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = spawn("--port", str(port), "--corpus", "none")
        out, err = process.communicate(timeout=5)
    assert (process.returncode, out) == (2, "")
    assert err.count("\n") == 1
    assert f"127.0.0.1:{port}" in err


def test_a_missing_corpus_is_one_line_and_exit_code_2(spawn: Spawn, tmp_path: Path) -> None:
    """The line names the folder."""
    process = spawn(*FREE, "--corpus", str(tmp_path / "nowhere"))
    out, err = process.communicate(timeout=5)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert "nowhere" in err


def test_an_unknown_switch_is_a_usage_error(spawn: Spawn) -> None:
    """The command line refuses it before anything starts."""
    process = spawn(*FREE, "--misbehave", "nonsense")
    _, err = process.communicate(timeout=5)
    assert process.returncode == 2
    assert "'nonsense' is not a way to misbehave" in err
