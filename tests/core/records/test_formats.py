"""Rows as trainers' data sets and dumps have them: read as rollouts, and named where they cannot be."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.formats import FORMATS, Conversion
from agentscope_tuner.records.reader import Line, Row, parse_line

CHAT = [{"role": "system", "content": "Box it."}, {"role": "user", "content": "6*7?"}]
SAID = [{"role": "assistant", "content": "42"}]
VERL = {
    "data_source": "gsm8k",
    "prompt": CHAT,
    "ability": "math",
    "reward_model": {"style": "rule", "ground_truth": "42"},
    "extra_info": {"index": 7, "split": "train", "answer": "the worked solution"},
    "response": "42<|im_end|>",
}
VERIFY = {
    "responses_create_params": {"input": CHAT},
    "response": {
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "42"}]}]
    },
    "expected_answer": "42",
}


EID = {"batch": 4, "task": 2, "run": 0, "step": 0, "suffix": "a"}


def read(row: object, name: str | None, *maps: str) -> Row:
    raw = row if isinstance(row, bytes) else json.dumps(row).encode()
    return parse_line(next(iter(Conversion(name, maps).all([Line("rows.jsonl:3", raw)]))))


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("trl", {"prompt": "6*7?", "completion": "42", "answer": "42"}),
        ("trl", {"prompt": CHAT, "completion": SAID, "solution": "42"}),
        ("trl", {"messages": [*CHAT, *SAID], "answer": "42"}),
        ("trl", {"prompt": CHAT, "completion": SAID, "answer": "42", "advantage": 0.3, "step": 4}),
        ("verl", VERL),
        ("verl", {"input": "6*7?", "output": "42", "gts": "42", "score": 1.0, "step": 3}),
        ("verl", {**VERL, "responses": ["42"], "response": None}),
        ("openrlhf", {"query": ["6*7?42</s>"], "prompts": ["6*7?"], "labels": ["42"]}),
        ("openrlhf", {"input": "6*7?", "output": "42", "label": "42"}),
        ("openrlhf", {"prompt": CHAT, "response": "42", "answer": "42"}),
        ("nemo-gym", VERIFY),
        ("slime", {"prompt": "6*7?", "response": "42<|im_end|>", "label": "42", "metadata": {"level": 3}}),
        ("slime", {"prompt": CHAT, "response": "42", "label": "42", "group_index": 5, "reward": 1.0}),
        (
            "trinity",
            {"eid": EID, "info": {"answer": "42"}, "prompt_text": "6*7?", "response_text": "42", "reward": 1.0},
        ),
        ("trinity", {"eid": EID, "info": {"ground_truth": "42"}, "messages": [*CHAT, *SAID]}),
    ],
)
def test_a_trainers_row_is_a_rollout(name: str, row: dict[str, Any]) -> None:
    rollout = read(row, name).rollout
    assert rollout is not None
    assert rollout.task.main_query == "6*7?"
    assert rollout.output.metadata["final_answer"] == "42"
    assert rollout.task.metadata["answer"] == "42"
    assert rollout.id == "3"
    assert rollout.task.task_id


def test_every_format_is_shown() -> None:
    assert list(FORMATS) == ["trl", "verl", "openrlhf", "nemo-gym", "slime", "trinity"]
    with pytest.raises(ConfigError, match=r"--format must be one of auto, plain, trl, verl, .*, trinity, got 'csv'"):
        Conversion("csv").all([])


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        *(({"id": value}, name) for value, name in [(12, "12"), ("a", "a"), (12.0, "12"), (0, "0")]),
        *(({"id": value}, "3") for value in (True, None, 1.5, "")),
        ({"id": math.nan, "index": 4}, "4"),
    ],
)
def test_ids_of_data_sets(columns: dict[str, Any], name: str) -> None:
    rollout = read({"prompt": "q", "completion": "a", **columns}, "trl").rollout
    assert rollout is not None
    assert rollout.id == name


def test_integer_task_ids_are_texts_and_group_rows() -> None:
    rows = [read({"prompt": "q", "completion": text, "task_id": 9}, "trl").rollout for text in "ab"]
    assert [rollout and rollout.task.task_id for rollout in rows] == ["9", "9"]


def test_columns_made_per_completion_split_no_group() -> None:
    row = {"prompt": "q", "answer": "1"}
    found = [read({**row, "completion": "a", "score": score}, "trl").rollout for score in (0.1, 0.2)]
    assert len({rollout.task.task_id for rollout in found if rollout}) == 1
    other = read({**row, "prompt": "p", "completion": "a"}, "trl").rollout
    assert other is not None
    assert other.task.task_id not in {rollout.task.task_id for rollout in found if rollout}


def test_cells_that_hold_nan_are_missing() -> None:
    row = {"prompt": "q", "completion": "a", "answer": math.nan, "level": math.nan, "extra": {"x": math.nan, "y": [1]}}
    rollout = read(row, "trl").rollout
    assert rollout is not None
    assert rollout.task.metadata == {"answer": None, "level": None, "extra": {"y": [1]}}
    assert "'completion' is null" in (read({"prompt": "q", "completion": math.nan}, "trl").problem or "")


@pytest.mark.parametrize(
    ("name", "row", "why"),
    [
        ("trl", {"prompt": "q"}, "the row has no completion, only ['prompt']"),
        ("trl", {"completion": "a"}, "no prompt or question"),
        ("trl", {"prompt": "q", "completion": 3}, "completion must be a text or chat messages, got 3"),
        ("trl", {"prompt": "q", "completion": ["a"]}, "completion must be a text or chat messages"),
        ("verl", {"prompt": "q"}, "no response or solution_str or output or responses"),
        ("verl", {"prompt": "q", "response": ["a", "b"]}, "response must be a text"),
        ("openrlhf", {"query": ["q1"], "prompts": [], "labels": ["1"]}, "lists of one query"),
        ("openrlhf", {"input": "q", "label": "1"}, "no response or output or completion"),
        ("nemo-gym", {"prompt": "q"}, "/verify takes responses_create_params and response"),
        ("slime", {"prompt": "q", "label": "1"}, "has no response"),
        ("slime", {"prompt": "q", "response": 4}, "response must be a str"),
        ("trl", b"{", "the row is no JSON"),
        ("trl", b"[1]", "a row must be an object, got list"),
        ("trl", b"[" * 100_000, "the row is no JSON"),
    ],
)
def test_a_row_that_cannot_be_read_says_why(name: str, row: object, why: str) -> None:
    found = read(row, name)
    assert found.rollout is None
    assert why in (found.problem or "")


def test_a_map_puts_columns_in_their_places() -> None:
    row = {"id": 5, "q": "6*7?", "out": {"text": "42"}, "ref": 42, "who": "a.b"}
    maps = ["q=task.main_query", "out.text=output.metadata.final_answer", "ref=task.metadata.answer", "id=task.task_id"]
    rollout = read(row, None, *maps, "who=output.metadata.made.by").rollout
    assert rollout is not None
    assert (rollout.id, rollout.task.task_id, rollout.task.main_query) == ("5", "5", "6*7?")
    assert rollout.task.metadata == {"answer": 42}
    assert rollout.output.metadata == {"final_answer": "42", "made.by": "a.b"}


def test_chat_messages_may_stand_for_a_query_and_an_answer() -> None:
    maps = ["prompt=task.main_query", "completion=output.metadata.final_answer"]
    rollout = read({"prompt": CHAT, "completion": SAID}, None, *maps).rollout
    assert rollout is not None
    assert (rollout.task.main_query, rollout.task.init_messages) == ("6*7?", CHAT)
    assert rollout.output.metadata == {"final_answer": "42", "messages": SAID}


def test_a_map_goes_over_a_format() -> None:
    row = {"prompt": "q", "completion": "a", "answer": "1", "gold": "2"}
    rollout = read(row, "trl", "gold=task.metadata.answer").rollout
    assert rollout is not None
    assert rollout.task.metadata["answer"] == "2"


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        ("prompt", "must read column=path"),
        ("=task.main_query", "must read column=path"),
        (
            "prompt=task.query",
            "a rollout has no 'task.query'; its places are question, answer, response, id",
        ),
        ("prompt=task.metadata.", "a rollout has no"),
        ("prompt=output.reward", "a rollout has no"),
    ],
)
def test_a_wrong_map_stops_before_the_first_row(pair: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        Conversion(None, [pair]).all([])


def test_a_missing_mapped_column_is_the_rows_problem() -> None:
    assert "has no 'q', only ['p']" in (read({"p": 1}, None, "q=task.main_query").problem or "")


def judge(tmp_path: Path, rows: list[dict[str, Any]], *options: str) -> tuple[int, list[dict[str, Any]]]:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "judge.yaml").write_text(
        "astuner: {task_judge: {judge_protocol: 'tests.core.adapters.test_adapters->Echo'}}\n", encoding="utf-8"
    )
    files = [f"--conf={tmp_path}/judge.yaml", f"--input={tmp_path}/rows.jsonl", f"--output={tmp_path}/scored.jsonl"]
    done = CliRunner().invoke(app, ["judge", *files, *options])
    scored = (tmp_path / "scored.jsonl").read_text(encoding="utf-8").splitlines()
    return done.exit_code, [json.loads(line) for line in scored]


def test_the_command_line_judges_a_trainers_rows(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 1, "prompt": "6*7?", "completion": "42", "answer": "42"},
        {"id": 2, "prompt": "6*7?", "completion": "41", "answer": "42"},
        {"id": 3, "prompt": "6*7?", "answer": "42"},
    ]
    code, scored = judge(tmp_path, rows, "--format=trl")
    assert code == 3
    assert [row["judgement"]["reward"] for row in scored] == [1.0, 0.0, None]
    assert [row.get("id") for row in scored[:2]] == ["1", "2"]
    assert "has no completion" in scored[2]["judgement"]["error"]
    again, kept = judge(tmp_path, rows, "--format=trl", "--resume")
    assert (again, kept) == (3, scored)
    maps = ["--map=prompt=task.main_query", "--map=completion=output.metadata.final_answer"]
    _, mapped = judge(tmp_path, rows, *maps, "--map=answer=task.metadata.answer")
    assert [row["judgement"]["reward"] for row in mapped] == [1.0, 0.0, None]
