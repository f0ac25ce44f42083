"""Every failed judgement says what has to be mended, in a word to count by; and how a judge wants to be asked."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from agentscope_tuner import (
    BaseJudge,
    ConfigError,
    JudgeError,
    Judgement,
    Task,
    TaskJudge,
    WorkflowOutput,
    WorkflowTask,
)
from agentscope_tuner.errors import (
    BadScore,
    Cause,
    DeadlineError,
    EnvServerError,
    EnvServiceError,
    EnvTimeout,
    EnvUnreachable,
    GraderError,
    InstanceNotFound,
)
from agentscope_tuner.records.output import scored_line
from agentscope_tuner.records.reader import Row
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.rules import RULE_HANDLERS, compile_rules
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.deadline import Traits
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.countdown_answer_as_judge import CountdownAnswerAsJudge
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge

TASK = WorkflowTask(task=Task(task_id="t1", metadata={"answer": "42"}))


def says(text: str) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": text})


class Raising(BaseJudge):
    """Raises what it was given, or answers it."""

    def __init__(self, answer: Any) -> None:
        super().__init__({})
        self.answer = answer

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Odd(JudgeError):
    """A judge's own error, which keeps something else under the name."""

    cause = ("not", "a cause")  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (JudgeError("no"), Cause.JUDGE),
        (JudgeError("no", cause=Cause.REFERENCE), Cause.REFERENCE),
        (DeadlineError("late"), Cause.DEADLINE),
        (EnvServiceError("no"), Cause.ENVIRONMENT),
        (EnvUnreachable("no"), Cause.ENVIRONMENT),
        (EnvTimeout("no"), Cause.ENVIRONMENT),
        (InstanceNotFound("no"), Cause.ENVIRONMENT),
        (BadScore("nan"), Cause.ENVIRONMENT),
        (EnvServerError(500, "x"), Cause.ENVIRONMENT),
        (GraderError("no"), Cause.ENDPOINT),
        (Odd("no"), Cause.JUDGE),
        (ValueError("no"), Cause.BUG),
        (SystemExit(1), Cause.BUG),
        (ConfigError("no"), Cause.CONFIG),
        (float("nan"), Cause.BUG),
        ((float("nan"), True), Cause.BUG),
        ((1.0, "yes"), Cause.BUG),
        (None, Cause.BUG),
    ],
)
def test_a_failure_names_what_has_to_be_mended(answer: Any, cause: Cause) -> None:
    judgement = TaskJudge(Raising(answer), compile_rules([])).judge(TASK, says("x"))
    assert (judgement.status, judgement.reward, judgement.cause) == ("failed", None, cause)


@pytest.mark.parametrize("error", [JudgeError("no", cause=Cause.WORKER), DeadlineError("late", task_id="t")])
def test_an_error_keeps_its_cause_in_another_process(error: JudgeError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.cause, str(again)) == (type(error), error.cause, str(error))


@pytest.mark.parametrize(
    ("judge", "task", "output", "cause"),
    [
        (MathAnswerAsJudge, {}, {"final_answer": r"\boxed{1}"}, Cause.REFERENCE),
        (MathAnswerAsJudge, {"answer": ""}, {"final_answer": r"\boxed{1}"}, Cause.REFERENCE),
        (MathAnswerAsJudge, {"answer": [1]}, {"final_answer": r"\boxed{1}"}, Cause.REFERENCE),
        (MathAnswerAsJudge, {"answer": "1"}, {}, Cause.INPUT),
        (MathAnswerAsJudge, {"answer": "1"}, {"final_answer": None}, Cause.INPUT),
        (CountdownAnswerAsJudge, {"target": 3}, {"final_answer": r"\boxed{1+2}"}, Cause.REFERENCE),
        (CountdownAnswerAsJudge, {"target": 3, "nums": "12"}, {"final_answer": r"\boxed{1+2}"}, Cause.REFERENCE),
        (CountdownAnswerAsJudge, {"target": 3, "nums": [1, 2]}, {"final_answer": 3}, Cause.INPUT),
    ],
)
def test_a_data_sets_mistakes_are_told_from_a_workflows(
    judge: type[BaseJudge], task: dict[str, Any], output: dict[str, Any], cause: Cause
) -> None:
    told = TaskJudge(judge({}), compile_rules([])).judge(
        WorkflowTask(task=Task(metadata=task)), WorkflowOutput(metadata=output)
    )
    assert (told.status, told.cause) == ("failed", cause)


def test_a_rule_that_cannot_be_decided_names_its_cause() -> None:
    def nothing(rule: dict[str, Any], value: str) -> Any:
        return None

    RULE_HANDLERS["nothing"] = nothing
    try:
        rules = compile_rules([{"id": "r", "kind": "nothing"}])
    finally:
        del RULE_HANDLERS["nothing"]
    assert TaskJudge(Raising((1.0, True)), rules).judge(TASK, says("x")).cause is Cause.BUG
    missing = compile_rules([{"id": "r", "kind": "non_empty", "target": "metadata.summary"}])
    assert TaskJudge(Raising((1.0, True)), missing).judge(TASK, says("x")).cause is Cause.INPUT


def test_the_cause_is_written_read_and_counted() -> None:
    failed = Judgement.failed(JudgeError("no answer came", task_id="t", cause=Cause.ENDPOINT))
    assert (failed.reason, failed.error) == ("no answer came", "task 't': no answer came")
    written = json.loads(scored_line(Row("f:1", b'{"id": "a"}', None, "bad"), failed))["judgement"]
    assert written["cause"] == "endpoint"
    assert Judgement.from_dict(written) == failed
    assert Judgement.from_dict(Judgement("judged", 1.0, True).to_dict()) == Judgement("judged", 1.0, True)
    earlier = {name: value for name, value in written.items() if name != "cause"}
    assert (Judgement.from_dict(earlier) or failed).cause is None
    assert (Judgement.from_dict(written | {"cause": "later version's"}) or failed).cause is Cause.JUDGE
    summary, other = Summary(), Summary()
    summary.add(failed)
    summary.add(Judgement("judged", 1.0, True))
    other.add(Judgement.failed("bad row", cause=Cause.INPUT))
    other.merge(summary)
    assert other.causes == {"input": 1, "endpoint": 1}
    assert Summary.from_dict(other.to_dict()).causes == other.causes
    assert Summary.from_dict({k: v for k, v in other.to_dict().items() if k != "causes"}).rows == 3


def test_a_trainer_that_can_only_stop_is_told_the_cause() -> None:
    protocol = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    judge = ConfiguredJudge({"astuner": {"task_judge": {"judge_protocol": protocol}}})
    with pytest.raises(JudgeError, match="'final_answer'") as caught:
        judge.reward_or_raise(judge.judge(TASK, WorkflowOutput(metadata={})))
    assert caught.value.cause is Cause.INPUT


class Ranks(BaseJudge):
    """Ranks."""

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        return [(0.0, False)] * len(workflow_outputs)


class OwnMath(MathAnswerAsJudge):
    """A verdict of its own: what the parent says of its kind and its bounds does not hold for it."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        return 1.0, True


class Renamed(MathAnswerAsJudge):
    """The parent's verdicts under another name."""


@pytest.mark.parametrize(
    ("judge", "traits"),
    [
        (Raising(None), Traits("Raising", "io", ranks=False, awaits=False, bounded=False, in_main=False)),
        (Ranks({}), Traits("Ranks", "io", ranks=True, awaits=False, bounded=False, in_main=False)),
        (OwnMath({}), Traits("OwnMath", "io", ranks=False, awaits=False, bounded=False, in_main=False)),
        (Renamed({}), Traits("Renamed", "cpu", ranks=False, awaits=True, bounded=True, in_main=False)),
    ],
)
def test_the_traits_of_a_judge_are_those_of_the_class_that_gives_its_verdicts(judge: BaseJudge, traits: Traits) -> None:
    assert TaskJudge(judge, compile_rules([])).traits == traits


def test_settings_make_a_judge_rank_and_a_subclass_that_ranks_always_does() -> None:
    def section(listwise: bool) -> dict[str, Any]:
        protocol = "agentscope_tuner.task_judge.http_judge->HttpJudge"
        kwargs = {"url": "http://127.0.0.1:9/reward", "listwise": listwise}
        return {"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": kwargs}}}

    assert [load_judge(section(listwise)).traits.ranks for listwise in (False, True)] == [False, True]
    inner = type(load_judge(section(False)).inner)

    class OwnRanking(inner):  # type: ignore[valid-type,misc]
        """Ranks, whatever is configured."""

        compute_rewards = Ranks.compute_rewards

    assert Traits.of(OwnRanking(section(False))).ranks


@pytest.mark.parametrize(
    ("answers", "rules", "told"),
    [
        (["#### 42"] * 64, [], "64 answers stand after ####, where they are not read: add hash to"),
        (["<answer>42</answer>"] * 40 + [r"\boxed{42}"] * 24, [], "40 answers stand in <answer>"),
        (["#### 42"] * 20 + [r"\boxed{42}"] * 44, [], None),
        (["#### 42"] * 63, [], None),
        ([r"\boxed{42}"] * 64, [{"id": "short", "kind": "max_chars", "max_chars": 3}], "64 are filtered by 'short'"),
        ([r"\boxed{42}", r"\boxed{41}"] * 32, [], None),
        (["It is 42."] * 60 + [r"\boxed{41}"] * 4, [], "none is a success; the reason of 60 is like this"),
    ],
)
def test_a_trainers_log_is_told_once_what_most_of_the_first_verdicts_have_in_common(
    answers: list[str], rules: list[dict[str, Any]], told: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    rules = [{**rule, "target": "output", "action": "mark_bad"} for rule in rules]
    section = {"judge": "math", "math": {"answer_in": ["boxed"]}, "rules": rules}
    judge = ConfiguredJudge({"astuner": {"task_judge": section}})
    task = WorkflowTask(task=Task(main_query="q", metadata={"answer": "42"}))
    pairs = [(task, WorkflowOutput(metadata={"final_answer": answer})) for answer in answers]
    for _ in range(3):
        judge.judge_batch(pairs[:32])
        judge.judge_batch(pairs[32:])
        if len(pairs) < 64:
            break
    said = [record.getMessage() for record in caplog.records if "of the first 64 verdicts" in record.getMessage()]
    assert len(said) == (told is not None)
    assert told is None or told in said[0]
    # what an audit or a second opinion asks is no run
    quiet = ConfiguredJudge({"astuner": {"task_judge": section}}, logs=False)
    before = len(caplog.records)
    quiet.judge_batch(pairs)
    assert len(caplog.records) == before


def test_another_thread_may_log_the_last_of_the_first_verdicts_meanwhile() -> None:
    judge = ConfiguredJudge({"astuner": {"task_judge": {"judge": "math"}}})
    task = WorkflowTask(task=Task(main_query="q", metadata={"answer": "42"}))
    pairs = [(task, WorkflowOutput(metadata={"final_answer": r"\boxed{42}"}))] * 64

    class Meanwhile(list[Judgement]):
        """Judgements that, when they are read, find that others have been logged."""

        def __getitem__(self, key: Any) -> Any:
            judge.judge_batch(pairs)
            return super().__getitem__(key)

    # it was a TypeError: object of type 'NoneType' has no len()
    verdicts = Meanwhile([judge.judge(*pairs[0])])
    assert judge._logged(pairs[:1], verdicts) is verdicts
