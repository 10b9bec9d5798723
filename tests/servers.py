"""Servers for the tests: as processes of their own, or as threads of this one; and how long anything is waited for.

A machine under load starts a process in ten seconds as well as in one. So nothing here asserts how fast a thing is:
what is awaited is a line, a port or an exit, and the bound only ends a test that would hang.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from evals.reference_server import Settings

HOME = Path(__file__).resolve().parent.parent
PATIENCE_S = 60.0
"""How long a test waits for what must come."""


def heed_signals() -> None:
    """Undo what a suite in the background, or under nohup, ignores: its children would inherit that."""
    for sign in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(sign, signal.SIG_DFL)


def wait_until(holds: Callable[[], object], what: str) -> None:
    """Wait until it holds; a test fails with what it waited for where that does not come."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S:g} s in vain for {what}"
        time.sleep(0.01)


class ServerProcess:
    """A Python program that says in one line of JSON where it listens, and ends when its standard input does.

    Args:
        arguments: Of Python, such as `-m evals.reference_server`.
        environment: Variables beside those of this process.
    """

    def __init__(self, *arguments: str, **environment: str) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - no pipe, as nobody reads it while the server runs
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=HOME,
            env={**os.environ, **environment},
            stdin=pipe,
            stdout=pipe,
            stderr=self._log,
            bufsize=0,  # the first line is read alone, and what follows is left for the end
        )

    @cached_property
    def announced(self) -> dict[str, Any]:
        """What the first line says, once it is there."""
        out = self.child.stdout
        assert out is not None
        lines: list[bytes] = []
        reader = threading.Thread(target=lambda: lines.append(out.readline()), daemon=True)
        reader.start()
        reader.join(PATIENCE_S)
        assert any(lines), f"the server did not start: {self.said() or 'no output'}"
        found: dict[str, Any] = json.loads(lines[0])
        return found

    @cached_property
    def url(self) -> str:
        """Where it listens, once it does."""
        return f"http://{self.announced.get('host', '127.0.0.1')}:{self.announced['port']}"

    def said(self) -> str:
        """What it has written to its standard error so far."""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode()  # seeking would move where the child writes

    def let_go(self) -> None:
        """Close its standard input; nobody waits here."""
        if self.child.stdin is not None:
            self.child.stdin.close()
            self.child.stdin = None

    def end(self) -> tuple[int, str, str]:
        """Close its standard input and wait for its end.

        Returns:
            Its exit code, what else it wrote to its standard output, and its standard error.
        """
        self.let_go()
        out, _ = self.child.communicate(timeout=PATIENCE_S)
        return self.child.returncode, out.decode(), self.said()

    def kill(self) -> None:
        """End it, whatever it does, and let go of its files."""
        self.child.kill()
        self.child.communicate()
        self._log.close()


def reference_server(*arguments: str, **environment: str) -> ServerProcess:
    """Start the reference server as a process, on a free port unless the arguments name one."""
    port = () if "--port" in arguments else ("--port", "0")
    program = ("tests/misbehaving.py",) if "--misbehave" in arguments else ("-m", "evals.reference_server")
    return ServerProcess(*program, *port, *arguments, **environment)


class ServerThread:
    """A reference server in a thread of this process.

    Args:
        files: Its documents, by file name.
        settings: Of the server.
        misbehave: Switches of what it does wrong.

    Attributes:
        url: Where it listens.
    """

    def __init__(self, files: Mapping[str, bytes], settings: Settings | None, misbehave: Sequence[str]) -> None:
        # Most tests need no server of this kind, nor the libraries that it is made of.
        from misbehaving import MisbehavingServer, parse_switch  # noqa: PLC0415

        from evals.reference_server.__main__ import bind, make_server  # noqa: PLC0415
        from evals.reference_server.app import Library  # noqa: PLC0415
        from evals.reference_server.documents import read_document  # noqa: PLC0415

        settings = settings or Settings()
        documents = [read_document(data, name, settings.chunk_words) for name, data in files.items()]
        listener = bind("127.0.0.1", 0)
        make = partial(MisbehavingServer, list(map(parse_switch, misbehave))) if misbehave else make_server
        self._server = make(settings, Library(documents))
        self._thread = threading.Thread(target=self._server.run, args=([listener],))
        self._thread.start()
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    def stop(self) -> None:
        """Tell it to end; nobody waits here."""
        self._server.should_exit = True

    def join(self) -> None:
        """Wait until it has ended."""
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "a server did not stop"
