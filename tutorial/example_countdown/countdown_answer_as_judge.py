"""The judge of this example, under the name that the judge guide gives it."""

from agentscope_tuner.task_judge.countdown_answer_as_judge import CountdownAnswerAsJudge

__all__ = ["CountdownAnswerAsJudge"]
