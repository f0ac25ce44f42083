"""The judge of this example, under the name that the judge guide gives it."""

from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge

__all__ = ["MathAnswerAsJudge"]
