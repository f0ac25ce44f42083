"""Verifiers: text in, verdict out, without configuration. All are pure but the sandbox, which runs worker processes.

`re` stands here for the standard library's, but its patterns are compiled when they are first used: there are a
thousand, of which a verdict needs some, and to compile all of them took a third of the time of a first verdict.
"""

from __future__ import annotations

import re as _re
from typing import TYPE_CHECKING, Any


class CompiledPattern:
    """A pattern with the methods of the compiled one as attributes, so that to find them takes no longer than there.

    Attributes:
        pattern: the compiled one's, by which a match's `re` is known.
        flags: those that were given.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags


class LazyPattern(CompiledPattern):
    """What `re.compile` makes here. Its first use compiles it, and leaves a `CompiledPattern`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # what copies and pickles ask of an object that is not made yet
            raise AttributeError(name)
        compiled = _re.compile(self.pattern, self.flags)
        for method in ("search", "match", "fullmatch", "sub", "split", "findall", "finditer"):
            setattr(self, method, getattr(compiled, method))
        self.__class__ = CompiledPattern  # type: ignore[assignment]
        return getattr(compiled, name)


class _LazyRe:
    compile = LazyPattern

    def __getattr__(self, name: str) -> Any:
        found = getattr(_re, name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import re as re
else:
    re = _LazyRe()
