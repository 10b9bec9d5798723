"""No key in anything that comes from a judge: not in what is said of a failed call, and not in a reply."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from evals.judges.backends.anthropic import AnthropicBackend
from evals.judges.backends.base import BackendError, Call, JudgeReply
from evals.judges.backends.openai import OpenAIBackend

from evals.errors import JudgeError

CALL = Call(system="You are a judge.", content="{}", schema={"type": "object"}, max_tokens=3000)
VENDORS = ["openai", "anthropic"]


def ask(api: SimpleNamespace, vendor: str, key: str | None, call: Call = CALL) -> JudgeReply:
    async def main() -> JudgeReply:
        backend: Any = (
            OpenAIBackend("m", base_url=api.url, api_key=key)
            if vendor == "openai"
            else AnthropicBackend("m", base_url=api.url, api_key=key)
        )
        try:
            return await backend.complete(call)  # type: ignore[no-any-return]
        finally:
            await backend.aclose()

    return asyncio.run(main())


def message_of(api: SimpleNamespace, vendor: str, key: str | None, body: Any, status: int = 401) -> str:
    api.status, api.body = status, body
    with pytest.raises(BackendError) as caught:
        ask(api, vendor, key)
    return str(caught.value)


def reply_of(api: SimpleNamespace, vendor: str, text: str, model: str = "m-1", **options: Any) -> JudgeReply:
    """The reply of an API that says a text."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    content = [{"type": "text", "text": text}]
    api.status, api.body = 200, {"model": model, "choices": [choice], "content": content, "stop_reason": "end_turn"}
    return ask(api, vendor, **{"key": "my-secret-key", **options})


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
        (" my-secret-key\n", {}, "bad key my-secret-key!", "bad key ***!"),
        ('my"key/+', {}, r'{"k": "my\"key/+"} ?k=my%22key%2F%2B', '{"k": "***"} ?k=***'),
        ("given", {"ANTHROPIC_CUSTOM_HEADERS": "x-team: research\nx-gateway-token: topsecret"}, "topsecret", "***"),
        ("given", {"ANTHROPIC_CUSTOM_HEADERS": "X-Auth-Token: Bearer topsecret"}, "no topsecret", "no ***"),
        ("given", {"ANTHROPIC_CUSTOM_HEADERS": "x-client: 7d1c9e"}, "who is 7d1c9e?", "who is ***?"),
        ("given", {"ANTHROPIC_CUSTOM_HEADERS": "x-team: research"}, "research has no money", "research has no money"),
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


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("your header was Bearer my-secret-key", "your header was Bearer ***"),
        ("x" * 115 + " my-secret-key", "x" * 115 + " ***"),
        ('{"quote": "my-secret-key"}', '{"quote": "***"}'),
        ('{"quote": "my\\u002dsecret-key", "my-secret-key": true}', '{"quote": "***", "***": true}'),
        ('{"verdict": "correct", "n": 1}', '{"verdict": "correct", "n": 1}'),
        ("not mine: sk-proj-Ab_9-xyzw0", "not mine: ***"),
    ],
)
def test_a_key_in_a_reply_is_masked(any_api: SimpleNamespace, vendor: str, said: str, read: str) -> None:
    """Also where its letters are escaped, and in a text that is no JSON; any other reply stays letter for letter."""
    assert reply_of(any_api, vendor, said).text == read


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(("model", "shown"), [("Bearer my-secret-key", "Bearer ***"), ("m" * 500, "m" * 200)])
def test_a_key_in_the_name_of_the_model_is_masked(
    any_api: SimpleNamespace, vendor: str, model: str, shown: str
) -> None:
    """It is saved with every verdict, and so it is cut too."""
    assert reply_of(any_api, vendor, "{}", model).model == shown


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_key_that_is_a_word_of_the_data_stays_in_the_reply(any_api: SimpleNamespace, vendor: str) -> None:
    """Servers of one's own take any key, such as `ollama`; a quotation of that word must be found in the data."""
    call = Call(system="You are a judge.", content='{"answer": "by ollama"}', schema={}, max_tokens=3000)
    said = '{"quote": "by ollama"}'
    assert reply_of(any_api, vendor, said, key="ollama", call=call).text == said
    assert "ollama" not in reply_of(any_api, vendor, said, key="ollama").text


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("key", ["sk-t\u00e9st-abcdef", "sk-a\nb-1234567890", "sk-a\tb-1234567890"])
def test_a_key_that_no_header_can_hold_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, any_api: SimpleNamespace, vendor: str, key: str
) -> None:
    """The message names the variable, and does not show the key."""
    monkeypatch.setenv(f"{vendor.upper()}_API_KEY", key)
    with pytest.raises(JudgeError, match="cannot be sent") as caught:
        ask(any_api, vendor, None)
    assert f"{vendor.upper()}_API_KEY" in (caught.value.hint or "")
    assert key[:4] not in f"{caught.value}{caught.value.hint}"


def test_blanks_are_no_key_and_give_way_to_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """White space around a key is no part of it."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "  \n")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", " token-1\n")
    client = AnthropicBackend("m")._client
    assert (client.api_key, client.auth_token) == (None, "token-1")
