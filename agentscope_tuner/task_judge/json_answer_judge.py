"""JsonAnswerJudge: an answer in JSON, compared with the reference field by field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import JudgeError, reference_error
from agentscope_tuner.task_judge.base_judge import Reward, TextJudge, final_answer
from agentscope_tuner.task_judge.format_judge import read_tags
from agentscope_tuner.verify.find import after_thinking
from agentscope_tuner.verify.strict_json import NotStrictJsonError, comparable, read_json, stated_json
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


class JsonMatch(NamedTuple):
    """Attributes:
    share: the share of the weights that the answer earns, 0.0 to 1.0.
    equal: whether all of the answer is right.
    reason: names the wrong and the added fields.
    """

    share: float
    equal: bool
    reason: str


def compare_json(text: str, reference: object, weights: Mapping[str, float] | None, *, fence: bool) -> JsonMatch:
    """Compare the JSON value in `text` with `reference`.

    Two objects are compared field by field, and each equal field earns its weight. Guesses under many names must not
    pay, so each field that the reference does not have counts as a wrong field of the mean weight. All other values are
    equal or different as a whole. `strict_json.comparable` defines equality: numbers are compared exactly, `true` is
    not 1, and 1.0 is 1.

    Args:
        text: the answer.
        reference: a JSON value.
        weights: the weight of each field to compare; None compares all fields of the reference with the same weight.
            A field of the reference without a weight is neither paid nor punished.
        fence: whether the JSON may be the only code block of the text.
    """
    try:
        value = read_json(stated_json(text, fence=fence))
    except NotStrictJsonError as exc:
        return JsonMatch(0.0, False, str(exc))
    if not isinstance(reference, Mapping):
        equal = comparable(value) == comparable(reference)
        differs = f"not the reference's value, {reference!r:.80}: the answer's is {value!r:.80}"
        fields = value.items() if isinstance(value, dict) and len(value) == 1 else ()
        if held := {name: one for name, one in fields if comparable(one) == comparable(reference)}:
            differs += f", an object that holds it: write the reference as {json.dumps(held):.80}"
        return JsonMatch(float(equal), equal, "equal" if equal else differs)
    if not isinstance(value, dict):
        return JsonMatch(0.0, False, f"an object is asked for, got {type(value).__name__}")
    paid = dict.fromkeys(reference, 1.0) if weights is None else weights
    wrong = [name for name in paid if name not in value or comparable(value[name]) != comparable(reference[name])]
    added = [name for name in value if name not in reference]
    total = sum(paid.values())
    mean = total / len(paid) if paid else 1.0
    earned = total - sum(paid[name] for name in wrong)
    whole = total + mean * len(added)
    if not wrong and not added:
        return JsonMatch(1.0, True, f"all of {len(paid)} fields are right")
    said = [f"wrong or missing: {', '.join(map(repr, wrong))}"] if wrong else []
    said += [f"not asked for: {', '.join(map(repr, added[:8]))}"] if added else []
    return JsonMatch(earned / whole if whole else 0.0, False, "; ".join(said)[:400])


_Weight = Annotated[float, Field(gt=0, le=1e6)]


class JsonAnswerConfig(StrictSection):
    """JsonAnswerJudge's `astuner.task_judge.judge_kwargs`."""

    #: the fields to compare, with their weights; null: all fields of the reference, with equal weights
    fields: dict[str, _Weight] | None = Field(default=None, min_length=1)
    #: whether a partly right answer gets a part of the reward
    partial: bool = True
    #: whether the JSON may be the only code block, with words around it
    allow_fence: bool = True


class JsonAnswerJudge(TextJudge[JsonAnswerConfig]):
    """The weighted share of fields with the value in `task.metadata["answer"]`, 0.0 to 1.0; success is all of them.

    The reference is a JSON object (a mapping, or JSON as text), or another JSON value, which the answer must equal. The
    answer is what stands in `<answer>` tags, the only code block, or else the whole output without its reasoning. It is
    read strictly: a repeated key, `NaN` and a second value score 0.0. Numbers are compared exactly, `true` is not 1,
    and a field that the reference does not have counts as a wrong one; see `compare_json`.

    Raises:
        JudgeError: of a verdict: the reference is no JSON, or lacks one of `fields`.
    """

    settings_class = JsonAnswerConfig
    metric_names = ("fields_right",)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        reference, settings = self.reference(task.task), self.settings
        said = after_thinking(final_answer(output))
        tagged = read_tags(said, ["answer"], around=True, empty=True)
        if tagged.part is not None:
            said = tagged.part
        elif tagged.problem != "no <answer>":
            return Reward(0.0, False, reason=tagged.problem, metrics={"fields_right": 0.0})
        share, equal, reason = compare_json(said, reference, settings.fields, fence=settings.allow_fence)
        paid = share if settings.partial else float(equal)
        return Reward(paid, equal, reason=reason, metrics={"fields_right": share})

    def reference(self, task: Task) -> object:
        """See TextJudge: the right JSON value."""
        if (value := task.metadata.get("answer")) is None:
            raise _bad(f"is missing, the task's metadata has {sorted(map(str, task.metadata))!r:.300}")
        try:
            if isinstance(value, str):
                value = read_json(value.strip())
            comparable(value)
        except NotStrictJsonError as exc:
            raise _bad(f"{value!r:.100} cannot be read: {exc}; write a text as JSON, in quotes") from exc
        except ValueError as exc:
            raise _bad(f"{value!r:.100} is no JSON: {exc}") from exc
        if (fields := self.settings.fields) is not None:
            missing = [name for name in fields if not isinstance(value, Mapping) or name not in value]
            if missing:
                raise _bad(f"{value!r:.100} has no {missing[0]!r}, which judge_kwargs.fields names")
        if value == {}:
            raise _bad("is an object without fields: there is nothing to compare")
        return value


def _bad(message: str) -> JudgeError:
    return reference_error(f"the reference answer {message}")
