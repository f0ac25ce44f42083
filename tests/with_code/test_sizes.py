"""What tests that carry code ask by size: of no number, of infinity, and of two answers to one call."""

from __future__ import annotations

from typing import Any

import pytest

from tests.with_code.judged import asked, code_judge, wrote

_RIGHT = "def f(n=2, *more): return 2.0 * n"
_NAN = "def f(*given): return float('nan')"
_INFINITE = "def f(*given): return float('inf')"
_ARRAY = "import numpy as np\ndef f(n): return np.array([{}, {}])"
_ARRAYS = _ARRAY.format("2.0 * n", "2.0 * n"), _ARRAY.format("np.nan", "np.nan"), _ARRAY.format("np.inf", "-np.inf")
_LENGTH = "def f(n): return [0] * 4"
_NEAR = "abs(f(2) - 4) <= 1e-6 * abs(f(2))"
_FROM = "from solution import f\nimport numpy as np, unittest\n"


def _tests(body: str, framework: str) -> Any:
    """The body as the only assert of a row, or in a test file of a framework."""
    body = body if "assert" in body else f"assert {body}"
    if framework == "assert":
        return [f"import math, statistics\nimport numpy as np\n{body}"]
    inner = "\n".join(f"        {line}" for line in body.splitlines())
    kind = "unittest.TestCase" if framework == "unittest" else "object"
    source = f"{_FROM}class TestIt({kind}):\n    def test_it(self):\n{inner}"
    return {"framework": framework, "module": "solution", "test": source}


def _answers(first: object, second: object) -> str:
    return f"answers = [{first!r}, {second!r}] * 9\ndef f(*given): return answers.pop(0)"


_NO_NUMBER = [
    *("not abs(float(f(2)) - 4) > 1e-6", "not np.abs(f(2) - 4) > 1e-6"),
    *("not np.any(np.abs(np.array(f(2)) - 4) > 1e-6)", "not math.sqrt((f(2) - 4) ** 2) > 1e-6"),
    *("not 1e-6 < math.dist([f(2)], [4])", "not statistics.mean([f(2), f(3)]) > 5"),
    *("max([0.0, abs(float(f(2)) - 4)]) < 1e-6", "max(0.0, np.abs(np.float64(f(2)) - 4)) < 1e-6"),
    *("not 1e-6 < abs(float(f(2)) - 4) < 1e9", "not any(abs(float(g) - w) > 1e-6 for g, w in [(f(2), 4)])"),
    "if abs(float(f(2)) - 4) > 1e-6:\n  assert not f(3)",
]
_INFINITELY_NEAR = [
    *(_NEAR, f"not {_NEAR.replace('<=', '>')}", "abs(f(2) - 4) <= 1e-6 * max(1, abs(f(2)))"),
    *("abs(f(2) - 4) <= 1e-9 + 1e-6 * abs(f(2))", "abs(4 - f(2)) <= abs(f(2)) / 1000"),
    "x = f(2)\nerror, most = abs(x - 4), abs(x) * 1e-6\nassert error <= most",
    *("x = float(f(2))\nassert abs(x - 4) <= abs(x) * 1e-6", "np.abs(f(2) - 4) <= np.abs(f(2)) * 1e-6"),
    "x = np.array([f(2), f(2)])\nassert np.all(np.abs(x - 4) <= 1e-6 * np.abs(x))",
]
_OF_ARRAYS = [
    *("not np.any(np.abs(f(2) - np.array([4, 4])) > 1e-6)", "not (f(2) < 3).any() and not (f(2) > 5).any()"),
    "not np.linalg.norm(f(2) - np.array([4.0, 4.0])) > 1e-6",
]
_TWICE = [
    *("f(2) >= 4 and f(2) <= 4", "f(2) > 3.9 and f(2) < 4.1", "not (f(2) < 4 or f(2) > 4)"),
    *("assert f(2) >= 4\nassert f(2) <= 4", "assert 4 <= f(2)\nassert 4 >= f(2)"),
    *("assert not f(2) < 4\nassert not f(2) > 4", "assert f(2, [1]) >= 4\nx = 3\nassert f(2, [1]) <= 4"),
    "for _ in range(2):\n  assert f(2) >= 4\n  assert f(2) <= 4",
    "assert -f(2) <= 4 and abs(f(2)) >= 4 and abs(f(2)) <= 4",
]
_BY_UNITTEST = [
    "self.assertGreaterEqual(f(2), 4)\nself.assertLessEqual(f(2), 4)",
    "self.assertGreater(f(2), 3.9)\nself.assertGreater(4.1, f(2))",
    "self.assertTrue(f(2) >= 4)\nself.assertFalse(f(2) > 4)",
]


@pytest.mark.parametrize(
    ("body", "right", "cheat", "framework"),
    [
        *((body, _RIGHT, _NAN, "assert") for body in _NO_NUMBER),
        *((_NO_NUMBER[0], _RIGHT, f"def f(n): return {how}", "assert") for how in ("'nan'", "complex('nan')")),
        (_NO_NUMBER[1], _RIGHT, "import numpy as np\ndef f(n): return np.float32('nan')", "assert"),
        ("not abs(np.log(f(2)) - np.log(4)) > 1e-6", _RIGHT, "def f(n): return -1.0", "assert"),
        ("not abs(f(2) * 10 - f(2) * 10 + f(2) - 4) > 1", _RIGHT, "def f(n): return 1e308", "assert"),
        *((body, *_ARRAYS[:2], "assert") for body in _OF_ARRAYS),
        *((body, _RIGHT, _INFINITE, "assert") for body in _INFINITELY_NEAR),
        ("x = f(2)\nassert (np.abs(x - 4) <= np.abs(x) * 1e-6).all()", _ARRAYS[0], _ARRAYS[2], "assert"),
        *((body, _RIGHT, _answers(9.0, 0.0), "assert") for body in _TWICE),
        ("len(f(2)) >= 4 and len(f(2)) <= 4", _LENGTH, _answers([1] * 5, []), "assert"),
        *((body, _RIGHT, _answers(9.0, 0.0), "unittest") for body in _BY_UNITTEST),
        *(
            (body, _RIGHT, cheat, framework)
            for framework in ("pytest", "unittest")
            for body, cheat in ((_NO_NUMBER[0], _NAN), (_NEAR, _INFINITE), (_TWICE[0], _answers(9, 0)))
        ),
    ],
)
def test_no_answer_is_near_by_being_no_number_infinite_or_two(
    body: str, right: str, cheat: str, framework: str
) -> None:
    pytest.importorskip("numpy")
    judge = code_judge(packages=True, seconds=10.0, total_seconds=30.0, memory_mb=1024)
    judged = [judge.judge(asked(_tests(body, framework)), wrote(program)) for program in (right, cheat)]
    assert [one.reward for one in judged] == [1.0, 0.0], judged


_RANDOM = "import random\ndef f(n): return random.randint(1, n)"
_COUNTS = "found = [0]\ndef f(n=1):\n  found[0] += n\n  return found[0]"
_STACK = "class Stack(list):\n  def push(self, n): self.append(n)"
_ORDERED = "class Of:\n  def __init__(self, n): self.n = n\n  def __lt__(self, other): return self.n < other.n"
_PATHS = "def f(*given): return [float('inf'), 3, float('inf')]"


@pytest.mark.parametrize(
    ("body", "program"),
    [
        ("1 <= f(6) <= 6 and f(6) >= 1 and f(6) <= 6", _RANDOM),
        ("for _ in range(5000):\n  assert f(6) >= 0 and f(6) <= 6", _RANDOM),
        ("700 < sum(f(6) > 3 for _ in range(2000)) < 1300", _RANDOM),
        ("f(10**9) != f(10**9) and abs(f(9) - 5) < 4.5", _RANDOM),
        ("assert f() >= 1\nassert f() <= 2\nassert f() == 3", _COUNTS),
        ("f(5) >= 5 and f(5) <= 10 and f(5) == 15", _COUNTS),
        ("it = f()\nassert next(it) > 5\nassert next(it) < 4", "def f():\n  yield 9\n  yield 1"),
        ("s = Stack()\ns.push(20)\ns.push(3)\nassert s.pop() < 5\nassert s.pop() > 5", _STACK),
        ("Of(1) < Of(2) and not Of(2) < Of(1) and max(Of(1), Of(2)).n == 2 and min([Of(3), Of(2)]).n == 2", _ORDERED),
        ("d = f()\nassert d[0] - d[1] <= d[2] and max(d) == d[0] and min(d) == 3 and sorted(d)[0] == 3", _PATHS),
        ("d = f()\nassert d[0] <= d[1] + d[2] and d[0] >= 1e9 and not d[0] < d[1]", _PATHS),
        ("f([]) == -float('inf') and f([1]) > f([]) and f([]) < 0", "def f(a): return max(a, default=-float('inf'))"),
        ("math.isnan(f(0)) and f(2) > 0", "def f(n): return 1 / n if n else float('nan')"),
        ("f(0) >= float('inf') and f(2) <= 0.5", "def f(n): return 1 / n if n else float('inf')"),
        ("x = f(1000)\nassert not (np.abs(x) > 10).any()", "import numpy as np\ndef f(n): return np.random.randn(n)"),
        (
            "x = f(np.array([1, np.nan, 3]))\nassert (np.isnan(x) | (x >= 0)).all() and np.nanmax(x) <= 1",
            "import numpy as np\ndef f(a): return a / np.nanmax(a)",
        ),
        (
            "x = f(np.array([1.0, 5.0]))\nassert (x >= 0).all() and (x <= 1).all() and x.max() >= x.min()",
            "import numpy as np\ndef f(a): return (a - a.min()) / (a.max() - a.min())",
        ),
        ("isinstance(f(2), float) and type(f(2)) is float and float('2.5') > 2 and max([], default=f(2)) == 4", _RIGHT),
        ("max('ab', 'b') == 'b' and min([3, 1], key=lambda n: -n) == 3 and {1} < {1, 2} and f(1) < f(2)", _RIGHT),
    ],
)
def test_an_honest_answer_is_asked_by_size_as_before(body: str, program: str) -> None:
    pytest.importorskip("numpy")
    judge = code_judge(packages=True, seconds=10.0, total_seconds=30.0, memory_mb=1024)
    judgement = judge.judge(asked(_tests(body, "assert")), wrote(program))
    assert judgement.reward == 1.0, judgement
