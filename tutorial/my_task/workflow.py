"""The workflow: an agent answers one question."""

from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.message import UserMsg

from agentscope_tuner import ModelTuner, Workflow, WorkflowOutput, WorkflowTask


class MyWorkflow(Workflow):
    """Puts the question to an agent that talks through the trainer's model, and leaves its reply to the judge."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        agent = Agent(
            name="writer",
            system_prompt="Answer with one short sentence.",
            model=model_tuner,
            # the clock has no place in a training prompt, and a rollout that was cancelled is no answer
            injection_config=InjectionConfig(inject_runtime_state=False),
            react_config=ReActConfig(interruption_raise_cancelled_error=True),
        )
        reply = await agent.reply(UserMsg("user", task.task.main_query))
        return WorkflowOutput(reward=None, metadata={"final_answer": reply})
