"""The built-in kinds of rules: their parameters, defaults, and an example each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.rules.exact_tokens import load_encoding
from agentscope_tuner.rules.patterns import compile_pattern

REQUIRED = object()


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kind.

    Args:
        name: the parameter's key in the rule.
        problem: a function that returns the error of a value, or None for a valid value.
        shape: the allowed values, in words.
        default: the value of an omitted parameter; `REQUIRED` if it must not be omitted.
    """

    name: str
    problem: Callable[[Any], str | None]
    shape: str
    default: Any = REQUIRED


@dataclass(frozen=True)
class Kind:
    """A built-in kind: its meaning and its parameters. The function of the same name in `checks` compiles its check."""

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    example: dict[str, Any]
    cross_check: Callable[[dict[str, Any]], str | None] = lambda rule: None


def count_problem(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        hint = ": write it without quotes" if isinstance(value, str) and value.strip().isdecimal() else ""
        return f"must be a whole number of at least 0, got {value!r}{hint}"
    return None


def flag_problem(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"must be true or false, got {value!r}"


def text_problem(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"must be a string, got {value!r}{_quote_hint(value)}"
    return None if value else "must not be empty: every text would satisfy it"


def keywords_problem(value: Any) -> str | None:
    problem = _strings_problem(value)
    if problem is None and "" in value:
        return f"must not hold an empty string, which is in every text, got {value!r}"
    return problem


def _strings_problem(value: Any) -> str | None:
    if not isinstance(value, list) or not value:
        return f"must be a list of at least one string, got {value!r}"
    for item in value:
        if not isinstance(item, str):
            return f"must hold strings, got {item!r}{_quote_hint(item)}"
    return None


def _quote_hint(value: Any) -> str:
    # YAML reads yes, no, on and off as booleans, and 0 and 1 as numbers
    return ": put it in quotes" if isinstance(value, bool | int | float) else ""


def pattern_problem(value: Any) -> str | None:
    problem = text_problem(value)
    if problem is not None:
        return problem
    # Most configurations have no pattern and start faster without this import
    import regex

    try:
        compile_pattern(value, False)
    except regex.error as exc:
        return f"does not compile: {exc}: {value!r}"
    except RecursionError:
        return f"does not compile: it is nested too deeply: {value!r:.200}"
    return None


def tokenizer_problem(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"must name a tiktoken encoding, got {value!r}"
    try:
        load_encoding(value)
    except ValueError as exc:
        return f"cannot be used: {exc}"
    return None


def _unreachable_value(rule: dict[str, Any]) -> str | None:
    padded = [value for value in rule["allowed_values"] if value != value.strip()]
    if rule.get("trim", True) and padded:
        return f"allowed_values {padded!r} can never match a trimmed text: strip them, or set trim: false"
    return None


IGNORE_CASE = Parameter("ignore_case", flag_problem, "true or false", default=False)

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "max_tokens",
            "at most max_tokens tokens: estimated, or counted by a tiktoken encoding",
            (
                Parameter("max_tokens", count_problem, "a whole number"),
                Parameter("tokenizer", tokenizer_problem, "a tiktoken encoding", default=None),
            ),
            {"id": "max_tokens_200", "kind": "max_tokens", "max_tokens": 200},
        ),
        Kind(
            "max_chars",
            "at most max_chars characters",
            (Parameter("max_chars", count_problem, "a whole number"),),
            {"id": "reasonable_length", "kind": "max_chars", "max_chars": 1000},
        ),
        Kind(
            "non_empty",
            "something other than white space",
            (),
            {"id": "must_not_be_empty", "kind": "non_empty"},
        ),
        Kind(
            "allowed_values",
            "one of allowed_values, and nothing else",
            (
                Parameter("allowed_values", _strings_problem, "a list of strings"),
                Parameter("trim", flag_problem, "true or false", default=True),
            ),
            {"id": "binary_output", "kind": "allowed_values", "allowed_values": ["0", "1"]},
            _unreachable_value,
        ),
        Kind(
            "contains_any",
            "at least one of keywords, anywhere",
            (Parameter("keywords", keywords_problem, "a list of strings"), IGNORE_CASE),
            {"id": "mentions_refund", "kind": "contains_any", "keywords": ["refund", "退款"], "ignore_case": True},
        ),
        Kind(
            "regex_match",
            "pattern is found in the text: ^ and $ tie it to the ends",
            (Parameter("pattern", pattern_problem, "a regular expression"), IGNORE_CASE),
            {"id": "no_json_format", "kind": "regex_match", "pattern": "^[^{]*$"},
        ),
        Kind(
            "starts_with",
            "prefix comes first",
            (Parameter("prefix", text_problem, "a string"), IGNORE_CASE),
            {"id": "must_start_with_summary", "kind": "starts_with", "prefix": "总结：", "ignore_case": True},
        ),
        Kind(
            "ends_with",
            "suffix comes last",
            (Parameter("suffix", text_problem, "a string"), IGNORE_CASE),
            {"id": "must_end_with_period", "kind": "ends_with", "suffix": "。"},
        ),
    )
}
