"""The program's side of tests that carry code: it loads the program, and does what the tests' side asks of it.

Everything here runs in the program's own process, where it can be forged at will: what it says is the program's answer,
and nothing else follows from it.
"""

from __future__ import annotations

import builtins
import collections.abc
import functools
import io
import json
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

from agentscope_tuner._jail.inside import LINE
from agentscope_tuner.verify.code.inside import run_program
from agentscope_tuner.verify.code.inside.code_values import pack, unpack
from agentscope_tuner.verify.code.inside.line import JailLine, LineEndedError

_ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
)
_OTHERS = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "invert", "abs", "index")
_KEYED = ("getitem", "setitem", "delitem", "contains")
_FUNCTIONS = ("len", "iter", "next", "str", "repr", "hash", "bool", "int", "float", "round", "reversed", "divmod")
_OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (*_ARITHMETIC, *_OTHERS, *_KEYED)},
    **{name: getattr(builtins, name) for name in _FUNCTIONS},
    "enter": lambda one: type(one).__enter__(one),
    "exit": lambda one: type(one).__exit__(one, None, None, None),
}
# with the operands swapped
_OPERATORS |= {
    f"r{name}": lambda one, other, how=_OPERATORS[name]: how(other, one) for name in (*_ARITHMETIC, "divmod")
}


def serve(payload: bytes) -> int:
    """Load the program, and serve until the tests have ended."""
    asked = json.loads(payload)
    # its failure is the machine's, and nothing to tell the tests
    module = run_program.prepare(asked["program"], asked["name"])
    return run_program.ended(lambda: _Server(JailLine(LINE), module).run(asked["program"]))


class _Server:
    def __init__(self, line: JailLine, module: types.ModuleType) -> None:
        self._line = line
        self._kept: dict[int, object] = {}
        self._numbers: dict[int, int] = {}
        self._lent: dict[int, _Lent] = {}
        self._module = module

    def run(self, source: str) -> None:
        try:
            run_program.execute(source, self._module)
        except BaseException as exc:  # the tests are told why there is no program
            self._line.send(self._raised(exc))
            raise
        self._line.send({"ok": None})
        builtins.input = self._input
        while True:
            try:
                request = self._line.receive()
            except LineEndedError:
                return
            self._line.send(self._answer(request))

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        printed, real = io.StringIO(), sys.stdout
        sys.stdout = printed
        try:
            reply = self._do(request)
        except LineEndedError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the tests are told of it
            reply = self._raised(exc)
        finally:
            sys.stdout = real
        if text := printed.getvalue():
            reply["out"] = text
        return reply

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        do = request["do"]
        if do == "names":
            names = getattr(self._module, "__all__", None) or [name for name in vars(self._module) if name[0] != "_"]
            return {"ok": pack(list(names))}
        if do == "module":
            if not hasattr(self._module, request["name"]):
                return {"missing": True}
            return {"ok": self._pack(getattr(self._module, request["name"]))}
        if do == "method":
            return {"ok": self._pack(run_program.find(self._module, request["name"]))}
        if do == "patch":
            setattr(self._module, request["name"], self._unpack(request["value"]))
            return {"ok": None}
        one: Any = self._kept[request["h"]]
        if do == "attr":
            return {"ok": self._pack(getattr(one, request["name"]))}
        if do == "set":
            setattr(one, request["name"], self._unpack(request["value"]))
            return {"ok": None}
        before = request["args"]
        arguments = [self._unpack(part) for part in before]
        if do == "op":
            answer = _OPERATORS[request["op"]](one, *arguments)
        else:
            answer = one(*arguments, **{name: self._unpack(part) for name, part in request["named"].items()})
        return self._with_changes(answer, arguments, before)

    def _with_changes(self, answer: object, arguments: list[object], before: list[object]) -> dict[str, Any]:
        """The answer, and what the program made of the lists it was given."""
        after = [self._pack(one) if isinstance(one, list | dict | set) else None for one in arguments]
        changed = {str(at): new for at, new in enumerate(after) if new is not None and new != before[at]}
        reply: dict[str, Any] = {"changed": changed} if changed else {}
        for at, one in enumerate(arguments):
            if answer is one and isinstance(one, list | dict | set):
                return {**reply, "same": at}
        return {**reply, "ok": self._pack(answer)}

    def _raised(self, exc: BaseException) -> dict[str, Any]:
        try:
            arguments = pack(list(exc.args))
        except Exception:  # noqa: BLE001 - arguments that cannot travel are shown
            arguments = pack([str(part)[:1000] for part in exc.args])
        kind = type(exc)
        home = getattr(kind, "__module__", "")
        return {"raise": {"type": kind.__name__, "home": home, "class": self._class(kind), "args": arguments}}

    def _pack(self, value: object) -> object:
        return pack(value, self._handle)

    def _handle(self, value: object) -> object:
        if isinstance(value, _Lent):
            return {"g": value._number}
        kind = "class" if isinstance(value, type) else "function" if isinstance(value, _CALLABLES) else "object"
        told: dict[str, object] = {"id": self._keep(value), "kind": kind}
        if isinstance(value, type):
            told["class"] = self._class(value)
        else:
            told["class"] = self._class(type(value))
            told["name"] = str(getattr(value, "__name__", ""))
            told["next"] = isinstance(value, collections.abc.Iterator)
        return {"h": told}

    def _class(self, kind: type) -> dict[str, object]:
        bases = [self._class(base) for base in kind.__bases__ if base.__module__ == self._module.__name__]
        builtin = [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"]
        return {
            "id": self._keep(kind),
            "name": kind.__name__,
            "bases": bases,
            "builtin": builtin,
            "home": kind.__module__,
        }

    def _keep(self, value: object) -> int:
        number = self._numbers.setdefault(id(value), len(self._numbers) + 1)
        self._kept[number] = value
        return number

    def _unpack(self, value: object) -> Any:
        return unpack(value, self._taken)

    def _taken(self, value: Any) -> object:
        if "h" in value:
            return self._kept[value["h"]]
        number = value["g"]["id"]
        if number not in self._lent:
            self._lent[number] = (_LentIterable if value["g"]["iterable"] else _Lent)(self, number)
        return self._lent[number]

    def back(
        self, number: int, what: str, arguments: tuple[object, ...], named: dict[str, object] | None = None
    ) -> Any:
        """Ask the tests' side of an object of theirs."""
        packed = [self._pack(part) for part in arguments]
        told = {name: self._pack(part) for name, part in (named or {}).items()}
        self._line.send({"back": {"g": number, "what": what, "args": packed, "named": told}})
        # until it answers, the tests may ask more
        while "do" in (reply := self._line.receive()):
            self._line.send(self._answer(reply))
        if "stop" in reply:
            raise StopIteration
        if "raise" in reply:
            kind = getattr(builtins, str(reply["raise"]["type"]), Exception)
            raise (
                kind(*reply["raise"]["args"]) if issubclass(kind, BaseException) else Exception(reply["raise"]["args"])
            )
        return self._unpack(reply["re"])

    def _input(self, prompt: object = "", /) -> str:
        return str(self.back(0, "input", (str(prompt),)))


class _Lent:
    """An object of the tests, such as a function or a node that they hand to the program."""

    __slots__ = ("_number", "_server")

    def __init__(self, server: _Server, number: int) -> None:
        object.__setattr__(self, "_server", server)
        object.__setattr__(self, "_number", number)

    def __call__(self, *arguments: object, **named: object) -> Any:
        return self._server.back(self._number, "call", arguments, named)

    def __getattr__(self, name: str) -> Any:
        return self._server.back(self._number, "attr", (name,))

    def __setattr__(self, name: str, value: object) -> None:
        self._server.back(self._number, "set", (name, value))


class _LentIterable(_Lent):
    __slots__ = ()

    def __iter__(self) -> Any:
        return self._server.back(self._number, "iter", ())

    def __next__(self) -> Any:
        return self._server.back(self._number, "next", ())

    def __getitem__(self, key: object) -> Any:
        return self._server.back(self._number, "getitem", (key,))

    def __len__(self) -> int:
        return int(self._server.back(self._number, "len", ()))


_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)
