"""The map of docs/design.md: what it says of the code that no other test of the house looks at."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.errors import Cause
from agentscope_tuner.graders import GraderRank, GraderScore
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.contract.deadline import Traits
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.core.house.test_layers import ROOT, trees

DESIGN = (ROOT.parent / "docs" / "design.md").read_text(encoding="utf-8")
# Each is told of by its fields
TYPES: dict[str, Any] = {
    "Task": Task,
    "WorkflowTask": WorkflowTask,
    "WorkflowOutput": WorkflowOutput,
    "Judgement": Judgement,
    "Traits": Traits,
    "GraderScore": GraderScore,
    "GraderRank": GraderRank,
}


def fields_of(kind: Any) -> list[str]:
    return (
        [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else [*kind.model_fields]
    )


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_the_fields_that_the_design_lists(name: str) -> None:
    # `GraderRank` stands in the row of `GraderScore`
    told = re.search(rf"(?:^\| |; )`{name}`(?: \||:)[^`]*(?:`TaskJudge[^`]*`[^`]*)?`([\w, ]+)`", DESIGN, re.MULTILINE)
    assert told is not None
    assert sorted(told[1].split(", ")) == sorted(fields_of(TYPES[name]))


@pytest.mark.parametrize("name", ["reason", "metrics"])
def test_a_reward_is_a_tuple_of_two_that_carries_more(name: str) -> None:
    reward = Reward(0.5, False, reason="half", metrics={"passed": 1.0})
    assert (tuple(reward), len(reward)) == ((0.5, False), 2)
    assert getattr(reward, name) in ("half", {"passed": 1.0})


@pytest.mark.parametrize("word", ["reference", "input", "endpoint", "bug"])
def test_a_cause_is_a_word_that_the_design_names(word: str) -> None:
    assert Cause(word).value == word


@pytest.mark.parametrize("name", ["compute_reward", "acompute_reward", "compute_rewards", "aready", "check_task"])
def test_a_judge_has_the_methods_that_the_design_lists(name: str) -> None:
    assert f"`{name}" in DESIGN
    assert callable(getattr(BaseJudge, name))


def calls(tree: ast.Module) -> Iterator[str]:
    """Every function that a module calls, as it is written: `print`, `subprocess.Popen`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def names(tree: ast.Module) -> Iterator[str]:
    """Every module that a module imports, its type hints' included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


# What is done, by which pattern it is known, and where alone it may be done: by folders, or by modules
KEPT: dict[str, tuple[Callable[[ast.Module], Iterator[str]], str, tuple[str, ...]]] = {
    "only the command line prints": (calls, "print", ("cli/", "lab/")),
    "code is run from a text in a jail alone": (calls, "eval|exec|builtins.(eval|exec)", ("verify/code/inside/",)),
    "nothing is unpickled from a file": (calls, r"pickle\.load|marshal\.loads?", ()),
    "no time limit is a signal": (calls, r"signal\.(alarm|setitimer)", ()),
    "child processes are started in one module, and foreign programs in two": (
        calls,
        r"subprocess\.\w+|os\.(fork|forkpty|posix_spawnp?|system|popen)|multiprocessing\.Process",
        ("_run/child.py", "_jail/bubblewrap.py", "_jail/inside.py"),
    ),
    "event loops are made in one module, but for a rollout's, a server's and a jail's": (
        calls,
        r"asyncio\.(run|new_event_loop|get_event_loop|Runner)",
        ("_run/loops.py", "lab/rollouts/attempt.py", "service/server.py", "verify/code/inside/"),
    ),
    "one road leads to a peer": (names, "aiohttp|requests|urllib3|http.client", ("_http/",)),
    "one client asks judge models": (names, "openai", ("graders/client/", "model_tuner.py")),
    "the lab is known to the root and to one adapter": (
        names,
        r"agentscope_tuner\.lab(\..*)?",
        ("lab/", "__init__.py", "adapters/trl/__init__.py"),
    ),
    "a failed judgement has one constructor": (calls, r"Judgement\(.failed.*", ("task_judge/contract/judgement.py",)),
}


@pytest.mark.parametrize("what", KEPT)
def test_what_is_done_in_one_place_is_done_nowhere_else(what: str) -> None:
    found, pattern, places = KEPT[what]
    elsewhere = {
        f"{name}: {one}"
        for name, tree in trees().items()
        if not name.startswith(places or ("no such place",))
        for one in found(tree)
        if re.fullmatch(pattern, one)
    }
    assert elsewhere == set()


@pytest.mark.parametrize(
    ("what", "source"),
    [
        ("only the command line prints", "def f():\n    print(1)"),
        ("code is run from a text in a jail alone", "x = eval('1')"),
        ("nothing is unpickled from a file", "pickle.load(file)"),
        ("no time limit is a signal", "signal.setitimer(1, 2)"),
        ("child processes are started in one module, and foreign programs in two", "subprocess.run(['ls'])"),
        ("event loops are made in one module, but for a rollout's, a server's and a jail's", "asyncio.run(f())"),
        ("one road leads to a peer", "import requests"),
        ("one client asks judge models", "def f():\n    import openai"),
        ("the lab is known to the root and to one adapter", "from agentscope_tuner.lab.view import report"),
    ],
)
def test_what_is_done_in_a_wrong_place_is_seen(what: str, source: str) -> None:
    found, pattern, _ = KEPT[what]
    assert [one for one in found(ast.parse(source)) if re.fullmatch(pattern, one)] != []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [name for name in trees() if Path(name).stem in ("utils", "common", "helpers", "manager")] == []


@pytest.mark.parametrize("folder", ["cli/starters", "lab/demo_rollouts", "lab/texts", "lab/view/static"])
def test_the_folders_that_hold_no_module_are_there_and_hold_none(folder: str) -> None:
    assert f"`{folder}`" in DESIGN
    assert any((ROOT / folder).iterdir())
    assert [name for name in trees() if name.startswith(f"{folder}/")] == []
