"""A trainer that leaves failed verdicts out is stopped before it trains on nothing, and told which column was meant."""

from __future__ import annotations

import asyncio
import inspect
import logging
import pickle
import socket
from collections.abc import Callable
from typing import Any

import pytest

from agentscope_tuner import JudgeError
from agentscope_tuner._http.retries import without_waits
from agentscope_tuner.adapters.rollout import MOST_BATCHES, FailingRun
from agentscope_tuner.adapters.trl import async_reward_func, combined, reward_func
from agentscope_tuner.errors import Cause
from agentscope_tuner.records.formats.sample import as_rollout
from agentscope_tuner.task_judge.batch import Pair
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests import hanging_judges
from tests.core.adapters.test_adapters import config, pair
from tests.core.adapters.test_trl_trainer import Trainer, brevity

MATH = {
    "astuner": {"task_judge": {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}}
}
BUILDS: dict[str, Callable[[Any], Any]] = {
    "sync": reward_func,
    "async": async_reward_func,
    "combined": lambda config: combined([config]),
}


def asked(function: Any, completions: list[str], **columns: Any) -> Any:
    prompts = [f"6*7? {place}" for place in range(len(completions))]
    answer = function(prompts=prompts, completions=completions, **columns)
    return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("column", ["answer", "solution"])
def test_trls_own_names_of_the_reference_are_read(build: str, column: str) -> None:
    rewards = asked(BUILDS[build](MATH), [r"\boxed{42}", r"\boxed{41}"], **{column: ["42", r"so $\boxed{42}$"]})
    assert rewards == [1.0, 0.0]


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"level": 3}, r"the columns 'level'\. The first"),
        (
            {"the_target": "42", "level": 3},
            "the columns 'level', 'the_target'. The first: .*write `reads: {answer: the_target}`",
        ),
        ({"Ground_Truth": "42"}, "the columns 'Ground_Truth'. .*write `reads: {answer: Ground_Truth}`"),
        ({"answers": "42"}, "write `reads: {answer: answers}`"),
        ({"answer": None}, r"the columns 'answer'\. The first: .*got None"),
        (
            {"answer": "", "label": "42"},
            "Is it 'label'. Then write `reads: {answer: label}` under .* The first: .* is empty",
        ),
        ({}, "have no column"),
    ],
)
def test_a_data_set_without_a_reference_ends_in_its_first_batch(build: str, columns: dict[str, Any], told: str) -> None:
    function = BUILDS[build](MATH)
    with pytest.raises(
        JudgeError, match=f"no verdict on any row so far: 4 rows with cause reference.*{told}"
    ) as caught:
        asked(
            function, [r"\boxed{42}", "42", "no", r"\boxed{4}"], **{name: [cell] * 4 for name, cell in columns.items()}
        )
    assert caught.value.cause is Cause.REFERENCE


def test_some_broken_rows_of_a_batch_stop_nothing() -> None:
    function = reward_func(MATH)
    assert asked(function, [r"\boxed{42}"] * 3, answer=[None, "42", ""]) == [None, 1.0, None]
    # a whole batch of them does not, either, once there were verdicts
    for _ in range(MOST_BATCHES - 1):
        assert asked(function, [r"\boxed{42}"] * 8, answer=[None, ""] * 4) == [None] * 8
    assert asked(function, [r"\boxed{42}"], answer=["42"]) == [1.0]
    for _ in range(MOST_BATCHES - 1):
        asked(function, [r"\boxed{42}"] * 8, answer=[None, ""] * 4)
    with pytest.raises(JudgeError, match=f"no verdict in {MOST_BATCHES} batches in a row"):
        asked(function, [r"\boxed{42}"] * 8, answer=[None, ""] * 4)


@pytest.mark.parametrize("build", BUILDS)
def test_a_judge_that_only_fails_is_stopped_after_some_batches(build: str) -> None:
    function = BUILDS[build](config())
    for _ in range(MOST_BATCHES - 1):
        assert asked(function, ["boom"] * 8, answer=["42"] * 8) == [None] * 8
    with pytest.raises(JudgeError, match=f"no verdict in {MOST_BATCHES} batches in a row: 24 rows with cause judge"):
        asked(function, ["boom"] * 8, answer=["42"] * 8)


def failed(cause: Cause) -> Judgement:
    return Judgement.failed(JudgeError("why", cause=cause))


JUDGED = Judgement("judged", 0.0, False)
FILTERED = Judgement("filtered", 0.0, False)


@pytest.mark.parametrize(
    ("batches", "stops"),
    [
        ([[failed(Cause.BREAKER)]], True),
        ([[JUDGED], [failed(Cause.ENDPOINT), failed(Cause.BREAKER)]], True),
        ([[failed(Cause.BREAKER), JUDGED]], False),
        # a rule's verdict is none of the judge's: such a run would train on the rules alone
        ([[FILTERED, failed(Cause.REFERENCE)]], True),
        ([[FILTERED, failed(Cause.ENDPOINT)]] * MOST_BATCHES, True),
        ([[FILTERED]] * 10, False),
        ([[FILTERED], [failed(Cause.INPUT)]], True),
        ([[failed(Cause.ENDPOINT), failed(Cause.REFERENCE)]], False),
        ([[failed(Cause.ENDPOINT)]] * (MOST_BATCHES - 1), False),
        ([[failed(Cause.DEADLINE)]] * MOST_BATCHES, True),
        ([[failed(Cause.DEADLINE)], [FILTERED], *[[failed(Cause.DEADLINE)]] * (MOST_BATCHES - 1)], True),
        ([[]], False),
    ],
)
@pytest.mark.parametrize("on", [True, False])
def test_what_stops_a_run(batches: list[list[Judgement]], stops: bool, on: bool) -> None:
    run = FailingRun("Echo", stops=on)
    *before, last = batches
    for batch in before:
        run.add(*of_tasks(8, batch))
    if stops and on:
        with pytest.raises(JudgeError, match="stop_when_failing=False lets it go on"):
            run.add(*of_tasks(8, last))
    else:
        run.add(*of_tasks(8, last))


@pytest.mark.parametrize(
    ("group", "stops"),
    [
        # the one verdict of a group has advantage 0: the run went on to its end without learning
        ([JUDGED, failed(Cause.DEADLINE)], True),
        ([failed(Cause.ENDPOINT)] * 3 + [JUDGED], True),
        ([JUDGED, JUDGED, failed(Cause.DEADLINE)], False),
        ([JUDGED, FILTERED, failed(Cause.DEADLINE)], False),
        # a trainer that shows one sample of a task at a time, or trains without groups
        ([JUDGED], False),
        ([JUDGED] * 4, False),
    ],
)
@pytest.mark.parametrize("at_once", [1, 8, 16])
def test_a_verdict_alone_in_each_group_stops_a_run(group: list[Judgement], stops: bool, at_once: int) -> None:
    run = FailingRun("Echo")
    # a verdict on every row, first: the judge worked
    run.add(*of_tasks(1, [JUDGED] * 2))
    places = range(0, 64 - at_once, at_once)
    for first in places:
        run.add(*of_tasks(at_once, group, first))
    if stops:
        with pytest.raises(JudgeError, match="no two verdicts on one of the last 64 tasks"):
            run.add(*of_tasks(at_once, group, 64))
    else:
        run.add(*of_tasks(at_once, group, 64))


def test_one_large_batch_of_such_groups_stops_nothing() -> None:
    run = FailingRun("Echo")
    for _ in range(MOST_BATCHES - 1):
        run.add(*of_tasks(512, [JUDGED, failed(Cause.DEADLINE)]))


def test_one_group_with_two_verdicts_lets_a_run_go_on() -> None:
    run = FailingRun("Echo")
    for first in range(0, 256, 32):
        run.add(*of_tasks(32, [JUDGED, failed(Cause.DEADLINE)], first))
        run.add(*of_tasks(1, [JUDGED, JUDGED, failed(Cause.DEADLINE)], first))


def of_tasks(count: int, batch: list[Judgement], first: int = 0) -> tuple[list[Pair], list[Judgement]]:
    """The batch of each of several tasks, as one."""
    pairs = [as_rollout(f"q{first + number}", "a", {}) for number in range(count) for _ in batch]
    return pairs, batch * count


@pytest.mark.parametrize("cause", [Cause.REFERENCE, Cause.INPUT, Cause.ENDPOINT, Cause.DEADLINE])
def test_the_batch_of_one_prompt_speaks_for_no_other(cause: Cause) -> None:
    # eight completions of one row with an empty cell ended a run of eight ranks in its first step
    run = FailingRun("Echo")
    for task in range(40):
        # each hundredth row of a data set is broken, and three of them may follow each other
        for place in range(MOST_BATCHES):
            run.add(*of_tasks(1, [failed(cause)] * 4, first=1000 + MOST_BATCHES * task + place if task else 1000))
        run.add(*of_tasks(1, [JUDGED], first=task))


def test_one_prompt_a_batch_is_stopped_all_the_same() -> None:
    for cause, batches in ((Cause.REFERENCE, 2), (Cause.ENDPOINT, 8)):
        run = FailingRun("Echo")
        for place in range(batches - 1):
            run.add(*of_tasks(1, [failed(cause)] * 4, first=place))
        with pytest.raises(JudgeError, match=r"no verdict (on any row so far|in 8 batches in a row)"):
            run.add(*of_tasks(1, [failed(cause)] * 4, first=batches))
    # a data set of one row
    run = FailingRun("Echo")
    for _ in range(7):
        run.add(*of_tasks(1, [failed(Cause.REFERENCE)] * 8))
    with pytest.raises(JudgeError, match="no verdict on any row so far: 64 rows with cause reference"):
        run.add(*of_tasks(1, [failed(Cause.REFERENCE)] * 8))


@pytest.mark.parametrize(("training", "weights"), [(False, None), (True, [0.0, 1.0])])
def test_what_nobody_trains_on_stops_nothing(training: bool, weights: list[float] | None) -> None:
    trainer = Trainer(reward_func(MATH), *([brevity] if weights else []), weights=weights)
    trainer.model.training = training
    prompts, cells = [f"q{place}" for place in range(16)], [None] * 16
    for _ in range(2 * MOST_BATCHES):
        assert trainer.rewards(["42"] * 16, prompts, answer=cells) == cells
    # nor does an evaluation count as verdicts of the run
    trainer.model.training, trainer.reward_weights = True, [1.0]
    trainer.reward_funcs, trainer.reward_func_names = trainer.reward_funcs[:1], ["MathAnswerAsJudge"]
    with pytest.raises(JudgeError, match="no verdict on any row so far"):
        trainer.rewards(["42"] * 16, prompts, answer=cells)


def test_failures_are_logged_by_cause_long_before(caplog: pytest.LogCaptureFixture) -> None:
    run = FailingRun("Echo")
    with caplog.at_level(logging.WARNING):
        for _ in range(16):
            run.add([pair("42")] * 2, [JUDGED, failed(Cause.ENDPOINT)])
    shown = [record.getMessage() for record in caplog.records]
    assert [message.partition(":")[0] for message in shown] == [
        f"Echo gave no verdict on 1 of 2 rows ({count} endpoint so far)" for count in (1, 2, 4, 8, 16)
    ]


@pytest.mark.parametrize(("stops", "times"), [(True, 4), (False, 3)])
def test_before_the_first_verdict_each_batch_says_that_it_has_none(
    stops: bool, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    run = FailingRun("Echo", stops=stops)
    with caplog.at_level(logging.WARNING):
        for _ in range(4):
            run.add([pair("42")], [failed(Cause.REFERENCE)])
    assert len(caplog.records) == times


@pytest.mark.parametrize("third", [["42"], "42", [42], [None], 42])
def test_a_column_in_the_place_of_the_tokens_is_refused(third: object) -> None:
    function = reward_func(config())
    with pytest.raises(TypeError, match="the third argument is completion_ids, lists of tokens"):
        function(["6*7?"], ["42"], third)
    with pytest.raises(TypeError, match="the third argument is completion_ids, lists of tokens"):
        asyncio.run(async_reward_func(config())(["6*7?"], ["42"], third))


def test_a_part_that_only_looks_on_stops_nothing() -> None:
    function = combined([MATH, config()], weights=[1.0, 0.0])
    for _ in range(2 * MOST_BATCHES):
        assert asked(function, ["boom", "boom"], answer=["42"] * 2) == [0.0, 0.0]


def test_the_switch_travels_with_the_function() -> None:
    function = pickle.loads(pickle.dumps(reward_func(MATH, stop_when_failing=False)))
    assert asked(function, ["42"] * 2) == [None, None]


def test_where_nobody_listens_a_run_stops() -> None:
    """It once waited out the deadline of every row; how long an address is asked again is the chat model's test."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    model = {"model_name": "m", "base_url": url, "api_key": "k", "client": {"cache": False}}
    function = reward_func({"astuner": {"task_judge": {"judge_type": "llm", "llm": {"grader": "relevance", **model}}}})

    def ask_on() -> None:
        # on a busy machine both rows of the first batch may be asked before either has failed
        for _ in range(2):
            asked(function, ["a", "b"])

    with without_waits(tries=3), pytest.raises(JudgeError, match=r"the judge is asked no more.*nobody listens there"):
        ask_on()


def test_verdicts_that_hang_stop_it_once_no_more_are_asked_for() -> None:
    section = {"judge_protocol": "tests.hanging_judges->Blocks", "deadline": 0.1, "max_abandoned": 4}
    function = reward_func({"astuner": {"task_judge": section}})

    def ask_on() -> None:
        # on a busy machine a thread may have begun past its deadline: such a one has nothing left to hang in
        for _ in range(20):
            assert asked(function, ["a"] * 4) == [None] * 4

    with hanging_judges.release(), pytest.raises(JudgeError, match="the judge is asked no more"):
        ask_on()


def test_a_pair_names_its_columns() -> None:
    run = FailingRun("MathAnswerAsJudge", ("answer",))
    with pytest.raises(JudgeError, match="the columns"):
        run.add([pair("42"), as_rollout("q", "a", {})], [failed(Cause.REFERENCE)] * 2)


def never(prompts: list[str], completions: list[str], **columns: Any) -> list[float | None]:
    return [None] * len(completions)


def odd(prompts: list[str], completions: list[str], **columns: Any) -> list[float | None]:
    return [1.0 if place % 2 else None for place in range(len(completions))]


def even(prompts: list[str], completions: list[str], **columns: Any) -> list[float | None]:
    return [None if place % 2 else 1.0 for place in range(len(completions))]


@pytest.mark.parametrize("parts", [[MATH, never], [MATH, odd, even]], ids=["one has none", "none has both"])
def test_parts_that_leave_no_row_a_sum_stop_the_run(parts: list[Any]) -> None:
    # each judge had verdicts, no completion a reward, and the run trained on nothing to its end
    function = combined(parts)
    for _ in range(MOST_BATCHES - 1):
        assert asked(function, [r"\boxed{42}"] * 8, answer=["42"] * 8) == [None] * 8
    with pytest.raises(JudgeError, match="combined: no verdict in 3 batches in a row: 24 rows with cause judge"):
        asked(function, [r"\boxed{42}"] * 8, answer=["42"] * 8)


@pytest.mark.parametrize("parts", [[MATH, odd], [MATH, even]])
def test_parts_that_leave_some_rows_a_sum_stop_nothing(parts: list[Any]) -> None:
    function = combined(parts)
    for _ in range(3 * MOST_BATCHES):
        assert asked(function, [r"\boxed{42}"] * 8, answer=["42"] * 8).count(None) == 4


def test_parts_that_are_told_to_go_on_let_the_sum_go_on() -> None:
    function = combined([reward_func(MATH, stop_when_failing=False), never])
    for _ in range(2 * MOST_BATCHES):
        assert asked(function, [r"\boxed{42}"] * 8, answer=["42"] * 8) == [None] * 8
