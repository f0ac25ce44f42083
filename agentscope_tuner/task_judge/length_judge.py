"""LengthJudge: a reward for the output's length, by DAPO's soft overlong punishment or along a cosine."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import input_error
from agentscope_tuner.rules.tokens import estimate_tokens
from agentscope_tuner.task_judge.base_judge import KWARGS, Reward, TextJudge, final_answer
from agentscope_tuner.task_judge.llm.rollout_fields import check_path, read_path
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


def soft_overlong(length: int, soft: int, hard: int) -> float:
    """DAPO's soft overlong punishment (arXiv 2503.14476, equation 13), -1.0 to 0.0.

    It is 0 up to `soft`, falls in a straight line to -1 at `hard`, and stays -1 beyond. In the paper's terms `hard` is
    `L_max`, and `hard - soft` is `L_cache`. Where `soft == hard` it drops from 0 to -1 at once.

    Args:
        length: the length of the output, in the unit of the limits.
        soft: the longest length without punishment, at least 0.
        hard: the length from which on the punishment is -1, at least `soft`.
    """
    if length <= soft:
        return 0.0
    return (soft - length) / (hard - soft) if length < hard else -1.0


def cosine(length: int, hard: int, at_zero: float, at_hard: float, exceed: float) -> float:
    """The cosine reward of "Demystifying Long Chain-of-Thought Reasoning in LLMs" (arXiv 2502.03373, section 4.2).

    The reward runs along half a period of a cosine, from `at_zero` at length 0 to `at_hard` just below `hard`. The
    paper's outputs are cut off at `hard`, where the reward becomes `exceed`. The paper uses two settings: for right
    answers a shorter output earns more; for wrong answers a longer output earns more, to encourage further thought.

    Args:
        length: the length of the output, in the unit of `hard`.
        hard: the length from which on the reward is `exceed`, 1 or more.
        at_zero: the reward at length 0.
        at_hard: the reward just below `hard`.
        exceed: the reward from `hard` on.
    """
    if length >= hard:
        return exceed
    return at_hard + (at_zero - at_hard) * (1.0 + math.cos(math.pi * length / hard)) / 2.0


_Pair = Annotated[list[float], Field(min_length=2, max_length=2)]
_COSINE_ONLY = ("correct", "right", "wrong", "exceed")


class LengthConfig(StrictSection):
    """LengthJudge's `astuner.task_judge.judge_kwargs`."""

    #: `soft_overlong`: equation 13 of DAPO; `cosine`: the reward of "Demystifying Long Chain-of-Thought Reasoning"
    method: Literal["soft_overlong", "cosine"] = "soft_overlong"
    #: the length from which the reward falls; DAPO's `L_max - L_cache`
    soft: int | None = Field(default=None, ge=0)
    #: DAPO's and the cosine's `L_max`
    hard: int = Field(ge=1, description="the length, in `unit`, from which the reward is lowest, such as `hard: 4096`")
    #: `tokens`: the estimate of the `max_tokens` rule; `chars`; or a path to a count that the trainer or the workflow
    #: leaves, such as `output.metadata.completion_tokens`
    unit: str = "tokens"
    #: cosine: whether the answer is right, as `true` or `false`, where another part of a combined judge has decided it;
    #: or a path to a bool, such as `output.is_success`
    correct: bool | str | None = None
    #: cosine, for right answers: the reward at length 0, and just below `hard`
    right: _Pair = Field(default=[1.0, 0.5])
    #: cosine, for wrong answers
    wrong: _Pair = Field(default=[-0.5, 0.0])
    #: cosine: the reward from `hard` on, where an output is taken to be cut off
    exceed: float = -0.5

    @model_validator(mode="after")
    def _fits_its_method(self) -> LengthConfig:
        if self.method == "cosine":
            if self.soft is not None:
                raise ValueError("`soft` belongs to method soft_overlong: a cosine has `hard` alone")
            if self.correct is None:
                raise ValueError(
                    "method cosine needs `correct`: true or false for a part that is asked `when` another part has "
                    "settled it, or a path such as output.is_success"
                )
            return self
        if self.soft is None:
            raise ValueError("method soft_overlong needs `soft`, the length that still costs nothing")
        if self.soft > self.hard:
            raise ValueError(f"`soft` must not be above `hard`, got soft {self.soft} and hard {self.hard}")
        if foreign := [key for key in _COSINE_ONLY if key in self.model_fields_set]:
            raise ValueError(f"`{foreign[0]}` belongs to method cosine, and method is soft_overlong")
        return self


class LengthJudge(TextJudge[LengthConfig]):
    """A reward for the output's length alone, whatever its content: use it as a part of a combined judge.

    `soft_overlong`: -1.0 to 0.0, as DAPO defines it (arXiv 2503.14476, equation 13); success is a length that costs
    nothing. `cosine`: within `right`, `wrong` and `exceed` (arXiv 2502.03373); success is a right answer below `hard`.

    A short output is not a right one, and an empty output costs nothing under `soft_overlong`: combine this judge with
    one of correctness.

    Raises:
        ConfigError: the settings do not fit each other.
        JudgeError: of a verdict: a path of the settings leads to nothing, or to no count or bool.
    """

    settings_class = LengthConfig
    reference_keys = ()
    metric_names = ("length",)

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        if self.settings.unit not in {"tokens", "chars"}:
            check_path(self.settings.unit, f"{KWARGS}.unit: tokens, chars or a path, which")
        if isinstance(self.settings.correct, str):
            check_path(self.settings.correct, f"{KWARGS}.correct")

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        settings = self.settings
        length = self._length(task, output)
        said = f"{length:,} {settings.unit if settings.unit in {'tokens', 'chars'} else 'long'}"
        metrics = {"length": float(length)}
        if settings.method == "soft_overlong":
            assert settings.soft is not None
            reward = soft_overlong(length, settings.soft, settings.hard)
            reason = f"{said}, soft limit {settings.soft:,}, hard limit {settings.hard:,}"
            return Reward(reward, length <= settings.soft, reason=reason, metrics=metrics)
        right = self._correct(task, output)
        at_zero, at_hard = settings.right if right else settings.wrong
        reward = cosine(length, settings.hard, at_zero, at_hard, settings.exceed)
        reason = f"{said} of {settings.hard:,}, for a {'right' if right else 'wrong'} answer"
        return Reward(reward, right and length < settings.hard, reason=reason, metrics=metrics)

    def _length(self, task: WorkflowTask, output: WorkflowOutput) -> int:
        if (unit := self.settings.unit) == "chars":
            return len(final_answer(output))
        if unit == "tokens":
            return estimate_tokens(final_answer(output))
        count = read_path(unit, task, output)
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise input_error(f"{unit} must be a whole number of 0 or more, got {count!r:.100}")
        return int(count)

    def _correct(self, task: WorkflowTask, output: WorkflowOutput) -> bool:
        correct = self.settings.correct
        if isinstance(correct, str):
            path, correct = correct, read_path(correct, task, output)
            if not isinstance(correct, bool):
                raise input_error(f"{path} must be true or false, got {correct!r:.100}")
        assert correct is not None
        return correct
