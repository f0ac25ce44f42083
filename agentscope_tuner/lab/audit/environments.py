"""Judges that ask a reward of other code: a reward function as TRL calls it, an HTTP reward, NeMo-Gym's `/verify`, an
environment of verifiers, and a task of Inspect.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import httpx

from agentscope_tuner._http import HttpAnswer, HttpCall, HttpLimits, Peer, json_object, malformed
from agentscope_tuner._http.client import HttpExchange
from agentscope_tuner._run import loops
from agentscope_tuner.config import task_judge_section
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, config_fault, told
from agentscope_tuner.records.reader import Line
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward, final_answer
from agentscope_tuner.task_judge.contract.loading import resolve_function
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

#: What `--env` takes.
KINDS = (
    "trl:MODULE->FUNCTION, verifiers:MODULE, inspect:FILE.py@TASK, http://HOST/PATH of a reward service, or "
    "http://HOST/verify of a NeMo-Gym server"
)
_REFERENCES = ("answer", "ground_truth", "solution", "reference", "expected_answer", "target")
_REWARDS = ("reward", "score", "rewards", "scores")


def environment_config(env: str, deadline: float) -> dict[str, Any]:
    """The configuration of the judge that asks `env`.

    Raises:
        ConfigError: `env` names none of the kinds.
    """
    kind, _, rest = env.partition(":")
    named = {
        "trl": "FunctionReward", "verifiers": "VerifiersReward", "inspect": "InspectReward", "http": "HttpReward",
        "https": "HttpReward",
    }  # fmt: skip
    if kind not in named or not rest:
        raise ConfigError(f"--env must be {KINDS}, got {env!r}")
    section = {
        "name": re.sub(r"[^\w.-]+", "-", env).strip("-")[:64],
        "judge_protocol": f"{__name__}->{named[kind]}",
        "judge_kwargs": {"env": env},
        "deadline": deadline,
    }
    return {"astuner": {"task_judge": section}}


def _reward(value: object, env: str) -> Reward:
    """A number as a reward without success: the audit then counts it as a pass from its `pass_at` on."""
    number = value.item() if hasattr(value, "item") else value
    if not isinstance(number, int | float) or not math.isfinite(number):
        raise JudgeError(f"{env} gave {value!r:.80}, which is no finite number", cause=Cause.BUG)
    return Reward(float(number), False)


class _Foreign(BaseJudge):
    """The base of the judges in this module: it reads `judge_kwargs.env`, and finds the reference in
    the usual columns.
    """

    reference_keys = _REFERENCES

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.env = str(task_judge_section(config).judge_kwargs["env"])
        self.name = self.env.partition(":")[2]

    @staticmethod
    def _prompt(task: Task) -> list[dict[str, Any]]:
        messages = [dict(message) for message in task.init_messages or []]
        if messages or not task.main_query:
            return messages
        return [{"role": "user", "content": task.main_query}]


class FunctionReward(_Foreign):
    """A reward function as TRL calls it: `f(prompts, completions, **columns) -> list[float | None]`.

    Prompts and completions are conversational where the task has messages, else texts; the task's columns are lists of
    one value. The function may be `async`.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._function: Callable[..., Any] = resolve_function(self.name)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        task, said = workflow_task.task, final_answer(workflow_output)
        chat = bool(task.init_messages)
        prompt = self._prompt(task) if chat else task.main_query
        completion = [{"role": "assistant", "content": said}] if chat else said
        columns = {key: [value] for key, value in task.metadata.items() if key not in ("prompts", "completions")}
        found = self._function(prompts=[prompt], completions=[completion], **columns)
        if inspect.isawaitable(found):
            found = loops.run(found)
        if not isinstance(found, list | tuple) or len(found) != 1:
            raise JudgeError(f"{self.env} must give a list of one reward, got {found!r:.80}", cause=Cause.BUG)
        if found[0] is None:
            raise JudgeError(f"{self.env} gave None: no reward for this completion")
        return _reward(found[0], self.env)


class HttpReward(_Foreign):
    """A reward behind HTTP. Where the path ends in `/verify`, NeMo-Gym's request is sent; else one JSON object:
    `{"prompt", "completion", "response", **columns}`. The answer has `reward`, `score`, or `rewards` of one.
    """

    bounds_itself = True

    def __init__(self, config: Any, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        failed = partial(JudgeError, cause=Cause.ENDPOINT)

        def bad(status: int, detail: str, where: str) -> JudgeError:
            return failed(f"{where} at {self.env}: answered {status}: {detail[:400]}")

        self._seconds = section.deadline or 10.0
        limits = HttpLimits(deadline=self._seconds, max_connections=section.concurrency)
        self._exchange = HttpExchange(Peer("reward", failed, failed, bad, failed), self.env, limits, transport)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        body = self._body(workflow_task.task, final_answer(workflow_output))
        where = "judging a rollout"

        def parse(answer: HttpAnswer) -> Reward:
            found = json_object(answer, where)
            given = next((found[key] for key in _REWARDS if key in found), None)
            given = given[0] if isinstance(given, list) and len(given) == 1 else given
            if given is None:
                raise malformed(answer, where, f"it has none of {', '.join(_REWARDS)}")
            if found.get("mask_sample") is True:
                raise JudgeError(f"{self.env} masks the sample: {found.get('failure_reason')!r:.200}")
            return _reward(given, self.env)

        return await self._exchange.run(HttpCall("", json.dumps(body).encode(), where, parse, self._seconds))

    def _body(self, task: Task, said: str) -> dict[str, Any]:
        if not self.env.rstrip("/").endswith("/verify"):
            return {**task.metadata, "prompt": task.main_query, "completion": said, "response": said}
        text = {"type": "output_text", "text": said, "annotations": []}
        message = {"id": "msg_0", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
        response = {
            "id": "resp_0", "object": "response", "created_at": 0, "model": "audit", "output": [message],
            "parallel_tool_calls": False, "tool_choice": "none", "tools": [],
        }  # fmt: skip
        return {**task.metadata, "responses_create_params": {"input": self._prompt(task)}, "response": response}


class VerifiersReward(_Foreign):
    """The rubric of an environment of verifiers: the weighted sum of its reward functions."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._environment = _loaded(self.name)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        from verifiers.types import State

        task, said = workflow_task.task, final_answer(workflow_output)
        metadata, prompt = dict(task.metadata), self._prompt(task)
        given = {
            "prompt": prompt, "answer": metadata.pop("answer", ""), "task": metadata.pop("env_task", "default"),
            "info": metadata.pop("info", {}), "example_id": 0, **metadata,
        }  # fmt: skip
        completion = [{"role": "assistant", "content": said}]
        state = State(
            input=given, prompt=prompt, completion=completion, trajectory=[], is_completed=True, timing={}, error=None
        )
        with told(f"{self.env} scores groups, not single rollouts", AssertionError, to=config_fault):
            await self._environment.rubric.score_rollout(state)
        return _reward(state.get("reward"), self.env)


def _loaded(name: str) -> Any:
    with told("no verifiers, whose environment is to be audited: pip install verifiers", ImportError):
        import verifiers
    if not hasattr(verifiers, "load_environment"):
        raise ConfigError("this version of verifiers has no load_environment: environments are audited with 0.1")
    try:
        return verifiers.load_environment(name)
    except Exception as exc:  # foreign code: it may fail in any way
        raise ConfigError(f"cannot load the environment {name!r}: {exc!r:.300}") from exc


class InspectReward(_Foreign):
    """A task of Inspect: its solver runs with the answer in place of the model's, and its first scorer judges."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._task = _inspect_task(self.name)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelName, ModelOutput
        from inspect_ai.scorer import Target, value_to_float
        from inspect_ai.solver import TaskState

        task, said = workflow_task.task, final_answer(workflow_output)
        metadata = dict(task.metadata)
        target, choices = Target(metadata.pop("answer", "")), metadata.pop("choices", None)
        asked = [ChatMessageUser(content=task.main_query)]
        state = TaskState(
            model=ModelName("mockllm/model"), sample_id=task.task_id or 1, epoch=1, input=task.main_query,
            messages=list(asked), target=target, choices=choices, metadata=metadata,
        )  # fmt: skip

        async def answered(state: Any, *_: Any, **__: Any) -> Any:
            state.output = ModelOutput.from_content("mockllm/model", said)
            state.messages.append(ChatMessageAssistant(content=said))
            return state

        score = await self._task.scorer[0](await self._task.solver(state, answered), target)
        if score is None or isinstance(score.value, list | dict):
            raise JudgeError(f"{self.env} gave {score!r:.200}, which is no single score", cause=Cause.BUG)
        return _reward(value_to_float()(score.value), self.env)


def _inspect_task(name: str) -> Any:
    with told("no Inspect, whose task is to be audited: pip install inspect_ai", ImportError):
        from inspect_ai._eval.loader import load_tasks
    try:
        (found,) = load_tasks([name])
    except Exception as exc:  # foreign code: it may fail in any way
        raise ConfigError(f"{name!r} does not name one task of Inspect, as FILE.py@TASK does: {exc!r:.300}") from exc
    if not found.scorer:
        raise ConfigError(f"the task {name!r} has no scorer")
    return found


def environment_rows(env: str, most: int) -> Iterator[Line]:
    """The tasks of an environment of verifiers, or of a task of Inspect, as lines.

    Raises:
        ConfigError: the environment brings no tasks.
    """
    kind, _, name = env.partition(":")
    if kind == "verifiers":
        rows = (_task_row(dict(row), number) for number, row in enumerate(_loaded(name).get_dataset(n=most), 1))
    elif kind == "inspect":
        rows = (_sample_row(sample, number) for number, sample in enumerate(_inspect_task(name).dataset[:most], 1))
    else:
        raise ConfigError(f"{env!r} brings no tasks of its own: name some by --input")
    for number, row in enumerate(rows, 1):
        yield Line(f"{name}:{number}", json.dumps(row, default=str).encode())


def _sample_row(sample: Any, number: int) -> dict[str, Any]:
    asked = sample.input if isinstance(sample.input, str) else "\n".join(message.text for message in sample.input)
    choices = {} if sample.choices is None else {"choices": sample.choices}
    metadata = {**(sample.metadata or {}), **choices, "answer": sample.target}
    return {"main_query": asked, "task_id": str(sample.id or number), "metadata": metadata}


def _task_row(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    messages = row.get("prompt")
    messages = messages if isinstance(messages, list) else [{"role": "user", "content": str(messages or "")}]
    asked = next((m.get("content") for m in reversed(messages) if m.get("role") == "user"), "")
    metadata = {key: value for key, value in row.items() if key not in ("prompt", "example_id", "task")}
    return {
        "main_query": str(row.get("question") or asked or ""), "init_messages": messages, "task_id": str(number),
        "metadata": {**metadata, "env_task": row.get("task", "default")},
    }  # fmt: skip
