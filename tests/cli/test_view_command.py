"""`evals view`, as a process."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import HOME, PATIENCE_S, heed_signals


@pytest.fixture
def view(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `evals view` of an empty folder; whatever is left of it is killed afterwards."""
    started: list[subprocess.Popen[str]] = []
    (tmp_path / "runs").mkdir()

    def start(*flags: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "evals.cli", "view", "--runs-dir", str(tmp_path / "runs"), *flags]
        pipe = subprocess.PIPE
        started.append(
            subprocess.Popen(command, cwd=HOME, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed_signals)  # noqa: PLW1509
        )
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.communicate()


def test_view_prints_the_address_and_ends_with_ctrl_c(view: Callable[..., Any]) -> None:
    """At once and with a plain word; the address has a token that nobody guesses."""
    child = view()
    url = child.stdout.readline().strip()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/", url)
    assert found, url
    assert httpx.get(url, timeout=PATIENCE_S, trust_env=False).status_code == 200
    assert httpx.get(f"http://127.0.0.1:{found[1]}/", timeout=PATIENCE_S, trust_env=False).status_code == 404
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE_S)
    assert (child.returncode, out) == (0, "")
    first, last = err.splitlines()
    assert first.endswith("nothing is written; Ctrl-C ends it")
    assert last == "ended"


def test_a_port_in_use_and_a_folder_that_is_none_are_one_message(evals_cli: Callable[..., Any], tmp_path: Path) -> None:
    """And exit code 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = evals_cli("view", "--runs-dir", tmp_path, "--port", port)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: port {port} cannot be used: Address already in use\n  name another with --port\n"
    done = evals_cli("view", "--runs-dir", tmp_path / "none")
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(r"error: there is no folder \S+none\n  .*--runs-dir\n", done.err)
    gone = evals_cli("view", "--runs-dir", tmp_path, "--annotator", "anna")
    assert (gone.code, gone.err.splitlines()[0]) == (2, "error: there is no flag --annotator any more")
