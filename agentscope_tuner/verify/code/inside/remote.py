"""The tests' side of tests that carry code: sends the program, which runs in another process and jail, the tests'
questions.

`run_tests`, in the jail of the tests, makes one `Program` for each run. A call such as `solve(2)` in a test becomes a
message to the program's process, where `serve_program` answers it. Only calls and plain data travel. Any other object
stays in its own process: an object of the program is represented in a test by a stand-in (see `stand_ins`), and an
object of the tests is "lent", so the program gets a number by which it can use the object through questions to this
side.
"""

from __future__ import annotations

import builtins
import collections.abc
import contextlib
import dataclasses
import enum
import functools
import inspect
import itertools
import operator
import os
import random
import sys
import threading
import time
import types
import unittest
import warnings
from collections.abc import Callable, Generator
from typing import Any, cast

from agentscope_tuner.verify.code.inside import code_values
from agentscope_tuner.verify.code.inside.code_values import PLAIN_KINDS, JailLine, LineEndedError, pack, unpack
from agentscope_tuner.verify.code.inside.event_loops import CANCELLED, TestLoops
from agentscope_tuner.verify.code.inside.shared import ROOT, Conversations, FilesError, SharedContainers, SharedFiles
from agentscope_tuner.verify.code.inside.stand_ins import (
    VIEWS,
    CannotTravelError,
    Difference,
    LentDefault,
    LikeBuiltIn,
    NotComparableError,
    StandIn,
    StandInClass,
    StandInErrorClass,
    StandInFunction,
    StandInIterator,
    StandInMethod,
    StandInView,
    as_of_data,
    built_in,
    found_in_class,
    given_of,
    is_raised,
    named,
    new,
    number_of,
    of_data,
    otherwise,
    own_default,
    told_of,
)

_PLAIN = {kind.__name__: kind for kind in PLAIN_KINDS}
_NOT_RAISED = (KeyboardInterrupt, GeneratorExit, BaseException)
# Standard modules whose exceptions end or skip a test
_NOT_FROM = {"unittest", "bdb", "concurrent"}
# How often the program's event loop takes a step at once, and seconds between later steps
_QUICK_STEPS, _SLOW_STEP = 20, 0.002
# Abstract classes whose stand-ins pass `isinstance` if the program's class is built on them; others go by its methods
_ABSTRACT = {"Mapping", "MutableMapping", "Sequence", "MutableSequence", "Set", "MutableSet"}
_ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
_MOST_WITHHELD = 3
# How many of the program's latest answers have their state recorded before a test makes an object
_MOST_REFROZEN = 50
# Questions that only inform the program: its replies do not count as answers to a test
_TELLING = {"provide", "threads", "turn", "end", "states", "seed", "setrecursionlimit", "getstate", "setstate"}
# Operators that do not change an answer of the program
_COMPARING = {"eq", "ne", "state", "hash", "content"}
_BINDING = (property, classmethod, staticmethod)
# Objects of the tests that the program may only call: it may not read their attributes
_CALLED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, functools.partial)


_HOMES: list[tuple[str, Any, str]] = [
    ("builtins", builtins, "print open"),
    ("os", os, "getenv listdir"),
    ("os.path", os.path, "exists isfile isdir"),
    ("time", time, "time sleep monotonic perf_counter"),
    ("random", random, "random randint randrange choice choices shuffle sample uniform"),
]
#: Standard functions that a test may replace. The program's process then calls the test's own: module, name, real one.
PATCHABLE = {
    f"{home}.{name}": (module, name, getattr(module, name)) for home, module, names in _HOMES for name in names.split()
}
_PATCHABLE = [*PATCHABLE.items()]


def _is_enum(kind: Any, of: type) -> bool:
    """Whether the class `of` is built on `kind`, a class of the module enum such as `Enum`. For a class of the program,
    the names of enum classes that its process sent decide. Replaces Enum's own check of subclasses.
    """
    own = vars(of).get("_enums", ()) if isinstance(of, StandInClass) and kind.__module__ == "enum" else ()
    return type.__subclasscheck__(kind, of) or kind.__name__ in own


class _RandomState(tuple[object, ...]):
    """The result of `random.getstate()` in a test: the state of the random numbers in the tests' process and of those
    in the program's process. In one process, both would be one state.
    """

    of_program: object

    def __new__(cls, own: tuple[object, ...], of_program: object) -> Any:
        one = super().__new__(cls, own)
        # raises for a stand-in: the program's class would decide what it equals
        pack(of_program)
        one.of_program = of_program
        return one

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.of_program == getattr(other, "of_program", self.of_program)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


class ProgramError(Exception):
    """The program raised an exception whose class does not exist in the tests' process."""


class MissingError(AttributeError):
    """A test reads a name that the program does not define, such as `solve` in `from main import solve`."""


class _WithheldError(AttributeError):
    """The program asked to read or set an attribute of the tests' object that it may not see, since it could hold what
    the test expects. The program gets an AttributeError.
    """

    def __init__(self, how: str, name: str) -> None:
        super().__init__(f"the program may not {how} {name!r}", name=name)


class Program:
    """The program, as the tests' process sees it: sends it the tests' questions, such as the call `solve(2)`, and
    answers the questions that the program asks meanwhile about objects of the tests.

    Args:
        line: the connection to the program's process.

    Attributes:
        has_answered: whether the program has answered a question, raised as it was loaded, or ended. From then on, an
            error that ends a test counts as the program's failure, since the program may have caused it.
        questions: how many questions it was asked.
        answers: how many calls, operators and reads of attributes it has answered.
        calls: how many of its functions were called or attributes set; calls that only make an object do not count.
        is_used: whether the tests asked it for more than the value of a name.
        is_told: whether it was sent something that may be what a test expects, such as the `[4]` of `answer == [4]`.
        cannot_travel: what the tests do that works only with the program in their own process, in words; else empty.
        withheld: what the program or the tests asked for and were refused, in words.
        made: the objects that the tests have made of its classes, as by `Point(1, 2)`.
        known: classes that both the tests and the program define, by name, such as the `Node` of a prompt.
        replays: records its answers; None if nothing records them.
    """

    replays: Any = None
    # by number: objects that it answered since a test last made an object, and the latest ones before that
    _answers: dict[int, Any]
    # whether this question may pass it such objects; and how many questions may have changed them, until now and until
    # they were last recorded
    _hands = False
    _changes = _looked_at = 0
    # the number of calls when it was last sent something that an answer may be compared with
    _is_told_at = -1

    def __init__(self, line: JailLine) -> None:
        self._stand_ins, self._answers = dict[int, Any](), dict[int, Any]()
        self._classes: dict[int, type] = {}
        # the name of a class that a test reads now, and the classes whose names tests have read
        self._naming, self._named = "", set[type]()
        # built-in exception classes that the program gives a different name, and the classes that replace them here
        self._renamed, self._like = set[type](), dict[type, type]()
        self._lent: dict[int, object] = {}
        self._lent_numbers: dict[tuple[int, str], int] = {}
        self.has_answered = False
        self.is_used = False
        self.cannot_travel = ""
        self.withheld: dict[str, None] = {}
        self.made, self.known = list[Any](), dict[str, type]()
        # if so, the messages of its exceptions may contain what a test expects
        self.is_told = False
        self._returns = False
        self.questions = self.answers = self.calls = 0
        # failed assertions in tests' objects, by the object's number; under None, those that end the test in any case
        self._failed: dict[int | None, BaseException] = {}
        self._errors: list[BaseException] = []
        # whether the tests passed it the class AssertionError: then it is meant to handle such failures
        self._hands_assertions = False
        self._shared = SharedContainers(self.pack, self._unpacked, 1)
        # a test may ask from several threads
        self._talk = Conversations(line, self._shared, "tests ", lambda: None)
        self._replaced: dict[str, object] = {}
        self._environment = dict(os.environ)
        self._environment_data: dict[bytes, bytes] | None = None
        self._arguments, self._folder = [*sys.argv], ""
        self._files: SharedFiles | None = None
        self._loops = TestLoops(
            lambda: self.ask({"do": "turn"}), lambda number: self.ask({"do": "end", "ended": number})
        )
        self._waiting = itertools.count(1)
        self._operations = _LENT | {
            "await": self._loops.step,
            "cancel": self._loops.cancel,
            "signature": self._signature,
        }

    def _signature(self, one: Any) -> list[object]:
        """The signature of a test's function that the program asks for. Each default is replaced by a `LentDefault`,
        which hides it: in `def check(got, expected=[4])`, the default is the right answer.
        """
        *parameters, result = code_values.signature_told(one)
        told: Any = parameters
        if any(part[2] for part in told):
            self.withhold("the program may not read the defaults of what the tests lend")
        return [*([*part[:2], [LentDefault(own) for own in part[2]], part[3]] for part in told), result]

    def withhold(self, what: str) -> None:
        """Note in words that something was refused to the program, such as the defaults of a test's function. The
        reason of a failed test repeats it, since a right program may have failed because of the refusal.
        """
        if len(self.withheld) < _MOST_WITHHELD and what.isprintable():
            self.withheld[what[:200]] = None

    def wait_until_loaded(self) -> None:
        """Wait until the program's process has loaded the program, and raise what the program raised as it was loaded.

        From then on, `random.seed`, `sys.setrecursionlimit` and the start of threads in a test have their effect in the
        program's process, too.
        """
        # set meanwhile: if loading fails, that is the program's own failure
        self.has_answered = True
        renamed = self._read(self._receive())
        # noted now: tests may name a class that is built on one of them first
        self._rename(*(renamed if isinstance(renamed, list) else ()))
        self.has_answered = False
        kinds: Any = enum.EnumMeta
        kinds.__subclasscheck__ = _is_enum
        kinds.__instancecheck__ = lambda kind, one: type.__instancecheck__(kind, one) or _is_enum(kind, type(one))
        # a test that sets these wants the program's numbers to repeat, and its calls to go no deeper
        for home, name in ((random, "seed"), (sys, "setrecursionlimit")):
            setattr(home, name, functools.partial(self._set_of_both, name, getattr(home, name)))
        own_state, set_state = random.getstate, random.setstate

        def set_both(state: Any) -> None:
            self._set_of_both("setstate", lambda _: set_state(tuple(state)), getattr(state, "of_program", state))

        for name, both in (
            ("getstate", lambda: _RandomState(own_state(), self.ask({"do": "getstate"}))),
            ("setstate", set_both),
        ):
            setattr(random, name, both)
        own_start = threading.Thread.start

        def start(thread: threading.Thread) -> None:
            setattr(threading.Thread, "start", own_start)  # noqa: B010 - mypy
            self.ask({"do": "threads"})
            own_start(thread)

        setattr(threading.Thread, "start", start)  # noqa: B010 - mypy

    def _set_of_both(self, name: str, own: Callable[..., None], *given: object) -> None:
        """Call a function such as `random.seed` with the arguments `given`, in the tests' process and in
        the program's.
        """
        own(*given)
        self.ask({"do": name}, given)

    def names(self) -> list[str]:
        """The public names that the program defines: those that `from main import *` imports."""
        found = self.ask({"do": "names"})
        if not isinstance(found, list):
            raise self._no_answer("the program does not name what it defines")
        return [name for name in found if isinstance(name, str) and name.isidentifier()]

    def get(self, name: str) -> Any:
        """The value of a global variable of the program, such as `solve`: plain data, or a stand-in for a function,
        class or object.

        Raises:
            MissingError: the program does not define the name.
        """
        self._naming = name if name[:1].isupper() else ""
        try:
            found = self.ask({"do": "module", "name": name})
        finally:
            self._naming = ""
        if isinstance(found, type):
            kind = cast("type", vars(found).get("_stands_for", found))
            if kind is getattr(builtins, kind.__name__, None):
                self._rename(kind.__name__ if name != kind.__name__ else "")
                found = self._of_program(kind)
        return named(self._note(found), name)

    def _rename(self, *names: object) -> None:
        """Note built-in exception classes that the program gives another name, such as `ValueError` after
        `OddError = ValueError`.
        """
        kinds = [getattr(builtins, str(name), None) for name in names]
        self._renamed |= {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)}

    def _of_program(self, kind: type) -> type:
        """The class in the tests' process for a built-in exception class that the program uses: mostly the class
        itself.

        For Exception, AssertionError, and classes that the program has renamed or that are built on one of these, it is
        a subclass. Otherwise, after `OddError = Exception` in the program, `except OddError` in a test would catch the
        test's own `assert False`; after `OddError = TypeError`, it would catch a TypeError of the test's own code.
        """
        above = [one for one in kind.__mro__[1:] if one in self._renamed or one is Exception]
        if kind not in (Exception, AssertionError) and self._renamed.isdisjoint(kind.__mro__):
            return kind
        if kind not in self._like:
            bases = (kind, *map(self._of_program, above))
            self._like[kind] = LikeBuiltIn(kind.__name__, bases, {"__module__": "builtins", "_stands_for": kind})
        return self._like[kind]

    def method(self, name: str) -> Any:
        """The program's function `name`, or the method `name` of its class `Solution`, as a stand-in that the test can
        call.
        """
        return self._note(self.ask({"do": "method", "name": name}))

    def _note(self, found: Any) -> Any:
        """Return the value of a global name of the program. If it is data, and not a function or class, note that the
        program is used: a test reads data without a further question.
        """
        is_own_class = isinstance(found, type) and found in self._classes.values()
        self.is_used |= not (isinstance(found, StandInFunction) or is_own_class)
        return found

    def ask(
        self, request: dict[str, Any], arguments: tuple[object, ...] = (), named: dict[str, object] | None = None
    ) -> Any:
        """Send the program's process one question, such as a call of `solve(2)`, and return its answer: data, or a
        stand-in. Raises what the program raised.

        Args:
            request: the question. `{"do": "attr", "h": 3, "name": "size"}` asks for the attribute `size` of its object
                3.
            arguments: values of the tests that go with the question, by position.
            named: values of the tests that go with the question, by name.
        """
        # not names with `_`: pytest itself asks each function for its marks
        self.is_used |= "h" in request and not str(request.get("name", "")).startswith("_")
        self.is_told |= request["do"] == "op" and bool(arguments)
        with self._talk.place():
            with self._talk.lock:
                self._hands = request["do"] in ("call", "set") and not request.get("makes")
                if self._hands:
                    self._thaw(self._stand_ins.get(request.get("h", 0)))
                if "args" in request or arguments:
                    request = {**request, "args": [self.pack(part) for part in arguments]}
                if named is not None:
                    request = {**request, "named": {name: self.pack(part) for name, part in named.items()}}
                request = self._with_changes(request)
            return self._asked(request)

    def _receive(self) -> dict[str, Any]:
        try:
            return self._talk.receive_any()
        except Exception as exc:  # noqa: BLE001 - hostile data
            raise self._no_answer(f"the program answered with what is no data: {exc}") from None

    def _with_changes(self, request: dict[str, Any]) -> dict[str, Any]:
        """The question, completed by what the tests have changed since the last one: replaced standard functions,
        environment variables, files and so on.
        """
        self.questions += 1
        if patched := self._patches():
            request = {**request, "patched": patched}
        if variables := self._variables():
            request = {**request, "variables": variables}
        if (loop := self._loops.number()) is not None:
            request = {**request, "loop": loop}
        return request | self._surroundings()

    def _asked(self, request: dict[str, Any]) -> Any:
        """Send a question, answer what the program asks meanwhile, and return the program's answer."""
        try:
            self._talk.send(request)
            while "back" in (reply := self._receive()):
                with self._talk.within(reply["in"]):
                    answer = self._serve(reply["back"])
                self._talk.send(answer, reply["in"])
            self.has_answered |= request["do"] not in _TELLING
            is_read = request["do"] == "attr" and request["name"][:1] != "_"
            self.answers += (is_read or request["do"] in ("call", "op", "await")) and not request.get("makes")
            self.calls += request["do"] in ("call", "await", "set") and not request.get("makes")
            self._changes += not (request.get("makes") or request.get("op") in _COMPARING or request["do"] == "states")
            if "busy" in reply:
                self._loops.go_on()
            # a failure in a step of an event loop is raised by the test's next question instead
            if self._failed and request["do"] not in ("turn", "end"):
                failed, self._failed = next(iter(self._failed.values())), {}
                raise failed
            with self._talk.lock:
                # what a call returns is not the test's own, even if the test has made it
                self._returns = request["do"] in ("call", "attr") and not request.get("makes")
                return self._read(reply, iterates=request.get("op") in ("next", "send", "throw"))
        except LineEndedError:
            self.has_answered = True
            raise

    def _patches(self) -> dict[str, object]:
        """The standard functions that the test has replaced since the last question, as by `patch("time.sleep", fake)`:
        `{"time.sleep": …}` with the replacement as JSON, or None if the real function is back.
        """
        now = {name: one for name, (module, own, real) in _PATCHABLE if (one := getattr(module, own)) is not real}
        if not now and not self._replaced:
            return {}
        if "builtins.open" in now and not _is_mock(now["builtins.open"]):
            self.cannot_travel = "they replace 'builtins.open' by what may open their own files"
            raise CannotTravelError(self.cannot_travel)
        before, self._replaced = self._replaced, now
        changed = {name: self.pack(one) for name, one in now.items() if before.get(name) is not one}
        return changed | dict.fromkeys(before.keys() - now.keys())

    def _variables(self) -> dict[str, str | None]:
        """The environment variables that the test has changed since the last question: `{"HOME": "/tmp"}`; None for a
        variable that it has removed.
        """
        # most questions come without a change, and some tests ask ten thousand: as bytes they are compared at once
        data = getattr(os.environ, "_data", None)
        if data is not None and data == self._environment_data:
            return {}
        self._environment_data = None if data is None else dict(data)
        now = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        before, self._environment = self._environment, now
        changed = {name for name in {*before, *now} if before.get(name) != now.get(name)}
        return {name: now.get(name) for name in changed}

    def provide(self, *, files: bool, logs: bool) -> None:
        """Share the tests' folder of files with the program (`files`), and log in the tests' process what the program
        logs (`logs`). Called once, when the program is loaded.
        """
        if files or logs:
            self.ask({"do": "provide", "files": files, "logs": logs})
        if files:
            self._files = SharedFiles()
            os.chdir(ROOT)

    def _surroundings(self) -> dict[str, object]:
        """The files, working folder and `sys.argv` of the tests, as far as they have changed since the last question:
        `{"argv": ["main.py", "5"]}`. They go to the program with the next question.
        """
        told: dict[str, object] = {}
        if sys.argv != self._arguments:
            told["argv"] = self._arguments = [str(part) for part in sys.argv]
        if self._files is None:
            return told
        try:
            changed = self._files.changes()
        except FilesError as exc:
            if self.has_answered:
                raise self._no_answer(str(exc)) from exc
            self.cannot_travel = str(exc)
            raise CannotTravelError(self.cannot_travel) from exc
        with contextlib.suppress(FileNotFoundError):
            folder = os.getcwd()
            if folder != self._folder and f"{folder}/".startswith(f"{ROOT}/"):
                told["folder"] = self._folder = folder
        return told | ({"files": changed} if changed else {})

    def _read(self, reply: dict[str, Any], *, iterates: bool = False) -> Any:
        """The answer in the program's reply: data, or a stand-in. Raises the exception that the reply reports.

        Args:
            reply: the message of the program's process.
            iterates: whether the question was `next` or the like, so that a StopIteration is a normal end.
        """
        try:
            answer, error = self._outcome(reply)
        # whatever goes wrong here with a message of the program is the program's fault
        except Exception as exc:  # noqa: BLE001
            raise self._no_answer(f"the program answered with what is no data: {exc}") from None
        if error is not None:
            if not self.is_told and not any(error is one for one in self._errors):
                # its message is the program's own, so a report may show it
                error.__dict__["is_of_program"] = True
            ends = isinstance(error, StopIteration | StopAsyncIteration)
            if ends and not iterates:
                # as a generator's own would: a call must not end the loop, or the `zip`, in which it is written
                raise RuntimeError(f"the program raised {type(error).__name__}") from error
            raise error
        return answer

    def _outcome(self, reply: dict[str, Any]) -> tuple[Any, BaseException | None]:
        """The content of a reply: the answer and None, or None and the exception that the program raised. What the
        program printed, warned of and logged is repeated in the tests' process.
        """
        for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
            if text := reply.get(name):
                stream.write(str(text))
        try:
            for told, message in reply.get("warned", []):
                kind = self._class(told)
                is_warning = isinstance(kind, type) and issubclass(kind, Warning)
                warnings.warn(str(message), kind if is_warning else UserWarning, stacklevel=2)
        except Warning as exc:
            # the test has warnings raised as errors
            return None, exc
        for name, level, message, own in reply.get("logged", []):
            _log(str(name), int(level), str(message), int(own))
        if self._files is not None and "files" in reply:
            self._files.take(reply["files"])
        if "missing" in reply:
            return None, MissingError("the program does not define a name that its tests ask for")
        if "raise" in reply:
            return None, self._exception(reply["raise"])
        return self.unpack(reply["ok"]), None

    def _no_answer(self, why: str) -> LineEndedError:
        """The exception that ends a test because a message of the program cannot be read: it is the program's fault."""
        self.has_answered = True
        return LineEndedError(why[:300])

    def pack(self, value: object) -> object:
        """A value of the tests as JSON for the program: `{"t": [1, 2]}` for `(1, 2)`. An object that is no plain data,
        such as a function, stays in the tests' process: the program gets a number by which it can use the object.
        """
        return pack(value, self._lend, share=self._shared.share, owns=lambda kind: isinstance(kind, StandInClass))

    def _unpacked(self, value: object) -> Any:
        return unpack(value, self._stand_in)

    def unpack(self, value: object) -> Any:
        """The value of JSON that the program sent: `(1, 2)` for `{"t": [1, 2]}`. An object that is no plain data
        becomes a stand-in.
        """
        try:
            return self._unpacked(value)
        except Exception as exc:  # noqa: BLE001 - hostile data
            raise self._no_answer(f"the program answered with what is no data: {exc}") from None

    def _lend(self, value: object) -> object:
        """The JSON sent to the program for an object that is no plain data, such as a test's function.

        It mostly holds a number, by which the program can use the object. An object that came from the program goes
        back as the program's own number; named tuples and some other kinds go as their parts.
        """
        own: Any = type(value)
        if issubclass(own, StandIn | StandInFunction):
            if self._hands:
                self._thaw(value)
            return {"h": number_of(value)}
        if issubclass(own, Difference):
            return self.pack(value.value)  # type: ignore[attr-defined]
        if issubclass(own, tuple):
            items = [self.pack(item) for item in value]  # type: ignore[attr-defined]
            return {"n": {"names": [own.__name__, *own._fields], "items": items}}
        if (standard := code_values.pack_standard(value)) is not None:
            return standard
        if issubclass(own, BaseException):
            return {"h": number_of(value)} if "_number" in vars(value) else {"e": self._told(value)}  # type: ignore[arg-type]
        if own in _BINDING:
            parts = [value.fget, value.fset] if own is property else [value.__func__]  # type: ignore[attr-defined]
            return {"in": [own.__name__, *map(self.pack, parts)]}
        if isinstance(value, type):
            value = cast("type", vars(value).get("_stands_for", value))
            if getattr(value, "_program", None) is self:
                return {"h": value._number}  # type: ignore[attr-defined]
            home, name = ("types", "NoneType") if value is type(None) else (value.__module__, value.__name__)
            self._hands_assertions |= value is AssertionError
            if home in sys.stdlib_module_names and getattr(sys.modules.get(home), name, None) is value:
                return {"ty": [home, name]}
        number = self._lent_numbers.setdefault(_identity(value), len(self._lent_numbers) + 1)
        self._lent[number] = value
        if isinstance(value, type) and issubclass(value, BaseException):
            return {"ec": {"id": number, "name": value.__name__, "base": built_in(value)}}
        told: dict[str, object] = {"id": number, "has": [name for name in (*_OF_OBJECTS, "await") if _has(value, name)]}
        told |= {"kind": own.__name__} if own in self.known.values() else {}
        if isinstance(value, _CALLED):
            told |= {"doc": value.__doc__, "home": value.__module__}
            told |= {key: getattr(value, f"__{name}__", "") for key, name in (("name", "name"), ("path", "qualname"))}
            told["binds"], told["flags"] = isinstance(value, types.FunctionType), _flags_of(value)
            told |= {"async": "call"} if inspect.iscoroutinefunction(value) else {}
        elif isinstance(value, types.CoroutineType):
            told["async"] = "wait"
        return {"g": told}

    def _serve(self, asked: Any) -> dict[str, Any]:
        """Answer a question of the program about an object of the tests, such as a call of the test's function in
        `solve(key=by_size)`. Gives the message for the program: the result, or the exception that the object raised.
        """
        try:
            with self._talk.lock:
                self._returns = True
                operation = self._operations[asked["what"]]
                told = [self.unpack(part) for part in asked["args"]]
                told_by_name = {name: self.unpack(part) for name, part in asked["named"].items()}
                arguments = [own_default(part) for part in told]
                named = {name: own_default(part) for name, part in told_by_name.items()}
                # a default that is None or a truth value need not be hidden: many functions return one
                defaults = [one for one in (*told, *told_by_name.values()) if isinstance(one, LentDefault)]
                defaults = [one for one in defaults if not isinstance(one.value, bool | None)]
            number = asked["g"]
            one = self._lent.get(number)
        # a message that is no question is the program's fault, and not the tests'
        except Exception as exc:  # noqa: BLE001
            raise self._no_answer(f"the program asks what is no question: {exc}") from None
        asked_before = self.questions
        try:
            if isinstance(one, LentDefault):
                raise _WithheldError("read", "the defaults")
            result = operation(one, *arguments, **named)
            # a value that came as a default goes back as one: the program may not see it
            answer = {"re": self.pack(next((own for own in defaults if own.value is result), result))}
            # an earlier failure was on purpose if the program then called it again with success
            self._failed.pop(number, None)
            return answer
        except StopIteration:
            return {"stop": True}
        except _WithheldError as exc:
            self.withhold(f"{exc} of what the tests lend")
            return self._raised(AttributeError(exc.name), number, is_told=False)
        except BaseException as exc:
            # whatever the tests' own code raises goes to the program that called it, or ends the test
            if _is_skip(exc) and (arguments or named):
                raise NotComparableError("the program had its test skipped, by what it called it with") from exc
            if _passes_by(exc):
                raise
            return self._raised(exc, number, is_told=bool(arguments or named) or self.questions > asked_before)

    def _raised(self, exc: BaseException, number: int, *, is_told: bool) -> dict[str, Any]:
        """The message by which the program learns that the tests' object which it used, such as their function, has
        raised an exception.

        Mostly the program may handle it. But a failed assertion, or an exception such as SystemExit, may be the test's
        verdict on what the program passed to the object. It then ends the test as well, whatever the program does.

        Args:
            exc: the exception.
            number: of the object.
            is_told: whether the program passed or answered something before, so that the exception may be a verdict on
                it.
        """
        is_told |= not is_raised(exc)
        if isinstance(exc, AssertionError) and (is_told or not self._hands_assertions):
            # its message may contain what the test expects, so it ends the test whatever the program does
            self._failed.setdefault(None if is_told else number, exc)
        if not isinstance(exc, Exception) and is_told:
            # the program sees it, and so does the test, which may end by it
            self._failed.setdefault(None, exc)
        return {"raise": self._told(exc)}

    def _told(self, exc: BaseException) -> dict[str, object]:
        """An exception of the tests as JSON for the program: its number, class and arguments. The arguments of a failed
        assertion, which may say what the test expects, are left out.
        """
        if not any(exc is one for one in self._errors):
            self._errors.append(exc)
        at = next(at for at, one in enumerate(self._errors) if one is exc)
        _, arguments = told_of(exc)
        if isinstance(exc, AssertionError) and self._hands_assertions and is_raised(exc):
            arguments = [str(part) for part in exc.args]
        told = {"error": at, "class": self._lend(type(exc)), "args": arguments}
        return told | {"type": built_in(type(exc))}

    def _exception(self, told: dict[str, Any]) -> BaseException:
        """The exception in the tests' process for one that the program raised: the test can catch it. If the tests
        raised it first, and it only went through the program, it is that same exception.
        """
        if "back" in told:
            own = self._errors[int(told["back"])]
            for note in map(str, told["notes"]):
                if note not in getattr(own, "__notes__", ()):
                    own.add_note(note)
            return own
        if (number := int(told["id"])) not in self._stand_ins:
            error = self._made(told)
            error.__dict__.update(_program=self, _number=number)
            error.__suppress_context__ = bool(told["alone"])
            for note in told["notes"]:
                error.add_note(str(note))
            if "cause" in told:
                error.__cause__ = self._exception(told["cause"])
            self._stand_ins[number] = error
        found: BaseException = self._stand_ins[number]
        return found

    def _made(self, told: dict[str, Any]) -> BaseException:
        """A new exception in the tests' process for one that the program raised: `ValueError("no")` for
        `raise ValueError("no")`; a ProgramError if the class does not exist here.
        """
        arguments = self.unpack(told["args"])
        kind = self._class(told["class"])
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            return ProgramError(told["type"], *arguments)
        try:
            # not by a call of the class, which would ask the program
            error: BaseException = type.__call__(kind, *arguments)
        except Exception:  # noqa: BLE001 - a class that takes other arguments than its `args`, such as JSON's
            error = kind.__new__(kind, *arguments)
        if "words" in told and hasattr(kind, "_words"):
            error._words = str(told["words"])  # type: ignore[attr-defined]
        for name, value in told.get("attributes", {}).items():
            # no attribute that has a meaning for the tests' framework
            if name.isidentifier() and name[0] != "_" and not hasattr(error, name):
                setattr(error, name, self.unpack(value))
        return error

    def _class(self, told: dict[str, Any]) -> Any:
        """The class in the tests' process for a class of the program. For a built-in class, it is mostly that class
        itself.

        Args:
            told: the description of the class that the program's process sent; see `serve_program`.
        """
        if "own" in told:
            own = self._lent[told["own"]]
            return own if isinstance(own, type) else ProgramError
        name, home = str(told["name"]), str(told["home"])
        # the program must not raise an exception that ends or skips a test
        if home == "builtins":
            known = type(None) if name == "NoneType" else getattr(builtins, name, None)
            is_kept = isinstance(known, type) and known not in _NOT_RAISED
            return self._of_program(known) if is_kept else ProgramError  # type: ignore[arg-type]
        is_standard = home.partition(".")[0] in sys.stdlib_module_names - _NOT_FROM and not told["bases"]
        if name in self.known or is_standard:
            # a test that names it has imported it; the program must not choose what is imported here
            found = self.known.get(name) or getattr(sys.modules.get(home), name, None)
            if isinstance(found, type) and issubclass(found, Exception):
                return found
        if told["id"] not in self._classes:
            bases = [self._class(base) for base in told["bases"]]
            # a class that the tests never named must not be a subclass of each exception that they may expect
            is_known = name == self._naming or not self._named.isdisjoint(bases)
            for base in map(self._builtin, told["builtin"]):
                plain = getattr(base, "_stands_for", base)
                is_first = not any(issubclass(one, BaseException) for one in bases)
                if issubclass(base, Exception) and not any(issubclass(one, plain) for one in bases):
                    bases += [base] if is_known or is_first else []
            is_error = any(issubclass(base, BaseException) for base in bases)
            space = {"_program": self, "_number": told["id"], "__module__": home, "__doc__": told.get("doc")}
            if is_error:
                own_words = {"_words": None, "__str__": _words_of, "__getattr__": _of_error}
                kind: type = StandInErrorClass(name, tuple(bases), space | own_words)
            else:
                kind = self._own_class(
                    told, name, bases or [StandIn], space | _as_known(self.known.get(name) or _standard(home, name))
                )
            self._classes[told["id"]] = kind
            self._named |= {kind} if is_known else set()
        return self._classes[told["id"]]

    def _own_class(self, told: dict[str, Any], name: str, bases: list[type], space: dict[str, Any]) -> type:
        """A new class of stand-ins for a class that the program defines, such as `Point`.

        Args:
            told: the description of the class that the program's process sent.
            name: of the class.
            bases: the classes in the tests' process for those that it is built on.
            space: attributes that the class gets in any case.
        """

        def begin(*given: object, **more: object) -> object:
            # only a class of the tests that is built on this one calls it
            return self.ask({"do": "attr", "h": told["id"], "name": "__init__"})(*given, **more)

        space |= {"__init__": begin} | _as_data(told["data"])
        space |= {"__next__": StandInIterator.__next__} if told["next"] else {}
        space |= {"__await__": StandInIterator.__await__} if told["awaits"] else {}
        space |= {"__get__": found_in_class} if told["gets"] else {}
        plain = next((_PLAIN[one] for one in told["builtin"] if one in _PLAIN), None)
        if plain is not None:
            space |= of_data(plain, {*map(str, told["over"])}, [*map(str, told["fields"])])
            bases += [] if any(issubclass(base, plain) for base in bases) else [plain]
        kind: Any = StandInClass(name, tuple(bases), space)
        known = {*map(str, told["known"])}
        for abstract in known & _ABSTRACT:
            getattr(collections.abc, abstract).register(kind)
        type.__setattr__(kind, "_enums", known & _ENUMS)
        return kind  # type: ignore[no-any-return]

    def _builtin(self, name: object) -> type:
        """The class in the tests' process for the built-in class of that name; `object` for any other name, and for
        KeyboardInterrupt and GeneratorExit.
        """
        found = getattr(builtins, str(name), object)
        is_kept = isinstance(found, type) and found not in (KeyboardInterrupt, GeneratorExit)
        return self._of_program(found) if is_kept else object

    def _stand_in(self, value: Any) -> Any:
        """The value in the tests' process for JSON of an object that is no plain data: a stand-in, or the tests' own
        object that the program returned.
        """
        if "g" in value:
            return self._lent[value["g"]]
        if "st" in value:
            return code_values.unpack_standard(value)
        if "e" in value:
            return self._exception(value["e"])
        if "ga" in value:
            return types.GenericAlias(*map(self._unpacked, value["ga"]))
        if "m" in value:
            found = self._shared[int(value["m"])]
            return self._returned(found) if isinstance(found, StandIn) else found
        told = value["h"]
        if told["kind"] == "coroutine":
            return self.awaited(told["id"])
        number = told["id"]
        if told["kind"] == "generator" and number not in self._stand_ins:
            self._stand_ins[number] = self._generated(number)
        if number not in self._stand_ins:
            kind = self._class(told["class"])
            if told["kind"] == "class":
                one: Any = kind
            elif told["kind"] == "function":
                kind = StandInMethod if told["binds"] else StandInFunction
                one = kind(self, number, str(told.get("name", "")), told.get("doc"))
                if told.get("async") is True:
                    one.__code__ = _coroutine.__code__
            else:
                kind = _standing_for(kind, told["class"])
                one = new(kind, self.unpack(told["data"]) if "data" in told else None)
                for name, value in (("_program", self), ("_number", number), ("_made", False)):
                    object.__setattr__(one, name, value)
            self._stand_ins[number] = one
        return self._returned(self._stand_ins[number])

    def _returned(self, found: Any) -> Any:
        """Return a value from the program. If it is the result of a call, it counts as the program's answer from now
        on, also if the test has made the object: `assert keep(Point(1, 2)) == …` judges the program.
        """
        if isinstance(found, StandIn):
            if self._returns:
                object.__setattr__(found, "_made", False)
            self._note_answer(found)
        return found

    def _note_answer(self, one: Any) -> None:
        """Note that a stand-in is the program's latest answer: `_freeze` records the state of the latest answers."""
        if type(one).__mro__[-2] is StandIn and one._plain is None:
            self._answers.pop(number := number_of(one), None)
            self._answers[number] = one

    def _generated(self, number: int) -> Generator[Any, Any, Any]:
        """A generator in the tests' process for a generator of the program: `next` on it takes the next item from the
        program's process.
        """
        how, given = "send", (None,)  # type: tuple[str, tuple[object, ...]]
        while True:
            try:
                value = self.operate(how, number, *given)
            except StopIteration as end:
                return end.value
            try:
                how, given = "send", ((yield value),)
            except GeneratorExit:
                self.operate("close", number)
                raise
            except Exception as exc:  # noqa: BLE001 - the test throws it into the generator
                how, given = "throw", told_of(exc)

    async def awaited(self, number: int) -> Any:
        """The result of the program's coroutine or other awaitable, for a test that does `await solve(2)`. The event
        loops of both processes take steps in turn until it is done.
        """
        # slow to import, and few tests await
        import asyncio

        waiting, steps = next(self._waiting), 0
        with self._loops.waiting():
            while True:
                is_done, value = self.ask({"do": "await", "h": number, "waiting": waiting})
                if is_done == CANCELLED:
                    raise asyncio.CancelledError
                if is_done:
                    return value
                try:
                    await asyncio.sleep(0 if steps < _QUICK_STEPS else _SLOW_STEP)
                except asyncio.CancelledError:
                    self.ask({"do": "cancel", "h": number, "waiting": waiting})
                steps += 1

    def operate(self, how: str, number: int, *others: object) -> Any:
        """The result of an operator on an object of the program: `operate("len", 3)` for `len(one)`, if `one` is its
        object 3.

        Args:
            how: the operator, such as `add` or `len`.
            number: of the object.
            others: the other operands.
        """
        return self.ask({"do": "op", "op": how, "h": number, "args": []}, others)

    def make(self, kind: type, number: int, arguments: tuple[object, ...], named: dict[str, object]) -> Any:
        """Make an object of the program's class that the test has called, as by `Point(1, 2)`; returns a stand-in and
        notes it in `made`.
        """
        self._freeze()
        one = self._make_one(kind, number, arguments, named)
        if isinstance(one, StandIn) and type(one) is kind:
            self.made.append(one)
        return one

    def _make_one(self, kind: type, number: int, arguments: tuple[object, ...], named: dict[str, object]) -> Any:
        """Make an object of the program's class in its process, as `make` does, without noting it in `made`. The
        stand-in remembers the arguments.
        """
        one = self.ask({"do": "call", "h": number, "args": [], "makes": True}, arguments, named)
        if isinstance(one, StandIn) and type(one) is kind:
            object.__setattr__(one, "_made", vars(kind).get("_is_class", False))
            object.__setattr__(one, "_given", given_of((arguments, named)))
            object.__setattr__(one, "_arguments", (arguments, named))
        return one

    def made_of(self, answer: Any, data: object) -> list[Any]:
        """Objects of the answer's class, made of the data with which a test compares the answer: `Point([1, 2])` and
        `Point(1, 2)` for `f() == [1, 2]`. Empty if the test does not name that class.

        The answer's state is recorded before the class receives the data. Otherwise the program could change the answer
        to what is expected.
        """
        kind, found, before = type(answer), list[Any](), {*self._stand_ins}
        if not (vars(kind).get("_is_class", False) and given_of(data)):
            return found
        self._freeze()
        # from now on, until it is called again, the program could change its answers to what is expected
        self._is_told_at = self.calls
        for given in ((data,), *([(*data,)] if isinstance(data, list | tuple) else [])):
            with contextlib.suppress(Exception):
                found.append(self._make_one(kind, kind._number, given, {}))
        is_frozen = answer._frozen is not None
        for one in found:
            # the class may return an object that existed before
            if isinstance(one, StandIn) and number_of(one) in before:
                object.__setattr__(one, "_made", False)
        return [one for one in found if type(one) is kind and one._made and is_frozen]

    def answered_by(self, make: Callable[[], object]) -> object:
        """The result of `make`, which evaluates a text of the program, as `eval(repr(answer))` does. The object counts
        as the program's answer: the test that runs the text has not chosen the data in it.
        """
        before = len(self.made)
        found = make()
        for one in self.made[before:]:
            object.__setattr__(one, "_made", False)
        del self.made[before:]
        return found

    def made_otherwise(self, one: Any) -> list[Any]:
        """Objects made like the test's object `one`, each with one argument changed: `Point(2, 2)` and `Point(1, 3)`
        for `Point(1, 2)`.
        """
        (arguments, named), found = one._arguments, list[Any]()
        for key in [*range(len(arguments)), *named]:
            own = arguments[key] if isinstance(key, int) else named[key]
            if (other := otherwise(own)) is None:
                continue
            given = [other if at == key else part for at, part in enumerate(arguments)]
            others = {name: other if name == key else part for name, part in named.items()}
            with contextlib.suppress(Exception):
                asked = {"do": "call", "h": type(one)._number, "args": [], "makes": True}
                found.append(self.ask(asked, (*given,), others))
        return [other for other in found if type(other) is type(one)]

    def _freeze(self) -> None:
        """Record the state of the program's latest answers. Done before its process receives what they may be compared
        with: afterwards, the program could change them to agree.
        """
        answers = [one for one in self._answers.values() if not one._made]
        self._answers = {number_of(one): one for one in answers[-_MOST_REFROZEN:]}
        is_same = self._looked_at == self._changes or self._is_told_at == self.calls
        self._looked_at = self._changes
        answers = [one for one in answers if one._frozen is None or not is_same]
        if not answers:
            return
        states = self.ask({"do": "states", "of": [number_of(one) for one in answers]})
        for one, state in zip(answers, states if isinstance(states, list) else [], strict=False):
            try:
                # copied, since a later message may change its containers
                object.__setattr__(one, "_frozen", [unpack(pack(state))])
            except Exception as exc:  # noqa: BLE001 - hostile data
                raise self._no_answer(f"the program told of a state that is no data: {exc}") from None

    def _thaw(self, one: Any) -> None:
        """Drop the recorded state of an answer, since the test changes the object, calls its method, or passes it to
        the program: it may have another state afterwards.
        """
        one = one.__dict__.get("_of") if isinstance(one, StandInFunction) else one
        if isinstance(one, StandIn):
            object.__setattr__(one, "_frozen", None)
            self._note_answer(one)

    def derive(self, kind: type, space: dict[str, object], more: dict[str, object]) -> int:
        """Have the program's process make a class for `class Mine(Point)` in a test; returns the number of the new
        class.

        Args:
            kind: the class `Mine` in the tests' process.
            space: what the body of the class statement defines.
            more: the keywords of the class statement, such as `metaclass`.
        """
        told, named = ({name: self.pack(part) for name, part in parts.items()} for parts in (space, more))
        bases = [self.pack(base) for base in kind.__bases__]
        own = self._lent_numbers.setdefault(_identity(kind), len(self._lent_numbers) + 1)
        self._lent[own] = kind
        asked = {"do": "class", "name": kind.__name__, "space": told, "bases": bases, "more": named, "own": own}
        number = int(self.ask(asked))
        self._classes[number] = kind
        return number

    def call(self, number: int, arguments: tuple[object, ...], named: dict[str, object]) -> Any:
        """Call the program's object of that number, such as its function, with arguments of the test."""
        return self.ask({"do": "call", "h": number, "args": []}, arguments, named)


def _standing_for(kind: Any, told: dict[str, Any]) -> Any:
    """The class of the stand-in for an object of the program, such as StandInIterator for an iterator.

    Args:
        kind: the class in the tests' process for the object's class.
        told: the description of that class that the program's process sent.
    """
    if isinstance(kind, StandInClass):
        return kind
    is_view = told["home"] == "builtins" and told["name"] in VIEWS
    return StandInView if is_view else _iterator(told) if told.get("next") else StandIn


# Iterators of built-in containers, by the names of their classes, such as `list_iterator`
_BUILT_IN: tuple[Any, ...] = ((), [], {}, set(), "", b"", range(0))
_ITERATORS: dict[str, type] = {type(iter(one)).__name__: type(iter(one)) for one in _BUILT_IN}
_ITERATORS |= {type(reversed(one)).__name__: type(reversed(one)) for one in _BUILT_IN[:3]}


def _iterator(told: dict[str, Any]) -> type[StandInIterator]:
    """The class of stand-ins for an iterator of the standard library, such as a `zip` that the program returned."""
    known = _ITERATORS.get(str(told["name"])) if told["home"] == "builtins" else None
    return StandInIterator if known is None else _known_iterator(known)


@functools.cache
def _known_iterator(known: type) -> type[StandInIterator]:
    """A class of stand-ins whose `__class__` is `known`, such as `list_iterator`: `isinstance` in a test then takes it
    for one.
    """
    return types.new_class(
        "StandInIterator", (StandInIterator,), {}, lambda space: space.update(__class__=property(lambda self: known))
    )


def _log(name: str, level: int, message: str, own: int) -> None:
    """Log in the tests' process what the program has logged, if the level of the tests' logger allows it.

    Args:
        name, level, message: of the record.
        own: the level of that logger in the program's process. It decides if the tests have set none.
    """
    import logging

    logger = logging.getLogger(name)
    if level >= (logger.level or own or logger.getEffectiveLevel()):
        logger.handle(logger.makeRecord(name, level, "main.py", 0, message, (), None))


def _is_mock(one: Any) -> bool:
    """Whether a test's object is a mock of unittest that never calls a real function: true for `Mock(return_value=1)`,
    false for `Mock(wraps=open)`.
    """
    if type(one).__module__ != "unittest.mock" or one._mock_wraps is not None:
        return False
    effect = one.side_effect
    raises = isinstance(effect, BaseException) or (isinstance(effect, type) and issubclass(effect, BaseException))
    return effect is None or raises or getattr(effect, "__module__", "") == "unittest.mock"


def _flags_of(value: object) -> int:
    """The flags of a function's code, which say, for example, that it is a coroutine function; 0 for an object that is
    no function.
    """
    return value.__code__.co_flags if isinstance(value, types.FunctionType) else 0


def _identity(value: object) -> tuple[int, str]:
    """The key by which an object of the tests is recognized if it is lent a second time. For a bound method it consists
    of object and name, since `one.run` is a new object at each access.
    """
    if isinstance(value, types.MethodType | types.BuiltinMethodType):
        return id(value.__self__), value.__name__
    return id(value), ""


# Modules whose objects lead to the variables of a test, or to its parameters
_HIDING = {"builtins", "types", "_pytest"}


def _is_outcome(exc: BaseException) -> bool:
    """Whether an exception is one by which pytest ends or skips a test, such as that of `pytest.skip()`."""
    outcomes: Any = sys.modules.get("_pytest.outcomes")
    return outcomes is not None and isinstance(exc, outcomes.OutcomeException)


def _passes_by(exc: BaseException) -> bool:
    """Whether an exception of the tests' object, which the program called, ends the test without the program seeing it.
    True for pytest's own, such as that of `pytest.skip()`. An exception that the tests raise by a `raise` statement
    goes to the program.
    """
    is_seen = isinstance(exc, Exception | SystemExit | KeyboardInterrupt) or is_raised(exc)
    return _is_outcome(exc) or not is_seen


def _is_skip(exc: BaseException) -> bool:
    """Whether an exception skips a test, as `pytest.skip()` and `unittest.SkipTest` do."""
    return (_is_outcome(exc) and type(exc).__name__ != "Failed") or isinstance(exc, unittest.SkipTest)


# The flag of a class that a `class` statement has made
_MADE = 1 << 9


def _read_lent(one: Any, name: str) -> Any:
    """The value of an attribute of a test's object, for the program that asked for it.

    Raises:
        _WithheldError: the program may not read it, such as the `__globals__` of a function, which hold the test's
            variables.
    """
    home = "" if isinstance(one, types.SimpleNamespace) else type(one).__module__.partition(".")[0]
    # a class made by `exec` has `builtins` as its module
    home = "" if home == "builtins" and type(one).__flags__ & _MADE else home
    # of a mock, only the attributes that imitate the real object
    of_mock = home == "unittest" and hasattr(type(one), name)
    # of a test case that the program gets: its own methods, and not its data, which may be what it expects
    is_own = isinstance(getattr(type(one), name, None), types.FunctionType | types.MethodType)
    of_test = _is_test(type(one)) and (not is_own or hasattr(unittest.TestCase, name))
    if isinstance(one, type) and _is_called_by_class(one, name):
        return getattr(one, name)
    if name == "__dict__" and isinstance(one, types.FunctionType) and not vars(one):
        # it is empty, and `functools.wraps` reads it
        return {}
    if isinstance(one, _CALLED) or name.startswith("_") or of_mock or of_test or home in _HIDING:
        raise _WithheldError("read", name)
    return getattr(one, name)


def _is_called_by_class(kind: type, name: str) -> bool:
    """Whether `name` is a public class method or static method of a tests' class, such as `from_row` of `Row`, which
    the program may call. False for classes of tests, whose methods may know what is expected.

    Args:
        kind: the class.
        name: of the attribute.
    """
    found = next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None)
    is_method = isinstance(found, classmethod | staticmethod | types.ClassMethodDescriptorType)
    return is_method and name[0] != "_" and not _is_test(kind) and kind.__module__.partition(".")[0] not in _HIDING


def _is_test(kind: type) -> bool:
    """Whether a class is a test case of unittest, or a class that pytest collects, such as `TestSolve`."""
    names = dir(kind) if kind.__name__.startswith("Test") else ()
    return issubclass(kind, unittest.TestCase) or any(name.startswith("test_") for name in names)


def _set_lent(one: Any, name: str, value: object) -> None:
    """Set an attribute of a test's object, for the program that asked for it.

    Raises:
        _WithheldError: the program may not set it, such as a method that the test calls later.
    """
    is_standard = type(one).__module__.partition(".")[0] in sys.stdlib_module_names - {"types"}
    # the program must not replace a method that the test calls
    is_own = is_standard or _is_test(type(one)) or callable(getattr(type(one), name, None))
    if isinstance(one, _CALLED) or name.startswith("_") or is_own:
        raise _WithheldError("set", name)
    setattr(one, name, value)


_LENT: dict[str, Callable[..., Any]] = {
    # a test may have replaced it; there is nothing else to read
    "input": lambda _, prompt: builtins.input(prompt),
    "stdin": lambda _, how, size: {"read": sys.stdin.read, "readline": sys.stdin.readline}[how](size),
    "call": lambda one, *arguments, **named: one(*arguments, **named),
    "attr": _read_lent,
    "set": _set_lent,
    "isinstance": lambda one, other: isinstance(one, type) and isinstance(other, one),
    "annotations": lambda one: {name: code_values.hint_told(part) for name, part in one.__annotations__.items()},
}
# The operators of a tests' object that the program may use, if the object's class defines them
_OF_OBJECTS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(builtins, name) for name in ("iter", "next", "len", "hash", "bool", "str", "repr", "int", "float")
    },
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "neg")},
    **{name: getattr(operator, name) for name in ("getitem", "setitem", "delitem", "contains", "index")},
    # by the object: the method of a mock's class takes no `self`
    "enter": lambda one: one.__enter__(),
    "exit": lambda one: one.__exit__(None, None, None),
    **{name: getattr(builtins, name) for name in ("aiter", "anext")},
    "aenter": lambda one: one.__aenter__(),
    "aexit": lambda one: one.__aexit__(None, None, None),
}
_LENT |= _OF_OBJECTS


def _has(value: object, name: str) -> bool:
    """Whether the class of a test's object defines an operator: true of `[1]` and `len`, by `__len__`."""
    # not by `getattr`, which a mock notes as a call
    own = next((vars(kind)[f"__{name}__"] for kind in type(value).__mro__[:-1] if f"__{name}__" in vars(kind)), None)
    return own is not None and not isinstance(value, _CALLED)


def _as_data(told: list[list[Any]]) -> dict[str, Any]:
    """The attributes that a class of stand-ins needs to pass for a dataclass; empty if the program's class is no
    dataclass.

    Args:
        told: for each field: its name, whether a call of the class sets it, and whether `==` compares it.
    """
    if not told:
        return {}
    fields = [(str(name), Any, dataclasses.field(init=bool(init))) for name, init, _ in told]
    known: Any = dataclasses.make_dataclass("_Fields", fields)
    passed_over = frozenset(str(name) for name, _, is_compared in told if not is_compared)
    return {"__dataclass_fields__": known.__dataclass_fields__, "_passed_over": passed_over}


def _standard(home: str, name: str) -> Any:
    """The class `name` of the standard module `home`, if that is imported in the tests' process: the class Counter for
    `collections` and `Counter`. Otherwise None.
    """
    return getattr(sys.modules.get(home), name, None) if home in sys.stdlib_module_names - {"builtins"} else None


def _as_known(found: Any) -> dict[str, Any]:
    """The attributes that a class of stand-ins needs so that `isinstance(answer, found)` is true in a test; empty if
    `found` is no class.
    """
    return {"__class__": property(lambda self: found)} if isinstance(found, type) else {}


def _of_error(self: Any, name: str) -> Any:
    """An attribute of an exception that the program raised, for a test that reads it, such as `error.code`: asked from
    the program's process if the copy of the exception in the tests' process does not hold it.
    """
    if name.startswith("__") or "_number" not in vars(self):
        raise AttributeError(name)
    return as_of_data(self._program, self._program.ask({"do": "attr", "h": self._number, "name": name}), name)


def _words_of(self: BaseException) -> str:
    """The text of an exception of the program, as `str` gives it: that of the program's own `__str__`, or else that of
    the built-in class.
    """
    words: str | None = self._words  # type: ignore[attr-defined]
    built_in: Any = next(kind for kind in type(self).__mro__ if not hasattr(kind, "_words"))
    return str(built_in.__str__(self)) if words is None else words


async def _coroutine() -> None:
    """Does nothing. Its code object is put into stand-ins for the program's coroutine functions: `inspect` and
    `asyncio` recognize such functions by their code.
    """
