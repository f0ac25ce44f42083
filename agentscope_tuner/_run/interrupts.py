"""Where an interrupt is raised: a signal comes between any two steps of the main thread, also where a verdict that was
paid for has left one hand and is not in the other yet. While interrupts are `held` they are raised only where they are
`welcome`: in a wait, or in work that loses nothing by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class _Interrupts:
    """The interrupts of the main thread. The signals' handler runs in it, too, so there is nothing to lock."""

    def __init__(self) -> None:
        self.held = self.open = self.pending = False

    def come(self) -> None:
        """An interrupt has come.

        Raises:
            KeyboardInterrupt: it is not held, or is welcome here; else the next place that welcomes it raises it.
        """
        self.pending = self.held and not self.open
        if not self.pending:
            self.open = False
            raise KeyboardInterrupt


_interrupts = _Interrupts()
#: For a signal's handler.
come = _interrupts.come


@contextmanager
def held() -> Iterator[None]:
    """Raise KeyboardInterrupt in this block only where it is welcome, or behind it. For the main thread."""
    _interrupts.held = True
    try:
        yield
    finally:
        _interrupts.held = False
        came, _interrupts.pending = _interrupts.pending, False
    if came:
        raise KeyboardInterrupt


class _Welcome:
    """A block in which an interrupt is raised, the one that has come before it, too. Its result may be lost."""

    def __enter__(self) -> None:
        if _interrupts.held:
            _interrupts.open = True
            if _interrupts.pending:
                _interrupts.open = _interrupts.pending = False
                raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        _interrupts.open = False


welcome = _Welcome()


class Interruptible(Generic[T]):
    """Iterates `items`, and welcomes interrupts while the next one is awaited."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items

    def __iter__(self) -> Interruptible[T]:
        return self

    def __next__(self) -> T:
        with welcome:
            return next(self._items)
