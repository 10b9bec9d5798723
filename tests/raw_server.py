"""A server that answers byte for byte what a test says, and remembers what it was asked on which connection."""

import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from servers import PATIENCE_S

Say = Callable[[int], Iterable[bytes | Literal["reset"] | None]]
"""By the number of the request, from 0: what is sent, piece by piece; None hangs up, and "reset" does so rudely."""
Secure = Callable[[int, socket.socket], socket.socket]
"""By the number of the connection, from 1: what is spoken over it."""
_AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER: closing throws away what was not sent, and resets the connection."""


class RawServer:
    """Listens on a port of 127.0.0.1.

    Args:
        say: What to answer.
        port: Of 127.0.0.1; 0 takes a free one.
        secure: How a connection is secured; None where none is.

    Attributes:
        asked: The requests whole, each with the number of its connection.
        over: Set at the end, for answers that wait.
    """

    def __init__(self, say: Say, port: int = 0, secure: Secure | None = None) -> None:
        self._say = say
        self._secure = secure
        self.asked: list[tuple[int, bytes]] = []
        self.over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", port))
        self.url = f"{'https' if secure else 'http'}://127.0.0.1:{self._socket.getsockname()[1]}"
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self._threads[0].start()

    def _listen(self) -> None:
        with suppress(OSError):
            while not self.over.is_set():
                connection, _ = self._socket.accept()
                connection.settimeout(PATIENCE_S)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # each piece goes at once
                self._connections.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection, len(self._connections)), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, plain: socket.socket, number: int) -> None:
        with suppress(OSError), self._secured(plain, number) as connection:
            while (request := _whole(connection)) is not None:
                self.asked.append((number, request))
                for piece in self._say(len(self.asked) - 1):
                    if not isinstance(piece, bytes):
                        _hang_up(connection, rudely=piece == "reset")
                        return
                    connection.sendall(piece)

    def _secured(self, plain: socket.socket, number: int) -> socket.socket:
        secured = self._secure(number, plain) if self._secure else plain
        self._connections[number - 1] = secured
        return secured

    def stop_listening(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def close(self) -> None:
        """Hang up and stop listening."""
        self.over.set()
        self.stop_listening()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_S)


@contextmanager
def answering(say: Say, secure: Secure | None = None) -> Iterator[RawServer]:
    """Serve for the time of a block."""
    server = RawServer(say, secure=secure)
    try:
        yield server
    finally:
        server.close()


def _hang_up(connection: socket.socket, *, rudely: bool) -> None:
    if rudely:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    else:
        connection.shutdown(socket.SHUT_RDWR)


def _whole(connection: socket.socket) -> bytes | None:
    """The next request with its body; None where the client hung up."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.partition(b":")[2] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    while len(body) < int(lengths[0] if lengths else 0):
        more = connection.recv(65_536)
        if not more:
            return None
        body += more
    return head + b"\r\n\r\n" + body
