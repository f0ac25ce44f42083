"""Programs, tests that carry code, and queries, each side in this process: what jails would give, in milliseconds."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import types
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner._jail.jail import Ending, RunLimits
from agentscope_tuner.task_judge.sql_judge import SqlJudge
from agentscope_tuner.verify.code import formats, grade
from tests.jail_here import jails_here
from tests.with_code import test_code_judge as jailed
from tests.with_code import test_sql_judge as queried
from tests.with_code.judged import asked, code_judge, wrote
from tests.with_code.test_sql_judge import folder

pytestmark = [
    pytest.mark.usefixtures("jails_here"),
    # what is asked in vain of a program that has another way, the interpreter takes apart
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_judge = cache(code_judge)
__all__ = ["folder", "jails_here"]

# What needs two interpreters, a folder or limits; and loops that take seconds to run again in every other way
_NOT_HERE = (
    *("random", "patch", "tmp_path", "pytest", "[*k]", "open(", "_exit", "while True", "abort", "bytearray(10"),
    *("found = {one", "assert one\\n", "assert False, one", "printf(", "RECURSIVE r(n)", "t b, t c", "t x, t y"),
    *("%a%a", "builtins."),
)


def _is_here(row: object) -> bool:
    return not any(word in repr(row) for word in _NOT_HERE)


def _marked(test: Any, names: object) -> list[Any]:
    """The rows of one of its tables."""
    return [row for mark in test.pytestmark if mark.args[0] == names for row in mark.args[1] if _is_here(row)]


def _rows_of(*tests: Any) -> Iterator[tuple[object, str, float | None]]:
    """The rows of tests with a jail, but for those that cannot be judged here."""
    for test in tests:
        names, rows = test.pytestmark[0].args
        # for a short suite, some of a long table
        for row in rows[:: 1 + len(rows) // 10]:
            told = dict(zip(names, row, strict=True))
            asks = told.get("tests") or [told["test"]]
            if "framework" in told:
                asks = {"framework": told["framework"], "module": "solution", "test": told["test"]}
            for reward, program in ((1.0, "right"), (0.0, "wrong"), (told.get("reward"), "program")):
                if program in told and _is_here((asks, told[program])):
                    yield asks, told[program], reward


@pytest.mark.parametrize(
    ("tests", "program", "reward"),
    [
        *_rows_of(
            jailed.test_values_on_both_sides_are_what_they_are_in_one_interpreter,
            jailed.test_a_right_program_is_paid_and_a_wrong_one_is_not,
            jailed.test_what_a_class_shows_beside_the_data_that_it_holds,
            jailed.test_an_answer_holds_what_the_object_is_made_of,
            jailed.test_a_loop_that_asserts_something_begins,
            jailed.test_tests_that_end_by_themselves_are_no_verdict,
        )
    ],
)
def test_programs(tests: object, program: str, reward: float | None) -> None:
    judgement = _judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement
    # a failure without words is "None"
    assert "None" not in (judgement.error or ""), judgement


for _test in (
    jailed.test_a_failed_test_says_what_the_two_sides_keep_from_each_other,
    jailed.test_a_reason_names_the_test_and_not_what_it_expects,
    jailed.test_partial_rewards_and_their_weights,
    jailed.test_rows_are_checked_with_their_own_solution,
    jailed.test_tests_that_pass_with_the_functions_emptied_pay_nothing,
    jailed.test_two_outputs_for_one_input_are_no_verdict,
    jailed.test_two_results_of_one_call_are_no_verdict,
    jailed.test_what_the_program_says_can_be_written_anywhere,
    jailed.test_what_the_program_says_is_told,
):
    globals()[_test.__name__] = _test


_METRICS = jailed.test_metrics_say_which_test_failed_and_how
_WORDS = jailed.test_the_words_of_a_hidden_test_are_not_told
_CHECKERS = jailed.test_a_checker_of_the_data_set_decides
# what only the hook refuses
_HOOKED = [f"{how}\nprint(1)" for how in jailed._RUNS]
_CHEATS = jailed.test_a_program_cannot_answer_for_its_tests


@pytest.mark.parametrize(("program", "test", "kind"), _marked(_METRICS, ("program", "test", "kind")))
def test_metrics(program: str, test: int, kind: str | None) -> None:
    _METRICS(program, test, kind)


@pytest.mark.parametrize(("tests", "kind"), _marked(_WORDS, ("tests", "kind"))[:4])
def test_hidden_words(tests: object, kind: str) -> None:
    _WORDS(tests, kind)


@pytest.mark.parametrize(
    ("checker", "program", "reward"),
    [
        row
        for row in vars(_CHECKERS)["pytestmark"][0].args[1][::5]
        if row[0] not in (jailed._STUMBLING, *_HOOKED) and not re.search(r"exec\(|import os|runpy|\*\*7|'w'", repr(row))
    ],
)
def test_checkers(checker: str, program: str, reward: float | None) -> None:
    _CHECKERS(checker, program, reward)


# It gives an object which becomes, as its test makes the right one, what that is
_LATER = """
class Box:
  kept = []
  def __init__(self, n=None):
    self.n = n
    for one in Box.kept: one.n = n
  def __eq__(self, other): return self.n == other.n
def f(n):
  Box.kept.append(Box(n))
  return Box.kept[-1]
"""


@pytest.mark.parametrize(
    ("test", "reward"), [("got = f(3)\nassert got == Box(6)", 0.0), ("got = f(6)\nassert got == Box(6)", 1.0)]
)
def test_an_answer_is_what_it_was_before_the_test_made_the_right_one(test: str, reward: float) -> None:
    assert _judge().judge(asked([test]), wrote(_LATER)).reward == reward


@pytest.mark.parametrize("cheat", _marked(_CHEATS, "cheat"))
def test_cheats(cheat: str) -> None:
    _CHEATS(cheat, ["assert abs(double(2) - 4) < 1"])


@cache
def _puzzled() -> TaskJudge:
    return load_judge({"astuner": {"task_judge": {"judge": "reasoning_gym"}}})


@cache
def _sql(folder: Path) -> TaskJudge:
    return load_judge({"astuner": {"task_judge": {"judge": "sql", "judge_kwargs": {"databases": str(folder)}}}})


@pytest.mark.parametrize(("query", "gold", "reward"), vars(queried.test_rows_decide)["pytestmark"][0].args[1][::3])
def test_queries(folder: Path, query: str, gold: str, reward: float | None) -> None:
    judgement = _sql(folder).judge(asked([], db_id="shop", gold_sql=gold), wrote(query, "sql"))
    assert judgement.reward == reward, judgement
    assert judgement.cause == (None if reward is not None else "reference")


test_references = queried.test_the_reference_is_the_query_and_not_the_question
test_ties = queried.test_a_reference_is_asked_for_its_ties_only_where_they_could_decide


@pytest.mark.parametrize("attack", _marked(queried.test_attacks_are_not_paid_and_change_nothing, "attack")[::3])
def test_attacks(folder: Path, attack: str) -> None:
    task = asked([], db_id="shop", gold_sql="SELECT a, b FROM t")
    assert _sql(folder).judge(task, wrote(attack, "sql")).reward == 0.0


@pytest.mark.parametrize(
    ("query", "gold", "reason"),
    [
        ("SELECT a, b FROM t", "SELECT a, b FROM t;", "the reference's 4 rows"),
        ("SELECT a, b FROM t", "SELECT a, b FROM t WHERE a > 1", "4 rows, 3 expected"),
        ("SELECT a FROM t", "SELECT a, b FROM t", "1 columns, 2 expected"),
        ("SELECT a FROM t", "SELECT c FROM t", "4 of 4 rows are others"),
        (
            "SELECT a FROM t ORDER BY a DESC",
            "SELECT a FROM t ORDER BY a",
            "the right rows in another order, from row 1",
        ),
        ("SELECT a + (a > 2) FROM t ORDER BY a", "SELECT a FROM t ORDER BY a", "row 4 is another"),
        ("SELECT nope", "SELECT a FROM t", "no such column: nope"),
        ("DELETE FROM t", "SELECT a FROM t", "not authorized"),
        ("SELECT 1; SELECT 2", "SELECT a FROM t", "You can only execute one statement at a time."),
        ("SELECT a FROM t", "SELECT nope", "the reference query fails on shop.sqlite: no such column: nope"),
        ("SELECT a FROM t", "SELECT a FROM t WHERE 0", "the reference query has no rows on shop.sqlite"),
        ("SELECT 5", "SELECT random()", "the reference query gives other rows each time on shop.sqlite"),
    ],
)
def test_what_is_said_of_a_query(folder: Path, query: str, gold: str, reason: str) -> None:
    told = asyncio.run(_sql(folder).ajudge(asked([], db_id="shop", gold_sql=gold), wrote(query, "sql"))).reason
    assert reason in (told or "")


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"gold_sql": "SELECT a FROM t"}, None),
        ({"gold_sql": "SELECT nope"}, "bad row: the reference query fails on shop.sqlite: no such column: nope"),
        (
            {"gold_sql": " ", "sql": 3},
            "bad row: the task's metadata has no reference query as gold_sql, SQL, sql, query",
        ),
        ({"db_id": "shops"}, "bad row: there is no database 'shops' in "),
        *(
            ({"db_id": name}, "bad row: the task's metadata has no database's name as 'db_id'")
            for name in ("../a", "..", 3)
        ),
    ],
)
def test_a_row_of_queries_is_checked(folder: Path, metadata: dict[str, Any], told: str | None) -> None:
    judge = SqlJudge({"astuner": {"task_judge": {"judge_kwargs": {"databases": str(folder)}}}})
    row = {"db_id": "shop", "gold_sql": "SELECT a FROM t", **metadata}
    assert (judge.check_task(Task(metadata=row)) or "None").startswith(told or "None")


def test_an_answer_without_a_query_has_none(folder: Path) -> None:
    task = asked([], db_id="shop", gold_sql="SELECT a FROM t")
    said = _sql(folder).judge(task, WorkflowOutput(metadata={"final_answer": ""}))
    assert (said.reward, said.is_success, said.metrics) == (0.0, False, {"rows": 0.0, "cpu_seconds": 0.0})
    assert said.reason == "no fenced block with a query in sql"


class _Puzzles(types.ModuleType):
    """In the place of reasoning-gym: data sets whose scorers pay nearly everything, raise, or give no score."""

    def __init__(self) -> None:
        super().__init__("reasoning_gym")
        self.__spec__ = ModuleSpec(self.__name__, None, origin="/puzzles/reasoning_gym/__init__.py")

    @staticmethod
    def get_score_answer_fn(dataset: str) -> Any:
        def score(answer: str, entry: dict[str, Any]) -> float:
            is_own = answer == entry["answer"]
            if dataset == "raises" or (dataset == "stumbles" and not is_own):
                raise ValueError(entry["question"])
            paid = {"exact": is_own, "shares": 1.0 if is_own else 0.05, "never": 0.0, "twice": 2.0, "nan": float("nan")}
            return float(paid.get(dataset, 1.0))

        return score


@pytest.mark.parametrize(
    ("dataset", "own", "answer", "reward", "reason"),
    [
        ("exact", "4", "4", 1.0, "exact: 1"),
        ("exact", "4", "5", 0.0, "exact: 0"),
        ("shares", "4", "5", 0.0, "shares: 0.05"),
        ("exact", "4", None, 0.0, "no answer in the places that are read"),
        ("raises", "4", "4", None, "the scorer of 'raises' fails on its own answer: ValueError: ?"),
        ("stumbles", "4", "5", 0.0, "the scorer fails on this answer: ValueError: ?"),
        ("never", "4", "5", None, "the scorer of 'never' does not pay its own answer: drop the row"),
        ("never", None, "5", 0.0, "never: 0"),
        ("twice", "4", "4", 0.0, "the scorer gives 2.0, which is no score"),
        ("nan", "4", "4", None, "fails on its own answer: no score"),
        ("../a", "4", "4", None, "the task's metadata must hold 'answer' and the 'source_dataset' of reasoning-gym"),
        # a scorer that pays whatever it is given
        ("loose", "405", "-405", 0.0, "the scorer gives 1, and the answer is another number"),
        ("loose", "405", "405 or 13", 0.0, "the answer denies it, or says more"),
        ("loose", "405", "404 and 405", 0.0, "the answer names 2 numbers"),
        ("loose", "405", "x = 405", 1.0, "loose: 1"),
        ("loose", "1.50", "3/2", 1.0, "loose: 1"),
        ("loose", "1.50", "1.514", 1.0, "loose: 1"),
        ("loose", "1.50", "1.52", 0.0, "the answer is another number"),
        ("loose", "1,500", "1500", 1.0, "loose: 1"),
        ("loose", "[2.5, 1]", "['1', '2.50']", 1.0, "loose: 1"),
        ("loose", "[2.5, 1]", "[2.5, 1.1]", 0.0, "the answer lists other numbers"),
        ("loose", "[2.5, 1]", "[2.5, 1, 1]", 0.0, "the answer lists other numbers"),
        ("loose", "cat", "not cat", 0.0, "the answer denies it, or says more"),
        ("loose", "cat", "cat\nand dog", 0.0, "the answer denies it, or says more"),
        ("loose", "cat", "dog", 1.0, "loose: 1"),
        ("letter_jumble", "cats of", "Cats  of", 1.0, "letter_jumble: 1"),
        ("letter_jumble", "cats of", "of cats", 0.0, "the answer is another text"),
        # what reaches no scorer
        ("loose", "4", "nan", 0.0, "NaN and infinity are no answers"),
        ("loose", "nan", "nan", 1.0, "loose: 1"),
        ("loose", "4", "4" * 20_001, 0.0, "over the bounds: 20,001 characters"),
        ("loose", "True", "False", 0.0, "not the right truth"),
        ("loose", "True", "yes.", 1.0, "loose: 1"),
        ("puzzle24", "10 + 3 + 4 + 7", "(7 + 10) + (4 + 3)", 1.0, "puzzle24: 1"),
        ("puzzle24", "10 + 3 + 4 + 7", "10 + 3 + 4 - 7", 0.0, "not 24"),
        ("puzzle24", "10 + 3 + 4 + 7", "10 + 3 + 11", 0.0, "not the numbers of the puzzle"),
        ("countdown", "1 + 1", "__import__('os')", 0.0, "is no part of an answer"),
        ("countdown", "1 + 1", "9**9**9^9**9", 0.0, "too many powers"),
        ("countdown", "1 + 1", "9**9**9^9", 1.0, "countdown: 1"),
        ("countdown", "f(1)", "f(1)", 1.0, "countdown: 1"),
        ("n_queens", "[['Q']]", "[['Q'], ['_']]", 1.0, "n_queens: 1"),
        ("n_queens", "[['Q']]", "exec('pass')", 0.0, "is no part of an answer"),
        ("simple_integration", "x**2 + C", "(x)**2 + C", 1.0, "simple_integration: 1"),
        ("simple_integration", "x**2 + C", "x(2)", 0.0, "'x', called, is no part of an answer"),
    ],
)
def test_puzzles(
    monkeypatch: pytest.MonkeyPatch,
    dataset: str,
    own: str | None,
    answer: str | None,
    reward: float | None,
    reason: str,
) -> None:
    monkeypatch.setitem(sys.modules, "reasoning_gym", _Puzzles())
    task = WorkflowTask(task=Task(main_query="?", metadata={"answer": own, "metadata": {"source_dataset": dataset}}))
    said = "none" if answer is None else f"<answer>{answer}</answer>"
    found = _puzzled().judge(task, WorkflowOutput(metadata={"final_answer": said}))
    assert found.reward == reward, found
    assert reason in (found.reason or ""), found


@pytest.mark.parametrize(
    ("program", "reward", "reason"),
    [
        (jailed._POINT, 1.0, "all 1 tests pass"),
        ("class P:\n  def __init__(self, x): self.x = 2", 0.0, "AssertionError"),
        ("P = 5", 0.0, "TypeError"),
        ("raise KeyError(4711)", 0.0, "the tests: KeyError"),
        ("def f(:", 0.0, "the tests: SyntaxError"),
    ],
)
def test_a_program_beside_its_tests(program: str, reward: float, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING"):
        judge = code_judge(shared_interpreter=True)
    (warned,) = (record.getMessage() for record in caplog.records if "shared_interpreter" in record.msg)
    assert warned.startswith("astuner.task_judge.code.shared_interpreter: tests that need it are run in the program's")
    found = judge.judge(asked(jailed._PICKLED), wrote(program))
    assert found.reward == reward
    assert reason in (found.reason or "").replace("\x1f", ""), found


@pytest.mark.parametrize(
    ("report", "why"),
    [
        ({"tests": [["a", None], ["b", "why"]]}, None),
        ({"nonce": "b", "tests": [["a", None]]}, "it does not have the random word of this run"),
        ([["a", None]], "it does not have the random word of this run"),
        ({"broken": "no test was found"}, "no test was found"),
        ({"tests": []}, "no test ran"),
        ({"tests": {"a": None}}, "no test ran"),
        *(({"tests": [["a", None], one]}, "no outcomes") for one in ("ab", ["a"], ["a", None, None], ["a", 0])),
    ],
)
def test_a_report_beside_a_program_is_the_tests_own(report: Any, why: str | None) -> None:
    data = json.dumps({"nonce": "a", **report} if isinstance(report, dict) else report).encode()
    if why is None:
        assert grade._own_report(data, "a") == report
        return
    with pytest.raises(ValueError, match=f"^{why}$"):
        grade._own_report(data, "a")
    program = grade._TestedProgram("", "python", grade.Bounds())
    found, ran = program._inside(formats.CodeTest("assert", ""), Ending("exit", result=data), "a", RunLimits())
    assert (ran, found.passed, found.why) == (0, False, f"its tests left no report of their own: {why}")


def _by_three(tests: list[str]) -> list[str]:
    """Some tests in one, but for those that look at what the others have left."""
    alone = [one for one in tests if "kept" in one]
    others = [one for one in tests if one not in alone]
    return [*alone, *("\n".join(others[at : at + 3]) for at in range(0, len(others), 3))]


_OPERATED = """
import math
class V:
  kept = []
  def __init__(self, n=0, *more, key=None): self.n, self.more, self.key, self.items = n, more, key, {'a': 1}
  def __repr__(self): return f'V({self.n})'
  def __str__(self): return f'<{self.n}>'
  def __bytes__(self): return bytes([self.n])
  def __format__(self, how): return format(self.n, how)
  def __hash__(self): return hash(self.n)
  def __bool__(self): return self.n > 0
  def __eq__(self, other): return isinstance(other, V) and self.n == other.n
  def __lt__(self, other): return self.n < other.n
  def __le__(self, other): return self.n <= other.n
  def __gt__(self, other): return self.n > other.n
  def __ge__(self, other): return self.n >= other.n
  def __add__(self, other): return V(self.n + getattr(other, 'n', other))
  def __radd__(self, other): return V(other + self.n)
  def __iadd__(self, other): self.n += other; return self
  def __sub__(self, other): return V(self.n - other)
  def __rsub__(self, other): return V(other - self.n)
  def __mul__(self, other): return V(self.n * other)
  def __rmul__(self, other): return V(other * self.n)
  def __matmul__(self, other): return V(self.n * 10 + other)
  def __truediv__(self, other): return V(self.n / other)
  def __floordiv__(self, other): return V(self.n // other)
  def __mod__(self, other): return V(self.n % other)
  def __divmod__(self, other): return (V(self.n // other), V(self.n % other))
  def __pow__(self, other, by=None): return V(pow(self.n, other, by))
  def __rpow__(self, other): return V(other ** self.n)
  def __lshift__(self, other): return V(self.n << other)
  def __rshift__(self, other): return V(self.n >> other)
  def __and__(self, other): return V(self.n & other)
  def __or__(self, other): return V(self.n | other)
  def __xor__(self, other): return V(self.n ^ other)
  def __neg__(self): return V(-self.n)
  def __pos__(self): return V(self.n)
  def __abs__(self): return V(abs(self.n))
  def __invert__(self): return V(~self.n)
  def __int__(self): return int(self.n)
  def __float__(self): return float(self.n)
  def __complex__(self): return complex(self.n)
  def __index__(self): return self.n
  def __round__(self, digits=None): return round(self.n, digits)
  def __floor__(self): return math.floor(self.n)
  def __ceil__(self): return math.ceil(self.n)
  def __trunc__(self): return math.trunc(self.n)
  def __len__(self): return len(self.items)
  def __iter__(self): return iter(self.items)
  def __reversed__(self): return reversed([*self.items])
  def __contains__(self, key): return key in self.items
  def __getitem__(self, key): return self.items[key]
  def __setitem__(self, key, value): self.items[key] = value
  def __delitem__(self, key): del self.items[key]
  def __call__(self, *given, **named): return [self.n, given, named]
  def __enter__(self): V.kept.append('in'); return self
  def __exit__(self, kind, error, trace): V.kept.append(kind and (kind.__name__, *error.args)); return kind is KeyError
  def __copy__(self): return V(self.n + 100)
  def __deepcopy__(self, memo): return V(self.n + 200)
  @property
  def double(self): return 2 * self.n
  @classmethod
  def of(cls, text): return cls(int(text))
  @staticmethod
  def named(name): return f'n{name}'
  def each(self):
    got = 0
    while True: got = (yield self.n + (got or 0))
def failing(n):
  raise [ValueError, KeyError, ZeroDivisionError][n]('no', n)
def lent(one, *given): return one(*given)
def made(n): return V(n)
"""
_OPERATIONS = r"""
v = V(5)
assert v == V(5) and v != V(6) and not v == V(6) and v < V(6) and v <= V(5) and v > V(4) and v >= V(5)

v = V(5)
assert v + 1 == V(6) and 1 + v == V(6) and v - 1 == V(4) and 9 - v == V(4) and v * 2 == V(10) == 2 * v

v = V(5)
assert v @ 3 == V(53) and v / 2 == V(2.5) and v // 2 == V(2) and v % 2 == V(1) and 2 ** v == V(32)

v = V(5)
assert divmod(v, 2) == (V(2), V(1)) and v ** 2 == V(25) and pow(v, 2, 7) == V(4)

v = V(5)
assert v << 1 == V(10) and v >> 1 == V(2) and v & 4 == V(4) and v | 2 == V(7) and v ^ 1 == V(4)

v = V(5)
assert -v == V(-5) and +v == v and abs(V(-5)) == v and ~v == V(-6)

v = w = V(5)
v += 2
assert v is w and w.n == 7

import math
v = V(5)
assert (int(v), float(v), complex(v), round(v), hash(v)) == (5, 5.0, 5 + 0j, 5, hash(5))

import math
v = V(2.6)
assert (math.floor(v), math.ceil(v), math.trunc(v), round(v, 1)) == (2, 3, 2, 2.6)

v = V(5)
assert (str(v), repr(v), f'{v:03}', bytes(v), [*range(9)][v]) == ('<5>', 'V(5)', '005', b'\x05', 5)

assert V(1) and not V(0) and bool(V(2)) is True

v = V(5)
v['b'] = 2
assert v['b'] == 2 and len(v) == 2 and [*v] == ['a', 'b'] and [*reversed(v)] == ['b', 'a']

v = V(5)
assert 'a' in v and 'b' not in v
del v['a']
assert 'a' not in v and len(v) == 0

v = V(5)
try: v['x']
except KeyError as e: told = e.args
assert told == ('x',)

v = V(5)
v.n = 7
v.new = [1]
assert (v.n, v.new, v.double, hasattr(v, 'old')) == (7, [1], 14, False)

v = V(5)
v.new = 1
del v.new
assert not hasattr(v, 'new') and getattr(v, 'new', 3) == 3

assert V(1, 2, 3, key='k').more == (2, 3) and V(key='k').key == 'k' and V().n == 0

assert V(5)(1, b=2) == [5, (1,), {'b': 2}] and callable(V(5)) and callable(made) and not callable(V(5).n)

assert V.of('5') == V(5) and V.named(3) == 'n3' and V.kept == [] and isinstance(V(5), V) and type(V(5)) is V

assert {V(1): 'a'}[V(1)] == 'a' and len({V(1), V(1), V(2)}) == 2 and V(2) in [V(1), V(2)]

assert sorted([V(2), V(1)])[0] == V(1) and max(V(2), V(1)) == V(2) and sum([V(1), V(2)], V(0)) == V(3)

import copy
v = V(5)
assert copy.copy(v) == V(105) and copy.deepcopy(v) == V(205)

with V(5) as v: assert v == V(5)
assert V.kept == ['in', None]

with V(5): raise KeyError('gone')
assert V.kept == ['in', ('KeyError', 'gone')]

try:
  with V(5): raise ValueError(1)
except ValueError as e: told = e.args
assert told == (1,) and V.kept[1] == ('ValueError', 1)

g = V(5).each()
assert next(g) == 5 and g.send(2) == 7 and next(g) == 5
g.close()
assert [*g] == []

g = V(5).each()
next(g)
try: g.throw(LookupError('x'))
except LookupError as e: told = e.args
assert told == ('x',)

try: failing(0)
except ValueError as e: told = e.args
assert told == ('no', 0)

try: failing(1)
except KeyError as e: told = e.args
assert told == ('no', 1)

try: failing(2)
except ZeroDivisionError as e: told = e.args
assert told == ('no', 2)

assert lent(lambda a, b: a - b, 5, 3) == 2 and lent(len, 'abc') == 3 and lent(made, 4) == V(4)
assert lent(V, 4) == V(4)

def g(n):
  if n: raise OSError('mine')
try: lent(g, 1)
except OSError as e: told = e.args
assert told == ('mine',)

kept = []
lent(kept.append, 5)
assert kept == [5]

class W(V):
  def f(self): return self.n + 1
assert W(5).f() == 6 and isinstance(W(5), V) and W(5) == V(5) and W.of('3').f() == 4

class W(V):
  def __init__(self, n):
    super().__init__(n * 2)
    self.own = n
assert (W(5).n, W(5).own, W(5).double) == (10, 5, 20)
""".strip().split("\n\n")


_HELD = """
import asyncio, collections, dataclasses, enum, logging, warnings
from decimal import Decimal
from fractions import Fraction
Point = collections.namedtuple('Point', 'x y')
class Color(enum.Enum):
  RED = 1
  BLUE = 'b'
  @property
  def low(self): return self.name.lower()
class Level(enum.IntEnum):
  LOW = 1
  HIGH = 2
@dataclasses.dataclass
class Day:
  on: int
  hours: list = dataclasses.field(default_factory=list)
@dataclasses.dataclass(frozen=True, order=True)
class Pair:
  a: int
  b: int = 2
class Odd(Exception):
  def __init__(self, code): super().__init__(f'odd {code}'); self.code = code
class Bag(list):
  def total(self): return sum(self)
class Named(dict):
  def __missing__(self, key): return f'no {key}'
N = 4
def f(): return N
def point(x): return Point(x, -x)
def day(n): return Day(n, [n])
def odd(n): raise Odd(n)
def bag(*items): return Bag(items)
def fill(d): d['k'] = {'deep': [1, 2]}; return d
def same(x): return x
def grow(items): items.append(len(items)); return items
def each_of(n):
  for one in range(n): yield one
def warns(): warnings.warn('old', DeprecationWarning); return 1
def logs(): logging.getLogger('mine').warning('careful %s', 3)
def says(): print('\\ud800'); return 1
async def later(n):
  await asyncio.sleep(0)
  return 2 * n
async def fails(n): raise ValueError(n)
async def some(n):
  for one in range(n): yield one
class Door:
  async def __aenter__(self): return 'open'
  async def __aexit__(self, kind, error, trace): return kind is KeyError
class Steps:
  def __init__(self): self.n = 0
  def __aiter__(self): return self
  async def __anext__(self):
    self.n += 1
    if self.n > 3: raise StopAsyncIteration
    return self.n
"""
_HOLDINGS = r"""
p = point(3)
assert p == (3, -3) and p.x == 3 and p._asdict() == {'x': 3, 'y': -3} and p._replace(x=1).x == 1

assert Color.RED.value == 1 and Color('b') is Color.BLUE and Color['RED'].low == 'red' and len(Color) == 2

assert [one.name for one in Color] == ['RED', 'BLUE'] and Color.RED != Color.BLUE
assert isinstance(Color.RED, Color)

assert Level.HIGH > Level.LOW and Level.HIGH == 2 and Level.LOW + 1 == 2 and sorted(Level)[0] is Level.LOW

assert day(3) == Day(3, [3]) and day(3) != Day(4, [3]) and Day(1).hours == [] and day(2).hours[0] == 2

import dataclasses
assert Pair(1) < Pair(1, 3) and Pair(1) in {Pair(1)} and Pair(1).b == 2

try: Pair(1).a = 2
except Exception as e: told = type(e).__name__
assert told == 'FrozenInstanceError'

try: odd(3)
except Odd as e: told = (e.code, str(e), e.args)
assert told == (3, 'odd 3', ('odd 3',))

b = bag(1, 2)
assert b == [1, 2] and b.total() == 3 and b[-1] == 2 and b + [3] == [1, 2, 3] and len(b) == 2

d = fill({})
assert d == {'k': {'deep': [1, 2]}} and d['k']['deep'][1] == 2

d = {}
assert fill(d) is d and d['k']['deep'] == [1, 2]
d['k']['deep'].append(3)
assert same(d)['k']['deep'] == [1, 2, 3]

assert Named(a=1)['a'] == 1 and Named()['b'] == 'no b'

from collections import Counter, OrderedDict, defaultdict, deque
for one in (Counter('aab'), OrderedDict(a=1), deque([1, 2], 2), defaultdict(list, a=[1])):
  assert same(one) is one and same([one])[0] is one

from decimal import Decimal
from fractions import Fraction
import datetime
of_time = (datetime.date(2024, 2, 29), datetime.timedelta(1))
for one in (*of_time, Decimal('1.50'), Fraction(1, 3), 1j, b'a', frozenset([1]), range(3), None, float('inf')):
  assert same(one) == one
for one in ((1, (2,)), 10**30, '\ud800', slice(1, 2)):
  assert same(one) == one

a = []
assert grow(a) is a and grow(a) == [0, 1] and a == [0, 1]
a.clear()
assert grow(a) == [0]

g = each_of(3)
assert next(g) == 0 and [*g] == [1, 2] and list(each_of(0)) == [] and sum(each_of(4)) == 6

assert says() == 1

import asyncio
assert asyncio.run(later(3)) == 6

import asyncio
async def both(): return await asyncio.gather(later(1), later(2))
assert asyncio.run(both()) == [2, 4]

import asyncio
async def all_of(): return [one async for one in some(3)]
assert asyncio.run(all_of()) == [0, 1, 2]

import asyncio
async def steps(): return [one async for one in Steps()]
assert asyncio.run(steps()) == [1, 2, 3]

import asyncio
async def enter():
  async with Door() as door: return door
assert asyncio.run(enter()) == 'open'

import asyncio
async def enter():
  async with Door(): raise KeyError
  return 1
assert asyncio.run(enter()) == 1

import asyncio
try: asyncio.run(fails(3))
except ValueError as e: told = e.args
assert told == (3,)

import inspect
assert list(inspect.signature(point).parameters) == ['x'] and inspect.isclass(Day)

assert point.__name__ == 'point' and Day.__name__ == 'Day' and point(1).__class__.__name__ == 'Point'

import warnings
with warnings.catch_warnings(record=True) as seen:
  warnings.simplefilter('always')
  n = warns()
assert n == 1 and str(seen[0].message) == 'old' and seen[0].category is DeprecationWarning
""".strip().split("\n\n")


@pytest.mark.parametrize("test", _by_three(_HOLDINGS))
def test_what_a_program_gives_is_there_what_it_is_here(test: str) -> None:
    here: dict[str, Any] = {}
    exec(f"{_HELD}\n{test}", here)  # noqa: S102 - as one program
    judgement = _judge().judge(asked([test]), wrote(_HELD))
    assert judgement.reward == 1.0, judgement


@pytest.mark.parametrize("test", _by_three(_OPERATIONS))
def test_an_object_does_on_the_other_side_what_it_does_here(test: str) -> None:
    here: dict[str, Any] = {}
    exec(f"{_OPERATED}\n{test}", here)  # noqa: S102 - as one program
    judgement = _judge().judge(asked([test]), wrote(_OPERATED))
    assert judgement.reward == 1.0, judgement


# What tests lend to a program, and what it does with it
_LENT = """
import asyncio, functools, inspect, os, sys
def kind_of(one):
  flow = inspect.isasyncgenfunction(one)
  return [inspect.isgeneratorfunction(one), inspect.iscoroutinefunction(one), flow, callable(one)]
def names_of(one): return [one.__name__, one.__qualname__, one.__doc__, one.__module__]
def takes(one): return [*inspect.signature(one).parameters]
def how(one): return [part.kind.name for part in inspect.signature(one).parameters.values()]
def hints(one): return inspect.signature(one).return_annotation
def called(one, *given, **named): return one(*given, **named)
def each(one): return [part for part in one]
def size(one): return len(one)
def read(one, name): return getattr(one, name)
def has(one, name): return hasattr(one, name)
def put(one, name, value): setattr(one, name, value); return one
def item(one, key): return one[key]
def put_item(one, key, value): one[key] = value; return one
def drop_item(one, key): del one[key]; return one
def is_in(one, part): return part in one
def same(one, other): return one == other
def other(one, two): return one != two
def less(one, two): return [one < two, one <= two, one > two, one >= two]
def plus(one, two): return [one + two, one - two, one * two, -one]
def truth(one): return bool(one)
def text(one): return [str(one), repr(one)]
def number(one): return [int(one), float(one), range(10)[one]]
def key(one): return {one: 1}[one]
def entered(one):
  with one as inner: return inner
def failing(one):
  try:
    with one: raise KeyError('k')
  except KeyError as e: return e.args
def caught(one, *given):
  try: return one(*given)
  except Exception as e: return [type(e).__name__, *map(str, e.args)]
def passed(one, *given):
  try: return one(*given)
  finally: pass
def wrapped(one):
  @functools.wraps(one)
  def inner(*given): return [one(*given), one.__name__]
  return inner
class Bus:
  def __init__(self): self.subs = []
  def on(self, sub): self.subs.append(sub); return sub
  def fire(self, *what): return [sub(*what) for sub in self.subs]
  def off(self, sub): self.subs.remove(sub)
class Shape:
  sides = 0
  def __init__(self, name='s'): self.name = name
  def area(self): raise NotImplementedError('area')
  def describe(self): return f'{self.name}: {self.area()} of {self.sides}'
  @property
  def loud(self): return self.name.upper()
  @classmethod
  def make(cls, *given): return cls(*given)
  @staticmethod
  def unit(): return 1
  def twice(self): return self.describe() * 2
async def waited(one, *given): return await one(*given)
async def gathered(*ones): return await asyncio.gather(*(one() for one in ones))
async def all_of(one): return [part async for part in one]
async def within(one):
  async with one as inner: return inner
def sorted_by(items, by): return sorted(items, key=by)
def reduced(one, items): return functools.reduce(one, items)
def mapped(one, *items): return [*map(one, *items)]
def kept(items, one): return [*filter(one, items)]
def memo(one): return functools.lru_cache(one)
def piped(*ones):
  def run(x):
    for one in ones: x = one(x)
    return x
  return run
def gen(n):
  got = yield n
  while got: got = yield got * 2
  return 'end'
def delegates(one):
  yield from one
  yield 'back'
def thrown(kind, *given): raise kind(*given)
def raised_from(kind):
  try: 1 / 0
  except ZeroDivisionError as e: raise kind('later') from e
def instance(one, kind): return isinstance(one, kind)
def type_of(one): return type(one).__name__
def env(name): return os.environ.get(name)
def set_env(name, value): os.environ[name] = value
def argv(): return sys.argv[1:]
def ask(*given): return input(*given)
def lines(): return [line for line in sys.stdin]
"""
_LENDINGS = r"""
def plain(a, /, b=1, *c, d, **e): "says"
assert kind_of(plain) == [False, False, False, True] and names_of(plain) == ['plain', 'plain', 'says', __name__]

def steps(): yield 1
assert kind_of(steps) == [True, False, False, True]

async def later(): return 1
assert kind_of(later) == [False, True, False, True]

async def flow(): yield 1
assert kind_of(flow) == [False, False, True, True]

def plain(a, /, b: int, *c, d, **e) -> str: pass
assert takes(plain) == ['a', 'b', 'c', 'd', 'e'] and hints(plain) is str
assert how(plain) == ['POSITIONAL_ONLY', 'POSITIONAL_OR_KEYWORD', 'VAR_POSITIONAL', 'KEYWORD_ONLY', 'VAR_KEYWORD']

assert called(lambda *a, **k: (a, k), 1, [2], x=3) == ((1, [2]), {'x': 3})

class Seq:
  def __init__(self, *items): self.items = [*items]
  def __iter__(self): return iter(self.items)
  def __len__(self): return len(self.items)
  def __getitem__(self, key): return self.items[key]
  def __setitem__(self, key, value): self.items[key] = value
  def __delitem__(self, key): del self.items[key]
  def __contains__(self, part): return part in self.items
  def __bool__(self): return bool(self.items)
s = Seq(3, 4)
assert each(s) == [3, 4] and size(s) == 2 and item(s, 1) == 4 and is_in(s, 3) and not is_in(s, 5)
assert truth(s) is True and truth(Seq()) is False
assert put_item(s, 0, 9) is s and s.items == [9, 4] and drop_item(s, 1) is s and s.items == [9]

class Num:
  def __init__(self, n): self.n = n
  def __eq__(self, other): return isinstance(other, Num) and self.n == other.n
  def __ne__(self, other): return not self == other
  def __lt__(self, other): return self.n < other.n
  def __le__(self, other): return self.n <= other.n
  def __gt__(self, other): return self.n > other.n
  def __ge__(self, other): return self.n >= other.n
  def __hash__(self): return hash(self.n)
  def __add__(self, other): return self.n + other.n
  def __sub__(self, other): return self.n - other.n
  def __mul__(self, other): return self.n * other.n
  def __neg__(self): return -self.n
  def __int__(self): return self.n
  def __float__(self): return float(self.n)
  def __index__(self): return self.n
  def __str__(self): return f'<{self.n}>'
  def __repr__(self): return f'Num({self.n})'
a, b = Num(2), Num(3)
assert same(a, Num(2)) and not same(a, b) and other(a, b) and less(a, b) == [True, True, False, False]
assert plus(a, b) == [5, -1, 6, -2] and number(a) == [2, 2.0, 2] and text(a) == ['<2>', 'Num(2)'] and key(a) == 1

class Open:
  def __init__(self): self.log = []
  def __enter__(self): self.log.append('in'); return 'inner'
  def __exit__(self, *what): self.log.append('out'); return False
o = Open()
assert entered(o) == 'inner' and o.log == ['in', 'out'] and failing(o) == ('k',) and len(o.log) == 4

class Thing: pass
t = Thing()
t.x = [1]
assert read(t, 'x') == [1] and has(t, 'x') and not has(t, 'y') and put(t, 'y', 5) is t and t.y == 5

def bad(n): raise ValueError('bad', n)
assert caught(bad, 3) == ['ValueError', 'bad', '3'] and caught(lambda: 5) == 5

def bad(): raise LookupError('mine')
try: passed(bad)
except LookupError as e: told = e.args
assert told == ('mine',)

def double(x): return 2 * x
w = wrapped(double)
assert w(4) == [8, 'double'] and w.__name__ == 'double'

seen = []
bus = Bus()
def sub(what): seen.append(what); return len(seen)
assert bus.on(sub) is sub and bus.fire('a') == [1] and bus.fire('b') == [2] and seen == ['a', 'b']
bus.off(sub)
assert bus.fire('c') == [] and len(bus.subs) == 0

class Square(Shape):
  sides = 4
  def __init__(self, n): super().__init__('square'); self.n = n
  def area(self): return self.n ** 2
s = Square(3)
assert s.describe() == 'square: 9 of 4' and s.loud == 'SQUARE' and s.twice() == 'square: 9 of 4' * 2
assert isinstance(s, Shape) and Square.make(2).area() == 4 and Square.unit() == 1 and s.name == 'square'

class Late(Shape):
  pass
try: Late('x').describe()
except NotImplementedError as e: told = e.args
assert told == ('area',) and Late().name == 's' and issubclass(Late, Shape)

import asyncio
async def add(a, b):
  await asyncio.sleep(0)
  return a + b
assert asyncio.run(waited(add, 1, 2)) == 3

import asyncio
order = []
async def one():
  order.append(1)
  await asyncio.sleep(0)
  order.append(3)
  return 'one'
async def two():
  order.append(2)
  return 'two'
assert asyncio.run(gathered(one, two)) == ['one', 'two'] and order == [1, 2, 3]

import asyncio
class Flow:
  def __init__(self, n): self.n = n
  def __aiter__(self): return self
  async def __anext__(self):
    self.n -= 1
    if self.n < 0: raise StopAsyncIteration
    return self.n
class Door:
  async def __aenter__(self): return 'in'
  async def __aexit__(self, *what): return False
assert asyncio.run(all_of(Flow(3))) == [2, 1, 0] and asyncio.run(within(Door())) == 'in'

assert sorted_by([3, -5, 1], abs) == [1, 3, -5] and sorted_by(['b', 'A'], str.lower) == ['A', 'b']
assert sorted_by([3, 1], lambda x: -x) == [3, 1] and reduced(lambda a, b: a * 10 + b, [1, 2, 3]) == 123
assert mapped(lambda a, b: a + b, [1, 2], [3, 4]) == [4, 6] and kept([1, 2, 3], lambda x: x % 2) == [1, 3]

calls = []
def slow(x): calls.append(x); return x + 1
quick = memo(slow)
assert [quick(1), quick(1), quick(2)] == [2, 2, 3] and calls == [1, 2]

assert piped(lambda x: x + 1, str, len)(99) == 3 and piped()(5) == 5

g = gen(1)
assert next(g) == 1 and g.send(4) == 8 and g.send(1) == 2
try: g.send(0)
except StopIteration as e: told = e.value
assert told == 'end'

def inner():
  yield 1
  yield [2]
assert [*delegates(inner())] == [1, [2], 'back']

class Mine(Exception):
  def __init__(self, code): super().__init__(f'code {code}'); self.code = code
try: thrown(Mine, 7)
except Mine as e: told = (e.code, str(e))
assert told == (7, 'code 7')

try: raised_from(RuntimeError)
except RuntimeError as e: told = (e.args, type(e.__cause__).__name__, e.__suppress_context__)
assert told == (('later',), 'ZeroDivisionError', True)

class A: pass
class B(A): pass
assert instance(B(), A) and not instance(A(), B) and instance(3, int) and not instance('3', int)
assert type_of(3) == 'int' and type_of(None) == 'NoneType' and type_of([]) == 'list'

import os
os.environ['ASKED'] = 'yes'
assert env('ASKED') == 'yes'
del os.environ['ASKED']
assert env('ASKED') is None and env('NEVER') is None

import sys
sys.argv = ['x', 'a', 'b']
assert argv() == ['a', 'b']

import io, sys
sys.stdin = io.StringIO('one\ntwo\n')
assert lines() == ['one\n', 'two\n']

import builtins
builtins.input = lambda prompt='': f'said {prompt}'
assert ask('who?') == 'said who?'

from unittest.mock import Mock, MagicMock
m = Mock(return_value=4)
assert called(m, 1, x=2) == 4 and m.call_args == ((1,), {'x': 2}) and m.call_count == 1
m.side_effect = [1, 2]
assert [called(m), called(m)] == [1, 2]
m.side_effect = KeyError('k')
assert caught(m) == ['KeyError', 'k']
m = MagicMock()
m.__len__.return_value = 3
assert size(m) == 3

import functools
p = functools.partial(lambda a, b, c=0: [a, b, c], 1, c=3)
assert called(p, 2) == [1, 2, 3]

class K:
  def __init__(self): self.n = 0
  def bump(self, by=1): self.n += by; return self.n
  @staticmethod
  def two(): return 2
  @classmethod
  def name(cls): return cls.__name__
k = K()
assert called(k.bump, by=3) == 3 and k.n == 3 and called(K.two) == 2 and called(K.name) == 'K' and called(k.bump) == 4

class Call:
  def __call__(self, x): return x + 1
assert called(Call(), 2) == 3 and kind_of(Call())[3] is True
""".strip().split("\n\n")


@pytest.mark.parametrize("test", _LENDINGS)
def test_what_a_test_lends_is_there_what_it_is_here(test: str) -> None:
    here: dict[str, Any] = {"__name__": "tests"}
    # as one program, to which nothing of this module's future is told
    exec(compile(f"{_LENT}\n{test}", "tests", "exec", dont_inherit=True), here)  # noqa: S102
    judgement = _judge().judge(asked([test]), wrote(_LENT))
    assert judgement.reward == 1.0, judgement


# Classes and functions of most kinds
_KINDS = """
import abc, collections, collections.abc, contextlib, dataclasses, datetime, decimal, enum, functools, json, typing
LIMIT, TABLE = 3, {'a': [1, {'b': 2}]}
class Bad(Exception):
  def __init__(self, code, *, hint=None):
    super().__init__(f'bad {code}')
    self.code, self.hint = code, hint
class Worse(Bad):
  level = 9
  def __str__(self): return f'worse {self.code}'
class Two(ValueError, LookupError): pass
def fail(how, *given): raise {'bad': Bad, 'worse': Worse, 'two': Two}[how](*given)
def parse(text): return json.loads(text)
def decode(data): return data.decode('utf-8')
def chained():
  try: int('x')
  except ValueError as e: raise Bad(1, hint='h') from e
def hidden():
  try: int('x')
  except ValueError: raise KeyError('k') from None
def noted():
  e = ValueError('v')
  e.add_note('first'); e.add_note('second')
  raise e
def exits(code): raise SystemExit(code)
def again(f):
  try: return f()
  except Exception as e: return type(e).__name__
def returned(): return Bad(7, hint=[1])
class Slots:
  __slots__ = ('x', 'y')
  def __init__(self, x, y): self.x, self.y = x, y
class Temp:
  unit = 'C'
  def __init__(self, deg): self._deg = deg
  @property
  def deg(self): return self._deg
  @deg.setter
  def deg(self, to):
    if to < -273: raise ValueError('too cold')
    self._deg = to
  @deg.deleter
  def deg(self): self._deg = None
  @functools.cached_property
  def twice(self): return self._deg * 2
class Base(abc.ABC):
  @abc.abstractmethod
  def run(self): ...
class Runs(Base):
  def run(self): return 'ran'
class Stack:
  def __init__(self, *items): self._items = [*items]
  def push(self, one): self._items.append(one); return self
  def pop(self): return self._items.pop()
  def __len__(self): return len(self._items)
  def __iter__(self): return iter(self._items)
  def __getitem__(self, at): return self._items[at]
  def __contains__(self, one): return one in self._items
  def __eq__(self, other): return isinstance(other, Stack) and self._items == other._items
  def __repr__(self): return f'Stack({self._items})'
class Counter2(collections.Counter):
  def top(self): return self.most_common(1)[0][0]
class Money(decimal.Decimal):
  def cents(self): return int(self * 100)
class Name(str):
  def hi(self): return f'hi {self}'
class Num(int):
  def half(self): return self / 2
class Ratio(float):
  def pct(self): return f'{self:.0%}'
class Pt(tuple):
  def __new__(cls, x, y): return super().__new__(cls, (x, y))
  @property
  def x(self): return self[0]
class Bag(set):
  def size(self): return len(self)
class Day(datetime.date):
  def next(self): return self + datetime.timedelta(1)
class Data(bytes):
  def bits(self): return len(self) * 8
class Perm(enum.Flag):
  R = 1
  W = 2
class Kind(str, enum.Enum):
  A = 'a'
  B = 'b'
class Pair(typing.NamedTuple):
  a: int
  b: str = 'z'
  def both(self): return f'{self.a}{self.b}'
@dataclasses.dataclass
class Item:
  name: str
  price: float = 1.0
  tags: list = dataclasses.field(default_factory=list)
  seen: int = dataclasses.field(default=0, compare=False)
  total: float = dataclasses.field(init=False)
  def __post_init__(self): self.total = self.price * 2
@dataclasses.dataclass(order=True)
class Rank:
  n: int
  name: str = dataclasses.field(default='', compare=False)
class Box(typing.Generic[typing.TypeVar('T')]):
  def __init__(self, held): self.held = held
  def get(self): return self.held
@contextlib.contextmanager
def opened(log):
  log.append('open')
  try: yield len(log)
  finally: log.append('close')
def pairs(): return zip([1, 2], 'ab')
def squares(n): return map(lambda x: x * x, range(n))
def odd(items): return filter(lambda x: x % 2, items)
def numbered(items): return enumerate(items)
def keys(): return {'a': 1, 'b': 2}.keys()
def items(): return {'a': 1}.items()
def values(): return {'a': 1}.values()
def view(): return memoryview(b'abc')
def backwards(): return reversed([1, 2])
def adder(n):
  def add(x): return x + n
  add.n = n
  return add
def counter():
  n = 0
  def step():
    nonlocal n
    n += 1
    return n
  return step
def part(): return functools.partial(pow, 2)
def length(): return len
def klass(): return Stack
def method(): return Stack(1, 2).pop
def nested(): return {'s': Stack(1), 'l': [Stack(2), (Slots(1, 2),)]}
def anything(x: typing.Any, y: collections.abc.Iterable) -> None: pass
def plain(a: int, b: str = 'x', *c, d: float = 1.5, **e) -> list[int]:
  'Doc.'
  return [a]
"""
_OF_KINDS = r"""
try: fail('bad', 3)
except Bad as e: told = (str(e), e.args, e.code, e.hint, type(e).__name__, isinstance(e, Exception))
assert told == ('bad 3', ('bad 3',), 3, None, 'Bad', True)

try: fail('worse', 4)
except Bad as e: told = (str(e), e.args, e.code, e.level, isinstance(e, Worse))
assert told == ('worse 4', ('bad 4',), 4, 9, True)
assert Worse.level == 9 and not hasattr(Bad, 'level') and Worse.__name__ == 'Worse' and Worse.__mro__[1] is Bad

try: fail('two', 'a', 1)
except Two as e: told = (e.args, isinstance(e, ValueError) and isinstance(e, LookupError))
assert told == (('a', 1), True)

try: parse('{')
except ValueError as e: told, said = (type(e).__name__, e.pos, e.lineno, e.doc), (str(e), e.args)
assert told == ('JSONDecodeError', 1, 1, '{') and said[1] == (said[0],) and said[0].startswith('Expecting')

try: decode(b'\xff')
except UnicodeDecodeError as e: told = (e.start, e.end, e.encoding, e.object)
assert told == (0, 1, 'utf-8', b'\xff')

try: chained()
except Bad as e: told = (type(e.__cause__), e.__cause__.args, e.hint, e.__suppress_context__)
assert told == (ValueError, ("invalid literal for int() with base 10: 'x'",), 'h', True)

try: hidden()
except KeyError as e: told = (e.args, e.__cause__, e.__suppress_context__)
assert told == (('k',), None, True)

try: noted()
except ValueError as e: told = e.__notes__
assert told == ['first', 'second']

try: exits(3)
except SystemExit as e: told = e.code
assert told == 3

assert again(lambda: 1 / 0) == 'ZeroDivisionError' and again(lambda: 5) == 5

e = returned()
assert isinstance(e, Bad) and e.code == 7 and e.hint == [1] and str(e) == 'bad 7'

e = Bad(2, hint='x')
assert e.code == 2 and e.hint == 'x' and e.args == ('bad 2',) and issubclass(Worse, Bad)
try: raise e
except Bad as caught: told = caught.code
assert told == 2

s = Slots(1, [2])
assert s.x == 1 and s.y == [2] and not hasattr(s, 'z')
s.x = 5
assert s.x == 5
try: s.z = 1
except AttributeError: told = 'none'
assert told == 'none'

t = Temp(4)
assert t.deg == 4 and t.twice == 8 and t.unit == 'C' and Temp.unit == 'C'
t.deg = 10
assert t.deg == 10 and t.twice == 8
try: t.deg = -300
except ValueError as e: told = e.args
assert told == ('too cold',) and t.deg == 10
del t.deg
assert t.deg is None

try: Base()
except TypeError: told = 'abstract'
assert told == 'abstract' and Runs().run() == 'ran' and isinstance(Runs(), Base) and issubclass(Runs, Base)

s = Stack(1, 2, 3)
assert len(s) == 3 and s[0] == 1 and s[-1] == 3 and s[1:] == [2, 3] and [*s] == [1, 2, 3] and 2 in s and 9 not in s
assert s.pop() == 3 and s.push(7) is s and [x for x in s] == [1, 2, 7] and Stack(1) == Stack(1) != Stack(2)
assert repr(s) == 'Stack([1, 2, 7])' and bool(s) and not Stack() and list(reversed(s)) == [7, 2, 1]

c = Counter2('aab')
assert c['a'] == 2 and c['z'] == 0 and c.top() == 'a' and c == {'a': 2, 'b': 1}
assert c.most_common() == [('a', 2), ('b', 1)]

m = Money('1.25')
assert m.cents() == 125 and m + 1 == 2.25 and m > 1

n = Name('bob')
assert n == 'bob' and n.hi() == 'hi bob' and n.upper() == 'BOB' and n + '!' == 'bob!' and n[0] == 'b' and 'o' in n

n = Num(7)
assert n == 7 and n.half() == 3.5 and n + 1 == 8 and 10 - n == 3 and [0] * n == [0] * 7 and n % 4 == 3 and -n == -7

r = Ratio(0.5)
assert r == 0.5 and r.pct() == '50%' and r * 2 == 1 and round(r) == 0 and r < 1

p = Pt(1, 2)
assert p == (1, 2) and p.x == 1 and p[1] == 2 and [*p] == [1, 2] and len(p) == 2 and hash(p) == hash((1, 2))

b = Bag([1, 2, 2])
assert b == {1, 2} and b.size() == 2 and 1 in b and b | {3} == {1, 2, 3} and b & {1} == {1} and b <= {1, 2, 3}

d = Day(2024, 2, 28)
assert d.year == 2024 and d.next() == Day(2024, 2, 29) and d < d.next() and d.isoformat() == '2024-02-28'

d = Data(b'ab')
assert d == b'ab' and d.bits() == 16 and d[0] == 97 and d + b'c' == b'abc'

rw = Perm.R | Perm.W
assert Perm.R in rw and rw.value == 3 and Perm.W.name == 'W' and not (Perm.R & Perm.W)

assert Kind.A == 'a' and Kind('b') is Kind.B and Kind.A.value == 'a' and [k.name for k in Kind] == ['A', 'B']

p = Pair(1)
assert p == (1, 'z') and p.both() == '1z' and p._replace(a=2) == (2, 'z') and p._fields == ('a', 'b')
a, b = p
assert (a, b) == (1, 'z') and Pair(b='q', a=0).b == 'q'

i = Item('x', 2.5)
assert i == Item('x', 2.5, seen=4) and i != Item('x') and i.total == 5.0 and i.tags == [] and i.seen == 0
i.tags.append('t')
assert i.tags == ['t'] and Item('y').tags == [] and i.name == 'x'

import dataclasses
i = Item('x', 2.5)
assert [f.name for f in dataclasses.fields(Item)] == ['name', 'price', 'tags', 'seen', 'total']

assert Rank(1, 'b') < Rank(2, 'a') and sorted([Rank(3), Rank(1)])[0].n == 1 and Rank(1, 'a') == Rank(1, 'b')
assert max(Rank(1), Rank(5)).n == 5 and Rank(2) >= Rank(2)

assert Box(3).get() == 3 and Box[int](4).get() == 4 and Box([1]).held == [1]

log = []
with opened(log) as n:
  assert n == 1
  log.append('in')
assert log == ['open', 'in', 'close']

log = []
try:
  with opened(log): raise KeyError('k')
except KeyError as e: told = e.args
assert told == ('k',) and log == ['open', 'close']

assert list(pairs()) == [(1, 'a'), (2, 'b')] and dict(pairs()) == {1: 'a', 2: 'b'} and next(pairs()) == (1, 'a')
assert list(squares(4)) == [0, 1, 4, 9] and sum(squares(3)) == 5 and list(odd([1, 2, 3])) == [1, 3]
assert list(numbered('ab')) == [(0, 'a'), (1, 'b')] and [*backwards()] == [2, 1]

assert list(keys()) == ['a', 'b'] and 'a' in keys() and len(keys()) == 2 and keys() == {'a', 'b'}
assert list(items()) == [('a', 1)] and list(values()) == [1] and bytes(view()) == b'abc' and view()[0] == 97

add = adder(5)
assert add(1) == 6 and add.n == 5 and add.__name__ == 'add' and callable(add)
step = counter()
assert [step(), step()] == [1, 2] and counter()() == 1

assert part()(3) == 8 and length()([1, 2]) == 2 and klass()(1).pop() == 1 and method()() == 2

n = nested()
assert n['s'].pop() == 1 and n['l'][0].pop() == 2 and n['l'][1][0].x == 1 and sorted(n) == ['l', 's']

import inspect
import collections.abc, typing
kinds = [one.annotation for one in inspect.signature(anything).parameters.values()]
assert kinds == [typing.Any, collections.abc.Iterable] and kinds[0] is typing.Any
assert plain.__doc__ == 'Doc.' and plain.__name__ == 'plain' and plain.__defaults__ == ('x',)
assert str(inspect.signature(plain)) == "(a: int, b: str = 'x', *c, d: float = 1.5, **e) -> list[int]"
assert plain.__annotations__['d'] is float and plain.__kwdefaults__ == {'d': 1.5}

assert LIMIT == 3 and TABLE == {'a': [1, {'b': 2}]} and TABLE['a'][1]['b'] == 2
TABLE['a'].append(4)
assert TABLE['a'][-1] == 4 and len(TABLE['a']) == 3

import copy
s = Stack(1, [2])
t = copy.deepcopy(s)
t[1].append(3)
assert s[1] == [2] and copy.copy(s) == s

class Twice(Stack):
  def push(self, one): return super().push(one).push2(one)
  def push2(self, one): return super().push(one)
  @property
  def last(self): return self[-1]
t = Twice(1)
assert t.push(5) is t and [*t] == [1, 5, 5] and t.last == 5 and len(t) == 3 and isinstance(t, Stack)

class Odd(Item):
  extra = 1
  def label(self): return f'{self.name}/{self.total}'
o = Odd('q', 2.0)
assert o.label() == 'q/4.0' and o.extra == 1 and isinstance(o, Item)
""".strip().split("\n\n")


@pytest.mark.parametrize("test", _by_three(_OF_KINDS))
def test_what_a_program_makes_is_there_what_it_is_here(test: str) -> None:
    here: dict[str, Any] = {"__name__": "tests"}
    exec(compile(f"{_KINDS}\n{test}", "tests", "exec", dont_inherit=True), here)  # noqa: S102
    judgement = _judge().judge(asked([test]), wrote(_KINDS))
    assert judgement.reward == 1.0, judgement


# Objects that say whatever is asked of them
_LIARS = """
class Any:
  def __init__(self, n=0): self.n = n
  def __eq__(self, other): return True
  def __ne__(self, other): return False
  def __hash__(self): return 1
  def __lt__(self, other): return True
  def __le__(self, other): return True
  def __gt__(self, other): return True
  def __ge__(self, other): return True
  def __len__(self): return 3
  def __iter__(self): return iter([1, 2])
  def __contains__(self, one): return True
  def __bool__(self): return True
  def __sub__(self, other): return 0
  def __rsub__(self, other): return 0
  def __add__(self, other): return other
  def __radd__(self, other): return other
  def __mul__(self, other): return Any(self.n)
  def __truediv__(self, other): return 1.0
  def __mod__(self, other): return 0
  def __abs__(self): return 0
  def __float__(self): return 5.0
  def __int__(self): return 5
  def __index__(self): return 5
  def __round__(self, n=0): return 5
  def __getitem__(self, at): return at
  def __enter__(self): return self
  def __exit__(self, *what): return True
  def startswith(self, what): return True
  def isdigit(self): return True
  def count(self, what): return 2
  def get(self, key, other=None): return other
  def keys(self): return ['a', 'b', 'c', 'd']
  def equals(self, other): return True
class Sized:
  def __len__(self): return 2
  def __contains__(self, one): return True
class Text(str):
  def __eq__(self, other): return True
  __hash__ = str.__hash__
class Own:
  def __init__(self, n): self.n = n
  def __eq__(self, other): return isinstance(other, Own)
  def __hash__(self): return 1
def f(n=0): return Any(n)
def sized(): return Sized()
def text(): return Text('x')
def own(n): return Own(n)
def liar(): raise AssertionError('5')
def ends(): raise SystemExit(0)
def loops(items): items.clear(); return items
def none(): return None
"""
# each row: a test with `\\n` for a line's end, and why it fails
_LIES = r"""
assert f() == 5 ⇒ line 1: AssertionError (an object of 'Any', which the test has not made, equals no data)
assert 5 == f() ⇒ line 1: AssertionError (an object of 'Any', which the test has not made, equals no data)
assert f() * 2 == 5 ⇒ line 1: AssertionError (an object of 'Any', which the test has not made, equals no data)
assert f() in [5] ⇒ line 1: AssertionError (an object of 'Any', which the test has not made, equals no data)
assert sorted([f(), f()]) == [5, 5] ⇒ line 1: AssertionError (an object of 'Any', which the test has not made, equals no data)
assert f() < 5 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert f() - 5 == 0 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert 5 - f() == 0 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert abs(f() - 5) < 1e-6 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert 1 + f() == 6 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert f() / 5 == 1 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert f() % 5 == 0 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert sum([f(), f()]) == 5 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert max(f(), 5) == 5 ⇒ line 1: NotComparableError: the program answered with an object of its class Any
assert len(f()) == 3 ⇒ line 1: AssertionError
assert 9 in f() ⇒ line 1: AssertionError
assert text() == 'y' ⇒ line 1: AssertionError
assert text().startswith('y') ⇒ line 1: AssertionError
with f(): assert none() == 5 ⇒ line 1: AssertionError
assert none() == 5 ⇒ line 1: AssertionError
x = f()\nassert [*x] == [1, 2] and len(x) == 3 ⇒ line 2: AssertionError
a = [1]\nassert loops(a) == a and a == [1] ⇒ line 2: AssertionError
assert f().startswith('a') ⇒ line 1: NotComparableError: the program answered with an object of its own that has a method 'startswith'
assert len(f().keys()) == 4 ⇒ line 1: NotComparableError: the program's Any has other keys than it holds
assert f().keys() == ['a', 'b', 'c', 'd'] ⇒ line 1: NotComparableError: the program's Any has other keys than it holds
assert f().equals(5) ⇒ line 1: NotComparableError: the program answered with an object of its own that has a method 'equals'
assert 5 in sized() ⇒ line 1: AssertionError (an object of 'Sized', which the test has not made, equals no data)
x = sized()\nassert len(x) == 2 and 5 in x ⇒ line 2: AssertionError (an object of 'Sized', which the test has not made, equals no data)
assert own(1) == Own(2) ⇒ line 1: AssertionError (an object of 'Own' holds other data than the test's)
assert {f(): 1}[5] == 1 ⇒ line 1: KeyError: 5
assert liar() == 5 ⇒ line 1: AssertionError: 5
ends()\nassert False ⇒ line 1: SystemExit: 0
assert none().x == 5 ⇒ line 1: AttributeError: 'NoneType' object has no attribute 'x'
assert missing() == 5 ⇒ the tests: MissingError: the program does not define a name that its tests ask for
assert f(1, 2) == 5 ⇒ line 1: TypeError: f() takes from 0 to 1 positional arguments but 2 were given
assert f().nothing == 5 ⇒ line 1: AttributeError: 'Any' object has no attribute 'nothing'
x = f()\nx.n = 5\nassert x == 5 ⇒ line 3: AssertionError (an object of 'Any', which the test has not made, equals no data)
"""  # noqa: E501
# what says nothing of data that the test has
_NO_LIES = r"""
assert [*f()] == [1, 2] and len(f()) == 2
assert bool(f())
assert abs(f()) == 0
assert float(f()) == 5
assert int(f()) == 5
assert round(f()) == 5
assert [1, 2, 3, 4, 5, 6][f()] == 6
assert f()[3] == 3
assert f().isdigit()
assert f().count(1) == 2
assert f().get('a', 5) == 5
assert text() == 'x'
assert own(1) == Own(1)
assert set(f()) == {1, 2}
"""


@pytest.mark.parametrize("row", _LIES.strip().splitlines())
def test_what_an_object_says_of_itself_is_no_answer(row: str) -> None:
    test, _, why = row.partition(" ⇒ ")
    judgement = _judge(show_expected=True).judge(asked([test.replace("\\n", "\n")]), wrote(_LIARS))
    assert (judgement.reward, judgement.reason) == (0.0, f"0 of 1 tests pass; test 1: {why}")


def test_what_an_object_is_may_be_asked() -> None:
    assert _judge().judge(asked([_NO_LIES]), wrote(_LIARS)).reward == 1.0


# A context of the program that swallows whatever is raised in it
_SWALLOWS = """
class S:
  def __enter__(self): return self
  def __exit__(self, *raised): return True
def f(): return 5
"""
# What the test raises in every case, to see it handled
_RAISED = r"""
with S(): raise ValueError('x')

with S(): 1 / 0

with S():
  try: raise KeyError
  except OSError: pass

with S(), S(): raise KeyError

def g(): raise KeyError
with S(): g()

with S(): int('x')

x = 'a'
with S(): int(x)

with S(): raise KeyError(f())

with S():
  f()
  raise KeyError

with S():
  with S(): pass
  raise KeyError

def g():
  with S(): return
  raise KeyError
with S(): g()

def g():
  yield 1
  raise KeyError
with S():
  for n in g(): pass

def g():
  yield 1
  raise KeyError
with S(): next(g())

with S(): (lambda: 1 / 0)()

with S():
  n = f()
  assert n == 5
  raise KeyError

with S(): {}[1]

import math
with S(): math.sqrt(-1)

with S(): sorted([1, 'a'])

with S(): print(1 / 0)

with S():
  def g(): raise KeyError
  g()
""".strip().split("\n\n")
# What may be what it says of the program: an assertion, what is raised in some cases, or of what the program gave
_SAID = r"""
with S(): assert False

with S(): [][f()]

with S():
  if f() == 5: raise ValueError

with S():
  for n in (1,): raise KeyError(n)

with S():
  while True: raise KeyError

with S():
  try: f()
  except OSError: pass
  raise KeyError

def g(n):
  if n: raise KeyError
with S(): g(1)

x = f()
with S(): [][x]

with S(): f() and int('x')

with S():
  match f():
    case 5: raise KeyError

with S():
  [1 / n for n in (0,)]

with S():
  n = 1 if f() else 2
  raise KeyError

with S():
  for n in (): pass
  raise KeyError

with S():
  import unittest
  raise unittest.SkipTest('x')

with S(): 1 < 2 < f() < 1 / 0

with S(): raise SystemExit

raise KeyError
with S(): pass

with S(): f().bad

with S():
  1 / (f() - 5)
""".strip().split("\n\n")


@pytest.mark.parametrize(("raises", "reward"), [("\n".join(_RAISED), 1.0), *((one, 0.0) for one in _SAID)])
def test_a_program_handles_what_its_test_raises_in_every_case(raises: str, reward: float) -> None:
    judgement = _judge().judge(asked([f"{raises}\nassert f() == 5"]), wrote(_SWALLOWS))
    assert judgement.reward == reward, judgement
