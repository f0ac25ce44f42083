"""JsonAnswerJudge: an answer in JSON, whose reward is the share of right fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.base_judge import Reward, final_answer
from agentscope_tuner.task_judge.text_judge import TextJudge, read_kwargs
from agentscope_tuner.verify.places import after_thinking
from agentscope_tuner.verify.text.json_answer import compare_json
from agentscope_tuner.verify.text.shape import read_tags
from agentscope_tuner.verify.text.strict_json import NotStrictJsonError, comparable, read_json
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

_Weight = Annotated[float, Field(gt=0, le=1e6)]


class JsonAnswerConfig(StrictSection):
    """JsonAnswerJudge's `astuner.task_judge.judge_kwargs`."""

    #: the fields to compare, with their weights; null: all fields of the reference, with equal weights
    fields: dict[str, _Weight] | None = Field(default=None, min_length=1)
    #: whether a partly right answer gets a part of the reward
    partial: bool = True
    #: whether the JSON may be the only code block, with words around it
    allow_fence: bool = True


class JsonAnswerJudge(TextJudge):
    """The weighted share of fields with the value in `task.metadata["answer"]`, 0.0 to 1.0; success is all of them.

    The reference is an object (a mapping, or JSON as text), or any other JSON value, which is right or not. The answer
    is all of the output but its reasoning, what stands in `<answer>` tags, or the only code block. It is read strictly:
    the same key twice, `NaN`, and two values are 0.0. Numbers are compared exactly, `true` is not 1, and a field that
    the reference does not have counts as a wrong one; see `verify.text.json_answer`.

    Raises:
        JudgeError: of a verdict: the reference is no JSON, or lacks one of `fields`.
    """

    metric_names = ("fields_right",)

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = read_kwargs(JsonAnswerConfig, config)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        reference, settings = self._reference(task.task), self._settings
        said = after_thinking(final_answer(output))
        tagged = read_tags(said, ["answer"], around=True, empty=True)
        if tagged.part is not None:
            said = tagged.part
        elif tagged.problem != "no <answer>":
            return Reward(0.0, False, reason=tagged.problem, metrics={"fields_right": 0.0})
        share, equal, reason = compare_json(said, reference, settings.fields, fence=settings.allow_fence)
        paid = share if settings.partial else float(equal)
        return Reward(paid, equal, reason=reason, metrics={"fields_right": share})

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing` or `unreadable`."""
        try:
            self._reference(task)
        except JudgeError as error:
            return f"{'missing' if task.metadata.get('answer') is None else 'unreadable'}: {error.message}"
        return None

    def _reference(self, task: Task) -> object:
        value = task.metadata.get("answer")
        if value is None:
            raise _bad(f"is missing, the task's metadata has {sorted(map(str, task.metadata))!r:.300}")
        try:
            if isinstance(value, str):
                value = read_json(value.strip())
            comparable(value)
        except NotStrictJsonError as exc:
            raise _bad(f"{value!r:.100} cannot be read: {exc}; write a text as JSON, in quotes") from exc
        except ValueError as exc:
            raise _bad(f"{value!r:.100} is no JSON: {exc}") from exc
        fields = self._settings.fields
        if fields is not None:
            missing = [name for name in fields if not isinstance(value, Mapping) or name not in value]
            if missing:
                raise _bad(f"{value!r:.100} has no {missing[0]!r}, which judge_kwargs.fields names")
        if value == {}:
            raise _bad("is an object without fields: there is nothing to compare")
        return value


def _bad(message: str) -> JudgeError:
    return JudgeError(f"the reference answer {message}", cause=Cause.REFERENCE)
