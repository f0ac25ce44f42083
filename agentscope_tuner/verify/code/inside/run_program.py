"""Runs a policy's program: as a script, or one function of it. What it prints and returns is for others to judge."""

from __future__ import annotations

import _sitebuiltins
import builtins
import functools
import importlib
import json
import linecache
import math
import os
import sys
import traceback
import types
from typing import Any

from agentscope_tuner._jail.inside import MODULES, begin, leave
from agentscope_tuner.verify.code.inside.code_values import NotPlainError, dump, unpack

_FILE = "main.py"
_MOST_PREPARED = 100_000
# The platforms of functions allow far more than Python does by itself; a script sets its own
_CALL_DEPTH = 50_000
# what data sets' solutions take for granted: their platforms import it above each program
_MODULES = {
    *("bisect", "collections", "copy", "datetime", "functools", "heapq", "itertools", "json", "math", "operator"),
    *("os", "random", "re", "string", "sys", "time", "typing"),
}
_COMMON = {
    "typing": ("List", "Dict", "Set", "Tuple", "Optional", "Any", "Union", "Callable", "Iterable", "Iterator", "Deque"),
    "collections": ("defaultdict", "deque", "Counter", "OrderedDict", "namedtuple"),
    "itertools": ("permutations", "combinations", "product", "accumulate", "chain", "groupby", "islice", "count"),
    "functools": ("lru_cache", "cache", "reduce", "cmp_to_key", "partial"),
    "heapq": ("heappush", "heappop", "heapify", "heappushpop", "heapreplace", "nlargest", "nsmallest"),
    "bisect": ("bisect_left", "bisect_right", "bisect", "insort"),
    "math": ("inf", "sqrt", "gcd", "ceil", "floor", "comb", "factorial", "log", "log2", "isqrt", "lcm", "pi"),
}


# the module `site` gives these, and takes long for the rest of what it does
for _name in ("exit", "quit"):
    setattr(builtins, _name, _sitebuiltins.Quitter(_name, "Ctrl-D (i.e. EOF)"))
builtins.help = _sitebuiltins._Helper()
# Made once: what a program's process reads of a name makes a page of its own of the jail's
_BUILT_IN = frozenset(dir(builtins))
_GIVEN = {name: source for source, given in _COMMON.items() for name in given}


def script(payload: bytes) -> int:
    """Run the program as `python main.py`; returns its exit code."""
    asked = json.loads(payload)
    module = prepare(asked["program"], "__main__")
    sys.argv += asked.get("arguments", [])
    return ended(lambda: execute(asked["program"], module))


def checker(payload: bytes) -> int:
    """Run a data set's script that reads what a program printed, and must run none of it."""
    asked = json.loads(payload)
    module = prepare(asked["program"], "__main__")
    module.__dict__["__builtins__"] = vars(builtins) | {
        "eval": _read_data,
        "exec": _refuse_code,
        "compile": _refuse_code,
    }
    sys.argv += asked["arguments"]
    sys.addaudithook(functools.partial(_refuse_to_run, module.__dict__["__file__"]))
    return ended(lambda: execute(asked["program"], module))


# What else can run what a file holds
_RUNNING = {"pickle.find_class", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"}


def _refuse_to_run(own: str, event: str, details: tuple[Any, ...]) -> None:
    if event in _RUNNING or (
        event == "exec" and details[0].co_filename != own and _is_of_a_file(details[0].co_filename)
    ):
        _refuse_code()


def _is_of_a_file(name: str) -> bool:
    """Whether code comes of a file that is no installed module's: `runpy` runs any, such as that of an output."""
    return not name.startswith(("<", sys.prefix, sys.base_prefix)) or name.startswith("<input")


def _read_data(source: str, *_: object) -> object:
    """`eval` of literals and arithmetic alone: a name may be that of the right output."""
    # slow to import, and few checkers ask
    import ast

    data = (ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp, ast.Load)
    tree = ast.parse(source.strip(), mode="eval")
    if not all(isinstance(node, (*data, ast.operator, ast.unaryop)) for node in ast.walk(tree)):
        raise ValueError("no data")
    found = eval(compile(tree, "<data>", "eval"), {"__builtins__": {}})  # noqa: S307 - literals and arithmetic
    if not all(map(math.isfinite, _floats(found))):
        raise ValueError("no number")
    return found


def _floats(value: object) -> list[float]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set):
        return [one for item in value for one in _floats(item)]
    return [value] if isinstance(value, float) else []


def _refuse_code(*_: object, **__: object) -> None:
    raise ValueError("a checker runs no code that it is given")


def call(payload: bytes) -> int:
    """Call one function of the program; leaves `dump` of what it returns as the result."""
    asked = json.loads(payload)
    module = prepare(asked["program"], "main")
    name, arguments = asked["name"], [unpack(one) for one in asked["arguments"]]
    sys.setrecursionlimit(_CALL_DEPTH)

    def run() -> None:
        execute(asked["program"], module)
        answer = find(module, name)(*arguments)
        try:
            said = dump(answer)
        except (NotPlainError, RecursionError, ValueError) as exc:
            raise TypeError(f"the answer is no plain data: {exc}") from None
        leave(said)

    return ended(run)


def find(module: types.ModuleType, name: str) -> Any:
    """The function `name` of a program, or the method of its class `Solution`.

    Raises:
        AttributeError: there is none.
    """
    holder: Any = module
    if not hasattr(module, name) and hasattr(module, "Solution"):
        holder = module.Solution()
    if not hasattr(holder, name):
        raise AttributeError(f"the program defines no {name!r}")
    return getattr(holder, name)


def prepare(source: str, name: str) -> types.ModuleType:
    """The program's module, empty yet, and its file, arguments and streams."""
    module = types.ModuleType(name)
    module.__dict__.update(__file__=os.path.abspath(_FILE), __builtins__=builtins)
    sys.modules[name] = module
    sys.argv = [_FILE]
    sys.path = [os.getcwd(), *(entry for entry in sys.path if not entry.startswith(MODULES))]
    for descriptor, stream, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        opened = open(  # noqa: SIM115 - open as long as the process
            descriptor, mode, encoding="utf-8", errors="surrogateescape", closefd=False
        )
        setattr(sys, stream, opened)
        setattr(sys, f"__{stream}__", opened)
    if len(source) > _MOST_PREPARED:
        # a program too large for its folder has itself to blame
        begin()
    with open(_FILE, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(source)
    linecache.cache[module.__dict__["__file__"]] = (len(source), None, source.splitlines(True), _FILE)
    return module


def execute(source: str, module: types.ModuleType) -> None:
    """Run the program in its module."""
    begin()
    code = compile(source, module.__dict__["__file__"], "exec", dont_inherit=True)
    _give_usual_names(code, module.__dict__)
    exec(code, module.__dict__)  # noqa: S102 - that is what this process is for


def _give_usual_names(code: types.CodeType, names: dict[str, Any]) -> None:
    """The names that a program uses and its task's platform would have imported, such as `List` and `defaultdict`."""
    used = {name for name in _names_in(code) if name not in _BUILT_IN}
    for name in used:
        if name in _MODULES:
            names[name] = importlib.import_module(name)
    for name in used:
        if name in _GIVEN:
            names.setdefault(name, getattr(importlib.import_module(_GIVEN[name]), name))


def _names_in(code: types.CodeType) -> set[str]:
    used = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            used |= _names_in(constant)
    return used


def ended(run: Any) -> int:
    """Run it; the exit code that the interpreter would give."""
    try:
        run()
    except SystemExit as exc:
        code = exc.code
        if code is None or isinstance(code, int):
            return (code or 0) & 0xFF
        sys.stderr.write(f"{code}\n")
        return 1
    except BaseException as exc:  # noqa: BLE001 - whatever the program raises ends it
        frames = exc.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename.startswith(MODULES):
            frames = frames.tb_next
        traceback.print_exception(type(exc), exc, frames, file=sys.stderr)
        return 1
    return 0
