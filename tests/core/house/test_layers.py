"""What docs/design.md says of all modules: floors, no circle, names, functions that one can read, what is done where.

All of it is one file, because reading the syntax of the package takes longer than the tests.
"""

from __future__ import annotations

import ast
import functools
import gc
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = "agentscope_tuner"
ROOT = Path(__file__).parents[3] / PACKAGE
FLOORS = {
    "_version": 0,
    "_moved": 0,
    "errors": 0,
    "bounds": 0,
    "workflow": 1,
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
HEAVY = (
    *("sympy", "openai", "agentscope", "ray", "torch", "httpx", "typer", "rich", "tiktoken"),
    f"{PACKAGE}.graders.llm_grader",
)


@functools.cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    """All that stands in `tree`; several tests go through all modules."""
    return list(ast.walk(tree))


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
    """The syntax of each module. The garbage collector, which would go through all of it again and again, waits."""
    gc.disable()
    try:
        return {name: ast.parse(source) for name, source in sources().items()}
    finally:
        gc.enable()
        gc.freeze()


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
    # the root is lazy: what trainers use first is asked for, too
    names = "__version__, load_judge, WorkflowTask, JudgeError"
    script = f"import sys; from {PACKAGE} import {names}; print([n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


MOST_FUNCTION_LINES = 40


def test_no_class_has_the_name_of_another() -> None:
    found = defaultdict(list)
    for name, tree in trees().items():
        for node in nodes(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(f"{name}:{node.lineno}")
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every function with its number of lines; its docstring is not counted, for it is read by itself."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            text = ast.get_docstring(node, clean=False) or ""
            yield node.name, node.end_lineno - node.lineno + 1 - len(text.splitlines())


def test_functions_are_short() -> None:
    lines = {f"{name} {function}": count for name, tree in trees().items() for function, count in functions(tree)}
    long = {name for name, count in lines.items() if count > MOST_FUNCTION_LINES}
    assert {name: lines[name] for name in long} == {}


def module_of(name: str) -> str:
    parts = [PACKAGE, *name.removesuffix(".py").split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(sources: Mapping[str, ast.AST]) -> dict[str, set[str]]:
    """What each module of ours imports of ours: at its top, inside a function, or to name a type."""
    modules = {module_of(name) for name in sources}
    found: dict[str, set[str]] = {}
    for name, tree in sources.items():
        own = module_of(name)
        package = own if name.endswith("__init__.py") else own.rpartition(".")[0]
        names: set[str] = set()
        for node in nodes(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = ".".join(filter(None, [package if node.level else "", node.module or ""]))
                # `from package import module` imports the module, `from module import name` the module before it
                whole = {f"{base}.{alias.name}" for alias in node.names}
                names |= {one if one in modules else base for one in whole}
        found[own] = (names & modules) - {own}
    return found


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """The groups of modules that import one another: the strongly connected components of more than one (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph[module]:
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            group = set(stack[stack.index(module) :])
            del stack[-len(group) :]
            if len(group) > 1:
                found.append(group)

    for module in graph:
        if module not in index:
            visit(module)
    return found


def test_no_circle_of_imports() -> None:
    assert circles(imports(trees())) == []


@pytest.mark.parametrize(
    ("sources", "count"),
    [
        ({"a.py": "from agentscope_tuner import b", "b.py": "import agentscope_tuner.a"}, 1),
        ({"a.py": "from agentscope_tuner.b import x", "b.py": "def f():\n    from agentscope_tuner.a import y"}, 1),
        ({"a.py": "from .b import x", "b.py": "from .c import x", "c.py": "from . import a"}, 1),
        ({"r/__init__.py": "from agentscope_tuner.r.a import x", "r/a.py": "from agentscope_tuner.r import x"}, 1),
        (
            {
                "a.py": "from agentscope_tuner.b import x",
                "b.py": "if TYPE_CHECKING:\n    from agentscope_tuner.a import y",
            },
            1,
        ),
        ({"a.py": "from agentscope_tuner.b import x", "b.py": "import json", "c.py": "import agentscope_tuner.a"}, 0),
    ],
)
def test_a_circle_is_seen(sources: dict[str, str], count: int) -> None:
    assert len(circles(imports({name: ast.parse(source) for name, source in sources.items()}))) == count


def broad_handlers(source: str, tree: ast.Module) -> Iterator[tuple[int, bool]]:
    """The line of each `except` that takes any error, and whether a comment at it says why."""
    lines = source.splitlines()
    for node in nodes(tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        if not any(kind is None or ast.unparse(kind) in ("Exception", "BaseException") for kind in kinds):
            continue
        at = node.lineno - 1
        beside = lines[at].partition("#")[2].replace(" noqa: BLE001", "").strip(" -#")
        around = [lines[place].strip() for place in (at - 1, at + 1) if 0 <= place < len(lines)]
        yield node.lineno, bool(beside) or any(line.startswith("#") for line in around)


def test_every_broad_except_says_why() -> None:
    silent = [
        f"{name}:{line}"
        for name, tree in trees().items()
        for line, said in broad_handlers(sources()[name], tree)
        if not said
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        ("except Exception:\n    pass", [False]),
        ("except:\n    pass", [False]),
        ("except (ValueError, BaseException):\n    pass", [False]),
        ("except Exception as exc:  # noqa: BLE001\n    pass", [False]),
        ("except Exception:  # noqa: BLE001 - a user's code\n    pass", [True]),
        ("# a user's code\nexcept Exception:\n    pass", [True]),
        ("except Exception:\n    # a user's code\n    pass", [True]),
        ("except ValueError:\n    pass", []),
    ],
)
def test_a_silent_broad_except_is_seen(handler: str, said: list[bool]) -> None:
    source = f"try:\n    pass\n{handler}\n"
    assert [said for _, said in broad_handlers(source, ast.parse(source))] == said


def dotted(node: ast.expr) -> str:
    """A name as it is written, `print` or `subprocess.Popen`; empty for what is no name."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def done(tree: ast.Module) -> Iterator[str]:
    """What a module calls, `print()`, or with a text first `print('a')`; and what it imports, `import json`."""
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            first = node.args[0] if node.args else None
            text = repr(first.value) if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
            yield f"{dotted(node.func)}({text})"
        elif isinstance(node, ast.Import):
            yield from (f"import {alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"import {node.module}"


@functools.cache
def all_done() -> dict[str, set[str]]:
    """What each module does."""
    return {name: set(done(tree)) for name, tree in trees().items()}


# By what docs/design.md says: the pattern of it, and the folders and modules that alone may do it
KEPT: dict[str, tuple[str, tuple[str, ...]]] = {
    "only the command line prints": (r"print\(.*", ("cli/", "lab/")),
    "a text is run as code in a jail alone": (r"(builtins\.)?(eval|exec)\(.*", ("verify/code/inside/",)),
    "nothing is unpickled from a file": (r"(pickle|marshal)\.load\(.*", ()),
    "no time limit is a signal": (r"signal\.(alarm|setitimer)\(.*", ()),
    "child processes are started in one module, and foreign programs in two": (
        r"(subprocess\.\w+|os\.(fork|forkpty|posix_spawnp?|system|popen)|multiprocessing\.Process)\(.*",
        ("_run/child.py", "_jail/bubblewrap.py", "_jail/inside.py"),
    ),
    "event loops are made in one module, but for a rollout's, a server's and a jail's": (
        r"asyncio\.(run|new_event_loop|get_event_loop|Runner)\(.*",
        ("_run/loops.py", "lab/rollouts/attempt.py", "service/server.py", "verify/code/inside/"),
    ),
    "one road leads to a peer": (
        r"import (aiohttp|requests|urllib3|http\.client)|httpx\.((Async)?Client|get|post|request|stream)\(.*",
        ("_http/",),
    ),
    "one client asks judge models": ("import openai", ("graders/client/", "model_tuner.py")),
    "the lab is known to the root and to one adapter": (
        r"import agentscope_tuner\.lab\b.*",
        ("lab/", "__init__.py", "adapters/trl/__init__.py"),
    ),
    "a failed judgement has one constructor": (r"Judgement\('failed'\)", ()),
}


@pytest.mark.parametrize("what", KEPT)
def test_what_is_done_in_one_place_is_done_nowhere_else(what: str) -> None:
    pattern, places = KEPT[what]
    elsewhere = {
        f"{name}: {one}"
        for name, found in all_done().items()
        if not name.startswith(places or ("no such place",))
        for one in found
        if re.fullmatch(pattern, one)
    }
    assert elsewhere == set()


@pytest.mark.parametrize(
    ("what", "source"),
    [
        ("only the command line prints", "def f():\n    print(1)"),
        ("a text is run as code in a jail alone", "x = eval('1')"),
        ("nothing is unpickled from a file", "pickle.load(file)"),
        ("no time limit is a signal", "signal.setitimer(1, 2)"),
        ("child processes are started in one module, and foreign programs in two", "subprocess.run(['ls'])"),
        ("event loops are made in one module, but for a rollout's, a server's and a jail's", "asyncio.run(f())"),
        ("one road leads to a peer", "import requests"),
        ("one road leads to a peer", "httpx.AsyncClient(timeout=5.0)"),
        ("one client asks judge models", "def f():\n    import openai"),
        ("the lab is known to the root and to one adapter", "from agentscope_tuner.lab.view import report"),
        ("a failed judgement has one constructor", "Judgement('failed', None, None, 'why')"),
    ],
)
def test_what_is_done_in_a_wrong_place_is_seen(what: str, source: str) -> None:
    assert [one for one in done(ast.parse(source)) if re.fullmatch(KEPT[what][0], one)] != []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [name for name in trees() if Path(name).stem in ("utils", "common", "helpers", "manager")] == []
