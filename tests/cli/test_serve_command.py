"""`evals serve`, as a process."""

import re
import socket
from collections.abc import Callable, Iterator

import httpx
import pytest
from servers import PATIENCE_S, ServerProcess, wait_until


@pytest.fixture
def serve() -> Iterator[Callable[..., ServerProcess]]:
    """Start `evals serve` on a port; whatever is left of it is killed afterwards."""
    servers: list[ServerProcess] = []

    def start(port: int, *flags: str) -> ServerProcess:
        servers.append(ServerProcess("-m", "evals.cli", "serve", "--corpus", "none", "--port", str(port), *flags))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


def test_serve_says_the_url_once_it_listens(serve: Callable[..., ServerProcess]) -> None:
    """With --port 0 the port that was taken is in the line for people and in the one for programs."""
    server = serve(0)
    port = server.announced["port"]
    wait_until(lambda: server.said().endswith("\n"), "the line for people")
    found = re.match(r"reference server on (\S+), corpus none; ", server.said())
    assert found is not None
    assert found[1] == f"http://127.0.0.1:{port}"
    assert httpx.get(f"{found[1]}/health", timeout=PATIENCE_S).status_code == 200
    server.child.terminate()
    assert server.end()[0] == 0


def test_serve_on_a_port_in_use_is_one_message(serve: Callable[..., ServerProcess]) -> None:
    """Nothing is announced that is not there, and the exit code is that of wrong usage."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = serve(port).end()
    assert (code, out) == (2, "")
    assert "reference server on" not in err
    assert f"127.0.0.1:{port}: Address already in use" in err
