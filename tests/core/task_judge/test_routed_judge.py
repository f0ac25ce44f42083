"""`judge_type: routed`: mixed data, each task with the judge of its kind."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import numpy as np
import pytest

from agentscope_tuner.engines.local import score
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Rollout, Task, WorkflowOutput, WorkflowTask
from tests.part_judges import HERE, Says, ranks, says, says_later

BY = "task.metadata.data_source"
ROUTES = "astuner.task_judge.routes"
COMBINED = {"judge_type": "combined", "parts": {"a": says("a"), "b": says("b", weight=0.5)}}


def section(routes: dict[Any, Any], by: str | None = BY, **settings: Any) -> dict[str, Any]:
    return {"astuner": {"task_judge": {"judge_type": "routed", "by": by, "routes": routes, **settings}}}


def routed(routes: dict[Any, Any], by: str | None = BY, **settings: Any) -> TaskJudge:
    return load_judge(section(routes, by, **settings))


def task(source: object = None, **more: Any) -> WorkflowTask:
    metadata = {} if source is None else {"data_source": source}
    return WorkflowTask(task=Task(task_id="t1", metadata=metadata, **more))


def output(**said: Any) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": "x", "said": said})


def judged(judge: TaskJudge, row: WorkflowTask, **said: Any) -> Judgement:
    """The verdict, which is the same for callers that await."""
    one, other = judge.judge(row, output(**said)), asyncio.run(judge.ajudge(row, output(**said)))
    assert (one.reward, one.reason, one.metrics, one.error) == (other.reward, other.reason, other.metrics, other.error)
    return one


def test_each_task_is_judged_by_the_judge_of_its_route() -> None:
    judge = routed({"gsm8k": says("a"), "both": COMBINED})
    verdict = judged(judge, task("gsm8k"), a=0.25, b=1.0)
    assert (verdict.reward, verdict.reason) == (0.25, "route gsm8k: it says 0.25")
    assert verdict.metrics == {"route/gsm8k": 0.25, "seen": 1.0, "judge_calls": 2.0}
    verdict = judged(judge, task("both"), a=0.25, b=1.0)
    assert verdict.reward == 0.75
    assert verdict.reason.startswith("route both: 1 × 0.25 (a) + 0.5 × 1 (b) = 0.75; a: it says")
    assert verdict.metrics["part/b"] == 1.0


@pytest.mark.parametrize(
    ("route", "value"),
    [
        (1, "1"),
        ("1", 1),
        ("1", 1.0),  # pandas makes floats of whole numbers where one cell is missing
        ("1", np.int64(1)),
        ("1", np.float64(1.0)),
        ("1.5", 1.5),
        ("true", True),
        (True, True),
        ("true", np.bool_(True)),
        (False, "false"),
        ("", ""),
        ("数学", "数学"),
        ("a.b/c", "a.b/c"),
        (10**20, 10**20),
    ],
)
def test_numbers_and_truth_values_of_rows_and_of_yaml_name_the_same_route(route: object, value: object) -> None:
    assert judged(routed({route: says("a")}), task(value), a=1.0).reward == 1.0


@pytest.mark.parametrize("value", ["aime", "GSM8K", "gsm8k ", 7, 0.5, False, "default "])
def test_a_value_that_names_no_route_lists_the_routes(value: object) -> None:
    verdict = judged(routed({"gsm8k": says("a"), "countdown": says("a")}), task(value), a=1.0)
    assert (verdict.status, verdict.cause) == ("failed", Cause.REFERENCE)
    assert "no route has that name; the routes are gsm8k, countdown" in str(verdict.error)
    assert judged(routed({"gsm8k": says("b"), "default": says("a")}), task(value), a=1.0).reward == 1.0


@pytest.mark.parametrize(
    "value", [float("nan"), "", " ", "\u3000\n", ["gsm8k"], {"gsm8k": 1}, np.float64("nan"), float("inf"), b"gsm8k"]
)
def test_a_value_that_is_none_goes_nowhere_even_with_a_default(value: object) -> None:
    """A missing cell is broken data: the default is for kinds of tasks, not for tasks of no kind."""
    verdict = judged(routed({"gsm8k": says("a"), "default": says("a")}), task(value), a=1.0)
    assert verdict.cause is Cause.REFERENCE
    assert "task.metadata.data_source must be a text or a number that names a route, got" in str(verdict.error)


def test_a_row_without_the_key_goes_nowhere() -> None:
    judge = routed({"gsm8k": says("a"), "default": says("a")})
    assert "task.metadata.data_source is missing" in str(judged(judge, task(), a=1.0).error)
    none = WorkflowTask(task=Task(metadata={"data_source": None}))
    assert "got None" in str(judged(judge, none, a=1.0).error)


def test_it_routes_by_any_field() -> None:
    judge = routed({"frozenlake": says("a"), "no_env": says("b")}, by="task.env_type")
    assert judged(judge, task(env_type="frozenlake"), a=0.25, b=1.0).reward == 0.25
    assert judged(judge, task(), a=0.25, b=1.0).reward == 1.0
    nested = routed({"hard": says("a")}, by="task.metadata.data_source.level")
    assert judged(nested, task({"level": "hard"}), a=0.25).reward == 0.25
    of_output = routed({"stop": says("a")}, by="output.metadata.ended")
    ended = WorkflowOutput(metadata={"said": {"a": 0.5}, "ended": "stop"})
    assert of_output.judge(task(), ended).reward == 0.5
    assert of_output.judge(task(), output(a=1.0)).cause is Cause.INPUT
    assert of_output.inner.check_task(Task()) is None


def test_a_route_that_fails_names_itself_and_one_with_on_error_zero_pays_0() -> None:
    judge = routed({"x": says("a"), "y": says("a", on_error="zero")})
    verdict = judged(judge, task("x"), a="down")
    assert (verdict.error, verdict.cause) == ("task 't1': RoutedJudge: route 'x' (Says): down", Cause.ENDPOINT)
    verdict = judged(judge, task("y"), a="down")
    assert (verdict.reward, verdict.is_success) == (0.0, False)
    assert verdict.reason == "route y: no verdict, 0.0 by on_error: zero: down"


def test_what_the_rules_of_a_route_mark_bad_is_filtered() -> None:
    rules = [
        {"id": "seen", "kind": "max_chars", "max_chars": 0, "action": "record"},
        {"id": "short", "kind": "max_chars", "max_chars": 0, "action": "mark_bad"},
    ]
    judge = routed({"x": says("a", rules=rules, rule_reward=-1.0)})
    verdict = judged(judge, task("x"), a=1.0)
    assert (verdict.status, verdict.reward, verdict.violations) == ("filtered", -1.0, ("seen", "short"))
    assert verdict.reason == "route x: rules: short"


@pytest.mark.parametrize(
    ("routes", "by", "told"),
    [
        ({"x": says("a")}, None, "by is missing"),
        ({}, BY, "routes is missing"),
        ({"x": says("a")}, "data_source", "must begin with task. or output."),
        ({"x": says("a")}, "task.meta.data_source", "did you mean 'metadata'?"),
        ({"x": {**says("a"), "weight": 1}}, BY, f"{ROUTES}.x.weight: unknown key"),
        ({"x": {"judge_protocol": "y"}}, BY, f"{ROUTES}.x: a protocol must read 'module->Class'"),
        ({"x": ranks("a")}, "output.metadata.kind", "may send the outputs of one task different ways"),
        ({"x": {"judge_type": "routed", "by": BY, "routes": {"y": COMBINED}}}, BY, f"{ROUTES}.x.routes.y.judge_type"),
        ({"x": {**says("a"), "concurrency": 2}}, BY, f"{ROUTES}.x.concurrency is read by nobody"),
        ({True: says("a"), "true": says("b")}, BY, "two routes are named 'true'"),
    ],
)
def test_a_wrong_section_is_refused_at_load(routes: dict[Any, Any], by: str | None, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        routed(routes, by)
    assert told in str(caught.value)


def test_a_group_takes_one_route_as_a_whole() -> None:
    judge = routed({"rank": ranks("r"), "x": says("a")})
    verdicts = judge.judge_group(task("rank"), [output(r=1.0), output(r=2.0)])
    assert [verdict.reward for verdict in verdicts] == [0.0, 1.0]
    # one output that fails takes no other along, where its route does not rank
    verdicts = judge.judge_group(task("x"), [output(a=1.0), output(a="down")])
    assert [verdict.reward for verdict in verdicts] == [1.0, None]
    assert verdicts[1].error == "task 't1': RoutedJudge: route 'x' (Says): down"
    assert "one rollout alone has no rank" in str(judge.judge(task("rank"), output(r=1.0)).error)
    # a route that does not rank judges one rollout alone
    assert judge.judge(task("x"), output(a=1.0)).reward == 1.0


def test_a_group_whose_rows_take_several_routes_is_refused_by_engines_and_trainers() -> None:
    """The first row's judge would rank answers to another kind of task, and nobody would see it."""
    config = section({"rank": ranks("r"), "x": says("a")})
    rows = [
        Rollout(id=str(n), task=Task(task_id="t1", metadata={"data_source": source}), output=output(r=float(n), a=1.0))
        for n, source in enumerate(["rank", "x", "rank"])
    ]
    configured = ConfiguredJudge(config)
    pairs = [(WorkflowTask(task=row.task), row.output) for row in rows]
    for verdicts in (
        [judgement for _, judgement in score(config, rows, jobs=1)],
        configured.judge_batch(pairs),
        asyncio.run(configured.ajudge_batch(pairs)),
    ):
        assert [verdict.status for verdict in verdicts] == ["failed"] * 3
        assert "the group of task 't1' takes several routes, rank, x" in str(verdicts[0].error)
    whole = [row for row in rows if row.task.metadata["data_source"] == "rank"]
    assert [judgement.reward for _, judgement in score(config, whole, jobs=1)] == [0.0, 1.0]


def test_tasks_are_checked_by_the_judge_of_their_route() -> None:
    judge = routed({"x": says("a"), "both": COMBINED}).inner
    assert judge.check_task(Task(metadata={"data_source": "x", "lacks": ["b"]})) is None
    assert judge.check_task(Task(metadata={"data_source": "both", "lacks": ["b"]})) == (
        "missing: route 'both': part 'b': no b"
    )
    assert str(judge.check_task(Task(metadata={"data_source": "z"}))).startswith("unrouted: task.metadata.data_source")
    assert judge.reference_keys == ("said",)
    assert judge.same_reference({"said": 1}, {"said": 1})
    assert not judge.same_reference({"said": 1}, {"said": 2})
    by_value = routed({"x": {"judge": "math"}, "both": says("a")}).inner
    assert by_value.same_reference({"answer": "1/2"}, {"answer": "0.5"})
    assert not by_value.same_reference({"answer": "1/2"}, {"answer": "0.6"})


def test_readiness_asks_every_route() -> None:
    with pytest.raises(JudgeError, match="route 'y': the endpoint is down"):
        asyncio.run(routed({"x": says("a"), "y": says_later("a")}).inner.aready())


def test_a_summary_has_the_rows_and_the_mean_of_each_route() -> None:
    judge, summary = routed({"x": says("a"), "default": says("b")}), Summary()
    for source, a in (("x", 1.0), ("x", 0.0), ("z", 9.0)):
        summary.add(judge.judge(task(source), output(a=a, b=0.5)))
    assert summary.means == {"route/x": (2, 1.0), "route/default": (1, 0.5)}


def test_it_pickles_and_its_traits_follow_from_its_routes() -> None:
    judge = pickle.loads(pickle.dumps(routed({"x": says("a"), "y": COMBINED})))
    assert judged(judge, task("x"), a=1.0).reward == 1.0
    traits = routed({"x": says("a"), "y": says_later("a"), "z": ranks("r")}).traits
    assert (traits.kind, traits.ranks, traits.awaits, traits.bounded) == ("io", True, True, True)
    assert not routed({"x": {"judge_protocol": f"{HERE}Hangs", "deadline": None}}, deadline=None).traits.bounded


def test_only_the_judge_of_the_route_is_asked() -> None:
    Says.asked.clear()
    routed({"x": says("a"), "y": says("b")}).judge(task("y"), output(a=1.0, b=1.0))
    assert Says.asked == ["b"]
