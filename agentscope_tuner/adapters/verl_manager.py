"""verl 0.9 or newer: a reward manager, which sees more of an episode than a reward function does.

    reward:
      reward_manager:
        source: importlib
        name: JudgeRewardManager
        module: {path: pkg://agentscope_tuner.adapters.verl_manager}
      custom_reward_function:
        path: null
        reward_kwargs: {config: configs/math.yaml}

The samples of a prompt are one group by verl's own `uid`, in logs and for judges that rank. verl's reward workers get
no mask of the policy's tokens, so that the last turn of an episode with tools is told by the chat template's own
tokens, or by what `adapters.verl_agent.LastTurnToolAgentLoop` leaves. A failed verdict becomes what it
becomes in `adapters.verl`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

from agentscope_tuner.adapters.rollout import LAST_TURN, group_metrics
from agentscope_tuner.adapters.verl import judge_with, pair_of, score_of, several_turns
from agentscope_tuner.errors import Cause, ConfigError, DeadlineError, JudgeError
from agentscope_tuner.records.formats.sample import id_text, last_turn, without_end_markers
from agentscope_tuner.task_judge.batch import Pair
from agentscope_tuner.task_judge.contract.judgement import Judgement

_KEYS = ("config", "on_failed", "group_seconds", "group_facts")
# Calls that an actor of Ray answers at once. A sample that waits for its group holds one of them
_CALLS_AT_ONCE = 1000
_GROUP_SECONDS = 1800.0


T = TypeVar("T")


@dataclass
class _Gathering(Generic[T]):
    """A group whose samples have not all come yet: their pairs or verdicts so far."""

    held: list[T]
    judged: asyncio.Future[list[Judgement]]


class JudgeRewardManager(RewardManagerBase):  # type: ignore[misc]  # verl is absent where types are checked
    """Judges by the YAML under `reward.custom_reward_function.reward_kwargs.config`.

    `reward_kwargs` may also hold `on_failed`, see `adapters.verl.compute_score`, and, for a judge that ranks,
    `group_seconds`, how long a sample waits for the others of its group: by default 1800. With `group_facts: true` each
    sample gets `<judge>/groups/all_right`, `all_wrong`, `zero_spread` and `no_verdict`: 1.0 for what its group is.

    Raises:
        ConfigError: the judge cannot be loaded, or groups are asked for that one reward worker would not see whole.
    """

    def __init__(
        self,
        config: Any,
        tokenizer: Any,
        compute_score: object = None,
        reward_router_address: str | None = None,
        reward_model_tokenizer: object = None,
    ) -> None:
        super().__init__(config, tokenizer, compute_score)
        given = dict(config.reward.custom_reward_function.get("reward_kwargs") or {})
        if "config" not in given or (unknown := sorted(given.keys() - set(_KEYS))):
            told = f"unknown keys {unknown}" if "config" in given else "no config, the judge's YAML"
            raise ConfigError(f"reward.custom_reward_function.reward_kwargs: {told}; known are {', '.join(_KEYS)}")
        self._on_failed = given.get("on_failed", "raise")
        self._judge = judge_with(given["config"], self._on_failed)
        self._seconds = float(given.get("group_seconds", _GROUP_SECONDS))
        self._groups: dict[str, _Gathering[Any]] = {}
        self._facts = bool(given.get("group_facts", False))
        self._size = _group_size(config) if self._judge.listwise or self._facts else 1

    async def run_single(self, data: Any) -> dict[str, Any]:
        """The reward of a sample, and what `adapters.verl.compute_score` answers beside it.

        Raises:
            JudgeError: no verdict, unless masked or `on_error: zero` was configured.
        """
        # of an episode in several sequences the last one, as verl's own managers do
        item = data[-1:][0]
        columns = item.non_tensor_batch
        if isinstance(step := columns.get("global_steps"), int):
            self._judge.step = step
        pair = await self.loop.run_in_executor(None, self._pair, item)
        uid = id_text(columns.get("uid"))
        if self._judge.listwise:
            judgement, group = await self._ranked(uid, pair)
        else:
            judgement = await self._judge.ajudge(*pair)
            group = await self._beside(uid, judgement) if self._facts else []
        scored = score_of(self._judge, pair, judgement, self._on_failed)
        if self._facts:
            facts = group_metrics([group])
            scored |= {f"{self._judge.name}/{fact}": share for fact, share in facts.items()}
        return {"reward_score": scored["score"], "reward_extra_info": scored}

    def _pair(self, item: Any) -> Pair:
        columns = item.non_tensor_batch
        responses = item.batch["responses"]
        ids = responses[: int(item.batch["attention_mask"][-responses.shape[-1] :].sum())]
        info: dict[str, Any] = dict(columns.get("extra_info") or {})
        if "raw_prompt" in columns:
            info["raw_prompt"] = columns["raw_prompt"]
        # the agent loop's own fields, as verl's naive manager adds them
        info.update(columns.get("tool_extra_fields") or {})
        # where verl asks for a step's rewards at once, they are columns
        info.setdefault(LAST_TURN, columns.get(LAST_TURN))
        info["num_turns"] = columns.get("__num_turns__")
        if several_turns(info):
            marked = str(self.tokenizer.decode(ids, skip_special_tokens=False))
            last = last_turn(marked)
            # The same if the template marks no other turns: then nobody knows whose words these are
            if last != without_end_markers(marked):
                info[LAST_TURN] = last
        said = str(self.tokenizer.decode(ids, skip_special_tokens=True))
        task, output = pair_of(str(columns["data_source"]), said, columns["reward_model"]["ground_truth"], info)
        uid = id_text(columns.get("uid"))
        return (task.model_copy(update={"task_id": uid}) if uid else task), output

    async def _ranked(self, uid: str, pair: Pair) -> tuple[Judgement, list[Judgement]]:
        """The verdict on a sample, and those on its group."""
        group, place = await self._joined(uid, pair, self._judge.ajudge_group)
        try:
            async with asyncio.timeout(self._seconds):
                found = await asyncio.shield(group.judged)
        except TimeoutError as exc:
            if len(group.held) < self._size:
                self._groups.pop(uid, None)
                raise DeadlineError(
                    f"{len(group.held)} of the {self._size} samples of group {uid!r} came within {self._seconds:g} s, "
                    f"and {self._judge.name} ranks whole groups",
                    judge=self._judge.name,
                ) from exc
            # it came whole, and the judge bounds its own time
            found = await asyncio.shield(group.judged)
        return found[place], found

    async def _beside(self, uid: str, judgement: Judgement) -> list[Judgement]:
        """The verdicts on all samples of a group, among them `judgement`. If some samples do not come in time, the
        verdicts that came.
        """

        async def as_they_are(judgements: list[Judgement]) -> list[Judgement]:
            return judgements

        group, _ = await self._joined(uid, judgement, as_they_are)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(group.judged)
        except TimeoutError:
            self._groups.pop(uid, None)
            return group.held

    async def _joined(
        self, uid: str, mine: T, judged: Callable[[list[T]], Awaitable[list[Judgement]]]
    ) -> tuple[_Gathering[T], int]:
        """Add a sample to its group; the last sample to come lets `judged` judge the whole group. Returns the group,
        and the sample's position in it.
        """
        if not uid:
            raise JudgeError("the sample has no uid, which tells its group", judge=self._judge.name, cause=Cause.INPUT)
        group = self._groups.setdefault(uid, _Gathering([], asyncio.get_running_loop().create_future()))
        place = len(group.held)
        group.held.append(mine)
        if len(group.held) == self._size:
            del self._groups[uid]
            try:
                group.judged.set_result(await judged(group.held))
            # whatever it is, the others of the group must not wait for it
            except BaseException as exc:
                group.judged.set_exception(JudgeError(f"the group was not judged: {exc!r}", judge=self._judge.name))
                raise
        return group, place


def _group_size(config: Any) -> int:
    """How many samples of a prompt one reward worker sees.

    Raises:
        ConfigError: it does not see them all, or not at once.
    """
    rollout, workers = config.actor_rollout_ref.rollout, config.reward.num_workers
    size, validated = int(rollout.n), int(rollout.val_kwargs.n)
    at_once = int(config.data.train_batch_size) * size
    problem = None
    if workers != 1:
        problem = f"reward.num_workers: {workers} share a group: write 1"
    elif size < 2 or validated != size:
        problem = f"rollout.n is {size} and rollout.val_kwargs.n {validated}: write the same, 2 or more, for both"
    elif at_once > _CALLS_AT_ONCE:
        problem = (
            f"{at_once} samples of a step may wait for their groups at once, and a reward worker answers "
            f"{_CALLS_AT_ONCE}: data.train_batch_size times rollout.n must be no more"
        )
    if problem is not None:
        raise ConfigError(f"a judge that ranks, and group_facts, need whole groups: {problem}")
    return size
