"""AReaL 1.0: a reward function for its workflows, `RLVRWorkflow(reward_fn=…)`.

A file of two lines, `my_reward.py`, for `reward_fn="my_reward.reward_fn"`:

    from agentscope_tuner.adapters.areal import reward_fn as judged
    reward_fn = judged("configs/math.yaml")

AReaL calls it in a pool of a few processes and gives each try 15 seconds, the wait for a free process included; after
the fourth it answers 0. So this function answers, or raises, in less. Only the wait in AReaL's queue is not included.
For judges that take seconds, use `async_reward_fn`, which needs no pool:

    workflow = RLVRWorkflow(reward_fn=reward_fn, ...)
    workflow.async_reward_fn = async_reward_fn("configs/math.yaml")

A failed verdict raises. AReaL tries four times, then drops the rollout.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.errors import DeadlineError
from agentscope_tuner.records.formats.sample import as_rollout, reference_of
from agentscope_tuner.task_judge.batch import Pair, judge_for, located
from agentscope_tuner.task_judge.contract.judgement import Judgement

# Seconds, of AReaL's 15: the rest is left for the way to the pool's process and back
_SECONDS = 12.0


class reward_fn:  # noqa: N801 - AReaL's own name for such a function
    """The reward function `(prompt, completions, prompt_ids, completion_ids, **row) -> float`, picklable for the pool.
    A call's arguments are those of `_asked`.

    Args:
        config: the judge's YAML. It is loaded now, and once more in each process of the pool.
        seconds: the most a verdict may take.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: str | Path, *, seconds: float = _SECONDS) -> None:
        self._path = located(config)
        self._seconds = seconds
        judge_for(self._path)

    def __call__(self, *given: Any, **row: Any) -> float:
        """The reward of one completion.

        Raises:
            JudgeError: no verdict, or none in time, unless `on_error: zero` was configured.
        """
        return loops.run(self._bounded(_asked(*given, **row)))

    async def _bounded(self, pair: Pair) -> float:
        judge = judge_for(self._path)
        try:
            judgement = await asyncio.wait_for(judge.ajudge(*pair), self._seconds)
        except TimeoutError:
            told = f"no verdict within {self._seconds:g} s, and AReaL answers 0 after 15: take async_reward_fn"
            judgement = Judgement.failed(DeadlineError(told, task_id=pair[0].task_id, judge=judge.name))
        return judge.reward_or_raise(judgement)


class async_reward_fn(reward_fn):  # noqa: N801
    """`reward_fn` in the workflow's own event loop: no pool, and no limit but the judge's own."""

    async def __call__(self, *given: Any, **row: Any) -> float:  # type: ignore[override]
        """As `reward_fn.__call__`."""
        judge = judge_for(self._path)
        return judge.reward_or_raise(await judge.ajudge(*_asked(*given, **row)))


def _asked(prompt: str, completions: str, prompt_ids: object = None, completion_ids: object = None, **row: Any) -> Pair:
    """A call of the reward function as the task and the output to judge.

    Args:
        prompt: the prompt's text, decoded.
        completions: the completion's text, decoded; a single text, in spite of the plural.
        prompt_ids, completion_ids: not used.
        row: the data set's fields; they become `task.metadata`, `messages` the opening messages.
    """
    return pair_of(prompt, completions, row)


def pair_of(prompt: str, completion: str, row: dict[str, Any]) -> Pair:
    """A completion as a task and an output; arguments as `reward_fn`'s. Takes `messages` out of `row`."""
    messages = row.pop("messages", None)
    metadata = {**row, **reference_of(row)}
    asked = messages if isinstance(messages, list) and messages else prompt
    return as_rollout(asked, completion, metadata)
