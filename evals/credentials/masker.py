"""Known secrets, found in every form in which a text may hold them."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from evals.credentials.stored import MASK

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
        stripped = {secret.strip() for secret in secrets}
        known = {form for secret in stripped if len(secret) >= SHORTEST_SECRET for form in _forms(secret)}
        self._secrets = sorted(known, key=len, reverse=True)  # a secret may begin like a shorter one
        odd = sorted((secret for secret in stripped if len(secret) >= SHORTEST_SECRET), key=len, reverse=True)
        self._encoded = [re.compile(_pattern(secret)) for secret in odd if not _PLAIN.fullmatch(secret)]

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


def _pattern(secret: str) -> str:
    """A pattern of the secret in a URL, where libraries differ in what they encode, and in JSON inside JSON."""
    return "".join(map(_sign_pattern, secret))


def _sign_pattern(sign: str) -> str:
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
