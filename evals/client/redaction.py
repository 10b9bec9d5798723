"""No credential reaches a file or a message."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from evals.client.spec import ServerSpec

MAX_RAW_CHARS = 256 * 1024
_SHORTEST_SECRET = 4
MASK = "***"
_SECRET_HEADERS = ("authorization", "key", "token", "secret", "cookie", "password")


def without_credentials(server: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a server as they may be stored: no login in the URL, no secret header or parameter in clear.

    What is written as ${NAME} stays as written.
    """
    stored: dict[str, Any] = {}
    for key, value in server.items():
        if isinstance(value, Mapping):
            stored[key] = without_credentials(value)
        elif key == "url" and isinstance(value, str) and "${" not in value:
            stored[key] = public_url(value)
        elif isinstance(value, str) and _is_secret(key) and "${" not in value:
            stored[key] = MASK
        else:
            stored[key] = value
    return stored


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in _SECRET_HEADERS)


def public_url(url: str) -> str:
    """The URL without user, password, query and fragment; what is no URL is masked as a whole."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return MASK


class Redactor:
    """Masks the values that came from the environment, credential headers and the URL's password.

    Args:
        secrets: Values to mask.
        spec: The server, with the environment's values filled in.
    """

    def __init__(self, secrets: Iterable[str], spec: ServerSpec) -> None:
        found = set(secrets)
        for name, value in {**spec.headers, **spec.ask.headers}.items():
            if _is_secret(name):
                found.update((value, value.rpartition(" ")[2]))
        parts = urlsplit(spec.url)
        if parts.password:
            login = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
            found.update((parts.password, unquote(parts.password), b64encode(login.encode()).decode()))
        known = {form for secret in found if len(secret.strip()) >= _SHORTEST_SECRET for form in _forms(secret.strip())}
        self._secrets = sorted(known, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text with every secret masked."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text

    def body(self, body: bytes) -> str:
        """A received body as text: masked, and cut at a bound that is said at its end."""
        text = self.text(body.decode("utf-8", "replace"))
        if len(text) > MAX_RAW_CHARS:
            return f"{text[:MAX_RAW_CHARS]}… [cut: {len(text):,} characters]"
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


def _forms(secret: str) -> tuple[str, ...]:
    """The secret as it is, and as it stands in JSON and in a URL."""
    return secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")
