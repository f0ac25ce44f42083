"""Runs the rules before the judge: an output that a rule marks bad never reaches the judge."""

from __future__ import annotations

from agentscope_tuner.rules import RuleSet
from agentscope_tuner.task_judge.base_judge import final_answer
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class Prefilter:
    """Runs compiled rules over one rollout.

    Args:
        rules: compiled once, when the judge was loaded.
        rule_reward: the reward of a rollout that breaks a `mark_bad` rule.
    """

    def __init__(self, rules: RuleSet, rule_reward: float) -> None:
        self._rules = rules
        self._has_rules = bool(rules)
        self._rule_reward = rule_reward
        # An environment's judge never reads the answer, so without a rule on the answer the output may lack it
        self._reads_answer = "output" in rules.targets

    def check(self, task: WorkflowTask, output: WorkflowOutput) -> tuple[Judgement | None, tuple[str, ...]]:
        """The verdict, when a `mark_bad` rule is broken, else None; and the ids of all rules broken, in order.

        Raises:
            JudgeError: a rule's target is missing, or its pattern ran out of time.
        """
        if not self._has_rules:
            return None, ()
        answer = final_answer(output) if self._reads_answer else ""
        broken = self._rules.check(answer, query=task.task.main_query, metadata=output.metadata)
        violations = tuple(violation.rule_id for violation in broken)
        marked = [violation.rule_id for violation in broken if violation.action == "mark_bad"]
        if not marked:
            return None, violations
        return Judgement("filtered", self._rule_reward, False, f"rules: {', '.join(marked)}", violations), violations
