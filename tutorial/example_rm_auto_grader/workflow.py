"""The workflow: an agent explains something in a sentence or two."""

from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.message import UserMsg

from agentscope_tuner import ModelTuner, Workflow, WorkflowOutput, WorkflowTask


class ExplainWorkflow(Workflow):
    """One question, one explanation. The judge has the question from the task, and the explanation from here."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        agent = Agent(
            name="explainer",
            system_prompt="Explain it in one or two sentences.",
            model=model_tuner,
            injection_config=InjectionConfig(inject_runtime_state=False),
            react_config=ReActConfig(interruption_raise_cancelled_error=True),
        )
        reply = await agent.reply(UserMsg("user", task.task.main_query))
        return WorkflowOutput(reward=None, metadata={"final_answer": reply})
