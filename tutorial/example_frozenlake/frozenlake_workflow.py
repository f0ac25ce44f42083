"""The workflow: a policy plays one episode in the environment that the task carries."""

from __future__ import annotations

import asyncio
from typing import Any

from agentscope_tuner import Workflow, WorkflowOutput, WorkflowTask
from agentscope_tuner.env_service import GymEnv
from tutorial.example_frozenlake.policies import Message, Policy


class FrozenLakeWorkflow(Workflow):
    """Plays until the episode ends. The reward is left to the judge, which asks the environment."""

    async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
        """`model_tuner` is the policy here; a trainer lends its model instead."""
        # the client blocks, so an episode has a thread of its own
        return await asyncio.to_thread(self.play, task.gym_env, model_tuner)

    def play(self, env: GymEnv, policy: Policy) -> WorkflowOutput:
        """One episode; what was said is kept for whoever reads the rollout."""
        messages: list[Message] = list(env.state)
        terminated = False
        while not terminated:
            action = {"role": "assistant", "content": policy.reply(messages)}
            step = env.step(action)
            messages += [action, *step.state]
            terminated = step.is_terminated
        return WorkflowOutput(metadata={"final_answer": messages[-2]["content"], "messages": messages})
