"""HttpJudge and a real service: the verdicts of a judge over the network are those of the same judge here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentscope_tuner import BaseJudge, JudgeError, Judgement, Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.http_judge import HttpJudge
from benchmarks.math import hostile
from benchmarks.math.workload import solutions
from benchmarks.scale.rows import MATH_JUDGE
from benchmarks.scale.served import Served
from tests.with_servers.serve.running_service import JUDGES

RULES = [
    {"id": "long", "kind": "max_chars", "max_chars": 3000, "action": "record"},
    {
        "id": "apology",
        "kind": "contains_any",
        "keywords": ["not 42"],
        "not": True,
        "target": "output",
        "action": "mark_bad",
    },
]


class Longest(BaseJudge):
    """Ranks an advantage group by length."""

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        lengths = [len(output.metadata["final_answer"]) for output in workflow_outputs]
        if len(lengths) < 2:
            raise JudgeError("a group of one has no ranks")
        return [(1.0, True) if length == max(lengths) else (0.0, False) for length in lengths]


@contextmanager
def remote(port: int, path: str = "/reward", **settings: object) -> Iterator[ConfiguredJudge]:
    kwargs = {"url": f"http://127.0.0.1:{port}{path}", **settings}
    protocol = "agentscope_tuner.task_judge.http_judge->HttpJudge"
    judge = ConfiguredJudge({"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": kwargs}}})
    yield judge
    assert isinstance(judge._judge.inner, HttpJudge)
    judge._judge.inner.close()


def pairs() -> list[tuple[WorkflowTask, WorkflowOutput]]:
    made = [(row.output, row.reference) for row in [*solutions(80), *hostile.outputs()]]
    made += [(r"\ud800 \boxed{42}", "42"), ("\ud800\x00 \\boxed{42}", "42"), (r"not 42: \boxed{42}", "42")]
    return [
        (
            WorkflowTask(task=Task(task_id=f"t{number}", metadata={"answer": reference})),
            WorkflowOutput(metadata={"final_answer": answer}),
        )
        for number, (answer, reference) in enumerate(made)
        # what a limit of the service refuses is judged here
        if len(answer) <= 100_000
    ]


def account(judgement: Judgement) -> dict[str, Any]:
    return judgement.to_dict() | {"seconds": None}


def test_a_judge_over_the_network_is_the_judge_here() -> None:
    task_judge = MATH_JUDGE | {"rules": RULES}
    here = ConfiguredJudge({"astuner": {"task_judge": task_judge}}).judge_batch(pairs())
    with Served(task_judge) as served, remote(served.port) as judge:
        there = judge.judge_batch(pairs())
    assert [account(judgement) for judgement in there] == [account(judgement) for judgement in here]
    assert {judgement.status for judgement in here} == {"judged", "filtered"}
    assert sum(judgement.reward == 1.0 for judgement in here) > 40


def test_a_judge_that_ranks_is_handed_whole_groups_alone() -> None:
    task = WorkflowTask(task=Task(task_id="t"))
    group = [(task, WorkflowOutput(metadata={"final_answer": "x" * length})) for length in (1, 3, 2)]
    protocol = {"judge_protocol": "tests.with_servers.serve.test_http_judge_live->Longest"}
    with Served(protocol) as served:
        with remote(served.port, listwise=True) as judge:
            assert [judgement.reward for judgement in judge.judge_batch(group)] == [0.0, 1.0, 0.0]
        # rows that only came together by chance are no group
        with remote(served.port) as judge:
            assert [judgement.reward for judgement in judge.judge_batch(group)] == [None] * 3


def test_the_token_of_a_file_opens_the_service(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    token.chmod(0o600)
    pair = pairs()[0]
    with Served(MATH_JUDGE, "--token-file", str(token), token="s3cret") as served:
        with remote(served.port, token_file=str(token)) as judge:
            assert judge.judge(*pair).status == "judged"
        with remote(served.port) as judge:
            refused = judge.judge(*pair)
    assert (refused.status, refused.reward) == ("failed", None)
    assert "answered 401" in json.dumps(refused.to_dict())


def test_a_row_that_hangs_costs_no_other_row_its_verdict() -> None:
    asked = [
        (WorkflowTask(task=Task(task_id=answer)), WorkflowOutput(metadata={"final_answer": answer}))
        for answer in [*"abc", "hang", *"de"]
    ]
    section = {"judge_protocol": f"{JUDGES}HangsOnOne"}
    with Served(section, "--drain-seconds", "0.1") as served, remote(served.port, deadline=5.0) as judge:
        found = {pair[0].task_id: told for pair, told in zip(asked, judge.judge_batch(asked), strict=True)}
    hanging = found.pop("hang")
    assert (hanging.status, hanging.cause) == ("failed", "deadline")
    assert [judgement.reward for judgement in found.values()] == [1.0] * 5
