"""The entry point of the tests' process, for tests that carry code: runs them against the program, which is in another
process and jail.

What it leaves as the result is the report of the tests that passed. A process that leaves no report has passed none.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import datetime
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import linecache
import re
import sys
import traceback
import types
import unittest
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from agentscope_tuner._jail.inside import LINE, begin, leave
from agentscope_tuner.verify.code.inside import code_values, empty_arrays, run_program
from agentscope_tuner.verify.code.inside.code_values import JailLine, globals_of
from agentscope_tuner.verify.code.inside.remote import PATCHABLE, Program
from agentscope_tuner.verify.code.inside.replays import Replays, watched
from agentscope_tuner.verify.code.inside.stand_ins import (
    PYTEST_FILE,
    SKIPPED,
    CannotTravelError,
    NotComparableError,
    StandIn,
    StandInClass,
    constants_of,
    is_data,
    set_once,
)

_MOST_WORDS = 300
HIDDEN = "\x1f"
_OF_ARRAYS = re.compile(r"\b(?:np|numpy|pd|pandas|scipy|sklearn)\b")


class BrokenTestsError(Exception):
    """The tests cannot be run with any program, as when they import a module that does not exist; the
    message says why.
    """


def run(payload: bytes) -> int:
    """Run the tests that `payload` describes, and leave their report as the result of the jail. Returns the exit code.

    The report holds `tests`: the name of each test, and why it failed. Or it holds `broken`: why the tests cannot be
    run.

    Args:
        payload: JSON of a `CodeTest`. If it also holds a `program`, the program runs in this very process.
    """
    asked = json.loads(payload)
    begin()
    is_inside = "program" in asked
    program = _OwnProgram(asked) if is_inside else _guarded(asked)
    report: dict[str, Any]
    try:
        _compiled(asked["source"])
        setup = asked["setup"] if asked.get("shares_files") else None
        tree = ast.parse(asked["source"])
        _refuse_broken(asked, tree)
        needs = _needs(tree, asked["modules"], setup)
        if not is_inside and needs.interpreter:
            program.cannot_travel = needs.interpreter
            raise BrokenTestsError(needs.interpreter)
        if _OF_ARRAYS.search(f"{asked['setup']}\n{asked['source']}") and importlib.util.find_spec("numpy"):
            empty_arrays.guard()
        program.wait_until_loaded()
        if not is_inside:
            program.provide(files=needs.files, logs=needs.logs)
        outcomes = _RUNNERS[asked["kind"]](asked, program)
        _refuse_unnamed(asked, tree, outcomes)
        _refuse_failing(tree, outcomes)
        outcomes = _replayed(program, outcomes)
        if not program.is_used and any(why and _NO_FILE.search(why) for _, why in outcomes):
            raise BrokenTestsError("a file that they read is not there")
        report = {"tests": _report(asked["kind"], program, tree, outcomes)}
    except BrokenTestsError as exc:
        report = {"broken": (program.cannot_travel or str(exc))[:_MOST_WORDS], "shared": bool(program.cannot_travel)}
    except BaseException as exc:  # noqa: BLE001 - every way to end without a report is a report
        report = {"tests": [["the tests", _words(exc)]]} if program.has_answered else {"broken": _words(exc)}
    report["withheld"] = [*program.withheld]
    leave(json.dumps(report | {"nonce": asked.get("nonce")}).encode())
    return 0


def _guarded(asked: dict[str, Any]) -> Program:
    """The program in the other process, and the tests' process made ready for tests of it: comparisons are checked,
    answers are recorded, and a text that the program returned is evaluated only if it is data.
    """

    def refuse() -> None:
        raise NotComparableError("the program's text is run, and is more than an expression")

    def refuse_here() -> None:
        program.cannot_travel = "they run code that the program wrote"
        raise CannotTravelError(program.cannot_travel)

    def makes(names: Mapping[str, object], tree: Any) -> Callable[[], object] | None:
        if tree is None or not _is_own_object(tree.body, names):
            return None
        return partial(program.answered_by, partial(_own_object, tree.body, names))

    texts = run_program.ProgramTexts(f"{asked['setup']}\n{asked['source']}", refuse, refuse_here, makes)
    code_values.ask_in_protocols(StandIn)
    program = Program(JailLine(LINE, texts.keep))
    sizes = empty_arrays.guard_numbers(f"{asked['setup']}\n{asked['source']}", lambda: program.has_answered)
    texts.guard()
    program.replays = Replays(program, f"{asked['setup']}\n{asked['source']}", sizes.note)
    return program


# Classes of data that a repr names
_OF_DATA = (Decimal, Fraction, datetime.date, datetime.datetime, datetime.timedelta)


def _is_own_object(node: ast.AST, names: Mapping[str, object]) -> bool:
    """Whether an expression makes an object of the program's class, or of a class such as Decimal, from literals:
    `Point(1, 2)` or `Line(Point(1, 2), 3)`, as the `repr` of an object is written.

    Args:
        node: the expression.
        names: the variables that it may use.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    parts = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg)]
    kind = names.get(node.func.id)
    is_whole = len(parts) == len(node.args) + len(node.keywords)
    is_own = isinstance(kind, StandInClass) and bool(vars(kind).get("_is_class"))
    is_own |= any(kind is one for one in _OF_DATA)
    # only by the class's own name: a test may hold the expected class in a variable of a different name
    is_own = is_own and getattr(kind, "__name__", "") == node.func.id
    return is_own and is_whole and all(_is_plain(part) or _is_own_object(part, names) for part in parts)


def _is_plain(node: ast.AST) -> bool:
    """Whether an expression is a literal, such as `[1, 'a']`."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _own_object(node: Any, names: Mapping[str, Any]) -> Any:
    """The object that an expression such as `Point(1, 2)` makes, if `_is_own_object` is true of it."""
    if _is_plain(node):
        return ast.literal_eval(node)
    named = {keyword.arg: _own_object(keyword.value, names) for keyword in node.keywords}
    return names[node.func.id](*(_own_object(part, names) for part in node.args), **named)


def _replayed(program: Program, outcomes: list[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """The outcomes of the tests, in which a test that passed without checking the program's answer now fails, such as a
    loop of assertions over the answer `[]`; see `replays`.
    """
    refused = program.replays.refused() if program.replays and any(why is None for _, why in outcomes) else {}
    refused |= {name.partition("[")[0]: why for name, why in refused.items()}
    return [(name, why or refused.get(name)) for name, why in outcomes]


def _report(kind: str, program: Program, tree: ast.Module, outcomes: list[tuple[str, str | None]]) -> list[list[Any]]:
    """Each test by name, and why it failed: `[["test_sum", None], ["test_max", "line 3: AssertionError"]]`. None is for
    a test that passed.

    Raises:
        BrokenTestsError: there is no test, or the tests ask nothing of the program.
    """
    if not outcomes and not program.is_used:
        raise BrokenTestsError("no test was found")
    passes = not any(why for _, why in outcomes)
    is_asked = program.is_used if kind == "check" and passes else program.has_answered
    if program.cannot_travel or not is_asked:
        raise BrokenTestsError("the tests ask nothing of the program")
    known = {getattr(node, "name", "") for node in ast.walk(tree)}
    told = [[_shown(name, at, known), why] for at, (name, why) in enumerate(outcomes, 1)]
    return told or [["the tests", "no test was run"]]


def _refuse_broken(asked: dict[str, Any], tree: ast.Module) -> None:
    """Raise BrokenTestsError for tests that no program can pass, such as those that import a module which does not
    exist.

    Called before the program is loaded: whatever goes wrong later may be the program's fault.
    """
    own = {name.partition(".")[0] for name in asked["modules"]}
    tried = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    for node in [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]:
        if id(node) in tried or (isinstance(node, ast.ImportFrom) and node.level):
            continue
        for home in {name.partition(".")[0] for name in _modules_of(node)} - own - sys.stdlib_module_names:
            if importlib.util.find_spec(home) is None:
                raise BrokenTestsError(f"there is no module {home!r}")
    if asked["kind"] == "file":
        nodes = [*ast.walk(tree)]
        _refuse_uneven(nodes)
        named = {str(getattr(node, key, "")) for node in nodes for key in ("name", "id", "value")} - {"TestCase"}
        if not any(name.lower().startswith("test") for name in named):
            raise BrokenTestsError("no test was found")


def _refuse_uneven(nodes: Sequence[ast.AST]) -> None:
    """Raise BrokenTestsError if a `parametrize` has another number of names than of values, as in
    `parametrize("a, b", [(1, 2, 3)])`: pytest does not collect such tests.
    """
    once = set_once(nodes)
    for node in nodes:
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.parametrize"):
            continue
        cases = node.args[1] if len(node.args) > 1 else None
        cases = once.get(cases.id) if isinstance(cases, ast.Name) else cases
        if not isinstance(cases, ast.List | ast.Tuple):
            continue
        try:
            names = ast.literal_eval(node.args[0])
        except ValueError:
            continue
        names = [one for one in names.split(",") if one.strip()] if isinstance(names, str) else [*names]
        for row in cases.elts if len(names) > 1 else ():
            is_written = isinstance(row, ast.List | ast.Tuple) and not any(
                isinstance(part, ast.Starred) for part in row.elts
            )
            if is_written and len(row.elts) != len(names):  # type: ignore[attr-defined]
                raise BrokenTestsError(f"`parametrize` has {len(names)} names and other numbers of values")


# Failures that are the tests' own fault, if they have asked the program for nothing but names
_NO_FILE = re.compile(rf"(?:FileNotFound|NotADirectory|IsADirectory|Permission)Error{HIDDEN}")
_NO_NAME = re.compile(rf"NameError{HIDDEN}: name '(\w+)' is not defined")


def _refuse_unnamed(asked: dict[str, Any], tree: ast.Module, outcomes: list[tuple[str, str | None]]) -> None:
    """Raise BrokenTestsError if tests in a file failed because of an undefined name, as `helper` in `assert helper(1)`,
    and that name is not one that the program must define.
    """
    ends = [found[1] for _, why in outcomes if why and (found := _NO_NAME.search(why))]
    is_free = _imported(ast.walk(tree)).isdisjoint(asked["modules"]) or bool(_stars(tree))
    if asked["kind"] == "file" and ends and not is_free:
        unknown = {*ends} & {*_free_names(asked["source"])}
        if unknown:
            raise BrokenTestsError(f"they define no {min(unknown)!r}")


_AT_LINE = re.compile(r"line ([0-9]+): ")


def _refuse_failing(tree: ast.Module, outcomes: list[tuple[str, str | None]]) -> None:
    """Raise BrokenTestsError if a test failed at a statement that fails whatever the program is, such as
    `assert 1 == 2`.
    """
    lines = {int(found[1]) for _, why in outcomes if why and (found := _AT_LINE.match(why))}
    holders: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    functions = [one for holder in holders for one in holder.body if isinstance(one, ast.FunctionDef)]
    constants = constants_of(tree)
    for body in [tree.body, *(one.body for one in functions if one.name.lower().startswith(("test", "check")))]:
        for statement in body:
            value: ast.expr | None = getattr(statement, "test" if isinstance(statement, ast.Assert) else "value", None)
            if isinstance(statement, ast.Assign | ast.Expr | ast.Assert) and value is not None:
                is_named = any(statement.lineno <= line <= (statement.end_lineno or 0) for line in lines)
                if is_named and is_data(value, constants) and (raised := _alone(statement, value, constants)):
                    raise BrokenTestsError(f"line {statement.lineno} of them fails for each program: {_words(raised)}")
            is_left = any(isinstance(node, ast.Return) for node in ast.walk(statement))
            if is_left and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                # statements behind a possible `return` are not reached with every program
                break


def _alone(statement: ast.stmt, value: ast.expr, constants: dict[str, ast.expr]) -> BaseException | None:
    """The exception that a statement raises by itself, such as the AssertionError of `assert 1 == 2`; None if it raises
    none. Only the constants that it names are defined before it.

    Args:
        statement: of the tests.
        value: the expression in it.
        constants: the variables of the tests that hold constant data, with their nodes.
    """
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} & constants.keys()
    above: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], constants[name]) for name in names]
    tried = ast.Assert(value) if isinstance(statement, ast.Assert) else ast.Expr(value)
    module = ast.fix_missing_locations(ast.Module([*above, tried], []))
    return _raised(compile(module, "<tests>", "exec"), {})


def _shown(name: str, at: int, known: set[str]) -> str:
    """The name of a test as a report may show it. A name that the tests build themselves may contain what they expect;
    it is replaced by the test's position, such as `test 3`.

    Args:
        name: of the test.
        at: its position.
        known: the names of functions and classes in the tests' source.
    """
    own = re.split(r"::|\.", name.partition("[")[0])[-1]
    return name if own in known or not own.isidentifier() else f"test {at}"


class _OwnProgram(Program):
    """The program in the tests' own process, for tests that work only there. In one process, the program could forge
    their outcomes; so they are run only if that is allowed.
    """

    def __init__(self, asked: dict[str, Any]) -> None:
        self._source = _emptied(asked["program"]) if asked["emptied"] else asked["program"]
        self._names = asked["modules"] or ["main"]
        # whatever goes wrong in this process may be the program's fault
        self.has_answered = self.is_used = True
        self.answers, self.cannot_travel, self.replays = 0, "", None
        self.withheld, self.known = {}, {}

    def wait_until_loaded(self) -> None:
        self._module = run_program.prepare(self._source, self._names[0])
        for name in self._names:
            sys.modules[name] = self._module
        run_program.execute(self._source, self._module)

    def get(self, name: str) -> Any:
        return getattr(self._module, name)

    def method(self, name: str) -> Any:
        return run_program.find(self._module, name)


def _emptied(program: str) -> str:
    """The program with functions that only raise NotImplementedError; unchanged if it cannot be parsed.

    Tests in the program's own process must fail with it. If they pass, they test nothing, or the program forges their
    outcomes.
    """
    try:
        tree = ast.parse(program)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                node.body = ast.parse("raise NotImplementedError").body
            elif isinstance(node, ast.Lambda):
                node.body = ast.Constant(None)
        return ast.unparse(ast.fix_missing_locations(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return program


def _words(exc: BaseException) -> str:
    """Where and how a test ended, such as `line 3: AssertionError`. What follows `HIDDEN` in the text may contain a
    value that the test expects; it is shown only if the test is public.
    """
    lines = traceback.format_exception_only(type(exc), exc)
    words = re.sub(rf"^{re.escape(__package__)}\.\w+\.", "", lines[-1].strip())
    if not ("is_of_program" in vars(exc) or type(exc).__module__.startswith(f"{__package__}.")):
        # `words` is only the last line of a message, so the message is not shown, and the name of the class is
        kind = type(exc).__name__
        words = f"{kind}{HIDDEN}{words.removeprefix(kind)}"
    where = [
        f"line {frame.lineno}"
        for frame in traceback.extract_tb(exc.__traceback__)
        if frame.filename.startswith("<tests") or frame.filename.endswith(PYTEST_FILE)
    ]
    return (f"{where[-1]}: " if where else "")[:40] + words[:_MOST_WORDS]


def _compiled(source: str, name: str = "<tests>") -> types.CodeType:
    """The compiled code of tests, in which comparisons are checked (`empty_arrays.guarded`) and loops are noted
    (`replays.watched`).

    Args:
        source: the tests.
        name: for messages.

    Raises:
        BrokenTestsError: the source is no Python.
    """
    # a unique file name, by which the lines of this source are found
    name = f"{name} {len(linecache.cache)}"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        return compile(empty_arrays.guarded(watched(ast.parse(source))), name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as exc:
        raise BrokenTestsError(f"the tests are no Python: {exc}") from None


def _raised(code: types.CodeType, names: dict[str, Any]) -> BaseException | None:
    """Run code; returns the exception that it raised, or None."""
    try:
        exec(code, names)  # noqa: S102 - the data set's tests
    except BaseException as exc:  # noqa: BLE001 - SystemExit ends no test well
        return exc
    return None


def _outcome(code: types.CodeType, names: dict[str, Any]) -> str | None:
    """Run code; returns None if it ran to its end, otherwise where and how it ended, such as
    `line 3: AssertionError`.
    """
    raised = _raised(code, names)
    return None if raised is None else _words(raised)


def _free_names(source: str) -> list[str]:
    """The names that `source` uses and does not define, so that something else must: `["f"]` for `assert f(1) == 2`.

    Built-in names are left out. If no other name remains, the function that an assertion calls is taken: `["sorted"]`
    for `assert sorted([2, 1]) == [1, 2]`.
    """
    tree = ast.parse(source)
    used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    asked, own = globals_of(source)
    free = [name for name in dict.fromkeys(used) if name in asked and name not in own]
    named = [name for name in free if not hasattr(builtins, name)]
    return named or [name for name in (_tested(tree),) if name and name not in own]


def _tested(tree: ast.Module) -> str | None:
    """The name of the function that an assertion calls, on the left side of its comparison: `f` for
    `assert f(1) == 2`.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            test = node.test.left if isinstance(node.test, ast.Compare) else node.test
            if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
                return test.func.id
    return None


def _world(setup: str, source: str, program: Program) -> dict[str, Any]:
    """The variables with which a test begins: those that its set-up code defines, and the names that it uses and that
    come from the program or the standard library.
    """
    names: dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
    setup_code = _compiled(setup, "<tests' set-up>")
    given = _given(f"{setup}\n{source}", program)
    # the set-up code gets only what it names: if it fails and has asked nothing of the program, that is its own fault
    used = {node.id for node in ast.walk(ast.parse(setup)) if isinstance(node, ast.Name)}
    names |= {name: get() for name, get in given.items() if name in used}
    if (raised := _raised(setup_code, names)) is not None:
        if program.has_answered:
            raise raised
        raise BrokenTestsError(f"the set-up of the tests fails: {_words(raised)}")
    return names | {name: get() for name, get in given.items() if name not in used}


# Modules that data sets' tests use without importing them, and those whose functions and classes they compare with
_STANDARD = {
    *("bisect", "cmath", "collections", "copy", "datetime", "decimal", "fractions", "functools", "heapq"),
    *("itertools", "json", "math", "operator", "os", "pytest", "random", "re", "statistics", "string", "sys"),
    "typing",
}
_COMPARED_WITH = (
    *("math", "collections", "fractions", "decimal", "datetime", "functools", "itertools", "heapq", "bisect", "typing"),
    *("copy", "pytest"),
)
_COMPARING = {"approx", "raises", "isclose", "inf", "nan", "pi"}
_SHORT = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot"}


def _given(source: str, program: Program, modules: Sequence[str] = ()) -> dict[str, partial[Any]]:
    """For each name that the tests use without defining it, a function that gives its value. Names such as `isclose`,
    by which tests compare, come from the standard library; all others, such as `solve`, from the program.

    A function whose results the tests check comes from the program even if the standard library has one of that name:
    `gcd` in `assert gcd(4, 6) == 2`.

    Args:
        source: the tests.
        program: the program.
        modules: the names under which the tests import the program.
    """
    named = _free_names(source)
    attributes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    held: dict[str, set[str]] = {}
    for node in attributes:
        if isinstance(node.value, ast.Name):
            held.setdefault(node.value.id, set()).add(node.attr)
    standard = {name: home for name in named if (home := _standard(name, held.get(name, set())))}
    tree = ast.parse(source)
    stars = _stars(tree)
    # names that the tests import by `*` from other modules than the program
    starred = {name: (home, name) for home in stars - {*modules} for name in _all_of(home) if name in named}
    standard |= starred
    for name in _tested_names(tree, set(named) - standard.keys()) & standard.keys():
        # `gcd` alone is the program's, `math.gcd` is not
        if len(standard[name]) == 2:
            del standard[name]
    if len(standard) == len(named):
        standard = {name: home for name, home in standard.items() if len(home) == 1}
    _refuse_judged(tree, set(named) - standard.keys())
    if stars:
        # with `from solution import *`, the program may define functions of those names
        kept = starred.keys() | _COMPARING
        standard = {name: home for name, home in standard.items() if name in kept or not _is_function(home)}
    return {
        name: partial(_imported_name, *standard[name]) if name in standard else partial(program.get, name)
        for name in named
    }


_COMPARATOR = re.compile(r"^assert_|(?:^|_)(?:is|all|are)?_?(?:close|approx|almost|near|nearly|same|equals?)(?:_|$)")


def _refuse_judged(tree: ast.Module, own: set[str]) -> None:
    """Raise BrokenTestsError if the tests would ask the program whether its own answer is right: if they call an
    undefined function that compares the answer with something, such as `is_close` in `assert is_close(f(1), 2.0)`.

    Args:
        tree: the tests.
        own: the names that the tests would ask from the program.
    """
    nodes = [*ast.walk(tree)]
    answers = own | _holding(nodes, own)
    asserted = [node.test for node in nodes if isinstance(node, ast.Assert)]
    for node in nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in own):
            continue
        called = [{one.id for one in ast.walk(part) if isinstance(one, ast.Name)} for part in node.args]
        # but a function of the program may compare two values of the program, such as trees
        is_judge = len(called) > 1 and any(names & answers for names in called)
        is_judge = is_judge and not all(names & answers for names in called)
        # what is asserted about an answer and a float can only be that they are near
        is_near = node in asserted and any(isinstance(getattr(part, "value", None), float) for part in node.args)
        if is_judge and (is_near or _COMPARATOR.search(node.func.id)):
            raise BrokenTestsError(f"they define no {node.func.id!r}, which compares the program's answer")


def _holding(nodes: Sequence[ast.AST], own: set[str]) -> set[str]:
    """The variables of the tests that hold an answer of the program: `x` after `x = f(1)`.

    Args:
        nodes: all syntax nodes of the tests.
        own: the names that come from the program, such as `f`.
    """
    told: set[str] = set()
    for node in (node for node in nodes if isinstance(node, ast.Assign)):
        if {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)} & (own | told):
            told |= {one.id for to in node.targets for one in ast.walk(to) if isinstance(one, ast.Name)}
    return told


def _stars(tree: ast.Module) -> set[str]:
    """The modules from which code imports everything: `{"math"}` for `from math import *`."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {node.module or "" for node in imports if any(alias.name == "*" for alias in node.names)}


def _tested_names(tree: ast.Module, own: set[str]) -> set[str]:
    """The functions whose results the tests check: `{"f"}` for `assert f(1) == 2`.

    Args:
        tree: the tests.
        own: names that are looked for in what is asserted. If it contains some of these, they count in place of the
            function that is called.
    """
    found: set[str] = set()
    nodes = [*ast.walk(tree)]
    own = own | _holding(nodes, own)
    for node in nodes:
        if isinstance(node, ast.Assert):
            looked: Sequence[ast.expr] = [node.test.left if isinstance(node.test, ast.Compare) else node.test]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert")
        ):
            looked = [part for part in node.args if isinstance(part, ast.Call)][:1]
        else:
            continue
        for part in looked:
            called = {inner.id for inner in ast.walk(part) if isinstance(inner, ast.Name)} & own
            # in `chain(f, g)(1)`, the function is `chain`
            while isinstance(part, ast.Call) and isinstance(part.func, ast.Call):
                part = part.func
            is_call = isinstance(part, ast.Call) and isinstance(part.func, ast.Name)
            found |= called or ({part.func.id} if is_call else set())  # type: ignore[attr-defined]
    return found


def _is_function(home: tuple[str, ...]) -> bool:
    """Whether a name of a standard module is not a class: true of `("math", "gcd")`, false of
    `("collections", "Counter")`.
    """
    return len(home) == 2 and not isinstance(_imported_name(*home), type)


def _standard(name: str, parts: set[str]) -> tuple[str, ...]:
    """The place in the standard library of a name that tests use without importing it: `("math",)` for the module
    `math`, `("math", "isclose")` for `isclose`. An empty tuple if the standard library has no such name that tests use.

    Args:
        name: that the tests use.
        parts: the attributes of it that they use, such as `sqrt` in `math.sqrt`.
    """
    if name in _SHORT and parts:
        return (_SHORT[name],)
    if name in _STANDARD and parts and all(hasattr(importlib.import_module(name), part) for part in parts):
        return (name,)
    found = (home for home in _COMPARED_WITH if name in _public(home))
    return next(((home, name) for home in found), ())


@functools.cache
def _public(home: str) -> set[str]:
    """The names of a module that a test may use without importing them: `gcd` of `math`, for example."""
    if home == "pytest":
        return {"approx", "raises"}
    module = importlib.import_module(home)
    names = getattr(module, "__all__", None) or [name for name in vars(module) if name[0] != "_"]
    # a variable may be called `e`
    return {name for name in names if len(name) > 1}


def _all_of(home: str) -> set[str]:
    """The names that `from home import *` imports; an empty set if there is no such module."""
    try:
        module = importlib.import_module(home)
    except ImportError:
        return set()
    return {*(getattr(module, "__all__", None) or (name for name in vars(module) if name[0] != "_"))}


def _imported_name(home: str, name: str = "") -> Any:
    """The module `home`, or the object that `name` is in it: the function for `math` and `gcd`.

    Raises:
        BrokenTestsError: there is no such module.
    """
    try:
        module = importlib.import_module(home)
    except ImportError:
        raise BrokenTestsError(f"there is no module {home!r}") from None
    return getattr(module, name) if name else module


def _asserts(asked: dict[str, Any], program: Program) -> list[tuple[str, str | None]]:
    """Run a test of the kind `assert`, which is a few statements such as `assert f(1) == 2`. Returns its name and why
    it failed; None if it passed.
    """
    source = asked["source"]
    code, names = _compiled(source), _world(asked["setup"], source, program)
    return [(name := f"test {asked['number']}", _repeatable(program, name, code, names))]


def _repeatable(program: Program, name: str, code: types.CodeType, names: dict[str, Any]) -> str | None:
    """Run code that is a whole test, and record it so that `Replays` can run it again. Returns None if it passed,
    otherwise where and how it ended.
    """
    begun = {**names}
    if program.replays:
        program.replays.begin()
    why = _outcome(code, names)
    if program.replays:
        # each replay begins with variables of its own
        program.replays.end(name, None if why else lambda: exec(code, {**begun}))  # noqa: S102 - the tests
    return why


def _check(asked: dict[str, Any], program: Program) -> list[tuple[str, str | None]]:
    """Run a test of the kind `check`, as HumanEval writes it: `check(candidate)`, with the program's function. Code in
    the task's prompt belongs to the tests as well. Returns the test's name and why it failed; None if it passed.
    """
    names: dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
    for part in (asked["setup"], asked["source"]):
        if (why := _outcome(_compiled(part), names)) is not None:
            raise BrokenTestsError(f"the tests cannot be defined: {why}")
        # the program may define these names, too
        program.known |= {name: one for name, one in names.items() if getattr(one, "__module__", "") == "tests"}
    if not callable(names.get("check")):
        raise BrokenTestsError("the tests define no `check`")
    given = _given(f"{asked['setup']}\n{asked['source']}", program)
    names |= {name: get() for name, get in given.items() if get.func is _imported_name}
    candidate = program.method(asked["entry"])
    names["_candidate"] = names[asked["entry"]] = candidate
    return [("check", _repeatable(program, "check", _compiled("check(_candidate)"), names))]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes `import solution` in the tests import the program: a module whose attributes are asked from the program's
    process.

    Args:
        modules: the names under which the tests import the program.
        program: the program.
        named: the names that the tests use from it.
    """

    def __init__(self, modules: Sequence[str], program: Program, named: Sequence[str]) -> None:
        self._modules, self._program, self._named = modules, program, named
        self._loaded = set[str]()

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self) if name in self._modules else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _ProgramModule(spec.name, self._program, self._named)

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ in self._loaded:
            self._program.ask({"do": "reload"})
        self._loaded.add(module.__name__)


# Special attributes that only a test reads of a module, and no importer
_OF_MODULE = {"__version__", "__author__", "__license__"}


class _ProgramModule(types.ModuleType):
    """The module that tests get by `import solution`. To read or set an attribute, as in `solution.solve`, asks the
    program's process.
    """

    def __init__(self, name: str, program: Program, named: Sequence[str]) -> None:
        super().__init__(name)
        self.__dict__.update(_program=program, _named=named)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            # only names that are the program's here: none may replace what the tests have from elsewhere, such as `abs`
            return [one for one in self._program.names() if one in self._named]
        if name.startswith("__") and name not in _OF_MODULE:
            raise AttributeError(name)
        return self._program.get(name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            self._program.ask({"do": "patch", "name": name, "value": self._program.pack(value)})

    def __delattr__(self, name: str) -> None:
        # a patch has ended
        self._program.ask({"do": "unpatch", "name": name})


def _file(asked: dict[str, Any], program: Program) -> list[tuple[str, str | None]]:
    """Run a test of the kind `file`: under pytest if the file needs that, otherwise under unittest. Returns the name of
    each test in it, and why it failed; None if it passed.
    """
    source, modules = asked["source"], asked["modules"]
    code = _compiled(source)
    given = _given(source, program, modules)
    named = [name for name, get in given.items() if get.func is not _imported_name]
    if not isinstance(program, _OwnProgram):
        sys.meta_path.insert(0, _Finder(modules, program, named))
    tree = ast.parse(source)
    imported = _imported(ast.walk(tree))
    if "pytest" in imported or (asked["framework"] == "pytest" and _needs_pytest(tree)):
        if imported.isdisjoint(modules) and named and "__future__" not in imported:
            source = f"from {modules[0]} import {', '.join(named)}\n{source}"
        return _with_pytest(source, program, {name: given[name]() for name in given.keys() - set(named)})
    is_free = imported.isdisjoint(modules)
    known = {name: get() for name, get in given.items() if is_free or name not in named}

    def make() -> types.ModuleType:
        sys.modules["tests"] = module = types.ModuleType("tests")
        module.__dict__.update(known)
        exec(code, module.__dict__)  # noqa: S102 - the data set's tests
        return module

    try:
        module = make()
    except BaseException as exc:  # noqa: BLE001 - whose fault it is, the caller decides
        if program.has_answered:
            return [("the tests' imports", _words(exc))]
        raise BrokenTestsError(f"the tests cannot be imported: {_words(exc)}") from None
    return _with_unittest(module, program, make)


# Names that have to do with files, which tests and a program share if the tests cannot run what a file holds
_OF_FILES = {"open", "tempfile", "tmp_path", "tmpdir", "tmp_path_factory"}
_NEAR_FILES = {"pathlib", "shutil", "glob"}
_FOLDER = {"os.chdir", "monkeypatch.chdir"}
_LOGS = {"caplog", "self.assertLogs", "self.assertNoLogs"}
# Modules that read files as data, and do nothing else with them
_READING = {
    *("__future__", "abc", "base64", "binascii", "bisect", "bz2", "calendar", "collections", "collections.abc"),
    *("configparser", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum"),
    *("errno", "filecmp", "fnmatch", "fractions", "functools", "glob", "gzip", "hashlib", "heapq", "html"),
    *("inspect", "io", "itertools", "json", "logging", "lzma", "math", "numbers", "operator", "os", "os.path"),
    *("pathlib", "pprint", "pytest", "queue", "random", "re", "secrets", "shutil", "sqlite3", "stat", "statistics"),
    *("string", "struct", "sys", "tempfile", "textwrap", "threading", "time", "traceback", "types", "typing"),
    *("unittest", "unittest.mock", "urllib.parse", "uuid", "warnings", "xml.etree.ElementTree", "zipfile"),
    "zlib",
}
# Of modules that do more: the names that only read
_READING_OF = {
    "os": {
        *("R_OK", "W_OK", "X_OK", "F_OK", "access", "chdir", "chmod", "close", "environ", "fspath", "getcwd", "getenv"),
        *("linesep", "listdir", "makedirs", "mkdir", "name", "path", "remove", "removedirs", "rename", "replace"),
        *("rmdir", "scandir", "sep", "stat", "unlink", "utime", "walk", "PathLike"),
    },
    "sys": {"argv", "byteorder", "exit", "maxsize", "platform", "stderr", "stdin", "stdout", "version_info"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "disk_usage", "move", "rmtree", "which"},
    "unittest": {
        *("IsolatedAsyncioTestCase", "TestCase", "expectedFailure", "main", "mock", "skip", "skipIf", "skipUnless")
    },
    "logging": {
        *("CRITICAL", "DEBUG", "ERROR", "FileHandler", "Formatter", "INFO", "Logger", "StreamHandler", "WARNING"),
        *("disable", "getLogger"),
    },
    "pytest": {"approx", "fail", "fixture", "importorskip", "mark", "param", "raises", "skip", "warns"},
}
_RUNNING = {"eval", "exec", "compile", "__import__", "globals", "vars", "pytester", "testdir"}
# Names that work only with the program in the tests' own process
_OF_STATE = {"pickle", "doctest", "gc", "freezegun", "time_machine", "recwarn", "capfd"}
_OF_WORLD = {"np.random.seed", "numpy.random.seed", "os.putenv", "monkeypatch.syspath_prepend"}
# Names of `inspect` that work for a stand-in as well
_INSPECTED = {
    *("isgenerator", "isclass", "isawaitable", "iscoroutine", "iscoroutinefunction"),
    *("signature", "Parameter", "Signature", "getdoc", "cleandoc"),
}
_OF_CODE = {"__code__", "__closure__"}
_PATCHES = {"patch", "object", "dict", "multiple", "setattr", "delattr", "setitem", "delitem"}
# Targets of patches that work with two processes: the program's process asks the tests' process for them
_SERVED = {"builtins.input", "sys.argv", "sys.stdin", "sys.stdout", "sys.stderr", "os.environ", *PATCHABLE}


class _Needs(NamedTuple):
    """The things that tests need of the program beside calls and data.

    Attributes:
        interpreter: in words, what the tests use that works only with the program in their own process; None if they
            use nothing of that kind.
        files: whether they share files with the program.
        logs: whether they read what the program logs.
    """

    interpreter: str | None
    files: bool
    logs: bool


def _needs(tree: ast.Module, modules: Sequence[str], setup: str | None) -> _Needs:
    """The things that tests need of the program beside calls and data: files, logs, or the program in their own
    process.

    Args:
        tree: the tests.
        modules: the names under which they import the program.
        setup: code that runs before them; None if files cannot be shared with the program.
    """
    nodes = _used([node for part in tree.body if not _is_script(part) for node in ast.walk(part)])
    names = {node.arg for node in nodes if isinstance(node, ast.arg)} | _imported(nodes)
    names |= {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    paths = {ast.unparse(node) for node in attributes}
    near = {path for path in paths if path.startswith("os.") and path.split(".")[1] in _READING_OF["os"] - {"environ"}}
    wants = names & _OF_FILES | paths & _FOLDER
    is_read = setup is not None and _only_reads(nodes, setup, modules)
    found = set() if is_read else wants
    found |= names & _OF_STATE | paths & _OF_WORLD | {node.attr for node in attributes} & _OF_CODE
    looks = {node.attr for node in attributes if ast.unparse(node.value) == "inspect"} | _named_of(nodes, "inspect")
    found |= {"inspect"} if "inspect" in names and not (looks and looks <= _INSPECTED) else set()
    found |= paths & {f"{name}.__file__" for name in modules}
    found |= {what for node in nodes if isinstance(node, ast.Call) and (what := _patched(node, nodes, modules))}
    files = is_read and bool(wants or near or names & _NEAR_FILES)
    return _Needs(f"they use {min(found)!r}" if found else None, files, bool(names & _LOGS or paths & _LOGS))


def _used(nodes: list[ast.AST]) -> list[ast.AST]:
    """The nodes without the imports of standard modules that the tests never use."""
    named = {node.id for node in nodes if isinstance(node, ast.Name)}

    def is_idle(node: ast.AST) -> bool:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return False
        given = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        homes = {one.partition(".")[0] for one in _modules_of(node)}
        return given.isdisjoint(named | {"*"}) and homes <= sys.stdlib_module_names

    return nodes if named & (_RUNNING - {"vars"}) else [node for node in nodes if not is_idle(node)]


def _is_script(part: ast.stmt) -> bool:
    """Whether a statement is `if __name__ == "__main__": …`, which runs only if the file is started as a script."""
    return isinstance(part, ast.If) and ast.unparse(part.test) == "__name__ == '__main__'"


def _named_of(nodes: Sequence[ast.AST], module: str) -> set[str]:
    """The names that code imports from a module: `{"signature"}` for `from inspect import signature`."""
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == module]
    return {alias.name for node in imports for alias in node.names}


def _only_reads(nodes: Sequence[ast.AST], setup: str, modules: Sequence[str]) -> bool:
    """Whether tests use files only as data. The program may have written a file, so the tests must not run or import
    what it holds.

    Args:
        nodes: all syntax nodes of the tests.
        setup: code that runs before them.
        modules: the names under which they import the program.
    """
    try:
        nodes = [*nodes, *ast.walk(ast.parse(setup))]
    except (SyntaxError, ValueError):
        return False
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    if not _imported(nodes) <= {*_READING, *modules} or names & _RUNNING:
        return False
    aliases = {
        alias.asname or alias.name: alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
    }
    attributes = [(ast.unparse(node.value), node.attr) for node in nodes if isinstance(node, ast.Attribute)]
    used = {(aliases.get(home, home), name) for home, name in attributes}
    used |= {(module, name) for module in _READING_OF for name in _named_of(nodes, module)}
    return all(name in _READING_OF.get(home, {name}) for home, name in used)


def _patched(call: ast.Call, nodes: Sequence[ast.AST], modules: Sequence[str]) -> str | None:
    """The path of what a call such as `patch("time.localtime", fake)` replaces, if that is outside the program and must
    be replaced in the program's process too: `time.localtime`. None for anything else.
    """
    path = ast.unparse(call.func).split(".")
    if not call.args or path[-1] not in _PATCHES or not {"patch", "monkeypatch", "mock"} & set(path):
        return None
    first = call.args[0]
    if isinstance(first, ast.Constant):
        target = str(first.value)
        return None if target in _SERVED or target.partition(".")[0] in modules else target
    target = ast.unparse(first)
    if len(call.args) > 1 and isinstance(call.args[1], ast.Constant):
        full = f"{target}.{call.args[1].value!s}"
        target = full if full in _SERVED else target
    foreign = {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom) and not {*_modules_of(node)} & {*modules}
        for alias in node.names
    }
    return target if target not in _SERVED and target.partition(".")[0] in foreign else None


def _needs_pytest(tree: ast.Module) -> bool:
    """Whether the tests work only under pytest: a test function takes fixtures, as in `def test_sum(tmp_path)`, or
    there is a function such as `setup_module`.
    """
    holders: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for holder in holders:
        own = [node for node in holder.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        for function in own:
            taken = len(function.args.args) - (holder is not tree)
            if function.name.startswith(("setup_", "teardown_")) or (function.name.startswith("test") and taken > 0):
                return True
    return False


def _imported(nodes: Iterable[ast.AST]) -> set[str]:
    """The modules that code imports, by name: `{"math", "os.path"}` for `import math, os.path`."""
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return {name for node in imports for name in _modules_of(node)}


def _modules_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that one import statement names: `["os", "re"]` for `import os, re`."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names]


class _UnaskedError(BaseException):
    """Ends a test in the second run of `_mute`, in which the program answers no question."""


@contextlib.contextmanager
def _mute(program: Program) -> Iterator[list[str]]:
    """While the block runs, the program gives the values of names and attributes, such as `solve`, but answers no other
    question: a test that calls `solve(2)` ends.

    Used for a second run of tests, to see which ones are skipped whatever the program answers. The list collects the
    questions that were refused.
    """
    asked: list[str] = []
    ask = program.ask

    def refuse(request: dict[str, Any], *given: Any, **named: Any) -> Any:
        if request["do"] in ("module", "method", "names", "attr"):
            return ask(request, *given, **named)
        asked.append(request["do"])
        raise _UnaskedError

    vars(program)["ask"] = refuse
    try:
        yield asked
    finally:
        vars(program)["ask"] = ask


_NOTHING: tuple[str, ...] = ()


class _Outcomes(unittest.TestResult):
    """A result of unittest, in the tests' process, that records the outcome of each test.

    Args:
        program: the program.
        asked: for the second run, with `_mute`: the list of refused questions.

    Attributes:
        outcomes: for each test: its name, and why it failed; None if it passed.
        skipped: the tests that were skipped, wholly or in part, before they asked the program anything.
    """

    def __init__(self, program: Program, asked: Sequence[str] = _NOTHING) -> None:
        super().__init__()
        self._program, self._answers = program, 0
        self._asked, self._begun = asked, len(asked)
        self._replays = program.replays if asked is _NOTHING else None
        self.outcomes: list[tuple[str, str | None]] = []
        self.skipped: set[str] = set()  # type: ignore[assignment]
        self._why: dict[str, str] = {}

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802 - unittest calls it
        if err is not None:
            self._why.setdefault(test.id(), _words(err[1]))

    def _note(self, test: Any, why: str) -> None:
        self._why.setdefault(test.id(), why)

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802 - unittest calls it
        self._note(test, _words(err[1]))
        if not isinstance(test, unittest.TestCase):
            self.outcomes.append((str(test), _words(err[1])))

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802 - unittest calls it
        self._note(test, _words(err[1]))

    def startTest(self, test: Any) -> None:  # noqa: N802 - unittest calls it
        super().startTest(test)
        self._answers = self._program.answers
        if self._replays:
            self._replays.begin()

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802 - unittest calls it
        whole = getattr(test, "test_case", test)
        if len(self._asked) == self._begun:
            self.skipped.add(whole.id())
        if self._program.answers > self._answers and whole is not test:
            self._note(whole, SKIPPED)
        elif whole is test:
            self._why[test.id()] = "skipped"

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802 - unittest calls it
        self._note(test, "passed, and was expected to fail")

    def stopTest(self, test: Any) -> None:  # noqa: N802 - unittest calls it
        super().stopTest(test)
        self._begun = len(self._asked)
        why, name = self._why.get(test.id()), test.id().removeprefix("tests.")
        if why != "skipped":
            self.outcomes.append((name, why))
        if self._replays:
            self._replays.end(name, None if why else partial(_run_again, test))

    def refuse(self, skipped: set[str]) -> None:
        """Count these tests as failed: they were skipped only because of what the program answered."""
        names = {name.removeprefix("tests.") for name in skipped}
        self.outcomes = [one for one in self.outcomes if one[0] not in names]
        self.outcomes += [(name, SKIPPED) for name in sorted(names)]


def _run_again(test: unittest.TestCase) -> None:
    """Run a test case again, for `Replays`. Raises AssertionError if it does not pass."""
    test.run(result := unittest.TestResult())
    if not result.wasSuccessful() or result.skipped:
        raise AssertionError


def _with_unittest(
    module: types.ModuleType, program: Program, make: Callable[[], types.ModuleType]
) -> list[tuple[str, str | None]]:
    """Run the TestCases of a module, and its functions `test…` and classes `Test…` that pytest would run. Returns the
    name of each test, and why it failed; None if it passed.

    Args:
        module: the tests.
        program: the program.
        make: makes the module again, for the second run that shows which tests are skipped whatever the program
            answers.
    """
    tally = _Outcomes(program)
    _suite(module).run(tally)
    if tally.skipped and program.answers:
        with _mute(program) as asked:
            alone = _Outcomes(program, asked)
            # if the module itself asks the program something, each skip may be due to the answer
            with contextlib.suppress(BaseException):
                _suite(make()).run(alone)
        tally.refuse(tally.skipped - alone.skipped)
    return tally.outcomes


def _suite(module: types.ModuleType) -> unittest.TestSuite:
    """The TestCases of a module, and its functions `test…` and classes `Test…`, as a suite of unittest.

    Raises:
        BrokenTestsError: a function takes arguments, as only those for pytest do.
    """
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    for name, one in list(vars(module).items()):
        if name.startswith("test") and isinstance(one, types.FunctionType):
            if inspect.signature(one).parameters:
                raise BrokenTestsError(f"{name} takes arguments: say that the framework is pytest")
            suite.addTest(_PlainTest(one))
        elif name.startswith("Test") and type(one) is type and not issubclass(one, unittest.TestCase):
            suite.addTest(unittest.defaultTestLoader.loadTestsFromTestCase(type(name, (one, unittest.TestCase), {})))
    return suite


class _PlainTest(unittest.FunctionTestCase):
    """A test of unittest that runs one function; its name is that of the function, such as `test_sum`."""

    def id(self) -> str:
        return str(super().id()).rpartition(".")[2]


def _with_pytest(source: str, program: Program, given: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Run a file of tests under pytest. Returns the name of each test, and why it failed; None if it passed.

    Args:
        source: the file.
        program: the program.
        given: names that the file uses without defining them, and their values.
    """
    try:
        from agentscope_tuner.verify.code.inside import run_pytest
    except ImportError:
        raise BrokenTestsError("the tests need pytest, which is not installed: it is in the extra `code`") from None
    # pytest itself imports the file
    vars(builtins).update(given)
    listener = run_pytest.outcomes(source, lambda: program.answers, replays=program.replays)
    if listener.skipped and program.answers:
        with _mute(program) as asked:
            alone = run_pytest.outcomes(source, lambda: program.answers, asked)
        listener.outcomes |= dict.fromkeys(listener.skipped - alone.skipped, SKIPPED)
    if listener.broken and (listener.is_known or not program.has_answered):
        raise BrokenTestsError(f"the tests cannot be imported: {listener.broken}")
    if listener.broken:
        why = _words(listener.error) if listener.error else "pytest ended before the tests did"
        return [("the tests' imports", why)]
    errors, found = listener.errors, dict[str, str | None]()
    for name, failed in listener.outcomes.items():
        # if the program decides with which values a test is run, all its runs count as one test
        own = name.partition("[")[0] if listener.is_sized else name
        found[own] = found.get(own) or (_words(errors[name]) if failed and name in errors else failed)
    return [*found.items()]


_RUNNERS = {"assert": _asserts, "check": _check, "file": _file}
