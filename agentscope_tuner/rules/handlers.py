"""The table of kinds, as plain functions of a rule and a text; custom kinds are added to it.

A handler answers one question: does `value` violate `rule`? `rule` is the mapping as it stands in the configuration,
defaults not filled in. The engine sees to `target`, `not` and `action`: a handler never looks at them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentscope_tuner.rules.checks import CHECKS, Check

Handler = Callable[[dict[str, Any], str], bool]


def _handler(kind: str, compile_check: Callable[[dict[str, Any]], Check]) -> Handler:
    def handle(rule: dict[str, Any], value: str) -> bool:
        return compile_check(rule)(value)

    handle.__name__ = handle.__qualname__ = f"handle_{kind}"
    handle.__doc__ = compile_check.__doc__
    return handle


_BUILT_IN = {kind: _handler(kind, compile_check) for kind, compile_check in CHECKS.items()}

RULE_HANDLERS: dict[str, Handler] = dict(_BUILT_IN)
"""Every kind a rule may name. ``RULE_HANDLERS["my_kind"] = handler`` adds one; a custom kind checks its own parameters.

A handler takes ``(rule, value)`` and returns True for a violation."""


def is_built_in(kind: str) -> bool:
    """Whether `kind` is one of the eight and nobody has put a handler of their own in its place."""
    return kind in _BUILT_IN and RULE_HANDLERS[kind] is _BUILT_IN[kind]
