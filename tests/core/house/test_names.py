"""One name for one thing, functions of a size that one can read, and no circle of imports."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

from tests.core.house.test_layers import PACKAGE, sources, trees

MOST_FUNCTION_LINES = 40


def test_no_class_has_the_name_of_another() -> None:
    found = defaultdict(list)
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(f"{name}:{node.lineno}")
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every function with its number of lines; its docstring is not counted, for it is read by itself."""
    for node in ast.walk(tree):
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
        for node in ast.walk(tree):
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
    for node in ast.walk(tree):
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
