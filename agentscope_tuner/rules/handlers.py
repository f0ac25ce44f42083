"""The table of kinds, `RULE_HANDLERS`. Each kind is a plain function of a rule and a text; users add their own kinds.

A handler answers one question: does `value` violate `rule`? `rule` is the mapping from the configuration, without
defaults for omitted parameters. `RuleSet` applies `target`, `not` and `action`, so a handler need not read them.
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
"""The handler of every kind that a rule may name. ``RULE_HANDLERS["my_kind"] = handler`` adds a kind.

A handler takes ``(rule, value)`` and returns True for a violation. A custom handler checks its own parameters."""


def is_built_in(kind: str) -> bool:
    """Whether `kind` is one of the eight built-in kinds, and its handler has not been replaced."""
    return kind in _BUILT_IN and RULE_HANDLERS[kind] is _BUILT_IN[kind]
