"""RepetitionJudge: a penalty for repeated text, measured in n-grams of words."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.task_judge.base_judge import Reward, TextJudge, final_answer
from agentscope_tuner.verify.text import words_of
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

#: Models run into a loop at the end of a text, so only the last words of a longer text are counted.
MOST_WORDS = 200_000


class Repetition(NamedTuple):
    """Attributes:
    share: the share of the n-grams that occurred before, 0.0 to below 1.0.
    distinct: the number of different n-grams.
    total: the number of all n-grams.
    """

    share: float
    distinct: int
    total: int


def repetition(text: str, n: int) -> Repetition:
    """The share of repeated n-grams, `1 - distinct / total`.

    It is the scale of the n-gram repetition penalty of "Demystifying Long Chain-of-Thought Reasoning in LLMs" (arXiv
    2502.03373), in the form for whole outputs. Words are compared in lower case. In a script without blanks, such as
    Chinese, each character is a word. A text of fewer than `n` words has a share of 0.0.
    """
    words = words_of(text)[-MOST_WORDS:]
    if (total := max(len(words) - n + 1, 0)) == 0:
        return Repetition(0.0, 0, 0)
    distinct = len(set(zip(*(words[start:] for start in range(n)), strict=False)))
    return Repetition(1.0 - distinct / total, distinct, total)


class RepetitionConfig(StrictSection):
    """RepetitionJudge's `astuner.task_judge.judge_kwargs`."""

    #: words in an n-gram; characters, where a script has no blanks
    n: int = Field(default=3, ge=1, le=100)
    #: the penalty of a text in which everything repeats
    penalty: float = Field(default=1.0, gt=0, le=1e6)
    #: the largest share of repeated n-grams that counts as success
    most: float = Field(default=0.2, ge=0, le=1)


class RepetitionJudge(TextJudge[RepetitionConfig]):
    """`-penalty * share`, where the share is that of n-grams which appeared before: -`penalty` to 0.0.

    The n-gram repetition penalty of "Demystifying Long Chain-of-Thought Reasoning in LLMs" (arXiv 2502.03373). Success
    is a share of at most `most`. An output of fewer than `n` words repeats nothing, so the empty one is not punished:
    combine this judge with one of correctness.
    """

    settings_class = RepetitionConfig
    reference_keys = ()
    metric_names = ("repeated",)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        settings = self.settings
        found = repetition(final_answer(output), settings.n)
        reason = f"{found.total - found.distinct:,} of {found.total:,} {settings.n}-grams stood before"
        # Avoid -0.0 where nothing repeats
        reward = 0.0 - settings.penalty * found.share
        return Reward(reward, found.share <= settings.most, reason=reason, metrics={"repeated": found.share})
