"""`judge_type: combined`: several judges as one, by tables worked by hand, laws, and every way in which one fails."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import math
import pickle
import threading
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tuner.adapters.rollout import constant_metrics
from agentscope_tuner.config import resolve
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.deadline import Traits
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Canned, JudgeServer, prompt_of, verdict
from tests.part_judges import HERE, SEEN, Says, SaysLater, ranks, says, says_later

MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
TASK = WorkflowTask(task=Task(task_id="t1", metadata={"answer": "1/2"}))
PARTS = "astuner.task_judge.parts"


def section(parts: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {"astuner": {"task_judge": {"judge_type": "combined", "parts": parts, **settings}}}


def combined(parts: dict[str, Any], **settings: Any) -> TaskJudge:
    return load_judge(section(parts, **settings))


def output(together: int = 1, /, **said: Any) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": "x", "said": said, "together": together})


def judged(judge: TaskJudge, together: int = 1, /, **said: Any) -> Judgement:
    """The verdict, which is the same for callers that await."""
    one = judge.judge(TASK, output(together, **said))
    other = asyncio.run(judge.ajudge(TASK, output(together, **said)))
    assert [getattr(one, key) for key in ("reward", "is_success", "reason", "metrics", "error", "cause")] == [
        getattr(other, key) for key in ("reward", "is_success", "reason", "metrics", "error", "cause")
    ]
    return one


A, B, C = says("a", weight=1.0), says("b", weight=0.3), says("c", weight=0.1)


@pytest.mark.parametrize(("reward", "told"), [("product", True), ("min", True), ("weighted_mean", False)])
def test_weights_that_nothing_reads_are_told_at_load(reward: str, told: bool, caplog: pytest.LogCaptureFixture) -> None:
    combined({"a": says("a", weight=1.0), "b": says("b", weight=0.3)}, reward=reward, success="a")
    assert [record.getMessage().endswith("count as 1: {'b': 0.3}") for record in caplog.records] == [True] * told


@pytest.mark.parametrize(
    ("reward", "said", "expected", "told"),
    [
        ("weighted_sum", (1.0, 0.5, -0.2), 1.13, "1 × 1 (a) + 0.3 × 0.5 (b) + 0.1 × -0.2 (c) = 1.13"),
        ("weighted_sum", (0.0, 0.0, 0.0), 0.0, "1 × 0 (a) + 0.3 × 0 (b) + 0.1 × 0 (c) = 0"),
        (
            "weighted_mean",
            (1.0, 0.5, -0.2),
            1.13 / 1.4,
            "(1 × 1 (a) + 0.3 × 0.5 (b) + 0.1 × -0.2 (c)) / 1.4 = 0.807143",
        ),
        ("product", (1.0, 0.5, -0.2), -0.1, "1 (a) × 0.5 (b) × -0.2 (c) = -0.1"),
        ("product", (0.0, 0.5, -0.2), 0.0, "0 (a) × 0.5 (b) × -0.2 (c) = 0"),
        ("min", (1.0, 0.5, -0.2), -0.2, "min of 1 (a), 0.5 (b), -0.2 (c) = -0.2"),
        (f"{HERE}harmonic_mean", (1.0, 0.5, 0.25), 3 / 7, "harmonic_mean of 1 (a), 0.5 (b), 0.25 (c) = 0.428571"),
    ],
)
def test_the_combinations_by_hand(reward: str, said: tuple[float, ...], expected: float, told: str) -> None:
    judge = combined({"a": A, "b": B, "c": C}, reward=reward, success="a")
    verdict = judged(judge, **dict(zip("abc", said, strict=True)))
    assert verdict.reward == pytest.approx(expected, rel=1e-15)
    assert math.copysign(1, verdict.reward) == 1 if verdict.reward == 0 else True
    assert told in verdict.reason
    assert verdict.reason.endswith(f"; a: it says {said[0]:g}; b: it says {said[1]:g}; c: it says {said[2]:g}")
    assert verdict.metrics == {
        **{f"part/{key}": value for key, value in zip("abc", said, strict=True)},
        **{f"part/{key}/seen": 1.0 for key in "abc"},
        "judge_calls": 6.0,
    }


@pytest.mark.parametrize(
    ("clip", "said", "expected", "told"),
    [
        ([0.0, 1.2], (1.0, 1.0), 1.2, "1 × 1 (a) + 0.3 × 1 (b) = 1.3, clipped to 1.2;"),
        ([0.0, 1.2], (-1.0, 1.0), 0.0, "1 × -1 (a) + 0.3 × 1 (b) = -0.7, clipped to 0;"),
        ([0, 2], (1.0, 1.0), 1.3, "= 1.3;"),
        ([-0.7, 1.3], (-1.0, 1.0), -0.7, "= -0.7;"),
    ],
)
def test_the_reward_is_clipped_and_says_so(
    clip: list[float], said: tuple[float, ...], expected: float, told: str
) -> None:
    verdict = judged(combined({"a": A, "b": B}, clip=clip), a=said[0], b=said[1])
    assert verdict.reward == expected
    assert told in verdict.reason


@pytest.mark.parametrize(
    ("success", "said", "expected"),
    [
        ("a", (1.0, 0.0), True),
        ("b", (1.0, 0.0), False),
        ("all", (1.0, 0.0), False),
        ("all", (1.0, 1.0), True),
        ("any", (1.0, 0.0), True),
        ("any", (0.0, 0.0), False),
    ],
)
def test_success_is_a_parts_or_alls_or_anys(success: str, said: tuple[float, float], expected: bool) -> None:
    assert judged(combined({"a": A, "b": B}, success=success), a=said[0], b=said[1]).is_success is expected


def test_a_part_that_was_not_asked_is_no_success_among_all() -> None:
    """`correct` is asked of long answers alone: a short one was no success, and is none."""
    judge = combined({"a": A, "b": {**B, "when": "not a.is_success"}}, success="all")
    assert judged(judge, a=1.0, b=0.0).is_success is False
    optional = combined({"a": A, "b": {**B, "optional": True}}, success="all")
    assert judged(optional, a=1.0, b="down").is_success is True


def test_a_function_is_told_of_every_part_what_came_of_it() -> None:
    parts = {"a": A, "b": {**B, "when": "a.is_success"}, "c": {**C, "optional": True}, "d": says("d", weight=0.0)}
    SEEN.clear()
    judge = combined(parts, reward=f"{HERE}notes", success="a").inner
    assert judge.compute_reward(TASK, output(a=0.25, b=1.0, c="down", d=1.0)) == (1.0, False)
    assert {name: dataclasses.astuple(part) for name, part in SEEN[0].items()} == {
        "a": ("a", 1.0, "judged", 0.25, False),
        "b": ("b", 0.3, "skipped", None, None),
        "c": ("c", 0.1, "failed", None, None),
        "d": ("d", 0.0, "judged", 1.0, True),
    }


def test_a_part_whose_condition_is_not_met_is_not_asked_and_not_paid() -> None:
    judge = combined({"a": A, "b": {**B, "when": "a.is_success"}}, success="b")
    Says.asked.clear()
    verdict = judge.judge(TASK, output(a=0.25, b=1.0))
    assert Says.asked == ["a"]
    assert (verdict.reward, verdict.is_success) == (0.25, False)
    assert verdict.reason == "1 × 0.25 (a) = 0.25; a: it says 0.25; b skipped: not a.is_success"
    assert verdict.metrics["part/b/skipped"] == 1.0
    assert "part/b" not in verdict.metrics
    verdict = judged(judge, a=1.0, b=1.0)
    assert (verdict.reward, verdict.is_success, verdict.metrics["part/b/skipped"]) == (1.3, True, 0.0)


@pytest.mark.parametrize(
    ("reward", "a", "expected"),
    [
        ("weighted_sum", 0.25, 0.25),
        ("weighted_mean", 0.25, 0.25),  # over the weights of the parts that were asked
        ("product", 0.25, 0.25),  # no factor
        ("min", 0.25, 0.25),
        ("weighted_mean", 1.0, 1.15 / 1.3),
        ("product", 1.0, 0.5),
        ("min", 1.0, 0.5),
    ],
)
def test_a_skipped_part_is_left_out_of_every_combination(reward: str, a: float, expected: float) -> None:
    judge = combined({"a": A, "b": {**B, "when": "a.is_success"}}, reward=reward)
    assert judged(judge, a=a, b=0.5).reward == pytest.approx(expected, rel=1e-15)


@cache
def three(reward: str, later: bool) -> TaskJudge:
    """One judge for every place: a function of the user's runs in a child, which takes long to start."""
    return combined({key: (says_later(key) if later else says(key)) for key in "abc"}, reward=reward)


@pytest.mark.parametrize("place", ["a", "b", "c"])
@pytest.mark.parametrize("reward", ["weighted_sum", "weighted_mean", "product", "min", f"{HERE}how_many_failed"])
@pytest.mark.parametrize("later", [False, True])
def test_a_part_that_fails_fails_the_verdict_wherever_it_stands(place: str, reward: str, later: bool) -> None:
    """No verdict is no 0: the sum of the others must not stand for it."""
    verdict = judged(three(reward, later), 3, **{**dict.fromkeys("abc", 1.0), place: "no answer"})
    kind = "SaysLater" if later else "Says"
    assert (verdict.status, verdict.reward, verdict.cause) == ("failed", None, Cause.ENDPOINT)
    assert verdict.error == f"task 't1': CombinedJudge: part '{place}' ({kind}): no answer"


@pytest.mark.parametrize(
    ("place", "reward", "expected"),
    [
        *itertools.product("abc", ["weighted_sum"], [1.0]),
        *itertools.product("abc", ["weighted_mean", "min"], [0.5]),
        *itertools.product("abc", ["product"], [0.25]),
        # a child for each judge
        ("a", f"{HERE}how_many_failed", 1.0),
        *(pytest.param(place, f"{HERE}how_many_failed", 1.0, marks=pytest.mark.slow) for place in "bc"),
    ],
)
def test_an_optional_part_that_fails_is_left_out_and_counted(place: str, reward: str, expected: float) -> None:
    judge = combined({key: says(key, optional=key == place) for key in "abc"}, reward=reward)
    verdict = judged(judge, **{**dict.fromkeys("abc", 0.5), place: "no answer"})
    assert (verdict.status, verdict.reward) == ("judged", expected)
    assert f"; {place} failed and is optional: no answer" in verdict.reason
    assert verdict.metrics[f"part/{place}/failed"] == 1.0
    assert f"part/{place}" not in verdict.metrics
    assert judged(judge, **dict.fromkeys("abc", 0.5)).metrics[f"part/{place}/failed"] == 0.0


@pytest.mark.parametrize("reward", ["weighted_sum", "weighted_mean", "product", "min", f"{HERE}how_many_failed"])
def test_without_any_part_that_counts_there_is_no_verdict(reward: str) -> None:
    """The sum of nothing is 0, the product 1: neither is a verdict where parts failed."""
    parts = {"a": says("a", optional=True), "b": says("b", optional=True, when="a.is_success")}
    verdict = judged(combined(parts, reward=reward), a="down", b=1.0)
    assert verdict.status == "failed"
    assert "no part that counts has a verdict: a failed: down; b skipped: no verdict of a" in str(verdict.error)


@pytest.mark.parametrize("when", ["a.is_success", "not a.is_success", "a.reward >= 0", "a.reward < 9"])
def test_a_condition_on_an_optional_part_that_failed_is_not_met_and_neither_is_its_negation(when: str) -> None:
    parts = {"a": says("a", optional=True), "b": says("b", when=when, optional=True), "c": says("c")}
    verdict = judged(combined(parts), a="down", b=1.0, c=1.0)
    assert verdict.reward == 1.0
    assert "; b skipped: no verdict of a" in verdict.reason


@pytest.mark.parametrize("success", ["b", "c", "all", "any"])
def test_a_part_that_a_failure_kept_from_being_asked_leaves_no_verdict(success: str) -> None:
    """It was left out, so an outage took its reward from every row: a failure became a number."""
    parts = {"a": says("a", optional=True), "b": says("b", when="a.is_success"), "c": says("c")}
    verdict = judged(combined(parts, success=success), a="down", b=1.0, c=1.0)
    assert (verdict.status, verdict.reward) == ("failed", None)
    assert "b was not asked, for a failure: a failed: down; b skipped: no verdict of a" in str(verdict.error)
    # a condition that is not met is a verdict
    verdict = judged(combined(parts, success="b"), a=0.0, b=1.0, c=1.0)
    assert (verdict.reward, verdict.is_success) == (1.0, False)


def test_what_is_gated_by_a_part_of_weight_0_may_leave_nothing_to_pay() -> None:
    parts = {"a": says("a", weight=0), "b": says("b", when="a.is_success"), "c": says("c", when="b.is_success")}
    verdict = judged(combined(parts, success="a"), a=0.0, b=1.0, c=1.0)
    assert (verdict.reward, verdict.is_success) == (0.0, False)
    assert verdict.reason.startswith("no part was asked = 0; a 0, of weight 0: it says 0; b skipped: not a.is_success")


def test_on_error_zero_of_a_part_pays_it_0_because_a_user_asked_for_it_by_name() -> None:
    verdict = judged(combined({"a": A, "b": {**B, "on_error": "zero"}}), a=1.0, b="down")
    assert (verdict.reward, verdict.is_success) == (1.0, False)
    assert "0.3 × 0 (b)" in verdict.reason
    assert "b: no verdict, 0.0 by on_error: zero: down" in verdict.reason
    assert (verdict.metrics["part/b"], verdict.metrics["part/b/failed"]) == (0.0, 1.0)


def test_a_parts_own_rules_and_rule_reward_are_heeded() -> None:
    rules = [{"id": "short", "kind": "max_chars", "max_chars": 0, "action": "mark_bad"}]
    Says.asked.clear()
    verdict = combined({"a": A, "b": {**B, "rules": rules, "rule_reward": -1.0}}).judge(TASK, output(a=1.0, b=1.0))
    assert Says.asked == ["a"]
    assert (verdict.status, verdict.reward, verdict.violations) == ("judged", 0.7, ("b/short",))
    assert verdict.reason.endswith("b: rules: short")


def test_rules_of_the_whole_come_before_every_part() -> None:
    rules = [{"id": "short", "kind": "max_chars", "max_chars": 0, "action": "mark_bad"}]
    Says.asked.clear()
    verdict = combined({"a": A}, rules=rules).judge(TASK, output(a=1.0))
    assert (verdict.status, verdict.reward, verdict.violations, Says.asked) == ("filtered", 0.0, ("short",), [])


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("nan", "nan must return a finite number, got nan"),
        ("text", "text must return a finite number, got '1.0'"),
        ("huge", "huge must return a finite number, got 10000"),
        ("mutates", "mutates raised TypeError: 'mappingproxy' object does not support item assignment"),
        ("mutates_a_part", "mutates_a_part raised FrozenInstanceError: cannot assign to field 'reward'"),
        ("harmonic_mean", "harmonic_mean raised ZeroDivisionError"),
    ],
)
def test_a_function_of_the_parts_that_gives_no_number_gives_no_verdict(function: str, told: str) -> None:
    # in this process: the child that a function usually runs in takes seconds to start
    judge = combined({"a": A}, reward=f"{HERE}{function}").inner
    with pytest.raises(JudgeError) as caught:
        judge.compute_reward(TASK, output(a=0.0))
    assert caught.value.cause is Cause.BUG
    assert caught.value.message.startswith(f"{HERE}{told}")


@pytest.mark.parametrize(
    ("weight", "options", "clean", "bad", "breaking"),
    [
        (-0.5, {}, 1.0, 0.5, 0.5),
        (-0.1, {"reward_scale": "raw"}, 1.0, 0.0, 0.0),
        # of more that is better the least is the worst, as everywhere
        (0.5, {}, 1.0, 1.5, 1.0),
    ],
)
def test_a_text_that_breaks_the_judge_of_a_penalty_does_not_escape_it(
    weight: float, options: dict[str, Any], clean: float, bad: float, breaking: float
) -> None:
    """It got the penalty's lowest score, which is the best."""

    def rude(body: dict[str, Any], attempt: int) -> Canned:
        said = prompt_of(body).partition("[BEGIN response")[2]
        return Canned("prose" if "rude!" in said else verdict(10 if "rude" in said else 0))

    with JudgeServer(rude) as server:
        client = {"cache": False, "max_reasks": 0, "max_retries": 0}
        mine = {"model_name": "m", "base_url": server.url, "client": client, **options}
        mine["prompt"] = "Score from 0 to 10 how rude this is: {response}"
        asked = {"judge": "llm", "llm": mine}
        routes = {"judge": "routed", "by": "task.task_id", "routes": {"t1": asked, "t2": {"judge": "math"}}}
        judges = [
            combined({"right": {"judge": "math"}, "rude": {**part, "weight": weight}}, success="right")
            for part in (asked, routes)
        ]
        said = [rf"{words} \boxed{{\frac12}}" for words in ("So", "rude", "rude!")]
        for judge in judges:
            found = [judge.judge(TASK, WorkflowOutput(metadata={"final_answer": text})) for text in said]
            assert [one.reward for one in found] == pytest.approx([clean, bad, breaking])
            assert found[2].violations == ("rude/unjudgeable",)


def test_numbers_that_overflow_are_no_reward_even_inside_clip() -> None:
    parts = {"a": says("a", weight=1e308), "b": says("b", weight=1e308)}
    judge = combined(parts, clip=[0.0, 1.0])
    for one in (judged(judge, a=1.0, b=1.0), judged(judge, a=10.0, b=-10.0)):
        assert (one.status, one.cause) == ("failed", Cause.CONFIG)
        assert "no finite number" in str(one.error)


def test_a_part_that_hangs_ends_at_its_deadline_and_an_optional_one_only_itself() -> None:
    hangs = {"judge_protocol": f"{HERE}Hangs", "deadline": 0.05}
    verdict = judged(combined({"a": A, "b": hangs}), a=1.0)
    assert (verdict.status, verdict.cause) == ("failed", Cause.DEADLINE)
    assert "part 'b' (Hangs): no verdict within 0.05 s" in str(verdict.error)
    verdict = judged(combined({"a": A, "b": {**hangs, "optional": True}}), a=1.0)
    assert verdict.reward == 1.0


def test_no_part_has_longer_than_the_whole() -> None:
    verdict = judged(combined({"a": A, "b": {"judge_protocol": f"{HERE}Hangs"}}, deadline=0.05), a=1.0)
    assert "no verdict within 0.05 s" in str(verdict.error)


def test_parts_that_await_are_asked_at_the_same_time_after_the_cheap_ones() -> None:
    SaysLater.waiting.clear()
    judge = combined({"x": says_later("x"), "y": says_later("y"), "a": says("a"), "b": says("b", when="x.is_success")})
    Says.asked.clear()
    # each of x and y waits until both are asked
    verdict = judge.judge(TASK, output(2, a=1.0, b=1.0, x=1.0, y=1.0))
    assert verdict.reward == 4.0
    assert Says.asked[0] == "a"
    assert sorted(Says.asked[1:3]) == ["x", "y"]
    assert Says.asked[3] == "b"


def test_nothing_dear_is_asked_once_a_cheap_part_has_failed() -> None:
    Says.asked.clear()
    assert combined({"x": says_later("x"), "a": says("a")}).judge(TASK, output(a="down", x=1.0)).status == "failed"
    assert Says.asked == ["a"]


def test_cheap_parts_start_no_thread() -> None:
    judge = combined({"a": A, "b": B, "c": C})
    before = threading.active_count()
    for _ in range(50):
        judge.judge(TASK, output(a=1.0, b=1.0, c=1.0))
    assert threading.active_count() == before
    assert (judge.traits.kind, judge.traits.bounded) == ("cpu", True)


@pytest.mark.parametrize(
    ("parts", "reward", "expected"),
    [
        ({"a": A}, "weighted_sum", ("cpu", False, True)),
        ({"a": A, "b": says_later("b")}, "weighted_sum", ("io", False, True)),
        ({"a": A, "b": ranks("b")}, "weighted_sum", ("io", True, True)),
        ({"a": A, "b": {"judge_protocol": f"{HERE}Hangs"}}, "weighted_sum", ("io", False, True)),
        ({"a": A}, f"{HERE}harmonic_mean", ("cpu", False, False)),
    ],
)
def test_how_it_wants_to_be_asked_follows_from_its_parts(
    parts: dict[str, Any], reward: str, expected: tuple[str, bool, bool]
) -> None:
    traits = combined(parts, reward=reward).traits
    assert (traits.kind, traits.ranks, traits.bounded) == expected


@pytest.mark.parametrize(
    ("parts", "success"),
    [
        ({"a": A, "seen": says("s", weight=0)}, "seen"),
        ({"a": {**A, "when": "seen.is_success"}, "seen": says("s", weight=0), "c": C}, "a"),
    ],
)
def test_a_part_of_weight_0_that_decides_something_must_not_fail(parts: dict[str, Any], success: str) -> None:
    assert judged(combined(parts, success=success), a=1.0, s="down", c=1.0).error == (
        "task 't1': CombinedJudge: part 'seen' (Says): down"
    )


def test_the_reason_of_a_part_is_cut_so_that_those_of_all_parts_are_seen() -> None:
    verdict = judged(combined({"a": says("a", optional=True), "b": B}), a="x" * 400, b=1.0)
    assert f"a failed and is optional: {'x' * 300}; b: it says 1" in verdict.reason


def test_a_part_of_the_main_script_is_found_by_no_other_process() -> None:
    judge = combined({"a": A, "b": B}).inner
    assert not Traits.of(judge).in_main
    here = SimpleNamespace(traits=dataclasses.replace(judge.asks["b"].traits, in_main=True))
    judge.asks = {**judge.asks, "b": here}
    assert Traits.of(judge).in_main


def test_a_workflows_own_reward_is_passed_over_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    own = WorkflowOutput(reward=0.5, is_success=True, metadata=output(a=1.0, b=1.0).metadata)
    assert combined({"a": A, "b": B}).judge(TASK, own).reward == 1.3
    (record,) = [record for record in caplog.records if "passed over" in record.getMessage()]
    assert "CombinedJudge judges" in record.getMessage()
    caplog.clear()
    # one part that reads it is enough: nothing is passed over
    workflow = {"judge_protocol": "agentscope_tuner.task_judge.workflow_reward_as_judge->WorkflowRewardJudge"}
    assert combined({"a": A, "own": workflow}).judge(TASK, own).reward == 1.5
    assert not caplog.records


def test_a_part_that_waits_without_any_deadline_is_bounded_by_nobody() -> None:
    assert not combined({"b": {"judge_protocol": f"{HERE}Hangs", "deadline": None}}, deadline=None).traits.bounded


def test_a_part_that_ranks_sees_the_whole_group_and_the_others_each_output() -> None:
    judge = combined({"a": A, "place": ranks("r", weight=0.5)}, success="a")
    verdicts = judge.judge_group(TASK, [output(a=1.0, r=1.0), output(a=0.0, r=3.0), output(a="down", r=2.0)])
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.5, None]
    assert verdicts[2].error == "task 't1': CombinedJudge: part 'a' (Says): down"
    # one output has no rank
    assert judge.judge_group(TASK, [output(a=1.0, r=1.0)])[0].status == "failed"
    assert "this judge ranks whole advantage groups" in str(judge.judge(TASK, output(a=1, r=1)).error)


def test_a_group_asks_parts_that_wait_only_where_their_condition_holds() -> None:
    parts = {"a": A, "x": says_later("x", when="a.is_success"), "place": ranks("r", weight=0.5)}
    Says.asked.clear()
    rewards = asyncio.run(
        combined(parts).ajudge_group(TASK, [output(a=1.0, x=1.0, r=1.0), output(a=0.0, x=1.0, r=2.0)])
    )
    assert [verdict.reward for verdict in rewards] == [2.0, 0.5]
    assert Says.asked.count("x") == 1


def test_parts_nest_once() -> None:
    inner = {"judge_type": "combined", "parts": {"a": A, "b": B}, "reward": "min"}
    verdict = judged(combined({"both": inner, "c": C}), a=1.0, b=0.5, c=1.0)
    assert verdict.reward == pytest.approx(0.6)
    assert verdict.metrics["part/both"] == 0.5
    assert verdict.metrics["part/both/part/b"] == 0.5
    assert verdict.metrics["judge_calls"] == 6.0
    assert "both: min of 1 (a), 0.5 (b) = 0.5; a: it says 1" in verdict.reason
    failed = judged(combined({"both": inner, "c": C}), a=1.0, b="down", c=1.0)
    assert "part 'both' (CombinedJudge): part 'b' (Says): down" in str(failed.error)


@pytest.mark.parametrize(
    ("parts", "settings", "told"),
    [
        ({}, {}, f"{PARTS} is missing"),
        ({"all": A}, {}, f"{PARTS}: a part's name is a letter"),
        ({"not": A}, {}, "got 'not'"),
        ({"a/b": A}, {}, "got 'a/b'"),
        ({"1": A}, {}, "got '1'"),
        ({"a": {**A, "weight": math.nan}}, {}, f"{PARTS}.a.weight: input should be a finite number, got nan"),
        ({"a": {**A, "weight": math.inf}}, {}, f"{PARTS}.a.weight: input should be a finite number, got inf"),
        ({"a": {**A, "weight": "1"}}, {}, f"{PARTS}.a.weight"),
        ({"a": {**A, "weigth": 1}}, {}, f"{PARTS}.a.weigth: unknown key; did you mean 'weight'?"),
        ({"math": {**A, "weigth": 1}}, {}, f"{PARTS}.math.weigth: unknown key; did you mean 'weight'?"),
        (
            {"a": {**A, "weight": -1}, "b": B},
            {"reward": "weighted_mean"},
            f"{PARTS}.a.weight: a weighted_mean takes no",
        ),
        ({"a": {**A, "weight": -1}, "b": B}, {"reward": "product"}, f"{PARTS}.a.weight: a product takes no negative"),
        ({"a": {**A, "weight": 0}}, {}, f"{PARTS}: every weight is 0"),
        (
            {"a": {**A, "weight": 0}, "b": {**B, "when": "a.is_success"}},
            {"reward": "weighted_mean"},
            "every part that counts has a condition",
        ),
        ({"a": {**A, "when": "a.is_success"}}, {}, f"{PARTS}.a.when: unknown name 'a.is_success'"),
        (
            {"a": A, "b": {**B, "when": "c.is_success"}},
            {},
            f"{PARTS}.b.when: unknown name 'c.is_success' (did you mean 'a.is_success'?",
        ),
        (
            {"a": {**A, "when": "b.is_success"}, "b": {**B, "when": "a.is_success"}, "c": C},
            {},
            "lead in a circle: a when b.is_success, b when a.is_success",
        ),
        ({"a": A, "r": ranks("r", when="a.is_success")}, {}, f"{PARTS}.r.when: Ranks ranks whole advantage groups"),
        ({"a": A}, {"clip": [1.2, 0.0]}, "clip: must be [least, largest], got [1.2, 0.0]"),
        ({"a": A}, {"clip": [1.0, 1.0]}, "clip: must be [least, largest]"),
        ({"a": A}, {"clip": [0.0, math.inf]}, "clip.1: input should be a finite number"),
        ({"a": A}, {"clip": [0.0]}, "clip: list should have at least 2 items"),
        ({"a": A}, {"clip": [0.5, 1.0], "on_error": "zero"}, "clip: on_error: zero pays 0, which lies outside"),
        (
            {"a": A},
            {
                "clip": [0.0, 1.0],
                "rule_reward": -0.5,
                "rules": [{"id": "e", "kind": "non_empty", "action": "mark_bad"}],
            },
            "clip: rule_reward pays -0.5, which lies outside of [0.0, 1.0]",
        ),
        ({"a": A}, {"success": "b"}, "success: must be one of a, all, any, got 'b'"),
        ({"correct": A}, {"success": "corect"}, "success: did you mean 'correct'?"),
        ({"a": {**A, "optional": True}}, {"success": "a"}, "success: the part 'a' is optional"),
        ({"a": A}, {"reward": "sum"}, "reward: must be one of weighted_sum, weighted_mean, product, min, or 'module->"),
        ({"a": A}, {"reward": f"{HERE}nothing"}, "has no function 'nothing'"),
        ({"a": A}, {"reward": f"{HERE}Says"}, "has no function 'Says'"),
        ({"a": A}, {"reward": f"{HERE}awaits"}, "is `async def`: it must return a number"),
        ({"a": A}, {"reward": f"{HERE}takes_two"}, "must take one argument, the parts"),
        ({"a": A}, {"judge_protocol": MATH}, "judge_protocol: a combined judge asks others"),
        ({"a": A}, {"math": {"equivalence": "exact"}}, "write astuner.task_judge.parts.<name>.math"),
        ({"a": A}, {"judge_kwargs": {"x": 1}}, "CombinedJudge reads no judge_kwargs"),
        ({"a": A}, {"routes": {"x": {"judge_protocol": MATH}}}, "routes is read by judge_type: routed alone"),
        ({"a": {**A, "name": "b"}}, {}, f"{PARTS}.a.name is read by nobody: write astuner.task_judge.name"),
        ({"a": {**A, "concurrency": 3}}, {}, f"{PARTS}.a.concurrency is read by nobody"),
        ({"a": {}}, {}, f"{PARTS}.a.judge is missing"),
        ({"a": {"judge_protocol": "x"}}, {}, f"{PARTS}.a: a protocol must read 'module->Class', got 'x'"),
        ({"a": {"judge_protocol": MATH, "judge_kwargs": {"x": 1}}}, {}, f"{PARTS}.a.judge_kwargs.x: MathAnswerAsJudge"),
        ({"a": {**A, "rules": [{"id": "e", "kind": "nonempty", "action": "mark_bad"}]}}, {}, f"{PARTS}.a.rules"),
        (
            {"a": {"judge_type": "combined", "parts": {"b": {"judge_type": "combined", "parts": {"c": C}}}}},
            {},
            f"{PARTS}.a.parts.b.judge_type: 'combined' stands two levels inside",
        ),
        (
            {"a": {"judge_type": "combined", "parts": {"b": {"judge_protocol": "x"}}}},
            {},
            f"{PARTS}.a.parts.b: a protocol",
        ),
    ],
)
def test_a_wrong_section_is_refused_at_load(parts: dict[str, Any], settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        combined(parts, **settings)
    assert told in str(caught.value)


def test_settings_of_it_stand_nowhere_else() -> None:
    with pytest.raises(ConfigError, match=r"clip is read by judge_type: combined alone"):
        load_judge({"astuner": {"task_judge": {"judge_protocol": MATH, "clip": [0.0, 1.0]}}})


def test_its_digest_follows_what_decides_in_a_part_and_leaves_the_rest_out() -> None:
    def digest(**part: Any) -> str:
        return resolve(section({"a": {**A, **part}})).task_judge.digest()

    assert digest() != digest(weight=2.0)
    assert digest() != digest(when="b.is_success")
    assert digest(llm={"budget": {"calls": 1}}) == digest(llm={"budget": {"calls": 2}})


def test_the_configuration_is_not_changed_and_parts_see_the_whole_of_it() -> None:
    config = {**section({"a": A}), "trainer": {"epochs": 3}}
    kept = pickle.dumps(config)
    judge = load_judge(config)
    assert pickle.dumps(config) == kept
    assert judge.inner.parts[0].judge.inner.config.trainer.epochs == 3  # type: ignore[attr-defined]


def test_it_pickles() -> None:
    judge = combined({"a": A, "b": {**B, "when": "a.is_success and not a.reward < 0.5"}}, reward=f"{HERE}harmonic_mean")
    assert judged(pickle.loads(pickle.dumps(judge)), a=0.5, b=0.25).reward == pytest.approx(1 / 3)


def test_readiness_and_task_checks_ask_the_parts_that_must_not_fail() -> None:
    judge = combined({"a": A, "b": {**B, "optional": True}, "x": says_later("x")}).inner
    assert judge.check_task(Task(metadata={"lacks": ["a"]})) == "missing: part 'a': no a"
    assert judge.check_task(Task(metadata={"lacks": ["b"]})) is None
    with pytest.raises(JudgeError, match="part 'x': the endpoint is down"):
        asyncio.run(judge.aready())
    asyncio.run(combined({"a": A, "x": says_later("x", optional=True)}).inner.aready())
    assert judge.run_notes() == ["a: a was asked", "b: b was asked", "x: x was asked"]


def test_trainers_that_want_constant_keys_get_no_nan_for_a_part_that_was_not_asked() -> None:
    """verl averages each key over a batch, and a mean over one NaN is no curve."""
    parts = {"a": A, "b": {**B, "when": "a.is_success"}, "c": {**C, "optional": True}}
    judge = ConfiguredJudge(section(parts))
    skipped, asked, failed = (
        constant_metrics(judge, judge.judge(TASK, output(a=a, b=0.5, c=c))) for a, c in ((0, "down"), (1, 1), ("no", 1))
    )
    assert list(skipped) == list(asked) == list(failed)
    assert skipped["CombinedJudge/part/b"] == 0.0
    assert skipped["CombinedJudge/part/b/skipped"] == 1.0
    assert skipped["CombinedJudge/part/c/failed"] == 1.0
    assert asked["CombinedJudge/part/b"] == 0.5
    # no verdict at all is no 0
    assert all(math.isnan(value) for value in failed.values())


def test_a_summary_has_the_rows_and_the_mean_of_each_part() -> None:
    judge = combined({"a": A, "b": {**B, "when": "a.is_success"}})
    halves = [Summary(), Summary()]
    for number, a in enumerate((1.0, 0.0, 0.5)):
        halves[number % 2].add(judge.judge(TASK, output(a=a, b=0.5)))
    halves[0].merge(Summary.from_dict(halves[1].to_dict()))
    assert halves[0].means == {"part/a": (3, 1.5), "part/b": (2, 1.0)}


numbers = st.floats(-1e6, 1e6, allow_nan=False)
verdicts = st.lists(st.tuples(st.floats(0.01, 100), numbers), min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(
    reward=st.sampled_from(["weighted_sum", "weighted_mean", "product", "min"]),
    said=verdicts,
    extra=numbers,
    order=st.randoms(use_true_random=False),
)
def test_order_and_parts_of_weight_0_change_nothing_and_the_reward_lies_inside_clip(
    reward: str, said: list[tuple[float, float]], extra: float, order: Any
) -> None:
    parts = {f"p{n}": says(f"p{n}", weight=weight) for n, (weight, _) in enumerate(said)}
    values = {f"p{n}": value for n, (_, value) in enumerate(said)}
    shuffled = list(parts)
    order.shuffle(shuffled)
    first = combined(parts, reward=reward).judge(TASK, output(**values))
    other = combined({name: parts[name] for name in shuffled}, reward=reward).judge(TASK, output(**values))
    more = combined({**parts, "zero": says("zero", weight=0)}, reward=reward)
    looked, down = (more.judge(TASK, output(**values, zero=zero)) for zero in (extra, "down"))
    expected = (first.reward, first.is_success)
    assert expected == (other.reward, other.is_success) == (looked.reward, looked.is_success)
    assert expected == (down.reward, down.is_success)
    clipped = combined(parts, reward=reward, clip=[-0.5, 1.2]).judge(TASK, output(**values)).reward
    assert clipped is not None
    assert math.isfinite(clipped)
    assert -0.5 <= clipped <= 1.2


def test_every_order_of_parts_gives_the_same_bits() -> None:
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in their last bit."""
    said = {"a": 0.1, "b": 0.2, "c": 0.3}
    for reward in ("weighted_sum", "weighted_mean", "product"):
        found = {
            combined({key: says(key) for key in order}, reward=reward).judge(TASK, output(**said)).reward
            for order in ("abc", "cba", "bac")
        }
        assert len(found) == 1


def llm_part(url: str, **more: Any) -> dict[str, Any]:
    client = {"cache": False, "max_reasks": 0, "max_retries": 0, "prices": {"prompt": 1000.0, "completion": 1000.0}}
    mine = {"model_name": "m", "base_url": url, "prompt": "Score from 1 to 5: {response}", "client": client}
    return {"judge_type": "llm", "llm": mine, **more}


@pytest.mark.parametrize(
    ("parts", "status", "calls"),
    [
        # the part that was paid for has no verdict; two harmless answers were asked about, and this one again
        ({"llm": {}}, "failed", 4.0),
        ({"a": A, "llm": {}}, "failed", 6.0),
        ({"a": A, "llm": {"optional": True}}, "judged", 6.0),
        ({"a": A, "llm": {"weight": 0.0}}, "judged", 6.0),
        ({"a": A, "llm": {"on_error": "zero"}}, "judged", 6.0),
        # another part has none
        ({"a": A, "b": says("b"), "llm": {"optional": True}}, "failed", 2.0),
        ({"later": says_later("b"), "llm": {"optional": True}}, "failed", 4.0),
        ({"llm": {}, "later": says_later("a")}, "failed", 6.0),
    ],
)
def test_what_was_spent_is_counted_also_where_there_is_no_verdict(
    parts: dict[str, Any], status: str, calls: float
) -> None:
    with JudgeServer(lambda body, attempt: Canned("no verdict in this reply")) as server:
        parts = {name: llm_part(server.url, **part) if name == "llm" else part for name, part in parts.items()}
        found = judged(combined(parts), a=1.0, b="down")
        assert found.status == status
        assert found.metrics["judge_calls"] == calls
        assert (found.metrics.get("judge_cost", 0.0) > 0) is any(body for body in server.bodies)
        summary = Summary()
        summary.add(found)
        assert summary.usage["judge_calls"] == calls


def test_a_zero_that_was_asked_for_has_been_paid_for() -> None:
    with JudgeServer(lambda body, attempt: Canned("no verdict in this reply")) as server:
        judge = load_judge({"astuner": {"task_judge": llm_part(server.url, on_error="zero")}})
        reward = judge.compute_reward(TASK, output())
    assert tuple(reward) == (0.0, False)
    assert (reward.metrics["failed"], reward.metrics["judge_calls"]) == (1.0, 4.0)


def test_a_route_that_fails_has_been_paid_for() -> None:
    with JudgeServer(lambda body, attempt: Canned("no verdict in this reply")) as server:
        for part, status in ((llm_part(server.url), "failed"), (llm_part(server.url, on_error="zero"), "judged")):
            routed = {"judge_type": "routed", "by": "task.metadata.answer", "routes": {"default": part}}
            found = judged(load_judge({"astuner": {"task_judge": routed}}))
            assert (found.status, found.metrics["judge_calls"]) == (status, 4.0)
