"""Where the keys of a server hold credentials, and how these keys are stored without them."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

MASK = "***"

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CREDENTIAL = re.compile(
    r"(?:^|_)(?:"
    r"(?:key|[a-z]*token|(?:api|access|secret|private)key|auth)(?:_?\d+)?$"
    r"|(?:api|access|secret|private|subscription|auth|bearer)_?(?:key|token)s?(?:_|$)"
    r"|(?:[a-z]*(?:secret|password|passwd|credential|cookie)s?|[a-z]*authorization|passphrase|pwd)(?:_|$)"
    r")"
)
"""Over the words of a key's name, so that `keyword_mode`, `tokenizer` and `max_tokens` are none."""
_FILLED_IN = re.compile(r"\$\{\w+(?::-)?\}|\{\{\s*\w+\s*\}\}")
"""What stands for a value that comes later: ${NAME} of the environment, {{name}} of a template. The text of a default,
${NAME:-text}, may itself be a credential."""
_SCHEME = re.compile(r"[\s:;,]*(?:(?:basic|bearer|token|api-?key|key|digest)\s+)?", re.IGNORECASE)
_COOKIE = re.compile(r"[;\s]*(?:[\w.-]{1,40}=)?")
_COLON = re.compile(":")
_LOGIN = re.compile(r"^((?:[^/?#]*:)?//)?([^/?#]*)@")
_LOGIN_INSIDE = re.compile(r"(://)([^/?#\s]*)@")
_PARAMETER = re.compile(r"([?&])([^=&#]+)=([^&#]*)")
_TOKEN = re.compile(r"[\w.~+/=-]{20,}")
_TURN = re.compile(r"(?<=[a-zA-Z])\d|(?<=\d)[a-zA-Z]|(?<=[a-z])[A-Z]")
_MOST_TURNS = 5
"""From letters to digits, back, or to capitals: words and versions have fewer."""
_EXPRESSIONS = frozenset({"map", "clean", "citations"})
"""Keys below which stand expressions and patterns, which have no credentials and look like anything."""


def is_credential(name: str) -> bool:
    """Whether a key, header or parameter of this name holds a credential."""
    return _CREDENTIAL.search("_".join(_WORDS.findall(name)).lower()) is not None


def without_credentials(server: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a server as they may be stored: no login in a URL, no secret header or parameter in clear.

    What is written as ${NAME} stays as written; around it, only a scheme such as `Bearer` does.
    """
    return {
        key: _stored_url(value) if key == "url" and isinstance(value, str) else _stored(value, key, secret=False)
        for key, value in server.items()
    }


def without_secrets(body: Any) -> Any:
    """What a server says of itself, without the values of keys that name a credential and the logins of URLs."""
    return _stored(body, "", secret=False)


def looks_random(value: Any) -> bool:
    """Whether a value is long and without words, as keys are that somebody made by chance."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None and len(_TURN.findall(value)) >= _MOST_TURNS


def _is_secret(name: Any, value: Any, odd: Callable[[Any], bool]) -> bool:
    return is_credential(str(name)) or odd(value)


def _nothing_odd(_: Any) -> bool:
    return False


def in_clear(server: Mapping[str, Any]) -> dict[str, Any]:
    """The credentials that the keys of a server hold in clear, by their paths, such as `headers.X-Api-Key`."""
    both = zip(leaves(server), leaves(without_credentials(server)), strict=True)
    return {path: value for (path, value), (_, stored) in both if value != stored}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is no mapping and no list, with its path."""
    items: Any = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        yield path, value
    for key, item in items:
        yield from leaves(item, f"{path}.{key}" if path else str(key))


def public_url(url: str) -> str:
    """The URL without user, password, query and fragment; what is no URL is masked as a whole."""
    return _bare_url(url, lambda _: "")


def _stored_url(url: str) -> str:
    return _bare_url(url, lambda login: f"{login}@" if _around(login, _COLON) == login else "")


def _bare_url(url: str, keep: Callable[[str], str]) -> str:
    try:
        urlsplit(url)
    except ValueError:
        return MASK
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    return _LOGIN.sub(lambda found: (found[1] or "") + keep(found[2]), bare, count=1)


def _stored(value: Any, name: str, *, secret: bool) -> Any:
    if name in _EXPRESSIONS and not secret:
        return value
    if isinstance(value, Mapping):
        return _stored_mapping(value, name, secret=secret)
    if isinstance(value, list):
        return [_stored(item, name, secret=secret) for item in value]
    if secret:
        return _stored_credential(value, name)
    return _stored_text(value, name) if isinstance(value, str) else value


def _stored_mapping(value: Mapping[str, Any], name: str, *, secret: bool) -> dict[str, Any]:
    odd = looks_random if name == "headers" else _nothing_odd
    return {key: _stored(item, str(key), secret=secret or _is_secret(key, item, odd)) for key, item in value.items()}


def _stored_credential(value: Any, name: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    return _around(str(value), _COOKIE if "cookie" in name.lower() else _SCHEME)


def _stored_text(text: str, name: str) -> str:
    """A text that is no credential, without the logins of URLs in it and, in a path, without secret parameters."""
    text = _LOGIN_INSIDE.sub(lambda found: f"{found[1]}{_around(found[2], _COLON)}@", text)
    if name != "path":
        return text
    return _PARAMETER.sub(lambda found: f"{found[1]}{found[2]}={_stored_parameter(found[2], found[3])}", text)


def _stored_parameter(name: str, value: str) -> str:
    return _around(value, _SCHEME) if is_credential(name) else value


def _around(text: str, harmless: re.Pattern[str]) -> str:
    """A credential with everything masked that neither is filled in later nor stands harmlessly beside that."""
    parts, end = [], 0
    for found in _FILLED_IN.finditer(text):
        before = text[end : found.start()]
        parts += [before if harmless.fullmatch(before) or not before else MASK, found[0]]
        end = found.end()
    rest = text[end:]
    keeps = not rest.strip() or (bool(parts) and harmless.fullmatch(rest) is not None)
    return "".join([*parts, rest if keeps else MASK])
