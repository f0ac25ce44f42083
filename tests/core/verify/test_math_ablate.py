"""What `make ablate` takes out of a module, and that it tells what earns something from what does not."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.math import ablate
from benchmarks.math.ablate import Found, Part, Trial, World
from benchmarks.math.ablate_rows import ROOT, Row, corpora, rows
from benchmarks.math.removals import Removal, alternatives, marked, removals, without

MODULE = '''
import re
_NAMES = frozenset({"ten", "two", "six"})
_WORDS = tuple("a b c".split())
_PAIRS = {"kg": 1000, "g": 1}
_ROWS = (("x", 1), ("y", 2))
_LIMIT, _MOST = 3, 4
_PATTERN = re.compile(r"(?:no|not(?:hing|e))\\b|[|)]never")
_PART = "is|was"
_WHOLE = re.compile(rf"it (?:{_PART})|(?:still|yet) {_PART}|x")


def is_name(text: str) -> bool:
    """Whether it is one."""
    if text == "!":
        return False
    for rule in (str.isupper, str.islower):
        if rule(text):
            return True
    return text in _NAMES


def cut(text: str) -> str:
    match text:
        case "one":
            return "1"
        case _:
            return text[:1]


def short(text: str) -> list[str]:
    return [one for one in text.split() if len(one) < 3 and one != "to"]
'''


def without_the(what: str) -> dict[str, Any]:
    """The module's names without a part of it."""
    number = next(at for at, one in enumerate(removals(MODULE)) if one.what == what)
    names: dict[str, Any] = {}
    exec(compile(without(MODULE, [number]), "module", "exec"), names)  # noqa: S102
    return names


def test_everything_that_can_be_taken_out_is_found() -> None:
    found = [(one.kind, one.of, one.what) for one in removals(MODULE)]
    assert found == [
        *[("element", "_NAMES", f"'{name}'") for name in ("ten", "two", "six")],
        *[("word", "_WORDS", name) for name in "abc"],
        ("element", "_PAIRS", "'kg'"),
        ("element", "_PAIRS", "'g'"),
        ("element", "_ROWS", "('x', 1)"),
        ("element", "_ROWS", "('y', 2)"),
        *[("alternative", "_PATTERN", one) for one in ("hing", "e", "no", "not(?:hing|e)")],
        *[("alternative", "_PATTERN", one) for one in ("(?:no|not(?:hing|e))\\b", "[|)]never")],
        ("alternative", "_PART", "is"),
        ("alternative", "_PART", "was"),
        ("alternative", "_WHOLE", "still"),
        ("alternative", "_WHOLE", "yet"),
        ("branch", "is_name", "if text == '!'"),
        ("step", "is_name", "str.isupper"),
        ("step", "is_name", "str.islower"),
        ("branch", "is_name", "if rule(text)"),
        ("function", "is_name", "is_name()"),
        ("case", "cut", "case 'one'"),
        ("function", "cut", "cut()"),
        ("condition", "short", "len(one) < 3"),
        ("condition", "short", "one != 'to'"),
    ]


@pytest.mark.parametrize(
    ("what", "name", "value"),
    [
        ("'two'", "_NAMES", {"ten", "six"}),
        ("b", "_WORDS", ("a", "c")),
        ("'kg'", "_PAIRS", {"g": 1}),
        ("('x', 1)", "_ROWS", (("y", 2),)),
        ("is", "_PART", "was"),
        ("was", "_PART", "is"),
    ],
)
def test_a_part_of_a_table_is_taken_out_of_it(what: str, name: str, value: object) -> None:
    assert without_the(what)[name] == value


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("no", "(?:not(?:hing|e))\\b|[|)]never"),
        ("hing", "(?:no|not(?:e))\\b|[|)]never"),
        ("[|)]never", "(?:no|not(?:hing|e))\\b"),
        ("(?:no|not(?:hing|e))\\b", "[|)]never"),
    ],
)
def test_an_alternative_is_taken_out_of_its_pattern(what: str, pattern: str) -> None:
    assert without_the(what)["_PATTERN"].pattern == pattern


@pytest.mark.parametrize(
    ("what", "text", "found"),
    [
        ("if text == '!'", "!", False),
        ("str.isupper", "A", False),
        ("str.islower", "A", True),
        ("if rule(text)", "a", False),
        ("if rule(text)", "ten", True),
        ("is_name()", "ten", False),
    ],
)
def test_a_rule_is_taken_out_of_its_function(what: str, text: str, found: bool) -> None:
    assert without_the(what)["is_name"](text) is found


def test_a_case_and_a_function_that_rewrites_are_taken_out() -> None:
    assert without_the("case 'one'")["cut"]("one") == "o"
    assert without_the("cut()")["cut"]("one") == "one"
    alone = "def f(x: int) -> str:\n    match x:\n        case 1:\n            return 'one'\n    return ''\n"
    names: dict[str, Any] = {}
    exec(compile(without(alone, [0]), "module", "exec"), names)  # noqa: S102
    assert names["f"](1) == ""


def test_several_parts_are_taken_out_at_once() -> None:
    every = [at for at, one in enumerate(removals(MODULE)) if one.of in ("_PATTERN", "_NAMES", "_ROWS")]
    names: dict[str, Any] = {}
    exec(compile(without(MODULE, every), "module", "exec"), names)  # noqa: S102
    assert (names["_NAMES"], names["_ROWS"]) == (set(), ())
    assert names["_PATTERN"].search("no nothing never") is None


def test_nothing_taken_out_leaves_the_module_as_it_is() -> None:
    assert ast.dump(without(MODULE, [])) == ast.dump(ast.parse(MODULE))


def test_a_marked_module_says_which_rules_a_call_ran() -> None:
    ran = set[int]()
    names: dict[str, Any] = {"__ran__": ran.add}
    exec(compile(marked(MODULE), "module", "exec"), names)  # noqa: S102
    assert names["is_name"]("!") is False
    found = removals(MODULE)
    assert {found[at].what for at in ran} == {"is_name()", "if text == '!'"}


def test_a_condition_is_taken_out_and_a_marked_one_hands_on_whether_it_decides() -> None:
    assert without_the("one != 'to'")["short"]("to be or") == ["to", "be", "or"]
    assert without_the("len(one) < 3")["short"]("to be left") == ["be", "left"]
    told = list[tuple[str, bool, bool]]()
    found = removals(MODULE)

    def decided(number: int, decides: bool, value: bool) -> bool:
        told.append((found[number].what, decides, value))
        return value

    names: dict[str, Any] = {"__ran__": lambda _: None, "__decided__": decided}
    exec(compile(marked(MODULE), "module", "exec"), names)  # noqa: S102
    assert names["short"]("to left") == []
    assert told == [("len(one) < 3", False, True), ("one != 'to'", False, False), ("len(one) < 3", False, False)]


def test_what_touches_the_end_of_a_part_of_a_pattern_is_kept() -> None:
    assert [[ok for _, ok in level] for level in alternatives("a|b)|c(?:d|e", whole=False)] == [
        [False, True],
        [True, False],
        [False, False],
    ]


def test_rows_are_read_from_labelled_pairs_and_from_rollouts(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    task = {"main_query": "What is it?", "metadata": {"answer": "5"}}
    records = [
        {"reference": "5", "answer": "6", "equal": False},
        {"reference": "5", "answer": "6", "equal": False},
        {"reference": "5", "second": "6", "output": "So 6.", "equal": False},
        {"task": task, "output": {"metadata": {"final_answer": "\\boxed{5}"}}},
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert rows([path]) == [
        Row("", "5", "\\boxed{6}", False),
        Row("", "6", "So 6.", None),
        Row("", "5", "So 6.", None),
        Row("What is it?", "5", "\\boxed{5}", None),
    ]
    assert len(corpora()) > 30


def test_a_changed_verdict_is_counted_by_its_label() -> None:
    labels = [(True, True), (True, False), (False, False), (False, True), (None, True), (False, None)]
    world = World([Row("", "5", "5", right) for right, _ in labels], {}, {}, 1, [before for _, before in labels])
    changed: ablate.Verdicts = {0: False, 1: True, 2: True, 3: False, 4: False, 5: False}
    assert ablate.earned(world, changed) == (1, 1, 1, 1, 2)
    used, unused = (Part("m", number, Removal("branch", "f", what, 1)) for number, what in enumerate(("if a", "if b")))
    text = ablate.report(world, {used: Found(6, changed), unused: Found(6)}, 0)
    assert "| branch | 2 | 1 | 1 | 1 | 1 | 1 | 2 |" in text
    assert text.count("if b") == 1
    assert "if a" not in text


def test_parts_of_which_no_row_meets_two_are_tried_at_once() -> None:
    def trial(module: str, meets: list[int], judged: list[int]) -> Trial:
        return Trial(Part(module, judged[0], Removal("branch", "f", "if a", 1)), sum(1 << at for at in meets), judged)

    one, apart, beside = trial("a", [0, 1, 2], [1]), trial("a", [3, 4], [3, 4]), trial("a", [1, 5], [5])
    elsewhere = trial("b", [7], [7])
    assert ablate.batches([one, apart, beside, elsewhere]) == [[one, apart], [beside], [elsewhere]]


def test_nothing_is_blamed_for_lack_of_time() -> None:
    part = Part("m", 0, Removal("branch", "f", "if a", 1))
    assert ablate.blamed(World([], {}, {}, 1), [part], [], [], until=0.0) == {}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_parts_that_a_few_rows_need_are_told_from_those_that_they_do_not(tmp_path: Path) -> None:
    # In a process of its own: the package is imported anew there
    cases, report = tmp_path / "rows.jsonl", tmp_path / "report.md"
    records = [
        {"reference": "2\\sin(3)\\cos(1)", "answer": "\\sin(4)+\\sin(2)", "equal": True},
        {"reference": "5", "answer": "6", "equal": False},
    ]
    cases.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    asked = ["--alone", "--cases", str(cases), "--only", "math/numeric", "--jobs", "2", "--output", str(report)]
    subprocess.run([sys.executable, "-m", "benchmarks.math.ablate", *asked], cwd=ROOT, check=True, capture_output=True)
    text = report.read_text(encoding="utf-8")
    idle = text.partition("## What earns nothing")[2]
    assert "`'tan'`" in idle
    assert "`'sin'`" not in idle
