"""The conditions under `when`: a small closed grammar.

Comparisons of named values, joined by and, or, not. Python's parser reads them, and nothing else of Python is taken.

    when: 0.3 < score < 0.7
    when: correct.is_success and not (style.reward < 0.5 or length.reward == 0)
"""

from __future__ import annotations

import ast
import operator
import re
import sys
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

# A name, such as my-part.reward; not the e3 of 1e3
_NAME = re.compile(r"(?<![\w.])[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*")
_STANDS_FOR_NAME = re.compile(r"_(\d+)")
_COMPARE: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_WORDS = ("and", "or", "not")
# A condition is one readable line; the bounds also limit the recursion
_MOST_CHARS, _MOST_BRACKETS = 500, 50


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
    if not isinstance(text, str) or not text.strip() or len(text) > _MOST_CHARS or text.count("(") > _MOST_BRACKETS:
        bounds = f"{_MOST_CHARS} characters and {_MOST_BRACKETS} brackets"
        raise ConfigError(f"{where}: must be a condition of at most {bounds}, got {text!r:.100}")
    reader = _Reader(text, known, where)
    return Condition(text, frozenset(reader.names), reader.read(), dict(known))


class _Reader:
    def __init__(self, text: str, known: Known, where: str) -> None:
        self._text, self._known, self._where = text, known, where
        self.names: list[str] = []
        # Names such as my-part.reward are none of Python's, so the parser is given each as _0, _1 …
        self._source = _NAME.sub(self._numbered, " ".join(text.split()))

    def _numbered(self, found: re.Match[str]) -> str:
        if (name := found[0]) in _WORDS:
            return name
        if name not in self._known:
            hint = did_you_mean(name, self._known)
            known = ", ".join(sorted(self._known)) or "none"
            raise self._error(f"unknown name {name!r} ({hint}known are {known})")
        self.names.append(name)
        return f"_{len(self.names) - 1}"

    def read(self) -> _Test:
        # Python would skip everything behind a `#`, and has an error of its own for the null character
        if found := {"#", "\0"}.intersection(self._source):
            raise self._error(f"cannot read {found.pop()!r}")
        try:
            return self._test(ast.parse(self._source, mode="eval").body)
        except SyntaxError as exc:
            near = self._with_names(self._source[(exc.offset or 1) - 1 :])[:30]
            raise self._error(f"cannot read {near or self._text[:30]!r}: {self._with_names(exc.msg)}") from exc

    def _test(self, node: ast.expr) -> _Test:
        if isinstance(node, ast.BoolOp):
            decisive, parts = isinstance(node.op, ast.Or), list(map(self._test, node.values))
            return lambda values: _joined(decisive, parts, values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            denied = self._test(node.operand)
            return lambda values: None if (held := denied(values)) is None else not held
        if isinstance(node, ast.Compare) and all(type(sign) in _COMPARE for sign in node.ops):
            sides = pairwise(map(self._number, (node.left, *node.comparators)))
            links = zip(node.ops, sides, strict=True)
            compared: list[_Test] = [partial(_compared, _COMPARE[type(sign)], *pair) for sign, pair in links]
            return lambda values: _joined(False, compared, values)
        if (name := self._name(node)) is not None and self._known[name] is bool:
            return lambda values: bool(values[name]) if name in values else None
        self._number(node)
        raise self._error(f"{self._said(node)!r} is a number: compare it, as in 0.3 < score")

    def _number(self, node: ast.expr) -> _Number:
        if (name := self._name(node)) is not None and self._known[name] is bool:
            raise self._error(f"{name!r} is true or false: it stands alone, or after not")
        if name is not None:
            return lambda values: float(values[name]) if name in values else None
        minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        given = node.operand if isinstance(node, ast.UnaryOp) and minus else node
        number = given.value if isinstance(given, ast.Constant) else None
        if not isinstance(number, int | float) or abs(number) > sys.float_info.max:
            raise self._error(f"cannot read {self._said(node)!r}")
        value = -float(number) if minus else float(number)
        return lambda values: value

    def _name(self, node: ast.expr) -> str | None:
        return self._with_names(node.id) if isinstance(node, ast.Name) else None

    def _said(self, node: ast.expr) -> str:
        return self._with_names(ast.get_source_segment(self._source, node) or "")

    def _with_names(self, text: str) -> str:
        """Text of the parsed source with the user's names put back: `_0 > 0.5` becomes `style > 0.5`."""
        return _STANDS_FOR_NAME.sub(lambda found: self.names[int(found[1])], text)

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
