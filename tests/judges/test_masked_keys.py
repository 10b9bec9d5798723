"""No key in what is said of a failed call."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from evals.judges.anthropic_backend import AnthropicBackend
from evals.judges.base import BackendError, Call
from evals.judges.openai_backend import OpenAIBackend

CALL = Call(system="You are a judge.", content="{}", schema={"type": "object"}, max_tokens=3000)
VENDORS = ["openai", "anthropic"]


def message_of(api: SimpleNamespace, vendor: str, key: str | None, body: Any, status: int = 401) -> str:
    api.status, api.body = status, body

    async def main() -> None:
        backend: Any = (
            OpenAIBackend("m", base_url=api.url, api_key=key)
            if vendor == "openai"
            else AnthropicBackend("m", base_url=api.url, api_key=key)
        )
        try:
            await backend.complete(CALL)
        finally:
            await backend.aclose()

    with pytest.raises(BackendError) as caught:
        asyncio.run(main())
    return str(caught.value)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("key", "variables", "said", "shown"),
    [
        ("my-secret-key", {}, "bad key my-secret-key!", "bad key ***!"),
        ("my-secret-key", {}, "x" * 490 + " my-secret-key", "x" * 490 + " ***"),
        ("given", {"ANTHROPIC_API_KEY": "first-key"}, "first-key", "***"),
        ("given", {"ANTHROPIC_AUTH_TOKEN": "second-key"}, "second-key", "***"),
        ("given", {"OPENAI_API_KEY": "third-key"}, "third-key", "***"),
        ("given", {"OPENAI_API_KEY": "given-longer"}, "given-longer and given", "*** and ***"),
        ("given", {}, "Bearer sk-proj-Ab_9-xyzw0 refused", "Bearer *** refused"),
        ("given", {}, "key sk-ab-******wxyz refused", "key *** refused"),
        ("given", {}, "a risk-averse-investing model, sk-learn", "a risk-averse-investing model, sk-learn"),
    ],
)
def test_a_key_that_the_server_repeats_is_masked(
    any_api: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    vendor: str,
    key: str,
    variables: dict[str, str],
    said: str,
    shown: str,
) -> None:
    """The one used, those of the environment, and what looks like one; also where the message is cut."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = message_of(any_api, vendor, key, {"type": "error", "error": {"type": "auth", "message": said}})
    assert found == f"HTTP 401: {shown}"[:500]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_key_taken_from_the_environment_is_masked(
    any_api: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, vendor: str
) -> None:
    """Also where the error comes with status 200."""
    monkeypatch.setenv(f"{vendor.upper()}_API_KEY", "from-outside")
    found = message_of(any_api, vendor, None, {"error": {"message": "no from-outside"}}, status=200)
    assert "no ***" in found
    assert "from-outside" not in found


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}},
            "invalid x-api-key",
        ),
        ({"message": "who are you?"}, "who are you?"),
        ({"error": "nobody"}, "nobody"),
        ({"error": {"type": "odd"}}, "{'type': 'odd'}"),
        (b"<h1>401</h1>", "<h1>401</h1>"),
    ],
)
def test_what_the_server_says_is_shown_without_its_wrapping(
    any_api: SimpleNamespace, vendor: str, body: Any, shown: str
) -> None:
    """The words of the error, wherever the server puts them."""
    assert message_of(any_api, vendor, "k", body) == f"HTTP 401: {shown}"
