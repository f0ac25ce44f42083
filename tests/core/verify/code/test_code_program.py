"""Where the program stands in an output: one block, the last one, and none that is cut off."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.code.formats import read_tests
from agentscope_tuner.verify.code.program import ProgramPlace, completed, find_program

_HUMAN_EVAL = {"prompt": "import math\ndef f(x):\n    '''doc'''\n", "test": "def check(c): pass", "entry_point": "f"}
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
        ("```python\nx = 1\n```\n```python\ncut off", None),
        ("```python\n\n```", None),
        ("x = 1", None),
        ("", None),
    ],
)
def test_the_last_fenced_block(output: str, source: str | None) -> None:
    assert find_program(output, "fence", "python").source == source


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


@pytest.mark.parametrize(
    "text", ["```" * 50_000, "```python\n" * 50_000, "<answer>" * 50_000, "`" * 500_000, "x" * 2_000_000]
)
def test_hostile_outputs_end_soon(text: str) -> None:
    places: list[ProgramPlace] = ["fence", "tag", "whole"]
    for place in places:
        find_program(text, place, "python")


def test_a_program_of_empty_lines_is_read_at_once() -> None:
    source = "\n" * 200_000 + " " * 200_000 + "x"
    assert completed(source, read_tests(_HUMAN_EVAL)).endswith(source)
