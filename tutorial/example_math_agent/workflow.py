"""The workflows: an agent with a calculator, alone or with a checker beside it that is not trained."""

from __future__ import annotations

import json
from collections.abc import Iterator

from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.message import (
    AssistantMsg,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope.model import ChatModelBase
from agentscope.state import AgentState
from agentscope.tool import FunctionTool, Toolkit

from agentscope_tuner import ModelTuner, Workflow, WorkflowOutput, WorkflowTask
from tutorial.example_math_agent.calculator import calculator
from tutorial.example_math_agent.notes import CalculatorNotes

SYSTEM = (
    "Solve the problem. Write a calculation as <<calculation>> and you are told its result. "
    "End with the answer in \\boxed{}."
)
CHECK = "You check a calculation. Answer with one word, right or wrong."

# question, what to calculate, its result; every answer repeats it in the same words, which a small model can follow
SHOTS = (
    ("What is 6 + 11?", "6 + 11", "17"),
    ("What is 20 * 4?", "20 * 4", "80"),
    ("What is 10% of 240?", "240 * 10 / 100", "24"),
    ("Tom buys 3 cups at $4 each. How many dollars does Tom pay?", "3 * 4", "12"),
    ("Mia has 12 keys and gets 3 more. How many keys does Mia have now?", "12 + 3", "15"),
)


def worked_examples() -> Iterator[Msg]:
    """What the agent remembers of earlier problems: each solved with one call of the calculator."""
    for number, (question, expression, result) in enumerate(SHOTS):
        name, call_id = "calculator", f"example-{number}"
        yield UserMsg("user", question)
        yield AssistantMsg(
            "solver",
            [
                TextBlock(text=f"<<{expression}>>"),
                ToolCallBlock(
                    id=call_id, name=name, input=json.dumps({"expression": expression}), state=ToolCallState.FINISHED
                ),
                ToolResultBlock(id=call_id, name=name, output=result, state=ToolResultState.SUCCESS),
                TextBlock(text=f"It is {result}. \\boxed{{{result}}}"),
            ],
        )


def solver(model: ChatModelBase) -> Agent:
    """The agent that is trained."""
    return Agent(
        name="solver",
        system_prompt=SYSTEM,
        model=model,
        # read only: any other tool asks a person for permission, and the agent stops there
        toolkit=Toolkit(tools=[FunctionTool(calculator, is_read_only=True)]),  # type: ignore[arg-type] # takes a str too
        middlewares=[CalculatorNotes()],
        state=AgentState(context=list(worked_examples())),
        # a rollout that is cancelled must not end in a polite message
        react_config=ReActConfig(max_iters=3, interruption_raise_cancelled_error=True),
        # the time of day has no place in a prompt that is trained on
        injection_config=InjectionConfig(inject_runtime_state=False),
    )


class MathAgentWorkflow(Workflow):
    """One agent, one problem. The reply itself is the final answer; the judge takes its text."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        """Let the agent solve `task`."""
        reply = await solver(model_tuner).reply(UserMsg("user", task.task.main_query))
        return WorkflowOutput(metadata={"final_answer": reply})


class CheckedMathWorkflow(Workflow):
    """A checker looks at the solution, and the solver may mend it once. Train it with `trainable_targets: [solver]`."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        """Let one agent solve `task` and the other check it."""
        question = task.task.main_query
        agent = solver(model_tuner.register_model("solver"))
        checker = Agent(
            name="checker",
            system_prompt=CHECK,
            model=model_tuner.register_model("checker"),
            react_config=ReActConfig(interruption_raise_cancelled_error=True),
            injection_config=InjectionConfig(inject_runtime_state=False),
        )
        reply = await agent.reply(UserMsg("user", question))
        said = await checker.reply(UserMsg("user", f"{question}\n{reply.get_text_content()}"))
        verdict = (said.get_text_content() or "").lower()
        if "wrong" in verdict:
            reply = await agent.reply(UserMsg("user", f"That is wrong. {question}"))
        return WorkflowOutput(metadata={"final_answer": reply, "checker": verdict})
