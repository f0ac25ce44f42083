"""The kinds of rules: what each means, its parameters, and its check.

A check is compiled once for each rule, so work that does not need the text is done then. It returns True for a
violation. `RULE_HANDLERS` is the table of kinds, to which users add their own: a plain function of a rule and a text,
which answers whether the text violates the rule. `rule` is the mapping from the configuration, without defaults for
omitted parameters. `RuleSet` applies `target`, `not` and `action`, so a handler need not read them.

The texts are hostile: case folding is complete, and a search has a limit of CPU time.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentscope_tuner.rules.tokens import exceeds_exactly, exceeds_tokens, load_encoding

if TYPE_CHECKING:
    import regex

Check = Callable[[str], bool]
"""True when the text violates the rule."""
Compile = Callable[[dict[str, Any]], Check]
Handler = Callable[[dict[str, Any], str], bool]

REQUIRED = object()


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kind.

    Args:
        name: the parameter's key in the rule.
        problem: a function that returns what is wrong with a value, or None if it is valid.
        shape: the allowed values, in words.
        default: the value of an omitted parameter; `REQUIRED` if it must not be omitted.
    """

    name: str
    problem: Callable[[Any], str | None]
    shape: str
    default: Any = REQUIRED


@dataclass(frozen=True)
class Kind:
    """A built-in kind.

    Args:
        name: the value of a rule's `kind`.
        meaning: describes the texts that keep the rule.
        parameters: the kind's own parameters, beside those of every rule.
        example: a rule of the kind.
        compile: makes the check of a rule.
        cross_check: a function that returns why a rule's parameters contradict each other, or None if they do not.
    """

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    example: dict[str, Any]
    compile: Compile
    cross_check: Callable[[dict[str, Any]], str | None]


#: The built-in kinds by name.
KINDS: dict[str, Kind] = {}


def _kind(
    meaning: str,
    *parameters: Parameter,
    example: dict[str, Any],
    cross_check: Callable[[dict[str, Any]], str | None] = lambda rule: None,
) -> Callable[[Compile], Compile]:
    """A decorator that adds a built-in kind. The decorated function compiles the kind's check, and its name is the
    kind's name.
    """

    def add(compile_check: Compile) -> Compile:
        name = compile_check.__name__
        whole = {"id": example["id"], "kind": name, **example}
        KINDS[name] = Kind(name, meaning, parameters, whole, compile_check, cross_check)
        return compile_check

    return add


def fold(text: str) -> str:
    """`text` without case: Unicode full folding (``ß`` is ``ss``, ``ς`` is ``σ``), with the four letters i made equal.

    Full folding turns ``İ`` into ``i`` and a combining dot, and leaves ``ı`` unchanged. So a search for ``istanbul``
    would miss the Turkish ``İstanbul``, and a search for ``ısparta`` would miss ``ISPARTA``. Here I, i, İ and ı all
    fold to ``i``.
    """
    folded = text.casefold()
    if folded.isascii():
        return folded
    return folded.replace("i\u0307", "i").replace("ı", "i")


def has_no_case(text: str) -> bool:
    """Whether folding makes no difference for `text`: it folds to itself, and no other text folds to it.

    True for Han, kana, Hangul and similar scripts, for digits and for ASCII punctuation; False in case of doubt.
    """
    return all(
        (char.isascii() and not char.isalpha()) or (unicodedata.category(char) == "Lo" and char == char.upper())
        for char in text
    )


def search_seconds(text: str) -> float:
    """The CPU time that one search in `text` may take, in seconds: 50 ms, and 1 µs more for each character.

    The limit never matters for an ordinary pattern, which needs a tenth of it on a long text and far less on a short
    text. A pattern that runs away would need years.
    """
    return 0.05 + 1e-6 * len(text)


class RunawaySearch(TimeoutError):
    """A pattern's search in one text takes too much CPU time, whatever else the process does."""


def is_found(search: Callable[..., object], text: str) -> bool:
    """Whether a compiled pattern's `search` finds anything in `text`, within about `search_seconds`.

    The `regex` library counts the CPU time of the whole process. So in a busy trainer other threads may use up the time
    of a search. A search that ran out of time is therefore tried again, with this thread's own time measured. While
    that time is short of the limit, the next try may take longer.

    Raises:
        RunawaySearch: this thread has searched for too long.
        TimeoutError: other threads used up the time of every try.
    """
    limit = search_seconds(text)
    # Reading the clock costs as much as a search, so this thread's time is measured only from the second try on
    started: float | None = None
    for share in (0.5, 0.5, 2, 8):
        try:
            return search(text, timeout=share * limit, concurrent=True) is not None
        except TimeoutError as exc:
            if started is None:
                started = time.thread_time()
            elif time.thread_time() - started > 0.4 * limit:
                raise RunawaySearch(
                    f"took more than {limit:.3f} s of CPU time on a text of {len(text)} characters"
                ) from exc
    raise TimeoutError("regex timed out while other threads kept the process busy")


def compile_pattern(pattern: str, ignore_case: bool) -> regex.Pattern[str]:
    """The compiled pattern; `ignore_case` uses full case folding, in which ``ß`` matches ``SS``.

    Raises:
        regex.error: the pattern does not compile.
    """
    # Most configurations have no pattern and start faster without this import
    import regex

    return regex.compile(pattern, regex.IGNORECASE | regex.FULLCASE if ignore_case else 0)


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
    if (problem := _strings_problem(value)) is None and "" in value:
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
    if (problem := text_problem(value)) is not None:
        return problem
    # `\b` is a word's edge in a pattern, and one character in YAML's double quotes
    if re.search(r"[\b\f]|(?<!\\)(?:\\\\)*\\boxed", value):
        return f"{value!r} does not find what it shows: write two backslashes in single quotes, '\\\\boxed'"
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


@_kind(
    "at most max_tokens tokens: estimated, or counted by a tiktoken encoding",
    Parameter("max_tokens", count_problem, "a whole number"),
    Parameter("tokenizer", tokenizer_problem, "a tiktoken encoding", default=None),
    example={"id": "max_tokens_200", "max_tokens": 200},
)
def max_tokens(rule: dict[str, Any]) -> Check:
    """Violated if the text has more than `max_tokens` tokens: estimated (see `tokens`), or exact if `tokenizer` is
    given.
    """
    limit: int = rule["max_tokens"]
    if "tokenizer" in rule:
        tokenizer: str = rule["tokenizer"]
        return lambda text: exceeds_exactly(text, limit, tokenizer)
    return lambda text: exceeds_tokens(text, limit)


@_kind(
    "at most max_chars characters",
    Parameter("max_chars", count_problem, "a whole number"),
    example={"id": "reasonable_length", "max_chars": 1000},
)
def max_chars(rule: dict[str, Any]) -> Check:
    """Violated if the text has more than `max_chars` characters (Unicode code points)."""
    limit = int(rule["max_chars"])
    return lambda text: len(text) > limit


@_kind("something other than white space", example={"id": "must_not_be_empty"})
def non_empty(rule: dict[str, Any]) -> Check:
    """Violated if the text is empty, or has only white space."""
    # `strip` would copy the text; `isspace` stops at the first visible character
    return lambda text: not text or text.isspace()


@_kind(
    "one of allowed_values, and nothing else",
    Parameter("allowed_values", _strings_problem, "a list of strings"),
    Parameter("trim", flag_problem, "true or false", default=True),
    example={"id": "binary_output", "allowed_values": ["0", "1"]},
    cross_check=_unreachable_value,
)
def allowed_values(rule: dict[str, Any]) -> Check:
    """Violated if the text is none of `allowed_values`; white space around it is ignored unless `trim` is false."""
    allowed = frozenset(rule["allowed_values"])
    longest = max(map(len, allowed), default=0)
    if not rule.get("trim", True):
        return lambda text: text not in allowed

    def check(text: str) -> bool:
        stripped = text.strip()
        # Compare the length first: hashing a long text costs more, and no allowed value is that long
        return len(stripped) > longest or stripped not in allowed

    return check


@_kind(
    "at least one of keywords, anywhere",
    Parameter("keywords", keywords_problem, "a list of strings"),
    IGNORE_CASE,
    example={"id": "mentions_refund", "keywords": ["refund", "退款"], "ignore_case": True},
)
def contains_any(rule: dict[str, Any]) -> Check:
    """Violated if the text contains none of `keywords`."""
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


@_kind(
    "pattern is found in the text: ^ and $ tie it to the ends",
    Parameter("pattern", pattern_problem, "a regular expression"),
    IGNORE_CASE,
    example={"id": "no_json_format", "pattern": "^[^{]*$"},
)
def regex_match(rule: dict[str, Any]) -> Check:
    """Violated if `pattern` is found nowhere in the text. The check raises TimeoutError if a search cannot end."""
    ignore_case = rule.get("ignore_case", False)
    search = compile_pattern(rule["pattern"], ignore_case).search
    # Under full case folding a class may match one or two characters, so repeating it is no longer linear
    if _LINEAR.fullmatch(rule["pattern"]) and not ignore_case:
        return lambda text: search(text) is None  # A time limit would cost more than the search
    return lambda text: not is_found(search, text)


@_kind(
    "prefix comes first",
    Parameter("prefix", text_problem, "a string"),
    IGNORE_CASE,
    example={"id": "must_start_with_summary", "prefix": "总结：", "ignore_case": True},
)
def starts_with(rule: dict[str, Any]) -> Check:
    """Violated if the text does not start with `prefix`."""
    prefix: str = rule["prefix"]
    if not rule.get("ignore_case", False):
        return lambda text: not text.startswith(prefix)
    folded = fold(prefix)
    # Folding at most halves the number of characters (`i` and its dot become one), so this part of the text is enough
    enough = 2 * len(folded)
    return lambda text: not fold(text[:enough]).startswith(folded)


@_kind(
    "suffix comes last",
    Parameter("suffix", text_problem, "a string"),
    IGNORE_CASE,
    example={"id": "must_end_with_period", "suffix": "。"},
)
def ends_with(rule: dict[str, Any]) -> Check:
    """Violated if the text does not end with `suffix`."""
    suffix: str = rule["suffix"]
    if not rule.get("ignore_case", False):
        return lambda text: not text.endswith(suffix)
    folded = fold(suffix)
    # One character more, because the cut may fall between an `i` and its dot
    enough = 2 * len(folded) + 1
    return lambda text: not fold(text[-enough:]).endswith(folded)


def _handler(kind: Kind) -> Handler:
    def handle(rule: dict[str, Any], value: str) -> bool:
        return kind.compile(rule)(value)

    handle.__name__ = handle.__qualname__ = f"handle_{kind.name}"
    handle.__doc__ = kind.compile.__doc__
    return handle


_BUILT_IN = {name: _handler(kind) for name, kind in KINDS.items()}

RULE_HANDLERS: dict[str, Handler] = dict(_BUILT_IN)
"""The handler of every kind that a rule may name. ``RULE_HANDLERS["my_kind"] = handler`` adds a kind.

A handler takes ``(rule, value)`` and returns True for a violation. A custom handler checks its own parameters."""


def is_built_in(kind: str) -> bool:
    """Whether `kind` is one of the eight built-in kinds, and its handler has not been replaced."""
    return kind in _BUILT_IN and RULE_HANDLERS[kind] is _BUILT_IN[kind]
