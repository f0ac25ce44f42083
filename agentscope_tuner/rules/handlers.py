"""The eight kinds as plain functions of a rule and a text, and the table that custom kinds are added to.

A handler answers one question: does `value` violate `rule`? `rule` is the mapping as it stands in the configuration,
defaults not filled in. The engine sees to `target`, `not` and `action`: a handler never looks at them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import regex

from agentscope_tuner.rules.exact_tokens import exceeds_exactly
from agentscope_tuner.rules.folding import fold
from agentscope_tuner.rules.tokens import exceeds_tokens

Handler = Callable[[dict[str, Any], str], bool]


def search_seconds(text: str) -> float:
    """The CPU time that one search in `text` may take, in seconds: 50 ms, and 1 µs more for each character.

    An honest pattern needs a tenth of that on long texts and next to nothing on short ones; a runaway one would need
    years.
    """
    return 0.05 + 1e-6 * len(text)


def is_found(search: Callable[..., object], text: str) -> bool:
    """Whether a compiled pattern's `search` finds anything in `text`, within about `search_seconds`.

    The `regex` library counts the CPU time of the whole process. A search that ran out of half the limit is therefore
    tried again while this thread's own time is measured, and with more where other threads burnt most of it: a busy
    trainer does not turn honest patterns into failures.

    Raises:
        TimeoutError: this thread has searched for too long, or the process is too busy to tell.
    """
    limit = search_seconds(text)
    started: float | None = None  # measured from the second try on: asking the clock costs as much as a search
    for share in (0.5, 0.5, 2, 8):
        try:
            return search(text, timeout=share * limit, concurrent=True) is not None
        except TimeoutError:
            if started is None:
                started = time.thread_time()
            elif time.thread_time() - started > 0.4 * limit:
                raise
    raise TimeoutError("regex timed out while other threads kept the process busy")


def compile_pattern(pattern: str, ignore_case: bool) -> regex.Pattern[str]:
    """The compiled pattern; `ignore_case` uses full case folding, in which ``ß`` matches ``SS``.

    Raises:
        regex.error: the pattern does not compile.
    """
    return regex.compile(pattern, regex.IGNORECASE | regex.FULLCASE if ignore_case else 0)


def handle_max_tokens(rule: dict[str, Any], value: str) -> bool:
    """More than `max_tokens` tokens: estimated (see `tokens`), or exact where `tokenizer` names an encoding."""
    if "tokenizer" in rule:
        return exceeds_exactly(value, rule["max_tokens"], rule["tokenizer"])
    return exceeds_tokens(value, rule["max_tokens"])


def handle_max_chars(rule: dict[str, Any], value: str) -> bool:
    """More than `max_chars` characters (Unicode code points)."""
    return len(value) > int(rule["max_chars"])


def handle_non_empty(rule: dict[str, Any], value: str) -> bool:
    """Nothing is left once white space is stripped."""
    return not value.strip()


def handle_allowed_values(rule: dict[str, Any], value: str) -> bool:
    """Not one of `allowed_values`; white space around the text is ignored unless `trim` is false."""
    text = value.strip() if rule.get("trim", True) else value
    return text not in rule["allowed_values"]


def handle_contains_any(rule: dict[str, Any], value: str) -> bool:
    """None of `keywords` is in the text."""
    if rule.get("ignore_case", False):
        folded = fold(value)
        return not any(fold(keyword) in folded for keyword in rule["keywords"])
    return not any(keyword in value for keyword in rule["keywords"])


def handle_regex_match(rule: dict[str, Any], value: str) -> bool:
    """`pattern` is found nowhere in the text.

    Raises:
        TimeoutError: the search took longer than `search_seconds` allows.
    """
    pattern = compile_pattern(rule["pattern"], rule.get("ignore_case", False))
    return not is_found(pattern.search, value)


def handle_starts_with(rule: dict[str, Any], value: str) -> bool:
    """The text does not start with `prefix`."""
    if rule.get("ignore_case", False):
        return not fold(value).startswith(fold(rule["prefix"]))
    return not value.startswith(rule["prefix"])


def handle_ends_with(rule: dict[str, Any], value: str) -> bool:
    """The text does not end with `suffix`."""
    if rule.get("ignore_case", False):
        return not fold(value).endswith(fold(rule["suffix"]))
    return not value.endswith(rule["suffix"])


RULE_HANDLERS: dict[str, Handler] = {
    "max_tokens": handle_max_tokens,
    "max_chars": handle_max_chars,
    "non_empty": handle_non_empty,
    "allowed_values": handle_allowed_values,
    "contains_any": handle_contains_any,
    "regex_match": handle_regex_match,
    "starts_with": handle_starts_with,
    "ends_with": handle_ends_with,
}
"""Every kind a rule may name. ``RULE_HANDLERS["my_kind"] = handler`` adds one; a custom kind checks its own parameters.

A handler takes ``(rule, value)`` and returns True for a violation."""
