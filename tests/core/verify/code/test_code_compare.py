"""What counts as the same output, and as the same value: exact where data are exact, forgiving where print is."""

from __future__ import annotations

import math
import string
import time
import unicodedata
from collections import Counter, OrderedDict, deque
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from agentscope_tuner._jail.jail import Ending
from agentscope_tuner.verify.code import compare_output
from agentscope_tuner.verify.code.compare_output import _overflows, contradicting, same_output, same_value
from agentscope_tuner.verify.code.formats import read_tests


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("8\n", "8", True),
        ("8  \n\n\n", "8\n", True),
        ("8\r\n9\r\n", "8\n9\n", True),
        ("1  2", "1 2", True),
        ("", "8", False),
        ("8\n8", "8", False),
        ("1 2", "1\n2", False),
        ("b\na\n", "a\nb", False),
        ("9", "8", False),
        ("0.3333333", "0.333333333", True),
        ("0.5", "0.50", True),
        ("1", "1.0", True),
        ("0.334", "0.333", False),
        # what is small is no 0, and may be written with fewer digits, on either side
        ("0", "0.00000095", False),
        ("0.000000", "2.4e-07", False),
        ("3.1e-07", "2.4e-07", False),
        ("9.5367431640625e-07", "0.00000095", True),
        ("0.000001", "9.5367e-07", True),
        ("0", "2.220446e-16", True),
        ("0.0000005", "0.0", True),
        # a whole number is no estimate
        ("20240130", "20240131.0", False),
        ("1700000500", "1700000000.5", False),
        ("3000000.00", "3000001.25", False),
        ("3000001", "3000001.25", True),
        ("3000001.2503", "3000001.25", True),
        ("1234567", "1.23457e+06", False),
        ("3e+06", "3000001.25", True),
        ("1999999999", "2e+09", True),
        ("123456789012345683968", "1.2345678901234568e+20", True),
        ("1e400", "1.5", False),
        ("nan", "1.5", False),
        ("inf", "1.5", False),
        # an expected integer is no measure
        ("8.0", "8", False),
        ("8.0000001", "8", False),
        ("abc", "ABC", False),
        ("9" * 1000, "1.5", False),
        ("1_0", "10", False),
        ("٨", "8", False),
        ("YES\0", "YES", False),
    ],
)
def test_outputs(printed: str, expected: str, same: bool) -> None:
    assert (same_output(printed, expected, tolerance=1e-6) is None) == same


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("b\na\n", "a\nb", True),
        ("2.0\n9.9999999\n", "10.0\n2.0\n", True),
        (" 10 a\n  9 b\n", "9 b\n10 a\n", True),
        ("a\t1\nb 2\n", "b 2\na 1", True),
        ("1.0000001 b\n0.9999999 a\n", "1.0 a\n1.0 b\n", True),
        ("0.50 x\n1e1 y\n", "10.0 y\n0.5 x\n", True),
        ("1\n2\n1\n", "2\n1\n1\n", True),
        ("1\n2\n2\n", "2\n1\n1\n", False),
        ("2.0\n9.9\n", "10.0\n2.0\n", False),
        ("1.0000001 b\n0.9999999 b\n", "1.0 a\n1.0 b\n", False),
        ("10\n2\n", "10 2", False),
        ("b a\n", "a b\n", False),
        ("10.0\n2.0\n2.0\n", "10.0\n2.0\n", False),
        ("\n".join(f"{number}.0000001" for number in range(3000)), "\n".join(map("{}.0".format, range(3000))), True),
        ("\n".join(["1.1 a"] * 3000), "\n".join(map("{}.0 b".format, range(3000))), False),
    ],
)
def test_lines_in_any_order_where_the_row_says_so(printed: str, expected: str, same: bool) -> None:
    assert (same_output(printed, expected, tolerance=1e-6, unordered=True) is None) == same


def test_a_difference_does_not_tell_the_expected_output() -> None:
    difference = same_output("7\n", "secret", tolerance=0)
    assert difference is not None
    assert "secret" not in difference


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        (1, 1, True),
        (True, 1, False),
        (1, True, False),
        (0, False, False),
        (None, None, True),
        (None, 0, False),
        ("1", 1, False),
        (1, "1", False),
        (b"a", "a", False),
        (2.0, 2, True),
        (2.0000000001, 2.0, True),
        (2.1, 2.0, False),
        (0.0, 9.5367e-07, False),
        (9.5367431640625e-07, 9.5367e-07, True),
        (-0.0, 1.1e-16, True),
        (1e-9, 0.0, True),
        (3000000.0, 3000001.25, False),
        (20240130, 20240131.0, False),
        (20240131, 20240131.0, True),
        (20240131.3, 20240131.0, True),
        (2.0**60 + 4096, 2.0**60, True),
        (math.nan, math.nan, False),
        (math.inf, 1.0, False),
        (10**400, 1.0, False),
        ([1, 2], [1, 2], True),
        ((1, 2), [1, 2], True),
        ({1, 2}, [1, 2], False),
        ([1, [2, (3,)]], [1, [2, [3]]], True),
        ([2, 1], [1, 2], False),
        ([1], [1, 2], False),
        ({"a": 1}, {"a": 1}, True),
        ({1: "x"}, {"1": "x"}, True),
        ({1: "x", "1": "x"}, {"1": "x"}, False),
        ({}, [], False),
        ([], {}, False),
        (complex(1, 0), 1, False),
        # where an int is expected, rounding errors of a long sum, and no other integer
        (1e15 + 0.125, 10**15, True),
        (1e15 + 1, 10**15, False),
        (1e15 * (1 + 4e-7), 10**15, False),
        (1e18, 10**18 + 1, False),
        (2.0000001, 2, True),
        (2.4, 2, False),
        (math.inf, 10**400, False),
        (math.nan, 1, False),
    ],
)
def test_values(got: object, expected: object, same: bool) -> None:
    assert same_value(got, [expected], tolerance=1e-6) == same


def test_items_in_any_order_where_the_row_says_so() -> None:
    assert same_value([[2], [1]], [[[1], [2]]], tolerance=0, unordered=True)
    assert not same_value([[1], [1]], [[[1], [2]]], tolerance=0, unordered=True)
    assert same_value([3, 1, 2], [[1, 2, 3]], tolerance=0, unordered=True)


def test_a_number_too_long_to_print_is_another() -> None:
    for got, expected in (([10**5000, 2], [1, 2]), ({10**5000: 2}, {"a": 2}), (10**5000, 1.5)):
        assert not same_value(got, [expected], tolerance=1e-6, unordered=True)


_LONG = 10**5000


@pytest.mark.parametrize(
    "item",
    [
        *(_LONG, -_LONG, {_LONG}, frozenset([_LONG]), deque([_LONG]), range(_LONG), slice(_LONG), Fraction(1, _LONG)),
        *({_LONG: 1}, {(_LONG,): 1}, {frozenset([_LONG]): 1}, {1: {_LONG: {_LONG}}}, OrderedDict([(_LONG, 1)])),
        *((_LONG, [_LONG]), [[{_LONG}]], Counter({_LONG: 1}), {range(_LONG): 1}, ({(1, (_LONG,)): {}},)),
        *(Decimal("sNaN"), Decimal("1e9999"), float("inf"), complex("inf"), b"\xff", bytearray(b"\xff"), Ellipsis),
    ],
    ids=lambda item: type(item).__name__,
)
def test_a_value_that_no_json_holds_is_another_wherever_it_stands(item: object) -> None:
    for got in (item, [item, 2], [2, item], [[2], [item]], {"a": item}, [{"a": [item]}, 2]):
        for expected in (2, 2.5, "a", [1, 2], [2.5, 2], [[1], [2]], {"a": 2}, [{"a": [1]}, 2]):
            for unordered in (True, False):
                assert not same_value(got, [expected], tolerance=1e-6, unordered=unordered)


def test_an_array_is_a_list_though_the_grader_has_loaded_its_package() -> None:
    class Array:
        __module__ = "numpy"

        def __init__(self, items: object) -> None:
            self._items = items

        def tolist(self) -> object:
            return self._items

    def same(got: object, expected: object, *, unordered: bool = False) -> bool:
        return same_value(got, [expected], tolerance=1e-6, unordered=unordered)

    assert same(Array([1, 2]), [1, 2])
    assert same({"a": [Array([[1.0], [2.0]])]}, {"a": [[[1], [2]]]})
    assert same([Array([2]), Array([1])], [[1], [2]], unordered=True)
    assert same(Array([2, 1]), [1, 2], unordered=True)
    assert not same(Array([2, 1]), [1, 2])
    assert not same(Array([1]), [1, 2])


def test_many_items_in_any_order_are_compared_at_once() -> None:
    """Each was searched for among all others: three thousand took six seconds, and a policy may choose the order."""
    rows = [[number, number + 0.5, {"a": number}] for number in range(10_000)]
    started = time.process_time()
    assert same_value(rows[::-1], [rows], tolerance=1e-6, unordered=True)
    assert not same_value([*rows[:0:-1], [0, 0.5, {"a": 1}]], [rows], tolerance=1e-6, unordered=True)
    assert not same_value([[0, 0.5000001, {}]] * len(rows), [rows], tolerance=1e-6, unordered=True)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        ([0, "", [], None], [None, [], "", 0], True),
        ([1.0, 2], [2.0, 1], True),
        ([[1.0000001, 2]], [[1.0, 2]], True),
        ([(1, 2), (2, 1)], [[2, 1], [1, 2]], True),
        ([True, 1], [1, 1], False),
        ([1, 1, 2], [1, 2, 2], False),
        ([0.1 + 0.2, 0.3], [0.3, 0.3], True),
        ([{"a": 1, "b": [2]}], [{"b": [2], "a": 1}], True),
    ],
)
def test_items_in_any_order(got: list[object], expected: list[object], same: bool) -> None:
    assert same_value(got, [expected], tolerance=1e-6, unordered=True) is same


@pytest.mark.parametrize(
    ("text", "overflows"),
    [
        *(
            (text, True)
            for text in ("9e307", "-9E+307", "[2e999, 2]", '{"x":2e9_99}', "3\n1e100", "1" * 400 + ".0", "x1e200")
        ),
        *((text, False) for text in ("1.5e3 2e5", "1" * 400, "1e-300", "hello1e5", "inf", "-" * 100_000)),
    ],
)
def test_a_number_that_a_checker_may_make_infinite_is_found(text: str, overflows: bool) -> None:
    assert _overflows(text, whole=False) is overflows


_LETTERS = "abcde" * 13


@pytest.mark.parametrize(
    ("printed", "expected", "unordered", "why"),
    [
        ("8\n8", "8", False, "2 lines are printed, 1 expected"),
        ("", "1", False, "0 lines are printed, 1 expected"),
        ("1\n\n2", "1\n2", False, "3 lines are printed, 2 expected"),
        ("\n1", "1", True, "2 lines are printed, 1 expected"),
        ("7", "8", False, "line 1 has '7'"),
        ("a\nb c\n", "a\nb d\n", False, "line 2 has 'c'"),
        ("1 2", "1", False, "line 1 has 2 words, 1 expected"),
        (_LETTERS[:60], "b", False, f"line 1 has '{_LETTERS[:60]}'"),
        (_LETTERS[:61], "b", False, f"line 1 has '{_LETTERS[:30]}…{_LETTERS[31:61]}'"),
        ("b\na c", "a c\nd", True, "one line is 'b'"),
        ("x  y", "y", True, "one line is 'x y'"),
        ("1.0\n2.0", "1.0\n3.0", True, "one line is '2.0'"),
    ],
)
def test_the_first_difference_in_words(printed: str, expected: str, unordered: bool, why: str) -> None:
    assert same_output(printed, expected, tolerance=0.1, unordered=unordered) == why


@pytest.mark.parametrize(
    ("row", "compared", "number"),
    [
        ({"inputs": ["1", "1"], "outputs": ["2", "3"]}, {}, 2),
        ({"inputs": ["1", "2"], "outputs": ["2", "3"]}, {}, 0),
        ({"inputs": ["1", "1"], "outputs": ["2", "2 "]}, {}, 0),
        ({"inputs": ["1", "1"], "outputs": ["2.0", "2.005"]}, {}, 0),
        ({"inputs": ["1", "1"], "outputs": ["2.0", "2.05"]}, {}, 2),
        ({"inputs": ["1", "1"], "outputs": ["2", "3"]}, {"checker": "x"}, 0),
        ({"inputs": ["1", "1"], "outputs": ["a\nb", "b\na"]}, {}, 2),
        ({"inputs": ["1", "1"], "outputs": ["a\nb", "b\na"]}, {"unordered": True}, 0),
        ({"inputs": [[1], [2], [1]], "outputs": [1, 1, 2], "fn_name": "f"}, {}, 3),
        ({"inputs": [[1], [1]], "outputs": [1.0, 1.001], "fn_name": "f"}, {}, 0),
        ({"inputs": [[1], ["1"]], "outputs": [1, 2], "fn_name": "f"}, {}, 0),
        ({"inputs": [[1], [1]], "outputs": [[1, 2], [2, 1]], "fn_name": "f"}, {}, 2),
        ({"inputs": [[1], [1]], "outputs": [[1, 2], [2, 1]], "fn_name": "f"}, {"unordered": True}, 0),
        (["assert f(1) == 2", "assert f(1) == 2", "assert f(1) == 4"], {}, 3),
        (["assert f(1, a=2) == 2", "assert f(1, a=2) == 3"], {}, 2),
        (["assert f(1, a=2) == 2", "assert f(1, a=3) == 3"], {}, 0),
        # an object may equal both; and what is not written there may be anything
        (["assert f(1) == 2", "assert f(1) == '3'"], {}, 0),
        (["assert f(x) == 2", "assert f(x) == 3"], {}, 0),
        (["assert f(1, a=x) == 2", "assert f(1, a=x) == 3"], {}, 0),
        (["assert f(1) == g(2)", "assert f(1) == 3"], {}, 0),
        (["assert f(1) == 2", "assert f(1) != 3"], {}, 0),
        (["assert f(1) == 2", "assert f(1) == 3 == 3"], {}, 0),
        (["assert f(1) == 2", "x = f(1)\nassert x == 3"], {}, 0),
        (["assert a.f(1) == 2", "assert a.f(1) == 3"], {}, 0),
        ({"test_list": ["assert f(1) == 2", "assert f(1) == 3"], "test_setup_code": "x = 1"}, {}, 0),
        ({"test_list": ["assert f(1) == 2", "assert f(1) == 3"], "test_setup_code": " \n"}, {}, 2),
    ],
)
def test_a_test_that_contradicts_one_before_it(row: object, compared: dict[str, Any], number: int) -> None:
    assert contradicting(replace(read_tests(row), **compared)) == number


def _printed(text: str, **ended: Any) -> Ending:
    return Ending(**{"kind": "exit", "stdout": text.encode(), **ended})


@pytest.mark.parametrize(
    ("printed", "is_full"),
    [
        *((one, True) for one in ("1", "1.0", " 1.00 \n", "why\n 1.")),
        *((one, False) for one in ("0", "1 2", "11", "", "٣", "1\n0", "1,0", "0.1", "1e0")),
    ],
)
def test_a_full_score_is_a_last_line_of_one(printed: str, is_full: bool) -> None:
    assert compare_output._is_full(_printed(printed)) is is_full
    assert not compare_output._is_full(_printed(printed, status=1))
    assert not compare_output._is_full(_printed(printed, kind="cpu"))


@pytest.mark.parametrize(
    ("line", "output", "may"),
    [
        ("12", "2 1", True),
        ("13", "2 1", False),
        ("1.0", "1", True),
        ("10", "x 1e1", True),
        ("٢", "2", True),
        ("2", "٢", True),
        ("5", "five", False),
        ("fine", "x", True),
    ],
)
def test_a_line_that_a_checker_may_have_made_of_an_output(line: str, output: str, may: bool) -> None:
    assert compare_output._may_repeat(line, output) is may


def test_the_digits_that_are_drawn_are_others() -> None:
    drawn = compare_output._drawn("7٣")
    assert drawn == compare_output._drawn("7٣") != compare_output._drawn("8٣")
    assert [{*map(chr, one)} for one in drawn] == [{*string.digits, "٣"}] * 2
    for first, second in zip(*(one.items() for one in drawn), strict=True):
        assert {first[1], second[1]} <= {*"2345678"} - {str(unicodedata.digit(chr(first[0])))}
        assert first[1] != second[1]
    assert all(one[ord("٣")] == one[ord("3")] for one in drawn)


_OTHERS = dict(zip(map(ord, string.digits), "2345678345", strict=True))


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("1 2 1 3 1.0", ["3 4 3 5 3.2", "3 2 3 3 3.2", "1 2 3 3 3.2", "3 2 3 3 1.0"]),
        ("01\n1", ["23\n3", "01\n3", "23\n1"]),
        ("1", ["3"]),
        ("5", ["7"]),
        ("10 x", ["32 x"]),
        ("x", []),
    ],
)
def test_a_text_with_other_digits(text: str, others: list[str]) -> None:
    assert compare_output._with_others(text, _OTHERS) == others


@pytest.mark.parametrize(
    ("said", "of_other", "other", "follows"),
    [
        ("1", "3", "3", True),
        ("1 ", "3", "x", True),
        ("1", "1", "3", False),
        # read as a number, but for what is a score
        ("1", "7", "7 2", True),
        ("1", "7.0", "2 7", True),
        ("1", "7", "2", False),
        ("1", "0", "0", False),
        ("ok\n12", "ok\n34", "34", True),
        ("n 12\n1", "n 13\n3", "3", True),
        ("n 12\n1", "n -1.5\n3", "3", True),
        ("a\n1", "b\n3", "3", False),
        ("1", "a\n3", "3", False),
    ],
)
def test_a_line_that_follows_the_output(said: str, of_other: str, other: str, follows: bool) -> None:
    assert compare_output._follows(_printed(said), _printed(of_other), other, _OTHERS) is follows
