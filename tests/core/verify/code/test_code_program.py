"""Where the program stands in an output: one block, the last one, and none that is cut off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentscope_tuner._jail.jail import Ending
from agentscope_tuner.verify.code import grade
from agentscope_tuner.verify.code.formats import CallTest, StdinTest, read_tests
from agentscope_tuner.verify.code.program import ProgramPlace, completed, find_program, language_of

_HUMAN_EVAL = {
    "prompt": "import math\ndef f(x):\n    '''doc'''\n",
    "test": "def check(c): assert c(1)",
    "entry_point": "f",
}
_WITH_FENCES = 'def f():\n    """\n    ```\n    f()\n    ```\n    """\n'


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("```python\nx = 1\n```", "x = 1\n"),
        ("```py\nx = 1\n```", "x = 1\n"),
        ("```\nx = 1\n```", "x = 1\n"),
        ("First\n```python\nold\n```\nthen\n```python\nnew\n```\n", "new\n"),
        ("```python\nx = 1\n```\nIt prints\n```text\n8\n```", "x = 1\n"),
        # what it prints, in a block that names no language
        ("```python\nx = 1\n```\nIt prints\n```\n8\n```", "x = 1\n"),
        ("1. So:\n   ```python\n   if x:\n       y\n   ```", "if x:\n    y\n"),
        ("- So:\n     ```python\n     x = 1\n     ```", "x = 1\n"),
        ('```python\ndef f():\n    """\n    ```\n    f()\n    ```\n    """\n```', _WITH_FENCES),
        ("~~~python\nx = '```'\n~~~", "x = '```'\n"),
        ("<think>```python\nold\n```</think>```python\nnew\n```", "new\n"),
        ("<think>```python\nold\n```", None),
        ("```python3.11\nx = 1\n```", "x = 1\n"),
        ("```Python-3\nx = 1\n```", "x = 1\n"),
        ("```py3\nx = 1\n```", "x = 1\n"),
        ("```python:solution.py\nx = 1\n```", "x = 1\n"),
        ("```python3.12:src/a b.py\nx = 1\n```", "x = 1\n"),
        ("```python,linenos\nx = 1\n```", "x = 1\n"),
        ('```python title="a.py"\nx = 1\n```', "x = 1\n"),
        ("```python{1,3}\nx = 1\n```", "x = 1\n"),
        ("```pythonic\nx = 1\n```", None),
        ("```pytb\nx = 1\n```", None),
        ("```3.11\nx = 1\n```", None),
        ("```:solution.py\nx = 1\n```", None),
        ("```python.console\nx = 1\n```", None),
        # in an item of a list, or a quotation where no block stands outside
        ("1. ```python\n   if x:\n       y\n   ```", "if x:\n    y\n"),
        ("- ```python\n  x = 1\n  ```\n", "x = 1\n"),
        ("* 2) ~~~py\n     x = 1\n     ~~~", "x = 1\n"),
        ("> ```python\n> if x:\n>     y\n> ```", "if x:\n    y\n"),
        ("> So:\n>\n>   ```python\n>   x = 1\n>\n>   y\n>   ```\n", "x = 1\n\ny\n"),
        ("> > ```py\n> > x = 1\n> > ```", "x = 1\n"),
        ("```\nx = 1\n```\nIt prints\n> ```\n> 8\n> ```", "x = 1\n"),
        ("> ```python\n> never closed\n\n```python\nx = 1\n```", "x = 1\n"),
        ("> ```python\n> never closed", None),
        ("> ```text\n> x = 1\n> ```", None),
        ('```python\nx = """\n> ```\n- ```\n"""\n```', 'x = """\n> ```\n- ```\n"""\n'),
        ("1. So:\r\n   ```python\r\n   if x:\r\n       y\r\n   ```\r\n", "if x:\n    y\n"),
        # tags in a text of the program are the program's
        ("<think>so</think>\n```python\nx = '</think>'\n```", "x = '</think>'\n"),
        ('```python\nx = y.split("</think>")[-1]\n```', 'x = y.split("</think>")[-1]\n'),
        ("```python\nx = re.sub(r'<think>.*?</think>', '', y)\n```", "x = re.sub(r'<think>.*?</think>', '', y)\n"),
        ("```python\nx = '<think>'\n```", "x = '<think>'\n"),
        ("I'd say so</think>Here's\n```python\nx = 1\n```", "x = 1\n"),
        ("```python\nold = 1\n```\n</think>\nHere's no program", None),
        ("<think>```python\nx = 'old'</think>\n```python\nnew\n```", "new\n"),
        ("```python\nx = 1\n```\n```python\ncut off", None),
        ("```python\n\n```", None),
        ("x = 1", None),
        ("", None),
    ],
)
def test_the_last_fenced_block(output: str, source: str | None) -> None:
    assert find_program(output, "fence", "python").source == source


_USED = "def f(x):\n    return x\n"
_CALLED = {"inputs": [[1]], "outputs": [1], "fn_name": "f"}
_IMPORTED = {
    "framework": "pytest",
    "module": "solution",
    "test": "from solution import f, G\ndef test_f():\n    assert f(1) == 1\n",
}


@pytest.mark.parametrize(
    ("tests", "blocks", "at"),
    [
        # an example of its use
        (_CALLED, [_USED, "print(f(1))\n"], 0),
        (_CALLED, ["f = abs\n", "x = f(1)\n"], 0),
        (_CALLED, ["f: Callable = abs\n", "f(1) == 1\n"], 0),
        (_CALLED, ["class Solution:\n    def f(self, x): return x\n", "Solution().f(1)\n"], 0),
        (_CALLED, ["async def f(x): return x\n", "f(1)\n", "f(2)\n"], 0),
        (["assert f(1) == 1"], [_USED, "assert f(1) == 1\n"], 0),
        (_HUMAN_EVAL, [_USED, "def test():\n    f(1)\n"], 0),
        (_IMPORTED, [f"{_USED}class G: pass\n", "def test_f():\n    assert f(1) == 1\n"], 0),
        (_IMPORTED, [f"{_USED}class G: pass\n", _USED], 0),
        # the last of those that define it, whatever it does
        (_CALLED, [_USED, "def f(x):\n    return -x\n"], 1),
        (_CALLED, [_USED, "f = None\n"], 1),
        (_CALLED, [_USED, "def f(x):\n    return x + 1\n", "f(1)\n"], 1),
        (_IMPORTED, ["def test_f(): pass\n", f"{_USED}class G: pass\n"], 1),
        # none of them defines it, or no name is known
        (_CALLED, ["def g(x): return x\n", "g(1)\n"], 1),
        (_HUMAN_EVAL, ["    return 1\n", "    return x\n"], 1),
        ({"inputs": ["1"], "outputs": ["1"]}, [_USED, "print(1)\n"], 1),
    ],
)
def test_a_block_that_only_uses_the_program_is_an_example(tests: object, blocks: list[str], at: int) -> None:
    output = "\nSo:\n".join(f"```python\n{block}```" for block in blocks)
    assert find_program(output, "fence", "python", read_tests(tests)).source == blocks[at]


@pytest.mark.parametrize(
    ("named", "language"),
    [
        *((name, "cpp") for name in ("cpp", "C++", "c++20", "C++17", "cpp:main.cpp", "g++", "gnu++20", "cc", "cpp-23")),
        *((name, "python") for name in ("python", "py", "Python3", "pypy3", "python2.7", "python:a:b.py", "pypy3.10")),
        *((name, "javascript") for name in ("js", "node", "node20", "javascript:main.js", "nodejs")),
        *((name, "bash") for name in ("bash", "sh", "bash:run.sh", "shell")),
        *((name, None) for name in ("", "c", "c#", "rust", "pythonx", "3", "c+", "py thon", "java", "+", "cpp17x")),
        ("sqlite3", "sql"),
    ],
)
def test_the_language_that_a_fence_names(named: str, language: str | None) -> None:
    assert language_of(named) == language


@pytest.mark.parametrize(
    ("fence", "language", "is_read"),
    [
        *((name, "cpp", True) for name in ("c", "C", "c11", "c++")),
        *((name, "cpp", False) for name in ("c#", "objective-c", "rust")),
        *((name, "python", False) for name in ("c", "cython", "sql")),
        *((name, "sql", True) for name in ("postgresql", "PostgreSQL", "mysql", "sqlite3", "psql", "tsql")),
        *((name, "sql", False) for name in ("mongodb", "text", "nosql", "python", "graphql")),
    ],
)
def test_a_dialect_is_the_language_of_its_row(fence: str, language: str, is_read: bool) -> None:
    found = find_program(f"```{fence}\nx\n```", "fence", language)
    assert (found.source == "x\n") is is_read


def test_other_places() -> None:
    assert find_program("x = 1", "whole", "python").source == "x = 1"
    assert find_program("Hi\n```\nx = 1\n```", "whole", "python").source == "x = 1\n"
    assert find_program("no <answer>x = 1</answer> y", "tag", "python").source == "x = 1"
    assert find_program("</answer> then <answer>x = 1</answer>", "tag", "python").source == "x = 1"
    assert find_program("</answer> alone", "tag", "python").source is None
    assert find_program("<answer>\n```cpp\nint x;\n```\n</answer>", "tag", "cpp").source == "int x;\n"
    assert find_program("x = 1", "tag", "python").source is None


def test_a_continuation_stands_under_its_prompt_and_a_whole_function_under_its_imports() -> None:
    tests = read_tests(_HUMAN_EVAL)
    assert completed("    return x\n", tests) == "import math\ndef f(x):\n    '''doc'''\n    return x\n"
    assert completed("def f(x):\n    return x\n", tests) == "import math\n\ndef f(x):\n    return x\n"


_PROMPT = "import math\ndef f(x):\n    '''doc'''\n"


@pytest.mark.parametrize(
    ("source", "whole"),
    [
        ("from __future__ import annotations\ndef f(x): pass", None),
        ("'''doc'''\nfrom __future__ import annotations  # so\nimport re\ndef f(x): pass", None),
        ("from __future__ import (\n    annotations,\n    division,\n)\ndef f(x): pass", None),
        ("from __future__ import division; y = 1\ndef f(x): pass", None),
        ("from __future__ import division\nfrom __future__ import annotations\nf = 1", None),
        ("f = lambda x: x", "import math\n\nf = lambda x: x"),
        ("f: Callable[[int], int] = abs", "import math\n\nf: Callable[[int], int] = abs"),
        ("class f: pass", "import math\n\nclass f: pass"),
        # a continuation
        ("    f == 1\n    return x", f"{_PROMPT}    f == 1\n    return x"),
        ("    f = 1\n    return x", f"{_PROMPT}    f = 1\n    return x"),
        ("    return 'from __future__ import x'", f"{_PROMPT}    return 'from __future__ import x'"),
    ],
)
def test_a_program_under_its_prompt_is_one(source: str, whole: str | None) -> None:
    found = completed(source, read_tests(_HUMAN_EVAL))
    assert whole in (None, found)
    compile(found, "program", "exec", dont_inherit=True)


_MANY = 300_000


@pytest.mark.parametrize(
    "text",
    [
        *("```" * 50_000, "```python\n" * 50_000, "<answer>" * 50_000, "`" * 500_000, "x" * 2_000_000),
        # a line that is no fence, found at its end alone: with a second try for each of its letters, ten minutes each
        *(
            f"```{part * (_MANY // len(part))}`"
            for part in ("a", " ", "\t", "a ", " a", "~", "{", "a{", "é", "\r", "3.", "=:")
        ),
        *(f"~~~{part * (_MANY // len(part))}`" for part in ("a", " ", "~ ", "a{")),
        *(f"{part * (_MANY // len(part))}`" for part in (" ", "\t", " \t")),
        *(f"{' ' * _MANY}```{'a' * _MANY}`", f"{'`' * _MANY}{'a' * _MANY}`", f"```{'a' * 3000}`\n" * 100),
        *(f"```{part * (_MANY // len(part))}\nx\n```" for part in ("a", "3", "3.", "+", "_", "a:", "-3")),
    ],
)
def test_hostile_outputs_end_soon(text: str) -> None:
    places: list[ProgramPlace] = ["fence", "tag", "whole"]
    for place in places:
        find_program(text, place, "python")


def test_a_program_of_empty_lines_is_read_at_once() -> None:
    source = "\n" * 200_000 + " " * 200_000 + "x"
    assert completed(source, read_tests(_HUMAN_EVAL)).endswith(source)


@pytest.mark.parametrize(
    ("output", "place", "why"),
    [
        (" \n", "whole", "the output is empty"),
        ("x = 1", "fence", "no fenced block with a program in python"),
        ("x = 1", "tag", "no <answer> with a program"),
        ("<answer>x = 1", "tag", "no <answer> with a program"),
        ("<answer>\n</answer>", "tag", "the output is empty"),
        ("```python\n\n```", "whole", "the last block of code is empty"),
        ("```python\nx = 1\n```\n```python\ncut off", "whole", "the last block of code is never closed"),
        ("x" * 1_000_001, "whole", "over the bounds: 1,000,001 characters"),
        ("x = 1", "whole", ""),
    ],
)
def test_why_there_is_no_program(output: str, place: Any, why: str) -> None:
    assert find_program(output, place, "python").why == why


_STDIN, _CALL = StdinTest("2\n", "4\n", number=3), CallTest("f", [2], [4], 3, number=3)
_GIVES = "for input '2\\n' it prints '5\\n': line 1 has '5'"
_LONG = "x" * 5000


@pytest.mark.parametrize(
    ("test", "ending", "why", "kind"),
    [
        (_STDIN, {"kind": "cpu"}, "over 4 s of CPU", "timeout"),
        (_STDIN, {"kind": "wall"}, "over 8 s, though it hardly computed", "timeout"),
        (_STDIN, {"kind": "memory"}, "over 1024 MB of memory", "memory"),
        (_STDIN, {"kind": "processes"}, "over 64 processes", "crash"),
        (_STDIN, {"status": 1, "stderr": b"a\nValueError: x\n"}, "it fails with exit code 1: ValueError: x", "error"),
        (_STDIN, {"status": 1, "stderr": b"a\nMemoryError\n"}, "it fails with exit code 1: MemoryError", "memory"),
        (
            _STDIN,
            {"status": 1, "stderr": _LONG.encode()},
            f"it fails with exit code 1: {_LONG[:80]} … {_LONG[:80]}",
            "error",
        ),
        (_STDIN, {"status": 3}, "it fails with exit code 3", "error"),
        (_STDIN, {"status": -6}, "it was ended by signal 6", "crash"),
        (_STDIN, {"stdout": b"5\n"}, _GIVES, "wrong"),
        (_STDIN, {"stdout": b"\x1b\n"}, "for input '2\\n' it prints '\\x1b\\n': line 1 has '\\x1b'", "wrong"),
        (_STDIN, {"stdout": b"4\n", "cut": True}, "it prints more than 4,096 KB", "wrong"),
        (_STDIN, {"stdout": b"4\n"}, "", None),
        (replace(_STDIN, public=True), {"stdout": b"5\n"}, f"{_GIVES}, expected '4\\n'", "wrong"),
        (_CALL, {}, "the function left no result", "wrong"),
        (_CALL, {"result": b"["}, "the function left no result: unreadable: Expecting value", "wrong"),
        (_CALL, {"result": b"5"}, "f(2,) gives 5", "wrong"),
        (_CALL, {"result": b"4"}, "", None),
        (_CALL, {"result": b"5", "status": 1}, "it fails with exit code 1", "error"),
        (replace(_CALL, public=True), {"result": b"5"}, "f(2,) gives 5, expected 4", "wrong"),
        (_CALL, {"result": b" " * 10_021}, f"f(2,) gives b'{' ' * 38} … {' ' * 39}'", "wrong"),
    ],
)
def test_what_is_said_of_a_run(test: Any, ending: dict[str, Any], why: str, kind: str | None) -> None:
    found = grade.tested(
        test, Ending(**{"kind": "exit", "cpu_seconds": 0.12346, "peak_memory": 7, **ending}), grade.Bounds()
    )
    assert (found.why == why) or ("unreadable" in why and found.why.startswith(why))
    assert (found.kind, found.passed, found.share) == (kind, kind is None, float(kind is None))
    assert (found.number, found.cpu_seconds, found.peak_memory) == (3, 0.1235, 7)
