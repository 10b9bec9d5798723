"""Remembering what was made of texts, in bounded memory.

`functools.lru_cache` counts entries, and what is made of a text takes many times the text: eight thousand chunks of a
kilobyte are hundreds of megabytes of tokens. Here the characters of the texts are counted.
"""

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar

T = TypeVar("T")
_ENTRY = 64
"""Characters that an entry counts for beside its text."""


def remembered(most_characters: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Remember what a function of a text returned for the texts that were new last.

    Args:
        most_characters: Of all texts that are remembered together; a longer one is not remembered.
    """

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        known: dict[str, T] = {}
        lock, held = Lock(), 0

        def keep(text: str, found: T) -> None:
            nonlocal held
            with lock:
                if text not in known:
                    known[text] = found
                    held += len(text) + _ENTRY
                while held > most_characters:
                    oldest = next(iter(known))
                    del known[oldest]
                    held -= len(oldest) + _ENTRY

        @wraps(function)
        def remembering(text: str) -> T:
            try:
                return known[text]
            except KeyError:
                found = function(text)
                keep(text, found)
                return found

        return remembering

    return decorate
