"""ms-swift 4: a reward function for `--external_plugins my_rewards.py --reward_funcs math_judge`.

A file of three lines, `my_rewards.py`:

    from swift.rewards import orms
    from agentscope_tuner.adapters.ms_swift import orm
    orms["math_judge"] = orm("configs/math.yaml")

`async_orm` is the same for judges that wait for a model. A failed verdict raises, which ends the step: ms-swift sums
with nansum and masks nothing, so a missing reward would count as 0, whether there is one reward function or several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.adapters.rollout import current_step, places_by, rows_of
from agentscope_tuner.errors import config_fault
from agentscope_tuner.records.formats.sample import as_rollout, policys_turns, reference_of
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, judge_for, located
from agentscope_tuner.task_judge.contract.judgement import Judgement

# Keys that ms-swift adds to the columns of the data set
_SWIFT_ONLY = frozenset(
    {"messages", "prompt_id", "request_id", "response_token_ids", "rollout_infos", "is_truncated", "finish_reason"}
    | {"trajectory_inputs"}
)


def async_orm(config: str | Path) -> Callable[..., Any]:
    """`orm` as ms-swift's AsyncORM: awaited together with its other async reward functions.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    path = located(config)
    return type(judge_for(path).name, (_AsyncReward,), {"path": path})


def orm(config: str | Path) -> Callable[..., Any]:
    """The entry for `orms[name]`: ms-swift calls it with `args=` and gets the reward function. Its class has the
    judge's name, which ms-swift logs.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    path = located(config)
    return type(judge_for(path).name, (_Reward,), {"path": path})


class _Reward:
    """ms-swift's reward function for the judge at `path`."""

    path = ""

    def __init__(self, args: Any = None, **swift_only: object) -> None:
        found = (getattr(args, key, None) for key in ("num_generations", "num_generations_eval"))
        self._sizes = {size for size in found if isinstance(size, int)}

    def __call__(self, completions: Sequence[str], **columns: Any) -> list[float]:
        """One reward for each completion, in order.

        Args:
            completions: the text of each last message.
            columns: each holds one value for each completion. `messages` holds the prompt and the policy's messages;
                the data set's columns become `task.metadata`.

        Raises:
            JudgeError: no verdict on one completion, unless `on_error: zero` was configured.
        """
        judge, pairs, rows = self._asked(completions, columns)
        judgements = self._ranked(judge, pairs, rows) if judge.listwise else judge.judge_batch(pairs)
        return [judge.reward_or_raise(judgement) for judgement in judgements]

    def _asked(
        self, completions: Sequence[str], columns: Mapping[str, Any]
    ) -> tuple[ConfiguredJudge, list[Pair], list[dict[str, Any]]]:
        judge = judge_for(self.path)
        judge.step = current_step(columns.get("trainer_state"))
        # arguments that are no column of the batch, such as `trainer_state`, are no lists; a column may be an array
        lists = {
            key: values
            for key, values in columns.items()
            if hasattr(values, "__len__") and not isinstance(values, str | bytes | Mapping)
        }
        rows = rows_of(lists, len(completions))
        return judge, [pair_of(completion, row) for completion, row in zip(completions, rows, strict=True)], rows

    def _ranked(
        self, judge: ConfiguredJudge, pairs: Sequence[Pair], rows: Sequence[Mapping[str, Any]]
    ) -> list[Judgement]:
        verdicts: dict[int, Judgement] = {}
        named = (row.get("prompt_id") or pair[0].task_id for row, pair in zip(rows, pairs, strict=True))
        for places in places_by(named):
            if len(places) == 1 or (self._sizes and len(places) not in self._sizes):
                raise config_fault(
                    f"{judge.name} ranks whole groups, and got {len(places)} completions of a prompt instead of "
                    f"{sorted(self._sizes) or 'several'}: per_device_train_batch_size must be whole groups"
                )
            found = judge.judge_group([pairs[place] for place in places])
            verdicts.update(zip(places, found, strict=True))
        return [verdicts[place] for place in range(len(pairs))]


class _AsyncReward(_Reward):
    """The async form of `_Reward`: ms-swift recognises it by its coroutine."""

    async def __call__(self, completions: Sequence[str], **columns: Any) -> list[float]:  # type: ignore[override]
        """As `_Reward.__call__`."""
        judge, pairs, rows = self._asked(completions, columns)
        if judge.listwise:
            # Ranking is a call that blocks
            judgements = await loops.in_thread(self._ranked, judge, pairs, rows)
        else:
            judgements = await judge.ajudge_batch(pairs)
        return [judge.reward_or_raise(judgement) for judgement in judgements]


def pair_of(completion: str, row: Mapping[str, Any]) -> Pair:
    """A completion as a task and an output.

    Args:
        completion: the text of the last message.
        row: the completion's values of all columns; `messages` holds the prompt and the policy's messages.
    """
    messages = [dict(message) for message in row.get("messages") or []]
    told = row.get("rollout_infos")
    turns = told.get("num_turns") if isinstance(told, Mapping) else None
    prompt = messages[: policys_turns(messages, turns if isinstance(turns, int) else 0)]
    if messages and messages[-1].get("role") != "assistant":
        # ms-swift hands over the last message, whoever wrote it: a tool's words are not the policy's answer
        completion = ""
    metadata = {key: value for key, value in row.items() if key not in _SWIFT_ONLY}
    task, output = as_rollout(prompt, completion, {**metadata, **reference_of(metadata)})
    output.metadata["messages"] = messages[len(prompt) :]
    return task, output
