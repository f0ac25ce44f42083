"""What tests that carry code name, need and cannot mean, read from their text alone."""

from __future__ import annotations

import ast
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from agentscope_tuner.verify.code.inside import run_tests
from agentscope_tuner.verify.code.inside.run_tests import HIDDEN, BrokenTestsError

_PATCH = "from unittest.mock import patch"
_NAMED = "import solution\n"


def _refused(refuse: Callable[..., None], *given: object) -> str:
    """Why it raises, with a bar where the hidden part begins; nothing if it does not."""
    try:
        refuse(*given)
    except BrokenTestsError as exc:
        return str(exc).replace(HIDDEN, "¦")
    return ""


@pytest.mark.parametrize(
    ("above", "body", "used", "files", "logs"),
    [
        ("", "assert f(1)", None, False, False),
        ("import os", "assert os.listdir('.') == f(1)", None, True, False),
        ("import os", "assert f(os.environ)", None, False, False),
        ("", "assert open('a').read() == f(1)", None, True, False),
        ("", "monkeypatch.chdir('a')\n  assert f(1)", None, True, False),
        ("from os import getcwd", "assert getcwd() and f(open('a'))", None, True, False),
        ("from pathlib import Path", "assert f(Path('a'))", None, True, False),
        ("import shutil", "assert f(1)", None, False, False),
        ("import tempfile, subprocess", "assert f(tempfile.mkdtemp())", "tempfile", False, False),
        ("import tempfile, subprocess", "subprocess.run(f(tempfile.mkdtemp()))", "tempfile", False, False),
        ("import tempfile", "exec(open('a').read())", "open", False, False),
        ("import os", "os.system('a')\n  assert f(open('a'))", "open", False, False),
        ("import os as o", "o.system('a')\n  assert f(open('a'))", "open", False, False),
        ("from os import system", "system('a')\n  assert f(open('a'))", "open", False, False),
        # an import that nothing names is no use of it
        ("from os import system", "assert f(open('a'))", None, True, False),
        ("import pickle", "assert f(1)", None, False, False),
        ("import pickle", "assert eval('f(1)')", "pickle", False, False),
        ("import pickle", "assert pickle.loads(f(1))", "pickle", False, False),
        # the first of several by the alphabet
        ("import gc, doctest", "gc.collect()\n  assert f(1)", "doctest", False, False),
        ("", "assert f.__code__", "__code__", False, False),
        ("", "np.random.seed(1)\n  assert f(1)", "np.random.seed", False, False),
        ("", "monkeypatch.syspath_prepend('a')\n  assert f(1)", "monkeypatch.syspath_prepend", False, False),
        ("import inspect", "assert inspect.getsource(f)", "inspect", False, False),
        ("import inspect", "assert inspect.signature(f)", None, False, False),
        ("import inspect as i", "assert i.signature(f)", "inspect", False, False),
        ("from inspect import getsource", "assert getsource(f)", "inspect", False, False),
        ("from inspect import isclass, signature", "assert isclass(f)", None, False, False),
        ("import solution", "assert solution.__file__", "solution.__file__", False, False),
        ("import solution", "assert solution.__name__", None, False, False),
        # what is put in the place of something outside of the program
        (_PATCH, "with patch('solution.g'): assert f(1)", None, False, False),
        (_PATCH, "with patch('requests.get'): assert f(1)", "requests.get", False, False),
        (_PATCH, "with patch('builtins.input'): assert f(1)", None, False, False),
        (f"{_PATCH}\nimport time", "with patch.object(time, 'sleep'): assert f(1)", None, False, False),
        (f"{_PATCH}\nimport time", "with patch.object(time, 'ctime'): assert f(1)", "time", False, False),
        (f"{_PATCH}\nimport os", "with patch.dict(os.environ, {'A': '1'}): assert f(1)", None, False, False),
        (f"{_PATCH}\nimport a", "with patch.object(a.b, 'c'): assert f(1)", "a.b", False, False),
        (f"{_PATCH}\nimport a", "with patch.object(solution, 'c'): assert f(1)", None, False, False),
        ("", "monkeypatch.setattr('os.getcwd', 1)\n  assert f(1)", "os.getcwd", False, False),
        ("import sys", "monkeypatch.setattr(sys, 'stdin', 1)\n  assert f(1)", None, False, False),
        ("import sys", "monkeypatch.setattr(sys, 'path', 1)\n  assert f(1)", "sys", False, False),
        ("import sys", "mocker.patch('os.getcwd')\n  assert f(1)", "os.getcwd", False, False),
        ("", "mocker.patch.object(sys, 'path')\n  assert f(1)", None, False, False),
        (f"{_PATCH}\nimport a as b", "with patch.object(b, 'c'): assert f(1)", "b", False, False),
        ("from unittest import mock", "with mock.patch('time.ctime'): assert f(1)", "time.ctime", False, False),
        ("import time", "mock.setattr(time, 'ctime', 1)\n  assert f(1)", "time", False, False),
        (f"{_PATCH}\nimport solution as s", "with patch.object(s, 'c'): assert f(1)", None, False, False),
        ("from unittest import mock", "with mock.mock_open('time.ctime'): assert f(1)", None, False, False),
        ("import sys", "other.setattr(sys, 'path', 1)\n  assert f(1)", None, False, False),
        ("import sys", "monkeypatch.setattr()\n  assert f(1)", None, False, False),
        # its log
        ("", "with self.assertLogs(): f(1)", None, False, True),
        ("", "with self.assertNoLogs(): f(1)", None, False, True),
        ("", "assert caplog(f(1))", None, False, True),
    ],
)
def test_what_tests_share_with_the_program(above: str, body: str, used: str | None, files: bool, logs: bool) -> None:
    tree = ast.parse(f"from solution import f\n{above}\ndef test_a():\n  {body}")
    needs = run_tests._needs(tree, ["solution"], "import math")
    assert tuple(needs) == (used and f"they use {used!r}", files, logs)
    # a set-up that runs what files hold, or that is not told, shares none
    for setup in ("import subprocess", "def", None):
        assert not run_tests._needs(tree, ["solution"], setup).files


@pytest.mark.parametrize(
    ("above", "parameter", "needs"),
    [
        ("", "tmp_path", (None, True, False)),
        ("import gzip, zlib", "tmp_path", (None, True, False)),
        ("import z", "tmp_path", ("they use 'tmp_path'", False, False)),
        ("", "caplog", (None, False, True)),
        ("import subprocess as s\ns.run(1)", "tmp_path", ("they use 'tmp_path'", False, False)),
        ("", "capfd", ("they use 'capfd'", False, False)),
        ("", "capsys", (None, False, False)),
    ],
)
def test_a_fixture_may_be_what_they_share(above: str, parameter: str, needs: tuple[object, ...]) -> None:
    source = f"{above}\ndef test_a({parameter}):\n  assert f({parameter})\nif __name__ == '__main__':\n  open(pickle)"
    assert tuple(run_tests._needs(ast.parse(source), ["solution"], "")) == needs


@pytest.mark.parametrize(
    ("source", "free"),
    [
        ("assert f(x) == g(1)", "f x g"),
        ("x = 1\nassert f(x)", "f"),
        ("import math\nassert math.sin(f(1))", "f"),
        ("for i in range(3):\n  assert f(i) == h.y", "f h"),
        ("def g(a): return f(a, b)\nassert g(1)", "f b"),
        ("assert sum(x for x in f(1))", "f"),
        ("assert g(f)", "g f"),
        ("def test_a(self):\n  assert f(1)", "f"),
        ("global z\nz = 1\nassert f(z)", "f"),
        # a built-in name that an assertion calls first, where nothing else is free
        ("assert len('a') == 1", "len"),
        ("assert abs(1)", "abs"),
        ("def abs(x): return x\nassert abs(1)", ""),
        ("assert not sorted([1])", ""),
        ("assert 'a'.upper() == 'A'", ""),
        ("assert 1 == abs(1)", ""),
        ("print(1)", ""),
    ],
)
def test_the_names_that_tests_do_not_define(source: str, free: str) -> None:
    assert run_tests._free_names(source) == free.split()


@pytest.mark.parametrize(
    ("source", "tested"),
    [
        ("assert f(g(1)) == 2", "f"),
        ("assert g(1) == 2", "g"),
        ("assert g(x) == 2", "g"),
        ("assert x.g(1) == 2", ""),
        ("assert chain(str, len)(99) == 2", "chain"),
        ("assert chain(f, len)(99) == 2", "f"),
        ("assert chain(str)(1)(2) == 2", "chain"),
        ("x = f(1)\nassert x == 2", "x"),
        ("x = f(1)\ny = x\nassert y == 2", "y"),
        ("x = 1\nassert x == 2", ""),
        ("assert isinstance(f(1), int)", "f"),
        ("assert set(a) == {f(1)}", "set"),
        ("self.assertEqual(f(1), g(2))", "f"),
        ("self.assertEqual(g(1), f(2))", "g"),
        ("self.assertTrue(h(f(1)))", "f"),
        ("self.assertEqual(2, f(1))", "f"),
        ("self.check(f(1))", ""),
        ("check(f(1))", ""),
        ("assert 2 == f(1)", ""),
        ("x, y = f(1)\nassert gcd(x, 2) == 1", "x"),
        ("assert not f(1)", "f"),
    ],
)
def test_the_functions_whose_results_tests_look_at(source: str, tested: str) -> None:
    assert run_tests._tested_names(ast.parse(source), {"f"}) == {*tested.split()}


@pytest.mark.parametrize(
    ("name", "parts", "home"),
    [
        ("np", {"a"}, ("numpy",)),
        ("np", set(), ()),
        ("pd", {"a"}, ("pandas",)),
        ("plt", {"plot"}, ("matplotlib.pyplot",)),
        ("math", {"sin", "cos"}, ("math",)),
        ("math", {"sin", "nope"}, ()),
        ("math", set(), ()),
        ("os", {"path"}, ("os",)),
        ("subprocess", {"run"}, ()),
        ("gcd", set(), ("math", "gcd")),
        ("sqrt", {"x"}, ("math", "sqrt")),
        ("e", set(), ()),
        ("Counter", set(), ("collections", "Counter")),
        ("Fraction", set(), ("fractions", "Fraction")),
        ("Decimal", set(), ("decimal", "Decimal")),
        ("date", set(), ("datetime", "date")),
        ("reduce", set(), ("functools", "reduce")),
        ("product", set(), ("itertools", "product")),
        ("heappush", set(), ("heapq", "heappush")),
        ("insort", set(), ("bisect", "insort")),
        ("List", set(), ("typing", "List")),
        ("deepcopy", set(), ("copy", "deepcopy")),
        ("approx", set(), ("pytest", "approx")),
        ("raises", set(), ("pytest", "raises")),
        ("fixture", set(), ()),
        ("foo", {"bar"}, ()),
    ],
)
def test_a_standard_name_that_tests_take_for_granted(name: str, parts: set[str], home: tuple[str, ...]) -> None:
    assert run_tests._standard(name, parts) == home


@pytest.mark.parametrize(
    ("source", "judge"),
    [
        ("assert is_close(f(1), 2)", "is_close"),
        ("assert same(f(1), g(1))", "same"),
        ("assert almost(g(1), f(2))", "almost"),
        ("assert all_close(f(1), 1, 2)", "all_close"),
        ("assert_equal(f(1), 2)", "assert_equal"),
        ("x = f(1)\nassert approx(x, 2)", "approx"),
        # a float says that it asks whether they are near
        ("assert any_name(f(1), 0.5)", "any_name"),
        ("assert any_name(f(1), 2)", ""),
        ("x = any_name(f(1), 0.5)", ""),
        ("assert f(1, 0.5)", ""),
        ("assert f(1) == 2", ""),
        ("assert same(f(1))", ""),
        ("assert same(f(1), f(2))", ""),
        ("assert same(1, 2)", ""),
        ("assert self.same(f(1), 2)", ""),
        ("assert sameness(f(1), 2)", ""),
    ],
)
def test_a_comparison_that_the_program_would_make_is_refused(source: str, judge: str) -> None:
    own = {"f", "is_close", "same", "almost", "all_close", "assert_equal", "approx", "any_name", "sameness"}
    why = f"they define no {judge!r}, which compares the program's answer" if judge else ""
    assert _refused(run_tests._refuse_judged, ast.parse(source), own) == why


@pytest.mark.parametrize(
    ("names", "rows", "is_even"),
    [
        ("'a,b'", "[(1, 2), (3,)]", False),
        ("'a,b'", "[(1, 2), (3, 4)]", True),
        ("'a'", "[(1, 2), (3,)]", True),
        ("'a, b,'", "[(1,)]", False),
        ("['a', 'b']", "[(1, 2, 3)]", False),
        ("'a,b'", "([1],)", False),
        # what is not written there
        ("'a,b'", "[(1, *x)]", True),
        ("'a,b'", "[3]", True),
        ("'a,b'", "{(1,)}", True),
        ("NAMES", "[(1,)]", True),
        ("'a,b'", "ONCE", False),
        ("'a,b'", "TWICE", True),
        ("'a,b'", "NEVER", True),
    ],
)
def test_as_many_values_as_names(names: str, rows: str, is_even: bool) -> None:
    above = "ONCE = [(1,)]\nTWICE = [(1,)]\nTWICE = 3\n"
    why = "" if is_even else "`parametrize` has 2 names and other numbers of values"
    for mark, said in (("pytest.mark.parametrize", why), ("mark.parametrize", "")):
        tree = ast.parse(f"{above}@{mark}({names}, {rows})\ndef test_a(a, b): pass")
        assert _refused(run_tests._refuse_uneven, [*ast.walk(tree)]) == said
    assert _refused(run_tests._refuse_uneven, [*ast.walk(ast.parse("pytest.mark.parametrize('a,b')"))]) == ""


_NO_X = f"NameError{HIDDEN}: name 'x' is not defined"


@pytest.mark.parametrize(
    ("source", "kind", "why", "said"),
    [
        (f"{_NAMED}assert x", "file", _NO_X, "they define no 'x'"),
        (f"{_NAMED}assert x, y", "file", f"line 3: {_NO_X.replace('x', 'y')}", "they define no 'y'"),
        (f"{_NAMED}assert x", "assert", _NO_X, ""),
        (f"{_NAMED}assert x", "file", _NO_X.replace(HIDDEN, ""), ""),
        (f"{_NAMED}assert x", "file", None, ""),
        (f"{_NAMED}x = 1\nassert x", "file", _NO_X, ""),
        # then it is the program that is asked for it
        ("from solution import *\nassert x", "file", _NO_X, ""),
        ("assert x", "file", _NO_X, ""),
    ],
)
def test_a_file_that_ends_at_a_name_of_nobodys(source: str, kind: str, why: str | None, said: str) -> None:
    asked = {"kind": kind, "modules": ["solution"], "source": source}
    assert _refused(run_tests._refuse_unnamed, asked, ast.parse(source), [("a", None), ("b", why)]) == said


@pytest.mark.parametrize(
    ("source", "at", "said"),
    [
        (
            "x = [1]\nassert x[3]",
            2,
            "line 2 of them fails for each program: line 2: IndexError¦: list index out of range",
        ),
        ("assert 1 == 2", 1, "line 1 of them fails for each program: line 1: AssertionError¦"),
        ("assert 1 == 1", 1, ""),
        ("assert 1 == 2", 2, ""),
        ("assert f(1) == 2", 1, ""),
        (
            "def test_a():\n  assert 1 / 0",
            2,
            "line 2 of them fails for each program: line 2: ZeroDivisionError¦: division by zero",
        ),
        ("class T:\n  def test_a(self):\n    [][1]", 3, "line 3 of them fails for each program: line 3: IndexError¦"),
        ("class T:\n  def Check_a(self):\n    {}[1]", 3, "line 3 of them fails for each program: line 3: KeyError¦: 1"),
        ("class T:\n  def other(self):\n    {}[1]", 3, ""),
        ("def helper():\n  assert 1 / 0", 2, ""),
        ("def test_a():\n  if f():\n    return\n  {}[1]", 4, ""),
        (
            "def test_a():\n  def g():\n    return\n  {}[1]",
            4,
            "line 4 of them fails for each program: line 4: KeyError¦: 1",
        ),
        ("x = {}[1]", 1, "line 1 of them fails for each program: line 1: KeyError¦: 1"),
        ("(\n{}\n[1])", 2, "line 1 of them fails for each program: line 2: KeyError¦: 1"),
        ("(\n{}\n[1])", 4, ""),
    ],
)
def test_a_statement_that_fails_for_each_program(source: str, at: int, said: str) -> None:
    tree = ast.parse(source)
    refused = _refused(run_tests._refuse_failing, tree, [("a", None), ("b", f"line {at}: it fails")])
    assert refused[: len(said) or None] == said
    # only what is said to have ended there is looked at
    assert _refused(run_tests._refuse_failing, tree, [("a", None), ("b", f"it fails at line {at}: there")]) == ""


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("test_a", "test_a"),
        ("T.test_a", "T.test_a"),
        ("a.py::T::test_a[1-2]", "a.py::T::test_a[1-2]"),
        # one that the tests have put together
        ("T.test_b", "test 3"),
        ("test_b[é]", "test 3"),
        ("x y", "x y"),
    ],
)
def test_a_name_of_the_text_is_shown(name: str, shown: str) -> None:
    assert run_tests._shown(name, 3, {"test_a"}) == shown


@pytest.mark.parametrize(
    ("program", "emptied"),
    [
        ("def f(x):\n    return x\nx = 1", "def f(x):\n    raise NotImplementedError\nx = 1"),
        ("async def f(x):\n    return x", "async def f(x):\n    raise NotImplementedError"),
        (
            "class A:\n\n    def f(self):\n        return 1",
            "class A:\n\n    def f(self):\n        raise NotImplementedError",
        ),
        ("f = lambda x: x", "f = lambda x: None"),
        ("def f(:", "def f(:"),
        ("x\0", "x\0"),
    ],
)
def test_a_program_without_its_functions(program: str, emptied: str) -> None:
    assert run_tests._emptied(program) == emptied


@pytest.mark.parametrize(
    ("source", "needs_pytest"),
    [
        ("def test_a(x): pass", True),
        ("async def test_a(x): pass", True),
        ("def test_a(): pass", False),
        ("def helper(x): pass", False),
        ("class T:\n  def test_a(self): pass", False),
        ("class T:\n  def test_a(self, x): pass", True),
        ("class T:\n  def setup_method(self): pass", True),
        ("def teardown_module(): pass", True),
        ("class T:\n  def helper(self, x): pass\n  def setUp(self): pass", False),
    ],
)
def test_what_only_pytest_runs(source: str, needs_pytest: bool) -> None:
    assert run_tests._needs_pytest(ast.parse(source)) is needs_pytest


@pytest.mark.parametrize(
    ("source", "is_own"),
    [
        ("Decimal('1.5')", True),
        ("Decimal(Fraction(1, 2))", True),
        ("Decimal(value=(1, [2]))", True),
        ("Decimal(*[1])", False),
        ("Decimal(**{})", False),
        ("Decimal(x)", False),
        ("Decimal(len('a'))", False),
        # by another name it may be what the test expects
        ("Other('1.5')", False),
        ("x.Decimal('1.5')", False),
        ("1.5", False),
    ],
)
def test_text_that_makes_an_object_of_data(source: str, is_own: bool) -> None:
    names: dict[str, Any] = {kind.__name__: kind for kind in run_tests._OF_DATA} | {
        "Other": Decimal,
        "len": len,
    }
    assert run_tests._is_own_object(ast.parse(source, mode="eval").body, names) is is_own


def test_an_object_is_made_of_its_text() -> None:
    node = ast.parse("dict(a=Fraction(1, 2), b=[1, {'c': 'd'}])", mode="eval").body
    names = {"dict": dict, "Fraction": Fraction}
    assert run_tests._own_object(node, names) == {"a": Fraction(1, 2), "b": [1, {"c": "d"}]}
