"""The agent's calculator. What it is given the policy wrote: nothing is handed to `eval`, and everything is bounded."""

from __future__ import annotations

import re

from agentscope_tuner.verify.countdown import MAX_CHARS, evaluate

_PLACES = 6


def calculator(expression: str) -> str:
    """Calculate exactly, with + - * / and parentheses.

    Args:
        expression: for example "12 * (3 + 4)"
    """
    if len(expression) > MAX_CHARS:
        return f"error: more than {MAX_CHARS} characters"
    if "[" in expression:
        return "error: write parentheses, not square brackets"
    # as people write numbers, and some write the result behind them already
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", expression.partition("=")[0])
    plain = re.sub(r"(\d+(?:\.\d+)?)\s*\\?%", r"(\1/100)", plain)
    try:
        value = evaluate(plain)
    except (ValueError, ZeroDivisionError) as exc:
        return f"error: {exc}"
    scaled = value * 10**_PLACES
    if value.denominator == 1 or scaled.denominator != 1:
        return str(value)
    whole, rest = divmod(abs(scaled.numerator), 10**_PLACES)
    return f"{'-' if value < 0 else ''}{whole}.{rest:0{_PLACES}d}".rstrip("0")
