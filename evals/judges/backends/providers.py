"""The providers of judges.

To add one: a backend in a file of its own (a subclass of `SdkBackend` where the vendor has an SDK of this kind), an
entry in `PROVIDERS`, and the variables of its key in `evals/secrets.py`.

By the vendors' own SDKs and not by `litellm`: only their errors tell whether a failed call may have to be paid for.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from evals.judges.backends import openai as openai_backend
from evals.judges.backends.anthropic import AnthropicBackend
from evals.judges.backends.base import Backend
from evals.judges.backends.openai import OpenAIBackend
from evals.secrets import KEY_VARIABLES, key_in


@dataclass(frozen=True, slots=True)
class Provider:
    """A vendor whose API reaches a judge.

    Attributes:
        make: Makes the backend of a model, at a `base_url`, with an `effort`.
        home: The vendor's own address.
        key_variables: A key is in any of these environment variables; messages name the first.
        address_variable: Environment variable with another address.
        prices: The vendor in the table of genai-prices.
        efforts: How hard its models can be told to think, from least to most.
        imitated: Whether others serve the same API. At their addresses no key is required, and the vendor's prices do
            not hold, whatever the model is called.
    """

    make: Callable[..., Backend]
    home: str
    key_variables: tuple[str, ...]
    address_variable: str
    prices: str
    efforts: tuple[str, ...]
    imitated: bool = False

    def address(self, base_url: str | None) -> str:
        """Where the judge is: the configured address, else the environment's, else the vendor's."""
        return base_url or os.environ.get(self.address_variable) or self.home

    def lacks_key(self, base_url: str | None) -> bool:
        """Whether a key is needed and none is there."""
        return self._is_vendors(base_url) and not any(map(key_in, self.key_variables))

    def price_table(self, base_url: str | None) -> str | None:
        """Whose prices hold at the address; None if unknown."""
        return self.prices if self._is_vendors(base_url) else None

    def _is_vendors(self, base_url: str | None) -> bool:
        """Whether it is the vendor, or a gateway to it, that is reached."""
        home, host = urlsplit(self.home).hostname, urlsplit(self.address(base_url)).hostname or ""
        return not self.imitated or f".{host}".endswith(f".{home}")


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        make=AnthropicBackend,
        home="https://api.anthropic.com",
        key_variables=KEY_VARIABLES["anthropic"],
        address_variable="ANTHROPIC_BASE_URL",
        prices="anthropic",
        efforts=("low", "medium", "high", "xhigh", "max"),
    ),
    "openai": Provider(
        make=OpenAIBackend,
        home=openai_backend.HOME,
        key_variables=KEY_VARIABLES["openai"],
        address_variable="OPENAI_BASE_URL",
        prices="openai",
        efforts=("none", "minimal", "low", "medium", "high", "xhigh"),
        imitated=True,
    ),
}
"""By the name that `judge.provider` and the prefix of a model give."""


def split_model(model: str) -> tuple[str | None, str]:
    """Provider and name of a model written as `provider:model`; a colon after anything else belongs to the name."""
    prefix, colon, name = model.partition(":")
    return (prefix, name) if colon and prefix in PROVIDERS else (None, model)
