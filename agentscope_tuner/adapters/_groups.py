"""What an advantage group tells a trainer: whether there is anything to learn from it.

Decided by success, never by a shaped reward: groups filtered by a score that length or format moves are kept or dropped
for the wrong reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from agentscope_tuner.task_judge.contract.judgement import Judgement


def why_useless(judgements: Sequence[Judgement]) -> str | None:
    """Why a group teaches nothing: `no_verdict` on one of its samples, `all_right`, `all_wrong`, or `zero_spread`, all
    rewards being equal; None for a group to learn from.
    """
    if not judgements or any(judgement.reward is None for judgement in judgements):
        return "no_verdict"
    successes = {bool(judgement.is_success) for judgement in judgements}
    if len({judgement.reward for judgement in judgements}) == 1:
        return "zero_spread" if len(successes) > 1 else ("all_right" if successes == {True} else "all_wrong")
    return None


def group_metrics(groups: Sequence[Sequence[Judgement]]) -> dict[str, float]:
    """The shares of groups that teach nothing, by reason: `groups/all_right`, `groups/all_wrong`, `groups/zero_spread`
    and `groups/no_verdict`; none without groups.
    """
    found = [why_useless(group) for group in groups]
    reasons = ("all_right", "all_wrong", "zero_spread", "no_verdict")
    return {f"groups/{reason}": found.count(reason) / len(found) for reason in reasons} if found else {}


def places_by(keys: Iterable[Hashable]) -> list[list[int]]:
    """The places of equal keys, as one list for each key, in the order in which the keys first stand."""
    found: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return list(found.values())
