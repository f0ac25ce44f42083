"""What a policy nests, counts or repeats: its rollout is pickled, sent, logged and read all the same."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import pytest

from agentscope_tuner import Judgement, Task, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.bounds import MOST_LEVELS, bounded, flat, readable
from agentscope_tuner.graders.prompt import as_json
from agentscope_tuner.records.reader import Line, parse_line
from agentscope_tuner.records.scored_rows import parsed
from agentscope_tuner.task_judge.http_rows import wire_row
from agentscope_tuner.task_judge.run_log import encoded, rows_of
from agentscope_tuner.workflow import Rollout

TASK = WorkflowTask(task=Task(task_id="t", metadata={"answer": "42"}))


def nested(levels: int, *, objects: bool = False) -> Any:
    value: Any = "rm"
    for _ in range(levels):
        value = {"a": value} if objects else [value]
    return value


def repeated(levels: int) -> Any:
    """What twenty aliases of YAML hold: 10**levels values."""
    value: Any = ["lol"]
    for _ in range(levels):
        value = [value] * 10
    return value


def in_itself() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


ODD: dict[str, Any] = {
    "101 lists": nested(101),
    "250 lists": nested(250),
    "985 lists": nested(985),
    "1,000 lists": nested(1_000),
    "1,000 objects": nested(1_000, objects=True),
    "100,000 lists": nested(100_000),
    "100,000 objects": nested(100_000, objects=True),
    "beside others": [1, nested(2_000), {"b": nested(2_000, objects=True)}],
    "a tuple": (nested(2_000),),
    "aliases": repeated(30),
    "in itself": in_itself(),
    "5,000 digits": 10**5_000,
    "a negative one": [-(10**5_000)],
    "half a pair": "\ud800",
    "half a pair as key": {"\udfff": nested(2_000)},
    "NaN": [math.nan, math.inf],
    "a long key": {"k" * 10**6: 1},
}


@pytest.mark.parametrize("odd", ODD)
def test_no_structure_of_a_policy_stops_its_verdict(odd: str) -> None:
    output = WorkflowOutput.model_validate({"metadata": {"final_answer": "41", "call": ODD[odd]}, "found": ODD[odd]})
    again = pickle.loads(pickle.dumps(output))
    assert load_judge({"astuner": {"task_judge": {"judge": "math"}}}).judge(TASK, again).reward == 0.0
    sent = parsed(b'{"rollouts":[' + wire_row(TASK, again) + b"]}")
    logged = parsed(encoded(rows_of([(TASK, again)], [Judgement("judged", 0.0, False)], iter(["n-0"]), None, 0.0)))
    for row in (sent["rollouts"][0], logged):
        assert row["output"]["metadata"]["final_answer"] == "41"
    assert as_json(again.metadata)


def test_what_is_within_bounds_is_left_as_it_is() -> None:
    for value in (nested(MOST_LEVELS), [1, "x" * 10**6, {"a": (None, 2.5)}], {"ids": list(range(300_000))}, object()):
        assert bounded(value) is value
    assert bounded(nested(MOST_LEVELS + 1)) is not None


def test_what_is_nested_too_deeply_is_not_hidden() -> None:
    assert "rm" in json.dumps(bounded(nested(100_000)))
    assert flat({"a": [1, {"b": ("c", None)}]}) == "a 1 b c None"
    assert bounded({"n": 10**5_000, "near": 10**3_000})["n"] == "(a whole number of about 5,000 digits)"


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (b'{"a": [1, {"b": "[[ 1e999 NaN \\" ]"}], "c": -2.5e3}', None),
        (b'{"a": "\\', None),
        (b'{"a": NaN, "b": [-Infinity, Infinity]}', {"a": None, "b": [None, None]}),
        (b'{"a": 1e999, "b": [-1E+999]}', {"a": "1e999", "b": ["-1E+999"]}),
        (b'{"a": ' + b"7" * 5_000 + b"}", {"a": "7" * 5_000}),
    ],
)
def test_numbers_that_parsers_refuse_become_text(raw: bytes, read: Any) -> None:
    kept = readable(raw)
    assert (kept is raw) if read is None else (json.loads(kept) == read)


@pytest.mark.parametrize("levels", [101, 250, 1_000, 100_000])
@pytest.mark.parametrize(("opens", "closes"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"\\"]": 1, "a":', b"}, 2]")])
def test_rows_of_other_programs_are_read_at_any_depth(levels: int, opens: bytes, closes: bytes) -> None:
    deep = opens * levels + b'"\xe2\x82\xac ]"' + closes * levels
    raw = b'{"id": 1, "task": {}, "output": {"metadata": {"final_answer": "41", "call": ' + deep + b', "n": 2}}}'
    rollout = parse_line(Line("f:1", raw)).rollout
    assert isinstance(rollout, Rollout)
    assert (rollout.output.metadata["final_answer"], rollout.output.metadata["n"]) == ("41", 2)
    assert parsed(raw)["output"]["metadata"]["n"] == 2
    assert "€ ]" in flat(rollout.output.metadata)
