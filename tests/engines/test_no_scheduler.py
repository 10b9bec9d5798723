"""An address of a scheduler where something else listens."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kills.counted import CountedServer, policies, write_questions

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
LIMIT_S = 20
BUSY_S = 15
"""For start-up, and on a busy machine."""


@pytest.fixture
def server() -> Iterator[CountedServer]:
    """The server under evaluation: an ordinary one of HTTP."""
    server = CountedServer(policies(1))
    yield server
    server.stop()


@pytest.mark.parametrize("what", ["http", "silent"])
def test_what_is_no_scheduler_is_named_soon(what: str, server: CountedServer, tmp_path: Path) -> None:
    """Twenty seconds are the limit, whether it speaks of something else or of nothing; no traceback of Dask's."""
    questions = write_questions(tmp_path / "questions.json", policies(1))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        silent = f"127.0.0.1:{listening.getsockname()[1]}"
        address = "tcp://" + (server.url.removeprefix("http://") if what == "http" else silent)
        started = time.monotonic()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "evals", "eval", "--no-judge", "--dataset-file", questions),
                *("--rag-url", server.url, "--runs-dir", tmp_path / "runs", "--engine", "dask", "--scheduler", address),
            ],
            capture_output=True,
            text=True,
            timeout=LIMIT_S + BUSY_S + 30,
            check=False,
        )
        took = time.monotonic() - started
    assert f"no scheduler answers at {address}" in done.stderr
    assert (done.returncode, "Traceback" in done.stderr, "never awaited" in done.stderr) == (2, False, False)
    assert took < LIMIT_S + BUSY_S
