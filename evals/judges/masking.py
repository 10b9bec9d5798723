"""No key in what is said of a failed call: some servers repeat the one they refuse."""

import os
import re
from collections.abc import Iterable

from evals.client.redaction import MASK
from evals.judges.base import BackendError

VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")
"""Whose values are masked wherever they were sent; a gateway may see more than one."""
_LIKE_A_KEY = re.compile(r"(?<![A-Za-z0-9])sk-[\w*-]{9,}")
_SHORTEST = 4
"""What is shorter is no secret, and masking it would make words unreadable."""
_LONGEST_MESSAGE = 500


def without_keys(error: BackendError, keys: Iterable[str | None]) -> BackendError:
    """The same failure with a message that may be saved and shown: keys are masked, then it is cut.

    Args:
        error: The failure.
        keys: Those that were sent; the values of `VARIABLES` and all that looks like a key are masked too.
    """
    text = str(error).encode("utf-8", "replace").decode()
    given = {(key or "").strip() for key in (*keys, *map(os.environ.get, VARIABLES))}
    for key in sorted(given, key=len, reverse=True):  # a key may begin like a shorter one
        if len(key) >= _SHORTEST:
            text = text.replace(key, MASK)
    return BackendError(
        _LIKE_A_KEY.sub(MASK, text)[:_LONGEST_MESSAGE],
        retryable=error.retryable,
        fatal=error.fatal,
        retry_after_s=error.retry_after_s,
    )
