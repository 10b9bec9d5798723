"""`evals serve`, as a process."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
SERVE = [sys.executable, "-m", "evals.cli", "serve", "--corpus", "none", "--port"]


def test_serve_says_the_url_once_it_listens() -> None:
    """With --port 0 the port that was taken is in the line for people and in the one for programs."""
    with subprocess.Popen([*SERVE, "0"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stderr is not None
            port = json.loads(child.stdout.readline())["port"]
            found = re.match(r"reference server on (\S+), corpus none; ", child.stderr.readline())
            assert found is not None
            assert found[1] == f"http://127.0.0.1:{port}"
            assert httpx.get(f"{found[1]}/health").status_code == 200
        finally:
            child.terminate()
    assert child.returncode == 0


def test_serve_on_a_port_in_use_is_one_message() -> None:
    """Nothing is announced that is not there, and the exit code is that of wrong usage."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([*SERVE, str(port)], cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (2, "")
    assert "reference server on" not in done.stderr
    assert f"127.0.0.1:{port}: Address already in use" in done.stderr
