"""`keep_calls`: a judgement keeps what its judge models were asked and replied; of no other rollout, and bounded."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.graders.client.usage import MOST_CALLS, MOST_CHARS, record_call, recorded
from agentscope_tuner.graders.template import ChatMessage
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Canned, JudgeServer, always, verdict

TASK = WorkflowTask(task=Task(main_query="Why is the sky blue?", task_id="t1"))
POINTWISE = {"prompt": "Score from 1 to 5: {response}"}


def judge(url: str, *, keep: bool = True, client: Any = None, **llm: Any) -> TaskJudge:
    own = {"cache": False, "max_reasks": 0, "max_retries": 0, **(client or {})}
    mine = {"model_name": "m", "base_url": url, "client": own, **(llm or POINTWISE)}
    return load_judge({"astuner": {"task_judge": {"judge_type": "llm", "llm": mine, "keep_calls": keep}}})


def output(answer: str) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": answer})


def asked(judgement: Judgement) -> str:
    return "\n".join(message["content"] for call in judgement.calls for message in call["messages"])


def test_the_prompt_and_the_reply_are_kept_with_the_verdict() -> None:
    with JudgeServer(always(5)) as server:
        for one in (
            judge(server.url).judge(TASK, output("scattering")),
            asyncio.run(judge(server.url).ajudge(TASK, output("scattering"))),
        ):
            assert [(call["model"], call["reply"]) for call in one.calls] == [("m", verdict(5))]
            assert "scattering" in asked(one)
            kept = Judgement.from_dict(json.loads(json.dumps(one.to_dict())))
            assert kept is not None
            assert asked(kept) == asked(one)


def test_nothing_is_kept_unless_it_was_asked_for() -> None:
    with JudgeServer(always(5)) as server:
        judgement = judge(server.url, keep=False).judge(TASK, output("scattering"))
    assert judgement.calls == ()
    assert "calls" not in judgement.to_dict()


def test_of_a_group_each_verdict_has_its_own_call() -> None:
    with JudgeServer(always(3)) as server:
        found = judge(server.url).judge_group(TASK, [output(f"answer {name}") for name in "abc"])
    assert [len(one.calls) for one in found] == [1, 1, 1]
    for one, name in zip(found, "abc", strict=True):
        assert f"answer {name}" in asked(one)


def test_a_ranked_group_has_the_one_call_that_ranked_it() -> None:
    reply = '{"reason": "r", "rank": [2, 1]}'
    with JudgeServer(lambda body, attempt: Canned(reply)) as server:
        found = judge(server.url, prompt="Rank: {response}", mode="listwise").judge_group(
            TASK, [output("first"), output("second")]
        )
    assert [[call["reply"] for call in one.calls] for one in found] == [[reply], [reply]]
    assert all("first" in asked(one) and "second" in asked(one) for one in found)


def test_a_verdict_that_failed_keeps_what_was_asked_and_why_there_was_no_answer() -> None:
    with JudgeServer(lambda body, attempt: Canned("I would rather not")) as server:
        judgement = judge(server.url).judge(TASK, output("scattering"))
    assert judgement.status == "failed"
    assert "scattering" in asked(judgement)
    assert "reply" not in judgement.calls[0]
    assert "m at http" in judgement.calls[0]["error"]


def test_a_reply_from_the_cache_is_kept_too(tmp_path: Path) -> None:
    with JudgeServer(always(4)) as server:
        client = {"cache": True, "cache_dir": str(tmp_path)}
        first, again = (judge(server.url, client=client).judge(TASK, output("scattering")) for _ in range(2))
        assert len(server.bodies) == 1
    assert [call["reply"] for call in again.calls] == [call["reply"] for call in first.calls] == [verdict(4)]


def test_the_parts_of_a_combined_judge_are_kept_together() -> None:
    with JudgeServer(always(5)) as server:
        llm = {"model_name": "m", "base_url": server.url, "client": {"cache": False}, **POINTWISE}
        part = {"judge_type": "llm", "llm": llm}
        config = {"judge_type": "combined", "parts": {"a": part, "b": part}, "keep_calls": True}
        judgement = load_judge({"astuner": {"task_judge": config}}).judge(TASK, output("scattering"))
    assert [call["model"] for call in judgement.calls] == ["m", "m"]


def test_calls_are_bounded_in_number_and_in_length() -> None:
    with recorded() as calls:
        for _ in range(MOST_CALLS + 5):
            record_call("m", lambda: [ChatMessage(role="user", content="x" * 9 * MOST_CHARS)], reply="y" * MOST_CHARS)
    assert len(calls) == MOST_CALLS
    content = calls[0]["messages"][0]["content"]
    assert len(content) < MOST_CHARS + 40
    assert f"[…{8 * MOST_CHARS} characters…]" in content
    assert calls[0]["reply"] == "y" * MOST_CHARS


@pytest.mark.parametrize("calls", [3, ["x"], None])
def test_a_file_of_other_hands_whose_calls_are_none_is_read_all_the_same(calls: object) -> None:
    data = Judgement("judged", 1.0, True).to_dict() | {"calls": calls}
    judgement = Judgement.from_dict(data)
    assert judgement is None or "calls" not in judgement.to_dict()
