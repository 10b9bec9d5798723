"""Commands that ask, on a terminal of the system (a pseudo-terminal), as people use them."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from other_servers import loopback

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

HOME = Path(__file__).resolve().parents[1]
_LONGEST_S = 60
_MAIN = """import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it, and so would this
os.close(os.open(os.ttyname(0), os.O_RDWR))  # now it is the terminal whose Ctrl-C this process hears
from evals.cli import main
main()"""


@pytest.fixture
def converse(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Start a command on a terminal, and type each answer when its question stands there."""

    def talk(arguments: list[str], answers: list[tuple[str, str]]) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        environment = {**os.environ, "PYTHONPATH": str(HOME.parent), "TERM": "dumb", "COLUMNS": "200"}
        command = [sys.executable, "-c", _MAIN, *arguments]
        with subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, env=environment, start_new_session=True
        ) as process:
            os.close(theirs)
            said = ""
            for expected, answer in answers:
                before = len(said)
                said += _read_until(ours, expected)
                assert expected in said[before:], said
                os.write(ours, answer.encode())
            said += _read_until(ours, None)
            code = process.wait(timeout=_LONGEST_S)
        os.close(ours)
        return code, said

    return talk


def _read_until(terminal: int, expected: str | None) -> str:
    """What is printed until this stands there, or until the end."""
    said, ends = "", time.monotonic() + _LONGEST_S
    while expected is None or expected not in said:
        ready, _, _ = select.select([terminal], [], [], max(0.0, ends - time.monotonic()))
        try:
            piece = os.read(terminal, 65536) if ready else b""
        except OSError:  # so Linux says that nobody is at the other end any more
            piece = b""
        if not piece:
            return said
        said += piece.decode("utf-8", "replace")
    return said


def test_a_login_is_typed_without_being_shown(converse: Callable[..., tuple[int, str]]) -> None:
    """Neither while it is typed nor afterwards."""

    def ask(request: Any) -> dict[str, Any]:
        if request.headers.get("Authorization") != "Bearer s3cret-Value-90210":
            raise loopback.Refusal(HTTPStatus.UNAUTHORIZED, {"error": "who are you?"})
        return {"answer": "It is kept for thirty days."}

    with loopback.serving({("POST", "/own"): ask}) as url:
        code, said = converse(
            ["init", "--rag-url", f"{url}/own", "--no-judge"],
            [("(not shown; Enter: none): ", "Bearer s3cret-Value-90210\n")],
        )
    assert code == 0, said
    assert "s3cret" not in said
