"""Headers as they were given: what is sent, and what may be written of it."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evals.credentials.known import remember
from evals.errors import ConfigError
from evals.inputs.yaml_layers import VARIABLE, expand_env

_SCHEME = re.compile(r"(Bearer|Basic|Token|ApiKey|Digest|Key)\s+(\S.*)", re.IGNORECASE)
_OPEN = frozenset({"accept", "content-type", "accept-language", "user-agent"})


@dataclass(slots=True)
class Headers:
    """The headers of a probe.

    Attributes:
        sent: With their values.
        written: As they stand in a configuration: each value is a ${NAME}.
        variables: The names to export, which are not set yet.
        secrets: Values that are nowhere printed.
    """

    sent: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)


def read_headers(given: Iterable[str], environ: Mapping[str, str] | None = None) -> Headers:
    """Read headers such as `X-API-Key: abc`, and remember their values as secrets.

    Raises:
        ConfigError: One has no colon, or names a variable that is not set; the message does not hold its value.
    """
    headers = Headers()
    for header in given:
        name, colon, value = header.partition(":")
        if not colon or not name.strip() or not value.strip():
            raise ConfigError("a header is not of a name and a value", 'write --header "Name: value"')
        _add(headers, name.strip(), value.strip(), os.environ if environ is None else environ)
    for secret in headers.secrets:
        remember(secret)
    return headers


def _add(headers: Headers, name: str, value: str, environ: Mapping[str, str]) -> None:
    if VARIABLE.search(value):
        headers.written[name] = value
        headers.sent[name] = expand_env(value, headers.secrets, environ)
        headers.secrets.add(headers.sent[name])
        return
    headers.sent[name] = value
    if name.lower() in _OPEN:
        headers.written[name] = value
        return
    scheme = _SCHEME.fullmatch(value)
    secret = scheme[2] if scheme else value
    variable = re.sub(r"\W", "_", name).upper() if name.lower() != "authorization" else "RAG_TOKEN"
    headers.written[name] = f"{scheme[1]} ${{{variable}}}" if scheme else f"${{{variable}}}"
    headers.variables.append(variable)
    headers.secrets |= {value, secret}
