"""A judge that refuses call after call for one and the same reason: nothing that is asked will ever pass."""

from evals.judges.backends.base import BackendError
from evals.judges.backends.failures import RejectedError
from evals.text.counts import counted

_HINT = "name another model, or a server that takes such requests; or measure everything else with --no-judge"
MOST = 8
"""So many calls in a row may be refused alike."""


class Rejections:
    """Counts the calls that were refused alike, with no other end of a call between them."""

    def __init__(self) -> None:
        self._message = ""
        self._count = 0

    def forget(self) -> None:
        """A call was answered: what is refused are single requests."""
        self._message, self._count = "", 0

    def count(self, error: BackendError) -> None:
        """Count a failed call.

        Raises:
            BackendError: A fatal one, where this was the last of too many that are alike.
        """
        if not isinstance(error, RejectedError):
            return
        message = str(error)
        self._count = self._count + 1 if message == self._message else 1
        self._message = message
        if self._count >= MOST:
            named = f", the field {error.field!r}" if error.field else ""
            raise BackendError(
                f"it refused {counted(MOST, 'call')} in a row for one reason{named}: {message}",
                fatal=True,
                hint=_HINT,
            )
