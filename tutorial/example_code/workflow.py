"""The workflow: one agent writes one program."""

from __future__ import annotations

from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.message import UserMsg

from agentscope_tuner import ModelTuner, Workflow, WorkflowOutput, WorkflowTask
from tutorial.example_countdown.workflow import message_of


class CodeWorkflow(Workflow):
    """Shows the agent the worked programs of the task's `init_messages`, then asks. The judge runs what it writes."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        """The reply is handed on as it is: how it ended goes into the rollout's status."""
        system, *shots = task.task.init_messages
        agent = Agent(
            name="programmer",
            system_prompt=system["content"],
            model=model_tuner,
            # a cancelled rollout must not end in a polite sentence that is then judged
            react_config=ReActConfig(max_iters=1, interruption_raise_cancelled_error=True),
            # the time of day has no place in a prompt that is trained on
            injection_config=InjectionConfig(inject_runtime_state=False),
        )
        await agent.observe([message_of(shot) for shot in shots])
        reply = await agent.reply(UserMsg("user", task.task.main_query))
        return WorkflowOutput(metadata={"final_answer": reply})
