"""Two kinds of rule of our own: one with a parameter, one without."""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentscope_tuner.rules import RULE_HANDLERS


def handle_max_repeats(rule: dict[str, Any], value: str) -> bool:
    """No line stands in the text more than `max_repeats` times: small models like to loop."""
    lines = Counter(line.strip() for line in value.splitlines() if line.strip())
    return any(count > rule["max_repeats"] for count in lines.values())


def handle_balanced_brackets(rule: dict[str, Any], value: str) -> bool:
    """Every bracket is closed, and in the right order."""
    opened = []
    closes = {")": "(", "]": "[", "}": "{"}
    for char in value:
        if char in closes.values():
            opened.append(char)
        elif char in closes and (not opened or opened.pop() != closes[char]):
            return True
    return bool(opened)


RULE_HANDLERS["max_repeats"] = handle_max_repeats
RULE_HANDLERS["balanced_brackets"] = handle_balanced_brackets
