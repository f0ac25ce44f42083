"""A property that is computed once, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Owner = TypeVar("Owner")
T = TypeVar("T")


class Kept(Generic[Owner, T]):
    """A property that is computed at its first use, and then kept in the instance's `__dict__`.

    Python 3.11's `functools.cached_property` holds a lock: a process that is forked while another thread computes the
    property would wait for that lock for ever.
    """

    def __init__(self, compute: Callable[[Owner], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Owner, kind: type[Owner] | None = None) -> T:
        value = self._compute(owner)
        owner.__dict__[self._name] = value
        return value
