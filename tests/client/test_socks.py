"""A server that is reached by a proxy over SOCKS 5."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from asking import ask_all
from raw_server import answering
from servers import PATIENCE_S

from evals.schemas import EvalResponse

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{"answer": "Yes"}'
pytest.importorskip("aiohttp_socks")


class SocksProxy:
    """Leads every connection to one server, whatever host is asked for.

    Attributes:
        asked: The hosts and ports that were asked for.
        logins: Users and passwords that were shown.
        refuses: Set where it connects nobody.
    """

    def __init__(self, target: tuple[str, int], *, wants_login: bool = False) -> None:
        self.asked: list[tuple[str, int]] = []
        self.logins: list[tuple[bytes, bytes]] = []
        self.refuses = False
        self._target, self._wants_login = target, wants_login
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.settimeout(PATIENCE_S)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError), client.makefile("rb") as said:
            _, count = said.read(2)
            said.read(count)
            client.sendall(b"\x05\x02" if self._wants_login else b"\x05\x00")
            if self._wants_login:
                said.read(1)
                self.logins.append((said.read(said.read(1)[0]), said.read(said.read(1)[0])))
                client.sendall(b"\x01\x00")
            _, _, _, kind = said.read(4)
            host = said.read(said.read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(said.read(4))
            self.asked.append((host, struct.unpack(">H", said.read(2))[0]))
            client.sendall(b"\x05" + (b"\x02" if self.refuses else b"\x00") + b"\x00\x01" + bytes(6))
            if not self.refuses:
                with socket.create_connection(self._target, timeout=PATIENCE_S) as server:
                    threading.Thread(target=_pump, args=(server, client), daemon=True).start()
                    _pump(client, server)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., SocksProxy]]:
    """Start a proxy that leads to a server, and name it in the environment."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    started: list[SocksProxy] = []
    with answering(lambda _count: [ANSWER]) as server:
        host, _, port = server.url.removeprefix("http://").rpartition(":")

        def start(login: str = "", **options: Any) -> SocksProxy:
            started.append(SocksProxy((host, int(port)), **options))
            monkeypatch.setenv("ALL_PROXY", f"socks5://{login}{started[-1].place}")
            return started[-1]

        yield start
        for proxy in started:
            proxy.close()


def ask(count: int = 1) -> list[EvalResponse]:
    """Ask a server that no name server knows."""
    keys = {"url": "http://rag.invalid:8001", "timeout_s": 10, "patience_s": 0}
    return ask_all(keys, *(f"What is part {number}?" for number in range(count)), max_attempts=1)


def test_a_server_is_asked_through_the_proxy(behind: Callable[..., SocksProxy]) -> None:
    """Which looks up its name; a connection serves several questions."""
    proxy = behind()
    assert [response.error for response in ask(3)] == [None] * 3
    assert proxy.asked == [("rag.invalid", 8001)]


def test_a_login_is_shown_to_the_proxy(behind: Callable[..., SocksProxy]) -> None:
    """With its escapes undone."""
    proxy = behind("anna:a%40b@", wants_login=True)
    assert ask()[0].error is None
    assert proxy.logins == [(b"anna", b"a@b")]


def test_a_proxy_that_connects_nobody_is_a_failure_that_names_it(behind: Callable[..., SocksProxy]) -> None:
    """Without the login."""
    behind("anna:secret-word@", wants_login=True).refuses = True
    error = ask()[0].error
    assert error.kind == "connect"
    assert "socks5://127.0.0.1" in error.message
    assert "secret-word" not in error.message
