"""Commands that ask, on a terminal of the system (a pseudo-terminal), as people use them."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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
def server() -> Iterator[str]:
    """Answers with two lists either of which may be the chunks; its URL, with the path."""

    def ask(_: Any) -> dict[str, Any]:
        found = ["A passage of the left, which says this.", "Another of the left, which says that."]
        others = ["A passage of the right, which says so.", "Another of the right, which does not."]
        return {"answer": "It is kept for thirty days.", "left": found, "right": others}

    with ExitStack() as running:
        yield f"{running.enter_context(loopback.serving({('POST', '/own'): ask}))}/own"


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


def test_init_is_a_conversation(server: str, converse: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    """URL, questions, the request, the judge; then the commands to run."""
    row = {"question": "How long is it kept?", "expected_answer": "Thirty days.", "is_unanswerable": False}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row))
    code, said = converse(
        ["init"],
        [
            ("URL that takes the question", f"{server}\n"),
            ("file of your questions", "mine.jsonl\n"),
            ("the question 'How long is it kept?'?", "y\n"),
            ("LLM judge", "n\n"),
        ],
    )
    assert code == 0, said
    assert "evals eval --config eval_config.yml" in said
    assert "    chunks: left\n" in (tmp_path / "eval_config.yml").read_text()
    assert "dataset_file: mine.jsonl" in (tmp_path / "eval_config.yml").read_text()


def test_a_login_is_typed_without_being_shown(converse: Callable[..., tuple[int, str]]) -> None:
    """Neither while it is typed nor afterwards."""

    def ask(request: Any) -> dict[str, Any]:
        if request.headers.get("Authorization") != "Bearer s3cret-Value-90210":
            raise loopback.Refusal(HTTPStatus.UNAUTHORIZED, {"error": "who are you?"})
        return {"answer": "It is kept for thirty days."}

    with loopback.serving({("POST", "/own"): ask}) as url:
        code, said = converse(
            ["init", "--rag-url", f"{url}/own", "--no-judge"],
            [
                ("file of your questions", "\n"),
                ("?", "y\n"),
                ("(not shown; Enter: none): ", "Bearer s3cret-Value-90210\n"),
            ],
        )
    assert code == 0, said
    assert "s3cret" not in said
