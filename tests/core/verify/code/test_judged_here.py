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
        for at, row in enumerate(rows):
            told = dict(zip(names, row, strict=True))
            asks = told.get("tests") or [told["test"]]
            if "framework" in told:
                asks = {"framework": told["framework"], "module": "solution", "test": told["test"]}
            for reward, program in ((1.0, "right"), (0.0, "wrong"), (told.get("reward"), "program")):
                # for a short suite, of the wrong programs of a long table some
                is_left_out = program == "wrong" and len(rows) > 60 and at % 3
                if program in told and not is_left_out and _is_here((asks, told[program])):
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
    jailed.test_an_output_longer_than_any_program_may_write_is_no_verdict,
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


@pytest.mark.parametrize(("tests", "kind"), _marked(_WORDS, ("tests", "kind"))[:7])
def test_hidden_words(tests: object, kind: str) -> None:
    _WORDS(tests, kind)


@pytest.mark.parametrize(
    ("checker", "program", "reward"),
    [
        row
        for row in vars(_CHECKERS)["pytestmark"][0].args[1][::2]
        if row[0] not in (jailed._STUMBLING, *_HOOKED) and not re.search(r"exec\(|import os|runpy|\*\*7|'w'", repr(row))
    ],
)
def test_checkers(checker: str, program: str, reward: float | None) -> None:
    _CHECKERS(checker, program, reward)


@pytest.mark.parametrize("cheat", _marked(_CHEATS, "cheat"))
def test_cheats(cheat: str) -> None:
    _CHEATS(cheat, ["assert abs(double(2) - 4) < 1"])


@cache
def _sql(folder: Path) -> TaskJudge:
    return load_judge({"astuner": {"task_judge": {"judge": "sql", "judge_kwargs": {"databases": str(folder)}}}})


@pytest.mark.parametrize(("query", "gold", "reward"), vars(queried.test_rows_decide)["pytestmark"][0].args[1][::2])
def test_queries(folder: Path, query: str, gold: str, reward: float | None) -> None:
    judgement = _sql(folder).judge(asked([], db_id="shop", gold_sql=gold), wrote(query, "sql"))
    assert judgement.reward == reward, judgement
    assert judgement.cause == (None if reward is not None else "reference")


test_references = queried.test_the_reference_is_the_query_and_not_the_question
test_ties = queried.test_a_reference_is_asked_for_its_ties_only_where_they_could_decide


@pytest.mark.parametrize("attack", _marked(queried.test_attacks_are_not_paid_and_change_nothing, "attack"))
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
    judge = load_judge({"astuner": {"task_judge": {"judge": "reasoning_gym"}}})
    task = WorkflowTask(task=Task(main_query="?", metadata={"answer": own, "metadata": {"source_dataset": dataset}}))
    said = "none" if answer is None else f"<answer>{answer}</answer>"
    found = judge.judge(task, WorkflowOutput(metadata={"final_answer": said}))
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
        ({"nonce": "b", "tests": [["a", None]]}, "it is another's"),
        ([["a", None]], "it is another's"),
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
