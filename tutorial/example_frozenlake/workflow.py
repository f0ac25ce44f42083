"""The workflow: an agent walks over one frozen lake, a word a turn."""

from __future__ import annotations

import asyncio

from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.message import AssistantMsg, UserMsg

from agentscope_tuner import ModelTuner, Workflow, WorkflowOutput, WorkflowTask

SYSTEM = (
    "You are P on a frozen lake. Walk to G over the F and keep out of the H. Say one word: left, down, right or up."
)
# a game that was won, shown before each episode: a model of this size learns the form of an answer from it
WORKED = (
    ("P F H\nH F F\nF H G", "right"),
    ("You went right.\n\nS P H\nH F F\nF H G", "down"),
    ("You went down.\n\nS F H\nH P F\nF H G", "right"),
    ("You went right.\n\nS F H\nH F P\nF H G", "down"),
)


class FrozenLakeWorkflow(Workflow):
    """Plays the episode in `task.gym_env` to its end. The reward is left to the judge, which asks the environment."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        """Every turn is a reply of the agent, which remembers the earlier ones, and a step of the environment."""
        agent = Agent(
            name="walker",
            system_prompt=SYSTEM,
            model=model_tuner,
            # a cancelled rollout must not go on with a polite sentence for a step
            react_config=ReActConfig(max_iters=1, interruption_raise_cancelled_error=True),
            # the time of day has no place in a prompt that is trained on
            injection_config=InjectionConfig(inject_runtime_state=False),
        )
        for lake, way in WORKED:
            await agent.observe([UserMsg("lake", lake), AssistantMsg("walker", way)])
        said, turns, terminated, answer = list(task.gym_env.state), 0, False, ""
        while not terminated:
            reply = await agent.reply([UserMsg("lake", message["content"]) for message in said])
            answer = reply.get_text_content() or ""
            # the client waits for the service: in a thread, so that a timeout ends the rollout at once
            step = await asyncio.to_thread(task.gym_env.step, {"role": "assistant", "content": answer})
            said, terminated, turns = step.state, step.is_terminated, turns + 1
        return WorkflowOutput(metadata={"final_answer": answer, "turns": turns})
