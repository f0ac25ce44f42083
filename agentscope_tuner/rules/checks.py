"""Each built-in kind compiled once: a closure over everything that does not depend on the text.

A check must agree with the handler of its kind on every text; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .folding import fold, has_no_case
from .handlers import compile_pattern, handle_max_tokens, search_seconds
from .tokens import exceeds_tokens

Check = Callable[[str], bool]
"""True when the text violates the rule."""


def max_tokens(rule: dict[str, Any]) -> Check:
    if "tokenizer" in rule:
        return lambda text: handle_max_tokens(rule, text)
    limit: int = rule["max_tokens"]
    return lambda text: exceeds_tokens(text, limit)


def max_chars(rule: dict[str, Any]) -> Check:
    limit: int = rule["max_chars"]
    return lambda text: len(text) > limit


def non_empty(rule: dict[str, Any]) -> Check:
    # isspace stops at the first character that is none; strip would copy the text
    return lambda text: not text or text.isspace()


def allowed_values(rule: dict[str, Any]) -> Check:
    allowed = frozenset(rule["allowed_values"])
    if rule.get("trim", True):
        return lambda text: text.strip() not in allowed
    return lambda text: text not in allowed


def contains_any(rule: dict[str, Any]) -> Check:
    keywords: list[str] = rule["keywords"]
    if not rule.get("ignore_case", False):
        return lambda text: not any_in(keywords, text)
    plain = [keyword for keyword in keywords if has_no_case(keyword)]
    cased = [fold(keyword) for keyword in keywords if not has_no_case(keyword)]
    # folding a text that is not ASCII costs more than everything else here: first what can be had without
    return lambda text: not any_in(plain, text) and not (cased and any_in(cased, fold(text)))


def any_in(keywords: list[str], text: str) -> bool:
    for keyword in keywords:  # noqa: SIM110 - a generator costs more than the searches
        if keyword in text:
            return True
    return False


def regex_match(rule: dict[str, Any]) -> Check:
    search = compile_pattern(rule["pattern"], rule.get("ignore_case", False)).search
    return lambda text: search(text, timeout=search_seconds(text), concurrent=True) is None


def starts_with(rule: dict[str, Any]) -> Check:
    prefix: str = rule["prefix"]
    if not rule.get("ignore_case", False):
        return lambda text: not text.startswith(prefix)
    folded = fold(prefix)
    # folding never makes two characters out of fewer than one in two: only `i` and its dot fall together
    enough = 2 * len(folded)
    return lambda text: not fold(text[:enough]).startswith(folded)


def ends_with(rule: dict[str, Any]) -> Check:
    suffix: str = rule["suffix"]
    if not rule.get("ignore_case", False):
        return lambda text: not text.endswith(suffix)
    folded = fold(suffix)
    # one more than twice: the cut may fall between an `i` and its dot
    enough = 2 * len(folded) + 1
    return lambda text: not fold(text[-enough:]).endswith(folded)
