"""RepetitionJudge: a penalty for repeated text in an output."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.task_judge.base_judge import Reward, final_answer
from agentscope_tuner.task_judge.text_judge import TextJudge, read_kwargs
from agentscope_tuner.verify.text.repetition import repetition
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class RepetitionConfig(StrictSection):
    """RepetitionJudge's `astuner.task_judge.judge_kwargs`."""

    #: words in an n-gram; characters, where a script has no blanks
    n: int = Field(default=3, ge=1, le=100)
    #: the penalty of a text in which everything repeats
    penalty: float = Field(default=1.0, gt=0, le=1e6)
    #: the largest share of repeated n-grams that counts as success
    most: float = Field(default=0.2, ge=0, le=1)


class RepetitionJudge(TextJudge):
    """`-penalty * share`, where the share is that of n-grams which appeared before: -`penalty` to 0.0.

    The n-gram repetition penalty of "Demystifying Long Chain-of-Thought Reasoning in LLMs" (arXiv 2502.03373). Success
    is a share of at most `most`. An output of fewer than `n` words repeats nothing, so the empty one is not punished:
    combine this judge with one of correctness.
    """

    reference_keys = ()
    metric_names = ("repeated",)

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = read_kwargs(RepetitionConfig, config)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        settings = self._settings
        found = repetition(final_answer(output), settings.n)
        reason = f"{found.total - found.distinct:,} of {found.total:,} {settings.n}-grams stood before"
        # Avoid -0.0 where nothing repeats
        reward = 0.0 - settings.penalty * found.share
        return Reward(reward, found.share <= settings.most, reason=reason, metrics={"repeated": found.share})
