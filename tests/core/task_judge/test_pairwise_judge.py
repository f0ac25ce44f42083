"""`judge: pairwise`: a group ranked by pairs in both orders; and the order in which a group is shown."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.graders.cost import Reckoner
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Body, Canned, JudgeServer, prompt_of

TASK = WorkflowTask(task=Task(main_query="Why does it rain?", task_id="t"))


def shown(body: Body) -> list[str]:
    return re.findall(r"\[BEGIN response \d+ \w+\]\n\S+ (.*)\n\[END", prompt_of(body))


def by_length(body: Body, attempt: int) -> Canned:
    """Ranks longer answers better."""
    texts = shown(body)
    order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
    return Canned(json.dumps({"reason": "longer", "rank": [order.index(index) + 1 for index in range(len(texts))]}))


def in_order(body: Body, attempt: int) -> Canned:
    """Prefers what is shown first."""
    return Canned(json.dumps({"reason": "first", "rank": list(range(1, len(shown(body)) + 1))}))


def pairwise(server: JudgeServer, **options: Any) -> Any:
    client = {"cache": False, "max_reasks": 0, "max_retries": 0}
    mine = {"model_name": "m", "base_url": server.url, "client": client, **options}
    return load_judge({"astuner": {"task_judge": {"judge": "pairwise", "llm": mine}}})


def outputs(texts: Sequence[str]) -> list[WorkflowOutput]:
    return [WorkflowOutput(metadata={"final_answer": text}) for text in texts]


@pytest.mark.parametrize(
    ("texts", "rewards", "calls"),
    [
        (["aa", "a"], [1.0, 0.0], 2),
        (["a", "aaaa", "aa", "aaa"], [0.0, 1.0, 1 / 3, 2 / 3], 12),
        (["a", "aa", "a"], [0.25, 1.0, 0.25], 2),
        (["a", "", "aa"], [0.5, 0.0, 1.0], 2),
        (["aa", "aa"], [0.5, 0.5], 0),
    ],
)
def test_a_group_is_ranked_by_the_share_of_pairs_that_each_wins(
    texts: list[str], rewards: list[float], calls: int
) -> None:
    with JudgeServer(by_length) as server:
        found = pairwise(server).compute_rewards(TASK, outputs(texts))
        assert [reward[0] for reward in found] == pytest.approx(rewards)
        assert len(server.bodies) == calls
        assert all(len(shown(body)) == 2 for body in server.bodies)


def test_a_judge_that_prefers_what_is_shown_first_finds_ties() -> None:
    with JudgeServer(in_order) as server:
        found = pairwise(server).compute_rewards(TASK, outputs(["aa", "b", "cccc"]))
    assert [reward[0] for reward in found] == [0.5, 0.5, 0.5]
    assert not any(reward[1] for reward in found)


def test_of_many_pairs_a_part_is_asked_about_in_which_each_answer_stands_as_often() -> None:
    with JudgeServer(by_length) as server:
        found = pairwise(server, most_pairs=24).compute_rewards(TASK, outputs(["a" * n for n in range(1, 13)]))
        asked = Counter(len(text) for body in server.bodies for text in shown(body))
        assert len(server.bodies) == 2 * 24
    assert set(asked.values()) == {8}
    assert found[11][0] > 0.8
    assert found[0][0] < 0.2


def test_an_estimate_counts_each_pair_in_both_orders() -> None:
    with JudgeServer(by_length) as server:
        inner = pairwise(server).inner
        assert inner.estimate(TASK, outputs(["a", "aa", "aaa", "aaaa"]), Reckoner()).most.calls == 12
        assert not server.bodies


@pytest.mark.parametrize(
    "options",
    [
        {"prompt": "Which is better? {query} {response}"},
        {"grader": "pairwise", "language": "zh"},
        {"compare": "group"},
        {"models": ["a", "b", "c"], "model_name": None},
    ],
)
def test_a_prompt_of_ones_own_a_jury_and_one_prompt_for_all_are_taken_too(options: dict[str, Any]) -> None:
    with JudgeServer(by_length) as server:
        found = pairwise(server, **options).compute_rewards(TASK, outputs(["a", "aaa", "aa"]))
    assert [reward[0] for reward in found] == [0.0, 1.0, 0.5]


@pytest.mark.parametrize("compare", ["group", "pairs"])
def test_the_place_in_a_group_is_worth_nothing(compare: str) -> None:
    """An answer that stood first in its group was shown first, and a judge may prefer what it is shown first."""
    texts = ["aa", "b", "cccc", "ddd"]
    with JudgeServer(in_order) as server:
        subject = pairwise(server, compare=compare, swap=False)
        rewards = [
            {text: reward[0] for text, reward in zip(order, subject.compute_rewards(TASK, outputs(order)), strict=True)}
            for order in (texts, texts[::-1], [texts[2], texts[0], texts[3], texts[1]])
        ]
    assert rewards[0] == rewards[1] == rewards[2]


def test_answers_that_cannot_be_judged_share_the_last_place_however_many_there_are() -> None:
    """Two overlong answers tied, and each got half a win. One without content earns the least, as it does alone."""
    with JudgeServer(by_length) as server:
        texts = ["x" * 130_000, "a", "y" * 130_000, "aaa", " ", "aa"]
        found = pairwise(server).compute_rewards(TASK, outputs(texts))
        assert len(server.bodies) == 2 * 3
    rewards = [reward[0] for reward in found]
    assert rewards == pytest.approx([0.2, 0.6, 0.2, 1.0, 0.0, 0.8])


def test_answers_that_a_pair_finds_at_fault_share_the_last_place() -> None:
    def breaks(body: Body, attempt: int) -> Canned:
        return Canned("prose") if any("break" in text for text in shown(body)) else by_length(body, attempt)

    with JudgeServer(breaks) as server:
        found = pairwise(server).compute_rewards(TASK, outputs(["break it", "a", "I break", "aaa"]))
    assert [reward[0] for reward in found] == pytest.approx([1 / 6, 2 / 3, 1 / 6, 1.0])


def test_two_answers_that_break_the_judge_only_together_take_no_verdict_away() -> None:
    """Two long answers that the endpoint took one by one, and not together, cost their whole group its verdict."""

    def breaks(body: Body, attempt: int) -> Canned:
        long = sum(text.startswith("long") for text in shown(body)) == 2
        return Canned(status=400, text="too long") if long else by_length(body, attempt)

    with JudgeServer(breaks) as server:
        found = pairwise(server).compute_rewards(TASK, outputs(["long 1", "a", "long 22", "aa"]))
        assert [reward[0] for reward in found] == pytest.approx([5 / 6, 0.0, 5 / 6, 1 / 3])
        found = pairwise(server).compute_rewards(TASK, outputs(["long 1", "long 22", "a"]))
        assert [reward[0] for reward in found] == [0.75, 0.75, 0.0]
        with pytest.raises(JudgeError, match="no pair can be compared"):
            pairwise(server).compute_rewards(TASK, outputs(["long 1", "long 22", "long 3"]))


def test_an_answer_that_breaks_the_judge_beside_every_other_one_is_last() -> None:
    def breaks(body: Body, attempt: int) -> Canned:
        alone = any("I do not know" in text for text in shown(body))
        broken = any("break" in text for text in shown(body)) and not alone
        return Canned(status=400, text="too long") if broken else by_length(body, attempt)

    with JudgeServer(breaks) as server:
        found = pairwise(server).compute_rewards(TASK, outputs(["a", "break it", "aa"]))
    assert [reward[0] for reward in found] == [0.5, 0.0, 1.0]


def test_a_comparison_that_breaks_only_where_an_answer_would_lose_is_lost_by_it() -> None:
    """It had won each comparison that counted, and shared the first place."""

    def breaks(body: Body, attempt: int) -> Canned:
        texts = shown(body)
        loses = "sly" in texts and any(len(text) > 3 and "not know" not in text for text in texts)
        if loses:
            return Canned("I weigh and weigh", finish="length")
        rank = [1 + ("not know" in text or len(text) < 3) for text in texts]
        return Canned(json.dumps({"reason": "r", "rank": rank})) if "sly" in texts else by_length(body, attempt)

    with JudgeServer(breaks) as server:
        found = pairwise(server).compute_rewards(TASK, outputs(["a", "sly", "a good answer", "the best answer"]))
    assert [reward[0] for reward in found] == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])


def test_to_beat_an_answer_at_fault_is_worth_nothing() -> None:
    """Of a part of the pairs, the neighbours of answers that break the judge won theirs for nothing."""

    def breaks(body: Body, attempt: int) -> Canned:
        return Canned("prose") if any("break" in text for text in shown(body)) else by_length(body, attempt)

    texts = ["a" * n for n in range(1, 6)]
    with JudgeServer(breaks) as server:
        found = pairwise(server, most_pairs=9).compute_rewards(
            TASK, outputs([*texts, *(f"break {n}" for n in range(4))])
        )
    rewards = [reward[0] for reward in found]
    assert max(rewards[5:]) < min(rewards[:5])
    assert rewards[0] <= min(rewards[1:5])
