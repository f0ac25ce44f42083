"""Runs a policy's program: as a script, or one function of it. What it prints and returns is for others to judge."""

from __future__ import annotations

import _sitebuiltins
import builtins
import importlib
import json
import linecache
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
    if asked["finite"]:
        module.__dict__["__builtins__"]["float"] = _finite_float(asked["program"])
        json._default_decoder = json.JSONDecoder(parse_constant=_refuse_code)  # type: ignore[attr-defined]
    sys.argv += asked["arguments"]
    sys.addaudithook(_refuse_to_run)
    return ended(lambda: execute(asked["program"], module))


# What else can run what a file holds
_RUNNING = {"pickle.find_class", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"}


# The standard modules that make code of names alone
_MAKING = ("collections/__init__.py", "dataclasses.py", "functools.py", "typing.py")
_LIBRARY = os.path.dirname(os.__file__)


def _refuse_to_run(event: str, given: tuple[Any, ...]) -> None:
    if event in _RUNNING:
        _refuse_code()
    if event == "exec":
        file, by = given[0].co_filename, sys._getframe(1).f_code.co_filename
        is_installed = file.startswith(("<frozen ", f"{_LIBRARY}/"))
        is_made = by in (__file__, *(f"{_LIBRARY}/{name}" for name in _MAKING)) or by.startswith("<frozen ")
        if not is_installed and not (is_made and (file[0] == "<" or by == __file__)):
            _refuse_code()


def _finite_float(source: str) -> type:
    """A `float` that reads no text as what is not finite, other than text of the checker's own.

    Any comparison with NaN is false, also that of an error with a bound.
    """

    class FiniteKind(type):
        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, float)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, float)

        def __eq__(cls, other: object) -> bool:
            return other is float or other is cls

        def __hash__(cls) -> int:
            return hash(float)

    class Finite(float, metaclass=FiniteKind):
        def __new__(cls, *given: Any) -> Any:
            number = float(*given)
            text = given[0] if given else None
            if isinstance(text, str | bytes) and number - number != 0:
                # the checker's own text is the one object that the interpreter keeps of a literal
                is_copy = isinstance(text, str) and text.isidentifier() and sys.intern(text) is not text
                if is_copy or repr(text) not in source.replace('"', "'"):
                    raise ValueError("no finite number")
            return number

    return Finite


def _is_finite(data: Any) -> bool:
    if isinstance(data, float | complex):
        return data - data == 0
    inner = [*data.keys(), *data.values()] if isinstance(data, dict) else data
    return not isinstance(data, list | tuple | set | dict) or all(map(_is_finite, inner))


def _read_data(source: str, *_: object) -> object:
    """`eval` of literals and arithmetic alone: a name may be that of the right output."""
    # slow to import, and few checkers ask
    import ast

    data = (ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp, ast.Load)
    tree = ast.parse(source.strip(), mode="eval")
    if not all(isinstance(node, (*data, ast.operator, ast.unaryop)) for node in ast.walk(tree)):
        raise ValueError("no data")
    found = eval(compile(tree, "<data>", "eval"), {"__builtins__": {}})  # noqa: S307 - literals and arithmetic
    if not _is_finite(found):
        raise ValueError("no finite number")
    return found


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
