"""Where the keys of a server hold credentials, and how these keys are stored without them."""

import json
import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from evals.errors import EvalsError, JudgeError

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
    stored: dict[str, Any] = _stored(server, "", secret=False)
    url = server.get("url")
    if isinstance(url, str):  # a login that is filled in later stays
        stored["url"] = _bare_url(url, lambda login: f"{login}@" if _around(login, _COLON) == login else "")
    return stored


def without_secrets(body: Any) -> Any:
    """What a server says of itself, without the values of keys that name a credential and the logins of URLs."""
    return _stored(body, "", secret=False)


def looks_random(value: Any) -> bool:
    """Whether a value is long and without words, as keys are that somebody made by chance."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None and len(_TURN.findall(value)) >= _MOST_TURNS


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


def _bare_url(url: str, keep: Callable[[str], str]) -> str:
    try:
        urlsplit(url)
    except ValueError:
        return MASK
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    return _LOGIN.sub(lambda found: (found[1] or "") + keep(found[2]), bare, count=1)


def _stored(value: Any, name: str, *, secret: bool) -> Any:
    """A value as it may be stored, of a key of this name; all that stands below a key of a secret is secret."""
    if name in _EXPRESSIONS and not secret:
        return value
    if isinstance(value, list):
        return [_stored(item, name, secret=secret) for item in value]
    if isinstance(value, Mapping):
        odd = _is_secret_header if name == "headers" else _is_secret
        return {key: _stored(item, str(key), secret=secret or odd(key, item)) for key, item in value.items()}
    return _stored_credential(value, name) if secret else _stored_text(value, name)


def _is_secret(key: Any, _: Any) -> bool:
    return is_credential(str(key))


def _is_secret_header(key: Any, value: Any) -> bool:
    return is_credential(str(key)) or looks_random(value)


def _stored_credential(value: Any, name: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    return _around(str(value), _COOKIE if "cookie" in name.lower() else _SCHEME)


def _stored_text(text: Any, name: str) -> Any:
    """What is no credential, without the logins of URLs in it and, in a path, without secret parameters."""
    if not isinstance(text, str):
        return text

    def parameter(found: re.Match[str]) -> str:
        value = _around(found[3], _SCHEME) if is_credential(found[2]) else found[3]
        return f"{found[1]}{found[2]}={value}"

    text = _LOGIN_INSIDE.sub(lambda found: f"{found[1]}{_around(found[2], _COLON)}@", text)
    return _PARAMETER.sub(parameter, text) if name == "path" else text


def _around(text: str, harmless: re.Pattern[str]) -> str:
    """A credential with everything masked that neither is filled in later nor is harmless."""
    parts, end = [], 0
    for found in _FILLED_IN.finditer(text):
        before = text[end : found.start()]
        parts += [before if harmless.fullmatch(before) or not before else MASK, found[0]]
        end = found.end()
    rest = text[end:]
    keeps = not rest.strip() or (bool(parts) and harmless.fullmatch(rest) is not None)
    return "".join([*parts, rest if keeps else MASK])


# Known secrets, found in every form in which a text may hold them.


SHORTEST_SECRET = 4
"""What is shorter is no secret, and masking it would make words unreadable."""


_PLAIN = re.compile(r"[A-Za-z0-9_]+")
"""What looks the same wherever it stands."""

_LONGEST_WORD = 12


_SURELY_SECRET = 20
"""From this length on a value is no ordinary word."""


class Masker:
    """Masks secrets.

    Args:
        secrets: Their values; white space around them is no part of them.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        whole = {secret.strip() for secret in secrets if len(secret.strip()) >= SHORTEST_SECRET}
        # a secret may begin like a shorter one
        self._secrets = sorted({form for secret in whole for form in _forms(secret)}, key=len, reverse=True)
        odd = sorted((secret for secret in whole if not _PLAIN.fullmatch(secret)), key=len, reverse=True)
        self._encoded = [re.compile("".join(map(_pattern, secret))) for secret in odd]

    def text(self, text: str) -> str:
        """The text with every secret masked."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        for pattern in self._encoded:
            text = pattern.sub(MASK, text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with every secret masked."""
        if not self._secrets:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        return value


def secrets_in_url(url: str) -> Iterator[str]:
    """The password of a URL, and its login as a header holds it."""
    parts = urlsplit(url)
    if parts.password:
        login = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        yield from (parts.password, unquote(parts.password), b64encode(login.encode()).decode())


def looks_secret(value: str) -> bool:
    """Whether a value whose name does not say so may be a secret: it is long, or holds a digit as few words do."""
    return len(value) >= _SURELY_SECRET or (len(value) > SHORTEST_SECRET and any(sign.isdigit() for sign in value))


def _pattern(sign: str) -> str:
    """A pattern of a character in a URL, where libraries differ in what they encode, and in JSON inside JSON."""
    if _PLAIN.fullmatch(sign):
        return sign
    if sign == "\\":
        return r"(?:\\+|%5[Cc])"
    in_url = "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogatepass"))
    in_json = json.dumps(sign)[1:-1].lstrip("\\")
    plus = r"|\+" if sign == " " else ""
    return rf"\\*(?:{re.escape(sign)}|{in_url}|{in_url.lower()}|{re.escape(in_json)}{plus})"


def _forms(secret: str) -> tuple[str, ...]:
    """The secret as it is, and as it stands in JSON and in a URL."""
    lower = [secret.lower()] if len(secret) >= _LONGEST_WORD else []  # as the name of a host
    return secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1], *lower


# The keys of judges: where they are, and that they can be sent.


KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
}
"""By provider, the environment variables that may hold a key; messages name the first."""


_HEADER_VARIABLES = ("ANTHROPIC_CUSTOM_HEADERS",)
"""Lines of `name: value` that an SDK sends with every call."""


def key_in(variable: str) -> str | None:
    """The key that an environment variable holds, without white space around it; None where nothing else is there."""
    return os.environ.get(variable, "").strip() or None


def sendable_key(given: str | None, variable: str) -> str | None:
    """The key that was given, else the one of the environment variable; None where there is neither.

    Raises:
        JudgeError: No header can hold it; the message does not show it.
    """
    key = (given or "").strip() or key_in(variable)
    if key is not None and not (key.isascii() and key.isprintable()):
        raise JudgeError("the judge's key cannot be sent: it is not printable ASCII", f"look at {variable}")
    return key


def secrets_in_environment() -> Iterator[str]:
    """Every secret that an SDK may find in the environment and send, whatever the provider: a gateway may see more."""
    yield from filter(None, (key_in(name) for names in KEY_VARIABLES.values() for name in names))
    for lines in filter(None, map(key_in, _HEADER_VARIABLES)):
        for line in lines.split("\n"):
            name, _, value = line.partition(":")
            value = value.strip()
            if is_credential(name.strip()):
                yield from (value, value.rpartition(" ")[2])
            elif looks_secret(value):
                yield value


# The secrets that this process took from its environment, for messages that nobody masks on their way.


_known: set[str] = set()


def remember(secret: str) -> None:
    """Mask a value in every message from now on."""
    if secret not in _known:
        _known.add(secret)
        EvalsError.mask = staticmethod(Masker(_known).text)


def masked(text: str) -> str:
    """The text without any value that was remembered."""
    return EvalsError.mask(text)
