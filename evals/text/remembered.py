"""Remembering what was derived of texts, within a bound of characters instead of a number of texts.

`functools.lru_cache` counts its entries: of eight thousand short answers it takes little, of as many passages hundreds
of megabytes.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Generic, TypeVar

T = TypeVar("T")
_OF_EACH = 64
"""Characters that a text counts for beside its own: an entry takes its place, however short the text."""


class Remembered(dict[str, T], Generic[T]):
    """A function of a text that remembers its results.

    There are two generations: when the young one is full the old one is dropped, and the young one grows old; what is
    asked for again becomes young again. Of texts that are too long for that the last is remembered: the metrics of an
    answer ask for it one after the other. Threads may use it at once: the worst is that something is derived twice.

    It is the dictionary of its young generation, so that what is remembered is found without a step of Python's.

    Args:
        function: Gives the same for the same text.
        characters: As many characters of texts are remembered at most, counting 64 for each text beside its own.
    """

    def __init__(self, function: Callable[[str], T], characters: int) -> None:
        super().__init__()
        update_wrapper(self, function)
        self.function = function
        self._most = characters // 2
        self._left = self._most
        self._old: dict[str, T] = {}
        self._too_long: dict[str, T] = {}

    if TYPE_CHECKING:

        def __call__(self, text: str) -> T:
            """The result, derived or remembered."""
    else:
        __call__ = dict.__getitem__

    def __missing__(self, text: str) -> T:
        known = self._old if text in self._old else self._too_long
        result = known[text] if text in known else self.function(text)
        size = len(text) + _OF_EACH
        if size > self._left:
            if size > self._most:
                self._too_long = {text: result}
                return result
            self._old, self._left = dict(self), self._most
            super().clear()
        self[text] = result
        self._left -= size
        return result

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self._old, self._too_long, self._left = {}, {}, self._most

    @property
    def characters(self) -> int:
        """How many characters are remembered now, counting as the bound does, without a text beyond it."""
        return sum(len(text) + _OF_EACH for kept in (self, self._old) for text in kept)


def remembered(characters: int) -> Callable[[Callable[[str], T]], Remembered[T]]:
    """Decorate a function of a text: so many characters of texts are remembered with their results."""
    return lambda function: Remembered(function, characters)
