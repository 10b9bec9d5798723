"""What of a server's keys is stored, and what is no credential."""

from typing import Any

import pytest

from evals.secrets import in_clear, is_credential, public_url, without_credentials


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        ("http://bob:hunter2pass@${H}:18935", "http://${H}:18935"),
        ("http://bob:${P}@h", "http://h"),
        ("http://${U}:hunter2pass@h", "http://h"),
        ("${SCHEME}://bob:hunter2pass@h/a", "${SCHEME}://h/a"),
        ("http://${U}:${P}@${H}:1/a", "http://${U}:${P}@${H}:1/a"),
        ("http://${LOGIN}@h", "http://${LOGIN}@h"),
        ("${RAG_URL}", "${RAG_URL}"),
        ("http://h/@team/api", "http://h/@team/api"),
        ("http://bob:hunter2pass@h/?key=hunter2pass", "http://h/"),
        ("http://bob:hunter2pass@h/a#token=hunter2pass", "http://h/a"),
        ("http://bob:hunter2pass@[::1", "***"),
    ],
)
def test_a_login_in_the_url_is_stored_only_as_variables(url: str, stored: str) -> None:
    """A variable anywhere in the URL does not let the rest of the login through."""
    assert without_credentials({"url": url}) == {"url": stored}


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("clearsecret", "***"),
        ("Bearer clearsecret", "***"),
        ("Bearer clearsecret ${X}", "***"),
        ("${X}clearsecret", "***"),
        ("${X}-clearsecret-${Y}", "***"),
        ("bearer", "***"),
        ("Bearer ${X}", "Bearer ${X}"),
        ("${USER}:${PASSWORD}", "${USER}:${PASSWORD}"),
        ("{{uuid}}", "{{uuid}}"),
        ("", ""),
        (4711, "***"),
        (None, None),
        (True, True),
    ],
)
def test_a_credential_is_stored_without_what_is_in_clear(value: Any, stored: Any) -> None:
    """Around ${NAME} only a scheme and separators stay; what is stored once is stored again as it is."""
    once = without_credentials({"headers": {"Authorization": value}})
    assert once == {"headers": {"Authorization": stored}}
    assert without_credentials(once) == once


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://bob:hunter2pass@h:1/a/b?key=hunter2pass#token", "https://h:1/a/b"),
        ("https://${U}:${P}@h/a", "https://h/a"),
        ("http://h/@team", "http://h/@team"),
        ("http://bob:hunter2pass@[::1", "***"),
    ],
)
def test_the_url_that_is_shown_has_neither_login_nor_parameters(url: str, public: str) -> None:
    """Not even as variables; what is no URL may be a login as a whole."""
    assert public_url(url) == public


def test_credentials_are_found_however_deep_they_are() -> None:
    """In lists of mappings, in lists and mappings below a secret name, in paths and in URLs inside the body."""
    server = {
        "ask": {
            "path": "/query?version=2&api_key=sk-1&token=${T}",
            "json": {
                "messages": [{"api_key": "sk-2", "text": "hello"}],
                "api_keys": ["sk-3", "${K}"],
                "cookies": {"session": "sk-4"},
                "hook": "http://bob:sk-5@h/x",
            },
        },
    }
    assert without_credentials(server) == {
        "ask": {
            "path": "/query?version=2&api_key=***&token=${T}",
            "json": {
                "messages": [{"api_key": "***", "text": "hello"}],
                "api_keys": ["***", "${K}"],
                "cookies": {"session": "***"},
                "hook": "http://***@h/x",
            },
        },
    }
    assert list(in_clear(server)) == [
        "ask.path",
        "ask.json.messages.0.api_key",
        "ask.json.api_keys.0",
        "ask.json.cookies.session",
        "ask.json.hook",
    ]


def test_expressions_and_patterns_are_stored_as_they_are() -> None:
    """They hold no credential, and changed ones could not be used again."""
    server = {
        "map": {"answer": "a", "chunks": "d[?token == 'x'].{text: t}"},
        "info": [{"path": "/i", "map": {"api_key": "settings.key"}}],
        "clean": [r"https?://\S*@", r"\*\*\*"],
    }
    assert without_credentials(server) == server
    assert in_clear(server) == {}


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "apiKey", "apikey", "API-KEY", "x-api-key", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "key"),
        *("token", "access_token", "accessToken", "X-Auth-Token", "authtoken", "api_key_2", "key2"),
        *("secret", "client_secret", "password", "db_password", "Authorization", "Proxy-Authorization", "X-Auth"),
        *("cookie", "Set-Cookie", "credentials", "PASSPHRASE"),
    ],
)
def test_a_name_with_the_word_of_a_credential_is_one(name: str) -> None:
    """However its words are written together."""
    assert is_credential(name)


@pytest.mark.parametrize(
    "name",
    [
        *("keyword_mode", "keywords", "tokenizer", "max_tokens", "tokenCount", "monkey", "key_field", "keyboard"),
        *("author", "authors", "stop_tokens", "secretary", "passage", "token_limit"),
    ],
)
def test_a_name_that_only_begins_like_a_credential_is_none(name: str) -> None:
    """Whole words count: a retrieval setting is stored as it is."""
    assert not is_credential(name)


def test_an_optional_variable_is_stored_as_written_and_its_default_is_not() -> None:
    """What stands for an unset variable may itself be a credential; an empty default is none."""
    headers = {"X-API-Key": "${RAG_KEY:-}", "Authorization": "Bearer ${RAG_TOKEN:-}", "Api-Key": "${RAG_KEY:-s3cr3t}"}
    stored = without_credentials({"headers": headers})["headers"]
    assert stored["X-API-Key"] == "${RAG_KEY:-}"
    assert stored["Authorization"] == "Bearer ${RAG_TOKEN:-}"
    assert "s3cr3t" not in stored["Api-Key"]


@pytest.mark.parametrize(
    "value", ["9f8a7c6b5d4e3f2a1b0c9d8e", "Zx8Kq2Lm9Rt4Vb7Nc1Wp", "c0ffee00-1234-4abc-8def-0123456789ab"]
)
def test_a_header_that_looks_like_a_key_is_one(value: str) -> None:
    """Whatever its name says; a version, a type or a sentence is none."""
    assert without_credentials({"headers": {"X-Thing": value}}) == {"headers": {"X-Thing": "***"}}
    for harmless in ("2024-10-21-preview", "application/json", "evals of the claims department", "v1"):
        assert without_credentials({"headers": {"X-Thing": harmless}}) == {"headers": {"X-Thing": harmless}}
