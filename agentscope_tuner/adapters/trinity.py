"""Trinity-RFT 0.6 or newer: a reward function class, named by its dotted path.

    default_workflow_type: agentscope_tuner.adapters.trinity.JudgedWorkflow
    default_reward_fn_type: agentscope_tuner.adapters.trinity.AstunerReward
    reward_fn_args: {config: configs/math.yaml}

The workflow is Trinity's `async_simple_workflow`, which shows a reward function the answer and the ground truth alone.
Ours adds the question, without which no judge model is asked, and judges a prompt's answers together. A failed verdict
raises: Trinity fails the run and tries the task again, `max_retry_times` times.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from trinity.common.rewards.reward_fn import RewardFn
from trinity.common.workflows.workflow import AsyncSimpleWorkflow

from agentscope_tuner.adapters.rollout import named_metrics, without_a_question
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.formats.sample import as_rollout, ground_truth_metadata
from agentscope_tuner.task_judge.batch import judge_for
from agentscope_tuner.task_judge.contract.judgement import Judgement

_log = logging.getLogger(__name__)

_WAY_OUT = (
    "Trinity's own workflows keep it from a reward function. Write default_workflow_type: "
    "agentscope_tuner.adapters.trinity.JudgedWorkflow, or give `prompt` in a workflow of your own"
)


class AstunerReward(RewardFn):  # type: ignore[misc]  # trinity is absent where types are checked
    """Judges a response by the configured judge. Trinity builds an object for each task; all share the process's judge.

    Args:
        config: the judge's YAML, from `reward_fn_args`.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: str) -> None:
        self._judge = judge_for(config)

    def __call__(
        self, response: str, truth: object = None, prompt: str | None = None, **trinity_only: object
    ) -> dict[str, float]:
        """`{"astuner": reward}` and the judge's own metrics. Trinity logs all, and its sum of the values holds the
        reward alone.

        Args:
            response: what the policy wrote.
            truth: the ground truth, a text or a record (a JSON object); it becomes `task.metadata`.
            prompt: the query, where the workflow gives it.
            trinity_only: arguments that some workflows add (`with_think` …); not used.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        pair = as_rollout(prompt or "", response, ground_truth_metadata(truth))
        return self._told(without_a_question(pair, self._judge.judge(*pair), _WAY_OUT))

    async def answers(self, responses: Sequence[str], truth: object, prompt: str) -> list[dict[str, float]]:
        """For each answer to one prompt, in order, the dictionary that `__call__` returns. A judge that ranks sees the
        answers together.

        Raises:
            JudgeError: one of them has no verdict, unless `on_error: zero` was configured.
        """
        metadata = ground_truth_metadata(truth)
        pairs = [as_rollout(prompt, said, metadata, shared=(prompt, str(truth))) for said in responses]
        ask = self._judge.ajudge_group if self._judge.listwise else self._judge.ajudge_batch
        return [self._told(judgement) for judgement in await ask(pairs)]

    def _told(self, judgement: Judgement) -> dict[str, float]:
        _log.info("%s: %s %s", self._judge.name, judgement.status, judgement.error or judgement.reason)
        reward = self._judge.reward_or_raise(judgement)
        return _RewardAndLog(named_metrics(self._judge, judgement), astuner=reward)


class _RewardAndLog(dict[str, float]):
    """A dict whose `values()`, which Trinity's workflows add up, are the reward alone; they log the whole dict."""

    def values(self) -> Any:
        """The reward, alone."""
        return [self["astuner"]]


class JudgedWorkflow(AsyncSimpleWorkflow):  # type: ignore[misc]  # trinity is absent where types are checked
    """One prompt's answers, as Trinity's `async_simple_workflow` draws them, judged with the question and at once.

    Raises:
        ConfigError: `default_reward_fn_type` is not `AstunerReward`.
    """

    async def run_async(self) -> list[Any]:
        """Trinity's experiences, each with its reward and the judge's metrics.

        Raises:
            JudgeError: one of the answers has no verdict.
        """
        if not isinstance(self.reward_fn, AstunerReward):
            told = f"JudgedWorkflow was given {type(self.reward_fn).__name__}: name agentscope_tuner.adapters.trinity."
            raise ConfigError(f"{told}AstunerReward as default_reward_fn_type")
        found: list[Any] = await self.model.chat_async(self.format_messages(), **self.rollout_args)
        texts = [experience.response_text or "" for experience in found]
        rewards = await self.reward_fn.answers(texts, self.truth, self.task_desc or "")
        for run, (experience, reward) in enumerate(zip(found, rewards, strict=True)):
            experience.metrics = {**(experience.metrics or {}), **reward}
            experience.reward = reward["astuner"]
            experience.eid.run = run + self.run_id_base
        return found
