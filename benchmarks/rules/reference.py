"""The straightforward way: look at every rule anew for every output, and compile nothing ahead.

Written from the guide's words alone, with nothing from `agentscope_tuner.rules`: the yardstick of `speed.py`, which
also holds its verdicts against the engine's.
"""

from __future__ import annotations

import re
from typing import Any

CJK = ((0x3000, 0x9FFF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFFF), (0x20000, 0x3FFFF))
LETTERS = ((0x100, 0x1FFF), (0x2C00, 0x2FFF), (0xA000, 0xABFF), (0xFB00, 0xFDFF))


def check(rules: list[dict[str, Any]], output: str) -> list[str]:
    """The ids of the rules that `output` breaks."""
    return [rule["id"] for rule in rules if violates(rule, output) != rule.get("not", False)]


def violates(rule: dict[str, Any], text: str) -> bool:
    kind = rule["kind"]
    if kind == "max_tokens":
        return bool(count_tokens(text) > rule["max_tokens"])
    if kind == "max_chars":
        return bool(len(text) > rule["max_chars"])
    if kind == "non_empty":
        return text.strip() == ""
    if kind == "allowed_values":
        return (text.strip() if rule.get("trim", True) else text) not in rule["allowed_values"]
    fold = str.casefold if rule.get("ignore_case") else str
    if kind == "contains_any":
        return not any(fold(keyword) in fold(text) for keyword in rule["keywords"])
    if kind == "regex_match":
        flags = re.IGNORECASE if rule.get("ignore_case") else 0
        return re.search(rule["pattern"], text, flags) is None
    if kind == "starts_with":
        return not fold(text).startswith(fold(rule["prefix"]))
    if kind == "ends_with":
        return not fold(text).endswith(fold(rule["suffix"]))
    raise ValueError(f"unknown kind {kind!r}")


def count_tokens(text: str) -> int:
    """One token a CJK character, one a word of up to 32 characters and the space before it, one for four others."""
    tokens = others = run = 0
    space = False
    for char in text:
        if char in " \n.,;:!?'\"()-":
            others += 1
            run, space = 0, char == " "
            continue
        code = ord(char)
        if any(first <= code <= last for first, last in CJK):
            tokens += 1
            run = 0
        elif (code < 0x100 and (char.isalnum() or char == "_")) or any(
            first <= code <= last for first, last in LETTERS
        ):
            if run % 32 == 0:
                tokens += 1
                if run == 0 and space:
                    others -= 1
            run += 1
        else:
            others += 1
            run = 0
        space = False
    return tokens + others // 4
