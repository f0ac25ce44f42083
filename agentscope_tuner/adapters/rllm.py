"""rLLM: an evaluator for its engine, and a reward function for its older environments and workflows.

    evaluator = JudgeEvaluator("configs/math.yaml")      # .evaluate(task, episode) -> EvalOutput
    reward = reward_fn("configs/math.yaml")              # (task_info, action) -> RewardOutput

Read in rLLM's sources of August 2026 (`rllm/eval/types.py`, `rllm/rewards/reward_fn.py`): it is not on PyPI. A failed
verdict raises. The engine runs the task again, `retry_limit` times, and then stops, unless `raise_on_error` is off:
keep `raise_on_error` on, or a failed rollout is trained on as a rollout without a reward. A judge that gives turns sets
the `reward` of each step, which rLLM reads with `stepwise_advantage.mode: per_step`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from agentscope_tuner.adapters.rollout import asked_in, named_metrics
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, input_error
from agentscope_tuner.records.formats.sample import Prompt, as_rollout, final_text, message_text, reference_of
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, judge_for, loaded
from agentscope_tuner.task_judge.contract.judgement import Judgement

# Modules that hold rLLM's types, newest first
_EVAL_TYPES = ("rllm.eval.types", "rllm.experimental.eval.types")


class JudgeEvaluator:
    """rLLM's `Evaluator`, which scores an episode by the configured judge.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: str | Path) -> None:
        self._path = loaded(config)

    def evaluate(self, task: Any, episode: Any) -> Any:
        """An `EvalOutput`, with the judge's metrics as signals and its reason in the metadata.

        Args:
            task: the data set's row, or rLLM's `Task` around it, whose `instruction` is the question.
            episode: the agent's episode; its `artifacts["answer"]` is the answer, else the last trajectory's output.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured; an episode without an answer to read; or
                turns that are not the steps of the last trajectory, or one without a verdict.
        """
        judge = judge_for(self._path)
        steps = _steps_of(episode) if judge.gives_turns else []
        said = [{"role": "assistant", "content": _said_in(step)} for step in steps] or _answer_of(episode)
        row = (
            task if isinstance(task, Mapping) else getattr(task, "metadata", None) or getattr(task, "data", None) or {}
        )
        judgement = judge.judge(*_pair(row, said, message_text(getattr(task, "instruction", None))))
        reward = judge.reward_or_raise(judgement, turns=True)
        if judgement.turns and (len(judgement.turns) != len(steps) or None in judgement.turns):
            raise JudgeError(
                f"{judge.name} gave the turns {list(judgement.turns)}, and the trajectory has {len(steps)} steps, "
                "which take a number each",
                judge=judge.name,
                cause=Cause.ROLLOUT,
            )
        for step, turn in zip(steps, judgement.turns, strict=False):
            step.reward = turn
        types = _module(_EVAL_TYPES)
        signals = [types.Signal(name=name, value=value) for name, value in _numbers(judge, judgement).items()]
        return types.EvalOutput(
            reward=reward,
            is_correct=bool(judgement.is_success),
            signals=signals,
            metadata={"reason": judgement.reason, "status": judgement.status},
        )


def reward_fn(config: str | Path) -> Callable[[dict[str, Any], Any], Any]:
    """rLLM's reward function `(task_info, action) -> RewardOutput`.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    path = loaded(config)

    def reward(task_info: dict[str, Any], action: Any) -> Any:
        """Judge an action, a str or rLLM's `Action` around one.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured; or an action that is no text.
        """
        judge = judge_for(path)
        judgement = judge.judge(*_pair(task_info, getattr(action, "action", action)))
        given = judge.reward_or_raise(judgement)
        return import_module("rllm.rewards.reward_types").RewardOutput(
            reward=given,
            is_correct=bool(judgement.is_success),
            metadata={"reason": judgement.reason, "status": judgement.status, **_numbers(judge, judgement)},
        )

    return reward


def _numbers(judge: ConfiguredJudge, judgement: Judgement) -> dict[str, float]:
    return {
        "success": float(bool(judgement.is_success)),
        "filtered": float(judgement.status == "filtered"),
        "judge_seconds": judgement.seconds,
        **named_metrics(judge, judgement),
    }


def _pair(row: Mapping[str, Any], said: object, asked: str = "") -> Pair:
    if not isinstance(said, str | list):
        raise input_error(f"an answer must be a str, got {said!r:.100}")
    return as_rollout((asked.strip() and asked) or asked_in(row), said, {**row, **reference_of(row)})


def _answer_of(episode: Any) -> object:
    artifacts = getattr(episode, "artifacts", None) or {}
    if "answer" in artifacts:
        return artifacts["answer"]
    trajectories = getattr(episode, "trajectories", None) or []
    if not trajectories:
        raise JudgeError("the episode has no trajectory and no artifacts['answer'] to judge", cause=Cause.ROLLOUT)
    steps = _steps_of(episode)
    output = getattr(trajectories[-1], "output", None)
    if isinstance(output, str) and output:
        return output
    # A policy that wrote nothing has given the empty answer; an output that is no text may hold another
    said = _said_in(steps[-1]) if steps else ""
    return said if said or output is None else output


def _steps_of(episode: Any) -> list[Any]:
    trajectories = getattr(episode, "trajectories", None) or []
    return list(getattr(trajectories[-1], "steps", None) or []) if trajectories else []


def _said_in(step: Any) -> str:
    for key in ("output", "model_response"):
        text = getattr(step, key, None)
        if isinstance(text, str) and text:
            return text
    # rLLM's own workflows leave both empty: there the reply is the last message of the step's conversation
    talk: Prompt | None = getattr(step, "chat_completions", None)
    return "" if talk is None else final_text(talk)


def _module(names: tuple[str, ...]) -> Any:
    for name in names:
        try:
            return import_module(name)
        except ModuleNotFoundError as exc:
            if not name.startswith(exc.name or " "):
                raise
    raise ConfigError(f"the installed rLLM has none of {', '.join(names)}: this adapter was written for August 2026's")
