"""agentscope.tuner (agentscope 1.0.12 to 1.0.21): a judge function for `tune(judge_func=…)`.

    tune(workflow_func=run_agent, judge_func=judge_func("configs/math.yaml"), ...)

A failed verdict raises: the tuner fails the run and tries the task again. The tuner would accept NaN without an error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentscope_tuner.adapters.rollout import asked_in, named_metrics, verdict_flags
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.formats.sample import as_rollout, final_text, message_text, reference_of
from agentscope_tuner.task_judge.batch import Pair, judge_for, loaded

if TYPE_CHECKING:
    from agentscope.tuner import JudgeOutput


def judge_func(config: str | Path) -> Callable[..., Awaitable[JudgeOutput]]:
    """A judge function with the parameter names that agentscope allows.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    # Absolute, because each worker process loads its own judge, perhaps from another working directory
    # A wrong configuration fails here rather than in the first rollout
    path = loaded(config)

    async def judge(
        task: dict[str, Any], response: Any, auxiliary_models: Any = None, logger: Any = None
    ) -> JudgeOutput:
        """Judge a workflow's response.

        Args:
            task: the dataset's row; it becomes `task.metadata`.
            response: a str, a Msg, or a dict with one under `content`.
            auxiliary_models: not used: the judge's own configuration names its model.
            logger: gets the verdict's reason.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured; or a response of another type.
        """
        from agentscope.tuner import JudgeOutput

        configured = judge_for(path)
        judgement = await configured.ajudge(*as_pair(task, response))
        if logger is not None:
            logger.info(f"{configured.name}: {judgement.status} {judgement.error or judgement.reason}")
        reward = configured.reward_or_raise(judgement)
        metrics = {**named_metrics(configured, judgement), "success": float(bool(judgement.is_success))}
        return JudgeOutput(reward=reward, metrics=metrics | verdict_flags(judgement))

    return judge


def as_pair(row: Mapping[str, Any], response: object) -> Pair:
    """A row of the data set and a workflow's response as a task and its output.

    Raises:
        JudgeError: as `response_text`.
    """
    return as_rollout(asked_in(row), response_text(response), {**row, **reference_of(row)})


def response_text(response: object) -> str:
    """The text of a workflow's response.

    Raises:
        JudgeError: the response is no str, and has no content with a text; or it states an author that is not the
            policy.
    """
    if isinstance(response, str):
        return response
    if isinstance(response, list | tuple):
        return final_text(response)
    read = response.get if isinstance(response, Mapping) else partial(getattr, response)
    content, role = read("content", None), read("role", None)
    if content is None:
        raise JudgeError(f"the workflow's response must be a str or a Msg, got {response!r:.200}")
    if role not in (None, "assistant"):
        raise JudgeError(
            f"the workflow's response is a message of the role {role!r}, and what another says is not the policy's "
            "answer: return the agent's own Msg, or a str",
            cause=Cause.ROLLOUT,
        )
    return message_text(content)
