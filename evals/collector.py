"""The cyclic collector at work on many records."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (20_000, 20, 100)


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Let the cyclic collector run seldom: records hold no cycles, and it walks over all of them each time.

    It still runs, so cycles of other code are freed. What was set before is set again afterwards.
    """
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
