"""The server as a process: starting, announcing, ending."""

import errno
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from evals.reference_server.__main__ import main

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
    """No traceback and no greeting when another process has the port: why, and the way out."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = spawn("--port", str(port), "--corpus", "none", "--greet")
        out, err = process.communicate(timeout=5)
    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"Cannot listen on 127.0.0.1:{port}: Address already in use; name another --port")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (("--port", "99999"), "bind(): port must be 0-65535"),
        (("--port", "0", "--host", "192.0.2.1"), "Cannot assign requested address"),
    ],
)
def test_an_address_that_cannot_be_had_says_why(address: tuple[str, ...], reason: str, spawn: Spawn) -> None:
    """The reason stands once, without the address that the system adds to it."""
    process = spawn(*address, "--corpus", "none")
    out, err = process.communicate(timeout=5)
    assert (process.returncode, out) == (2, "")
    assert f": {reason}; name another" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("localhost", "localhost")])
def test_the_greeting_names_the_port_that_was_taken(host: str, shown: str, spawn: Spawn, base_url: BaseUrl) -> None:
    """People are told the URL at which the server answers, when it does."""
    process = spawn(*FREE, "--host", host, "--corpus", "none", "--greet")
    url = base_url(process)
    assert process.stderr is not None
    assert process.stderr.readline() == f"reference server on {url}, corpus none; stop it with Ctrl-C\n"
    assert url.startswith(f"http://{shown}:")
    assert httpx.get(f"{url}/health").status_code == 200


def test_a_corpus_that_cannot_be_read_is_no_matter_of_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one line names the file."""

    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    (tmp_path / "a.md").write_text("text")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert main([*FREE, "--corpus", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"The corpus cannot be read: {tmp_path / 'a.md'}: Permission denied.\n"


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
