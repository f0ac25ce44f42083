"""Tests of programs are read as data sets have them, and what is none of them is refused with its reason."""

from __future__ import annotations

import ast
import base64
import gc
import json
import pickle
import subprocess
import sys
import zlib
from dataclasses import replace
from typing import Any

import pytest

from agentscope_tuner.verify.code.formats import BadTestsError, CallTest, CodeTest, StdinTest, TestSet, read_tests
from agentscope_tuner.verify.code.grade import _packages_of

_SAMPLES = [{"input": "1\n", "output": "2\n", "testtype": "stdin"}]
_CALLS = [{"input": "[1, 2]\n3", "output": "true", "testtype": "functional"}]


def _test_file(body: str) -> dict[str, str]:
    return {"framework": "pytest", "module": "m", "test": f"from m import f\ndef test_f(self):\n{body}\n"}


@pytest.mark.parametrize(
    "row",
    [
        ["assert f(1) == 2, 2"],
        ["assert f(1), 'two'"],
        ["assert (f(1) == 2)"],
        ["assert (\n    f(1)\n    == (1, 2)\n), (1, 2)"],
        ["assert [x for x in f(1)]"],
        ["assert f(1), f'{f(2)}'"],
        _test_file("    self.assertTrue(f(1) == 2, 2)"),
        _test_file("    self.assertTrue(f(1), 'two')"),
        _test_file("    with pytest.raises(TypeError):\n        f(1) < f(2)"),
        _test_file("    if f(1) != 2:\n        raise ValueError"),
        _test_file("    same(f(1), 2)\n    f(1) == 2\ndef same(a, b):\n    assert a == b"),
        _test_file("    f(1)\ndef test_b(self):\n    assert f(2)"),
        _test_file("    np.testing.assert_allclose(f(1), 2)"),
        _test_file("    f(1) == 2 or pytest.fail('two')"),
        _test_file("    assert same(f(1), 2)\ndef same(a, b):\n    return a == b"),
        {"prompt": "def same(a, b):\n    assert a == b\ndef f(x):\n", "test": "def check(c):\n    same(c(1), 2)\n"}
        | {"entry_point": "f"},
        {"inputs": [[1], [2]], "outputs": [None, 1], "fn_name": "f"},
        {"inputs": [[1], [2]], "outputs": [[None, None], [None, None]], "fn_name": "f"},
        {"inputs": [[1]], "outputs": ["NaN is no number"], "fn_name": "f"},
    ],
)
def test_a_row_that_asserts_what_it_means_is_read(row: object) -> None:
    assert read_tests(row).tests


def _packed(value: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


@pytest.mark.parametrize(
    "row",
    [
        {"inputs": ["1\n"], "outputs": ["2\n"]},
        json.dumps({"inputs": ["1\n"], "outputs": ["2\n"]}),
        {"verifier_metadata": {"unit_tests": {"inputs": ["1\n"], "outputs": ["2\n"]}}},
        {"input_output": json.dumps({"inputs": ["1\n"], "outputs": ["2\n"]})},
        {"verification_info": {"language": "python", "test_cases": [{"input": "1\n", "output": "2\n"}]}},
        {"public_test_cases": json.dumps(_SAMPLES)},
        {"private_test_cases": _packed(json.dumps(_SAMPLES))},
        {"private_test_cases": json.dumps(_SAMPLES), "metadata": "{}"},
        [{"input": "1\n", "output": "2\n"}],
        json.dumps([{"type": "stdin_stdout", "fn_name": None, "input": "1\n", "output": "2\n"}]),
        # TACO keeps some texts as lists of lines
        {"inputs": [["1", ""]], "outputs": [["2", ""]]},
        {"tests": {"inputs": ["1\n"], "outputs": ["2\n"]}, "difficulty": "easy"},
    ],
)
def test_rows_of_standard_input_and_output(row: object) -> None:
    (test,) = read_tests(row).tests
    assert isinstance(test, StdinTest)
    assert (test.given, test.expected, test.number) == ("1\n", "2\n", 1)


@pytest.mark.parametrize(
    ("row", "arguments", "expected"),
    [
        ({"inputs": [[1, 2]], "outputs": [3], "fn_name": "f"}, [1, 2], [3]),
        # APPS wraps what it expects
        ({"inputs": [[1, 2]], "outputs": [[3]], "fn_name": "f"}, [1, 2], [[3], 3]),
        ({"inputs": ["[1, 2]\n3"], "outputs": ["true"], "fn_name": "f"}, [[1, 2], 3], [True]),
        ({"inputs": ['"a"'], "outputs": ["not JSON"], "fn_name": "f"}, ["a"], ["not JSON"]),
        ({"public_test_cases": json.dumps(_CALLS), "metadata": '{"func_name": "f"}'}, [[1, 2], 3], [True]),
        ([{"input": [1], "output": 2, "fn_name": "f", "type": "function_call"}], [1], [2]),
        # PrimeIntellect keeps what APPS wraps, DeepCoder names the function in each test
        ([{"input": [1], "output": [2], "fn_name": "f", "type": "function_call"}], [1], [[2], 2]),
        ([_CALLS[0] | {"metadata": {"func_name": "f"}}], [[1, 2], 3], [True]),
    ],
)
def test_rows_of_calls(row: object, arguments: list[object], expected: list[object]) -> None:
    (test,) = read_tests(row).tests
    assert isinstance(test, CallTest)
    assert (test.name, list(test.arguments), list(test.expected)) == ("f", arguments, expected)


@pytest.mark.parametrize(
    ("row", "kinds"),
    [
        (["assert f(1) == 2", "assert f(2) == 3"], ["assert", "assert"]),
        (
            {"test_list": ["assert f(1) == 2"], "test_setup_code": "x = 1", "challenge_test_list": ["assert f(0)"]},
            ["assert"] * 2,
        ),
        ({"prompt": "def f(x):\n", "test": "def check(candidate): assert candidate(1)", "entry_point": "f"}, ["check"]),
        ({"framework": "pytest", "module": "thing", "test": "def test_a(): assert f(1)"}, ["file"]),
        ("from solution import f\ndef test_a():\n    assert f(1)", ["file"]),
        ({"solution": "f = abs", "test": "from solution import f\ndef test_a():\n    assert f(1)"}, ["file"]),
        ({"test_code": "from solution import f\ndef test_a():\n    assert f(1)", "style": "instruct"}, ["file"]),
        (
            {
                "prompt": "def f(x):\n",
                "test": "class T(unittest.TestCase):\n  def test_a(self): assert f(1)",
                "entry_point": "f",
            },
            ["file"],
        ),
        ({"inputs": [], "outputs": [], "fn_name": "f", "assert_case": ["assert f(1)"]}, ["assert"]),
    ],
)
def test_rows_of_code(row: object, kinds: list[str]) -> None:
    tests = read_tests(row).tests
    assert [test.kind for test in tests if isinstance(test, CodeTest)] == kinds


def test_what_stands_in_the_row_beside_the_tests() -> None:
    prompt = "import math\ndef helper(): pass\ndef f(x):\n    '''doc'''\n"
    found = read_tests(
        {
            "prompt": prompt,
            "test": "def check(c): assert c(1)",
            "entry_point": "f",
            "canonical_solution": "    return 1\n",
        }
    )
    assert (found.preamble, found.entry) == ("import math\ndef helper(): pass\n", "f")
    assert found.solution == prompt + "    return 1\n"
    found = read_tests(
        {"inputs": ["1", "2"], "outputs": ["1", "2"], "tolerance": 0.1, "unordered": True, "weights": [1, 3]}
    )
    assert (found.tolerance, found.unordered, list(found.weights)) == (0.1, True, [1.0, 3.0])
    assert [test.public for test in read_tests({"public_test_cases": json.dumps(_SAMPLES)}).tests] == [True]


_ONE = [StdinTest("1", "2", number=1)]
_PLAIN = {"inputs": ["1"], "outputs": ["2"]}
_IN_FILE = "def test_a(): assert f(1)"


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (
            {"inputs": ["1", "3"], "outputs": ["2", "4"], "language": " Python ", "tolerance": 0, "unordered": 1},
            TestSet([*_ONE, StdinTest("3", "4", number=2)], language="python", tolerance=0.0),
        ),
        # a right program, by the first of its names
        (_PLAIN | {"canonical_solution": "c", "code": "d"}, TestSet(_ONE, solution="c")),
        (_PLAIN | {"solution": "s", "canonical_solution": "c"}, TestSet(_ONE, solution="s")),
        (_PLAIN | {"code": "d", "reference_solution": "r"}, TestSet(_ONE, solution="d")),
        (_PLAIN | {"reference_solution": "r"}, TestSet(_ONE, solution="r")),
        (_PLAIN | {"solution": ["s"], "generated_checker": ["a", "b"], "checker": "c"}, TestSet(_ONE, checker="a\nb")),
        # what stands nearer to the tests counts, but for how they are compared
        (
            {
                "verification_info": {"language": "Cpp", "solution": "in", "tests": _PLAIN | {"tolerance": 0.5}},
                "language": "java",
                "solution": "out",
                "tolerance": 0.1,
                "weights": [3],
            },
            TestSet(_ONE, language="cpp", solution="in", tolerance=0.1, weights=[3.0]),
        ),
        ({"tests": _PLAIN, "language": "Java "}, TestSet(_ONE, language="java")),
        (
            {
                "public_test_cases": json.dumps(_SAMPLES),
                "private_test_cases": json.dumps([{"input": "3", "output": "4"}]),
                "metadata": '{"func_name": null}',
            },
            TestSet([StdinTest("1\n", "2\n", public=True, number=1), StdinTest("3", "4", number=2)]),
        ),
        (
            {"public_test_cases": [*_SAMPLES, {"input": "1", "output": "2"}], "metadata": {"func_name": "f"}},
            TestSet(
                [
                    StdinTest("1\n", "2\n", public=True, number=1),
                    CallTest("f", [1], [2], size=3, public=True, number=2, length=3),
                ]
            ),
        ),
        ([{"input": "1", "output": "2", "fn_name": "g", "testtype": "stdin_stdout"}], TestSet(_ONE)),
        (
            [{"input": "1\n[2, 3]", "output": "45", "fn_name": "g", "metadata": {"func_name": "f"}}],
            TestSet([CallTest("g", [1, [2, 3]], [45], size=11, number=1, length=4)]),
        ),
        (
            {"inputs": [["1"], ["2"]], "outputs": [[10], [11]], "fn_name": "f"},
            TestSet(
                [
                    CallTest("f", ["1"], [[10], 10], size=5, number=1, length=5),
                    CallTest("f", ["2"], [[11], 11], size=5, number=2, length=5),
                ]
            ),
        ),
        (
            {"test_list": ["assert f(1)"], "test_imports": ["import a", "import b"]},
            TestSet([CodeTest("assert", "assert f(1)", "import a\nimport b", number=1)]),
        ),
        (
            {"test_list": ["assert f(1)"], "challenge_test_list": '["assert f(2)"]', "test_setup_code": "import c"},
            TestSet(
                [
                    CodeTest("assert", "assert f(1)", "import c", number=1),
                    CodeTest("assert", "assert f(2)", "import c", number=2),
                ]
            ),
        ),
        (
            {"framework": " PyTest", "test": _IN_FILE},
            TestSet([CodeTest("file", _IN_FILE, modules=("solution", "main"), framework="pytest", number=1)]),
        ),
        (
            {"framework": "unittest", "module": "a.py", "test": _IN_FILE},
            TestSet([CodeTest("file", _IN_FILE, modules=("a", "solution", "main"), number=1)]),
        ),
        (
            {"framework": "unittest", "module": "main", "test": _IN_FILE},
            TestSet([CodeTest("file", _IN_FILE, modules=("main", "solution"), number=1)]),
        ),
        # its own call of `check` is none of the tests
        (
            {
                "prompt": "def f(x):\n",
                "test": "def check(c):\n  assert c(1)\n\ncheck(\n  f)\n",
                "entry_point": "Solution().f",
                "canonical_solution": "  return 1",
            },
            TestSet(
                [CodeTest("check", "def check(c):\n  assert c(1)\n\n\n\n", entry="f", number=1)],
                prompt="def f(x):\n",
                entry="f",
                solution="def f(x):\n  return 1",
            ),
        ),
        (
            {"prompt": "import a\ndef f(x):\n", "test": "def check(c): assert f(1)", "entry_point": "f"},
            TestSet(
                [CodeTest("check", "def check(c): assert f(1)", "import a\n", "f", number=1)],
                preamble="import a\n",
                prompt="import a\ndef f(x):\n",
                entry="f",
            ),
        ),
        (
            {"test": "class T(unittest.TestCase):\n  def test_a(self): assert f(1)", "entry_point": "f"},
            TestSet(
                [
                    CodeTest(
                        "file",
                        "class T(unittest.TestCase):\n  def test_a(self): assert f(1)",
                        modules=("solution", "main"),
                        number=1,
                    )
                ],
                entry="f",
            ),
        ),
        (
            {"assert_case": ["x = 1", "assert f(x)"]},
            TestSet([CodeTest("assert", "x = 1\nassert f(x)", number=1)]),
        ),
        ({"official_tests": {"tests": json.dumps(_PLAIN)}}, TestSet(_ONE)),
    ],
)
def test_all_that_a_row_says_is_read(row: object, found: TestSet) -> None:
    # an empty list is as good as an empty tuple
    read = read_tests(row)
    assert replace(read, weights=tuple(read.weights)) == replace(found, weights=tuple(found.weights))


def test_the_row_around_the_tests_may_say_how_they_are_compared() -> None:
    row = {"solution": "s", "tolerance": 0.5, "unordered": True, "language": "java", "checker": "c"}
    whole = TestSet(_ONE, solution="s", tolerance=0.5, unordered=True, weights=[2.0])
    assert read_tests(_PLAIN, row | {"weights": [2]}) == whole
    # weights of something else
    for weights in ([2, 3], [], 2, None):
        assert read_tests(_PLAIN, row | {"weights": weights}) == replace(whole, weights=[])
    assert read_tests(_PLAIN | {"solution": "own"}, {"solution": "s"}).solution == "own"


@pytest.mark.parametrize(
    ("sources", "tests"),
    [
        (
            ["a = 1", "b = 2", "assert f(a)", "a += 1", "assert f(a, b)", "assert g()"],
            ["a = 1\nassert f(a)", "a = 1\nb = 2\nassert f(a)\na += 1\nassert f(a, b)", "assert g()"],
        ),
        (["a = 1", "a = 2", "assert f(a)"], ["a = 1\na = 2\nassert f(a)"]),
        (
            ["x = f(1)\nassert x == 1", "assert x == 2"],
            ["x = f(1)\nassert x == 1", "x = f(1)\nassert x == 1\nassert x == 2"],
        ),
        (["a = []", "a.append(1)", "assert f(a)"], ["a = []\na.append(1)\nassert f(a)"]),
        (["import m", "assert m.x(f(1))", "assert f(2)"], ["import m\nassert m.x(f(1))", "assert f(2)"]),
        (["def same(a): return a", "assert same(f(1))"], ["def same(a): return a\nassert same(f(1))"]),
        (["a = 1\nassert f(a)", "a = 2\nassert f(a)"], ["a = 1\nassert f(a)", "a = 2\nassert f(a)"]),
        (["a: int = 1", "b = a", "assert f(b)"], ["a: int = 1\nb = a\nassert f(b)"]),
    ],
)
def test_a_test_stands_behind_those_that_it_goes_on_with(sources: list[str], tests: list[str]) -> None:
    assert [test.source for test in read_tests(sources).tests if isinstance(test, CodeTest)] == tests


_NOT_MEANT = "a test that is not what it is meant to be:"
_TRUE = "is always true: drop the brackets, or write `assert all(…)`"


class _Reduces:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("a pickle had this called",)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (None, "tests must be a mapping, a list or JSON text, got NoneType"),
        ("3", "JSON text of a int"),
        ([], "there is no test"),
        ({}, "no known form of tests has the keys []"),
        ({"b": 1, "inputs": None, "a": 2}, "no known form of tests has the keys ['a', 'b', 'inputs']"),
        ({"inputs": ["1"], "outputs": []}, "1 inputs and 0 outputs"),
        (
            {"inputs": ["1", "2"], "outputs": ["", " \n"]},
            "every expected output is empty, so a program that prints nothing would pass",
        ),
        ({"inputs": [1], "outputs": ["1"]}, "input 1 must be text, got int"),
        ({"inputs": ["1", "2"], "outputs": ["1", 2]}, "output 2 must be text, got int"),
        ({"inputs": 5, "outputs": ["1"]}, "inputs must be a list, got int"),
        ({"inputs": ["1"], "outputs": "{}"}, "outputs must be a list, got dict"),
        ({"inputs": ["1"], "outputs": "{"}, "outputs is no JSON: "),
        ({"inputs": ["{"], "outputs": ["1"], "fn_name": "f"}, "line 1 of input 1 is no JSON: "),
        ({"inputs": ["1", "1\n\n{"], "outputs": ["1", "1"], "fn_name": "f"}, "line 2 of input 2 is no JSON: "),
        ({"inputs": [[1]], "outputs": [1], "fn_name": "os.system"}, "fn_name 'os.system' is no name of a function"),
        ({"inputs": [[1]], "outputs": [1], "fn_name": 5}, "fn_name must be text, got int"),
        ({"inputs": [1], "outputs": [1], "fn_name": "f"}, "input 1 must be a list, got int"),
        ([{"input": "1"}], "test 1 must have `input` and `output`, got the keys ['input']"),
        ([*_SAMPLES, {"output": "1"}], "test 2 must have `input` and `output`, got the keys ['output']"),
        ([*_SAMPLES, 7], "test 2 must have `input` and `output`, got int"),
        ([{"input": "1", "output": "1", "type": "magic"}], "test 1 is of type 'magic'"),
        ([{"input": "1", "output": "1", "testtype": "magic", "type": "stdin"}], "test 1 is of type 'magic'"),
        ([{"input": "1", "output": "1", "type": "function_call"}], "test 1 calls a function, and none is named"),
        ([{"input": "1", "output": "1", "testtype": "functional"}], "test 1 calls a function, and none is named"),
        ({"private_test_cases": "?"}, "private_test_cases are no base64 of zlib of a pickled text: "),
        (
            {"private_test_cases": _packed(_Reduces())},
            "a pickle of private tests names builtins.print: only text is read",
        ),
        ({"private_test_cases": _packed(b"bytes")}, "private_test_cases must be text, got bytes"),
        ({"framework": "nose", "test": "x"}, "framework must be pytest or unittest, got 'nose'"),
        ({"inputs": ["1"], "outputs": ["1"], "weights": [0]}, "weights must be 1 numbers, one a test, and not all 0"),
        (
            {"inputs": ["1"], "outputs": ["1"], "weights": [1, 1]},
            "weights must be 1 numbers, one a test, and not all 0",
        ),
        ({"inputs": ["1"], "outputs": ["1"], "weights": [True]}, "weights must be a number of 0 or more, got True"),
        ({"inputs": ["1"], "outputs": ["1"], "tolerance": -1}, "tolerance must be a number of 0 or more, got -1"),
        ({"inputs": ["1"], "outputs": ["1"], "tolerance": "1"}, "tolerance must be a number of 0 or more, got '1'"),
        ({"inputs": ["1"], "outputs": ["1"], "tolerance": 1e999}, "tolerance must be a number of 0 or more, got inf"),
        ({"inputs": ["1"], "outputs": ["1"], "checker": 1}, "checker must be text, got int"),
        ("hello", "text that is neither JSON nor tests in Python"),
        # a test that no program can fail would pay each of them
        (["fire", "water"], "no test, for it asserts nothing: 'fire'"),
        (["assert f(1) == 1", "1"], "no test, for it asserts nothing: '1'"),
        (["f(1)"], "no test, for it asserts nothing: 'f(1)'"),
        (["assert f(1) =="], "no Python: 'assert f(1) ==': "),
        (
            {"test_list": ["print(f(1))"], "test_setup_code": "import math"},
            "no test, for it asserts nothing: 'print(f(1))'",
        ),
        ({"test_list": [1]}, "test_list must be text, got int"),
        ({"test_list": ["assert f(1)"], "test_setup_code": 5}, "test_setup_code must be text, got int"),
        ("[" * 100_000, "text that is neither JSON nor tests in Python"),
        (["assert (f(1) == 2, 'two')"], f"{_NOT_MEANT} `assert (f(1) == 2, 'two')` {_TRUE}"),
        (["assert [f(1) == 2]"], f"{_NOT_MEANT} `assert [f(1) == 2]` {_TRUE}"),
        (["assert {f(1): 2}"], f"{_NOT_MEANT} `assert {{f(1): 2}}` {_TRUE}"),
        (["assert lambda: f(1)"], f"{_NOT_MEANT} `assert lambda: f(1)` {_TRUE}"),
        (["assert (x == 1 for x in f(1))"], f"{_NOT_MEANT} `assert (x == 1 for x in f(1))` {_TRUE}"),
        (["assert f(1), 2"], f"{_NOT_MEANT} `assert f(1), 2` compares nothing with 2, its message: write `==`"),
        (["assert f(1), [2]"], f"{_NOT_MEANT} `assert f(1), [2]` compares nothing with [2], its message: write `==`"),
        (
            _test_file("    self.assertTrue(f(1), 2)"),
            f"{_NOT_MEANT} `self.assertTrue(f(1), 2)` compares nothing with 2, its message: write `==`",
        ),
        (
            _test_file("    self.assertFalse(f(1), 0)"),
            f"{_NOT_MEANT} `self.assertFalse(f(1), 0)` compares nothing with 0, its message: write `==`",
        ),
        (_test_file("    return f(1) == 2"), "the tests assert nothing: write `assert` before what they compare"),
        (_test_file("    f(1) == 2"), "the tests assert nothing: write `assert` before what they compare"),
        (_test_file("    print(f(1))"), "the tests assert nothing: write `assert` before what they compare"),
        (
            _test_file("    f(1) == 2\ndef test_b(self):\n    assert f(2)"),
            "test_f asserts nothing: write `assert f(1) == 2`",
        ),
        (
            _test_file("    return f(1) == 2 and f(2) == 3\ndef test_b(self):\n    assert f(2)"),
            "test_f asserts nothing: write `assert f(1) == 2 and f(2) == 3`",
        ),
        (
            {"prompt": "", "test": "def check(c):\n    c(1) == 2\n", "entry_point": "f"},
            "the tests assert nothing: write `assert` before what they compare",
        ),
        (
            {"prompt": "", "test": "def check(c):\n    assert g(1) == 2\n", "entry_point": "f"},
            "the tests never call f: `check` does nothing with its c",
        ),
        ({"test": "def check(c): assert c(1)", "entry_point": "f g"}, "entry_point 'f g' is no name of a function"),
        ({"test": 5, "entry_point": "f"}, "test must be text, got int"),
        (
            {"inputs": [[1], [2]], "outputs": [None, None], "fn_name": "f"},
            "every expected result is null, so a function that does nothing would pass",
        ),
        (
            {"inputs": ["1", "2"], "outputs": ["null", "null"], "fn_name": "f"},
            "every expected result is null, so a function that does nothing would pass",
        ),
        (
            {"inputs": [[1], [2]], "outputs": [[None], [None]], "fn_name": "f"},
            "every expected result is null, so a function that does nothing would pass",
        ),
        (
            {"inputs": [[1]], "outputs": [[float("nan"), 2.0]], "fn_name": "f"},
            "output 1 holds NaN, which no result equals: leave the test out",
        ),
        (
            {"inputs": [[1]], "outputs": [{"a": [float("nan")]}], "fn_name": "f"},
            "output 1 holds NaN, which no result equals: leave the test out",
        ),
    ],
)
def test_a_row_that_cannot_be_read_is_refused(row: object, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadTestsError) as refused:
        read_tests(row)
    # behind a colon may stand what Python says, each version in its own words
    assert (str(refused.value) if reason[-2:] != ": " else str(refused.value)[: len(reason)]) == reason
    assert capsys.readouterr().out == ""


def test_a_pickle_bomb_is_not_unpacked() -> None:
    nothing, packer = b"\0" * 2**20, zlib.compressobj(1)
    first, next_ = (packer.compress(nothing) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    # a megabyte is packed once, and stands there 300 times; the sum of so many zeros is that of their number
    packed = first + next_ * 299 + b"\3\0" + (((300 * 2**20) % 65521) << 16 | 1).to_bytes(4, "big")
    with pytest.raises(BadTestsError, match="hold more than"):
        read_tests({"private_test_cases": base64.b64encode(packed).decode()})


@pytest.mark.parametrize(
    ("row", "arguments", "expected"),
    [
        # APPS: keys that JSON has made text of
        ({"fn_name": "f", "inputs": [[{"1": 2, "-3": 4}]], "outputs": [6]}, [{1: 2, -3: 4}], [6]),
        ({"fn_name": "f", "inputs": [[{"1": 2, "a": 4}]], "outputs": [6]}, [{"1": 2, "a": 4}], [6]),
        # beside a list of values, a text may be itself
        ({"fn_name": "f", "inputs": [["12"]], "outputs": ["21"]}, ["12"], ["21", 21]),
        # what stands beside it tells how a text is meant
        ({"fn_name": "f", "inputs": [["12"], ["a"]], "outputs": ["21", 3]}, ["12"], ["21"]),
        ({"fn_name": "f", "inputs": ['"12"', '"ab"'], "outputs": ["21", "ba"]}, ["12"], [21, "21"]),
        ({"fn_name": "f", "inputs": ['"12"'], "outputs": ["21"]}, ["12"], [21]),
        ({"fn_name": "Solution().f", "inputs": [[1]], "outputs": [2]}, [1], [2]),
    ],
)
def test_values_are_those_of_the_data_set(row: object, arguments: list[object], expected: list[object]) -> None:
    test = read_tests(row).tests[0]
    assert isinstance(test, CallTest)
    assert (list(test.arguments), list(test.expected), test.name) == (arguments, expected, "f")


def test_no_result_is_nan() -> None:
    with pytest.raises(BadTestsError, match="NaN"):
        read_tests({"fn_name": "f", "inputs": [[1]], "outputs": [float("nan")]})


@pytest.mark.parametrize(
    ("prompt", "above"),
    [
        ("import math\n\ndef help(): pass\n\ndef f(x):\n", "import math\n\ndef help(): pass\n\n"),
        ("import math\nclass Solution:\n    def f(self, x):\n", "import math\n"),
        ("class Node: pass\n", "class Node: pass\n"),
        ("Write a function f.", ""),
        ("class Solution:\n    def f(self, x):\n", ""),
    ],
)
def test_what_stands_above_the_function_in_a_prompt(prompt: str, above: str) -> None:
    row = {"prompt": prompt, "test": "def check(candidate): assert candidate(1)", "entry_point": "Solution().f"}
    assert read_tests(row).preamble == above


def test_a_checker_of_the_row() -> None:
    case = {"input": "1", "output": "2"}
    assert read_tests({"official_tests": [case], "generated_checker": "print(1)"}).checker == "print(1)"
    assert read_tests({"verification_info": {"test_cases": [case], "checker": "x"}}).checker == "x"
    assert read_tests({"test_cases": [case]}).checker == ""


def test_a_test_may_be_an_exception_that_is_expected() -> None:
    found = read_tests(["import pytest\nwith pytest.raises(ValueError):\n    f(-1)"])
    assert [test.number for test in found.tests] == [1]


def test_python_does_not_warn_of_a_rows_code() -> None:
    # "<unknown>:1: SyntaxWarning: invalid escape sequence" for each row
    row = {"prompt": "s = '\\d'\ndef f(x):\n", "test": "def check(c): assert c(1)", "entry_point": "f"}
    program = "from agentscope_tuner.verify.code.formats import read_tests\n"
    program += f"read_tests(['assert f() == \"\\\\d\"'])\nread_tests({row!r})\n"
    done = subprocess.run([sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, check=True)
    assert "escape" not in done.stderr


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        # of an import's names only the first was read
        ("import sys, pytest as p\n", True),
        ("import pytest, sys\n", True),
        ("  import os.path,pytest.mark # both\n", True),
        ("import sys; import pytest\n", True),
        ("import sys; from pytest import mark\n", True),
        ("from pytest import mark\n", True),
        ("import sys, os\n", False),
        ("import sys # , pytest\n", False),
        ("import ,, 3\n", False),
        ("important, pytest\n", False),
    ],
)
def test_packages_are_shown_to_a_program_that_imports_one(source: str, needed: bool) -> None:
    assert bool(_packages_of(source)) is needed


def test_a_test_is_read_where_something_else_is_parsed_in_its_midst() -> None:
    """A finalizer that parses, as a collection of garbage runs it, made CPython 3.11 refuse a sound text."""
    source = "assert f(" + ", ".join(f"[{n}, g({n})]" for n in range(200)) + ") == 2"
    parses, threshold = iter(range(2)), gc.get_threshold()

    def parse(phase: str, _: object) -> None:
        if phase == "stop" and next(parses, None) is not None:
            (lambda: ast.parse("y = 1"))()

    gc.callbacks.append(parse)
    gc.set_threshold(50)
    try:
        tests = read_tests({"tests": [source]})
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(parse)
    assert [test.source for test in tests.tests if isinstance(test, CodeTest)] == [source]
    assert next(parses, None) is None, "nothing was parsed in the midst of another text"


@pytest.mark.parametrize(
    "source", ["assert f(" + "+".join("1" * 400) + ") == 400", "assert f(" + "-(" * 80 + "1" + ")" * 80 + ") == 1"]
)
def test_an_assert_of_a_deep_formula_is_read_in_a_list(source: str) -> None:
    tests = read_tests({"tests": ["x = 1\nassert f(x) == 1", source, "assert f(x) == 1"]})
    assert len(tests.tests) == 3
