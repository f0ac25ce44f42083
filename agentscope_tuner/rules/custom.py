"""Finds the parameters that a custom kind reads, from the source of its handler."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any


def parameters_read(handler: Callable[..., Any]) -> frozenset[str] | None:
    """All keys of its rule that `handler` reads, or None if its source does not show them for certain.

    They are certain for a plain function that uses its rule only as `rule["key"]`, `rule.get("key", …)` and
    `"key" in rule`. A function that passes its rule on, loops over it, or is wrapped may read any key.
    """
    if not inspect.isfunction(handler) or hasattr(handler, "__wrapped__"):
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(handler)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    function = tree.body[0] if len(tree.body) == 1 else None
    if not isinstance(function, ast.FunctionDef) or not function.args.args or function.decorator_list:
        return None
    rule = function.args.args[0].arg
    keys = set()
    uses = {id(node) for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == rule}
    rebound = sum(
        arg.arg == rule for node in ast.walk(function) if isinstance(node, ast.arguments) for arg in _all(node)
    )
    for node in ast.walk(function):
        found = _key_read(node, rule)
        if found is not None:
            name, key = found
            uses.discard(id(name))
            keys.add(key)
    return frozenset(keys) if not uses and rebound == 1 else None


def _all(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None)


def _key_read(node: ast.AST, rule: str) -> tuple[ast.Name, str] | None:
    """The node that names the rule, and the key, if `node` reads one key of the rule."""
    match node:
        case ast.Subscript(value=ast.Name(id=name) as use, slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            pass
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name) as use, attr="get"), args=[ast.Constant(str(key)), *_]
        ):
            pass
        case ast.Compare(
            left=ast.Constant(str(key)), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name) as use]
        ):
            pass
        case _:
            return None
    return (use, key) if name == rule else None
