"""Rules first, then the judge, then a check: a verdict is a finite float and a bool; nothing else passes for one."""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentscope_tuner import BaseJudge, ConfigError, JudgeError, Reward, Task, TaskJudge, WorkflowOutput, WorkflowTask
from agentscope_tuner.errors import Cause, EnvServiceError
from agentscope_tuner.rules import RULE_HANDLERS, compile_rules
from agentscope_tuner.task_judge.contract.loading import load_judge, resolve_protocol

TASK = WorkflowTask(task=Task(task_id="t1", metadata={"answer": "42"}))
NOT_EMPTY = {"id": "not_empty", "kind": "non_empty", "target": "output", "action": "mark_bad"}
SHORT = {"id": "short", "kind": "max_chars", "max_chars": 10, "target": "output", "action": "mark_bad"}
NOTED = {"id": "noted", "kind": "contains_any", "keywords": ["42"], "target": "output", "action": "record"}


def says(text: str) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": text})


class Counting(BaseJudge):
    """Answers what it was told to, and counts how often it was asked."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        super().__init__({})
        self.answer = answer
        self.calls = 0

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        self.calls += 1
        return self.answer()


def build(answer: Callable[[], Any], rules: Sequence[dict[str, Any]] = (), **options: Any) -> TaskJudge:
    return TaskJudge(Counting(answer), compile_rules(rules), **options)


def raising(exc: BaseException) -> Callable[[], Any]:
    def answer() -> Any:
        raise exc

    return answer


def test_the_trainer_gets_the_pair_and_the_explanation() -> None:
    judge = build(lambda: Reward(0.75, True, reason="close", metrics={"calls": 2.0}))
    reward = judge.compute_reward(TASK, says("x"))
    assert reward == (0.75, True)
    assert (reward.reason, reward.metrics) == ("close", {"calls": 2.0})
    judgement = judge.judge(TASK, says("x"))
    assert (judgement.status, judgement.reward, judgement.is_success, judgement.reason) == (
        "judged",
        0.75,
        True,
        "close",
    )
    assert judgement.seconds > 0


def test_a_broken_rule_filters_and_the_judge_is_never_asked() -> None:
    judge = build(lambda: (1.0, True), [NOT_EMPTY, SHORT], rule_reward=-0.5)
    assert judge.compute_reward(TASK, says("  ")) == (-0.5, False)
    judgement = judge.judge(TASK, says(" " * 20))
    assert (judgement.status, judgement.reward, judgement.is_success) == ("filtered", -0.5, False)
    assert judgement.violations == ("not_empty", "short")
    assert judgement.reason == "rules: not_empty, short"
    assert asyncio.run(judge.ajudge(TASK, says(""))).status == "filtered"
    assert isinstance(judge.inner, Counting)
    assert judge.inner.calls == 0
    assert judge.compute_reward(TASK, says("fine")) == (1.0, True)
    assert judge.inner.calls == 1


def test_a_recorded_violation_lets_the_judge_run() -> None:
    judgement = build(lambda: (1.0, True), [NOTED]).judge(TASK, says("41"))
    assert (judgement.status, judgement.reward, judgement.violations) == ("judged", 1.0, ("noted",))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (None, "`return 1.0, True`, got None: on some path it ends without a `return`"),
        ((1.0, True, "why"), "from agentscope_tuner import Reward` and `return Reward(1.0, True, reason='…')`"),
        (1.0, "got 1.0"),
        ((1.0,), "got (1.0,)"),
        ((1.0, True, "extra"), "extra"),
        ((float("nan"), True), "finite float, got nan"),
        ((float("inf"), True), "finite float, got inf"),
        ((None, False), "finite float, got None"),
        (("1.0", True), "finite float, got '1.0'"),
        ((True, True), "finite float, got True"),
        ((True, 0.5), "finite float, got True: the reward stands first, `return 0.5, True`"),
        ((1.0, 1), "must be a bool, got 1"),
        ((1.0, None), "must be a bool, got None"),
    ],
)
def test_what_is_not_a_verdict_is_an_error(result: Any, words: str) -> None:
    judge = build(lambda: result)
    with pytest.raises(JudgeError) as caught:
        judge.compute_reward(TASK, says("x"))
    assert words in str(caught.value)
    assert str(caught.value).startswith("task 't1': Counting: ")
    failed = judge.judge(TASK, says("x"))
    assert (failed.status, failed.reward, failed.is_success) == ("failed", None, None)
    assert failed.error == str(caught.value)


@pytest.mark.parametrize("exc", [ValueError("boom"), JudgeError("boom"), NotImplementedError("boom"), KeyError("boom")])
def test_a_judge_that_raises_gives_no_reward(exc: Exception) -> None:
    judge = build(raising(exc))
    with pytest.raises(JudgeError, match=r"task 't1': Counting: .*boom"):
        judge.compute_reward(TASK, says("x"))
    with pytest.raises(JudgeError, match="boom"):
        asyncio.run(judge.acompute_reward(TASK, says("x")))
    assert judge.judge(TASK, says("x")).reward is None
    assert asyncio.run(judge.ajudge(TASK, says("x"))).status == "failed"
    assert [judgement.status for judgement in judge.judge_group(TASK, [says("x"), says("y")])] == ["failed", "failed"]


def test_a_judge_that_calls_exit_gives_no_reward_and_ctrl_c_is_the_callers() -> None:
    with pytest.raises(JudgeError, match="SystemExit: 0"):
        build(raising(SystemExit(0))).compute_reward(TASK, says("x"))
    with pytest.raises(KeyboardInterrupt):
        build(raising(KeyboardInterrupt())).judge(TASK, says("x"))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (Reward(1.0, True, reason=None), "reason must be a str, got None"),  # type: ignore[arg-type]
        (Reward(1.0, True, metrics={"n": float("nan")}), "finite numbers"),
        (Reward(1.0, True, metrics={"n": "7"}), "finite numbers"),  # type: ignore[dict-item]
        (Reward(1.0, True, metrics=[1]), "finite numbers, got [1]"),  # type: ignore[arg-type]
    ],
)
def test_an_explanation_that_could_not_be_written_down_is_an_error(result: Reward, words: str) -> None:
    failed = build(lambda: result).judge(TASK, says("x"))
    assert failed.status == "failed"
    assert words in failed.reason


def test_numpys_scalars_are_numbers_and_a_flood_of_words_is_cut() -> None:
    judgement = build(lambda: (np.float32(0.5), np.bool_(True))).judge(TASK, says("x"))
    assert (judgement.reward, judgement.is_success) == (0.5, True)
    assert (type(judgement.reward), type(judgement.is_success)) == (float, bool)
    counted = Reward(1.0, True, metrics={"n": np.int64(3)})  # type: ignore[dict-item]
    assert build(lambda: counted).judge(TASK, says("x")).metrics == {"n": 3.0}
    assert len(build(raising(ValueError("x" * 10**6))).judge(TASK, says("x")).error or "") < 3000
    assert len(build(lambda: Reward(1.0, True, reason="x" * 10**6)).judge(TASK, says("x")).reason) == 2000


def test_a_judges_own_cheap_check_filters_as_a_rule_does() -> None:
    judge = build(lambda: Reward(0.0, False, reason="no_content: only dots", filtered_by="no_content"), [NOTED])
    judgement = judge.judge(TASK, says("..."))
    assert (judgement.status, judgement.reward, judgement.violations) == ("filtered", 0.0, ("noted", "no_content"))
    assert pickle.loads(pickle.dumps(Reward(0.0, False, filtered_by="no_content"))).filtered_by == "no_content"


def test_an_error_keeps_its_type_and_is_not_written_on() -> None:
    stored = EnvServiceError("gone")
    judge = build(raising(stored))
    for task_id in ("a", "b"):
        task = WorkflowTask(task=Task(task_id=task_id))
        with pytest.raises(EnvServiceError, match=f"^task '{task_id}': Counting: gone$"):
            judge.compute_reward(task, says("x"))
        with pytest.raises(EnvServiceError, match=f"^task '{task_id}': Counting: gone$"):
            judge.compute_rewards(task, [says("x")])
    assert (stored.task_id, stored.judge) == (None, None)


def test_rules_of_a_config_reach_query_and_metadata_and_its_modules_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shouting_rules.py").write_text(
        "from agentscope_tuner.rules import RULE_HANDLERS\n"
        "RULE_HANDLERS['no_shouting'] = lambda rule, value: value.isupper()\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(RULE_HANDLERS, "no_shouting", len)  # taken out again when the test ends
    section = {
        "judge_protocol": "tutorial.my_task.my_judge->MyCustomJudge",
        "rule_modules": ["shouting_rules"],
        "rules": [
            {"id": "asked", "kind": "non_empty", "target": "query"},
            {"id": "tool", "kind": "allowed_values", "allowed_values": ["search"], "target": "metadata.tool"},
            {"id": "calm", "kind": "no_shouting", "target": "metadata.tool"},
        ],
        "on_error": "zero",
    }
    judge = load_judge({"astuner": {"task_judge": section}})
    # the answer is no rule's target here, and a judge that fails without one is a 0.0 because the config says so
    output = WorkflowOutput(metadata={"tool": "DELETE"})
    assert judge.judge(WorkflowTask(task=Task(main_query="?")), output).violations == ("tool", "calm")
    assert judge.judge(WorkflowTask(task=Task()), output).violations == ("asked", "tool", "calm")
    reward = judge.compute_reward(WorkflowTask(task=Task(main_query="?")), WorkflowOutput(metadata={"tool": "search"}))
    assert (reward, reward.metrics) == ((0.0, False), {"failed": 1.0})


def test_a_group_of_an_async_judge_waits_together() -> None:
    class Together(BaseJudge):
        waiting = 0

        async def acompute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
            self.waiting += 1
            while self.waiting < 3:
                await asyncio.sleep(0)
            return 1.0, True

    judge = TaskJudge(Together({}), compile_rules([]))
    assert judge.compute_rewards(TASK, [says("a"), says("b"), says("c")]) == [(1.0, True)] * 3


def test_a_blocking_judge_does_not_block_the_callers_loop() -> None:
    names: list[str] = []

    class Blocking(BaseJudge):
        def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
            names.append(threading.current_thread().name)
            return 1.0, True

    asyncio.run(TaskJudge(Blocking({}), compile_rules([])).ajudge(TASK, says("x")))
    assert names != [threading.current_thread().name]


def test_zero_for_a_failure_only_where_a_user_asked_for_it() -> None:
    judge = build(raising(ValueError("boom")), on_error="zero")
    reward = judge.compute_reward(TASK, says("x"))
    assert reward == (0.0, False)
    assert "boom" in reward.reason
    assert reward.metrics == {"failed": 1.0}
    # the full account is honest all the same
    assert judge.judge(TASK, says("x")).status == "failed"


@pytest.mark.parametrize("metadata", [{}, {"final_answer": None}, {"final_answer": 42}])
def test_an_output_without_a_text_to_check_is_an_error(metadata: dict[str, Any]) -> None:
    with pytest.raises(JudgeError, match="final_answer"):
        build(lambda: (1.0, True), [NOT_EMPTY]).compute_reward(TASK, WorkflowOutput(metadata=metadata))


def test_a_group_is_judged_together_without_what_the_rules_took_out() -> None:
    class Ranking(BaseJudge):
        def compute_rewards(
            self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
        ) -> list[tuple[float, bool]]:
            return [(1.0 / (place + 1), place == 0) for place in range(len(workflow_outputs))]

    judge = TaskJudge(Ranking({}), compile_rules([NOT_EMPTY]))
    outputs = [says("a"), says(""), says("b")]
    assert judge.compute_rewards(TASK, outputs) == [(1.0, True), (0.0, False), (0.5, False)]
    statuses = [judgement.status for judgement in judge.judge_group(TASK, outputs)]
    assert statuses == ["judged", "filtered", "judged"]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_group_with_a_reward_missing_or_too_many_fails_as_a_whole(count: int) -> None:
    class Counts(BaseJudge):
        def compute_rewards(self, workflow_task: Any, workflow_outputs: Any) -> list[tuple[float, bool]]:
            return [(1.0, True)] * count

    judge = TaskJudge(Counts({}), compile_rules([]))
    with pytest.raises(JudgeError, match=f"{count} rewards for 2 outputs"):
        judge.compute_rewards(TASK, [says("a"), says("b")])


def test_one_failed_output_of_a_group_fails_alone_unless_the_judge_ranks() -> None:
    class Picky(BaseJudge):
        def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
            if workflow_output.metadata["final_answer"] == "bad":
                raise ValueError("boom")
            return 1.0, True

    class PickyAsync(Picky):
        async def acompute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
            await asyncio.sleep(0)
            return self.compute_reward(workflow_task, workflow_output)

    outputs = [says("a"), says("bad"), says("b")]
    for judge in (TaskJudge(Picky({}), compile_rules([])), TaskJudge(PickyAsync({}), compile_rules([]))):
        for verdicts in (judge.judge_group(TASK, outputs), asyncio.run(judge.ajudge_group(TASK, outputs))):
            assert [verdict.reward for verdict in verdicts] == [1.0, None, 1.0]
        with pytest.raises(JudgeError, match=r"^task 't1': Picky\w*: ValueError: boom \(\S+:\d+ in \w+\)$"):
            judge.compute_rewards(TASK, outputs)


def test_overriding_the_sync_form_of_a_verdict_overrides_the_async_one() -> None:
    class Both(BaseJudge):
        def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
            return 0.0, False

        async def acompute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
            return 0.0, False

    class Sync(Both):
        def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
            return 1.0, True

    judge = TaskJudge(Sync({}), compile_rules([]))
    assert judge.compute_reward(TASK, says("x")) == (1.0, True)
    assert asyncio.run(judge.acompute_reward(TASK, says("x"))) == (1.0, True)
    assert judge.compute_rewards(TASK, [says("x")]) == [(1.0, True)]


def test_an_async_judge_serves_sync_trainers() -> None:
    class Waiting(BaseJudge):
        async def acompute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
            await asyncio.sleep(0)
            return 0.5, False

    judge = TaskJudge(Waiting({}), compile_rules([]))
    assert judge.compute_reward(TASK, says("x")) == (0.5, False)
    assert asyncio.run(judge.acompute_reward(TASK, says("x"))) == (0.5, False)


def test_rewards_and_errors_cross_processes() -> None:
    reward = pickle.loads(pickle.dumps(Reward(0.5, True, reason="why", metrics={"n": 1.0})))
    assert (reward, reward.reason, reward.metrics) == ((0.5, True), "why", {"n": 1.0})
    error = pickle.loads(pickle.dumps(JudgeError("boom", task_id="t1", judge="J")))
    assert str(error) == "task 't1': J: boom"


class NoMethod(BaseJudge):
    pass


class BadConstructor(BaseJudge):
    def __init__(self, config: Any) -> None:
        raise OSError("no such model")

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return 1.0, True


class TakesNoConfig(BaseJudge):
    def __init__(self) -> None:
        pass

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return 1.0, True


@pytest.mark.parametrize(
    ("task", "output", "got"),
    [
        ("6*7?", "42", "got str and str"),
        (Task(metadata={"answer": "42"}), WorkflowOutput(), "got Task and WorkflowOutput"),
        (WorkflowTask(task=Task()), "42", "got WorkflowTask and str"),
        (WorkflowTask(task=Task()), {"final_answer": "42"}, "got WorkflowTask and dict"),
        ([WorkflowTask(task=Task())], [WorkflowOutput()], "got list and list: call it for each of them"),
    ],
)
def test_a_caller_is_told_what_a_judge_is_asked_about(task: Any, output: Any, got: str) -> None:
    judge = load_judge({"astuner": {"task_judge": {"judge": "math"}}})
    for ask in (judge.judge, judge.compute_reward, lambda *pair: asyncio.run(judge.ajudge(*pair))):
        with pytest.raises(TypeError, match=rf"write compute_reward\(WorkflowTask\(task=Task.*{got}"):
            ask(task, output)


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        (None, "judge is missing"),
        ("foo.Bar", "must read 'module->Class', got 'foo.Bar'"),
        ("->Bar", "must read 'module->Class'"),
        ("no_such_module_here->Bar", "cannot import 'no_such_module_here'"),
        ("agentscope_tuner.errors->Nothing", "no class 'Nothing'; its classes are AstunerError"),
        ("agentscope_tuner.config->load_config", "'load_config' of module 'agentscope_tuner.config' is a function"),
        ("agentscope_tuner.errors->ConfigError", "not a subclass of BaseJudge"),
        (f"{__name__}->NoMethod", "must define compute_reward"),
        (f"{__name__}->BadConstructor", "could not be constructed: OSError: no such model"),
        (f"{__name__}->TakesNoConfig", "; a judge has `def __init__(self, config)`, or none"),
    ],
)
def test_a_wrong_protocol_fails_at_load(protocol: str | None, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest imports tests without putting their folder on the path
    monkeypatch.setitem(sys.modules, __name__, sys.modules[NoMethod.__module__])
    with pytest.raises(ConfigError) as caught:
        load_judge({"astuner": {"task_judge": {"judge_protocol": protocol}}})
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "protocol",
    [
        "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge",
        "tutorial.example_math_agent.math_answer_as_judge->MathAnswerAsJudge",
        "tutorial.example_countdown.countdown_answer_as_judge->CountdownAnswerAsJudge",
        "agentscope_tuner.task_judge.env_service_as_judge->EnvServiceJudge",
        "tutorial.my_task.my_judge->MyCustomJudge",
    ],
)
def test_the_documented_names_resolve(protocol: str) -> None:
    assert issubclass(resolve_protocol(protocol), BaseJudge)


def test_a_protocol_resolves_against_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "only_here_judge.py").write_text(
        "from agentscope_tuner import BaseJudge\n"
        "class Mine(BaseJudge):\n"
        "    def compute_reward(self, workflow_task, workflow_output):\n"
        "        return 0.25, False\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    judge = load_judge({"astuner": {"task_judge": {"judge_protocol": "only_here_judge->Mine"}}})
    assert judge.compute_reward(TASK, says("x")) == (0.25, False)


def test_the_auto_grader_type_resolves_or_says_why() -> None:
    with pytest.raises(ConfigError):
        load_judge({"astuner": {"task_judge": {"judge_type": "rubrics_auto_grader"}}})


def test_a_judge_that_finds_nothing_by_next_fails_its_row_in_an_event_loop_too() -> None:
    judge = build(lambda: next(iter([])))
    judgement = asyncio.run(asyncio.wait_for(judge.ajudge(TASK, says("x")), 20))
    assert judgement.status == "failed"
    assert "StopIteration" in str(judgement.error)


class Speechless(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class Coded(JudgeError):
    """Cannot be copied: Python would call it with what it gave its parent."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@pytest.mark.parametrize(
    ("error", "told"),
    [(Speechless(), "Speechless"), (Coded(3, "the GPU is gone"), "the GPU is gone"), (JudgeError(5), "5")],  # type: ignore[arg-type]
    ids=["no str", "no copy", "no text"],
)
def test_an_error_that_cannot_be_shown_or_copied_is_a_failure_like_any_other(error: Exception, told: str) -> None:
    judgement = build(raising(error)).judge(TASK, says("x"))
    assert judgement.status == "failed"
    assert told in judgement.reason
    with pytest.raises(JudgeError, match="'t1': Counting"):
        build(raising(error)).compute_reward(TASK, says("x"))


class Named(str):
    """A class that another process may not know."""


@pytest.mark.parametrize(
    "reward",
    [
        Reward(1.0, True, violations=(object(),)),  # type: ignore[arg-type]
        Reward(1.0, True, violations="abc"),  # type: ignore[arg-type]
        Reward(1.0, True, filtered_by=7),  # type: ignore[arg-type]
    ],
    ids=["object", "letters", "number"],
)
def test_violations_are_ids_of_rules(reward: Reward) -> None:
    judgement = build(lambda: reward).judge(TASK, says("x"))
    assert judgement.status == "failed"
    assert "ids of rules" in judgement.reason


def test_names_that_a_judge_gives_leave_it_as_plain_text() -> None:
    reward = Reward(1.0, True, violations=(Named("r1"),), metrics={Named("calls"): 1.0})
    judgement = build(lambda: reward).judge(TASK, says("x"))
    assert [type(name) for name in (*judgement.violations, *judgement.metrics)] == [str, str]


class Ending(BaseJudge):
    """Raises what would end its caller, unless it is the caller's own."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.sleep(0)
        endings = {"interrupts": KeyboardInterrupt, "cancels": asyncio.CancelledError}
        if ending := endings.get(workflow_output.metadata["final_answer"]):
            raise ending
        return 1.0, True


@pytest.mark.parametrize("ending", ["interrupts", "cancels"])
def test_a_judge_that_raises_its_callers_end_fails_its_row_of_a_group(ending: str) -> None:
    """On astuner's own loop a KeyboardInterrupt ended the loop's thread, and everybody waited for ever."""
    judge = TaskJudge(Ending({}), compile_rules(()))
    judgements = judge.judge_group(TASK, [says("x"), says(ending), says("x")])
    assert [judgement.status for judgement in judgements] == ["judged", "failed", "judged"]


def test_a_callers_cancellation_is_no_failure_of_the_judge() -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(TaskJudge(Ending({}), compile_rules(())).ajudge(TASK, says("x")))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_another_judge_takes_this_ones_place_behind_the_same_rules() -> None:
    judge, other = build(lambda: (1.0, True), [SHORT], deadline=30.0), Counting(lambda: (0.25, False))
    around = judge.around(other)
    assert around.judge(TASK, says("x")).reward == 0.25
    assert around.judge(TASK, says("x" * 11)).violations == ("short",)
    assert other.calls == 1
    assert around.inner is other
    assert judge.judge(TASK, says("x")).reward == 1.0
    assert judge.inner is not other


def test_a_workflows_own_reward_is_passed_over_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    given = WorkflowOutput(reward=0.625, metadata={"final_answer": "x"})
    for group in (False, True):
        caplog.clear()
        judge = build(lambda: (1.0, True))
        for _ in range(2):
            found = judge.judge_group(TASK, [says("y"), given])[1] if group else judge.judge(TASK, given)
            assert found.reward == 1.0
        (record,) = [record for record in caplog.records if "passed over" in record.message]
        assert "0.625, which is passed over: Counting judges" in record.message
        assert "->WorkflowRewardJudge" in record.message


def test_a_judge_asks_without_rules_and_checks_for_another_process() -> None:
    judge = build(lambda: "odd", [SHORT])
    assert judge.ask(TASK, says("x" * 11)) == "odd"
    assert judge.ask(TASK, []) == []
    refused = build(raising(JudgeError("no")), on_error="zero")
    with pytest.raises(JudgeError, match="task 't1': Counting: no"):
        refused.ask(TASK, says("x"))


def test_a_verdict_keeps_its_metrics_though_its_judge_goes_on_counting() -> None:
    metrics = {"seen": 1.0}
    judge = build(lambda: Reward(1.0, True, reason="r" * 3000, metrics=metrics))
    found = judge.judge(TASK, says("x"))
    metrics["seen"] = 2.0
    assert found.metrics == {"seen": 1.0}
    # a reason may quote an answer of any length, and logs need one line
    assert found.reason == "r" * 2000


def test_an_error_that_names_its_judge_and_task_keeps_both() -> None:
    judge = build(raising(JudgeError("no", judge="Inner", task_id="of another")))
    assert judge.judge(TASK, says("x")).error == "task 'of another': Inner: no"


def test_a_zero_that_was_asked_for_keeps_the_metrics_of_the_attempt() -> None:
    error = JudgeError("no")
    error.metrics = {"judge_calls": 3.0}
    reward = build(raising(error), on_error="zero").compute_reward(TASK, says("x"))
    assert (tuple(reward), reward.metrics) == ((0.0, False), {"judge_calls": 3.0, "failed": 1.0})


def test_a_reward_is_a_pair_whose_further_facts_are_empty_unless_given() -> None:
    plain = Reward(0.5, False)
    assert plain == (0.5, False)
    assert (plain.reason, plain.metrics, plain.filtered_by) == ("", {}, "")
    assert (plain.violations, plain.turns, plain.calls) == ((), (), ())
    whole = Reward(1.0, True, reason="r", metrics={"n": 1.0}, filtered_by="f", violations=("v",), turns=[0.5, None])
    assert (whole.reason, whole.metrics, whole.filtered_by) == ("r", {"n": 1.0}, "f")
    assert (whole.violations, whole.turns, whole.calls) == (("v",), [0.5, None], ())
    assert Reward(1.0, True, turns=np.array([0.5, 0.25])).turns == [0.5, 0.25]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("questions", "reason"),
    [
        (["one?"], ""),
        (["one?", " one? ", ""], ""),
        (["one?", "two?"], "the group holds 2 questions, as ['one?', 'two?']: give each its own id"),
        (["c?", "b?", "a?", ""], "the group holds 3 questions, as ['a?', 'b?']: give each its own id"),
    ],
)
def test_a_group_of_several_questions_is_not_ranked_and_each_row_is_told_why(questions: list[str], reason: str) -> None:
    class Ranking(BaseJudge):
        def compute_rewards(
            self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
        ) -> list[tuple[float, bool]]:
            return [(1.0, True)] * len(workflow_outputs)

    tasks = [Task(task_id=f"t{number}", main_query=question) for number, question in enumerate(questions)]
    refused = TaskJudge(Ranking({}), compile_rules([])).refused(tasks)
    assert [judgement.status for judgement in refused] == ["failed"] * len(tasks) * bool(reason)
    for task, judgement in zip(tasks, refused, strict=False):
        assert judgement.reason == reason
        assert judgement.error is not None
        assert task.task_id in judgement.error
        assert "Ranking" in judgement.error
        assert judgement.cause is Cause.INPUT
    # a judge that ranks nothing takes each row by itself
    assert build(lambda: (1.0, True)).refused(tasks) == []
