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
from typing import Any

import pytest

from agentscope_tuner.verify.code.formats import BadTestsError, CallTest, CodeTest, StdinTest, read_tests
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


class _Reduces:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("a pickle had this called",)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (None, "must be a mapping"),
        ([], "no test"),
        ({}, "no known form"),
        ({"inputs": ["1"], "outputs": []}, "1 inputs and 0 outputs"),
        ({"inputs": ["1", "2"], "outputs": ["", " \n"]}, "every expected output is empty"),
        ({"inputs": [1], "outputs": ["1"]}, "input 1 must be text"),
        ({"inputs": ["{"], "outputs": ["1"], "fn_name": "f"}, "line 1 of input 1 is no JSON"),
        ({"inputs": [[1]], "outputs": [1], "fn_name": "os.system"}, "no name of a function"),
        ([{"input": "1"}], "must have `input` and `output`"),
        ([{"input": "1", "output": "1", "type": "magic"}], "of type 'magic'"),
        ([{"input": "1", "output": "1", "type": "function_call"}], "none is named"),
        ({"private_test_cases": "?"}, "no base64"),
        ({"private_test_cases": _packed(_Reduces())}, "only text is read"),
        ({"private_test_cases": _packed(b"bytes")}, "must be text"),
        ({"framework": "nose", "test": "x"}, "must be pytest or unittest"),
        ({"inputs": ["1"], "outputs": ["1"], "weights": [0]}, "weights"),
        ("hello", "neither JSON nor tests"),
        # a test that no program can fail would pay each of them
        (["fire", "water"], "asserts nothing: 'fire'"),
        (["assert f(1) == 1", "1"], "asserts nothing: '1'"),
        (["f(1)"], "asserts nothing"),
        (["assert f(1) =="], "no Python"),
        ({"test_list": ["print(f(1))"], "test_setup_code": "import math"}, "asserts nothing"),
        ("[" * 100_000, "neither JSON nor tests"),
        (["assert (f(1) == 2, 'two')"], "drop the brackets"),
        (["assert [f(1) == 2]"], "drop the brackets"),
        (["assert (x == 1 for x in f(1))"], "all"),
        (["assert f(1), 2"], "write `==`"),
        (["assert f(1), [2]"], "write `==`"),
        (_test_file("    self.assertTrue(f(1), 2)"), "write `==`"),
        (_test_file("    return f(1) == 2"), "assert nothing"),
        (_test_file("    f(1) == 2"), "assert nothing"),
        (_test_file("    print(f(1))"), "assert nothing"),
        (_test_file("    f(1) == 2\ndef test_b(self):\n    assert f(2)"), "test_f asserts nothing"),
        (
            _test_file("    return f(1) == 2 and f(2) == 3\ndef test_b(self):\n    assert f(2)"),
            "test_f asserts nothing",
        ),
        ({"prompt": "", "test": "def check(c):\n    c(1) == 2\n", "entry_point": "f"}, "assert nothing"),
        ({"prompt": "", "test": "def check(c):\n    assert g(1) == 2\n", "entry_point": "f"}, "never call f"),
        ({"inputs": [[1], [2]], "outputs": [None, None], "fn_name": "f"}, "does nothing"),
        ({"inputs": ["1", "2"], "outputs": ["null", "null"], "fn_name": "f"}, "does nothing"),
        ({"inputs": [[1], [2]], "outputs": [[None], [None]], "fn_name": "f"}, "does nothing"),
        ({"inputs": [[1]], "outputs": [[float("nan"), 2.0]], "fn_name": "f"}, "NaN"),
        ({"inputs": [[1]], "outputs": [{"a": [float("nan")]}], "fn_name": "f"}, "NaN"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused(row: object, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadTestsError, match=reason):
        read_tests(row)
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
