"""verifiers 0.1 (prime-rl, and most of the environments hub): a rubric whose reward is the configured judge's.

    env = vf.SingleTurnEnv(dataset=dataset, rubric=judge_rubric("configs/math.yaml"))

`vf.Rubric` logs what a reward function raises and counts it as 0.0, and takes a state with an `error` into its group's
mean. This rubric scores by itself: a state without a verdict keeps its `error`, which prime-rl leaves out of training,
has advantage 0, and stands in no mean. A judge that gives turns sets the `reward` of each step, and leaves it None for
a turn that was not judged. The tasks of verifiers 0.4 need no rubric: see the guide.

Every environment adds a rubric of its own, for metrics. In verifiers' own `RubricGroup` it would be scored last, and
write its reward, 0.0, wherever a step has none. So ours is such a group, which writes the steps itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any

import verifiers as vf

from agentscope_tuner.adapters.rollout import failing_run, named_metrics
from agentscope_tuner.errors import Cause, JudgeError, config_fault
from agentscope_tuner.records.formats.sample import as_rollout, ground_truth_metadata, reference_of
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, judge_for, located, read_or_unread
from agentscope_tuner.task_judge.contract.judgement import Judgement


class NoVerdict(vf.InfraError):  # type: ignore[misc]  # verifiers is absent where types are checked
    """The judge failed, not the rollout: an error that verifiers retries where `max_retries` allows it."""


class JudgeRubric(vf.RubricGroup):  # type: ignore[misc]
    """The rubric of one judge.

    Args:
        config: the judge's YAML.
        weight: the weight of the judge's reward. Functions added with `add_reward_func` or `add_metric`, and rubrics
            that an environment adds, are scored beside it.
        stop_when_failing: whether a run without verdicts is stopped; see `FailingRun`.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: str | Path, weight: float = 1.0, *, stop_when_failing: bool = True) -> None:
        # a group needs a rubric: this one takes the functions that are added
        super().__init__([vf.Rubric()])
        self._path = located(config)
        self._weight = weight
        judge = judge_for(self._path)
        self._judge_name = judge.name
        self._ranks = judge.listwise
        self._run = failing_run(judge, stops=stop_when_failing)

    @property
    def has_group_rewards(self) -> bool:
        """Whether whole groups must be scored: verifiers then runs them together, where it otherwise scores a rollout
        at a time.
        """
        return self._ranks or bool(super().has_group_rewards)

    async def score_rollout(self, state: Any) -> None:
        """Sets `reward` and `metrics`; without a verdict also `error`, and the judge adds no reward."""
        await self._score([state])
        for rubric in self._beside():
            await self._added([state], rubric.score_rollout(state))

    async def score_group(self, states: list[Any]) -> None:
        """Sets `reward`, `advantage` and `metrics` of an advantage group's states; see the module for failures."""
        judgements = await self._score(states)
        for rubric in self._beside():
            await self._added(states, rubric.score_group(states))
        scored = [state for state in states if state.get("error") is None]
        mean = sum(state["reward"] for state in scored) / len(scored) if scored else 0.0
        for state, judgement in zip(states, judgements, strict=True):
            state["advantage"] = state["reward"] - mean if state.get("error") is None else 0.0
            for step in state.get("trajectory") or []:
                # Without a verdict a step has no reward: 0.0 would be one
                judged_whole = not judgement.turns and state.get("error") is None
                for key in ("advantage", "reward") if judged_whole else ("advantage",):
                    if step.get(key) is None:
                        step[key] = state[key]

    async def _score(self, states: Sequence[Any]) -> list[Judgement]:
        judge = judge_for(self._path)
        pairs = [_pair(state) for state in states]
        if not judge.listwise:
            judgements = await judge.ajudge_batch(pairs)
        elif len(states) > 1:
            judgements = await judge.ajudge_group(pairs)
        else:
            message = f"{judge.name} ranks a group, and got one rollout: score groups, not rollouts"
            raise config_fault(message)
        judgements = [self._fitting(state, judgement) for state, judgement in zip(states, judgements, strict=True)]
        self._run.add(pairs, judgements)
        for state, judgement in zip(states, judgements, strict=True):
            self._write_verdict(judge, state, judgement)
        return judgements

    def _fitting(self, state: Any, judgement: Judgement) -> Judgement:
        """The judgement; or a failed one if it gives rewards to turns, and these are not as many as the rollout's
        steps.
        """
        steps = len(state.get("trajectory") or [])
        if not judgement.turns or len(judgement.turns) == steps:
            return judgement
        told = f"{self._judge_name} gave {len(judgement.turns)} turns a reward, and the rollout has {steps} steps"
        return Judgement.failed(JudgeError(told, cause=Cause.ROLLOUT), seconds=judgement.seconds)

    def _write_verdict(self, judge: ConfiguredJudge, state: Any, judgement: Judgement) -> None:
        for step, turn in zip(state.get("trajectory") or [], judgement.turns, strict=False):
            step["reward"] = None if turn is None else self._weight * turn
        reward = judge.reward(judgement, turns=True)
        failed = {f"{judge.name}/failed": float(judgement.status == "failed")}
        state["metrics"] = {**failed, **named_metrics(judge, judgement)}
        state["reward"] = 0.0 if reward is None else self._weight * reward
        if reward is not None:
            state["metrics"] |= {
                judge.name: reward,
                f"{judge.name}/success": float(bool(judgement.is_success)),
                f"{judge.name}/filtered": float(judgement.status == "filtered"),
            }
        elif state.get("error") is None:
            # The rollout's own error came first, and says more
            state["error"] = NoVerdict(judgement.error or judgement.reason)

    def _beside(self) -> list[Any]:
        """The rubrics beside the judge that have a function."""
        return [rubric for rubric in self.rubrics if rubric._get_reward_funcs()]

    async def _added(self, states: Sequence[Any], scoring: Awaitable[None]) -> None:
        """Await `scoring`, by which another rubric scores `states`, and add its rewards and metrics to the judge's own.

        The other rubric overwrites the states and their steps, so the judge's values are put back.
        """
        kept = [(state["reward"], state["metrics"]) for state in states]
        steps = [step for state in states for step in state.get("trajectory") or []]
        own = [{key: step.get(key) for key in ("advantage", "reward")} for step in steps]
        await scoring
        for step, given in zip(steps, own, strict=True):
            step.update(given)
        for state, (reward, metrics) in zip(states, kept, strict=True):
            state["metrics"] = metrics | state["metrics"]
            state["reward"] = reward + (state["reward"] if state.get("error") is None else 0.0)


judge_rubric = JudgeRubric


def _pair(state: Any) -> Pair:
    info = state.get("info") or {}
    row = dict(info) if isinstance(info, Mapping) else {}
    # "" is how verifiers writes that the row has no column `answer`: its info may hold one
    truth = state.get("answer")
    metadata = {**row, **(reference_of(row) if truth in (None, "") else ground_truth_metadata(truth))}
    prompt, said = _plain(state.get("prompt") or ""), state.get("completion")
    return read_or_unread(lambda completion: as_rollout(prompt, completion, metadata), _plain(said))


def _plain(messages: Any) -> Any:
    """Messages as dicts: newer releases have models of their own for them."""
    if not isinstance(messages, list | tuple):
        return messages
    return [message.model_dump() if hasattr(message, "model_dump") else message for message in messages]
