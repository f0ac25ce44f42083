"""Programs, tests that carry code, and queries, each side in this process: what jails would give, in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

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

# What needs two interpreters or a folder; and loops that take seconds to run again in every other way
_NOT_HERE = (
    "random",
    "patch",
    "tmp_path",
    "pickle",
    "pytest",
    "input()",
    "[*k]",
    "open(",
    "found = {one",
    "assert one\\n",
)


def _rows_of(*tests: Any) -> Iterator[tuple[object, str, float | None]]:
    """The rows of tests with a jail, but for those that cannot be judged here."""
    for test in tests:
        names, rows = test.pytestmark[0].args
        for row in rows:
            told = dict(zip(names, row, strict=True))
            asks = told.get("tests") or [told["test"]]
            for reward, program in ((1.0, "right"), (0.0, "wrong"), (told.get("reward"), "program")):
                if program in told and not any(word in f"{asks}{told[program]}" for word in _NOT_HERE):
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
        )
    ],
)
def test_programs(tests: object, program: str, reward: float | None) -> None:
    judgement = _judge().judge(asked(tests), wrote(program))
    assert judgement.reward == reward, judgement


@pytest.mark.parametrize(("query", "gold", "reward"), vars(queried.test_rows_decide)["pytestmark"][0].args[1])
def test_queries(folder: Path, query: str, gold: str, reward: float | None) -> None:
    queried.test_rows_decide(folder, query, gold, reward)
