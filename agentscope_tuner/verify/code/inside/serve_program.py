"""The program's side of tests that carry code: loads the program, and answers the questions of the tests' process.

There are two processes, each in its own jail. The tests run in one (`run_tests`, `remote`), the program in the other,
where this module runs. For `assert solve(2) == [4]`, the tests' process asks this one to call `solve` with 2, receives
`[4]` as JSON, and compares it there.

The program can change anything in its own process, this module as well. So whatever this process sends counts as the
program's answer and as nothing more: it never sends a verdict on a test.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import contextlib
import copy
import functools
import importlib
import io
import itertools
import json
import math
import operator
import os
import random
import sys
import threading
import types
import warnings
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from agentscope_tuner._jail.inside import LINE
from agentscope_tuner.verify.code.inside import code_values, run_program
from agentscope_tuner.verify.code.inside.code_values import MUTABLE, PLAIN_KINDS, JailLine, LineEndedError, pack, unpack
from agentscope_tuner.verify.code.inside.event_loops import CANCELLED, ProgramLoops, whole
from agentscope_tuner.verify.code.inside.shared import MOST_AT_ONCE, Conversations, SharedContainers, SharedFiles

_ARITHMETIC = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
    *("lshift", "rshift", "and_", "or_", "xor"),
)
_OTHERS = ("eq", "ne", "neg", "pos", "invert", "abs", "index")
_KEYED = ("getitem", "setitem", "delitem", "contains")
_ROUNDING = ("floor", "ceil", "trunc")
_FUNCTIONS = (
    *("len", "iter", "next", "str", "repr", "hash", "bool"),
    *("int", "float", "complex", "bytes", "round", "reversed", "divmod", "format"),
)


def _or_undone(name: str) -> Callable[[Any, Any], Any]:
    """The function for an operator, such as `add`. If the program's `__add__` returns NotImplemented, the function
    returns that in place of raising a TypeError: a test may call `one.__add__(2)` by name and check the result.
    """
    plain, method = getattr(operator, name), f"__{name.rstrip('_')}__"

    def operate(one: Any, other: Any) -> Any:
        try:
            return plain(one, other)
        except TypeError as exc:
            # no further frames: not the program's code raised it, but Python, since the operator is not defined
            is_undone = exc.__traceback__ is not None and exc.__traceback__.tb_next is None
            if is_undone and any(method in vars(kind) for kind in type(one).__mro__):
                with contextlib.suppress(Exception):
                    if getattr(type(one), method)(one, other) is NotImplemented:
                        return NotImplemented
            raise

    return operate


_OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (*_OTHERS, *_KEYED)},
    **{name: _or_undone(name) for name in (*_ARITHMETIC, "lt", "le", "gt", "ge")},
    **{name: getattr(builtins, name) for name in (*_FUNCTIONS, "pow")},
    **{name: getattr(math, name) for name in _ROUNDING},
    **{f"i{name}": getattr(operator, f"i{name.rstrip('_')}") for name in _ARITHMETIC},
    "enter": lambda one: type(one).__enter__(one),
    "exit": lambda one, *raised: type(one).__exit__(one, *_error(*raised)),
    "aenter": lambda one: whole(type(one).__aenter__(one)),
    "aexit": lambda one, *raised: whole(type(one).__aexit__(one, *_error(*raised))),
    "aiter": lambda one: type(one).__aiter__(one),
    "anext": lambda one: _next(one),
    "isinstance": lambda kind, one: isinstance(one, kind),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "vars": vars,
    "views": lambda one: _views(one),
    "state": lambda one: _state(one),
    "items": lambda one: _items(one),
    "inside": lambda one: _inside(one),
    "content": lambda one: _content(one),
    "signature": code_values.signature_told,
    "annotations": lambda one: {name: code_values.hint_told(part) for name, part in one.__annotations__.items()},
    "dir": dir,
    "send": lambda one, value: one.send(value),
    "throw": lambda one, *raised: one.throw(_error(*raised)[1]),
    "close": lambda one: one.close(),
}
# with the operands swapped
_OPERATORS |= {
    f"r{name}": lambda one, other, how=how: how(other, one)
    for name, how in [*((name, getattr(operator, name)) for name in _ARITHMETIC), ("divmod", divmod)]
}


_MOST_CAUSES = 3
_MOST_VIEWED = 10_000


def _error(name: str = "", arguments: list[object] | None = None) -> tuple[Any, Any, None]:
    """The arguments of `__exit__` for an exception that a test raised in `with program_object:`: type, exception, and
    None for the traceback. Three times None if the test raised nothing.

    Args:
        name: of the built-in class of the exception, such as `ValueError`.
        arguments: of the exception.
    """
    if not name:
        return None, None, None
    kind = getattr(builtins, name, Exception)
    try:
        error = kind(*(arguments or []))
    except TypeError:
        error = Exception(*(arguments or []))
    return type(error), error, None


def _views(one: Any) -> list[object]:
    """The plain data that an object of the program may represent: the values of its attributes, its text, its number,
    and its items. The tests' process asks for it before it sends what the object is compared with.
    """
    kind, views = type(one), [*_held(one).values()]
    for name, how in (("__str__", str), ("__int__", int), ("__float__", float)):
        if getattr(kind, name, None) not in (None, getattr(object, name, None)):
            views.append(how(one))
    if hasattr(kind, "__iter__") and not hasattr(kind, "__next__"):
        views.append(dict(one) if hasattr(kind, "keys") else [*itertools.islice(one, _MOST_VIEWED)])
    return [part for view in views for part in _as_plain(view)]


_DEEPEST = 5


def _state(one: Any, depth: int = _DEEPEST) -> object:
    """The attributes of an object as data: `{"x": 1, "y": 2}` for `Point(1, 2)`.

    An object within it becomes `{"": attributes}`. Anything else that is no plain data, such as a function, becomes the
    name of its class.
    """
    if isinstance(one, (*_CALLABLES, type)) or depth == 0:
        return type(one).__name__
    if plain := _as_plain(one):
        return plain[0]
    if isinstance(one, list | tuple | set | frozenset | dict):
        parts = [*one.items()] if isinstance(one, dict) else [*one]
        return [_state(part, depth - 1) for part in parts]
    # Python's own attributes, such as `__orig_class__`, do not belong to the state
    own = {str(name): part for name, part in _held(one).items() if not str(name).startswith("__")}
    told = {name: _state(part, depth - 1) for name, part in own.items()}
    return told if depth == _DEEPEST else {"": told}


def _held(one: Any) -> dict[Any, Any]:
    """The attributes of an object itself, by name, also those in `__slots__`: `{"x": 1}` after `one.x = 1`."""
    names = {name for kind in type(one).__mro__ for name in _slots(kind) if hasattr(one, name)}
    return {name: getattr(one, name) for name in names} | getattr(one, "__dict__", {})


def _slots(kind: type) -> list[str]:
    """The names in the `__slots__` of a class."""
    slots = vars(kind).get("__slots__", ())
    return [slots] if isinstance(slots, str) else [*slots]


def _as_plain(value: object) -> Any:
    """A copy of plain data, alone in a list: `[5]` for 5. An empty list for an object that is no plain data."""
    try:
        return unpack(pack([value]))
    except Exception:  # noqa: BLE001 - no data, or the program's own doing
        return []


def _items(one: Any) -> list[object] | tuple[object, ...] | None:
    """All items of an object that has a length, as a list; the keys of a mapping, as a tuple. None if it has no length,
    or if its items cannot be read.
    """
    kind = type(one)
    if not hasattr(kind, "__len__"):
        return None
    if hasattr(kind, "__iter__"):
        return (*one,) if hasattr(kind, "keys") else [*one]
    try:
        return [*one] if hasattr(kind, "__getitem__") else None
    except Exception:  # noqa: BLE001 - keys that it does not say
        return None


_WRAPPERS: tuple[tuple[Any, Callable[[Any], object]], ...] = (
    (collections.abc.Mapping, dict),
    (types.MappingProxyType, dict),
    (collections.abc.Set, set),
    (collections.UserList, list),
    (collections.UserString, str),
)


def _content(one: Any) -> object:
    """The data in an object of a program's class that inherits `==` from a standard class: `[1]` for an object of
    `class Row(UserList)` with that item. None for any other object.
    """
    for kind, how in _WRAPPERS:
        if isinstance(one, kind) and type(one).__eq__ is kind.__eq__:
            return how(one)
    return None


def _inside(one: Any) -> list[object] | None:
    """The parts of an object, at any depth, for which `part in one` is true. None if the object's items can be read by
    iteration or index, or if its class has no `__contains__`.

    The tests' process asks for it before it sends what a test looks for, as in `assert 4 in answer`.
    """
    kind = type(one)
    if not hasattr(kind, "__contains__") or hasattr(kind, "__iter__") or hasattr(kind, "__getitem__"):
        return None
    # as keys of a dictionary, so that each part is there once
    held, parts = dict[Any, bool](), [one]
    for _ in range(_MOST_VIEWED):
        if not parts:
            break
        part = parts.pop()
        # a part that has no hash, or that the class cannot compare, is left out
        with contextlib.suppress(Exception):
            if part in held:
                continue
            held[part] = False
            held[part] = part in one
        if isinstance(part, list | tuple | set | frozenset | dict | collections.deque):
            parts += [*part, *part.values()] if isinstance(part, dict) else part
        elif not isinstance(part, (*_CALLABLES, type, types.ModuleType)):
            parts += _held(part).values()
    return [part for part, is_in in held.items() if is_in]


def _fields(kind: type) -> list[list[object]]:
    """The fields of a dataclass, without class variables: for each its name, whether a call of the class sets it, and
    whether `==` compares it. `[["x", True, True]]` for a dataclass with the line `x: int`; empty for any other class.
    """
    # in a class that a test derives from a dataclass, they may be objects of the tests, which are left out
    own = [one for one in getattr(kind, "__dataclass_fields__", {}).values() if not isinstance(one, _Lent)]
    return [[one.name, one.init, one.compare] for one in own if str(one._field_type) == "_FIELD"]


def _tell_logs(logged: list[list[object]]) -> None:
    """Add all that the program logs from now on to the list `logged`. It travels with the next reply; the tests'
    process decides by its own levels which records count.
    """
    import logging

    class Teller(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            own = logging.getLogger(record.name).level if record.name != "root" else 0
            logged.append([record.name, record.levelno, record.getMessage(), own])

    logging.getLogger().addHandler(Teller())
    logging.getLogger().setLevel(1)


async def _next(one: Any) -> tuple[object, ...]:
    """The next item of an asynchronous iterator, alone in a tuple; an empty tuple at its end."""
    try:
        return (await type(one).__anext__(one),)
    except StopAsyncIteration:
        return ()


def serve(payload: bytes) -> int:
    """The entry point of the program's jail: load the program and answer the tests' questions until the tests have
    ended.

    Returns the exit code.

    Args:
        payload: JSON of `{"program", "name"}`: the source, and the name of its module.
    """
    asked = json.loads(payload)
    # outside of `ended`: if this fails, the machine has failed, and not the program
    module = run_program.prepare(asked["program"], asked["name"])
    code_values.ask_in_protocols(_Lent)
    return run_program.ended(lambda: _Server(JailLine(LINE), module).run(asked["program"]))


class _Server:
    """The program's process in the conversation with the tests' process: keeps the program's objects by number, and
    does what the tests ask of them, such as to call object 3 with the argument 2.

    An object that the tests pass to the program, such as a function, stays in their process. The program gets a `_Lent`
    in its place.
    """

    def __init__(self, line: JailLine, module: types.ModuleType) -> None:
        self._kept: dict[int, object] = {}
        self._numbers: dict[int, int] = {}
        # descriptions of classes: the tests' process reads only the first one of each class
        self._class_told: dict[int, dict[str, object]] = {}
        self._lent: dict[int, Any] = {}
        self._lent_numbers: dict[int, int] = {}
        self._shared = SharedContainers(self._pack, self._unpack, 2, self._own_handle)
        # exceptions that the tests' code raised when the program called it
        self._errors: dict[int, tuple[BaseException, int]] = {}
        # and their classes
        self._error_classes: dict[int, type] = {}
        self._lent_classes: dict[type, int] = {}
        self._before: dict[tuple[int, str], object] = {}
        self._real: dict[str, object] = {}
        self._warned: list[list[object]] = []
        self._logged: list[list[object]] = []
        self._files: SharedFiles | None = None
        self._module = module
        self._talk = Conversations(line, self._shared, "program ", self._help)
        self._helpers = 0
        self._loops = ProgramLoops()
        self._printed, self._wrong = _Printed(), _Printed()

    def run(self, source: str) -> None:
        """Load the program and report this to the tests' process. Then answer its questions until the tests
        have ended.
        """
        self._source = source
        try:
            run_program.execute(source, self._module)
        except BaseException as exc:  # the tests are told why there is no program
            self._send(self._raised(exc))
            raise
        kinds = {name: one for name, one in [*vars(self._module).items()] if isinstance(one, type)}
        renamed = [one.__name__ for name, one in kinds.items() if one.__module__ == "builtins" and name != one.__name__]
        self._send({"ok": renamed})
        builtins.input = self._input
        sys.stdin = _TestsInput(self)
        warnings.simplefilter("always")
        warnings.showwarning = self._show_warning
        self._answer_all()

    def _help(self) -> None:
        """Start one more thread that answers questions, because all others wait for the tests' process."""
        self._helpers += 1
        if self._helpers < MOST_AT_ONCE:
            threading.Thread(target=self._answer_all, daemon=True).start()

    def _answer_all(self) -> None:
        """Answer the questions of the tests' process until the tests have ended."""
        while True:
            try:
                request = self._talk.receive_any()
            except LineEndedError:
                return
            with self._talk.within(request["in"]):
                reply = self._answer(request)
            self._send(reply, request["in"])

    def _send(self, message: dict[str, Any], name: str | None = None) -> None:
        """Send a message. If it holds a value that cannot be sent, send the exception that says so."""
        try:
            self._talk.send(message, name)
        except Exception as exc:  # noqa: BLE001 - what cannot travel is told
            self._talk.send(self._raised(exc), name)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to one question. It also holds what the program has printed, warned of, logged and written to files
        meanwhile.
        """
        sys.stdout, sys.stderr = self._printed, self._wrong
        try:
            self._patch(request.get("patched", {}), request.get("variables", {}))
            self._enter(request)
            reply = self._do_in_loop(request, request.get("loop"))
        except LineEndedError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the tests are told of it
            reply = self._raised(exc)
        for stream, kept in (("out", self._printed), ("err", self._wrong)):
            if text := kept.taken():
                reply[stream] = text
        for name, told in (("warned", self._warned), ("logged", self._logged)):
            if told:
                reply[name] = [*told]
                told.clear()
        if self._files is not None and (files := self._files.changes()):
            reply["files"] = files
        return reply

    def _show_warning(self, message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
        self._warned.append([self._class(category), str(message)])

    def _patch(self, patched: dict[str, object], variables: dict[str, str | None]) -> None:
        """Replace standard functions by the tests' own, as after `patch("time.sleep", fake)` in a test, and set
        environment variables.

        Args:
            patched: by path, such as `time.sleep`: the replacement as JSON; None puts the real function back.
            variables: environment variables and their values; None removes one.
        """
        os.environ.update({name: value for name, value in variables.items() if value is not None})
        for name in (name for name, value in variables.items() if value is None):
            os.environ.pop(name, None)
        for path, value in patched.items():
            home, _, name = path.rpartition(".")
            module = importlib.import_module(home)
            self._real.setdefault(path, getattr(module, name))
            setattr(module, name, self._real[path] if value is None else self._unpack(value))

    def _enter(self, request: dict[str, Any]) -> None:
        """Take over the files, the working folder and `sys.argv` from the tests' process, as far as the tests have
        changed them.
        """
        if "files" in request and self._files is not None:
            self._files.take(request["files"])
        if "folder" in request:
            os.chdir(request["folder"])
        if "argv" in request:
            sys.argv[:] = request["argv"]

    def _do_in_loop(self, request: dict[str, Any], loop: int | None) -> dict[str, Any]:
        """Do what the tests ask. If their code runs in an event loop, the program's event loop behind that loop counts
        as running.
        """
        reply: dict[str, Any] = {"ok": None}
        match request["do"]:
            case "end":
                self._loops.end(request["ended"])
                return reply
            case "await":
                reply["ok"] = self._pack(self._loops.wait(loop or 0, request["waiting"], self._kept[request["h"]]))
            case "cancel":
                self._loops.cancel(request["waiting"])
            case "turn":
                self._loops.step(loop or 0)
            case _:
                with self._loops.within(loop):
                    reply = self._do(request)
        return reply | ({"busy": True} if loop is not None and self._loops.is_busy(loop) else {})

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what the tests ask, such as to call `solve(2)`. Gives `{"ok": answer}`, or `{"missing": True}` if the
        program does not define the name.
        """
        if (do := request["do"]) == "names":
            names = getattr(self._module, "__all__", None) or [name for name in vars(self._module) if name[0] != "_"]
            return {"ok": pack(list(names))}
        if do == "module":
            if not hasattr(self._module, request["name"]):
                return {"missing": True}
            return {"ok": self._pack(getattr(self._module, request["name"]))}
        if do == "method":
            return {"ok": self._pack(run_program.find(self._module, request["name"]))}
        if do in ("patch", "unpatch"):
            return self._change(do == "patch", self._module, request)
        if do == "provide":
            self._provide(files=request["files"], logs=request["logs"])
            return {"ok": None}
        if do in ("threads", "reload"):
            self._talk.read_on() if do == "threads" else run_program.execute(self._source, self._module)
            return {"ok": None}
        if do == "states":
            return {"ok": pack([_state(self._kept[number]) for number in request["of"]])}
        if do in ("seed", "setrecursionlimit", "getstate", "setstate"):
            change: Any = getattr(sys if do == "setrecursionlimit" else random, do)
            return {"ok": self._pack(change(*map(self._unpack, request.get("args", ()))))}
        if do == "class":
            return {"ok": self._keep(self._derived(request))}
        one: Any = self._kept[request["h"]]
        if do == "above":
            return {"ok": self._pack(getattr(super(self._kept[request["class"]], one), request["name"]))}
        if do == "attr":
            return {"ok": self._pack(getattr(one, request["name"]))}
        if do in ("set", "delete"):
            return self._change(do == "set", one, request)
        arguments = [self._unpack(part) for part in request["args"]]
        if do == "op":
            answer = _OPERATORS[request["op"]](one, *arguments)
        else:
            answer = one(*arguments, **{name: self._unpack(part) for name, part in request["named"].items()})
        return {"ok": self._pack(answer)}

    def _provide(self, *, files: bool, logs: bool) -> None:
        if files:
            self._files = SharedFiles()
        if logs:
            _tell_logs(self._logged)

    def _change(self, sets: bool, one: Any, request: dict[str, Any]) -> dict[str, Any]:
        """Set an attribute, or delete it. If a test has replaced an attribute of the module or of a class, as by
        `patch("main.helper", fake)`, to delete it ends that replacement: the program's own value comes back.

        Args:
            sets: whether to set the attribute; False deletes it.
            one: the object, class or module.
            request: the question, with `name` and `value`.
        """
        name, holds = request["name"], isinstance(one, type | types.ModuleType)
        if sets:
            if holds and name in vars(one):
                self._before.setdefault((id(one), name), vars(one)[name])
            value = self._unpack(request["value"])
            setattr(one, name, _method(value) if isinstance(one, type) else value)
        elif (id(one), name) in self._before:
            setattr(one, name, self._before.pop((id(one), name)))
        else:
            delattr(one, name)
        return {"ok": None}

    def _derived(self, request: dict[str, Any]) -> type:
        """Make the class for `class Mine(Point)` in a test, where `Point` is the program's. The methods in it are the
        tests' own: a call of one goes to the tests' process.
        """
        space = {name: _method(self._unpack(part)) for name, part in request["space"].items()}
        space["__module__"] = self._module.__name__
        more = {name: self._unpack(part) for name, part in request["more"].items()}
        bases = tuple(map(self._unpack, request["bases"]))
        made = types.new_class(request["name"], bases, more, lambda own: own.update(space))
        # the tests know the class by their own number
        self._lent_classes[made] = request["own"]
        return made

    def _raised(self, exc: BaseException, depth: int = _MOST_CAUSES) -> dict[str, Any]:
        """The reply that reports an exception to the tests' process: one of the program, or one that the tests' own
        code raised when the program called it.
        """
        if id(exc) in self._errors:
            return {"raise": {"back": self._errors[id(exc)][1], "notes": [*map(str, getattr(exc, "__notes__", ()))]}}
        try:
            arguments = pack(list(exc.args), self._handle)
        except Exception:  # noqa: BLE001 - arguments that cannot travel are shown
            arguments = pack([str(part)[:1000] for part in exc.args])
        kind = type(exc)
        told = {"id": self._keep(exc), "type": kind.__name__, "home": getattr(kind, "__module__", "")}
        told |= {"class": self._class(kind), "args": arguments, "notes": [*map(str, getattr(exc, "__notes__", ()))]}
        if isinstance(kind.__str__, types.FunctionType):
            told["words"] = str(exc)
        told["alone"] = exc.__suppress_context__
        if exc.__cause__ is not None and depth:
            told["cause"] = self._raised(exc.__cause__, depth - 1)["raise"]
        return {"raise": {**told, "attributes": {name: self._pack(one) for name, one in vars(exc).items()}}}

    def _pack(self, value: object) -> object:
        return pack(value, self._handle, share=self._shared.share, owns=self._owns)

    def _owns(self, kind: type) -> bool:
        """Whether a class is the program's own: true of `Point`, which the program defines, false of `dict`."""
        return kind.__module__ == self._module.__name__

    def _own_handle(self, value: object) -> object:
        """JSON of an object whose class the program itself defines: its number and class. None for any other object."""
        return self._object(value) if self._owns(type(value)) else None

    def _handle(self, value: object) -> object:
        """JSON of a value that is no plain data, such as an object of the program: its number. An object of the tests
        goes back to them by the number that they have given it.
        """
        if id(value) in self._lent_numbers:
            return {"g": self._lent_numbers[id(value)]}
        if isinstance(value, BaseException):
            return {"e": self._raised(value)["raise"]}
        if type(value) is types.GenericAlias:
            return {"ga": [self._pack(value.__origin__), self._pack(value.__args__)]}
        if (standard := code_values.pack_standard(value)) is not None:
            return standard
        return self._shared.share(value) if isinstance(value, MUTABLE) else self._object(value)

    def _object(self, value: object) -> dict[str, object]:
        """JSON of an object of the program that stays in the program's process: its number, its kind (such as
        `function`), and its class. The tests' process makes a stand-in of it.
        """
        kind = "class" if isinstance(value, type) else "function" if isinstance(value, _CALLABLES) else "object"
        kind = "coroutine" if isinstance(value, types.CoroutineType) else kind
        kind = "generator" if isinstance(value, types.GeneratorType) else kind
        told: dict[str, object] = {"id": self._keep(value), "kind": kind}
        if isinstance(value, type):
            told["class"] = self._class(value)
        else:
            told["class"] = self._class(type(value))
            if isinstance(value, PLAIN_KINDS) and not isinstance(value, MUTABLE):
                told["data"] = pack(value, self._handle, is_plain=True, share=self._shared.share, owns=self._owns)
            if kind == "function":
                told["name"], told["doc"] = str(getattr(value, "__name__", "")), value.__doc__
                told["binds"] = isinstance(value, types.FunctionType)
                told["async"] = _is_async(value)
        return {"h": told}

    def _class(self, kind: type) -> dict[str, object]:
        """JSON of a class: the tests' number if the class was made for a test, otherwise its description."""
        if kind in self._lent_classes:
            return {"own": self._lent_classes[kind]}
        if id(kind) not in self._class_told:
            self._class_told[id(kind)] = self._described(kind)
        return self._class_told[id(kind)]

    def _described(self, kind: type) -> dict[str, object]:
        """JSON that describes one of the program's classes: its name, bases, fields and so on.

        From it the tests' process makes a class whose objects stand for those of the program.
        """
        bases = [self._class(base) for base in kind.__bases__ if base.__module__ == self._module.__name__]
        builtin = [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins" or base in PLAIN_KINDS]
        plain = next((base for base in PLAIN_KINDS if issubclass(kind, base)), object)
        above = kind.__mro__[: kind.__mro__.index(plain)]
        fields = getattr(kind, "_fields", ()) if issubclass(kind, tuple) else ()
        return {
            "id": self._keep(kind),
            "fields": [str(name) for name in fields],
            "data": _fields(kind),
            "known": [base.__name__ for base in kind.__mro__ if base.__module__ in ("collections.abc", "enum")],
            "next": issubclass(kind, collections.abc.Iterator),
            "awaits": hasattr(kind, "__await__"),
            "gets": hasattr(kind, "__get__"),
            "name": kind.__name__,
            "bases": bases,
            "builtin": builtin,
            # what it and its bases define beyond the built-in class of plain data that they are built on
            "over": [] if plain is object else sorted({name for base in above for name in vars(base)}),
            "home": kind.__module__,
            "doc": kind.__doc__ if isinstance(kind.__doc__, str) else None,
        }

    def _keep(self, value: object) -> int:
        """The number of an object, by which the tests' process can ask for it. The object is kept from now on."""
        number = self._numbers.setdefault(id(value), len(self._numbers) + 1)
        self._kept[number] = value
        return number

    def _unpack(self, value: object) -> Any:
        return unpack(value, self._taken)

    def _taken(self, value: Any) -> object:
        """The value in the program's process for JSON of an object that is no plain data: the program's own object of
        that number, or a `_Lent` for an object of the tests.
        """
        if "h" in value:
            return self._kept[value["h"]]
        if "m" in value:
            return self._shared[value["m"]]
        if "n" in value:
            name, *fields = value["n"]["names"]
            return _named(name, *fields)(*map(self._unpack, value["n"]["items"]))
        if "ty" in value:
            home, name = value["ty"]
            return getattr(importlib.import_module(home), name)
        if "st" in value:
            return code_values.unpack_standard(value)
        if "e" in value:
            return self._of_tests(value["e"])
        if "in" in value:
            name, *parts = value["in"]
            return getattr(builtins, name)(*(_method(self._unpack(part)) for part in parts))
        if "ec" in value:
            told = value["ec"]
            made = type(told["name"], (getattr(builtins, told["base"]),), {})
            kind = self._error_classes.setdefault(told["id"], made)
            self._lent_classes[kind] = told["id"]
            return kind
        told = value["g"]
        if told["id"] not in self._lent:
            known = getattr(self._module, told.get("kind", ""), types.FunctionType if told.get("binds") else None)
            one = _lent_class(known, *told["has"])(self, told["id"])
            for name in told.keys() & _OF_LENT.keys():
                object.__setattr__(one, _OF_LENT[name], told[name])
            self._lent[told["id"]] = _as_coroutine(one, told["async"]) if "async" in told else one
            self._lent_numbers[id(self._lent[told["id"]])] = told["id"]
        return self._lent[told["id"]]

    def back(
        self, number: int, what: str, arguments: tuple[object, ...], named: dict[str, object] | None = None
    ) -> Any:
        """Ask the tests' process about an object of the tests, such as to call their function; returns the answer.
        Raises what the tests' object raises.

        Args:
            number: of the tests' object.
            what: the operation, such as `call` or `attr`.
            arguments: of the operation.
            named: its arguments by name.
        """
        with self._talk.lock:
            packed = [self._pack(part) for part in arguments]
            told = {name: self._pack(part) for name, part in (named or {}).items()}
            self._send({"back": {"g": number, "what": what, "args": packed, "named": told}})
        # before the tests' process answers, it may ask something itself
        while "do" in (reply := self._talk.receive()):
            self._send(self._answer(reply))
        if "stop" in reply:
            raise StopIteration
        if "raise" in reply:
            raise self._of_tests(reply["raise"])
        return self._unpack(reply["re"])

    def _of_tests(self, told: dict[str, Any]) -> BaseException:
        """The exception in the program's process for one that the tests' own code raised when the program
        called it.
        """
        try:
            error: BaseException = self._unpack(told["class"])(*told["args"])
        except Exception:  # noqa: BLE001 - a class that takes other arguments than its `args`
            error = getattr(builtins, told["type"])(*told["args"])
        self._errors[id(error)] = (error, told["error"])
        return error

    def _input(self, prompt: object = "", /) -> str:
        """Replaces `input` for the program. It calls `input` in the tests' process, where a test may have replaced it,
        as by `patch("builtins.input", return_value="5")`.
        """
        return str(self.back(0, "input", (str(prompt),)))


class _Printed(io.TextIOWrapper):
    """The program's `sys.stdout` or `sys.stderr`: keeps what is printed until the next reply takes it to the tests'
    process.
    """

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), "utf-8", "surrogatepass", newline="", write_through=True)

    def taken(self) -> str:
        """The text that the program has printed since the last call of this method."""
        self.flush()
        kept: Any = self.buffer
        text: str = kept.getvalue().decode(errors="surrogatepass")
        kept.seek(0)
        kept.truncate()
        return text


class _TestsInput(io.TextIOBase):
    """The program's `sys.stdin`: reads from `sys.stdin` of the tests' process, which a test may have replaced by
    `StringIO("5")`.
    """

    def __init__(self, server: _Server) -> None:
        self._server = server
        self._rest = io.BytesIO()

    @property
    def buffer(self) -> io.BytesIO:
        if self._rest.tell() == len(self._rest.getbuffer()):
            self._rest = io.BytesIO(self.read().encode())
        return self._rest

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> str:
        return str(self._server.back(0, "stdin", ("read", -1 if size is None else size)))

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return str(self._server.back(0, "stdin", ("readline", size)))


@functools.cache
def _named(name: str, *fields: str) -> Any:
    """A class of named tuples with these fields, for a named tuple that a test passes to the program."""
    return collections.namedtuple(name, fields, rename=True)


# The keys by which the tests' process describes its function, and the attributes of `_Lent` that they become
_OF_LENT = {"name": "__name__", "path": "__qualname__", "home": "__module__", "doc": "__doc__"}
_OF_LENT |= {"binds": "_binds", "flags": "_flags"}


class _Lent:
    """The program's side of an object of the tests, such as the function in `solve(key=by_size)`.

    The object itself stays in the tests' process, where the program cannot look into it. A call, or any other use,
    becomes a question to that process.
    """

    _binds, _flags = False, 0

    def __init__(self, server: _Server, number: int) -> None:
        object.__setattr__(self, "_server", server)
        object.__setattr__(self, "_number", number)

    def __call__(self, *arguments: object, **named: object) -> Any:
        return self._server.back(self._number, "call", arguments, named)

    def __getattr__(self, name: str) -> Any:
        return self._server.back(self._number, "attr", (name,))

    def __setattr__(self, name: str, value: object) -> None:
        self._server.back(self._number, "set", (name, value))

    def __instancecheck__(self, other: object) -> Any:
        return self._server.back(self._number, "isinstance", (other,))

    @property
    def __signature__(self) -> Any:
        return code_values.signature(self._server.back(self._number, "signature", ()))

    @property
    def __annotations__(self) -> dict[str, object]:  # type: ignore[override]
        told = self._server.back(self._number, "annotations", ())
        return {name: code_values.hint(part) for name, part in told.items()}

    @property
    def __code__(self) -> types.SimpleNamespace:
        """The part of a function's code that decorators read: how many arguments it takes, and their names."""
        parameters = self.__signature__.parameters.values()
        taken = [part.name for part in parameters if part.kind <= part.POSITIONAL_OR_KEYWORD]
        told = {"co_argcount": len(taken), "co_varnames": (*taken,), "co_flags": self._flags}
        return _LentCode(**told, refuse=partial(self.__getattr__, "__code__"))

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return self.__getattr__("__dict__")


class _LentCode(types.SimpleNamespace):
    """What the program gets as `__code__` of a function of the tests: only the few attributes that it may read.

    Any other attribute calls `refuse`, which raises.
    """

    def __getattr__(self, name: str) -> Any:
        return self.refuse()


def _method(value: Any) -> Any:
    """A function of the tests as a function that becomes a method when it is put into a class; any other value
    unchanged.
    """
    if not isinstance(value, _Lent) or not value._binds:
        return value
    return lambda *arguments, **named: value(*arguments, **named)


def _as_coroutine(one: _Lent, kind: str) -> Any:
    """A coroutine of the tests, or a function that makes them, as an object that `inspect` and `asyncio` recognize as
    such.

    Args:
        one: the tests' object.
        kind: `wait` for a coroutine, `call` for a function that makes coroutines.
    """
    if kind == "wait":
        return whole(one)

    async def call(*arguments: object, **named: object) -> Any:
        return await one(*arguments, **named)

    call.__name__ = call.__qualname__ = one.__name__
    call.__doc__ = one.__doc__
    return call


@functools.cache
def _lent_class(kind: object, *has: str) -> type[_Lent]:
    """The class of `_Lent` objects that have these operators.

    Args:
        kind: the class that such an object gives as its `__class__`: one that both the tests and the program define, or
            that of functions. Anything that is no class is ignored.
        has: the operators, such as `len`.
    """
    own = {"__class__": property(lambda self: kind)} if isinstance(kind, type) else {}
    return type("_Lent", (_Lent,), {f"__{name}__": _asking(name) for name in has} | own)


def _asking(name: str) -> Callable[..., Any]:
    """The method for an operator of a tests' object, such as `__len__` for `len`: it asks the tests' process."""

    def ask(self: _Lent, *arguments: object) -> Any:
        if name in ("exit", "aexit"):
            arguments = ()
        return self._server.back(self._number, name, arguments)

    return _wait if name == "await" else ask


def _wait(self: _Lent) -> Generator[None, None, Any]:
    """Wait for an awaitable of the tests, as in `await callback()` in the program. The awaitable takes its steps in the
    tests' event loop; between them, other tasks of the program's loop run.
    """
    import asyncio

    number, steps = next(_waiting), self._server._loops.is_stepped()
    while not (found := self._server.back(self._number, "await", (number, steps))):
        try:
            yield
        except asyncio.CancelledError:
            self._server.back(self._number, "cancel", (number,))
    if found == CANCELLED:
        raise asyncio.CancelledError
    return found[0]


_waiting = itertools.count(1)


def _is_async(value: Any) -> bool:
    """Whether a function makes coroutines: true for one defined by `async def`."""
    # as `inspect` has it, which is slow to import
    code = getattr(value, "__code__", None)
    return isinstance(code, types.CodeType) and bool(code.co_flags & _COROUTINE)


_COROUTINE = 0x80
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
