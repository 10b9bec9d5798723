"""The Message Batches API of the imitation, as the official SDK sees it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import pytest

PARAMS = {"model": "claude-haiku-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Is it so?"}]}
Work = Callable[[anthropic.AsyncAnthropic], Awaitable[Any]]


@pytest.fixture
def with_sdk(messages_api: Any, sdk_client: Callable[..., anthropic.AsyncAnthropic]) -> Callable[[Work], Any]:
    """Do something with a client of the SDK."""

    def run(work: Work) -> Any:
        async def call() -> Any:
            async with sdk_client(messages_api.url) as sdk:
                return await work(sdk)

        return asyncio.run(call())

    return run


def requests(*ids: str, **changes: Any) -> Any:
    return [{"custom_id": each, "params": {**PARAMS, **changes}} for each in ids]


def test_a_batch_ends_by_being_looked_at_and_has_a_result_for_each_request(
    with_sdk: Callable[[Work], Any], messages_api: Any
) -> None:
    """Results are in the order of their ids, charged as of a batch, and none is there before the end."""
    messages_api.batches(looks=1)

    async def work(sdk: anthropic.AsyncAnthropic) -> Any:
        made = await sdk.messages.batches.create(requests=requests("c", "a", "b"))
        assert (made.processing_status, made.request_counts.processing) == ("in_progress", 3)
        with pytest.raises(anthropic.AnthropicError):
            await sdk.messages.batches.results(made.id)
        ended = await sdk.messages.batches.retrieve(made.id)
        assert (ended.processing_status, ended.request_counts.succeeded) == ("ended", 3)
        return [each async for each in await sdk.messages.batches.results(made.id)]

    found = with_sdk(work)
    assert [each.custom_id for each in found] == ["a", "b", "c"]
    assert {each.result.message.usage.service_tier for each in found} == {"batch"}


def test_what_is_wrong_with_one_request_is_told_by_its_result(
    with_sdk: Callable[[Work], Any], messages_api: Any
) -> None:
    """A sampling parameter, a scripted error and what expires; the batch itself is taken."""
    messages_api.batches(looks=0)
    messages_api.script(
        {"match": "broken", "then": {"status": 529}},
        {"match": "late", "then": {"unasked": "expired"}},
    )

    async def work(sdk: anthropic.AsyncAnthropic) -> Any:
        late = {**PARAMS, "messages": [{"role": "user", "content": "late"}]}
        broken = {**PARAMS, "messages": [{"role": "user", "content": "broken"}]}
        asked = [
            *requests("a", temperature=0),
            {"custom_id": "b", "params": late},
            {"custom_id": "c", "params": broken},
        ]
        made = await sdk.messages.batches.create(requests=asked)
        return {each.custom_id: each.result async for each in await sdk.messages.batches.results(made.id)}

    found = with_sdk(work)
    assert found["a"].error.error.type == "invalid_request_error"
    assert found["b"].type == "expired"
    assert found["c"].error.error.type == "overloaded_error"


@pytest.mark.parametrize("wrong", [[], requests("a", "a"), requests("no blank")])
def test_a_batch_that_is_none_is_refused(with_sdk: Callable[[Work], Any], wrong: Any) -> None:
    """Without a request, with an id twice, or with one that is no id."""

    async def work(sdk: anthropic.AsyncAnthropic) -> None:
        with pytest.raises(anthropic.BadRequestError):
            await sdk.messages.batches.create(requests=wrong)

    with_sdk(work)
