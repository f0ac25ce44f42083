"""Whether what a program printed or returned is what its test expects.

All of it is hostile data, and none is run here. Where several outputs are right, the data set's own checker is asked.
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
# Items in any order that are only near to what is expected
_MOST_NEAR = 1000
_MOST_NEAR_LINES = 200
# Rounding errors of a long sum, relative to it; and what they leave of a difference that is 0
_ROUNDING, _NOTHING = 1e-9, Decimal("1e-12")
# A greater tolerance was chosen for the row
_FINE = 1e-6
# Of an integer as a float, and the digits that `%g` writes
_WHOLE_BELOW, _DIGITS_OF_G = 2**53, 6


def same_output(printed: str, expected: str, *, tolerance: float, unordered: bool = False) -> str | None:
    """None where `printed` is `expected`, else the first difference, in words without the expected part.

    Lines count, without white space at their ends and without empty lines at the end of all; in a line its words count.
    A word that `expected` writes with a decimal point is a number, and may differ by `tolerance`, absolutely or
    relatively.

    Args:
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
    if len(words) != len(other):
        return f"{len(words)} words, {len(other)} expected"
    pairs = zip(words, other, strict=True)
    return next((_short(word) for word, theirs in pairs if word != theirs and not _near(word, theirs, tolerance)), None)


def _other_line(got: Sequence[str], wanted: Sequence[str], tolerance: float) -> str | None:
    """A printed line that is none of those which are expected, in any order."""
    here, there = (Counter(tuple(line.split()) for line in lines) for lines in (got, wanted))
    left, missing = [*(here - there).elements()], [*(there - here).elements()]
    # those that are left differ in how they write a number, and most come in the order of their numbers
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
    """What sorts lines by the numbers in them."""
    return [(float(word), "") if len(word) <= _MOST_DIGITS and _NUMBER.match(word) else (0.0, word) for word in words]


# By which expected floats may differ where one data set has them twice
_NEAR_ENOUGH = 0.01


def contradicting(tests: TestSet) -> int:
    """The number of a test that expects something else than one before it, for the same input; 0 if none does.

    Every test has a process of its own, so no program passes both. Of tests that carry code those are looked at that
    are one assertion of one call of values; and what a checker is asked may have several outputs.
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
    """The call of values that one assertion makes, and the value that it must equal; None where it says more."""
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
    if len(word) > _MOST_DIGITS or not _REAL.match(expected) or not _NUMBER.match(word):
        return False
    try:
        got, wanted = Decimal(word), Decimal(expected)
    except InvalidOperation:
        return False
    return _is_near(got, wanted, tolerance)


def _is_near(got: Decimal, wanted: Decimal, tolerance: float) -> bool:
    """Whether a number differs from an expected one by no more than `tolerance`, absolutely or relatively.

    What is expected to be smaller than a fine tolerance is no 0; and a whole number is no estimate. Of both, the digits
    count that are written.
    """
    # as floats, all that are too great are one
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
    """Whether a function's result is one of the values `expected`, which come from JSON.

    A bool is no number. JSON has one kind of list, so a tuple is one; and keys of text, so a key `1` is `"1"`.

    Args:
        tolerance: by which a float may differ, absolutely or relatively. Where an int is expected, relatively only by
            rounding errors, and by less than a half.
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
    """An array as a list: arrays are read as arrays where this process has loaded their package."""
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
    # an infinite one, none, or an int too large for a float
    except (OverflowError, ValueError):
        return False
    # a float for an int may have rounding errors, and is no estimate: another integer never passes
    return off <= tolerance or (2 * off < 1 and off <= min(_ROUNDING, tolerance) * abs(expected))


def _same_items(got: Sequence[object], expected: Sequence[object], tolerance: float) -> bool:
    # by text first, whose hashes nobody can choose: what is near something must be searched for
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
    """One text for values that are the same, but for floats that differ by little."""
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
# of a checker, which may compare long outputs
_SECONDS = 10.0
_FULL = re.compile(r"\s*1(?:\.0*)?\s*", re.ASCII)
_ANY_NUMBER = re.compile(r"[-+.\d]+")
# What may be read as a number that is not finite
_NOT_FINITE = re.compile(rb"nan|inf|e\+?[0-9]{3}|[0-9]{300}", re.IGNORECASE)


# The sixth power of a larger number is no finite float
_HUGE = 1e50
_FLOAT = re.compile(r"(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d[\d_]*)?")


def _overflows(text: str, *, whole: bool) -> bool:
    """Whether a text has a number, alone or beside a unit, that a calculation with floats may make infinite.

    The difference of two such is NaN, and no comparison with that is true, also not that of an error with a bound.

    Args:
        whole: whether whole numbers are read as floats, too; else they are exact.
    """
    found = (one[0].replace("_", "") for one in _FLOAT.finditer(text))
    return any(float(one) >= _HUGE for one in found if whole or any(mark in one for mark in ".eE"))


class CheckerError(Exception):
    """The checker does not even accept the data set's own output; the message says what it does."""


def accepts(
    jail: Callable[[], Jail], checker: str, test: StdinTest, printed: bytes, seconds: float
) -> tuple[bool, float]:
    """Whether the checker gives `printed` the full score, and how many of its seconds that took. It runs in a jail
    without the program.

    A checker that refuses `printed`, or fails on it, must accept the data set's own output. Its `eval` reads data, and
    `exec` and `compile` raise: what it is given may be code of the program's.

    Args:
        jail: gives one for each question: `printed` can send the checker over its bounds, with which its jail ends.
        seconds: that it may take over `printed`, which can make it loop.

    Raises:
        CheckerError: it accepts neither.
        JailBroken: the jail failed.
    """
    begun = time.monotonic()
    said = _asked(jail(), checker, test, printed, min(_SECONDS, seconds))
    taken = time.monotonic() - begun

    def said_of(changed: str) -> Ending:
        seconds = 1.0 + 2 * said.cpu_seconds
        return _asked(jail(), checker, test, changed.encode(errors="surrogateescape"), seconds)

    text = printed.decode(errors="surrogateescape")
    odd = [_overflows(one, whole="float" in checker) for one in (test.given, test.expected, text)]
    if _is_full(said) and odd != [False, False, True]:
        if same_output(text, test.expected, tolerance=0.0) is None:
            return True, taken
        drawn = _drawn(text) if _may_repeat(_said(said)[-1], text) else []
        others = [(one, digits) for digits in drawn for one in _with_others(text, digits)]
        if not any(_follows(said, said_of(one), one, digits) for one, digits in others):
            return True, taken
    own = _asked(jail(), checker, test, test.expected.encode(errors="replace"), _SECONDS)
    if not _is_full(own):
        how = f"{own.kind}, exit code {own.status}, {own.stdout[:100]!r}"
        raise CheckerError(f"the checker of the row does not accept its own output: {how}")
    return False, time.monotonic() - begun


def _asked(jail: Jail, checker: str, test: StdinTest, printed: bytes, seconds: float) -> Ending:
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
    """Whether a checker has ended well, and by a line which is the full score and nothing else."""
    return said.kind == "exit" and said.status == 0 and bool(_FULL.fullmatch(_said(said)[-1]))


def _said(said: Ending) -> list[str]:
    return said.stdout.decode(errors="replace").strip().splitlines() or [""]


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _holds(text: str, line: str) -> bool:
    number = _number(line)
    return number is not None and any(_number(word) == number for word in text.split())


def _may_repeat(line: str, text: str) -> bool:
    """Whether a checker's line may be made of the output: of its digits, or by reading a number in it."""
    # in whatever script they are: a checker may read them as numbers
    given, said = ({unicodedata.digit(one) for one in part if one.isdecimal()} for part in (text, line))
    return said <= given or _holds(text, line)


def _drawn(text: str) -> list[dict[int, str]]:
    """Twice, for each digit another one, but neither 0, 1 nor 9: one alone may make another right output."""
    dice = random.Random(text.encode(errors="surrogateescape"))
    others = [dice.sample([other for other in "2345678" if other != digit], 2) for digit in string.digits]
    digits = {one for one in text if one.isdecimal()} | {*string.digits}
    return [{ord(one): others[unicodedata.digit(one)][at] for one in digits} for at in range(2)]


def _with_others(text: str, digits: dict[int, str]) -> list[str]:
    """The text with other digits: in all places; and in the words alone that are 1, but for the first, and but for the
    last, since for another beginning or end a checker may go another way.
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
    """Whether a checker's last line comes from the output: other digits there are its digits.

    Above it, the checker must say the same but for numbers: one that accepts an output need not say what it says of a
    wrong one.
    """
    (*above, last), (*others, other) = _said(said), _said(of_changed)
    shapes = [[_ANY_NUMBER.sub("#", line) for line in lines] for lines in (above, others)]
    is_read = _number(other) not in (0, 1) and _holds(changed, other)
    return shapes[0] == shapes[1] and (is_read or other.strip() == last.strip().translate(digits))
