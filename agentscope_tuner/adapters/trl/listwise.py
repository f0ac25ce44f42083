"""Whole advantage groups for judges that rank, also where several processes share a group."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Any

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair
from agentscope_tuner.task_judge.judgement import Judgement

Group = list[int]


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
    found: dict[Hashable, Group] = {}
    for place, pair in enumerate(pairs):
        found.setdefault(_prompt(pair), []).append(place)
    return list(found.values())


def refusals(pairs: Sequence[Pair], groups: Sequence[Group]) -> list[str | None]:
    """For each group, why it must not be ranked; None where it may be."""
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
    if ranks is None:
        groups = groups_of(pairs, size)
        verdicts = _judged(judge, pairs, groups, refusals(pairs, groups))
        return [verdicts[place] for place in range(len(pairs))]
    world, rank = ranks.get_world_size(), ranks.get_rank()
    everyones: list[list[Pair]] = [[] for _ in range(world)]
    ranks.all_gather_object(everyones, list(pairs))
    whole = [pair for theirs in everyones for pair in theirs]
    first = sum(len(theirs) for theirs in everyones[:rank])
    groups = groups_of(whole, size)
    mine = own_groups(groups, first, first + len(pairs))
    reasons = refusals(whole, groups)
    shares: list[dict[int, Judgement]] = [{} for _ in range(world)]
    ranks.all_gather_object(shares, _judged(judge, whole, [groups[g] for g in mine], [reasons[g] for g in mine]))
    merged = {place: judgement for theirs in shares for place, judgement in theirs.items()}
    return [merged[place] for place in range(first, first + len(pairs))]


def own_groups(groups: Sequence[Group], first: int, end: int) -> list[int]:
    """The numbers of the groups that begin at `first` or later and before `end`."""
    return [number for number, group in enumerate(groups) if first <= group[0] < end]


def _judged(
    judge: ConfiguredJudge, pairs: Sequence[Pair], groups: Sequence[Group], reasons: Sequence[str | None]
) -> dict[int, Judgement]:
    verdicts: dict[int, Judgement] = {}
    for group, reason in zip(groups, reasons, strict=True):
        own = [pairs[place] for place in group]
        found = judge.judge_group(own) if reason is None else [refused(judge, pair, reason) for pair in own]
        verdicts.update(zip(group, found, strict=True))
    return verdicts


async def ajudge_groups(judge: ConfiguredJudge, pairs: Sequence[Pair], size: int | None) -> list[Judgement]:
    """`judge_groups` of a single process, for callers inside an event loop."""
    verdicts: dict[int, Judgement] = {}
    groups = groups_of(pairs, size)
    for group, reason in zip(groups, refusals(pairs, groups), strict=True):
        own = [pairs[place] for place in group]
        found = await judge.ajudge_group(own) if reason is None else [refused(judge, pair, reason) for pair in own]
        verdicts.update(zip(group, found, strict=True))
    return [verdicts[place] for place in range(len(pairs))]


def refused(judge: ConfiguredJudge, pair: Pair, reason: str) -> Judgement:
    """A failed verdict on a pair that the judge is not asked about."""
    return Judgement.failed(JudgeError(reason, task_id=pair[0].task_id, judge=judge.name, cause=Cause.INPUT))


def _prompt(pair: Pair) -> Hashable:
    task = pair[0].task
    return repr(task.init_messages) if task.init_messages else task.main_query
