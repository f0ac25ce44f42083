"""The checks of the eight built-in kinds. A check is compiled once: work that does not need the text is done then.

A check returns True for a violation. The kinds are defined only here; the handlers are made from these functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agentscope_tuner.rules.exact_tokens import exceeds_exactly
from agentscope_tuner.rules.folding import fold, has_no_case
from agentscope_tuner.rules.patterns import compile_pattern, is_found
from agentscope_tuner.rules.tokens import exceeds_tokens

Check = Callable[[str], bool]
"""True when the text violates the rule."""


def max_tokens(rule: dict[str, Any]) -> Check:
    """The text has more than `max_tokens` tokens: estimated (see `tokens`), or exact where `tokenizer` is given."""
    limit: int = rule["max_tokens"]
    if "tokenizer" in rule:
        tokenizer: str = rule["tokenizer"]
        return lambda text: exceeds_exactly(text, limit, tokenizer)
    return lambda text: exceeds_tokens(text, limit)


def max_chars(rule: dict[str, Any]) -> Check:
    """The text has more than `max_chars` characters (Unicode code points)."""
    limit = int(rule["max_chars"])
    return lambda text: len(text) > limit


def non_empty(rule: dict[str, Any]) -> Check:
    """The text is empty, or has only white space."""
    # `strip` would copy the text; `isspace` stops at the first visible character
    return lambda text: not text or text.isspace()


def allowed_values(rule: dict[str, Any]) -> Check:
    """The text is none of `allowed_values`; white space around it is ignored unless `trim` is false."""
    allowed = frozenset(rule["allowed_values"])
    longest = max(map(len, allowed), default=0)
    if not rule.get("trim", True):
        return lambda text: text not in allowed

    def check(text: str) -> bool:
        stripped = text.strip()
        # Compare the length first: hashing a long text costs more, and no allowed value is that long
        return len(stripped) > longest or stripped not in allowed

    return check


def contains_any(rule: dict[str, Any]) -> Check:
    """The text contains none of `keywords`."""
    keywords: list[str] = rule["keywords"]
    if not rule.get("ignore_case", False):
        return lambda text: not any_in(keywords, text)
    caseless = [keyword for keyword in keywords if has_no_case(keyword)]
    folded = [fold(keyword) for keyword in keywords if not has_no_case(keyword)]

    def check(text: str) -> bool:
        # Folding costs more than all searches, so search the keywords without case before it
        return not (any_in(caseless, text) or (folded and any_in(folded, fold(text))))

    return check


def any_in(keywords: list[str], text: str) -> bool:
    for keyword in keywords:  # noqa: SIM110 - a generator costs more than the searches
        if keyword in text:
            return True
    return False


# An atom matches one character of a text: itself, a class without escapes, or an escape such as \d. A search for a
# sequence of atoms takes linear time. With one repetition it stays linear if ^ allows only one start.
_ATOM = r"(?:[^][\\(){}|^$?*+]|\[\^?[^][\\^-]+\]|\\[dDsSwW\W])"
_LINEAR = re.compile(rf"{_ATOM}+|\^{_ATOM}*(?:{_ATOM}[*+]{_ATOM}*)?\$?")


def regex_match(rule: dict[str, Any]) -> Check:
    """`pattern` is found nowhere in the text. The check raises TimeoutError when a search takes too long."""
    ignore_case = rule.get("ignore_case", False)
    search = compile_pattern(rule["pattern"], ignore_case).search
    # Under full case folding a class may match one or two characters, so repeating it is no longer linear
    if _LINEAR.fullmatch(rule["pattern"]) and not ignore_case:
        return lambda text: search(text) is None  # A time limit would cost more than the search
    return lambda text: not is_found(search, text)


def starts_with(rule: dict[str, Any]) -> Check:
    """The text does not start with `prefix`."""
    prefix: str = rule["prefix"]
    if not rule.get("ignore_case", False):
        return lambda text: not text.startswith(prefix)
    folded = fold(prefix)
    # Folding at most halves the number of characters (`i` and its dot become one), so this part of the text is enough
    enough = 2 * len(folded)
    return lambda text: not fold(text[:enough]).startswith(folded)


def ends_with(rule: dict[str, Any]) -> Check:
    """The text does not end with `suffix`."""
    suffix: str = rule["suffix"]
    if not rule.get("ignore_case", False):
        return lambda text: not text.endswith(suffix)
    folded = fold(suffix)
    # One character more, because the cut may fall between an `i` and its dot
    enough = 2 * len(folded) + 1
    return lambda text: not fold(text[-enough:]).endswith(folded)


CHECKS: dict[str, Callable[[dict[str, Any]], Check]] = {
    check.__name__: check
    for check in (
        max_tokens,
        max_chars,
        non_empty,
        allowed_values,
        contains_any,
        regex_match,
        starts_with,
        ends_with,
    )
}
