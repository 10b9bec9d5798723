"""Known secrets are found in every form in which a text may hold them, and nothing else is."""

import json
from base64 import b64encode
from urllib.parse import quote

import pytest

from evals.secrets import Masker, looks_secret, secrets_in_url

SECRET = 'pä"ss\\wörd/47\t11'
FORMS = {
    "as it is": SECRET,
    "in JSON": json.dumps(SECRET)[1:-1],
    "in JSON with letters as they are": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "in a URL": quote(SECRET, safe=""),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_secret_is_masked_in_each_form(form: str) -> None:
    """Four different texts, of which none holds another."""
    assert len(set(FORMS.values())) == len(FORMS)
    assert Masker([SECRET]).text(f"<{form}>") == "<***>"


def test_a_secret_is_masked_wherever_it_stands() -> None:
    """In names and values of a JSON value, again and again in one text; numbers and null stay."""
    value = {"a sk-1234 b": ["sk-1234sk-1234", 1234, None, True, {"deep": "x sk-1234"}]}
    assert Masker(["sk-1234"]).value(value) == {"a *** b": ["******", 1234, None, True, {"deep": "x ***"}]}


@pytest.mark.parametrize(("secret", "text"), [("abcd", "***"), ("abc", "abc"), ("  abc ", "abc"), ("", "abc")])
def test_what_is_shorter_than_four_characters_is_no_secret(secret: str, text: str) -> None:
    """Masking it would make words unreadable."""
    assert Masker([secret]).text(secret.strip() or "abc") == text


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("http://h/path", set()),
        ("http://bob@h", set()),
        ("http://bob:p%40ss@h", {"p%40ss", "p@ss", b64encode(b"bob:p@ss").decode()}),
        ("http://:p%40ss@h", {"p%40ss", "p@ss", b64encode(b":p@ss").decode()}),
        ("http://b%C3%B6b:pass@h", {"pass", b64encode("böb:pass".encode()).decode()}),
    ],
)
def test_the_secrets_of_a_url_are_its_password_and_the_login_of_its_header(url: str, secrets: set[str]) -> None:
    """As written, decoded, and encoded for the header."""
    assert set(secrets_in_url(url)) == secrets


@pytest.mark.parametrize(
    ("value", "looks"),
    [
        ("title", False),
        ("a" * 19, False),
        ("a" * 20, True),
        ("abc12", True),
        ("abc1", False),
        ("", False),
    ],
)
def test_a_value_looks_secret_that_is_long_or_has_a_digit(value: str, looks: bool) -> None:
    """Few words are longer than nineteen letters or hold a digit."""
    assert looks_secret(value) is looks
