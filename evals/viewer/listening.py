"""The server in a thread: it listens on this machine alone, and ends with whoever started it."""

import socket
import threading
from types import TracebackType

import uvicorn
from starlette.types import ASGIApp

from evals.errors import ConfigError
from evals.viewer.guard import HOST

_END_S = 1.0


def bind(port: int) -> socket.socket:
    """A socket that listens on 127.0.0.1; port 0 takes any free one.

    Raises:
        ConfigError: The port is taken, or may not be used.
    """
    try:
        return socket.create_server((HOST, port), backlog=128)
    except OSError as error:
        said = (error.strerror or str(error)).partition(" (while ")[0]
        raise ConfigError(
            f"cannot listen on {HOST}:{port}: {said}", "name another --port, or leave it out for any free one"
        ) from error


class Listening:
    """A server that answers as long as this context is open.

    It runs in a daemon thread, and so do the threads in which it works: Ctrl-C waits for no answer that is half made.

    Args:
        app: What answers.
        listener: The socket; it is closed at the end.
    """

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        self._listener = listener
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="evals view", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        found: int = self._listener.getsockname()[1]
        return found

    def __enter__(self) -> "Listening":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(_END_S)
        self._listener.close()

    def wait(self) -> None:
        """Wait until the server ends, or somebody presses Ctrl-C, which is raised here."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def _run(self) -> None:
        self._server.run(sockets=[self._listener])
