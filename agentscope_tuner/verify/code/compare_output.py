"""Decides whether the output that a program printed, or the result that it returned, is what its test expects.

Both are hostile data, and none of it is run here. If a task has several right outputs, the data set's own checker
judges them (`accepts`).
"""

from __future__ import annotations

import ast
import json
import math
import random
import re
import string
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from agentscope_tuner._jail.jail import Ending, Jail, JailWork, RunLimits
from agentscope_tuner.verify.code.formats import CallTest, CodeTest, StdinTest, TestSet, tree_of

_REAL = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9](?=[eE][-+]))(?:[eE][-+]?[0-9]{1,4})?\Z")
_NUMBER = re.compile(r"[-+]?(?:[0-9]++\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?\Z")
_MOST_DIGITS = 400
# In any order, what differs as text is searched for, in quadratic time: the most such items, and such lines
_MOST_NEAR = 1000
_MOST_NEAR_LINES = 200
# Rounding errors of a long sum, relative to it; and what they leave of a difference that is 0
_ROUNDING, _NOTHING = 1e-9, Decimal("1e-12")
# The default tolerance: a greater one was chosen for the row
_FINE = 1e-6
# Below it floats hold each integer exactly; and the number of digits that `%g` writes
_WHOLE_BELOW, _DIGITS_OF_G = 2**53, 6


def same_output(printed: str, expected: str, *, tolerance: float, unordered: bool = False) -> str | None:
    """Compare a printed output with the expected one: None if they agree, otherwise the first difference, in words that
    do not reveal the expected text.

    `same_output("1 2", "1 3", tolerance=1e-6)` is `"line 1 has '2'"`. Lines are compared word by word. White space at
    the end of lines and empty lines at the end of the text do not count. A word that `expected` writes with a decimal
    point or an exponent is a number: a printed number may differ from it by `tolerance`, absolutely or relatively.

    Args:
        printed: the program's output.
        expected: the test's output.
        tolerance: by which numbers may differ.
        unordered: whether lines may come in any order.
    """
    got, wanted = _lines(printed), _lines(expected)
    if len(got) != len(wanted):
        return f"{len(got)} lines are printed, {len(wanted)} expected"
    if unordered:
        return _other_line(got, wanted, tolerance)
    for number, (here, there) in enumerate(zip(got, wanted, strict=True), 1):
        if here != there and (why := _other_words(here.split(), there.split(), tolerance)):
            return f"line {number} has {why}"
    return None


def _other_words(words: Sequence[str], other: Sequence[str], tolerance: float) -> str | None:
    """The difference between two lines: the first word that differs, such as `'2'` for `1 2` compared with `1 3`, or
    the numbers of words if they differ. None if the lines agree.

    Args:
        words: of the printed line.
        other: of the expected line.
        tolerance: by which numbers may differ.
    """
    if len(words) != len(other):
        return f"{len(words)} words, {len(other)} expected"
    pairs = zip(words, other, strict=True)
    return next((_short(word) for word, theirs in pairs if word != theirs and not _near(word, theirs, tolerance)), None)


def _other_line(got: Sequence[str], wanted: Sequence[str], tolerance: float) -> str | None:
    """A printed line that matches no expected line, in words such as `one line is '5'`. None if all lines match, in any
    order.
    """
    here, there = (Counter(tuple(line.split()) for line in lines) for lines in (got, wanted))
    left, missing = [*(here - there).elements()], [*(there - here).elements()]
    # lines that are left write their numbers in another way: sorted by these, most find their match
    pairs = zip(*(sorted(lines, key=_as_numbers) for lines in (left, missing)), strict=True)
    apart = [(one, other) for one, other in pairs if _other_words(one, other, tolerance)]
    missing = [other for _, other in apart]
    for one, _ in apart:
        near = (at for at, other in enumerate(missing) if _other_words(one, other, tolerance) is None)
        at = next(near, None) if len(apart) <= _MOST_NEAR_LINES else None
        if at is None:
            return f"one line is {_short(' '.join(one))}"
        del missing[at]
    return None


def _as_numbers(words: Sequence[str]) -> list[tuple[float, str]]:
    """The sort key of a line, by the numbers in it: `[(0.0, 'b'), (2.5, '')]` for the words `b` and `2.50`."""
    return [(float(word), "") if len(word) <= _MOST_DIGITS and _NUMBER.match(word) else (0.0, word) for word in words]


# By which expected floats may differ where one data set has them twice
_NEAR_ENOUGH = 0.01


def contradicting(tests: TestSet) -> int:
    """The number of the first test that expects a different result than an earlier test of the same input; 0 if there
    is none.

    No program passes both tests, since each runs in a new process. Of the tests that carry code, only single assertions
    about one call with constants are compared, such as `assert f(1) == 2`. If the task has a checker, several outputs
    may be right, so tests by standard input never contradict each other.
    """
    seen: dict[object, Any] = {}
    for test in tests.tests:
        if isinstance(test, StdinTest):
            wanted: Any = test.expected
            first = seen.setdefault(test.given, wanted)
            others = same_output(first, wanted, tolerance=_NEAR_ENOUGH, unordered=tests.unordered)
            is_same = bool(tests.checker) or others is None
        elif isinstance(test, CallTest):
            wanted = test.expected
            first = seen.setdefault((test.name, json.dumps(list(test.arguments))), wanted)
            is_same = first is wanted or any(
                same_value(one, wanted, tolerance=_NEAR_ENOUGH, unordered=tests.unordered) for one in first
            )
        elif (found := _called_and_wanted(test)) is not None:
            asked, wanted = found
            first = seen.setdefault(asked, wanted)
            # an object may equal values of several types
            is_same = first == wanted or type(first) is not type(wanted)
        else:
            continue
        if not is_same:
            return test.number
    return 0


def _called_and_wanted(test: CodeTest) -> tuple[str, object] | None:
    """For a test such as `assert f(1) == 2`: the call, as `ast.dump` writes it, and the value that it must equal, `2`.

    None for a test of any other form.
    """
    body = tree_of(test.source).body if test.kind == "assert" and not test.setup.strip() else []
    if len(body) != 1 or not isinstance(body[0], ast.Assert) or not isinstance(body[0].test, ast.Compare):
        return None
    left, (how, *more), right = body[0].test.left, body[0].test.ops, body[0].test.comparators[0]
    if more or not isinstance(how, ast.Eq) or not isinstance(left, ast.Call) or not isinstance(left.func, ast.Name):
        return None
    try:
        for part in (*left.args, *(keyword.value for keyword in left.keywords)):
            ast.literal_eval(part)
        return ast.dump(left), ast.literal_eval(right)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _near(word: str, expected: str, tolerance: float) -> bool:
    """Whether both words are numbers that are nearly equal, and `expected` has a decimal point or an exponent: true of
    `2.0000001` and `2.0`.
    """
    if len(word) > _MOST_DIGITS or not _REAL.match(expected) or not _NUMBER.match(word):
        return False
    try:
        got, wanted = Decimal(word), Decimal(expected)
    except InvalidOperation:
        return False
    return _is_near(got, wanted, tolerance)


def _is_near(got: Decimal, wanted: Decimal, tolerance: float) -> bool:
    """Whether a number differs from the expected one by no more than `tolerance`, absolutely or relatively.

    A tolerance of 1e-6 or less does not excuse two kinds of answers. 0 is not near 1e-7, an expected number that is
    smaller than the tolerance. And 1000000 is not near 1000000.6: a whole number is no estimate. In both cases the
    numbers must agree as far as their digits are written.
    """
    # as floats, all numbers that are too great are the same infinity
    near, far = float(got), float(wanted)
    if not (math.isfinite(far) and math.isclose(near, far, rel_tol=tolerance, abs_tol=tolerance)):
        return got == wanted
    off, places = abs(got - wanted), [int(one.as_tuple().exponent) for one in (got, wanted)]
    if tolerance > _FINE or not wanted:
        return True
    if abs(far) <= tolerance:
        is_rounded = bool(got) and off <= Decimal(5).scaleb(max(places) - 1)
        return is_rounded or off <= max(_NOTHING, abs(wanted) * Decimal(tolerance))
    if not near.is_integer() or abs(near) >= _WHOLE_BELOW:
        return True
    return off <= Decimal(5).scaleb(max(0, min(max(places), wanted.adjusted() + 1 - _DIGITS_OF_G)) - 1)


def same_value(got: object, expected: Sequence[object], *, tolerance: float, unordered: bool = False) -> bool:
    """Whether a function's result `got` equals one of the values `expected`, which were read from JSON.

    A truth value never equals a number. JSON has only lists and keys that are text, so the tuple `(1, 2)` equals
    `[1, 2]`, and a key `1` equals `"1"`.

    Args:
        got: the result.
        expected: the values that are right.
        tolerance: by which a float may differ, absolutely or relatively. If an int is expected, a float may differ
            relatively only by rounding errors, and by less than a half.
        unordered: whether the items of a list may come in any order.
    """
    try:
        return any(_same(got, one, tolerance, unordered) for one in expected)
    # an int too long to print, which no JSON holds
    except ValueError:
        return False


def _same(got: object, expected: object, tolerance: float, unordered: bool) -> bool:
    got = _listed(got)
    if isinstance(expected, bool) or expected is None or isinstance(got, bool):
        return type(got) is type(expected) and got == expected
    if isinstance(expected, int | float):
        return isinstance(got, int | float) and _same_number(got, expected, tolerance)
    if isinstance(expected, str):
        return isinstance(got, str) and got == expected
    if isinstance(expected, list):
        if not isinstance(got, list | tuple) or len(got) != len(expected):
            return False
        if unordered:
            return _same_items(got, expected, tolerance)
        return all(_same(here, there, tolerance, False) for here, there in zip(got, expected, strict=True))
    if isinstance(expected, dict):
        if not isinstance(got, dict) or len(got) != len(expected):
            return False
        named = {_key(key): value for key, value in got.items()}
        return len(named) == len(expected) and all(
            key in named and _same(named[key], value, tolerance, False) for key, value in expected.items()
        )
    return False


def _listed(value: Any) -> Any:
    """A numpy array as a list; any other value unchanged. (Results hold arrays if this process has imported numpy.)"""
    return value.tolist() if type(value).__module__ == "numpy" else value


def _key(key: object) -> object:
    return str(key) if type(key) in (int, float) else key


def _same_number(got: int | float, expected: int | float, tolerance: float) -> bool:
    if isinstance(got, int) and isinstance(expected, int):
        return got == expected
    try:
        if isinstance(expected, float):
            return _is_near(Decimal(repr(got)), Decimal(repr(expected)), tolerance)
        # exactly: as floats, neighbours among great integers are one
        off = abs(Fraction(got) - expected)
    # infinity, NaN, or an int too large for a float
    except (OverflowError, ValueError):
        return False
    # a float for an int may have rounding errors, and is no estimate: another integer never passes
    return off <= tolerance or (2 * off < 1 and off <= min(_ROUNDING, tolerance) * abs(expected))


def _same_items(got: Sequence[object], expected: Sequence[object], tolerance: float) -> bool:
    """Whether two lists hold the same items in any order: true of `[1, 2]` and `[2, 1]`."""
    # by text first, in a dictionary: nobody can choose the hashes of texts. Only the rest must be searched for
    here, there = [_by_text(items) for items in (got, expected)]
    left, missing = [
        [item for text, items in own.items() for item in items[len(other.get(text, ())) :]]
        for own, other in ((here, there), (there, here))
    ]
    if len(missing) > _MOST_NEAR:
        return False
    for item in missing:
        at = next((at for at, one in enumerate(left) if _same(one, item, tolerance, False)), None)
        if at is None:
            return False
        del left[at]
    return True


def _by_text(items: Sequence[object]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for item in items:
        found.setdefault(_text(item), []).append(item)
    return found


def _text(item: object) -> str:
    """A text that is the same for equal values: `[1, "a"]` and `(1.0, "a")` have the same one. Floats that are only
    near each other have different texts.
    """
    item = _listed(item)
    if type(item) is int or (isinstance(item, float) and item.is_integer()):
        # `repr` refuses a long number
        return hex(int(item))
    if isinstance(item, list | tuple):
        return f"[{','.join(map(_text, item))}]"
    if isinstance(item, dict):
        return f"{{{','.join(sorted(f'{_key(key)!r}:{_text(value)}' for key, value in item.items()))}}}"
    return repr(item)


def _short(text: str, most: int = 60) -> str:
    return repr(text if len(text) <= most else f"{text[: most // 2]}…{text[-most // 2 :]}")


_FILES = ("input.txt", "correct_output.txt", "solution_output.txt")
# CPU seconds of a checker, which may compare long outputs
_SECONDS = 10.0
_FULL = re.compile(r"\s*1(?:\.0*)?\s*", re.ASCII)
_ANY_NUMBER = re.compile(r"[-+.\d]+")
# What may be read as a number that is not finite
_NOT_FINITE = re.compile(rb"nan|inf|e\+?[0-9]{3}|[0-9]{300}", re.IGNORECASE)


# The sixth power of a larger number is no finite float
_HUGE = 1e50
_FLOAT = re.compile(r"(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d[\d_]*)?")


def _overflows(text: str, *, whole: bool) -> bool:
    """Whether a text has a number in it that is so large that arithmetic with floats may make it infinite, such as
    `1e60` or `1e60km`.

    The difference of two infinite numbers is NaN, and no comparison with NaN is true. So a checker that asks whether an
    error is greater than a bound would accept such an output.

    Args:
        text: an input or output.
        whole: whether whole numbers count, because the checker reads them as floats; otherwise they are exact.
    """
    found = (one[0].replace("_", "") for one in _FLOAT.finditer(text))
    return any(float(one) >= _HUGE for one in found if whole or any(mark in one for mark in ".eE"))


class CheckerError(Exception):
    """The checker does not accept even the data set's own output; the message says how it ended."""


def accepts(
    jail: Callable[[], Jail], checker: str, test: StdinTest, printed: bytes, seconds: float
) -> tuple[bool, float]:
    """Whether the data set's checker gives the output `printed` the full score, and the seconds that this took.

    The checker runs in a jail without the program. Its `eval` reads only data, and its `exec` and `compile` raise,
    since `printed` may be code. If the checker may have copied its score from `printed`, it judges the output again
    with other digits in it: the score must not change with them. (These runs do not count in the seconds.) If
    `printed`, and not the data set's texts, has numbers so large that the checker may compute with infinity, it is not
    accepted. If `printed` is not accepted, the checker must accept the data set's own output.

    Args:
        jail: gives a jail for each run: if a checker exceeds its limits, as when `printed` makes it loop, its jail has
            ended.
        checker: the source of the checker.
        test: the input, and the data set's own output.
        printed: the program's output.
        seconds: that the checker may take for `printed`.

    Raises:
        CheckerError: the checker accepts neither `printed` nor the data set's own output.
        JailBroken: the jail failed.
    """
    begun = time.monotonic()
    said = _run_checker(jail(), checker, test, printed, min(_SECONDS, seconds))
    taken = time.monotonic() - begun

    def said_of(changed: str) -> Ending:
        seconds = 1.0 + 2 * said.cpu_seconds
        return _run_checker(jail(), checker, test, changed.encode(errors="surrogateescape"), seconds)

    text = printed.decode(errors="surrogateescape")
    odd = [_overflows(one, whole="float" in checker) for one in (test.given, test.expected, text)]
    if _is_full(said) and odd != [False, False, True]:
        if same_output(text, test.expected, tolerance=0.0) is None:
            return True, taken
        drawn = _drawn(text) if _may_repeat(_said(said)[-1], text) else []
        others = [(one, digits) for digits in drawn for one in _with_others(text, digits)]
        if not any(_follows(said, said_of(one), one, digits) for one, digits in others):
            return True, taken
    own = _run_checker(jail(), checker, test, test.expected.encode(errors="replace"), _SECONDS)
    if not _is_full(own):
        how = f"{own.kind}, exit code {own.status}, {own.stdout[:100]!r}"
        raise CheckerError(f"the checker of the row does not accept its own output: {how}")
    return False, time.monotonic() - begun


def _run_checker(jail: Jail, checker: str, test: StdinTest, printed: bytes, seconds: float) -> Ending:
    """Run the checker in a jail, with three files: the test's input, its expected output, and the output `printed`.
    Returns how the run ended.
    """
    contents = (test.given.encode(errors="replace"), test.expected.encode(errors="replace"), printed)
    has_odd = [bool(_NOT_FINITE.search(one)) for one in contents]
    asked = {"program": checker, "arguments": list(_FILES), "finite": has_odd == [False, False, True]}
    payload = json.dumps(asked).encode()
    work = JailWork(
        entry="agentscope_tuner.verify.code.inside.run_program:checker",
        payload=payload,
        files=dict(zip(_FILES, contents, strict=True)),
    )
    ending = jail.run(work, RunLimits(seconds=seconds, wall_seconds=seconds))
    if ending.kind in ("starved", "killed"):
        raise jail.broken(f"a checker was {ending.kind}")
    return ending


def _is_full(said: Ending) -> bool:
    """Whether a checker ended without an error, and its last line is nothing but the full score: `1` or `1.0`."""
    return said.kind == "exit" and said.status == 0 and bool(_FULL.fullmatch(_said(said)[-1]))


def _said(said: Ending) -> list[str]:
    """The lines that a checker printed; `[""]` if it printed nothing."""
    return said.stdout.decode(errors="replace").strip().splitlines() or [""]


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _holds(text: str, line: str) -> bool:
    """Whether a line is a number that is also a word of the text: true of the text `a 2.0` and the line `2`."""
    number = _number(line)
    return number is not None and any(_number(word) == number for word in text.split())


def _may_repeat(line: str, text: str) -> bool:
    """Whether a checker may have copied its last line from the output `text`: all digits of the line are in it, as
    those of `12` are in `x 2 1`, or the line is a number in it.
    """
    # digits of any script: a checker may read them as numbers
    given, said = ({unicodedata.digit(one) for one in part if one.isdecimal()} for part in (text, line))
    return said <= given or _holds(text, line)


def _drawn(text: str) -> list[dict[int, str]]:
    """Two tables for `str.translate`, each of which replaces every digit of `text` by another digit, from 2 to 8.

    `text` is an output that a checker judged. Judged again with other digits, it shows whether the checker copied its
    verdict from them; one table alone may happen to make another right output.
    """
    dice = random.Random(text.encode(errors="surrogateescape"))
    others = [dice.sample([other for other in "2345678" if other != digit], 2) for digit in string.digits]
    digits = {one for one in text if one.isdecimal()} | {*string.digits}
    return [{ord(one): others[unicodedata.digit(one)][at] for one in digits} for at in range(2)]


def _with_others(text: str, digits: dict[int, str]) -> list[str]:
    """Copies of the text with digits replaced. `1 5` becomes `2 3` and `2 5` if 2 replaces 1 and 3 replaces 5.

    In one copy all digits are replaced. In the others only words that are 1: all of them, all but the first, and all
    but the last, since a checker may treat another begin or end of the output differently.

    Args:
        text: an output.
        digits: the table by which digits are replaced.
    """
    ones = [word.span() for word in re.finditer(r"\S+", text) if _number(word[0]) == 1]
    found = []
    for spans in ([(0, len(text))], ones, ones[1:], ones[:-1]):
        parts, end = [], 0
        for begun, ended in spans:
            parts += [text[end:begun], text[begun:ended].translate(digits)]
            end = ended
        found.append("".join([*parts, text[end:]]))
    return [other for other in dict.fromkeys(found) if other != text]


def _follows(said: Ending, of_changed: Ending, changed: str, digits: dict[int, str]) -> bool:
    """Whether a checker copies its last line from the output that it judges: if the output's digits change, that line's
    digits change with them.

    False, too, if the lines above it change by more than their numbers. Then the checker judged the changed output in a
    different way, as a wrong one, and nothing is known.

    Args:
        said: the checker's run on the output.
        of_changed: its run on the output with other digits.
        changed: that output.
        digits: the table by which the digits were replaced.
    """
    (*above, last), (*others, other) = _said(said), _said(of_changed)
    shapes = [[_ANY_NUMBER.sub("#", line) for line in lines] for lines in (above, others)]
    is_read = _number(other) not in (0, 1) and _holds(changed, other)
    return shapes[0] == shapes[1] and (is_read or other.strip() == last.strip().translate(digits))
