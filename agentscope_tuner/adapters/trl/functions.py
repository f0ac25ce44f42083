"""One judge as a reward function of TRL, sync and async, and what a trainer gets where a verdict failed.

Which trainer calls, and how it treats a missing reward, is read in TRL 1.16.0. GRPO, RLOO and AsyncGRPO leave a
completion out when no reward function scored it, and count a missing reward as 0 when another function did. OnlineDPO
and SDPO count every missing reward as 0. A2PO takes no missing reward: its tensor of rewards refuses None.

Judges that rank get whole advantage groups, also where several processes share a group.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from agentscope_tuner._run import loops
from agentscope_tuner.adapters.rollout import (
    LAST_TURN,
    FailingRun,
    batch_metrics,
    current_step,
    group_metrics,
    places_by,
    rows_of,
)
from agentscope_tuner.config import Source
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, called_so, config_fault
from agentscope_tuner.records.formats.sample import Prompt, as_rollout, last_turn, reference_of, without_end_markers
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, located, read_or_unread
from agentscope_tuner.task_judge.contract.judgement import Judgement

LogMetric = Callable[[str, float], None]
LogExtra = Callable[[str, list[Any]], None]

# The first TRL release whose GRPO and RLOO leave out a completion without a score
_LEAVES_OUT_SINCE = (1, 10)


class NamedFunction(Protocol):
    """A reward function of this package: TRL logs it under its `__name__`."""

    __name__: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The trainer behind one call of a reward function.

    Attributes:
        group_size: completions of one prompt, side by side in the batch; None if the call does not show it.
        beside: names of the trainer's other reward functions, if the called one counts.
        leaves_none_out: whether a completion without any score is left out of the advantages.
        trains: whether the run trains on the called function's rewards: not in an evaluation, nor with weight 0.
    """

    group_size: int | None
    beside: tuple[str, ...]
    leaves_none_out: bool
    trains: bool = True

    @property
    def leaves_out(self) -> bool:
        """Whether a completion without a reward of the called function is left out, and does not count as 0."""
        return self.leaves_none_out and not self.beside

    def rewards_or_raise(self, name: str, rewards: Sequence[float | None], errors: Sequence[str]) -> list[float | None]:
        """The rewards; raises where the trainer would count a missing reward as 0.

        Args:
            name: the reward function's name.
            rewards: one for each completion, None without a verdict.
            errors: why there is no verdict, at least for the first such completion.

        Raises:
            JudgeError: a verdict failed, and the trainer would count it as 0.
        """
        if not (failed := sum(reward is None for reward in rewards)) or self.leaves_out:
            return list(rewards)
        why = next((error for error in errors if error), "no reason given")
        if self.beside:
            raise JudgeError(
                f"{name} has no verdict on {failed} of {len(rewards)} completions, and beside {', '.join(self.beside)} "
                f"TRL would count that as 0: give the trainer one adapters.trl.combined([...], weights=[...]). {why}"
            )
        raise JudgeError(
            f"{name} has no verdict on {failed} of {len(rewards)} completions, and this trainer counts a missing "
            f"reward as 0 (OnlineDPO and SDPO do, and GRPO before TRL 1.10). {why}"
        )


def caller_of(function: NamedFunction, trainer_state: object, log_metric: LogMetric | None) -> Caller:
    """The calling trainer, known by the arguments that it gives its reward functions.

    GRPO and RLOO lend their own method as `log_metric`, which leads to the trainer. OnlineDPO and SDPO give their state
    and no `log_metric`; AsyncGRPO gives neither, and so does a call by the user.
    """
    trainer = getattr(log_metric, "__self__", None)
    if not isinstance(getattr(trainer, "reward_funcs", None), list):
        counts_as_zero = log_metric is None and type(trainer_state).__name__ == "TrainerState"
        return Caller(None, (), not counts_as_zero)
    training = bool(getattr(getattr(trainer, "model", None), "training", True))
    size = getattr(trainer, "num_generations" if training else "num_generations_eval", None)
    group_size = size if isinstance(size, int) and size > 0 else None
    trains = training and not _looks_on(function, trainer)
    return Caller(group_size, _beside(function, trainer), _release() >= _LEAVES_OUT_SINCE, trains)


def check_reward_funcs(trainer: object) -> None:
    """Warn where a judge's bare reward function stands beside others in `trainer`; call it when the trainer is built.

    Under GRPO and RLOO the first batch warns as well. In AsyncGRPO a reward function does not see the others, so
    there only this check can warn.
    """
    # AsyncGRPO keeps the reward functions in its rollout worker
    holder = trainer if hasattr(trainer, "reward_funcs") else getattr(trainer, "rollout_worker", None)
    for function in getattr(holder, "reward_funcs", ()):
        if getattr(function, "may_fail", False):
            warn_beside(function.__name__, _beside(function, holder))


def warn_beside(name: str, beside: Sequence[str]) -> None:
    """Warn that beside other reward functions a failed verdict of `name` counts as 0."""
    if beside:
        warnings.warn(
            f"the reward function {name} stands beside {', '.join(beside)}: TRL sums what they answer and counts a "
            "missing part as 0, so a failed verdict will end training. "
            "Give the trainer one adapters.trl.combined([...], weights=[...]) instead",
            stacklevel=2,
        )


def _beside(function: NamedFunction, trainer: Any) -> tuple[str, ...]:
    functions = list(getattr(trainer, "reward_funcs", ()))
    if _looks_on(function, trainer):
        return ()
    # The names include environments that give rewards
    named = list(getattr(trainer, "reward_func_names", ())) or [name_of(other) for other in functions]
    if places := [place for place, other in enumerate(functions) if other is function]:
        return tuple(name for place, name in enumerate(named) if place != places[0])
    # A function of the user's own calls it, as partial does: which of them is not told
    return tuple(named) if len(named) > 1 else ()


def _looks_on(function: NamedFunction, trainer: Any) -> bool:
    """Whether the trainer gives the function the weight 0, so that it adds 0 with or without a verdict."""
    weights = getattr(trainer, "reward_weights", None)
    places = [place for place, other in enumerate(getattr(trainer, "reward_funcs", ())) if other is function]
    return bool(places) and weights is not None and float(weights[places[0]]) == 0.0


def name_of(function: object) -> str:
    """The name under which a reward function is logged."""
    own = getattr(function, "__name__", None)
    # functools.partial has no name: take the name of the function inside
    return own or getattr(getattr(function, "func", None), "__name__", None) or type(function).__name__


def _release() -> tuple[int, ...]:
    """The numbers of the installed TRL's version. TRL is loaded already, since one of its trainers calls."""
    version = getattr(sys.modules.get("trl"), "__version__", "")
    numbers = [part for part in version.split(".")[:2] if part.isdigit()]
    # A build without a version is the user's own
    return tuple(int(part) for part in numbers) or _LEAVES_OUT_SINCE


Group = list[int]
T = TypeVar("T")


def process_group() -> Any:
    """`torch.distributed` where several ranks train together, else None."""
    # Looked up, not imported: if torch is not loaded there is no process group, and the import takes seconds
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return None
    return torch.distributed if torch.distributed.get_world_size() > 1 else None


def groups_of(pairs: Sequence[Pair], size: int | None) -> list[Group]:
    """The advantage groups of a batch, each as the places of its completions.

    Args:
        pairs: the whole batch, of all ranks in order.
        size: how many completions of a prompt the trainer puts side by side. If it is None, or the batch is no multiple
            of it, the completions of one prompt are a group, wherever they stand. Columns do not tell groups apart,
            since some of them are made per completion.
    """
    if size is not None and len(pairs) % size == 0:
        return [list(range(start, start + size)) for start in range(0, len(pairs), size)]
    return places_by(map(_prompt, pairs))


def refusals(pairs: Sequence[Pair], groups: Sequence[Group]) -> list[str | None]:
    """For each group, the reason why it must not be ranked, or None if it may be."""
    named: dict[str, set[Hashable]] = {}
    for pair in pairs:
        if pair[0].task.metadata.get("task_id") not in (None, ""):
            named.setdefault(pair[0].task_id, set()).add(_prompt(pair))
    return [_refusal(pairs, group, named) for group in groups]


def _refusal(pairs: Sequence[Pair], group: Group, named: dict[str, set[Hashable]]) -> str | None:
    if len(group) == 1:
        return "a judge that ranks needs a group, and this prompt has one completion: set num_generations to 2 or more"
    if len({_prompt(pairs[place]) for place in group}) > 1:
        return f"the trainer's group of {len(group)} completions holds several prompts, which cannot be ranked together"
    shared = next((pairs[place][0].task_id for place in group if len(named.get(pairs[place][0].task_id, ())) > 1), None)
    return None if shared is None else f"two prompts share the task_id {shared!r}: give each task an id of its own"


def judge_groups(judge: ConfiguredJudge, pairs: Sequence[Pair], size: int | None) -> list[Judgement]:
    """A verdict for each pair of this rank. The rank that holds a group's first completion judges all of it."""
    ranks = process_group()
    everyones = [list(pairs)] if ranks is None else _gathered(ranks, list(pairs))
    rank = 0 if ranks is None else ranks.get_rank()
    whole = [pair for theirs in everyones for pair in theirs]
    first = sum(len(theirs) for theirs in everyones[:rank])
    groups = groups_of(whole, size)
    reasons = refusals(whole, groups)
    verdicts: dict[int, Judgement] = {}
    for number in own_groups(groups, first, first + len(pairs)):
        own, reason = [whole[place] for place in groups[number]], reasons[number]
        found = judge.judge_group(own) if reason is None else [refused(judge, pair, reason) for pair in own]
        verdicts.update(zip(groups[number], found, strict=True))
    for theirs in [] if ranks is None else _gathered(ranks, verdicts):
        verdicts |= theirs
    return [verdicts[place] for place in range(first, first + len(pairs))]


def _gathered(ranks: Any, mine: T) -> list[T]:
    """The objects of all ranks, in the order of the ranks; `mine` is that of this rank."""
    found: list[Any] = [None] * ranks.get_world_size()
    ranks.all_gather_object(found, mine)
    return found


def own_groups(groups: Sequence[Group], first: int, end: int) -> list[int]:
    """The numbers of the groups that begin at `first` or later and before `end`."""
    return [number for number, group in enumerate(groups) if first <= group[0] < end]


def refused(judge: ConfiguredJudge, pair: Pair, reason: str) -> Judgement:
    """A failed verdict on a pair that the judge is not asked about."""
    return Judgement.failed(JudgeError(reason, task_id=pair[0].task_id, judge=judge.name, cause=Cause.INPUT))


def _prompt(pair: Pair) -> Hashable:
    task = pair[0].task
    return repr(task.init_messages) if task.init_messages else task.main_query


Rewards = list[float | None]
_CALL = "it as TRL does, by names: f(prompts=[…], completions=[…], answer=[…])"
_COLUMNS = f" (prompts and completions are the first two arguments): write {_CALL}"


class _JudgeFunc:
    """A picklable callable. TRL logs it under its `__name__`, which is the judge's name.

    Logged over a batch, each under `<name>/`: the metrics of `batch_metrics`. The completions table gets a column of
    reasons.

    Args:
        config: a YAML file's path, or a configuration already read.
        stop_when_failing: whether a run without verdicts is stopped; see `FailingRun`.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    #: Marks a function whose failed verdict TRL counts as 0 beside other functions: see `check_reward_funcs`.
    may_fail = True

    @called_so("reward_func('judge.yaml'), and give the trainer what it returns")
    def __init__(self, config: Source, *, stop_when_failing: bool = True) -> None:
        # Absolute, because the other process may have another working directory
        self._config = located(config) if isinstance(config, str | Path) else config
        self._judge = ConfiguredJudge(self._config)
        self.stop_when_failing = stop_when_failing
        self._run = FailingRun(self._judge.name, self._judge.reference_keys, stops=stop_when_failing, call=_COLUMNS)
        self._warned = False
        self.__name__ = self._judge.name

    def __reduce__(self) -> tuple[Any, ...]:
        # A judge may hold pools and connections, so the other process loads its own judge
        again = partial(type(self), stop_when_failing=self.stop_when_failing)
        return again, (self._config,), {"__name__": self.__name__}

    def _begun(
        self,
        prompts: Sequence[Prompt],
        completions: Sequence[Prompt],
        completion_ids: Any,
        *,
        trainer_state: object = None,
        environments: Sequence[object] | None = None,
        log_metric: LogMetric | None = None,
        log_extra: LogExtra | None = None,
        **columns: Sequence[Any],
    ) -> tuple[list[Pair], Caller, Callable[[Sequence[Judgement]], Rewards]]:
        """The pairs to judge, the trainer that calls, and a function that turns the pairs' verdicts into rewards."""
        caller = caller_of(self, trainer_state, log_metric)
        self.at_step(trainer_state)
        if not self._warned:
            self._warned = True
            warn_beside(self.__name__, caller.beside)

        def answer(judgements: Sequence[Judgement]) -> Rewards:
            logged = self.log(judgements, log_metric, log_extra, caller.group_size)
            return caller.rewards_or_raise(self.__name__, *logged)

        said = last_turns(completions, completion_ids, columns, log_metric)
        return pairs_of(prompts, said, columns, environments, caller.group_size), caller, answer

    def _counted(self, pairs: list[Pair], found: list[Judgement], caller: Caller) -> list[Judgement]:
        self._run.add(pairs, found, trains=caller.trains)
        return found if caller.leaves_out else [self._judge.settled(judgement) for judgement in found]

    def only_look_on(self) -> None:
        """Make this function log its failures without stopping the run, as for a part of weight 0."""
        self._run = FailingRun(self._judge.name, stops=False)

    def at_step(self, trainer_state: object) -> None:
        """Set the step that the next verdicts are logged with."""
        self._judge.step = current_step(trainer_state)

    def log(
        self,
        judgements: Sequence[Judgement],
        log_metric: LogMetric | None,
        log_extra: LogExtra | None,
        group_size: int | None,
    ) -> tuple[Rewards, list[str]]:
        """The rewards, and for each verdict why it failed; empty if it did not.

        The batch's metrics and reasons go to the loggers. So do the shares of groups that teach nothing, such as those
        with all answers right, if the batch consists of whole groups.

        A reward without a verdict is None, which TRL leaves out of the advantages, or 0.0 where `on_error: zero` was
        asked for by name.
        """
        if log_metric is not None:
            whole = group_size is not None and len(judgements) % group_size == 0
            starts = range(0, len(judgements), group_size) if whole and group_size else ()
            groups = [judgements[start : start + (group_size or 0)] for start in starts]
            for metric, value in {**batch_metrics(judgements), **group_metrics(groups)}.items():
                log_metric(f"{self.__name__}/{metric}", value)
        if log_extra is not None:
            log_extra(f"{self.__name__}/reason", [judgement.error or judgement.reason for judgement in judgements])
        rewards = [self._judge.reward(judgement) for judgement in judgements]
        return rewards, [judgement.error or "" for judgement in judgements]


def _check_ids(completion_ids: object) -> None:
    """Refuse a column in the place of the tokens: its answers would not be seen.

    Raises:
        TypeError: the first completion has no list for its tokens, but a text or a number.
    """
    first = completion_ids[:1] if isinstance(completion_ids, list | tuple) else [completion_ids]
    if completion_ids is not None and any(isinstance(one, str) or not hasattr(one, "__len__") for one in first):
        raise TypeError(
            f"the third argument is completion_ids, lists of tokens, got {completion_ids!r:.100}: write {_CALL}"
        )


class RewardFunc(_JudgeFunc):
    """A reward function for TRL; sync, so TRL calls it on the main thread of each rank."""

    @called_so(_CALL)
    def __call__(
        self, prompts: Sequence[Prompt], completions: Sequence[Prompt], completion_ids: object = None, **given: Any
    ) -> Rewards:
        """One reward for each completion, in order; None for a failed verdict.

        Args:
            prompts: texts, or lists of chat messages.
            completions: likewise; the final answer is the text, or the last message when the assistant wrote it.
            completion_ids: the completions' tokens, which tell turns apart where a `rollout_func` played several.
            given: `trainer_state`, which tells which trainer calls; `environments`, one for each completion where TRL
                ran an `environment_factory`: the judge's `gym_env`; `log_metric` and `log_extra`, which take the
                metrics and reasons of this batch. All others are the dataset's columns, one value for each completion,
                and become `task.metadata`.

        Raises:
            JudgeError: a verdict failed, and the trainer would count a missing reward as 0; or the run is stopped.
        """
        _check_ids(completion_ids)
        pairs, caller, answer = self._begun(prompts, completions, completion_ids, **given)
        return answer(self.judgements(pairs, caller))

    def judgements(self, pairs: list[Pair], caller: Caller) -> list[Judgement]:
        """A verdict each, in order.

        Raises:
            JudgeError: the run has no verdicts, and is stopped.
        """
        listwise = self._judge.listwise
        found = judge_groups(self._judge, pairs, caller.group_size) if listwise else self._judge.judge_batch(pairs)
        return self._counted(pairs, found, caller)


class AsyncRewardFunc(_JudgeFunc):
    """The async form of `RewardFunc`: TRL runs it on a loop of its own, together with other async reward functions."""

    async def __call__(
        self, prompts: Sequence[Prompt], completions: Sequence[Prompt], completion_ids: object = None, **given: Any
    ) -> Rewards:
        """As `RewardFunc.__call__`.

        Raises:
            JudgeError: a verdict failed, and the trainer would count a missing reward as 0.
            ConfigError: a listwise judge over several ranks, whose exchange of groups must not leave the main thread.
        """
        _check_ids(completion_ids)
        pairs, caller, answer = self._begun(prompts, completions, completion_ids, **given)
        return answer(await self.judgements(pairs, caller))

    async def judgements(self, pairs: list[Pair], caller: Caller) -> list[Judgement]:
        """As `RewardFunc.judgements`."""
        if not self._judge.listwise:
            found = await self._judge.ajudge_batch(pairs)
        elif process_group() is not None:
            raise ConfigError(
                f"{self._judge.name} ranks whole groups, which ranks share: use reward_func, not its twin"
            )
        else:
            # Ranking is a call that blocks
            found = await loops.in_thread(judge_groups, self._judge, pairs, caller.group_size)
        return self._counted(pairs, found, caller)


#: Under the names of TRL's own `reward_funcs`.
reward_func, async_reward_func = RewardFunc, AsyncRewardFunc


def last_turns(
    completions: Sequence[Prompt], completion_ids: Any, columns: Mapping[str, Sequence[Any]], log_metric: Any
) -> Sequence[Prompt]:
    """The completions. Of those in which a `rollout_func` played several turns, only the policy's last turn is kept.

    TRL makes one text of such turns, without the chat template's marks and with what tools said in it, and keeps the
    function's `env_mask` to itself. The last turn is what the function returned as `astuner_last_turn`, else what
    follows the last mark of another's turn in the tokens. A completion of neither a message nor a token is a rollout
    that failed: AsyncGRPO's harness makes one of each, to be left out.

    Raises:
        JudgeError: others wrote some of the tokens, and nothing shows which.
    """
    count = len(completions)
    if isinstance(completion_ids, Sequence) and len(completion_ids) == count:
        failed = [said == [] and not len(ids) for said, ids in zip(completions, completion_ids, strict=True)]
        completions = [_NO_ROLLOUT if gone else said for gone, said in zip(failed, completions, strict=True)]
    if (named := columns.get(LAST_TURN)) is not None:
        turns = [row[LAST_TURN] for row in rows_of({LAST_TURN: named}, count)]
        return [turn if isinstance(turn, str) else said for turn, said in zip(turns, completions, strict=True)]
    trainer: Any = getattr(log_metric, "__self__", None)
    if getattr(trainer, "rollout_func", None) is None or completion_ids is None:
        return completions
    tokens = [row["ids"] for row in rows_of({"ids": completion_ids}, count)]
    marked = trainer.processing_class.batch_decode(tokens, skip_special_tokens=False)
    turns = [last_turn(text) for text in marked]
    # A completion of one turn is its own last turn
    one = [turn == without_end_markers(text) for turn, text in zip(turns, marked, strict=True)]
    if all(one) and _holds_others(trainer, tokens):
        raise config_fault(
            "the rollout_func masked what others wrote in the completions, TRL hands them over as one text, and the "
            f"judge needs the policy's last turn alone: let the function return it as {LAST_TURN!r}, a list of texts"
        )
    return [said if alone else turn for said, turn, alone in zip(completions, turns, one, strict=True)]


# Takes the place of the completion of a rollout that failed
_NO_ROLLOUT: Any = object()


def _read(prompt: Prompt, completion: Any, **more: Any) -> Pair:
    if completion is _NO_ROLLOUT:
        raise JudgeError("the rollout failed: its completion has neither a message nor a token", cause=Cause.ROLLOUT)
    return as_rollout(prompt, completion, **more)


def _holds_others(trainer: Any, tokens: Sequence[Sequence[int]]) -> bool:
    """Whether the completions hold tokens that the policy did not write: TRL has just logged fewer of its tokens than
    there are.

    Over several ranks only the largest number of one completion can be compared.
    """
    what = "mean" if process_group() is None else "max"
    mode = "train" if trainer.model.training else "eval"
    logged = getattr(trainer, "_metrics", {}).get(mode, {}).get(f"completions/{what}_length")
    sizes = [len(ids) for ids in tokens]
    here = sum(sizes) / max(len(sizes), 1) if what == "mean" else max(sizes, default=0)
    return bool(logged) and here > logged[-1] + 0.5 / max(len(sizes), 1)


def pairs_of(
    prompts: Sequence[Prompt],
    completions: Sequence[Prompt],
    columns: Mapping[str, Sequence[Any]],
    environments: Sequence[object] | None = None,
    group_size: int | None = None,
) -> list[Pair]:
    """The batch as tasks and outputs.

    A column that differs within a group, as those of a `rollout_func` do, is no part of the task's id. A row that
    cannot be read has an `UnreadOutput`.

    Raises:
        JudgeError: something has more or fewer values than there are completions; see `rows_of`.
    """
    count = len(completions)
    envs = [None] * count if environments is None else environments
    own = rows_of({"prompts": prompts, "completions": completions, "environments": envs}, count)
    rows = rows_of({name: column for name, column in columns.items() if name != LAST_TURN}, count)
    whole = group_size is not None and count % group_size == 0
    groups = [rows[start : start + group_size] for start in range(0, count, group_size)] if whole and group_size else []
    differs = {name for group in groups for name in rows[0] if len({repr(row[name]) for row in group}) > 1}
    pairs = []
    for given, row in zip(own, rows, strict=True):
        metadata = {**row, **reference_of(row)}
        shared = {name: value for name, value in metadata.items() if name not in differs}
        read = partial(_read, given["prompts"], metadata=metadata, gym_env=given["environments"], shared=shared)
        pairs.append(read_or_unread(read, given["completions"]))
    return pairs
