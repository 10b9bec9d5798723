"""Credentials: found by the names of keys and as exact values, and masked wherever a text is stored or shown."""

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from evals.errors import EvalsError, JudgeError

MASK = "***"
SHORTEST_SECRET = 4
"""What is shorter is no secret: masking it would make words unreadable."""
KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
}
"""By provider of a judge, the environment variables that may hold its key; messages name the first."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CREDENTIAL = re.compile(
    r"(?:^|_)(?:"
    r"(?:key|[a-z]*token|(?:api|access|secret|private)key|auth)(?:_?\d+)?$"
    r"|(?:api|access|secret|private|subscription|auth|bearer)_?(?:key|token)s?(?:_|$)"
    r"|(?:[a-z]*(?:secret|password|passwd|credential|cookie)s?|[a-z]*authorization|passphrase|pwd)(?:_|$)"
    r")"
)
"""Over the words of a key's name, so that `keyword_mode`, `tokenizer` and `max_tokens` are none."""
_VARIABLES = re.compile(
    r"(?:[\w.-]{1,40}=|(?:basic|bearer|token|api-?key|key|digest)\s)?"
    r"(?:\s*(?:\$\{\w+(?::-)?\}|\{\{\s*\w+\s*\}\})[:;,\s]*)+",
    re.IGNORECASE,
)
"""${NAME} or {{name}} alone, after a scheme or the name of a cookie; the default of ${NAME:-text} is in clear."""
_KEY_LIKE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+/=-]{20,}")
_LOGIN = re.compile(r"(//)([^/?#\s]*)@")
_PARAMETER = re.compile(r"([?&]([^=&#]+)=)([^&#]*)")
_EXPRESSIONS = frozenset({"map", "clean", "citations"})
"""Keys below which expressions and patterns stand, which have no credentials and look like anything."""


def is_credential(name: str) -> bool:
    """Whether a key, header or parameter with this name holds a credential."""
    return _CREDENTIAL.search("_".join(_WORDS.findall(name)).lower()) is not None


def looks_random(value: Any) -> bool:
    """Whether a value looks like a generated key: at least twenty characters, letters and digits, no blanks."""
    return isinstance(value, str) and _KEY_LIKE.fullmatch(value) is not None


def looks_secret(value: str) -> bool:
    """Whether a value is no ordinary word, so that masking it everywhere does no harm: long, or with a digit."""
    return len(value) >= 20 or (len(value) > SHORTEST_SECRET and any(map(str.isdigit, value)))


def without_credentials(server: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a server as they may be stored: no login in a URL, no secret header or parameter in clear.

    A credential that consists of ${NAME} stays as it is written.
    """
    stored: dict[str, Any] = without_secrets(server)
    if isinstance(url := server.get("url"), str):
        login = _LOGIN.search(url)
        stored["url"] = url if login and _VARIABLES.fullmatch(login[2]) else public_url(url)
    return stored


def without_secrets(body: Any) -> Any:
    """A JSON value with the credentials masked that stand below the name of one, or in URLs."""
    return _stored(body, "", secret=False)


def _stored(value: Any, name: str, *, secret: bool) -> Any:
    """A value as it may be stored, by the name of its key; all below the name of a credential is secret."""
    if isinstance(value, list):
        return [_stored(item, name, secret=secret) for item in value]
    if isinstance(value, Mapping):
        stored = {}
        for key, item in value.items():
            hidden = secret or is_credential(str(key)) or (name == "headers" and looks_random(item))
            stored[key] = item if key in _EXPRESSIONS and not hidden else _stored(item, str(key), secret=hidden)
        return stored
    if secret:
        return value if value is None or isinstance(value, bool) else _only_variables(str(value))
    if not isinstance(value, str):
        return value
    text = _LOGIN.sub(lambda login: f"{login[1]}{_only_variables(login[2])}@", value)
    if name != "path":
        return text
    return _PARAMETER.sub(lambda at: at[1] + (_only_variables(at[3]) if is_credential(at[2]) else at[3]), text)


def _only_variables(credential: str) -> str:
    """The credential where it is to be filled in later, else a mask."""
    return credential if not credential or _VARIABLES.fullmatch(credential) else MASK


def in_clear(server: Mapping[str, Any]) -> dict[str, Any]:
    """The credentials that the keys of a server hold in clear, by their paths, such as `headers.X-Api-Key`."""
    both = zip(leaves(server), leaves(without_credentials(server)), strict=True)
    return {path: value for (path, value), (_, stored) in both if value != stored}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is no mapping and no list, with its path."""
    if not isinstance(value, Mapping | list):
        yield path, value
        return
    for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
        yield from leaves(item, f"{path}.{key}" if path else str(key))


def public_url(url: str) -> str:
    """The URL without login, query and fragment; what is no URL is masked as a whole."""
    try:
        urlsplit(url)
    except ValueError:
        return MASK
    return _LOGIN.sub(r"\1", re.split(r"[?#]", url, maxsplit=1)[0], count=1)


def secrets_in_url(url: str) -> Iterator[str]:
    """The password of a URL, and its login as a header holds it."""
    parts = urlsplit(url)
    if parts.password:
        login = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        yield from (parts.password, unquote(parts.password), b64encode(login.encode()).decode())


class Masker:
    """Masks exact values, in the forms in which JSON, URLs and messages write them.

    Args:
        secrets: The values; white space around them is no part of them.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        whole = {secret.strip() for secret in secrets if len(secret.strip()) >= SHORTEST_SECRET}
        forms = {form for secret in whole for form in _forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)  # a secret may begin like a shorter one
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def text(self, text: str) -> str:
        """The text with every secret masked."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def value(self, value: Any) -> Any:
        """A JSON value with every secret masked."""
        if self._pattern is None:
            return value
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        return self.text(value) if isinstance(value, str) else value


def _forms(secret: str) -> set[str]:
    encodable = secret.encode("utf-8", "surrogatepass")
    in_urls = {quote(encodable, safe=safe) for safe in ("", "/", "/:@!$&'()*+,;=")} | {quote_plus(encodable)}
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    twice = {json.dumps(form)[1:-1] for form in in_json}  # JSON within JSON
    host = {secret.lower()} if len(secret) >= 12 else set()
    lower = {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), form) for form in in_urls}
    return {secret, *in_urls, *lower, *in_json, *twice, *host}


def key_in(variable: str) -> str | None:
    """The key that an environment variable holds; None where it is unset or blank."""
    return os.environ.get(variable, "").strip() or None


def sendable_key(given: str | None, variable: str) -> str | None:
    """The key that was given, else that of the environment variable; None where there is neither.

    Raises:
        JudgeError: No header can hold it; the message does not show it.
    """
    key = (given or "").strip() or key_in(variable)
    if key is not None and not (key.isascii() and key.isprintable()):
        raise JudgeError("the judge's key cannot be sent: it is not printable ASCII", f"look at {variable}")
    return key


def secrets_in_environment() -> Iterator[str]:
    """Every secret that an SDK may take from the environment and send."""
    yield from filter(None, map(key_in, chain(*KEY_VARIABLES.values())))
    for line in (key_in("ANTHROPIC_CUSTOM_HEADERS") or "").split("\n"):
        name, _, value = (part.strip() for part in line.partition(":"))
        if is_credential(name) or looks_secret(value):
            yield from {value, value.rpartition(" ")[2]} if is_credential(name) else {value}


_known: set[str] = set()


def remember(secret: str) -> None:
    """Mask a value in every message of this process from now on."""
    if secret not in _known:
        _known.add(secret)
        EvalsError.mask = staticmethod(Masker(_known).text)


def masked(text: str) -> str:
    """The text without any value that was remembered."""
    return EvalsError.mask(text)
