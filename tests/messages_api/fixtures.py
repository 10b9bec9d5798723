"""The fixtures, for every conftest.py that takes them over."""

from collections.abc import Callable, Iterator

import pytest
from messages_api.server import MessagesApi


@pytest.fixture(scope="session")
def start_messages_api() -> Iterator[Callable[[], MessagesApi]]:
    """Give the imitation, which is started once, without rules, log or cache."""
    api = MessagesApi()

    def start() -> MessagesApi:
        api.reset()
        return api

    yield start
    api.close()


@pytest.fixture
def messages_api(start_messages_api: Callable[[], MessagesApi]) -> MessagesApi:
    """An imitation of the Messages API without rules, log or cache."""
    return start_messages_api()
