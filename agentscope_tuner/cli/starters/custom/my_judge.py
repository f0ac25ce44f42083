"""A judge of your own: the share of words that the answer has in common with the reference."""

import re

from agentscope_tuner import BaseJudge, JudgeError, Reward


class MyJudge(BaseJudge):
    """Success when at least `judge_kwargs.threshold` of the words are shared."""

    def __init__(self, config):
        super().__init__(config)
        self.threshold = float(config.astuner.task_judge.judge_kwargs.threshold)

    def compute_reward(self, workflow_task, workflow_output):
        reference = workflow_task.task.metadata.get("answer")
        if not reference:
            # No reference is a fault of the data, not of the answer: an error, never a reward of 0
            raise JudgeError("task.metadata has no 'answer'")
        expected, found = words(reference), words(workflow_output.metadata["final_answer"])
        shared, either = len(expected & found), len(expected | found)
        share = shared / max(either, 1)
        return Reward(share, share >= self.threshold, reason=f"{shared} of {either} words shared")


def words(text):
    """The words of `text`, in lower case and without punctuation."""
    return set(re.findall(r"\w+", text.lower()))
