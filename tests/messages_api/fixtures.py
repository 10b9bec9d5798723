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


@pytest.fixture
def judge_api(messages_api: MessagesApi, monkeypatch: pytest.MonkeyPatch) -> MessagesApi:
    """The same, as the environment's judge, which goes by shared words."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    messages_api.script({"then": {"python": "judge"}})
    return messages_api
