"""The fixtures, for every conftest.py that takes them over."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import PATIENCE_S, ServerProcess

SERVER = Path(__file__).with_name("server.py")


class MessagesApi:
    """An imitation of the Messages API in a process of its own.

    Attributes:
        url: For ``base_url`` or ANTHROPIC_BASE_URL.
    """

    def __init__(self, *arguments: str) -> None:
        self._server = ServerProcess(str(SERVER), "--port", "0", *arguments)
        self.url = self._server.url
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def script(self, *rules: dict[str, Any]) -> None:
        """Replace the rules."""
        self._ask("/__script", list(rules))

    def batches(self, **mode: Any) -> None:
        """Say how batches behave from now on: the fields of `BatchMode`."""
        self._ask("/__batches", mode)

    def batched(self) -> list[dict[str, Any]]:
        """The requests of all batches that were made, with their `custom_id`, in their order."""
        made = [entry for entry in self.log() if entry["path"].endswith("/batches") and entry["method"] == "POST"]
        return [each for entry in made if entry["body"] for each in entry["body"]["requests"]]

    def log(self) -> list[dict[str, Any]]:
        """The requests received."""
        return self._ask("/__log")  # type: ignore[no-any-return]

    def stats(self) -> dict[str, Any]:
        """How many there were, by status, and how many at the same time."""
        return self._ask("/__stats")  # type: ignore[no-any-return]

    def reset(self) -> None:
        """Forget rules, log, counts and cache."""
        self._ask("/__reset", {})

    def close(self) -> int:
        """End the process by closing its stdin; returns its exit code."""
        code, _, _ = self._server.end()
        self._server.kill()
        return code

    def _ask(self, path: str, content: Any = None) -> Any:
        data = None if content is None else json.dumps(content).encode()
        with self._opener.open(urllib.request.Request(self.url + path, data), timeout=PATIENCE_S) as reply:  # noqa: S310
            return json.load(reply)


@pytest.fixture(scope="session")
def start_messages_api() -> Iterator[Callable[..., MessagesApi]]:
    """Start an imitation with the arguments given, once for each set of arguments."""
    running: dict[tuple[str, ...], MessagesApi] = {}

    def start(*arguments: str) -> MessagesApi:
        if arguments not in running:
            running[arguments] = MessagesApi(*arguments)
        running[arguments].reset()
        return running[arguments]

    yield start
    for api in running.values():
        api.close()


@pytest.fixture
def messages_api(start_messages_api: Callable[..., MessagesApi]) -> MessagesApi:
    """An imitation of the Messages API without rules, log or cache."""
    return start_messages_api()
