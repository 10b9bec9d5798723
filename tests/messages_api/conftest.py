"""The imitation of the Messages API, for the tests of itself."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import pytest
from servers import PATIENCE_S

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # spares each client the loading of certificates


@pytest.fixture
def sdk_client() -> Callable[..., anthropic.AsyncAnthropic]:
    """Make a client of the SDK, for the URL given."""

    def make(url: str, **options: Any) -> anthropic.AsyncAnthropic:
        http = httpx2.AsyncClient(verify=NO_TLS, trust_env=False)
        options = {"api_key": "sk-test", "timeout": PATIENCE_S} | options
        return anthropic.AsyncAnthropic(base_url=url, max_retries=0, http_client=http, **options)

    return make


@pytest.fixture
def ask(
    messages_api: Any, sdk_client: Callable[..., anthropic.AsyncAnthropic]
) -> Callable[..., anthropic.types.Message]:
    """Get one message by the SDK; parameters it does not know are sent too, and one that is None is left out."""

    def get(*, client: dict[str, Any] | None = None, url: str = messages_api.url, **changes: Any) -> Any:
        messages = [{"role": "user", "content": "Is it so?"}]
        body = {"model": "claude-haiku-5-5", "max_tokens": 4000, "messages": messages} | changes
        body = {name: value for name, value in body.items() if value is not None}

        async def call() -> Any:
            async with sdk_client(url, **(client or {})) as sdk:
                if not {"model", "max_tokens", "messages"} <= body.keys():
                    return await sdk.post("/v1/messages", cast_to=anthropic.types.Message, body=body)
                known = {name: body.pop(name) for name in ("model", "max_tokens", "messages")}
                return await sdk.messages.create(**known, extra_body=body)

        return asyncio.run(call())

    return get
