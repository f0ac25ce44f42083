"""Reads tests as data sets write them: APPS, TACO, LiveCodeBench, open-r1, PrimeIntellect, MBPP, HumanEval, KodCode …

Every reader accepts only what its data set writes. A row that no reader accepts is an error of the row, and never
counts as a wrong answer. The tests of a row become a `TestSet`.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import pickle
import re
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from agentscope_tuner.bounds import json_or
from agentscope_tuner.errors import told
from agentscope_tuner.verify.code.inside.code_values import globals_of


@dataclass(frozen=True, slots=True)
class StdinTest:
    """A test by standard input and output: the program reads `given`, such as `2 3`, and must print `expected`, such as
    `5`.

    Attributes:
        given: the input.
        expected: the output.
        public: whether the policy may have seen the test.
        number: its position in the data set, from 1.
    """

    given: str
    expected: str
    public: bool = False
    number: int = 0

    @property
    def size(self) -> int:
        """How expensive the test is likely to be: tests with a small size are run first."""
        return len(self.given)


@dataclass(frozen=True, slots=True)
class CallTest:
    """A test by a call: the function `name`, or the method `name` of the class `Solution`, called with `arguments`,
    must return one of the values `expected`.

    Attributes:
        name: of the function.
        arguments: of the call.
        expected: the results that are right.
        size: how expensive the test probably is.
        public: whether the policy may have seen the test.
        number: its position in the data set, from 1.
        length: bytes of an expected result as JSON.
    """

    name: str
    arguments: Sequence[object]
    expected: Sequence[object]
    size: int
    public: bool = False
    number: int = 0
    length: int = 0


@dataclass(frozen=True, slots=True)
class CodeTest:
    """A test that is code: assertions, or a whole file of tests.

    Attributes:
        kind: `assert`: statements such as `assert f(1) == 2`; `check`: HumanEval's function of that name; `file`: a
            file of pytest or unittest.
        source: the code.
        setup: code that is run before it.
        entry: the function under test, if the data set names it.
        modules: names under which the tests import the program.
        framework: that runs a file.
    """

    kind: Literal["assert", "check", "file"]
    source: str
    setup: str = ""
    entry: str = ""
    modules: Sequence[str] = ()
    framework: Literal["pytest", "unittest"] = "unittest"
    public: bool = False
    number: int = 0

    @property
    def size(self) -> int:
        """How expensive the test is likely to be: tests with a small size are run first."""
        return len(self.source)


Test = StdinTest | CallTest | CodeTest


@dataclass(frozen=True, slots=True)
class TestSet:
    """All tests of one task, with what its row says about how to run them.

    Attributes:
        tests: in the data set's order.
        preamble: code of the task that is put above the program, such as the imports of HumanEval's prompt.
        prompt: the code that the program continues, if the policy may write the continuation alone.
        entry: the function that such a program defines.
        language: of the program, if the row says it.
        solution: a right program, if the row has one.
        tolerance: by which floats may differ, if the row says it.
        unordered: whether lines, or items of a list, may come in any order.
        weights: of the tests, if the row has them.
        checker: a script of the data set that judges what a program prints, if several outputs are right. It is started
            as `checker.py input.txt correct_output.txt solution_output.txt` and prints a score.
    """

    tests: Sequence[Test]
    preamble: str = ""
    prompt: str = ""
    entry: str = ""
    language: str = ""
    solution: str = ""
    tolerance: float | None = None
    unordered: bool = False
    weights: Sequence[float] = ()
    checker: str = ""

    # pytest takes classes of such names for tests of its own
    __test__ = False


# Bytes of one row's tests, unpacked
_MOST_BYTES = 256 * 2**20
_MOST_DEPTH = 8
_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
# how rows of LeetCode name a method
_OF_SOLUTION = "Solution()."
_MISSING = object()
# Python's warnings about a row's code, such as "invalid escape sequence", are of no use in a log
_FILE_NAME = "<code of a row>"
warnings.filterwarnings("ignore", module=re.escape(_FILE_NAME))


class BadTestsError(ValueError):
    """The tests of a row cannot be read; the message names the part and the reason, such as
    `2 inputs and 3 outputs`.
    """


class UnknownFormError(BadTestsError):
    """A mapping of tests has keys that no known data set uses."""


_BESIDE = ("solution", "tolerance", "unordered")


def read_tests(value: object, row: Mapping[str, Any] | None = None) -> TestSet:
    """The tests of a task, such as `{"inputs": ["1"], "outputs": ["2"]}`, as a `TestSet`.

    Args:
        value: tests in the form of a data set that the module names, or their JSON text.
        row: the row that holds them: its other columns may say how outputs are compared, such as `tolerance`.

    Raises:
        BadTestsError: the value has no such form, holds no test, or only tests that a program which does nothing
            passes.
    """
    found = _read(_plain(value), _MOST_DEPTH)
    if not found.tests:
        raise BadTestsError("there is no test")
    if all(isinstance(test, StdinTest) and not test.expected.strip() for test in found.tests):
        raise BadTestsError("every expected output is empty, so a program that prints nothing would pass")
    if all(isinstance(test, CallTest) and None in test.expected for test in found.tests):
        raise BadTestsError("every expected result is null, so a function that does nothing would pass")
    if row is not None:
        # a column `weights` may be about something else
        weighted = isinstance(row.get("weights"), list) and len(row["weights"]) == len(found.tests)
        found = _with_row(found, {key: row.get(key) for key in (*_BESIDE, *(["weights"] if weighted else []))})
    return replace(found, tests=[replace(test, number=at) for at, test in enumerate(found.tests, 1)])


def _read(value: Any, depth: int) -> TestSet:
    if depth == 0:
        raise BadTestsError("tests within tests within tests")
    if isinstance(value, str):
        return _read_text(value, depth)
    if isinstance(value, Mapping):
        for keys, reader in _MAPPINGS:
            if all(value.get(key) is not None for key in keys):
                return _with_row(reader(value, depth), value)
        raise UnknownFormError(f"no known form of tests has the keys {sorted(map(str, value))[:12]}")
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return TestSet(_in_turn(value))
        return TestSet(_samples(value))
    raise BadTestsError(f"tests must be a mapping, a list or JSON text, got {type(value).__name__}")


def _with_row(found: TestSet, row: Mapping[str, Any]) -> TestSet:
    solution = row.get("solution", row.get("canonical_solution", row.get("code", row.get("reference_solution"))))
    return replace(
        found,
        solution=found.solution or (solution if isinstance(solution, str) else ""),
        language=found.language or _word(row.get("language")),
        tolerance=found.tolerance if row.get("tolerance") is None else _number(row["tolerance"], "tolerance"),
        unordered=found.unordered or row.get("unordered") is True,
        weights=found.weights or _weights(row.get("weights"), len(found.tests)),
        checker=found.checker or _checker(row),
    )


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise BadTestsError(f"{where} must be a number of 0 or more, got {value!r:.40}")
    return float(value)


def _weights(value: object, tests: int) -> list[float]:
    if value is None:
        return []
    weights = [_number(one, "weights") for one in _listed(value, "weights")]
    if len(weights) != tests or not sum(weights):
        raise BadTestsError(f"weights must be {tests} numbers, one a test, and not all 0")
    return weights


def _checker(row: Mapping[str, Any]) -> str:
    checker = row.get("generated_checker", row.get("checker"))
    return "" if checker is None else _string(checker, "checker")


def _word(value: object) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


def _read_text(text: str, depth: int) -> TestSet:
    value = json_or(text, _MISSING)
    if value is not _MISSING:
        if not isinstance(value, dict | list | str):
            raise BadTestsError(f"JSON text of a {type(value).__name__}")
        return _read(value, depth - 1)
    if _is_file(text):
        return TestSet([_file(text, "pytest", "")])
    if re.search(r"^[^\S\n]*assert\b", text, re.MULTILINE):
        return TestSet([_assert(text)])
    raise BadTestsError("text that is neither JSON nor tests in Python")


def _is_file(text: str) -> bool:
    return re.search(r"^[^\S\n]*def test|^class \w+\(.*TestCase", text, re.MULTILINE) is not None


def _plain(value: Any, depth: int = 32) -> Any:
    """A value in which lists and dictionaries are of built-in types: `[1, 2]` for numpy's array of 1 and 2, as rows of
    Parquet hold them.
    """
    if depth == 0:
        raise BadTestsError("nested too deep")
    if hasattr(value, "tolist") and not isinstance(value, str | bytes):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(part, depth - 1) for key, part in value.items()}
    return [_plain(part, depth - 1) for part in value] if isinstance(value, list | tuple) else value


def _listed(value: object, where: str) -> list[Any]:
    if isinstance(value, str):
        value = _json(value, where)
    if not isinstance(value, list):
        raise BadTestsError(f"{where} must be a list, got {type(value).__name__}")
    return value


def _json(text: str, where: str) -> Any:
    with told(f"{where} is no JSON", ValueError, RecursionError, to=BadTestsError):
        return json.loads(text)


def _string(value: object, where: str) -> str:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        # TACO keeps some texts as lists of lines
        value = "\n".join(value)
    if not isinstance(value, str):
        raise BadTestsError(f"{where} must be text, got {type(value).__name__}")
    return value


def _pairs(row: Mapping[str, Any], depth: int) -> TestSet:
    """Reads `{inputs, outputs, fn_name?, assert_case?}`, as APPS and TACO write it. A key with `?` may be missing."""
    if row.get("assert_case"):
        return TestSet(_in_turn([_string(one, "assert_case") for one in _listed(row["assert_case"], "assert_case")]))
    inputs, outputs = _listed(row["inputs"], "inputs"), _listed(row["outputs"], "outputs")
    if len(inputs) != len(outputs):
        raise BadTestsError(f"{len(inputs)} inputs and {len(outputs)} outputs")
    if not (name := row.get("fn_name")):
        pairs = zip(inputs, outputs, strict=True)
        return TestSet([_stdin(given, wanted, at) for at, (given, wanted) in enumerate(pairs, 1)])
    written = _written(outputs)
    return TestSet(
        [
            _call(name, _with_numbers(given), wanted, at, written)
            for at, (given, wanted) in enumerate(zip(inputs, outputs, strict=True), 1)
        ]
    )


class _Outputs(NamedTuple):
    """How a row writes the results that its functions must return; decides how an expected result is read.

    Attributes:
        wrapped: every output is a list of one item. APPS wraps each value in a list, so either the list or its item is
            meant.
        native: some outputs are no text. Then an output that is text is itself the value, and not JSON of a value.
        raw: some outputs are text that is no JSON. Then other texts may be plain text, too, even if they are JSON, such
            as `5`.
    """

    wrapped: bool
    native: bool
    raw: bool


def _written(outputs: Sequence[object]) -> _Outputs:
    texts = [wanted for wanted in outputs if isinstance(wanted, str)]
    return _Outputs(
        wrapped=all(isinstance(wanted, list) and len(wanted) == 1 for wanted in outputs),
        native=len(texts) < len(outputs),
        raw=any(json_or(text, text) == text for text in texts),
    )


def _with_numbers(given: Any) -> Any:
    """APPS's arguments with int keys, which JSON has turned into text: `[{1: 2}]` for `[{"1": 2}]`."""
    first = given[0] if isinstance(given, list) and given else None
    if not isinstance(first, dict) or not first or not all(_WHOLE.match(str(key)) for key in first):
        return given
    return [{int(key): value for key, value in first.items()}, *given[1:]]


def _stdin(given: object, wanted: object, at: int, *, public: bool = False) -> StdinTest:
    return StdinTest(_string(given, f"input {at}"), _string(wanted, f"output {at}"), public)


def _call(name: object, given: Any, wanted: Any, at: int, written: _Outputs, *, public: bool = False) -> CallTest:
    name = _string(name, "fn_name").removeprefix(_OF_SOLUTION)
    if not name.isidentifier():
        raise BadTestsError(f"fn_name {name!r:.60} is no name of a function")
    expected = [wanted, wanted[0]] if written.wrapped else [wanted]
    if isinstance(given, str):
        lines = [line for line in given.split("\n") if line.strip()]
        arguments = [_json(line, f"line {number} of input {at}") for number, line in enumerate(lines, 1)]
        if isinstance(wanted, str):
            # APPS writes an expected text as it is, LiveCodeBench as JSON
            own = json_or(wanted, wanted)
            expected = [own, *([wanted] if written.raw and own != wanted else [])]
    else:
        arguments = _listed(given, f"input {at}")
        # beside arguments that are a list, an expected text may be the value itself, or JSON of it
        expected += [json_or(wanted, wanted)] if isinstance(wanted, str) and not written.native else []
    size = len(json.dumps(arguments))
    if "NaN" in (told := json.dumps(expected)) and any(map(_holds_nan, expected)):
        raise BadTestsError(f"output {at} holds NaN, which no result equals: leave the test out")
    return CallTest(name, arguments, expected, size, public, length=len(told) // len(expected))


def _holds_nan(value: Any) -> bool:
    if isinstance(value, list | dict):
        return any(map(_holds_nan, value.values() if isinstance(value, dict) else value))
    return bool(value != value)


def _samples(items: Sequence[Any], *, name: str = "", public: bool = False) -> list[Test]:
    for at, item in enumerate(items, 1):
        if not isinstance(item, Mapping) or "input" not in item or "output" not in item:
            raise BadTestsError(f"test {at} must have `input` and `output`, got {_shown(item)}")
    written = _written([item["output"] for item in items])
    return [_sample(item, at, name, written, public=public) for at, item in enumerate(items, 1)]


def _sample(item: Mapping[str, Any], at: int, name: str, written: _Outputs, *, public: bool) -> Test:
    """Reads one test `{input, output, fn_name?, testtype?, metadata?}` of LiveCodeBench, open-r1, PrimeIntellect or
    DeepCoder; a key with `?` may be missing.

    Args:
        at: the test's number, for messages.
        name: the function that the row names for all of its tests; empty if programs are scripts.
    """
    name = item.get("fn_name") or _named_in(item) or name
    kind = item.get("testtype") or item.get("type") or ""
    if kind not in ("", "stdin", "stdin_stdout", "functional", "function_call"):
        raise BadTestsError(f"test {at} is of type {kind!r:.40}")
    if kind in ("functional", "function_call") and not name:
        raise BadTestsError(f"test {at} calls a function, and none is named")
    if name and kind not in ("stdin", "stdin_stdout"):
        return _call(name, item["input"], item["output"], at, written, public=public)
    return _stdin(item["input"], item["output"], at, public=public)


def _shown(item: object) -> str:
    return f"the keys {sorted(map(str, item))[:8]}" if isinstance(item, Mapping) else type(item).__name__


def _live_code_bench(row: Mapping[str, Any], depth: int) -> TestSet:
    name = _named_in(row)
    tests: list[Test] = []
    for key in ("public_test_cases", "private_test_cases"):
        if (value := row.get(key)) is None:
            continue
        if isinstance(value, str):
            value = _json(_unpacked(value) if not value.lstrip().startswith("[") else value, key)
        tests += _samples(_listed(value, key), name=name, public=key.startswith("public"))
    return TestSet(tests)


def _named_in(row: Mapping[str, Any]) -> str:
    """The function that the row's `metadata` names as `func_name`. Empty if it names none: then programs
    are scripts.
    """
    about = row.get("metadata") or {}
    about = _json(about, "metadata") if isinstance(about, str) else about
    return (about.get("func_name") if isinstance(about, Mapping) else None) or ""


class _Strings(pickle.Unpickler):
    """Unpickles strings only. Any other pickle could name a function of any module and have it called."""

    def find_class(self, module: str, name: str) -> Any:
        raise BadTestsError(f"a pickle of private tests names {module}.{name}: only text is read")

    def persistent_load(self, pid: object) -> Any:
        raise BadTestsError("a pickle of private tests names an object outside it")


def _unpacked(text: str) -> str:
    """The text that LiveCodeBench stores as base64 of zlib of a pickled string.

    Raises:
        BadTestsError: it is stored in a different way, or is too long.
    """
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text.encode(), validate=True), _MOST_BYTES)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise BadTestsError(f"private_test_cases hold more than {_MOST_BYTES:,} bytes, or are cut off")
        value = _Strings(io.BytesIO(data)).load()
    except BadTestsError:
        raise
    except Exception as exc:  # noqa: BLE001 - a hostile pickle can have the reader raise anything
        raise BadTestsError(f"private_test_cases are no base64 of zlib of a pickled text: {exc}") from None
    return _string(value, "private_test_cases")


def _inner(key: str) -> Callable[[Mapping[str, Any], int], TestSet]:
    """A reader for rows that have their tests under `key`, in any known form: `{"unit_tests": {"inputs": …}}`."""

    def read(row: Mapping[str, Any], depth: int) -> TestSet:
        found = _read(row[key], depth - 1)
        return replace(found, language=found.language or _word(row.get("language")))

    return read


def _in_turn(sources: Sequence[str], setup: str = "") -> list[CodeTest]:
    """One test for each source that asserts something. The sources run in order and may share variables, so each test
    begins with the earlier sources on which its variables depend. `x = 1` and `assert f(x) == 2` become one test with
    both lines.

    Args:
        sources: a few statements each.
        setup: code that runs before each test.
    """
    known = [_variables(source) for source in sources]
    above: list[list[int]] = []
    names_before = set[str]()
    for at, (asked, sets) in enumerate(known):
        wanted, taken = asked & names_before, list[int]()
        for before in reversed(range(at)) if wanted else ():
            read, own = known[before]
            # also a source that only reads a variable: it may change what the variable holds
            if not wanted.isdisjoint(read | own):
                taken, wanted = [before, *taken], wanted | (read & names_before)
        above.append(taken)
        names_before |= sets
    first = {one for taken in above for one in taken}
    asserting = [at for at, source in enumerate(sources) if at not in first or _can_fail(source, setup)]
    return [_assert("\n".join(sources[one] for one in (*above[at], at)), setup) for at in asserting]


def _variables(source: str) -> tuple[set[str], set[str]]:
    """The variables that statements read before they set them, and those that they set: `{'x'}` and `{'y'}` for
    `y = x`. Both are empty if the text is no Python.
    """
    read, own = set[str](), set[str]()
    tree = parsed(source)
    for statement in tree.body if tree is not None else []:
        try:
            asked, names = globals_of(ast.unparse(statement))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # the error is reported when the text is read as a test
            return set(), set()
        is_set_last = isinstance(statement, ast.Assign | ast.AnnAssign)
        read |= asked - own - (set() if is_set_last else names)
        if isinstance(statement, ast.AugAssign):
            read |= names - own
        own |= names
    return read, own


def _assert(source: str, setup: str = "") -> CodeTest:
    """A test that consists of one or more statements, such as `assert f(1) == 2`.

    Raises:
        BadTestsError: the text is no Python, or asserts nothing, so that every program would pass.
    """
    with told(f"no Python: {source!r:.80}", SyntaxError, ValueError, RecursionError, MemoryError, to=BadTestsError):
        tree_of(source)
    if not _can_fail(source, setup):
        raise BadTestsError(f"no test, for it asserts nothing: {source!r:.80}")
    _refuse_idle(source, is_file=False)
    return CodeTest("assert", source, setup)


def _can_fail(source: str, setup: str) -> bool:
    """Whether statements assert something, so that a program can fail them: true for `assert f(1) == 2`, false for
    `x = f(1)`.

    True as well for a text that is no Python, whose error is reported elsewhere.

    Args:
        source: the statements.
        setup: code that runs before them and may define helpers that assert.
    """
    if (tree := parsed(source)) is None:
        return True
    parts = [*ast.walk(tree)]
    called = [ast.unparse(part.func) for part in parts if isinstance(part, ast.Call)]
    # such as numpy's `assert_allclose`
    helped = any(name.rpartition(".")[2].startswith("assert") for name in called)
    helped |= bool(called and re.search(r"\b(?:assert|raise)\b", setup))
    return helped or any(isinstance(part, ast.Assert | ast.Raise | ast.With) for part in parts)


# Expressions that are true whatever they hold; an empty list and the like aside
_TRUE = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.GeneratorExp, ast.Lambda)


def _refuse_idle(source: str, above: str = "", *, is_file: bool = True) -> None:
    """Raise BadTestsError for tests that every program passes, or that do not test what they seem to, such as
    `assert (f(1) == 2, "no")`: the tuple is always true.

    Args:
        source: the tests.
        above: code before them, which may define helpers that assert.
        is_file: whether the tests are functions, of which at least one must assert something.
    """
    if (tree := parsed(source)) is None:
        return
    tree = parsed(f"{above}\n{source}") or tree
    nodes = [*ast.walk(tree)]
    for node in nodes:
        if why := _idle(node):
            raise BadTestsError(f"a test that is not what it is meant to be: `{ast.unparse(node):.80}` {why}")
    if not is_file:
        return
    if not any(map(_asserts, nodes)):
        raise BadTestsError("the tests assert nothing: write `assert` before what they compare")
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    own = {node.name for node in functions}
    for function in functions:
        inner = [*ast.walk(function)]
        helped = any(isinstance(node, ast.Call) and _last_name(node.func) in own for node in inner)
        if function.name.lower().startswith(("test", "check")) and not helped and not any(map(_asserts, inner)):
            said = [node.value for node in inner if isinstance(node, ast.Expr | ast.Return)]
            compared = next((one for one in said if isinstance(one, ast.Compare | ast.BoolOp)), None)
            if compared is not None:
                raise BadTestsError(f"{function.name} asserts nothing: write `assert {ast.unparse(compared):.80}`")


def _idle(node: ast.AST) -> str:
    """The reason why an assertion does not test what it seems to, such as that of `assert (f(1) == 2, 'no')`:
    `is always true: …`. Empty for any other node.
    """
    message: ast.expr | None
    if isinstance(node, ast.Assert):
        tested, message = node.test, node.msg
        if isinstance(tested, _TRUE) and (getattr(tested, "elts", True) and getattr(tested, "keys", True)):
            return "is always true: drop the brackets, or write `assert all(…)`"
    elif isinstance(node, ast.Call) and _last_name(node.func) in ("assertTrue", "assertFalse") and len(node.args) == 2:
        tested, message = node.args
    else:
        return ""
    try:
        value = None if message is None else ast.literal_eval(message)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ""
    # a number as the message of a comparison may be the number of the test
    is_meant = value is not None and not isinstance(value, str) and isinstance(tested, ast.Call)
    return f"compares nothing with {value!r:.40}, its message: write `==`" if is_meant else ""


def _asserts(node: ast.AST) -> bool:
    """Whether a test can fail at this syntax node: an assertion, a `raise`, a `with` as for `pytest.raises`, a call
    such as `self.fail()`, or a mark such as `xfail`.
    """
    if isinstance(node, ast.Call):
        return _last_name(node.func).lower().startswith(("assert", "fail", "exit", "_exit"))
    named = _last_name(node) in ("xfail", "expectedFailure")
    return named or isinstance(node, ast.Assert | ast.Raise | ast.With | ast.AsyncWith)


def _last_name(node: ast.AST) -> str:
    """The last name in an expression: `b` for `a.b`. Empty if it does not end in a name, as in `a[0]`."""
    return str(node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else "")


def _mbpp(row: Mapping[str, Any], depth: int) -> TestSet:
    setup = row.get("test_setup_code") or row.get("test_imports") or ""
    if isinstance(setup, list):
        setup = "\n".join(setup)
    lists = [_listed(row[key], key) for key in ("test_list", "challenge_test_list") if row.get(key) is not None]
    sources = [_string(one, "test_list") for tests in lists for one in tests]
    return TestSet(_in_turn(sources, _string(setup, "test_setup_code")))


def _human_eval(row: Mapping[str, Any], depth: int) -> TestSet:
    prompt, source = _string(row.get("prompt") or "", "prompt"), _string(row["test"], "test")
    entry = _string(row["entry_point"], "entry_point").removeprefix(_OF_SOLUTION)
    if not entry.isidentifier():
        raise BadTestsError(f"entry_point {entry!r:.60} is no name of a function")
    preamble = _above(prompt, entry)
    solution = row.get("canonical_solution")
    # BigCodeBench: rows of that form whose test is a file
    is_file = _is_file(source) and not re.search(r"^def (?:check\b|\w+\(candidate\b)", source, re.MULTILINE)
    source = source if is_file else _without_check(source)
    _refuse_idle(source, preamble)
    given = re.search(r"^def check\((\w+)(.*)", source, re.MULTILINE | re.DOTALL)
    asks = "" if given is None else f"{preamble}\n{source[: given.start(1)]}{given[2]}"
    if given is not None and not re.search(rf"\b(?:{given[1]}|{entry})\b", asks):
        raise BadTestsError(f"the tests never call {entry}: `check` does nothing with its {given[1]}")
    return TestSet(
        [_file(source, "unittest", "") if is_file else CodeTest("check", source, preamble, entry)],
        preamble=preamble,
        prompt=prompt,
        entry=entry,
        solution=prompt + solution if isinstance(solution, str) else "",
    )


def _without_check(source: str) -> str:
    """The tests without a call of `check` at their end, which HumanEvalPack writes: it is made with the program's
    function instead. All lines keep their numbers.
    """
    tree, lines = parsed(source), source.split("\n")
    for part in tree.body if tree is not None else []:
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and ast.unparse(part.value.func) == "check":
            lines[part.lineno - 1 : part.end_lineno] = [""] * ((part.end_lineno or part.lineno) - part.lineno + 1)
    return "\n".join(lines)


def _above(prompt: str, entry: str) -> str:
    """The code in a prompt above the function `entry`, or above the class of the method `entry`: imports, helpers,
    classes. Empty if the prompt has no such function and is no Python.
    """
    before, found, _ = prompt.rpartition(f"def {entry}(")
    if not found:
        before = prompt
    elif not before.endswith("\n"):
        # a method: the program itself defines the class around it
        before = before[: max(before.rfind("\nclass "), before.rfind("\nasync "), -1) + 1]
    if parsed(before) is None:
        # prose, or the start of something
        return before if found and before.strip() else ""
    return before


_TRIES = 3


def tree_of(source: str) -> ast.Module:
    """The syntax tree of a text. It is `ast.parse`, tried again if that raises SystemError.

    CPython 3.11 counts the nesting of all trees in one place. If a second tree is parsed meanwhile, by a finalizer or
    in another thread, it therefore raises SystemError for a correct text.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the text is no Python, or is nested too deeply.
    """
    for _ in range(_TRIES - 1):
        with contextlib.suppress(SystemError):
            return ast.parse(source, _FILE_NAME)
    return ast.parse(source, _FILE_NAME)


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a row's code; None if it is no Python, which is reported when the code is run."""
    try:
        return tree_of(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _framework(row: Mapping[str, Any], depth: int) -> TestSet:
    if (framework := _word(row["framework"])) not in ("pytest", "unittest"):
        raise BadTestsError(f"framework must be pytest or unittest, got {row['framework']!r:.40}")
    module = row.get("module") or ""
    return TestSet([_file(_string(row["test"], "test"), framework, _string(module, "module"))])


def _file(source: str, framework: str, module: str) -> CodeTest:
    _refuse_idle(source)
    known: Literal["pytest", "unittest"] = "pytest" if framework == "pytest" else "unittest"
    modules = tuple(dict.fromkeys([*([module.removesuffix(".py")] if module else []), "solution", "main"]))
    return CodeTest("file", source, modules=modules, framework=known)


_Reader = Callable[[Mapping[str, Any], int], TestSet]
# The keys that a form must have, and its reader; the first form that a mapping has is taken
_MAPPINGS: Sequence[tuple[tuple[str, ...], _Reader]] = [
    (("inputs", "outputs"), _pairs),
    (("verifier_metadata",), _inner("verifier_metadata")),
    (("unit_tests",), _inner("unit_tests")),
    (("public_test_cases",), _live_code_bench),
    (("private_test_cases",), _live_code_bench),
    (("verification_info",), _inner("verification_info")),
    (("test_list",), _mbpp),
    (("test", "entry_point"), _human_eval),
    (("framework", "test"), _framework),
    (("test_cases",), _inner("test_cases")),
    (("official_tests",), _inner("official_tests")),
    (("assert_case",), _pairs),
    (("input_output",), _inner("input_output")),
    (("tests",), _inner("tests")),
    (("test",), _inner("test")),
    (("test_code",), _inner("test_code")),
]
