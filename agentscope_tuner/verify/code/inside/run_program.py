"""Runs a policy's program in its jail, as a script or by a call of one function. What it prints and returns is judged
outside.

The entry points of jails are `script`, `call` and, for the checker of a data set, `checker`. The other functions also
serve tests that carry code. There the program's process uses them to load the program (`serve_program`), and the tests'
process uses `ProgramTexts`, so that no text which the program returns is run as code (`run_tests`).
"""

from __future__ import annotations
import __future__

import _sitebuiltins
import builtins
import functools
import importlib
import json
import linecache
import os
import re
import sys
import traceback
import types
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentscope_tuner._jail.inside import MODULES, begin, leave, write
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


# the module `site` would define these, but takes long for the rest of what it does
for _name in ("exit", "quit"):
    setattr(builtins, _name, _sitebuiltins.Quitter(_name, "Ctrl-D (i.e. EOF)"))
builtins.help = _sitebuiltins._Helper()
# Made once, before the fork: objects that are touched in a program's process cost it a page of memory
_BUILT_IN = frozenset(dir(builtins))
_STREAMS = {
    name: open(number, mode, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115 - of the process
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w")))
}
# Kept, since to end these objects would cost such pages, too
_REPLACED = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
_GIVEN = {name: source for source, given in _COMMON.items() for name in given}


def script(payload: bytes) -> int:
    """Run the program as `python main.py`, for a test by standard input; returns its exit code.

    Args:
        payload: JSON of `{"program", "arguments"}`: the source, and the arguments of the script, which may be missing.
    """
    asked = json.loads(payload)
    module = prepare(asked["program"], "__main__")
    sys.argv += asked.get("arguments", [])
    return ended(lambda: execute(asked["program"], module))


def checker(payload: bytes) -> int:
    """Run a data set's checker on the files that hold what a program printed; returns the checker's exit code. Nothing
    in these files is run as code.

    Args:
        payload: JSON of `{"program", "arguments", "finite"}`: the checker's source, its arguments, and whether it must
            not read a text as NaN or infinity.
    """
    asked = json.loads(payload)
    module = prepare(asked["program"], "__main__")
    module.__dict__["__builtins__"] = vars(builtins) | {
        "eval": _read_data,
        "exec": _refuse_code,
        "compile": _refuse_code,
    }
    if asked["finite"]:
        for kind in (float, complex):
            module.__dict__["__builtins__"][kind.__name__] = _finite(kind, asked["program"])
        if "decimal" in asked["program"]:
            decimal = importlib.import_module("decimal")
            setattr(decimal, "Decimal", _finite(decimal.Decimal, asked["program"]))  # noqa: B010 - mypy
        # by which JSON's decoders read NaN and Infinity
        json.decoder._CONSTANTS.clear()  # type: ignore[attr-defined]
    sys.argv += asked["arguments"]
    sys.addaudithook(_refuse_to_run)
    return ended(lambda: execute(asked["program"], module))


# Audit events of other ways to run what a file holds
_RUNNING = {"pickle.find_class", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"}


# The standard modules that make code of names alone
_LIBRARY = os.path.dirname(os.__file__)
_MAKING = {f"{_LIBRARY}/{name}" for name in ("collections/__init__.py", "dataclasses.py", "unittest/mock.py")}


def _refuse_to_run(event: str, given: tuple[Any, ...]) -> None:
    """An audit hook for checkers. It raises if they start a process, or run code that is neither their own nor the
    standard library's.
    """
    if event in _RUNNING:
        _refuse_code()
    if event == "exec":
        file, by = given[0].co_filename, sys._getframe(1).f_code.co_filename
        is_installed = file.startswith(("<frozen ", f"{_LIBRARY}/"))
        is_made = by in {__file__, f"{_LIBRARY}/typing.py", *_MAKING} or by.startswith("<frozen ")
        if not is_installed and not (is_made and (file[0] == "<" or by == __file__)):
            _refuse_code()


def _finite(plain: Any, source: str) -> type:
    """A `float`, `complex` or `Decimal` for checkers that refuses to read a text such as `"nan"` or `"inf"`, unless it
    is a literal of the checker itself.

    A checker that reads NaN from a program's output may accept it: `abs(nan - 4) > 1e-6` is false.

    Args:
        plain: the class that is replaced.
        source: the checker.
    """

    class FiniteKind(type):
        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, plain)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, plain)

        def __eq__(cls, other: object) -> bool:
            return other is plain or other is cls

        def __hash__(cls) -> int:
            return hash(plain)

    class Finite(plain, metaclass=FiniteKind):  # type: ignore[misc]
        def __new__(cls, *given: Any) -> Any:
            number = plain(*given)
            text = given[0] if given else None
            is_odd = number - number != 0 if plain in (float, complex) else not number.is_finite()
            if isinstance(text, str | bytes) and is_odd:
                # the checker's own text is the one object that the interpreter keeps of a literal
                is_copy = isinstance(text, str) and text.isidentifier() and sys.intern(text) is not text
                if is_copy or repr(text) not in source.replace('"', "'"):
                    raise ValueError("no finite number")
            return number

        @classmethod
        def fromhex(cls, text: str) -> Any:
            number = plain.fromhex(text)
            if number - number != 0:
                raise ValueError("no finite number")
            return number

    return Finite


def _is_finite(data: Any) -> bool:
    """Whether data has no number in it that is infinite or NaN: false for `[1, inf]`."""
    if isinstance(data, float | complex):
        return data - data == 0
    inner = [*data.keys(), *data.values()] if isinstance(data, dict) else data
    return not isinstance(data, list | tuple | set | dict) or all(map(_is_finite, inner))


def _read_data(source: str, *_: object) -> object:
    """Replaces `eval` for a checker: reads literals and arithmetic, such as `[1, 2 + 3]`, but no names.

    If a program prints `expected`, the checker's own `eval` would read its variable of that name, which may hold the
    right output.
    """
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
    """Replaces `exec` and `compile` for a checker: raises ValueError."""
    raise ValueError("a checker runs no code that it is given")


# What an expression may call beside functions of `math`, and what it may be made of
_CALLED = {"abs", "bool", "divmod", "float", "int", "len", "max", "min", "pow", "round", "sum"}
_OF_EXPRESSIONS = (
    *("Expression", "Constant", "List", "Tuple", "Set", "Dict", "BinOp", "UnaryOp", "BoolOp", "Compare", "IfExp"),
    *("Load", "operator", "unaryop", "boolop", "cmpop"),
)
_FUTURE = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
_MOST_KEPT = 32 * 2**20
# Shorter lines of a program may be part of a test's text by chance
_LEAST_WITHIN = 8


class ProgramTexts:
    """Prevents tests from running a text of the program as code. Lives in the tests' process.

    A test such as `assert eval(solve("1 + 2")) == 3` runs what the program returned: a hostile program could return
    code that makes the test pass. So this class sees each message of the program, and replaces `eval`, `exec` and
    `compile`. A text that occurs in the messages may only be an expression of data, such as `1 + 2`.

    Args:
        source: the tests, whose own texts may be run.
        on_code: is called, and must raise, if `eval` would run a text of the program that is more than such an
            expression.
        on_statements: is called, and must raise, if `exec` would run a text of the program.
        makes: for a text such as `Point(1, 2)`, as in `eval(repr(answer))`: gets the variables that it may use and its
            syntax tree, and returns a function that makes the object. None if the text is anything else.
    """

    def __init__(
        self,
        source: str,
        on_code: Callable[[], object],
        on_statements: Callable[[], object],
        makes: Callable[[Mapping[str, object], Any], Callable[[], object] | None] = lambda _names, _tree: None,
    ) -> None:
        self._source, self._on_code, self._on_statements, self._makes = source, on_code, on_statements, makes
        self._kept: list[bytes] = []
        # packed (see `_packed`), for tests may remove white space before they run a text
        self._said: list[str] = []
        self._lines: list[str] = []
        self._size = 0
        # code that was compiled from the program's text, with that text
        self._codes: list[tuple[types.CodeType, object]] = []

    def keep(self, message: bytes) -> None:
        """Keep a message of the program. Beyond 32 MB in all, no more are kept; from then on, each text that is not the
        tests' own counts as the program's.
        """
        self._size += len(message)
        if self._size <= _MOST_KEPT:
            self._kept.append(message)

    def guard(self) -> None:
        """Replace `eval`, `exec` and `compile` in the tests' process by functions that check the text, whoever calls
        them: the tests, or a library such as doctest.
        """
        run_text, run_code, compile_text = eval, exec, compile

        def run(source: Any, *spaces: Any, **more: Any) -> Any:
            caller = sys._getframe(1)
            spaces = _spaces(caller, *spaces, **more)
            text = source if self._is_foreign(source, caller.f_code) else self._text_behind(source)
            if text is not None and not _is_expression(text, self._names(caller, spaces)):
                variables = ChainMap(*reversed(spaces))
                if isinstance(source, str) and (make := self._makes(variables, _parsed(_text_of(source)))):
                    return make()
                self._on_code()
            return run_text(compiled(source, "eval", caller), *spaces)

        def execute_text(source: Any, *spaces: Any, closure: Any = None, **more: Any) -> None:
            caller = sys._getframe(1)
            if self._is_foreign(source, caller.f_code) or self._text_behind(source) is not None:
                self._on_statements()
            run_code(compiled(source, "exec", caller), *_spaces(caller, *spaces, **more), closure=closure)

        def compiled(source: Any, mode: str, caller: types.FrameType) -> Any:
            # the caller's `from __future__` imports count, and not this module's
            text = str.__str__(source).lstrip(" \t" * (mode == "eval")) if isinstance(source, str) else source
            is_code = isinstance(source, types.CodeType)
            return source if is_code else compile_text(text, "<string>", mode, caller.f_code.co_flags & _FUTURE, True)

        def make(
            source: Any, filename: Any, mode: str, flags: int = 0, dont_inherit: bool = False, *given: Any, **more: Any
        ) -> Any:
            caller = sys._getframe(1).f_code
            flags |= 0 if dont_inherit else caller.co_flags & _FUTURE
            code = compile_text(source, filename, mode, flags, True, *given, **more)
            # an import compiles a file of this jail, which is no text of the program
            is_import = caller.co_filename.startswith("<frozen ")
            if not is_import and isinstance(code, types.CodeType) and self._is_foreign(source, caller):
                self._codes.append((code, source))
            return code

        vars(builtins).update(eval=run, exec=execute_text, compile=make)

    def _text_behind(self, source: object) -> object:
        """The text of the program from which `compile` made this code; None for any other code."""
        return next((text for code, text in self._codes if code is source), None)

    def _is_foreign(self, source: object, by: types.CodeType) -> bool:
        """Whether a text that is to be run may be the program's: it, or a line of it, occurs in a message of the
        program. False for a text that is in the tests themselves.

        Args:
            source: the text.
            by: the code that would run it.
        """
        # code that the library makes of names, as for a dataclass, is its own, even if the program has said such a line
        if (text := _text_of(source)) in self._own or not text or by.co_filename in _MAKING:
            return False
        # no tests hold code as bytes
        if self._size > _MOST_KEPT or not isinstance(source, str):
            return True
        said = [part for message in self._kept for part in _texts(json.loads(message))]
        self._kept.clear()
        self._said += map(_packed, said)
        lines = (_packed(line) for part in said for line in part.splitlines())
        self._lines += [line for line in lines if len(line) >= _LEAST_WITHIN and not line.isidentifier()]
        text = _packed(text)
        return any(text in part for part in self._said) or any(line in text for line in self._lines)

    @functools.cached_property
    def _constants(self) -> list[str]:
        """The texts that are literals in the tests. Docstrings and the messages of assertions are left out: they may
        name what the tests expect, as in `assert f(1) == expected, "expected"`.
        """
        import ast

        nodes = [*ast.walk(ast.parse(self._source))]
        told: list[ast.AST] = [node.msg for node in nodes if isinstance(node, ast.Assert) and node.msg is not None]
        told += [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = node.func.attr
                told += node.args[2:] if name.startswith("assert") else node.args if name == "fail" else []
                told += [keyword.value for keyword in node.keywords if keyword.arg in ("msg", "reason")]
        hidden = {id(part) for node in told for part in ast.walk(node)}
        constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in hidden)
        return [node.value for node in constants if isinstance(node.value, str)]

    @functools.cached_property
    def _own(self) -> set[str]:
        """The texts that are literals in the tests, and each line of them."""
        return {line.strip() for text in self._constants for line in (text, *text.splitlines())}

    @functools.cached_property
    def _words(self) -> set[str]:
        """The names in the tests' literals that are expressions, such as `a` and `b` in `"a + b"`. A text that tests
        evaluate may use them.
        """
        import ast

        # a text may end in an expression, as in `expected: a + b`
        parts = (part.strip() for text in self._constants for part in re.split(r"[\n:;=]", text))
        trees = filter(None, map(_parsed, parts))
        return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}

    def _names(self, caller: types.FrameType, spaces: tuple[Any, ...]) -> dict[str, object]:
        """The variables that an evaluated text may use: those passed to `eval`, and those of its caller that the tests'
        own literals name.

        Args:
            caller: the frame that calls `eval`.
            spaces: the dictionaries of variables that `eval` would use.
        """
        own = (caller.f_globals, caller.f_locals)
        given = [space for space in spaces if isinstance(space, dict) and not any(space is one for one in own)]
        visible = {name: value for space in own for name, value in space.items() if name in self._words}
        return {name: value for space in (visible, *given) for name, value in space.items()}


def _spaces(caller: types.FrameType, globals: Any = None, locals: Any = None) -> tuple[Any, ...]:
    """The dictionaries of variables that `eval` or `exec` uses: those passed to it, or else its caller's own."""
    if globals is None:
        return caller.f_globals, caller.f_locals if locals is None else locals
    return (globals,) if locals is None else (globals, locals)


def _text_of(source: Any) -> str:
    """The text that `eval` or `exec` would run, without white space around it; empty if the source is no text, such as
    compiled code. No method of a subclass of `str` is called, since it could answer anything.
    """
    if isinstance(source, str):
        return str.__str__(source).strip()
    is_bytes = isinstance(source, bytes | bytearray | memoryview)
    return bytes(memoryview(source)).decode(errors="replace").strip() if is_bytes else ""


def _packed(text: str) -> str:
    """A text without white space, in lower case: `returnx` for `Return x`."""
    return "".join(text.split()).lower()


def _texts(value: Any) -> Iterator[str]:
    """All texts in JSON data: `a` and `b` for `[1, "a", {"x": "b"}]`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _parsed(text: str) -> Any:
    """The syntax tree of a text that is an expression, such as `1 + 2`; None for any other text."""
    import ast

    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_expression(source: object, names: Mapping[str, object]) -> bool:
    """Whether a text only computes with numbers and texts, as `abs(x) + math.sqrt(4)` does if `names` has a number for
    `x`. True as well for a text that is no expression: `eval` raises for it.

    Args:
        source: the text.
        names: the variables that it may use.
    """
    import ast

    tree = _parsed(_text_of(source))
    if tree is None:
        # to run it raises
        return True
    kinds = tuple(getattr(ast, name) for name in _OF_EXPRESSIONS)

    def is_called(node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return isinstance(node.value, ast.Name) and node.value.id == "math" and node.attr[0] != "_"
        name = node.id if isinstance(node, ast.Name) else ""
        return name in _CALLED - names.keys() or getattr(names.get(name), "__module__", "") == "math"

    def is_data(node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return is_called(node.func) and not node.keywords and all(map(is_data, node.args))
        if isinstance(node, ast.Attribute):
            return is_called(node)
        if isinstance(node, ast.Name):
            return type(names.get(node.id)) in (bool, int, float, complex, str)
        return isinstance(node, kinds) and all(map(is_data, ast.iter_child_nodes(node)))

    return is_data(tree)


def call(payload: bytes) -> int:
    """Call one function of the program, for a test by a call. Leaves its result as the result of the jail, as `dump`
    writes it, and returns the exit code.

    Args:
        payload: JSON of `{"program", "name", "arguments"}`.
    """
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
    """The program's function `name`, or the method `name` of its class `Solution`. The method is taken before a
    function that the program has only imported.

    Raises:
        AttributeError: the program defines neither.
    """
    holder: Any = module
    kind = getattr(module, "Solution", None)
    is_own = getattr(getattr(module, name, None), "__module__", None) == module.__name__
    if kind is not None and (not hasattr(module, name) or (hasattr(kind, name) and not is_own)):
        holder = kind()
    if not hasattr(holder, name):
        raise AttributeError(f"the program defines no {name!r}")
    return getattr(holder, name)


def prepare(source: str, name: str) -> types.ModuleType:
    """Make the module of a program, still empty, and set its file, its arguments and its streams. `execute` then runs
    the program in it.
    """
    module = types.ModuleType(name)
    home = os.getcwd()
    module.__dict__.update(__file__=f"{home}/{_FILE}", __builtins__=builtins)
    sys.modules[name] = module
    sys.argv = [_FILE]
    sys.path = [home, *(entry for entry in sys.path if not entry.startswith(MODULES))]
    for stream, opened in _STREAMS.items():
        setattr(sys, stream, opened)
        setattr(sys, f"__{stream}__", opened)
    if len(source) > _MOST_PREPARED:
        # begun early: if the program is too large for its folder, that is its own failure
        begin()
    write(_FILE, source.encode(errors="surrogatepass"), 0o666)
    linecache.cache[module.__dict__["__file__"]] = (len(source), None, source.splitlines(True), _FILE)
    return module


def execute(source: str, module: types.ModuleType) -> None:
    """Run a program's source in the module that `prepare` has made."""
    begin()
    # a byte order mark, which Python passes over in a file
    text = source.removeprefix("\ufeff")
    code = compile(text, module.__dict__["__file__"], "exec", dont_inherit=True)
    _give_usual_names(code, module.__dict__)
    exec(code, module.__dict__)  # noqa: S102 - that is what this process is for


def _give_usual_names(code: types.CodeType, names: dict[str, Any]) -> None:
    """Import the modules and names that a program uses without importing them, such as `List` and `defaultdict`: the
    platform of its task imports them above each program.

    Args:
        code: the program.
        names: the program's variables, to which they are added.
    """
    used = {name for name in _names_in(code) if name not in _BUILT_IN}
    for name in used:
        if name in _MODULES:
            names[name] = importlib.import_module(name)
    for name in used:
        if name in _GIVEN:
            names.setdefault(name, getattr(importlib.import_module(_GIVEN[name]), name))


def _names_in(code: types.CodeType) -> set[str]:
    """The names that code uses, also within its functions: `{"f", "x"}` for `f(x)`."""
    used = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            used |= _names_in(constant)
    return used


def ended(run: Any) -> int:
    """Call `run`; returns the exit code with which the interpreter would end: 3 after `sys.exit(3)`, or 1 after any
    other exception, which is printed to stderr.
    """
    try:
        run()
    except SystemExit as exc:
        if (code := exc.code) is None or isinstance(code, int):
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
