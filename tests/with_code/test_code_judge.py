"""CodeJudge: right programs are paid in every form of tests, wrong ones are not, and a broken sandbox is no verdict."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import Task, load_judge
from agentscope_tuner._jail import process_tree
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.code_judge import CodeJudge
from agentscope_tuner.verify.code import grade
from tests.with_code.judged import DOUBLES, asked, code_judge, wrote

_CLOCK = """
class ClockError(ValueError): pass
class Clock:
    def __init__(self, hour, minute):
        if hour > 24: raise ClockError('late')
        self.hour, self.minute = hour, minute
    def __str__(self): return f'{self.hour:02}:{self.minute:02}'
    def __eq__(self, other): return (self.hour, self.minute) == (other.hour, other.minute)
    def __add__(self, minutes): return Clock(self.hour, self.minute + minutes)
    def ticks(self, count): yield from range(count)
    def told(self, listener): return listener(self.hour)
def arrange(items): items.sort()
"""
_CLOCK_TESTS = """
import unittest
from clock import Clock, ClockError, arrange
class ClockTest(unittest.TestCase):
    def test_text(self): self.assertEqual(str(Clock(8, 0)), '08:00')
    def test_equal(self): self.assertEqual(Clock(8, 0), Clock(8, 0))
    def test_unequal(self): self.assertNotEqual(Clock(8, 0), Clock(8, 1))
    def test_sum(self): self.assertEqual(Clock(8, 0) + 5, Clock(8, 5))
    def test_raises(self):
        with self.assertRaises(ClockError) as caught: Clock(99, 0)
        self.assertEqual(caught.exception.args, ('late',))
    def test_in_place(self):
        items = [3, 1, 2]
        arrange(items)
        self.assertEqual(items, [1, 2, 3])
    def test_generator(self): self.assertEqual(list(Clock(1, 1).ticks(3)), [0, 1, 2])
    def test_callback(self): self.assertEqual(Clock(1, 1).told(lambda hour: hour + 1), 2)
    def test_attributes(self):
        clock = Clock(1, 2)
        clock.zone = 'UTC'
        self.assertEqual((clock.hour, clock.zone), (1, 'UTC'))
        del clock.zone
        self.assertFalse(hasattr(clock, 'zone'))
        self.assertIsInstance(clock, Clock)
"""
_PYTEST = """
import pytest
from clock import *
@pytest.mark.parametrize('hour', [1, 2])
def test_hour(hour): assert Clock(hour, 0).hour == hour
def test_late():
    with pytest.raises(ClockError): Clock(99, 0)
"""
_CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert abs(candidate(1.5) - 3) < 1e-6\n"
_HUMAN_EVAL = {"prompt": "def double(n):\n", "test": _CHECK, "entry_point": "double"}
_FUNCTION = "def double(n):\n    return 2 * n"


@pytest.mark.parametrize(
    ("tests", "right", "wrong"),
    [
        (DOUBLES, "print(2 * int(input()))", "print(3 * int(input()))"),
        (
            DOUBLES,
            "import sys\nclass W:\n  write = sys.stdout.write\n  flush = sys.stdout.flush\nsys.stdout = W()\n"
            "print(2 * int(input()))",
            "import sys\nclass W:\n  write = sys.stdout.write\n  def flush(self): raise OSError\nsys.stdout = W()\n"
            "print(2 * int(input()))",
        ),
        (DOUBLES, "\ufeffprint(2 * int(input()))", "print(2 * int(input()))\ufeff"),
        ({"fn_name": "double", "inputs": [[2]], "outputs": [[4]]}, _FUNCTION, "def double(n): return True"),
        (
            {"fn_name": "double", "inputs": ["[2]"], "outputs": ["[2, 2]"]},
            "class Solution:\n  def double(self, x: List[int]): return x * 2",
            "x = 1",
        ),
        # a method that is called as what platforms import, or as what the program has imported
        (
            {"fn_name": "count", "inputs": [[[1, 1]]], "outputs": [2]},
            "class Solution:\n  def count(self, x): return len(x)",
            "class Solution:\n  def count(self, x): return 1",
        ),
        (
            {"fn_name": "factorial", "inputs": [[3]], "outputs": [6]},
            "from math import *\nclass Solution:\n  def factorial(self, n): return 6",
            "from math import *\nclass Solution:\n  def factorial(self, n): return 5",
        ),
        (
            {"fn_name": "count", "inputs": [[[1, 1]]], "outputs": [2]},
            "def count(x): return len(x)\nclass Solution:\n  def count(self, x): return 1",
            "def count(x): return 1\nclass Solution:\n  def count(self, x): return len(x)",
        ),
        (["assert double(2) == 4", "assert double(0) == 0"], _FUNCTION, "def double(n): return 4"),
        (["assert sum(2, 3) == 5"], "def sum(a, b): return a + b", "def sum(a, b): return a"),
        (_HUMAN_EVAL, "    return 2 * n", "    return n"),
        (
            {"framework": "unittest", "module": "clock", "test": _CLOCK_TESTS},
            _CLOCK,
            _CLOCK.replace("hour:02", "hour:03"),
        ),
        ({"framework": "pytest", "module": "clock", "test": _PYTEST}, _CLOCK, _CLOCK.replace("> 24", "> 240")),
        (
            "from solution import double\ndef test_it():\n    assert double(2) == 4",
            _FUNCTION,
            "def double(n): return n",
        ),
        # a fixture, and no import of pytest
        (
            "from solution import double\ndef test_it(tmp_path):\n    assert tmp_path.exists() and double(2) == 4",
            _FUNCTION,
            "def double(n): return n",
        ),
        (
            ["import inspect\nassert list(inspect.signature(double).parameters) == ['n']"],
            _FUNCTION,
            "def double(m): return 2 * m",
        ),
        # a list whose tests go on with what those before them have set, changed, or defined
        (["given = [3]\nassert double(1) == 2", "assert double(given[0]) == 6"], _FUNCTION, "def double(n): return 2"),
        (["found = double(3)", "assert found == 6"], _FUNCTION, "found = 6\ndef double(n): return 2"),
        (
            ["kept = []", "kept.append(double(3))\nassert kept", "total = 0", "total += kept[0]\nassert total == 6"],
            _FUNCTION,
            "def double(n): return 2",
        ),
        (
            ["def near(a, b): return a == b\nassert near(double(1), 2)", "assert near(double(3), 6)"],
            _FUNCTION,
            "def near(a, b): return True\ndef double(n): return 2",
        ),
        (
            {"test_list": ["n = 3\nassert d(1)", "n = d(n)\nassert n == 6"]},
            "def d(n): return 2 * n",
            "def d(n): return 6 - n",
        ),
        # a module that is loaded anew
        *(
            (
                f"import importlib, sys, solution\ndef test_it():\n  assert solution.f() == 1\n  {again}\n"
                "  assert importlib.import_module('solution').f() == 1",
                "n = 0\ndef f():\n  global n\n  n += 1\n  return n",
                "import sys\nsys.n = getattr(sys, 'n', 0)\ndef f():\n  sys.n += 1\n  return sys.n",
            )
            for again in ("importlib.reload(solution)", "del sys.modules['solution']")
        ),
        # what the interpreter prints as it takes the program apart
        (DOUBLES, "out = open(1, 'w')\nout.write(str(2 * int(input())))", "out = open(1, 'w')\nout.write('4')"),
        (
            DOUBLES,
            "import sys, io\nsys.stdout = io.StringIO()\nsys.__stdout__.write(str(2 * int(input())))",
            "import sys, io\nsys.stdout = io.StringIO()\nprint(2 * int(input()))",
        ),
    ],
)
def test_a_right_program_is_paid_and_a_wrong_one_is_not(tests: object, right: str, wrong: str) -> None:
    judge = code_judge()
    good, bad = judge.judge(asked(tests), wrote(right)), judge.judge(asked(tests), wrote(wrong))
    assert (good.reward, good.is_success) == (1.0, True), good
    assert (bad.reward, bad.is_success) == (0.0, False), bad


@pytest.mark.parametrize(
    ("language", "program"),
    [
        ("cpp", "#include <iostream>\nint main(){int n;std::cin>>n;std::cout<<2*n;}"),
        ("javascript", "console.log(2 * parseInt(require('fs').readFileSync(0)))"),
        ("bash", "read n; echo $((2 * n))"),
        ("c++20", "#include <iostream>\n#include <numbers>\nint main(){int n;std::cin>>n;std::cout<<2*n;}"),
        # what is no C++ of the newer standard
        ("c++17", "#include <iostream>\nint main(){int n, concept=0;std::cin>>n;std::cout<<2*n+concept;}"),
    ],
)
def test_other_languages(language: str, program: str) -> None:
    judge = code_judge(language="cpp" if "c++" in language else language)
    assert judge.judge(asked(DOUBLES), wrote(program, language)).reward == 1.0
    assert judge.judge(asked(DOUBLES), wrote(program.replace("2", "3"), language)).reward == 0.0
    assert judge.judge(asked(DOUBLES), wrote("}{", language)).reward == 0.0


_EQUAL = """
class Equal:
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
    __rsub__ = __sub__
"""


@pytest.mark.parametrize(
    "cheat",
    [
        _EQUAL + "class E(Equal): pass\ndef double(n): return E()",
        _EQUAL + "class Solution(Equal):\n  def double(self, n): return self",
        "def double(n): raise SystemExit(0)",
        "import os\nos._exit(0)",
        "import unittest\ndef double(n): raise unittest.SkipTest",
        "import sys\nsys.exit(0)",
        "import builtins\nbuiltins.abs = lambda n: 0\ndef double(n): return n",
        # half a surrogate pair, which no file holds: a verdict, and not a fault of the sandbox
        "def double(n): return 2 * n  # \ud800",
    ],
)
@pytest.mark.parametrize("tests", [_HUMAN_EVAL, ["assert abs(double(2) - 4) < 1"]])
def test_a_program_cannot_answer_for_its_tests(cheat: str, tests: object) -> None:
    judgement = code_judge().judge(asked(tests), wrote(cheat))
    assert judgement.reward == 0.0, judgement


def _named(test: str) -> dict[str, str]:
    """A file of tests whose names hold what they expect."""
    return {"framework": test.partition("|")[0], "module": "m", "test": test.partition("|")[2]}


_IN_CLASS = "import unittest\nfrom m import f\nclass {of}(unittest.TestCase):\n"
_IN_CLASS += "  def test_{named}(self): self.assertEqual(f(2), 4711)\n"
_SET = "import unittest\nfrom m import f\nclass T(unittest.TestCase): pass\nfor n, want in [(2, 4711), (3, 4712)]:\n"
_SET += "  setattr(T, {name}, lambda self, n=n, want=want: self.assertEqual(f(n), want))\n"
_FREE = "from m import f\n{above}def test_{named}({given}): assert f(2) == 4711, 'AssertionError'\n"
_NAMES = [
    "unittest|" + _IN_CLASS.format(of="T", named="is_4711"),
    "unittest|" + _IN_CLASS.format(of="T4711", named="it"),
    "unittest|" + _IN_CLASS.format(of="T4711", named="4711") * 2,
    "unittest|" + _IN_CLASS.format(of="T", named="a") + "  def test_4711(self): self.assertEqual(f(3), 1)\n",
    "unittest|" + _SET.format(name="f'test_{n}_is_{want}'"),
    "unittest|" + _SET.format(name="f'test {want}'"),
    "unittest|" + _SET.format(name="f'test_a[{want}'[::-1][::-1]"),
    "pytest|" + _FREE.format(above="", named="is_4711", given=""),
    "pytest|" + _FREE.format(above="import pytest\n@pytest.mark.parametrize('n', ['4711'])\n", named="a", given="n"),
    "pytest|"
    + _FREE.format(
        above="import pytest\n@pytest.mark.parametrize('n', [1, 2], ids=['4711', '4712'])\n", named="a", given="n"
    ),
    "pytest|"
    + _FREE.format(above="import pytest\n@pytest.mark.parametrize('n', [4711, 2])\n", named="of_4711", given="n"),
    "pytest|" + _IN_CLASS.format(of="Test4711", named="it"),
    "pytest|from m import f\nclass Test4711:\n  def test_4711(self): assert f(2) == 4711, 'AssertionError'\n",
]


def _unittest(body: str, names: str, imports: str) -> dict[str, str]:
    head = (
        f"import unittest, {imports}\nfrom solution import {names}\nclass T(unittest.TestCase):\n  def test_a(self):\n"
    )
    return {"framework": "unittest", "module": "solution", "test": f"{head}    {body}\n"}


_SET_UP = {"test_list": ["assert Node(1).value == root.value"], "test_setup_code": "root = Node(1)", "text": "?"}
_AT_IMPORT = "import unittest\nfrom clock import Clock\nnoon = Clock(12, 0)\n"
_AT_IMPORT += "class T(unittest.TestCase):\n  def test_it(self): self.assertEqual(noon.hour, 12)\n"
_NODE = "class Node:\n  def __init__(self, value): self.value = value"


@pytest.mark.parametrize(
    ("tests", "right", "stumbling"),
    [
        (
            _SET_UP,
            _NODE,
            ["Node = 5", "def Node(value): raise OSError", "class Node: pass", "def Node(value): return 1"],
        ),
        (
            {"framework": "unittest", "module": "clock", "test": _AT_IMPORT},
            _CLOCK,
            ["Clock = 5", "Clock = None", "class Clock: pass", "import clock", "def Clock(*hours): return 12"],
        ),
        (
            {
                "framework": "pytest",
                "module": "clock",
                "test": "import pytest\nfrom clock import LATE\nX = LATE / 2\ndef test_it(): assert X == 12",
            },
            "LATE = 24",
            ["class LATE: pass", "def LATE(): pass", "LATE = 'x'", "LATE = object()"],
        ),
    ],
)
def test_a_program_that_its_tests_stumble_over_is_wrong_and_not_their_fault(
    tests: object, right: str, stumbling: list[str]
) -> None:
    judge = code_judge()
    assert judge.judge(asked(tests), wrote(right)).reward == 1.0
    for program in stumbling:
        judgement = judge.judge(asked(tests), wrote(program))
        assert judgement.reward == 0.0, (program, judgement)


@pytest.mark.parametrize("raised", ["StopIteration", "type('Mine', (StopIteration,), {})", "StopAsyncIteration"])
def test_a_program_cannot_end_the_loop_that_its_test_calls_it_in(raised: str) -> None:
    tests = ["for a, b in zip(map(double, [1, 2]), [2, 4]):\n    assert a == b"]
    assert code_judge().judge(asked(tests), wrote(_FUNCTION)).reward == 1.0
    judgement = code_judge().judge(asked(tests), wrote(f"def double(n): raise {raised}"))
    assert judgement.reward == 0.0, judgement


_SAVES = "from solution import save\ndef test_it(tmp_path):\n  save(str(tmp_path / 'a'))\n"
_SAVES += "  assert (tmp_path / 'a').read_text() == 'x'"
_NAPS = "self.assertEqual(nap(), 7)"
_NAPS = f"\n    with mock.patch('time.sleep', lambda seconds: 7): {_NAPS}\n    self.assertEqual(nap(), None)"


@pytest.mark.parametrize(
    ("tests", "right", "wrong"),
    [
        (_SAVES, "def save(path): open(path, 'w').write('x')", "def save(path): open(path, 'w').write('y')"),
        (
            _unittest(_NAPS, "nap", "unittest.mock as mock"),
            "import time\ndef nap(): return time.sleep(0)",
            "def nap(): return 7",
        ),
    ],
)
def test_tests_share_files_and_patches_with_the_program(tests: object, right: str, wrong: str) -> None:
    judge = code_judge()
    good, bad = judge.judge(asked(tests), wrote(right)), judge.judge(asked(tests), wrote(wrong))
    assert (good.reward, bad.reward) == (1.0, 0.0), (good, bad)


_STAR = (
    "import unittest\nfrom solution import *\nclass T(unittest.TestCase):\n"
    "  def test_a(self): self.assertEqual(double(2), 4)"
)
_CONSTANT = "def PORT(): return 1"


@pytest.mark.parametrize(
    ("tests", "right", "wrong"),
    [
        ({"framework": "unittest", "module": "solution", "test": _STAR}, _FUNCTION, "def doubled(n): return 2 * n"),
        (["assert {80: 'web', 22: 'ssh'}[PORT] == 'web'"], "PORT = 80", _CONSTANT),
        (["assert [22, 80].index(PORT) == 1"], "PORT = 80", _CONSTANT),
        (["assert next(n for n in (22, 80) if n == PORT) == 80"], "PORT = 80", "class PORT: pass"),
        (
            ["class B(A):\n  n = N\nassert B().f() == 4"],
            "N = 4\nclass A:\n  def f(self): return self.n",
            "N = None\nclass A: pass",
        ),
        (
            ["c = copy_of(m)\nc[0][0] = 9\nassert m == [[1]]"],
            "def copy_of(m): return [[*r] for r in m]",
            "def copy_of(m): return m[:]",
        ),
    ],
)
def test_once_a_program_has_answered_there_are_only_verdicts(tests: list[str], right: str, wrong: str) -> None:
    if isinstance(tests, list) and "copy_of" in tests[0]:
        tests = [f"m = [[1]]\n{tests[0]}"]
    judged = [code_judge().judge(asked(tests), wrote(program)).reward for program in (right, wrong)]
    assert judged == [1.0, 0.0]


_ROWS = "def grid(r, c): return [[0] * c for _ in range(r)]"
_BAG = "class B:\n  def __init__(self, x): self.x = x\n  def __iter__(self): return iter(self.x)\n"
_HISTORY = (
    "class H:\n  def __init__(self): self.i = []\n  def add(self, x): self.i.append(x)\n  def items(self): return "
)


_KEEPING = "class P:\n  kept = {}\n  def __init_subclass__(cls, name): P.kept[name] = cls\n"
_WRAPPED = "from inspect import signature\n@deco\ndef g(a, b=2): return a + b"
_WRAPS = "from functools import wraps\ndef deco(f):\n  @wraps(f)\n  def own(*a): return f(*a)\n  return own"
_DEFAULT = "import inspect\ndef given(f): return inspect.signature(f).parameters['b'].default"
_ALL = "def f(tasks):\n  for one in tasks:\n    try: one()\n    except"
_NAMED = "def g(one):\n  try: one()\n  except BaseException as e: return type(e).__name__"
_NOTES = "def f(g):\n  try: g()\n  except ValueError as e:\n    e.add_note('a')\n    raise"
_ADDS = (
    "class P:\n  def __init__(self, x): self.x = x\n"
    "  def __add__(self, other): return P(self.x + other.x) if isinstance(other, P) else {0}\n"
    "  def __eq__(self, other): return self.x == other.x if isinstance(other, P) else {0}\n"
    "  def __lt__(self, other): return self.x < other.x if isinstance(other, P) else {0}\n"
)
_OWN_ERRORS = """
class AppError(Exception):
  def __init__(self, *a): super().__init__(*a)
class Missing(AppError, LookupError): pass
class Both(KeyError, ValueError): pass
class Deep(Missing, ValueError): pass
class Late(AppError, TimeoutError): pass
"""


@pytest.mark.parametrize(
    ("test", "right", "wrong"),
    [
        ("g = grid(2, 2)\ng[0][0] = 1\nassert g == [[1, 0], [0, 0]]", _ROWS, "def grid(r, c): return [[0] * c] * r"),
        (
            "h = H()\nh.add(1)\nh.items().append(2)\nassert h.items() == [1]",
            f"{_HISTORY}[*self.i]",
            f"{_HISTORY}self.i",
        ),
        (
            "a = [2, 1]\nassert up(x=a) == [1, 2] and a == [2, 1]",
            "def up(x): return sorted(x)",
            "def up(x): x.sort(); return x",
        ),
        ("a = [2, 1]\nup(x=a)\nassert a == [1, 2]", "def up(x): x.sort()", "def up(x): x = sorted(x)"),
        ("b = bytearray(b'ab')\nf(b)\nassert b == b'ba'", "def f(b): b.reverse()", "def f(b): return b[::-1]"),
        ("p = ([2, 1], 0)\nf(p)\nassert p == ([1, 2], 0)", "def f(p): p[0].sort()", "def f(p): sorted(p[0])"),
        ("assert one() is one()", "_D = {}\ndef one(): return _D", "def one(): return {}"),
        ("a = []\na.append(a)\nassert f(a) == 1", "def f(a): return len(a[0][0])", "def f(a): return 0"),
        (
            "assert M.of(5) == M.of('5')",
            "class M:\n  of = staticmethod(lambda v: M(v))\n  def __init__(self, v): self.v = int(v)\n"
            "  def __eq__(self, o): return self.v == o.v",
            "class M:\n  of = staticmethod(lambda v: M())\n  def __eq__(self, o): return True",
        ),
        (
            "assert V(1, 2) == '1.2' and V(1, 2) != '1.3'",
            "class V:\n  def __init__(self, *p): self.p = '.'.join(map(str, p))\n"
            "  def __eq__(self, o): return self.p == str(o)",
            "class V:\n  def __init__(self, *p): pass\n  def __eq__(self, o): return True",
        ),
        (
            "assert Order([2, 1]) == [1, 2]",
            "def Order(x): return sorted(x)",
            "class Order:\n  def __init__(self, x): self.x = x\n"
            "  def __eq__(self, o): return sorted(map(repr, o)) == sorted(map(repr, self.x))",
        ),
        (
            "assert f([1]).difference({1}) == set()",
            "def f(x): return set(x)",
            "class S:\n  def difference(self, o): return set()\ndef f(x): return S()",
        ),
        (
            "r = f([2, 1])\nassert r[0] <= r[1] and sorted(r) == [1, 2]",
            "def f(x): return sorted(x)",
            "class S:\n  def __init__(self, x): self.x = x\n  def __len__(self): return 2\n"
            "  def __iter__(self): return iter(self.x)\n  def __getitem__(self, i): return i\ndef f(x): return S(x)",
        ),
        # an object says the same as often as it is read, if nothing happens meanwhile
        *(
            (
                f"r = f(2)\nassert {read} >= 4 and {read} <= 4",
                f"class S:\n  n = 4\n  {shown}\ndef f(n): return S()".replace("TOLD", f"{kind}(self.n)"),
                f"class S:\n  n = [3, 5]\n  {shown}\ndef f(n): return S()".replace("TOLD", f"{kind}(self.n.pop())"),
            )
            for read, kind, shown in (
                ("r.x", "int", "x = property(lambda self: TOLD)"),
                ("r['a']", "int", "def __getitem__(self, key): return TOLD"),
                ("len(r)", "int", "def __len__(self): return TOLD"),
                ("float(r)", "float", "def __float__(self): return TOLD"),
            )
        ),
        (
            "r = f()\nassert r.hits < 1\nr['a']\nassert r.hits > 0",
            "class R:\n  hits = 0\n  def __getitem__(self, key): self.hits += 1\ndef f(): return R()",
            "class R:\n  hits = 0\n  def __getitem__(self, key): pass\ndef f(): return R()",
        ),
        (
            "d = {}\nr = f(d)\nassert r.n < 1\nd['a'] = 1\nassert r.n > 0",
            "class R:\n  def __init__(self, d): self.d = d\n  n = property(lambda self: len(self.d))\nf = R",
            "class R:\n  def __init__(self, d): self.n = len(d)\nf = R",
        ),
        (
            "assert R.count < 1\nR()\nassert R.count > 0",
            "class R:\n  count = 0\n  def __init__(self): R.count += 1",
            "class R:\n  count = 0",
        ),
        (
            "import time\nr = f()\nassert r.n < 1\ntime.sleep(0.1)\nassert r.n > 0",
            "import threading\nclass R:\n  n = 0\n  def more(self): self.n = 1\n"
            "def f():\n  r = R()\n  threading.Timer(0.02, r.more).start()\n  return r",
            "class R:\n  n = 0\ndef f(): return R()",
        ),
        # an object of a class that leaves to the standard library what it equals is equal to the data that it holds
        *(
            (
                f"assert f({given!r}) == {given!r} and f({given!r}) != {other!r}",
                f"import collections, types\nclass S({kind}): pass\n{made}",
                "import collections, types\n"
                f"class S({kind}):\n  def __eq__(self, other): return len(other) == {len(given)}\n{made}".replace(
                    "f(x)", "f(y)", 1
                ).replace(": return", f":\n  x = {other!r}\n  return", 1),
            )
            for kind, given, other, made in (
                ("collections.UserDict", {"a": 1}, {}, "def f(x): return S(x)"),
                ("collections.ChainMap", {"a": 1, "b": 2}, {"a": 1}, "def f(x): return S({}, x)"),
                ("collections.UserList", [2, 1], [1], "def f(x): return S(x)"),
                ("collections.UserString", "ab", "ba", "def f(x): return S(x)"),
                ("object", {"a": 1}, {"a": 2}, "def f(x): return types.MappingProxyType(x)"),
            )
        ),
        # an object of a class of the standard library that the tests know is one of it
        *(
            (
                f"import {home}\nassert isinstance(made(), {kind})",
                f"import {home}\ndef made(): return {kind}({given})",
                f"import {home}\ndef made(): return {other}",
            )
            for home, kind, given, other in (
                ("random", "random.Random", "1", "random"),
                ("pathlib", "pathlib.PurePosixPath", "'a'", "'a'"),
                ("io", "io.StringIO", "'a'", "io.BytesIO(b'a')"),
            )
        ),
        # what an exception was made of may be more than can be sent
        (
            "try: f()\nexcept E: seen = 1\nassert seen == 1",
            "class E(Exception): pass\ndef f():\n  a = []\n  for _ in range(200): a = [a]\n  raise E(a)",
            "class E(Exception): pass\ndef f(): return 1",
        ),
        # a length is the number of items, where there are any, whatever the class says
        (
            "assert len(bag([2, 1])) == 3",
            f"{_BAG}  def __len__(self): return 3\ndef bag(x): return B([*x, 0])",
            f"{_BAG}  def __len__(self): return 3\ndef bag(x): return B(x)",
        ),
        (
            "b = bag([2, 1])\nassert [*b] == [2, 1] and len(b) == 2",
            f"{_BAG}def bag(x): return B(x)\nB.__len__ = lambda self: 2",
            f"{_BAG}def bag(x): return B(x[::-1])\nB.__len__ = lambda self: 2",
        ),
        (
            "assert len(sized()) == 2",
            "class S:\n  def __len__(self): return 2\ndef sized(): return S()",
            "class S:\n  def __len__(self): return 3\ndef sized(): return S()",
        ),
        ("assert isclose(f(2), 4.0)", "def f(n): return 2.0 * n", "def isclose(*a): return True\ndef f(n): return 0.0"),
        (
            "try: f()\nexcept E as e: assert e.status == 404 and e.told() == 1",
            "class E(Exception):\n  status = 404\n  def told(self): return 1\ndef f(): raise E",
            "class E(Exception): status = 500\ndef f(): raise E",
        ),
        # views equal what holds the same, and nothing else
        ("assert f({'a': 1}) == {'a'}", "def f(d): return d.keys()", "def f(d): return {**d, 'b': 2}.keys()"),
        ("assert f({'a': 1}) == {('a', 1)}", "def f(d): return d.items()", "def f(d): return d.keys()"),
        ("assert {'a'} == f({'a': 1})", "def f(d): return d.keys()", "def f(d): return d.values()"),
        ("assert f({'a': 1}) != {'b'}", "def f(d): return d.keys()", "def f(d): return dict(b=d).keys()"),
        ("assert f({'a': 1}) == {'a': 2}.keys()", "def f(d): return d.keys()", "def f(d): return {1: 'a'}.keys()"),
        ("k = f({'b': 1, 'a': 2})\nassert [*k] == ['b', 'a']", "def f(d): return d.keys()", "def f(d): return {*d}"),
        ("assert f({'a': 1}) == {'a'}", "def f(d): return {*d}", "def f(d): return d.values()"),
        ("assert f({'a': 1}) == ['a']", "def f(d): return [*d]", "def f(d): return d.keys()"),
        ("assert f({'a': 1}) == [1]", "def f(d): return [*d.values()]", "def f(d): return d.values()"),
        ("assert f({'a': []}) == {'a'}", "def f(d): return d.keys()", "def f(d): return {}.keys()"),
        ("assert f(b'abc') == b'ab'", "def f(b): return memoryview(b)[:2]", "def f(b): return memoryview(b)[1:]"),
        (
            "assert f(b'abc') == bytearray(b'ab')",
            "def f(b): return memoryview(b)[:2]",
            "def f(b): return memoryview(b)",
        ),
        ("assert b'ab' == f(b'abc')", "def f(b): return memoryview(b)[:2]", "def f(b): return [97, 98]"),
        (
            "k = f()\nassert 'a' not in k\nadd('a')\nassert 'a' in k and k == {'a'}",
            "D = {}\ndef f(): return D.keys()\ndef add(x): D[x] = 1",
            "D = {}\ndef f(): return {**D}.keys()\ndef add(x): D[x] = 1",
        ),
        (
            "assert f({'a': 1}) == {'a'}",
            "def f(d): return d.keys()",
            "class dict_keys(set):\n  __module__ = 'builtins'\n  def __eq__(self, o): return True\n"
            "def f(d): return dict_keys()",
        ),
        # an exception is of all the built-in kinds that its class names
        *(
            (
                f"AppError, Both\ntry: f()\nexcept {kind}: pass\nelse: assert False",
                f"{_OWN_ERRORS}def f(): raise {right}",
                wrong,
            )
            for kind, right, wrong in (
                ("LookupError", "Missing", f"{_OWN_ERRORS}def f(): raise AppError"),
                ("AppError", "Missing", f"{_OWN_ERRORS}def f(): raise LookupError"),
                ("KeyError", "Both", f"{_OWN_ERRORS}def f(): raise Missing"),
                ("ValueError", "Both", f"{_OWN_ERRORS}def f(): raise KeyError"),
                ("(ValueError, OSError)", "Deep", f"{_OWN_ERRORS}def f(): raise Missing"),
                ("LookupError", "Deep", f"{_OWN_ERRORS}def f(): raise ValueError"),
                ("TimeoutError", "Late", f"{_OWN_ERRORS}def f(): raise Both"),
                ("RuntimeError", "RuntimeError", f"{_OWN_ERRORS}def f(): raise Late"),
            )
        ),
        # but one that the tests do not know would be of whatever kinds they expect
        *(
            (f"try: f()\nexcept {kind}: pass\nelse: assert False", f"def f(): raise {kind}", wrong)
            for kind in ("TypeError", "IndexError")
            for wrong in (
                "class E(ValueError, TypeError, IndexError): pass\ndef f(): raise E",
                "class A(ValueError): pass\nclass E(A, TypeError, IndexError): pass\ndef f(): raise E",
                "class A(Exception): pass\nclass E(A, ValueError, TypeError, IndexError): pass\ndef f(): raise E",
            )
        ),
        (
            "import uuid\nassert f(uuid.UUID(int=4)) == uuid.UUID(int=5)",
            "import uuid\ndef f(one): return uuid.UUID(int=one.int + 1)",
            "import uuid\ndef f(one): return uuid.UUID(int=one.int + 2)",
        ),
        # a class that is built on one of a module
        (
            "assert f().up() == 2",
            "from collections import deque\nclass Q(deque):\n def up(self): return self[-1]\ndef f(): return Q([1, 2])",
            "from collections import deque\nclass Q(deque):\n def up(self): return self[0]\ndef f(): return Q([1, 2])",
        ),
        # what a class of the tests is made with, and what the program keeps of it
        (
            "class A(P, name='a'): pass\nassert P.kept == {'a': A} and isinstance(P.kept['a'](), A)",
            _KEEPING,
            _KEEPING.replace("[name]", "[cls.__name__]"),
        ),
        # what a decorator copies of a function; a default is handed on and not looked at
        (
            f"{_WRAPPED}\nassert (g.__name__, str(signature(g)), g.__wrapped__(1)) == ('g', '(a, b=2)', 3)",
            _WRAPS,
            _WRAPS.replace("@wraps(f)", "@wraps(deco)"),
        ),
        (
            "def g(b=47): return b + 1\nassert default(g) == 48",
            f"{_DEFAULT}\ndef default(f): return f(given(f))",
            f"{_DEFAULT}\ndefault = given",
        ),
        (
            "def g(): pass\nassert (f(g), f(len), f(int)) == (True, False, False)",
            "import types\ndef f(one): return isinstance(one, types.FunctionType)",
            "def f(one): return callable(one)",
        ),
        (
            "def g(): raise ValueError\ntry: f(g)\nexcept ValueError as e: notes = e.__notes__\nassert notes == ['a']",
            _NOTES,
            _NOTES.replace("e.add_note('a')", "pass"),
        ),
        # what no `except Exception` catches is the program's to catch, and to clean up behind
        *(
            (
                f"class Stop(BaseException): pass\ndef stop(): raise {kind}\nran = []\n"
                f"try: f([stop, lambda: ran.append(1)])\nexcept {kind}: ran.append(2)\nassert ran == [2]",
                f"{_ALL} Exception: pass",
                f"{_ALL} BaseException: pass",
            )
            for kind in ("Stop", "SystemExit", "GeneratorExit")
        ),
        (
            "class Stop(BaseException): pass\ndef stop(): raise Stop(1)\nends = []\ntry: f(stop, ends)\n"
            "except Stop: pass\nassert ends == ['end'] and g(stop) == 'Stop'",
            "def f(one, ends):\n  try: one()\n  finally: ends.append('end')\n" + _NAMED,
            "def f(one, ends):\n  one()\n  ends.append('end')\n" + _NAMED,
        ),
        # the state of random numbers is that of one interpreter
        (
            "import random\nstate = random.getstate()\nassert f(3) < 1 and random.getstate() == state",
            "import random\ndef f(seed): return random.Random(seed).random()",
            "import random\ndef f(seed):\n  random.seed(seed)\n  return random.random()",
        ),
        (
            "import random\nstate = random.getstate()\none = f()\nrandom.setstate(state)\nassert f() == one",
            "import random\ndef f(): return random.random()",
            "import os\ndef f(): return os.urandom(8)",
        ),
        (
            "def g(x, b=None, c=True): return b if x else c\nassert f(g) == (None, True)",
            "import inspect\ndef f(g):\n  both = [inspect.signature(g).bind(x) for x in (1, 0)]\n"
            "  [one.apply_defaults() for one in both]\n  return tuple(g(*one.args) for one in both)",
            "def f(g): return (None, False)",
        ),
        # what an operator's method says of others is told as it is
        (
            "assert P.__add__(P(1), 5) is NotImplemented and P(1).__lt__('a') is NotImplemented\n"
            "assert P(1) != 5 and P(1) + P(2) == P(3) and P(1) < P(2)\n"
            "try: P(1) + 5\nexcept TypeError as error: assert 'unsupported operand' in str(error)",
            _ADDS.format("NotImplemented"),
            _ADDS.format("False"),
        ),
        # an object that its own text makes is an answer
        (
            "assert eval(repr(T(1.5, [2]))) == T(1.5, [2]) != eval(repr(T(2.5, [2])))\n"
            "assert eval(repr(T(T(1), 'b'))).a.a == 1",
            "from dataclasses import dataclass\n@dataclass\nclass T:\n  a: object\n  b: object = 0",
            "class T:\n  def __init__(self, a, b=0): self.a = a\n  def __eq__(self, other): return True\n"
            "  def __repr__(self): return 'T(1, 0)'",
        ),
        (
            "assert eval(f(3)) == P(9)",
            "class P:\n  def __init__(self, x): self.x = x\n  def __eq__(self, other): return self.x == other.x\n"
            "def f(n): return f'P({n * n})'",
            "class P:\n  def __init__(self, x): self.x = x\n  def __eq__(self, other): return isinstance(other, P)\n"
            "def f(n): return 'P(1)'",
        ),
        # and no other name is one of a class, such as that which the test expects
        (
            "kind = One\nassert type(eval(f(1))) is kind",
            "class One: pass\ndef f(n): return 'One()'",
            "class One: pass\ndef f(n): return 'kind()'",
        ),
        (
            "from fractions import Fraction as F\nassert eval(repr(P(F(1, 2))), {'P': P, 'Fraction': F}).x == F(1, 2)",
            "class P:\n  def __init__(self, x): self.x = x\n  def __repr__(self): return f'P({self.x!r})'",
            "class P:\n  def __init__(self, x): self.x = x\n  def __repr__(self): return f'P(abs({self.x!r}))'",
        ),
        # what a test's function hands back as it came is still not to be looked at
        (
            "def g(x, b=47): return x\nassert f(g) == 47",
            "def f(g): return 40 + 7",
            f"{_DEFAULT}\ndef f(g): return g(given(g))",
        ),
    ],
)
def test_values_on_both_sides_are_what_they_are_in_one_interpreter(test: str, right: str, wrong: str) -> None:
    judged = [code_judge().judge(asked([test]), wrote(program)).reward for program in (right, wrong)]
    assert judged == [1.0, 0.0]


_CHECKER = """
import sys
given, correct, printed = (open(name).read().split() for name in sys.argv[1:])
first, second = map(int, printed)
print(1 if first + second == int(given[0]) else 0)
"""
_STUMBLES = {
    "memory": "x = []\n    while True: x.append(bytearray(b'1' * 10**7))",
    "memory of children": "for _ in range(3): os.fork()\n    x = bytearray(b'1' * 10**9)\n    time.sleep(99)",
    "processes": "while True: os.fork()",
    "threads": "while True: threading.Thread(target=time.sleep, args=(99,)).start()",
    "a kill": "os.kill(-1, 9)",
    "an exit": "os._exit(0)",
    "a crash": "os.abort()",
    "a number": "print(9 ** 99999)",
    "a recursion": "f = lambda: f()\n    f()",
    "an output": "print('1' * 10**7)",
    "no output": "pass",
    "its files": "os.rename('input.txt', 'solution_output.txt')\n    os.chmod('.', 0)",
}
_STUMBLING = "import os, sys, threading, time\nprinted = open('solution_output.txt').read().strip()\n" + "".join(
    f"if printed == {how!r}:\n    {does}\n" for how, does in _STUMBLES.items()
)
_STUMBLING += "if printed == '3 4': print(1)\n"
_PRINTED = "open('solution_output.txt').read()"
_ECHOES = f"""
out = {_PRINTED}
if out.strip() == '3 4': print(1); raise SystemExit
print('wrong, it holds')
if out.startswith('7'): print(0); print(out.splitlines()[-1])
elif len(out.splitlines()) == 2: print(*out.split()[::-1], sep='\\n')
elif ' not ' in out: print(out[:1])
elif out[0] == 'x': print(int(out[1:]))
else: print(*out.split(), sep='\\n')
"""
_SAYS_MORE = f"""
words = {_PRINTED}.split()
print('verdict:', words[0])
print(1 if words == ['3', '4'] or words == ['YES', '1'] else 0)
"""
_OF_ERROR = f"""
got = list(map(float, {_PRINTED}.split()))
assert isinstance(got[0], float) and type(got[0]) == float and len(got) == 2
least = float('inf')
off = abs(got[0] - 3) / max(got[0], 3)
print(0 if off > 1e-6 or got[1] > least else 1)
"""
_OF_EVAL = f"""
got = eval({_PRINTED}.replace('3 4', '[3, 4]'))
print(0 if any(abs(a - b) > 1e-6 for a, b in zip(got, [3, 4])) else 1)
"""
_RUNS = (
    "import runpy; runpy.run_path('solution_output.txt')",
    "import builtins; builtins.exec('3')",
    "import timeit; timeit.timeit('3', number=1)",
    "import sys; sys.path.insert(0, '.'); open('own.py', 'w').write('3'); import own",
)
_RUNS_NOTHING = (
    "import collections; collections.namedtuple('P', 'x y')(3, 4)",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\nP(3)",
    "import ast; ast.literal_eval('[3]')",
    "import re, json, math, decimal, fractions, itertools, typing, enum, numbers, statistics",
    "import typing\nclass P(typing.NamedTuple):\n    x: int\nP(3)",
    "import enum\nclass P(enum.IntEnum):\n    x = 1\nP(1)",
)
_SHOWS = (
    "seen = open('solution_output.txt').read().split()\n"
    "if seen == ['3', '4']: print(1); raise SystemExit\n"
    "print('no:')\n"
)
_NEAR = (
    "got = [float(one) for one in open('solution_output.txt').read().split()]\n"
    "print(0 if any(abs(a - b) > 1e-6 for a, b in zip(got, (3, 4))) else 1)"
)
_POLYNOMIAL = (
    "x = float(open('solution_output.txt').read().split()[0])\nprint(0 if abs(x * x - 5 * x + 6) > 1e-6 else 1)"
)
_OF_JSON = (
    "import json\nseen = open('solution_output.txt').read()\n"
    "if seen.split() == ['3', '4']: print(1); raise SystemExit\n"
    "a, b = json.loads(seen)\nprint(0 if abs(a - b - 3) > 1e-6 else 1)"
)
_OF_WHOLE = "n = int(open('solution_output.txt').read().split()[0])\nprint(1 if n % 10 in (3, 7) else 0)"
_CHECKED = {"test_cases": [{"input": "7\n", "output": "3 4\n"}], "language": "python"}


@pytest.mark.parametrize(
    ("checker", "program", "reward"),
    [
        (_CHECKER, "print(3, 4)", 1.0),
        (_CHECKER, "print(5, 2)", 1.0),
        (_CHECKER, "print(5, 3)", 0.0),
        (_CHECKER, "print('1')", 0.0),
        (_CHECKER, "print('x' * 10**7)", 0.0),
        (_CHECKER, "print(3, 4); raise SystemExit(1)", 0.0),
        # the output has the checker end over a bound, and its jail with it
        (_STUMBLING, "print('3 4')", 1.0),
        *((_STUMBLING, f"print({how!r})", 0.0) for how in _STUMBLES),
        (_CHECKER, "open('correct_output.txt', 'w').write('1'); open('checker.py', 'w').write('print(1)')", 0.0),
        ("print(1 / 0)", "print(3, 4)", None),
        ("print('fine')", "print(3, 4)", None),
        ("raise SystemExit(3)", "print('x')", None),
        ("print(0)", "print(3, 4)", None),
        # it must run nothing of the output
        ("print(sum(eval(open('solution_output.txt').read().replace(' ', ','))) // 7)", "print(6, 1)", 1.0),
        ("print(sum(eval(open('solution_output.txt').read().replace(' ', ','))) // 7)", "print('print(1)or(7,)')", 0.0),
        ("print(1); exec(open('solution_output.txt').read())", "print(3, 4)", None),
        ("import os\nprint(1); os.system('sh solution_output.txt')", "print(3, 4)", None),
        (
            "print(open('solution_output.txt').read() if '3 4' not in open('solution_output.txt').read() else 1)",
            "print('no\\n1')",
            0.0,
        ),
        *(
            (_ECHOES, f"print({how!r})", 0.0)
            for how in ("7\n1", "0 1", "1.0", "1\n7", "1 is not it", "x１", "0.99999999999999999")
        ),
        # an output may hold a 1, and the checker repeat some of it
        (_SAYS_MORE, "print('YES'); print(1)", 1.0),
        (_SAYS_MORE, "print('YES'); print(2)", 0.0),
        (_SAYS_MORE, "print('NO'); print(1)", 0.0),
        # whatever is compared with NaN is false
        (_OF_ERROR, "print(3, 4)", 1.0),
        (_OF_ERROR, "print('3.0', 4)", 1.0),
        *((_OF_ERROR, f"print('{how}', 4)", 0.0) for how in ("nan", "-NaN", "inf", "1e999", "9" * 400)),
        (_OF_EVAL, "print('[3, 4.0]')", 1.0),
        *((_OF_EVAL, f"print('[{how}, 4]')", 0.0) for how in ("1e999 - 1e999", "(1e308 * 10) - (1e308 * 10)", "1e999")),
        *((f"{how}\nprint(1)", "print(3, 4)", None) for how in _RUNS),
        *((f"{how}\nprint(1)", "print(3, 4)", 1.0) for how in _RUNS_NOTHING),
        ("import runpy\nrunpy.run_path('solution_output.txt'); print(1)", "print(3, 4)", None),
        ("import re, collections\nprint(len(re.findall('4', open('solution_output.txt').read())))", "print(3, 4)", 1.0),
        # a piece of the output that it shows is no score
        (_SHOWS + "print(*seen, sep='\\n')", "print('0 1')", 0.0),
        (_SHOWS + "print(*seen[::-1], sep='\\n')", "print(1, 7)", 0.0),
        (_SHOWS + "print(' '.join(seen)[:1])", "print('1 is not it')", 0.0),
        (_SHOWS + "print(0); print(seen[-1])", "print(7); print(1)", 0.0),
        (_SHOWS + "print(0)", "print(3, 4)", 1.0),
        ("print('seen'); print(1 if '3' in open('solution_output.txt').read() else 0)", "print(3, 1)", 1.0),
        # what is no number is near every number
        (_NEAR, "print('nan 4')", 0.0),
        (_NEAR, "print('3 1e999')", 0.0),
        (_NEAR, "print('3.0 4.0')", 1.0),
        (_NEAR.replace("float", "eval"), "print('1e999-1e999 4')", 0.0),
        # nor is what becomes none in a calculation
        (_POLYNOMIAL, "print(2.0)", 1.0),
        (_POLYNOMIAL, "print(4)", 0.0),
        *((_POLYNOMIAL, f"print('{how}')", 0.0) for how in ("9e307", "-9E+307", "1e160", "9" * 200, "2e9_9")),
        (_OF_JSON, "print('[5, 2]')", 1.0),
        (_OF_JSON, "print('[2e999, 2e999]')", 0.0),
        (_OF_WHOLE, "print(10**60 + 7)", 1.0),
    ],
)
def test_a_checker_of_the_data_set_decides(checker: str, program: str, reward: float | None) -> None:
    row = {"verification_info": {**_CHECKED, "checker": checker}}
    judgement = code_judge().judge(asked(row), wrote(program))
    assert (judgement.reward, judgement.cause) == (reward, None if reward is not None else "reference"), judgement


_OBSERVER = """
    def setUp(self):
        self.seen, self.expected = [], 4
    def update(self, value):
        self.seen.append(value)
    def test_notify(self):
        subject = Subject()
        subject.attach(self)
        self.assertEqual(subject.publish(2), self.expected)
        self.assertEqual(self.seen, [4])
"""
_CASE = f"import unittest\nfrom solution import Subject\nclass T(unittest.TestCase):{_OBSERVER}"
_CLASS = (
    f"from solution import Subject\nclass TestIt:{_OBSERVER}".replace("setUp", "setup_method").replace(
        "self.assertEqual(", "assert self.same("
    )
    + "    def same(self, one, other):\n        return one == other\n"
)


@pytest.mark.parametrize(("framework", "test"), [("unittest", _CASE), ("pytest", _CLASS)])
@pytest.mark.parametrize(
    ("does", "reward"),
    [
        ("self.o.update(4); return 4", 1.0),
        ("self.o.update(4); return 5", 0.0),
        ("self.o.update(4); return self.o.expected", 0.0),
        ("self.o.update(4); self.o.expected = 5; return 5", 0.0),
        ("self.o.update(4); self.o.assertEqual = print; return 5", 0.0),
        ("self.o.update(4); self.o.same = lambda *given: True; return 5", 0.0),
        ("self.o.skipTest('no')", 0.0),
        ("self.o.doCleanups(); self.o.update(4); return self.o.seen[0]", 0.0),
    ],
)
def test_a_test_that_lends_itself_lends_what_it_does(framework: str, test: str, does: str, reward: float) -> None:
    program = f"class Subject:\n  def attach(self, o): self.o = o\n  def publish(self, n):\n    {does}"
    tests = {"framework": framework, "module": "solution", "test": test}
    judgement = code_judge(packages=True).judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement


@pytest.mark.parametrize("name", ["args[0]", "keywords['want']", "func.__defaults__[0]"])
def test_a_lent_partial_does_not_tell_its_arguments(name: str) -> None:
    same = "import functools\ndef same(want, got, other=4):\n    return want == got\n"
    for given in ("4", "want=4"):
        told = "got=n" if given == "want=4" else "n"
        tests = [f"{same}assert confirm(functools.partial(same, {given}), 2)"]
        right = f"def confirm(p, n):\n    n = 2 * n\n    return p({told})"
        reads = f"def confirm(p, n):\n    n = p.{name}\n    return p({told})"
        assert code_judge().judge(asked(tests), wrote(right)).reward == 1.0
        assert code_judge().judge(asked(tests), wrote(reads)).reward == 0.0


@pytest.mark.parametrize("language", ["javascript", "cpp", "bash"])
@pytest.mark.parametrize(
    "tests", [{"fn_name": "f", "inputs": [[2]], "outputs": [4]}, {"test_list": ["assert f(2) == 4"]}]
)
def test_functions_of_another_language_are_no_verdict(tests: dict[str, Any], language: str) -> None:
    both: list[tuple[object, dict[str, Any]]] = [({**tests, "language": language}, {}), (tests, {"language": language})]
    for row, settings in both:
        judgement = code_judge(**settings).judge(asked(row), wrote("function f(n) { return 2 * n }", language))
        assert (judgement.reward, judgement.cause) == (None, "reference"), judgement


@pytest.mark.parametrize(
    ("outputs", "reward"), [(["4", "5.5"], None), (["4", "YES"], None), (["4", "4\n"], 1.0), (["4", "4.0"], 1.0)]
)
def test_two_outputs_for_one_input_are_no_verdict(outputs: list[str], reward: float | None) -> None:
    tests = {"inputs": ["2\n", "2\n"], "outputs": outputs}
    assert code_judge().judge(asked(tests), wrote("print(2 * int(input()))")).reward == reward


@pytest.mark.parametrize(
    ("tests", "reward"),
    [
        ({"fn_name": "double", "inputs": [[2], [2]], "outputs": [4, 5]}, None),
        ({"fn_name": "double", "inputs": [[2], [2]], "outputs": [4, 4.0]}, 1.0),
        ({"fn_name": "double", "inputs": [[2], [3]], "outputs": [4, 6]}, 1.0),
        (["assert double(2) == 4", "assert double(2) == 5"], None),
        (["assert double(n=2) == 4", "assert double(n=2) == 3"], None),
        # an object may equal both
        (["assert list_of(2) == [2]", "assert list_of(2) == (2,)"], 0.0),
        (["assert double(2) == 4", "assert double(2) == 4.0", "assert double(2) == 2 + 2"], 1.0),
        # one process, whose state may change
        (["assert double([]) == []\nassert double([1]) == [1, 1]", "assert double(2) == 4"], 1.0),
        (["x = 1\nassert double(x) == 2", "x = 2\nassert double(x) == 4"], 1.0),
    ],
)
def test_two_results_of_one_call_are_no_verdict(tests: object, reward: float | None) -> None:
    assert code_judge().judge(asked(tests), wrote(_FUNCTION)).reward == reward


_READS = "import unittest\nfrom solution import double\nclass T(unittest.TestCase):\n"
_READS += "  def setUp(self): self.given = {}\n  def test_it(self): self.assertEqual(double(2), 4)"
_EACH = "import pytest\nfrom solution import double\n@pytest.mark.parametrize({}, [(2, 4), {}])\n"
_EACH += "def test_it(n, want): assert double(n) == want"

_CASES = "import pytest\nfrom solution import double\nCASES = {}\n"
_CASES += "@pytest.mark.parametrize('n, want', CASES)\ndef test_it(n, want): assert double(n) == want"
_BODY = "def test_it():\n    {}\n    assert {}\n"
_EMPTY = "def double(n): return []"
_FAIL = "def fail():\n    assert False\n"


@pytest.mark.parametrize(
    ("framework", "test", "program", "reward"),
    [
        ("unittest", _READS.format("open('/none/data.csv').read()"), _FUNCTION, None),
        ("unittest", _READS.format("double(0)"), "def double(n): return open('/none/data.csv')", 0.0),
        ("unittest", _READS.format("double(0)"), "def double(n): raise FileNotFoundError", 0.0),
        ("unittest", _READS.format("1"), _FUNCTION, 1.0),
        ("unittest", _READS.format("1"), "open('/none/data.csv')", 0.0),
        ("pytest", _EACH.format("'n, want'", "(3, 6, 9)"), _FUNCTION, None),
        ("pytest", _EACH.format("('n', 'want')", "(3,)"), "def double(n): return n", None),
        ("pytest", _EACH.format("'n,want'", "pytest.param(3, 6, id='three')"), _FUNCTION, 1.0),
        ("pytest", _EACH.format("['n', 'want']", "(3, 6)"), "def double(n): return 4", 0.0),
        ("pytest", _CASES.format("[(1, 2, 3)]"), _FUNCTION, None),
        ("pytest", _CASES.format("((1, 2), (1, 2, 3))"), _FUNCTION, None),
        ("pytest", _CASES.format("NOWHERE"), _FUNCTION, None),
        ("pytest", _CASES.format("[(1, 2), (2, 4)]"), _FUNCTION, 1.0),
        ("pytest", _CASES.format("[(n, 2 * n) for n in range(3)]"), _FUNCTION, 1.0),
        ("pytest", _CASES.format("[(1, 2), (2, 4)]"), "def double(n): return 2", 0.0),
        *(
            (framework, f"from solution import double\n{test}", program, reward)
            for framework in ("pytest", "unittest")
            for test, program, reward in (
                # what is made of constants fails for each program
                (_BODY.format("want = [][3]", "double(1) == want"), _FUNCTION, None),
                (_BODY.format("assert 1 == 2", "double(1) == 2"), _FUNCTION, None),
                (_BODY.format("want = 1 + 'two'", "double(1) == want"), _FUNCTION, None),
                (f"TABLE = {{}}['x']\n{_BODY.format('pass', 'double(1) == 2')}", _FUNCTION, None),
                (f"TABLE = {{'a': 2}}\n{_BODY.format('pass', 'double(1) == 2')}    TABLE['b']\n", _FUNCTION, None),
                (_BODY.format("assert double(1) == 2", "1 == 2"), "def double(n): return 2", None),
                (_BODY.format("TWO = 2", "TWO[0] == double(1)") + "    TWO[0]\n", _FUNCTION, 0.0),
                # but not where a program may not come to it, or has a say in it
                (_BODY.format("assert double(1) == 2", "1 == 2"), "def double(n): return 3", 0.0),
                (_BODY.format("if double(1) == 2: return", "1 == 2"), "def double(n): return 3", 0.0),
                (_BODY.format("if double(1) != 2: [][3]", "double(2) == 4"), "def double(n): return 3", 0.0),
                (_BODY.format("want = [2][double(0)]", "double(1) == want"), "def double(n): return 3", 0.0),
                (
                    f"SEEN = []\n{_BODY.format('SEEN.extend(double(1))', 'SEEN[0] == 2')}",
                    "def double(n): return []",
                    0.0,
                ),
                (
                    f"SEEN = []\n{_BODY.format('SEEN.extend(double(1))', 'SEEN[0] == 2')}",
                    "def double(n): return [2]",
                    1.0,
                ),
                ("T = {'a': []}\n" + _BODY.format("T['a'].extend(double(1))", "T['a'][0] == 2"), _EMPTY, 0.0),
                (_BODY.format("double(1) == 2 or fail()", "double(2) == 4") + _FAIL, "def double(n): return 3", 0.0),
                (_BODY.format("pass", "double(1) == 2"), "1 / 0", 0.0),
            )
        ),
    ],
)
def test_tests_that_end_by_themselves_are_no_verdict(
    framework: str, test: str, program: str, reward: float | None
) -> None:
    judgement = code_judge().judge(asked({"framework": framework, "module": "solution", "test": test}), wrote(program))
    assert judgement.reward == reward, judgement


_SHADOWED = "from math import *\nfrom solution import *\ndef test_it():\n  assert fabs(half(3) - 1.5) < 0.01\n"
_SHADOWED += "  assert gcd(4, 6) == 2"


@pytest.mark.parametrize(
    ("program", "reward"),
    [
        ("from math import gcd\ndef half(n): return n / 2", 1.0),
        ("def gcd(a, b): return 2\ndef half(n): return n / 2", 1.0),
        ("def gcd(a, b): return 3\ndef half(n): return n / 2", 0.0),
        ("def gcd(a, b): return 2\ndef half(n): return 0\ndef fabs(x): return 0.0", 0.0),
    ],
)
def test_a_program_does_not_replace_what_its_tests_compare_with(program: str, reward: float) -> None:
    tests = {"framework": "pytest", "module": "solution", "test": _SHADOWED}
    judgement = code_judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement


@pytest.mark.parametrize(
    ("home", "body", "right", "cheat"),
    [
        ("math", "x = f(2)\n  assert fabs(x - 4) < 1", "def f(n): return 4", "def f(n): 0\ndef fabs(n): return 0"),
        ("math", "x = 5\n  assert factorial(x) == 120", "def factorial(n): return 120", "def factorial(n): return 1"),
        ("statistics", "assert mean(f(2)) == 2", "def f(n): return [2]", "def f(n): return []\ndef mean(a): return 2"),
        ("statistics", "assert mean([1, 3]) == 2", "def mean(a): return 2", "def mean(a): return 3"),
        ("json", "assert loads(f(1)) == [1]", "def f(n): return '[1]'", "def f(n): 0\ndef loads(a): return [1]"),
        ("string", "assert f(1) == digits", "def f(n): return '0123456789'", "def f(n): return 1\ndigits = 1"),
    ],
)
def test_a_program_does_not_replace_what_its_tests_import_with_a_star(
    home: str, body: str, right: str, cheat: str
) -> None:
    source = f"from {home} import *\nfrom solution import *\ndef test_it():\n  {body}"
    for framework in ("pytest", "unittest"):
        tests = {"framework": framework, "module": "solution", "test": source}
        judged = [code_judge().judge(asked(tests), wrote(program)).reward for program in (right, cheat)]
        assert judged == [1.0, 0.0]


_NOT_GREATER = "assert not abs(double(2) - 4) > 1e-6"
_RELATIVE = "assert not abs(double(2) - 4) / max(4, abs(double(2))) > 1e-6"
_NAN = "def double(n): return float('nan')"


@pytest.mark.parametrize(
    ("test", "program", "reward"),
    [
        (_NOT_GREATER, _FUNCTION, 1.0),
        (_NOT_GREATER, _NAN, 0.0),
        (_NOT_GREATER, "class F(float): pass\ndef double(n): return F('nan')", 0.0),
        ("assert max(0, abs(double(2) - 4)) < 1e-6", _NAN, 0.0),
        ("import math\nassert not math.fabs(double(2) - 4) > 1e-6", _NAN, 0.0),
        ("assert not (double(2) < 3 or 5 < double(2))", _NAN, 0.0),
        (_RELATIVE, _FUNCTION, 1.0),
        (_RELATIVE, "def double(n): return float('inf')", 0.0),
        ("assert double(2) != double(2) and math.isnan(double(2)) and str(double(2)) == 'nan'", _NAN, 1.0),
        ("assert min(double(2), 5) == 5 and 1 / double(2) == 0 and -double(2) < 0", "def double(n): return inf", 1.0),
    ],
)
def test_no_number_is_near_nothing(test: str, program: str, reward: float) -> None:
    judgement = code_judge().judge(asked([test]), wrote(program))
    assert judgement.reward == reward, judgement


_LOOP = "for one in divisors(12):\n  assert 12 % one == 0"
_DIVISORS = "def divisors(n): return [one for one in range(1, n + 1) if n % one == 0]"
_NONE = "def divisors(n): return []"


@pytest.mark.parametrize(
    ("tests", "program", "reward"),
    [
        *(
            ([test], program, reward)
            for test in (
                _LOOP,
                "assert all(12 % one == 0 for one in divisors(12))",
                "assert not any(12 % one for one in divisors(12))",
                "want = [1, 2, 3]\nfor at, one in enumerate(divisors(12)):\n  if at < 3: assert one == want[at]",
                "found = {one: 12 // one for one in divisors(12)}\nfor one in divisors(12): assert 12 % one == 0",
            )
            for program, reward in (
                (_DIVISORS, 1.0),
                (_NONE, 0.0),
                ("def divisors(n): return ''", 0.0),
                ("def divisors(n): return iter(())", 0.0),
                ("def divisors(n):\n  if n < 0: yield", 0.0),
                (f"{_DIVISORS}[:0]", 0.0),
            )
        ),
        (["for one, by in divisors(12).items(): assert {2: 6}[one] == by"], "def divisors(n): return {2: 6}", 1.0),
        (["for one, by in divisors(12).items(): assert {2: 6}[one] == by"], "def divisors(n): return {}", 0.0),
        # of something empty, an answer may be empty
        (["for one in divisors(0): assert one > 0"], _DIVISORS, 1.0),
        (["for one in divisors([]): assert one > 0"], "def divisors(n): return n", 1.0),
        # the test says that it is, or that nothing may be in it
        (["for one in divisors(12): assert one\nassert divisors(12) == []"], _NONE, 1.0),
        (["for one in divisors(12): assert False, one"], _NONE, 1.0),
        # the loop goes over the test's own, or asserts nothing
        (["for one in []: assert one\nassert divisors(12)[0] == 1"], _DIVISORS, 1.0),
        (["count = 0\nfor one in divisors(12): count += one\nassert count < 99"], _NONE, 1.0),
    ],
)
def test_a_loop_that_asserts_something_begins(tests: list[str], program: str, reward: float) -> None:
    judgement = code_judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement


@pytest.mark.parametrize("framework", ["pytest", "unittest"])
@pytest.mark.parametrize(("program", "reward"), [(_DIVISORS, 1.0), (_NONE, 0.0)])
def test_a_loop_begins_in_one_of_the_tests(framework: str, program: str, reward: float) -> None:
    source = "from solution import divisors\ndef each(n):\n  for one in divisors(n): assert n % one == 0\n"
    source += "def test_none(): each(-1)\ndef test_it(): each(12)"
    tests = {"framework": framework, "module": "solution", "test": source}
    judgement = code_judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement


_EMPTIED = "data = [3, 1, 2]\nassert order(data) == sorted(data)"
_EMPTIED_WORDS = "words = {'b', 'a'}\nassert order(words) == sorted(word.upper() for word in words)"
_EMPTIED_PAIRS = "data = {'a': 1}\nassert order(data) == {value: key for key, value in data.items()}"


@pytest.mark.parametrize(
    ("test", "program", "reward"),
    [
        *(
            (test, f"def order(data):\n  {how}", 0.0)
            for test in (_EMPTIED, _EMPTIED_WORDS)
            for how in ("data.clear(); return []", "while data: data.pop()\n  return []", "del data[:]; return data")
        ),
        (_EMPTIED_PAIRS, "def order(data):\n  data.clear()\n  return {}", 0.0),
        (_EMPTIED, "def order(data): return sorted(data)", 1.0),
        (_EMPTIED, "def order(data):\n  data.sort()\n  return data", 1.0),
        (_EMPTIED_PAIRS, "def order(data): return {value: key for key, value in data.items()}", 1.0),
        # what the program uses up, and what it is asked to empty
        ("assert order([3, 1, 2]) == 6", "def order(data): return sum(data.pop() for _ in [*data])", 1.0),
        (
            "data = [3, 1]\nassert order(data) == [3, 1] and data == [] and not data",
            "def order(data):\n  out = data[:]\n  data.clear()\n  return out",
            1.0,
        ),
        (
            "data = {1: 2}\nassert order(data) is data and len(data) == 0",
            "def order(data): data.clear(); return data",
            1.0,
        ),
        # what a test asks of the list alone, of the answer alone, or of both without wanting them to be the same
        ("data = {7: 1}\norder(data)\nassert 7 not in data", "def order(data): data.pop(7)", 1.0),
        ("data = [2, 4]\nassert 2 not in order(data)", "def order(data):\n  data.clear()\n  return data", 1.0),
        (
            "data = [2, 4]\nassert order(data) == [] and 4 not in data",
            "def order(data):\n  data.clear()\n  return []",
            1.0,
        ),
        (
            "data = {2: 4}\nout = order(data)\nassert 7 not in out and data.get(2) is None",
            "def order(data):\n  data.clear()\n  return {}",
            1.0,
        ),
        (
            "data = [2, 4]\nout = order(data)\nassert len(data) <= len(out)",
            "def order(data):\n  data.clear()\n  return []",
            1.0,
        ),
        ("a, b = [1], [2]\norder(a, b)\nassert a != b and len(a) < len(b)", "def order(a, b): b.append(a.pop())", 1.0),
    ],
)
def test_a_list_that_the_program_empties_is_no_expected_result(test: str, program: str, reward: float) -> None:
    judgement = code_judge().judge(asked([test]), wrote(program))
    assert judgement.reward == reward, judgement


_RAISES = """
import pytest
from solution import Sub, find, Missing
def test_it():
    with pytest.raises(Missing) as told:
        find({}, "a")["x"]
    assert type(told.value) == KeyError
    with pytest.raises(KeyError):
        find({}, "b")["x"]
    with pytest.raises(Missing):
        raise Sub("c")
"""
_SUB = "\nclass Sub(Missing): pass\n"


@pytest.mark.parametrize(
    ("program", "reward"),
    [
        (f"Missing = KeyError{_SUB}def find(items, key): return items[key]", 1.0),
        (f"Missing = LookupError{_SUB}def find(items, key): return items[key]", 1.0),
        (f"Missing = Exception{_SUB}def find(items, key): return items[key]", 1.0),
        (f"Missing = KeyError{_SUB}def find(items, key): return items", 0.0),
        (f"Missing = TypeError{_SUB}def find(items, key): return None", 0.0),
        (f"Missing = LookupError{_SUB}def find(items, key): return []", 0.0),
        (f"Missing = Exception{_SUB}def find(items, key): return None", 0.0),
        (f"class Missing(KeyError): pass{_SUB}def find(items, key): raise Missing", 0.0),
    ],
)
def test_a_built_in_exception_by_another_name_is_the_programs(program: str, reward: float) -> None:
    tests = {"framework": "pytest", "module": "solution", "test": _RAISES}
    judgement = code_judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement


_UNNAMED = "from solution import {}\ndef test_it():\n  assert double(2) == FOUR"


@pytest.mark.parametrize("framework", ["pytest", "unittest"])
@pytest.mark.parametrize(
    ("names", "program", "reward"),
    [
        ("double", _FUNCTION, None),
        ("double", f"{_FUNCTION}\nFOUR = 4", None),
        # the program may define it
        ("*", f"{_FUNCTION}\nFOUR = 4", 1.0),
        ("*", _FUNCTION, 0.0),
        # a name that the program does not know is its own mistake
        ("double", "def double(n): return FOUR", 0.0),
    ],
)
def test_a_name_that_no_program_can_define_is_no_verdict(
    framework: str, names: str, program: str, reward: float | None
) -> None:
    tests = {"framework": framework, "module": "solution", "test": _UNNAMED.format(names)}
    judgement = code_judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement


@pytest.mark.parametrize(
    ("test", "reward"),
    [
        *(
            (f"assert {how}", 0.0)
            for how in (
                "np.array_equiv(double(2), 4)",
                "np.equal(double(2), 4).all()",
                "np.all(np.abs(np.array(double(2)) - 4.0) < 1e-6)",
                "np.all(np.asarray(double(2)) * 1.0 == 4)",
                "np.abs(np.subtract(double(2), [4])).sum() < 1e-9",
                "np.linalg.norm(np.ravel(double(2)) - np.array([4.0])) < 1e-9",
                "not (np.round(double(2)) != 4).any()",
            )
        ),
        *(
            (f"assert {how}", 1.0)
            for how in (
                "np.array(double(2)).size == 0 and np.sum(double(2)) == 0",
                "np.array_equal(double(2), np.array([]))",
                "(np.array(double(2)) - np.array([])).sum() == 0",
                "double(np.array([])) == [] and (np.zeros((0, 3)) - np.ones(3)).shape == (0, 3)",
                "double(2) == [] and np.subtract.reduce([3, 1]) == 2 and np.add.at is not None and np.equal(3, 3)",
            )
        ),
    ],
)
def test_nothing_is_not_near_something(test: str, reward: float) -> None:
    pytest.importorskip("numpy")
    program = "def double(n):\n    assert type(n).__name__ != 'EmptyArray'\n    return []"
    judge = code_judge(packages=True, seconds=10.0, total_seconds=30.0, memory_mb=1024)
    judgement = judge.judge(asked([f"import numpy as np\n{test}"]), wrote(program))
    assert judgement.reward == reward, judgement


@pytest.mark.parametrize(
    ("test", "answer", "reward"),
    [
        ("np.isnan(f())", "float('nan')", 1.0),
        ("np.isnan(f())", "1.0", 0.0),
        ("np.isinf(f())", "float('inf')", 1.0),
        ("np.isinf(f())", "float('nan')", 0.0),
        ("np.isfinite(f())", "1.0", 1.0),
        ("np.isfinite(f())", "float('-inf')", 0.0),
        ("np.testing.assert_allclose(f(), [1.0, np.nan]) is None", "[1.0, float('nan')]", 1.0),
        ("np.testing.assert_allclose(f(), [1.0, np.nan]) is None", "[1.0, 2.0]", 0.0),
        ("np.testing.assert_allclose(f(), [1.0, np.nan]) is None", "[2.0, float('nan')]", 0.0),
        ("np.testing.assert_equal(f(), np.inf) is None", "float('inf')", 1.0),
        ("np.testing.assert_equal(f(), np.inf) is None", "[]", 0.0),
        ("np.nanmax(f()) == 1 and np.isnan(f()).sum() == 1", "[1.0, float('nan')]", 1.0),
    ],
)
def test_numpy_looks_at_numbers_that_are_not_finite(test: str, answer: str, reward: float) -> None:
    pytest.importorskip("numpy")
    judgement = code_judge().judge(asked([f"import numpy as np\nassert {test}"]), wrote(f"def f(): return {answer}"))
    assert judgement.reward == reward, judgement


@pytest.mark.parametrize(
    ("tests", "program", "reward"),
    [
        ({"inputs": ["1"], "outputs": ["x" * 70_000]}, "print('x' * 70_000)", None),
        ({"inputs": ["1", "2"], "outputs": ["x", "x" * 70_000]}, "print('x')", None),
        ({"inputs": ["1"], "outputs": ["x\n" * 40_000]}, "print('x\\n' * 40_000)", None),
        ({"inputs": [[1]], "outputs": ["x" * 70_000], "fn_name": "f"}, "def f(n): return 'x' * 70_000", None),
        ({"inputs": [[1]], "outputs": [[1000] * 20_000], "fn_name": "f"}, "def f(n): return 0", None),
        ({"inputs": [[1]], "outputs": [[*range(20_000)]], "fn_name": "f"}, "def f(n): return [*range(20_000)]", None),
        ({"inputs": ["1"], "outputs": ["x" * 60_000]}, "print('x' * 60_000)", 1.0),
        ({"inputs": ["1"], "outputs": ["x" + " " * 70_000]}, "print('x')", 1.0),
        ({"inputs": ["1"], "outputs": ["x"]}, "print('x' * 70_000)", 0.0),
        ({"inputs": [[1]], "outputs": [[100] * 9_000], "fn_name": "f"}, "def f(n): return [100] * 9_000", 1.0),
        ({"inputs": [[1]], "outputs": ["x"], "fn_name": "f"}, "def f(n): return 'x' * 70_000", 0.0),
    ],
)
def test_an_output_longer_than_any_program_may_write_is_no_verdict(
    tests: dict[str, Any], program: str, reward: float | None
) -> None:
    judgement = code_judge(output_kb=64).judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement
    assert reward is not None or "output_kb" in judgement.reason


def test_a_result_longer_than_any_right_one_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade, "load", lambda _: pytest.fail("it was read"))
    tests = {"fn_name": "f", "inputs": [[1]], "outputs": [[0.5] * 99]}
    told = code_judge().judge(asked(tests), wrote("def f(n): return [0.5] * 99_999"))
    assert (told.reward, "gives b'[0.5, 0.5" in told.reason) == (0.0, True), told


_PICKLED = _unittest("self.assertEqual(pickle.loads(pickle.dumps(P(1))).x, 1)", "P", "pickle")
_POINT = "class P:\n  def __init__(self, x): self.x = x"
_UNDERCLASS = _unittest("self.assertEqual(type('B', (A,), {'g': lambda self: 5})().f(), 5)", "A", "pickle")
_RUN = (
    "import runpy\ndef test_it(tmp_path):\n  f(tmp_path / 'a')\n  assert runpy.run_path(str(tmp_path / 'a'))['x'] == 2"
)
_RUNS_A_FILE = {"framework": "pytest", "module": "solution", "test": f"from solution import f\n{_RUN}"}
_PATCHED = _unittest(
    "\n    with mock.patch('time.ctime', lambda: 7): self.assertEqual(f(), 7)", "f", "unittest.mock as mock"
)
_DISARMED = "import unittest\nunittest.TestCase.run = lambda *a: None\n"


@pytest.mark.parametrize(
    ("tests", "right", "wrong"),
    [
        (_PICKLED, _POINT, ["class P:\n  def __init__(self, x): self.x = 2", "P = 5", "def f(:", "while True: pass"]),
        (_PICKLED, _POINT, [_DISARMED + "P = int", "import os; os._exit(0)", "raise SystemExit(0)"]),
        (_PICKLED, _POINT, ['import os\nos.write(3, b\'{"tests": [["a", null]]}\')\nos._exit(0)', "raise KeyError"]),
        (_UNDERCLASS, "class A:\n  def f(self): return self.g()", ["class A:\n  def f(self): return 4"]),
        (
            _RUNS_A_FILE,
            "def f(path): open(path, 'w').write('x = 2')",
            ["def f(path): open(path, 'w').write('x = 3')", "import pytest\npytest.skip()"],
        ),
        (_PATCHED, "import time\ndef f(): return time.ctime()", ["def f(): return 8"]),
    ],
)
def test_tests_that_need_the_programs_interpreter_run_there_where_a_key_says_so(
    tests: object, right: str, wrong: list[str]
) -> None:
    refused = code_judge().judge(asked(tests), wrote(right))
    assert (refused.reward, refused.cause) == (None, "reference"), refused
    assert "code.shared_interpreter" in str(refused.error)
    judge = code_judge(shared_interpreter=True)
    assert judge.judge(asked(tests), wrote(right)).reward == 1.0
    for program in wrong:
        judgement = judge.judge(asked(tests), wrote(program))
        assert judgement.reward == 0.0, (program, judgement)


def test_tests_that_pass_with_the_functions_emptied_pay_nothing() -> None:
    judge = code_judge(shared_interpreter=True)
    tests = _unittest("self.assertTrue(pickle)", "f", "pickle")
    judgement = judge.judge(asked(tests), wrote("def f(): pass"))
    assert judgement.reward == 0.0
    assert "emptied" in judgement.reason


@pytest.mark.parametrize("package", ["pytest", "typing_extensions"])
def test_installed_packages_are_there_where_a_key_says_so(package: str) -> None:
    """The second is a file, and no folder."""
    program = f"import {package}\nprint(2 * int(input()))"
    told = code_judge().judge(asked(DOUBLES), wrote(program))
    assert (told.reward, f"No module named '{package}'" in told.reason) == (0.0, True), told
    assert code_judge(packages=True).judge(asked(DOUBLES), wrote(program)).reward == 1.0


def test_a_program_longer_than_what_it_may_print_is_judged() -> None:
    long = f"# {'x' * 90_000}\nprint(2 * int(input()))"
    assert code_judge(output_kb=1).judge(asked(DOUBLES), wrote(long)).reward == 1.0
    large = (
        'char a[9000000] = {1};\n#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d", 2 * n * a[0]); }'
    )
    assert code_judge(language="cpp").judge(asked(DOUBLES), wrote(large, "cpp")).reward == 1.0


def test_a_program_that_has_its_tests_compute_does_not_prolong_its_time() -> None:
    """Each test would be given as long again as its own side computes, which the program can choose."""
    storm = """
import json, os, struct
back = {"g": 1, "what": "call", "args": [list(range(100_000))], "named": {}}
asked = json.dumps({"back": back, "in": "tests 0"}).encode()
def f(lent):
    while True:
        os.write(4, struct.pack("<I", len(asked)) + asked)
        os.read(4, 65536)
"""
    tests = [f"def lent(): return 1\nassert f(lent) == {number}" for number in range(40)]
    judge = code_judge(seconds=0.2, total_seconds=1.0, partial="share")
    judgement = judge.judge(asked(tests), wrote(storm))
    assert judgement.reward == 0.0
    assert judgement.metrics["run"] < 30, judgement


@pytest.mark.parametrize(
    ("program", "test", "kind"),
    [
        ("n = int(input()); print(2 * n if n == 2 else 0)", 2, "wrong"),
        ("n = int(input()); print(4 // (3 - n))", 2, "error"),
        ("while True: pass", 1, "timeout"),
        ("n = int(input()); x = bytearray(10**9); print(2 * n)", 1, "memory"),
        ("import os; os.abort()", 1, "crash"),
        ("n = int(input()); print(2 * n)", 0, None),
    ],
)
def test_metrics_say_which_test_failed_and_how(program: str, test: int, kind: str | None) -> None:
    metrics = code_judge(seconds=0.5).judge(asked(DOUBLES), wrote(program)).metrics
    assert metrics["failed_test"] == test
    failed = {name for name, value in metrics.items() if name.startswith("failed_") and value == 1.0} - {"failed_test"}
    assert failed == ({f"failed_{kind}"} if kind else set())


_TWO_LOCKS = "lock = threading.Lock(); lock.acquire(); lock.acquire()"
_ENDS_ITSELF = "import os, threading\ndef f(lent):\n  threading.Timer(0.3, {end}).start()\n  lent()"


@cache
def _seconds_of_a_sleeper() -> float:
    begun = time.monotonic()
    told = code_judge().judge(asked(DOUBLES), wrote("import time; time.sleep(99)"))
    assert told.reward == 0.0
    return time.monotonic() - begun


@pytest.mark.parametrize(
    ("program", "lent"),
    [
        ("def f(lent): lent()", "queue.Queue().get()"),
        ("import threading\ndef f(lent):\n  threading.Thread(target=lent).start()\n  lent()", _TWO_LOCKS),
        (_ENDS_ITSELF.format(end="os._exit, [0]"), "threading.Event().wait()"),
        (_ENDS_ITSELF.format(end="os.abort"), "time.sleep(99)"),
    ],
)
def test_tests_that_wait_for_ever_end_with_their_program(program: str, lent: str) -> None:
    """They waited for four times as long as a program may."""
    # side by side, since a busy machine makes both of them slower
    seconds, begun = _seconds_of_a_sleeper(), time.monotonic()
    told = code_judge().judge(
        asked([f"import queue, threading, time\ndef lent(): {lent}\nassert f(lent) == 4"]), wrote(program)
    )
    assert told.reward == 0.0, told
    assert time.monotonic() - begun < 3 * seconds, told


def test_a_checker_that_loops_over_an_output_is_bounded_by_the_time_of_the_answer() -> None:
    """A program that found such an output held the judge up for half a minute with each."""
    loops = (
        "import sys\nprint(1) if open(sys.argv[3]).read() == open(sys.argv[2]).read() else [0 for _ in iter(int, 1)]"
    )
    row = {"verification_info": {**_CHECKED, "checker": loops}}
    judgement = code_judge(seconds=0.5, total_seconds=1.0).judge(asked(row), wrote("print(7)"))
    assert judgement.reward == 0.0
    # side by side, since a busy machine makes both of them slower: as long as the answer's time and as long again
    spinning = code_judge(seconds=2.0).judge(asked(DOUBLES), wrote("while True: pass"))
    assert judgement.seconds < 3 * spinning.seconds


def test_partial_rewards_and_their_weights() -> None:
    half = wrote("n = int(input())\nprint(4 if n == 2 else 0)")
    assert code_judge(partial="share").judge(asked(DOUBLES), half).reward == 0.5
    assert code_judge(partial="weighted").judge(asked({**DOUBLES, "weights": [1, 3]}), half).reward == 0.25
    assert code_judge().judge(asked(DOUBLES), half).reward == 0.0


def test_a_reason_names_the_test_and_not_what_it_expects() -> None:
    tests = {"inputs": ["7\n"], "outputs": ["secret\n"]}
    told = code_judge().judge(asked(tests), wrote("print(8)")).reason
    assert "test 1" in told
    assert "'8" in told
    assert "secret" not in told
    assert "secret" in code_judge(show_expected=True).judge(asked(tests), wrote("print(8)")).reason


@pytest.mark.parametrize(
    ("tests", "kind"),
    [
        (["assert f(2) == 4711"], "AssertionError"),
        (["assert f(2).index(4711) == 0"], "ValueError"),
        (["assert {8: 1}[f(2)[0] + 4703] == 1"], "KeyError"),
        (_unittest("self.assertEqual(f(2), 4711)", "f", "sys"), "AssertionError"),
        (_unittest("self.assertEqual(f(2), [4711] * 9)", "f", "sys"), "AssertionError"),
        (_unittest("self.fail('not 4711')", "f", "sys"), "AssertionError"),
        *((_named(named), "AssertionError") for named in _NAMES),
        (
            {"framework": "pytest", "module": "m", "test": "from m import f\ndef test_a(): assert f(2) == 4711"},
            "Assertion",
        ),
        (
            {
                "framework": "pytest",
                "module": "m",
                "test": "import pytest\nfrom m import f\ndef test_a(): f(2) == 1 or pytest.fail('4711')",
            },
            "Failed",
        ),
        (
            {
                "framework": "pytest",
                "module": "m",
                "test": "from m import f\ndef test_a():\n  assert f(2) == 1, 'a\\nb\\n4711'",
            },
            "Assertion",
        ),
        (
            {
                "framework": "pytest",
                "module": "m",
                "test": "import pytest\nfrom m import f\n@pytest.mark.parametrize('n', [4711])\n"
                "def test_a(n):\n  assert f(2) == n",
            },
            "Assertion",
        ),
    ],
)
def test_the_words_of_a_hidden_test_are_not_told(tests: object, kind: str) -> None:
    program = wrote("def f(n): return [8]")
    told = code_judge().judge(asked(tests), program)
    assert (told.reward, "4711" in told.reason, kind in told.reason) == (0.0, False, True), told.reason
    assert "4711" in code_judge(show_expected=True).judge(asked(tests), program).reason or kind.startswith("Assertion")


def test_what_the_program_says_can_be_written_anywhere() -> None:
    raising = "def f(n): raise type('E\\x1b[2J', (Exception,), {})('\\ud800 \\x00 \\x1b[2J \\u2028 x')"
    for tests in (_unittest("f(2)", "f", "sys"), ["assert f(2)"], {"fn_name": "f", "inputs": [[2]], "outputs": [4]}):
        reason = code_judge().judge(asked(tests), wrote(raising)).reason
        assert reason.isprintable(), reason
        assert reason.encode()


def test_what_the_program_says_is_told() -> None:
    tests = _unittest("self.assertEqual(f(2), 4711)", "f", "sys")
    assert (
        "the dog ate it" in code_judge().judge(asked(tests), wrote("def f(n): raise OSError('the dog ate it')")).reason
    )


@pytest.mark.parametrize(
    ("tests", "told"),
    [
        ([], "there is no test"),
        ({"inputs": ["1"]}, "no known form of tests has the keys ['inputs']"),
        (["assert double(2) =="], "no Python"),
        ({"framework": "unittest", "module": "m", "test": "x = 1 / 0"}, "the tests assert nothing"),
        (
            {"framework": "pytest", "module": "m", "test": "def test_a(nothing): assert nothing"},
            "the tests cannot be imported: there is no fixture 'nothing'",
        ),
    ],
)
def test_broken_tests_are_no_verdict(tests: object, told: str) -> None:
    judgement = code_judge().judge(asked(tests), wrote(_FUNCTION))
    assert (judgement.reward, judgement.cause, told in judgement.reason) == (None, "reference", True), judgement


def test_rows_are_checked_with_their_own_solution() -> None:
    check = CodeJudge({}).check_task
    assert check(Task(metadata={"tests": {**DOUBLES, "solution": "print(2 * int(input()))"}})) is None
    told = check(Task(metadata={"tests": {**DOUBLES, "solution": "print(1)"}}))
    assert told is not None
    assert told.startswith("its own solution fails:")


def test_programs_do_not_block_the_event_loop() -> None:
    judge = code_judge()

    async def beside() -> int:
        beats = 0
        verdict = asyncio.ensure_future(judge.ajudge(asked(DOUBLES), wrote("import time; time.sleep(1)")))
        while not verdict.done():
            await asyncio.sleep(0.02)
            beats += 1
        assert (await verdict).reward == 0.0
        return beats

    assert asyncio.run(beside()) > 10


_FAULTS = {
    "it fails": "echo broken >&2; exit 1",
    "it is killed": "kill -9 $$",
    "it does nothing": "exit 0",
    "it talks": "echo hello; exit 0",
    "it may write no files": 'ulimit -f 0; exec {real} "$@"',
    "it has little memory": 'ulimit -v 200000; exec {real} "$@"',
    "it ends in the middle": '{real} "$@" & sleep 0.3; kill -9 $!; exit 1',
}
_ONE = """
import sys
from agentscope_tuner._jail import jail
jail._tried = lambda bare: ''
from tests.with_code.judged import DOUBLES, asked, code_judge, wrote
judge = code_judge()
for number in range(12):
    judgement = judge.judge(asked(DOUBLES), wrote("import time; time.sleep(5)"))
    assert judgement.reward is None, judgement
    # ten in a row open the breaker, where a program of our own fails, too
    assert judgement.cause == ("breaker" if number >= 10 and jail.try_out(bare=False) else "sandbox"), judgement
"""


@pytest.mark.parametrize("fault", _FAULTS)
def test_a_sandbox_that_fails_is_no_verdict(fault: str, tmp_path: Path) -> None:
    from agentscope_tuner._jail.bubblewrap import bwrap_path

    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/bash\n{_FAULTS[fault].format(real=bwrap_path())}\n")
    fake.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([sys.executable, "-c", _ONE], env=environment, check=True, cwd=Path(__file__).parents[2])


def test_a_machine_without_isolation_is_refused_at_load(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2; exit 1\n")
    fake.chmod(0o755)
    code = "from tests.with_code.judged import code_judge\ncode_judge()"
    environment: dict[str, Any] = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert "No permissions to create new namespace" in done.stderr
    assert "allow user namespaces" in done.stderr


_BARE = {"isolation": "none"}
_UNDER_NONE = {
    "right": ("print(2 * int(input()))", 1.0, "all 2 tests pass"),
    "wrong": ("print(3 * int(input()))", 0.0, "it prints '6"),
    "kills its keeper": ("import os\nos.kill(os.getppid(), 9)", 0.0, "test 1"),
    "a loop": ("while True: pass", 0.0, "over 1 s of CPU"),
    "forks without end": (
        "import os, time\nwhile 1:\n  if os.fork() == 0: time.sleep(99)",
        0.0,
        "over 64 processes",
    ),
    "a socket": ("import socket\nsocket.socket()", 0.0, "PermissionError"),
    "leaves a daemon": (
        "import os, time\nprint(2 * int(input()), flush=True)\nif os.fork() == 0:\n  os.setsid()\n"
        "  if os.fork() == 0: time.sleep(77.5)",
        1.0,
        "all 2 tests pass",
    ),
}


@pytest.mark.parametrize("case", _UNDER_NONE)
def test_without_isolation_a_verdict_is_bounded_and_nothing_stays(case: str, caplog: pytest.LogCaptureFixture) -> None:
    program, reward, why = _UNDER_NONE[case]
    judge = code_judge(**_BARE, seconds=1.0, deadline=60)
    # a jail of the test before may idle for half a second
    before = {*process_tree.descendants(os.getpid())}
    judgement = judge.judge(asked(DOUBLES), wrote(program))
    assert judgement.reward == reward, judgement
    assert why in judgement.reason
    assert "isolation is none" in caplog.text
    assert {*process_tree.descendants(os.getpid())} <= before


def test_without_isolation_a_judge_needs_a_deadline_and_is_held_to_it() -> None:
    section = {"judge_protocol": "agentscope_tuner.task_judge.code_judge->CodeJudge", "code": _BARE}
    with pytest.raises(ConfigError, match=r"isolation: none needs astuner\.task_judge\.deadline"):
        load_judge({"astuner": {"task_judge": {**section, "deadline": None}}})
    assert load_judge({"astuner": {"task_judge": {"deadline": None, **section, "code": {}}}}).traits.bounded
    assert not load_judge({"astuner": {"task_judge": section}}).traits.bounded


def test_without_isolation_no_process_serves_two_answers() -> None:
    judge = code_judge(**_BARE, deadline=60)
    assert judge.judge(asked(DOUBLES), wrote("print(2 * int(input()))")).reward == 1.0
    commands = [Path(f"/proc/{pid}/cmdline") for pid in process_tree.descendants(os.getpid())[1:]]
    assert not [one for one in commands if one.exists() and b'"bare"' in one.read_bytes()]


_MULTI = """class Multi(dict):
    def __init__(self, pairs):
        for key, value in pairs: dict.setdefault(self, key, []).append(value)
    def __iter__(self): return dict.__iter__(self)
    def keys(self): return [*dict.keys(self)]
    def __getitem__(self, key): return {value}
    def __eq__(self, other): return {same}
    def __ne__(self, other): return not self == other
"""
_OF_MULTI = ["m = Multi([('a', 1), ('a', 2)])\nassert m == {'a': 2} and {'a': 2} == m and m != {'a': 1}"]


@pytest.mark.parametrize(
    ("program", "tests", "reward"),
    [
        (_MULTI.format(value="dict.__getitem__(self, key)[-1]", same="dict(self) == other"), _OF_MULTI, 1.0),
        (_MULTI.format(value="dict.__getitem__(self, key)[0]", same="dict(self) == other"), _OF_MULTI, 0.0),
        (_MULTI.format(value="9", same="True"), _OF_MULTI, 0.0),
        (
            "import types\nclass Box:\n    __class_getitem__ = classmethod(types.GenericAlias)",
            ["assert Box[str].__origin__ is Box and Box[str].__args__ == (str,)"],
            1.0,
        ),
        # a list that has a hash, as a key within a dictionary
        (
            "class Key(list):\n  def __hash__(self): return hash(tuple(self))\nD = {}\n"
            "def put(n):\n  D[Key([n])] = n\n  return D",
            ["d = put(2)\nassert [*d.values()] == [2] and put(3) is d"],
            1.0,
        ),
        ("def back(l): return reversed(l)", ["assert back([1]).__class__ == reversed([1]).__class__"], 1.0),
        ("def back(l): return iter(l[::-1])", ["assert back([1]).__class__ == reversed([1]).__class__"], 0.0),
    ],
)
def test_what_a_class_shows_beside_the_data_that_it_holds(program: str, tests: list[str], reward: float) -> None:
    judgement = code_judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement


@pytest.mark.parametrize(
    ("program", "test", "words"),
    [
        ("def f(g): return g.__code__.co_consts", "def own(): return 4\nassert f(own) == 4", "read '__code__'"),
        (
            "import inspect\ndef f(g): return inspect.signature(g).parameters['n'].default",
            "def own(n=4): return n\nassert f(own) == 4",
            "the defaults of what the tests lend",
        ),
        ("class Box: pass\ndef f(n): return Box()", "assert f(4) == 4", "'Box', which the test has not made"),
        (
            "class Box:\n  def __init__(self, n): self.n = 1\n  def __eq__(self, other): return type(other) is Box\n"
            "def f(n): return Box(n)",
            "assert f(4) == Box(5)",
            "'Box' holds other data than the test's",
        ),
    ],
)
def test_a_failed_test_says_what_the_two_sides_keep_from_each_other(program: str, test: str, words: str) -> None:
    judgement = code_judge().judge(asked([test]), wrote(program))
    assert judgement.reward == 0.0
    assert judgement.reason is not None
    assert words in judgement.reason


_DAY = "from datetime import date\nfrom dataclasses import dataclass\n@dataclass{}\nclass Day:\n  on: date\n"
_DAY += "  hours: list\n  done: bool = False\n  rate: float = 0.5\n"
_OF_DAY = ["from datetime import date\nassert day(3) == Day(date(2024, 1, 3), [3])"]
_SAME = "\n  def __eq__(self, other): return type(other) is Day\n"


@pytest.mark.parametrize(
    ("program", "tests", "reward"),
    [
        (_DAY.format("") + "def day(n): return Day(date(2024, 1, n), [n])", _OF_DAY, 1.0),
        (_DAY.format("(eq=False)") + _SAME + "def day(n): return Day(date(2024, 1, n), [n + 1])", _OF_DAY, 0.0),
        (_DAY.format("(eq=False)") + _SAME + "def day(n): return Day(date(2024, 1, 9), [n])", _OF_DAY, 0.0),
        (
            f"class Day:{_SAME}  def __init__(self, *_): pass\ndef day(n): return Day()",
            ["assert day(3) == Day(True)"],
            0.0,
        ),
        (
            f"class Day:{_SAME}  def __init__(self, *_): self.a, self.b, self.c = 1, 2, 3\ndef day(n): return Day()",
            ["assert day(3) == Day(3)"],
            0.0,
        ),
    ],
)
def test_an_answer_holds_what_the_object_is_made_of(program: str, tests: list[str], reward: float) -> None:
    judgement = code_judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement
