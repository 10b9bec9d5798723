"""The secrets that this process took from its environment, for messages that nobody masks on their way.

The masks of a client or a judge know what these send. An error may be about a value before there is a client: so every
`EvalsError` passes here, and so does what is printed of a bug.
"""

from evals.errors import EvalsError

_known: set[str] = set()


def remember(secret: str) -> None:
    """Mask a value in every message from now on."""
    if secret not in _known:
        from evals.credentials.masker import Masker  # noqa: PLC0415 - what reads no secret, as --help, need not wait

        _known.add(secret)
        EvalsError.mask = staticmethod(Masker(_known).text)


def masked(text: str) -> str:
    """The text without any value that was remembered."""
    return EvalsError.mask(text)
