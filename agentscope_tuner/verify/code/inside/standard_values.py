"""Values of the standard library that are as good as plain data: they travel by what makes them. So do the signatures
and annotations of a program.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import importlib
import sys
import typing
from collections.abc import Callable
from typing import Any

from agentscope_tuner.verify.code.inside.code_values import pack, unpack

_MOST_HINT = 1000
# By module and class: what the class, or a function of the module, is called with
_KINDS: dict[tuple[str, str], tuple[str, Callable[[Any], list[object]]]] = {
    ("uuid", "UUID"): ("UUID", lambda value: [str(value)]),
    ("re", "Pattern"): ("compile", lambda value: [value.pattern, value.flags]),
    ("datetime", "timezone"): ("timezone", lambda value: [*value.__getinitargs__()]),
    ("zoneinfo", "ZoneInfo"): ("ZoneInfo", lambda value: [value.key]),
    **{
        ("ipaddress", name): (name, lambda value: [str(value)])
        for kind in ("Address", "Network", "Interface")
        for name in (f"IPv4{kind}", f"IPv6{kind}")
    },
}


def packed(value: object) -> object:
    """The value as JSON; None if it is no such value, or of a class built on one."""
    own = (type(value).__module__, type(value).__name__)
    # a class may call itself anything
    if own not in _KINDS or getattr(sys.modules.get(own[0]), own[1], None) is not type(value):
        return None
    return {"st": [*own, pack(_KINDS[own][1](value))]}


def unpacked(told: Any) -> object:
    """The value of such JSON."""
    home, name, arguments = told["st"]
    make = getattr(importlib.import_module(home), _KINDS[home, name][0])
    return make(*unpack(arguments))  # type: ignore[misc]


def signature_told(one: Any) -> list[object]:
    """The parameters of a function or a class, and the annotation of its result; each part as a list or a text."""
    # slow to import, and few tests ask
    import inspect

    own = inspect.signature(one)
    parameters = [
        [part.name, int(part.kind), [] if part.default is part.empty else [part.default], hint_told(part.annotation)]
        for part in own.parameters.values()
    ]
    return [*parameters, hint_told(own.return_annotation)]


def signature(told: list[Any]) -> Any:
    """The signature of which that was told."""
    import inspect

    *parameters, result = told
    nothing = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                name, inspect._ParameterKind(kind), default=default[0] if default else nothing, annotation=hint(part)
            )
            for name, kind, default, part in parameters
        ],
        return_annotation=hint(result),
    )


def hint_told(annotation: object) -> list[str]:
    """The source of an annotation, alone; nothing for none."""
    if isinstance(annotation, str) or annotation is None:
        return [repr(annotation)]
    if getattr(annotation, "__module__", "") == "inspect":
        return []
    is_class = isinstance(annotation, type) and not hasattr(annotation, "__origin__")
    return [annotation.__name__ if is_class else repr(annotation)]  # type: ignore[attr-defined]


class _Hint:
    """An annotation that is text. It is no `str`: `typing.get_type_hints` would run the program's text here."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __eq__(self, other: object) -> bool:
        return self._text == (other._text if isinstance(other, _Hint) else other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return repr(self._text)


def hint(told: list[str]) -> object:
    """An annotation, from its source; what names more than types is text."""
    if not told:
        import inspect

        return inspect.Parameter.empty
    source = str(told[0])[:_MOST_HINT]
    try:
        node = ast.parse(source, mode="eval").body
        return _Hint(node.value) if isinstance(node, ast.Constant) and type(node.value) is str else _typed(node)
    except Exception:  # noqa: BLE001 - the program's text
        return _Hint(source)


def _typed(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and node.value in (None, Ellipsis):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [*map(_typed, node.elts)] if isinstance(node, ast.List) else tuple(map(_typed, node.elts))
    if isinstance(node, ast.Subscript):
        return _typed(node.value)[_typed(node.slice)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _typed(node.left) | _typed(node.right)
    home, _, name = ast.unparse(node).rpartition(".")
    found = getattr({"": builtins, "typing": typing, "collections.abc": collections.abc}[home], name)
    if not (isinstance(found, type) or home == "typing"):
        raise TypeError(name)
    return found
