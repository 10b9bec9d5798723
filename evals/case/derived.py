"""What is derived once of the thing it belongs to."""

from functools import cached_property
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class derived(cached_property[T]):  # noqa: N801 - it is used as `cached_property` is
    """`functools.cached_property` without its lock, which takes longer than most of what is derived.

    Python has none there from 3.12 on. Where two threads are the first to ask, it is derived twice.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        value = self.func(instance)
        instance.__dict__[self.func.__name__] = value
        return value
