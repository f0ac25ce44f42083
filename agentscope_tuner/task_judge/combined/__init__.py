"""Judges that ask other judges: the small closed grammar of `when`, and in `settings` all else that they share.

Comparisons of named values, joined by and, or, not. Never evaluated as Python.

    when: 0.3 < score < 0.7
    when: correct.is_success and not (style.reward < 0.5 or length.reward == 0)
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from agentscope_tuner.errors import ConfigError, did_you_mean

#: The type of each name: `bool` names stand alone, `float` names are compared.
Known = Mapping[str, type]
Values = Mapping[str, float | bool]
_Test = Callable[[Values], bool | None]
_Number = Callable[[Values], float | None]

_TOKEN = re.compile(r"\s*(?:(<=|>=|==|!=|<|>|\(|\))|(\d+(?:\.\d*)?|\.\d+)|(-)|([^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*))")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_WORDS = ("and", "or", "not")
# A condition is one readable line; the bound also limits the parser's recursion
_MOST_CHARS = 500
_MOST_NESTED = 20


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition. It pickles as its text, which the other process parses again.

    Attributes:
        text: as it was configured.
        names: the names that it looks at.
    """

    text: str
    names: frozenset[str]
    _test: _Test
    _known: Known

    def holds(self, values: Values) -> bool | None:
        """Whether the condition holds for `values`; None where that depends on a missing value.

        This is Kleene's logic of three values: `not` of None is None, False and None is False, True or None is True.
        """
        return self._test(values)

    def __reduce__(self) -> tuple[object, ...]:
        return parse_condition, (self.text, dict(self._known), "when")


def parse_condition(text: str, known: Known, where: str) -> Condition:
    """Read a condition.

    Args:
        text: the condition.
        known: the names that it may use, and whether each is a `bool` or a `float`.
        where: the key that holds it, for messages.

    Raises:
        ConfigError: names the place, what stands there, and what may stand there.
    """
    if not isinstance(text, str) or not text.strip() or len(text) > _MOST_CHARS:
        raise ConfigError(f"{where}: must be a condition of at most {_MOST_CHARS} characters, got {text!r:.100}")
    reader = _Reader(text, known, where)
    test = reader.read()
    return Condition(text, frozenset(reader.names), test, dict(known))


class _Reader:
    def __init__(self, text: str, known: Known, where: str) -> None:
        self._text, self._known, self._where = text, known, where
        self._tokens = self._split()
        self._place = self._nested = 0
        self.names: set[str] = set()

    def _split(self) -> list[str]:
        tokens, end, text = [], 0, self._text.rstrip()
        while end < len(text):
            match = _TOKEN.match(text, end)
            if match is None:
                raise self._error(f"cannot read {text[end:].strip()[:30]!r}")
            tokens.append(match[match.lastindex or 0])
            end = match.end()
        return tokens

    def read(self) -> _Test:
        test = self._any()
        if self._next is not None:
            raise self._error(f"unexpected {self._next!r}")
        return test

    @property
    def _next(self) -> str | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _take(self, *wanted: str) -> bool:
        found = self._next in wanted
        self._place += found
        return found

    def _any(self) -> _Test:
        parts = [self._all()]
        while self._take("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else lambda values: _joined(True, parts, values)

    def _all(self) -> _Test:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else lambda values: _joined(False, parts, values)

    def _one(self) -> _Test:
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise self._error(f"it is nested more than {_MOST_NESTED} deep")
        test = self._deeper()
        self._nested -= 1
        return test

    def _deeper(self) -> _Test:
        if self._take("not"):
            denied = self._one()
            return lambda values: None if (held := denied(values)) is None else not held
        if self._take("("):
            inner = self._any()
            if not self._take(")"):
                raise self._error("a closing ) is missing")
            return inner
        name = self._next
        if name is not None and self._known.get(name) is bool:
            self._place += 1
            self.names.add(name)
            return lambda values: bool(values[name]) if name in values else None
        return self._comparison()

    def _comparison(self) -> _Test:
        sides, signs = [self._number()], list[Callable[[float, float], bool]]()
        while (sign := self._next) in _COMPARE:
            self._place += 1
            signs.append(_COMPARE[str(sign)])
            sides.append(self._number())
        if not signs:
            raise self._error(f"{self._tokens[self._place - 1]!r} is a number: compare it, as in 0.3 < score")
        links = [(sign, *pair) for sign, pair in zip(signs, pairwise(sides), strict=True)]
        compared: list[_Test] = [partial(_compared, *link) for link in links]
        return lambda values: _joined(False, compared, values)

    def _number(self) -> _Number:
        minus = self._take("-")
        token = self._next
        self._place += 1
        if token is not None and token[0] in ".0123456789":
            value = -float(token) if minus else float(token)
            return lambda values: value
        if minus or token is None or token in _WORDS or token in _COMPARE or token in "()":
            raise self._error(f"a value is missing before {token!r}" if token else "it ends too early")
        if token not in self._known:
            hint = did_you_mean(token, self._known)
            known = ", ".join(sorted(self._known)) or "none"
            raise self._error(f"unknown name {token!r} ({hint}known are {known})")
        if self._known[token] is bool:
            raise self._error(f"{token!r} is true or false: it stands alone, or after not")
        self.names.add(token)
        return lambda values: float(values[token]) if token in values else None

    def _error(self, what: str) -> ConfigError:
        return ConfigError(
            f"{self._where}: {what} in {self._text!r}; a condition compares names and numbers (<, <=, >, >=, ==, !=) "
            "and joins them with and, or, not and brackets"
        )


def _joined(decisive: bool, tests: Sequence[_Test], values: Values) -> bool | None:
    """The value of an `or` (`decisive` is True) or an `and` (False): a single test with the decisive value decides."""
    held = [test(values) for test in tests]
    if decisive in held:
        return decisive
    return None if None in held else not decisive


def _compared(sign: Callable[[float, float], bool], left: _Number, right: _Number, values: Values) -> bool | None:
    first, second = left(values), right(values)
    return None if first is None or second is None else sign(first, second)
