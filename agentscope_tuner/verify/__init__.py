"""Verifiers: text in, verdict out, without configuration. All are pure but the sandbox, which runs worker processes.

`re` stands here for the standard library's, but its patterns are compiled when they are first used: there are a
thousand, of which a verdict needs some, and to compile all of them took a third of the time of a first verdict.
"""

from __future__ import annotations

import re as _re
from typing import TYPE_CHECKING, Any


class CompiledPattern:
    """A `LazyPattern` after its first use: the compiled pattern's methods are its attributes, so calls are as fast.

    Attributes:
        pattern: the text of the pattern, as a compiled pattern has it.
        flags: the flags that were given.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags


class LazyPattern(CompiledPattern):
    """A pattern, made by this package's `re.compile`, that is compiled when it is first used.

    It then becomes a `CompiledPattern`.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # `copy` and `pickle` look for these on an object that has no attributes yet
            raise AttributeError(name)
        compiled = _re.compile(self.pattern, self.flags)
        for method in ("search", "match", "fullmatch", "sub", "split", "findall", "finditer"):
            setattr(self, method, getattr(compiled, method))
        self.__class__ = CompiledPattern  # type: ignore[assignment]
        return getattr(compiled, name)


class _LazyRe:
    """The standard library's `re`, but with a `compile` that makes lazy patterns."""

    compile = LazyPattern

    def __getattr__(self, name: str) -> Any:
        found = getattr(_re, name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import re as re
else:
    re = _LazyRe()
