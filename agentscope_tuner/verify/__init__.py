"""Verifiers: text in, verdict out, without configuration. All are pure but the sandbox, which runs worker processes.

`re` stands here for the standard library's, but its patterns are compiled when they are first used: there are a
thousand, of which a verdict needs some, and to compile all of them took a third of the time of a first verdict.
"""

from __future__ import annotations

import re as _re
from typing import TYPE_CHECKING, Any


class _Pattern:
    """What `re.compile` makes here.

    Attributes:
        pattern: the compiled one's, by which a match's `re` is known.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # kept as attributes, so that what is used again takes no longer than on a compiled pattern
        found = _re.compile(self.pattern, self._flags) if name == "_compiled" else getattr(self._compiled, name)
        setattr(self, name, found)
        return found


class _Patterns:
    compile = _Pattern

    def __getattr__(self, name: str) -> Any:
        found = getattr(_re, name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import re as re
else:
    re = _Patterns()
