"""The keys of judges: where they are, and that they can be sent."""

import os
from collections.abc import Iterator, Mapping

from evals.credentials.masker import looks_secret
from evals.credentials.stored import is_credential
from evals.errors import JudgeError

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
