"""Commands that ask, on a terminal of the system (a pseudo-terminal), as people use them."""

import os
import select
import subprocess
import sys
import time
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


def test_a_login_is_typed_without_being_shown(tmp_path: Path) -> None:
    """Neither while it is typed nor afterwards."""

    def ask(request: Any) -> dict[str, Any]:
        if request.headers.get("Authorization") != "Bearer s3cret-Value-90210":
            raise loopback.Refusal(HTTPStatus.UNAUTHORIZED, {"error": "who are you?"})
        return {"answer": "It is kept for thirty days."}

    ours, theirs = pty.openpty()
    options: dict[str, Any] = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True}
    options["env"] = {**os.environ, "PYTHONPATH": str(HOME.parent), "TERM": "dumb", "COLUMNS": "200"}
    with loopback.serving({("POST", "/own"): ask}) as url:
        command = [sys.executable, "-c", _MAIN, "init", "--rag-url", f"{url}/own", "--no-judge"]
        with subprocess.Popen(command, cwd=tmp_path, **options) as process:
            os.close(theirs)
            said = _read_until(ours, "(not shown; Enter: none): ")
            os.write(ours, b"Bearer s3cret-Value-90210\n")
            said += _read_until(ours, None)
            code = process.wait(timeout=_LONGEST_S)
        os.close(ours)
    assert code == 0, said
    assert "(not shown; Enter: none): " in said
    assert "s3cret" not in said
