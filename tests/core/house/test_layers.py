"""A module imports its own folder or a lower floor, never a higher one; heavy libraries wait until they are used."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "agentscope_tuner"
ROOT = Path(__file__).parents[3] / PACKAGE
FLOORS = {
    "_version": 0,
    "_moved": 0,
    "errors": 0,
    "workflow": 0,
    "_run": 1,
    "_jail": 2,
    "_http": 2,
    "config": 2,
    "storage": 2,
    "verify": 3,
    "rules": 3,
    "graders": 3,
    "env_service": 4,
    "model_tuner": 3,
    "task_judge": 5,
    "records": 6,
    "engines": 7,
    "adapters": 7,
    "service": 8,
    "cli": 9,
    "lab": 10,
}
HEAVY = ("sympy", "openai", "agentscope", "ray", "torch", "httpx", "typer", "rich", "tiktoken")


def executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement but those under `if TYPE_CHECKING:`, which name types and import nothing when the module runs."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            continue  # an expression imports nothing, and most of a module's nodes are expressions
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for other in node.orelse:
                yield from (other, *executed(other))
        else:
            yield from (node, *executed(node))


def imported(tree: ast.Module, package: str) -> Iterator[str]:
    """Every module of ours that `tree` imports, at its top or inside a function."""
    for node in executed(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                assert node.level == 1, f"{package}: a relative import that leaves its folder hides its floor"
                continue
            assert node.module is not None
            yield node.module
            # `from agentscope_tuner import config` names the module in the second half
            if node.module == PACKAGE:
                yield from (f"{PACKAGE}.{alias.name}" for alias in node.names)


def offences(tree: ast.Module, module: str) -> list[str]:
    """What `module` imports from a higher floor, or from a neighbour on its own."""
    own = module.split(".")[1]
    found = []
    for name in imported(tree, module):
        parts = name.split(".")
        if parts[0] != PACKAGE or len(parts) == 1 or parts[1] not in FLOORS:
            continue
        if parts[1] != own and FLOORS[parts[1]] >= FLOORS[own]:
            found.append(f"{module} (floor {FLOORS[own]}) imports {name} (floor {FLOORS[parts[1]]})")
    return found


# the root hands on public names; `python -m agentscope_tuner.rules` is a door to the command line
DOORS = {"__init__.py", "__main__.py", "rules/__main__.py"}
# what `astuner init` writes into a user's folder: files of this package, not modules
STARTERS = ROOT / "cli" / "starters"


@functools.cache
def sources() -> dict[str, str]:
    """The text of each module, by its path in the package; read when asked, for every worker of pytest imports this."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(ROOT.rglob("*.py"))
        if STARTERS not in path.parents
    }


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The syntax of each module."""
    return {name: ast.parse(source) for name, source in sources().items()}


def test_imports_keep_to_their_floor() -> None:
    found = []
    for name, tree in trees().items():
        if name in DOORS:
            continue
        module = ".".join([PACKAGE, *name.removesuffix(".py").split("/")])
        assert module.split(".")[1] in FLOORS, f"{module} has no floor: give it one here and in docs/design.md"
        found += offences(tree, module)
    assert found == []


@pytest.mark.parametrize(
    ("source", "module", "count"),
    [
        ("from agentscope_tuner.cli import app", "agentscope_tuner.records.reader", 1),
        ("from agentscope_tuner import service", "agentscope_tuner.config", 1),
        ("def f():\n    import agentscope_tuner.task_judge.contract.loading", "agentscope_tuner.verify.boxed", 1),
        ("try:\n    pass\nexcept OSError:\n    import agentscope_tuner.cli", "agentscope_tuner.records.reader", 1),
        ("match x:\n    case 1:\n        import agentscope_tuner.cli", "agentscope_tuner.records.reader", 1),
        ("from agentscope_tuner.rules import compile_rules", "agentscope_tuner.verify.find", 1),
        ("from agentscope_tuner.rules.kinds import x", "agentscope_tuner.rules.compiled", 0),
        ("if TYPE_CHECKING:\n    from agentscope_tuner.cli import app", "agentscope_tuner.workflow", 0),
        (
            "if TYPE_CHECKING:\n    pass\nelse:\n    from agentscope_tuner.cli import app",
            "agentscope_tuner.workflow",
            1,
        ),
        ("if not TYPE_CHECKING:\n    from agentscope_tuner.cli import app", "agentscope_tuner.workflow", 1),
        ("from agentscope_tuner import _loop, errors", "agentscope_tuner.task_judge.base_judge", 0),
    ],
)
def test_a_broken_floor_is_seen(source: str, module: str, count: int) -> None:
    assert len(offences(ast.parse(source), module)) == count


def test_the_package_never_imports_the_tutorial() -> None:
    for name, tree in trees().items():
        assert not [module for module in imported(tree, name) if module.split(".")[0] == "tutorial"], name


def test_importing_the_package_loads_nothing_heavy() -> None:
    # the root is lazy: what trainers use first is asked for too
    for names in ("__version__", "load_judge, WorkflowTask, JudgeError"):
        script = f"import sys; from {PACKAGE} import {names}; print([n for n in {HEAVY!r} if n in sys.modules])"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"
