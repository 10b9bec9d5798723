"""Model libraries at work without a word: the library of ours never writes to the terminal."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quietly() -> Iterator[None]:
    """Keep warnings and progress bars of model libraries from the terminal; a download on a terminal shows its bar."""
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def hush_transformers() -> None:
    """Turn off the log and the bars that `transformers` writes while it loads weights."""
    import transformers  # noqa: PLC0415 - seconds

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
