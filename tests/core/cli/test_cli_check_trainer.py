"""`astuner check --trainer T --dataset ROWS`: rows through the trainer's own adapter, with made completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.cli.check import TRAINERS
from tests.core.cli.test_cli_check import run

MATH = "configs/math.yaml"
ASKED = [{"role": "user", "content": "What is 6*7?"}]
BOXED = {"boxed": 1.0, "alone": 0.0, "empty": 0.0}
VERL = {"data_source": "gsm8k", "prompt": ASKED, "extra_info": {"index": 1, "answer": "6*7 is 42"}}


def checked(tmp_path: Path, trainer: str, *rows: dict[str, Any], conf: str = MATH) -> tuple[int, list[dict[str, Any]]]:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run("check", "--conf", conf, "--trainer", trainer, "--dataset", path, "--json")
    return done.exit_code, json.loads(done.stdout)["rows"] if done.stdout.startswith("{") else []


@pytest.mark.parametrize(
    ("trainer", "row"),
    [
        ("trl", {"prompt": "What is 6*7?", "answer": "42"}),
        ("trl", {"prompt": ASKED, "answer": 42}),
        ("verl", {**VERL, "reward_model": {"style": "rule", "ground_truth": "42"}}),
        ("openrlhf", {"input": "What is 6*7?", "label": "42"}),
        ("slime", {"prompt": "What is 6*7?", "label": "42"}),
        ("slime", {"prompt": ASKED, "metadata": {"answer": "42"}}),
        ("ms-swift", {"messages": ASKED, "solution": "42"}),
        ("areal", {"messages": ASKED, "answer": "42"}),
        ("agentscope", {"question": "What is 6*7?", "answer": "42"}),
    ],
)
def test_a_sound_row_shows_its_question_its_reference_and_its_rewards(
    trainer: str, row: dict[str, Any], tmp_path: Path
) -> None:
    code, (seen,) = checked(tmp_path, trainer, row)
    assert (seen["question"], str(seen["reference"]), seen["gets"]) == ("What is 6*7?", "42", BOXED)
    assert code == 0


def test_every_trainer_has_a_row_above() -> None:
    (rows,) = [mark.args[1] for mark in test_a_sound_row_shows_its_question_its_reference_and_its_rewards.pytestmark]
    assert {row[0] for row in rows} == set(TRAINERS)


@pytest.mark.parametrize(
    ("trainer", "row", "told"),
    [
        ("trl", {"prompt": "?", "target": "42"}, "reads: {answer: target}"),
        ("trl", {"prompt": "?", "answer": None}, "got None"),
        ("trl", {"question": "?", "answer": "42"}, "the row has no prompt"),
        ("trl", {"prompt": 3, "answer": "42"}, "prompt must be a text or chat messages, got 3"),
        ("verl", {**VERL, "answer": "42"}, "the row has no reward_model"),
        ("verl", {**VERL, "reward_model": {"truth": "42"}}, "verl reads reward_model.ground_truth"),
        ("verl", {"reward_model": {"ground_truth": "42"}, "prompt": ASKED}, "the row has no data_source"),
        (
            "verl",
            {**VERL, "reward_model": {"ground_truth": "42"}, "extra_info": "text"},
            "extra_info must be a mapping, got 'text'",
        ),
        ("openrlhf", {"input": "?", "gold": "42"}, "the row has no label"),
        ("slime", {"prompt": "?", "gold": "42"}, "answer"),
        ("ms-swift", {"messages": "?", "solution": "42"}, "messages must be chat messages"),
        ("areal", {"text": "?", "answer": "42"}, "the row has no messages"),
        ("areal", {"prompt": ASKED, "answer": "42"}, "from the column 'messages': rename it"),
        ("agentscope", {"question": "?"}, "answer"),
    ],
)
def test_a_row_that_the_trainer_would_not_be_paid_for_says_why(
    trainer: str, row: dict[str, Any], told: str, tmp_path: Path
) -> None:
    code, (seen,) = checked(tmp_path, trainer, row)
    assert code == 3
    assert any(told in str(got) for got in seen["gets"].values()), seen


def test_eight_rows_are_shown_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"prompt": f"{n}+0?", "answer": f"{n}"}) + "\n" for n in range(20)))
    done = run("check", "--conf", MATH, "--trainer", "trl", "--dataset", path)
    assert done.exit_code == 0
    assert "7+0?" in done.stdout
    assert "8+0?" not in done.stdout
    assert "the trainer gets" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--trainer", "trlx", "--dataset", "rows.jsonl"],
        ["--trainer", "trl"],
        ["--dataset", "rows.jsonl"],
        ["--trainer", "trl", "--dataset", "nowhere.jsonl"],
        # they were ignored
        ["--trainer", "trl", "--dataset", "configs/math.yaml", "--input", "rows.jsonl"],
        ["--trainer", "trl", "--dataset", "configs/math.yaml", "--format", "plain"],
        ["--trainer", "trl", "--dataset", "configs/math.yaml", "--map", "a=answer"],
    ],
)
def test_a_trainer_wants_rows_and_rows_want_a_trainer(arguments: list[str]) -> None:
    assert run("check", "--conf", MATH, *arguments).exit_code == 2


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        # a traceback: Expecting value: line 1 column 1
        ("rows.jsonl", '{"prompt": "?", "answer": "42"}\nnot json\n', "rows.jsonl:2: no JSON: Expecting value"),
        ("rows.jsonl", "[" * 100_000 + "\n", "rows.jsonl:1: no JSON"),
        ("rows.jsonl", "3\n", "holds no rows of a data set"),
        # dropped, and exit code 0
        ("rows.csv", "prompt,answer\n?,42\n?,42,43\n", "rows.csv:3: the row"),
    ],
)
def test_a_line_that_is_no_row_is_named(name: str, text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("check", "--conf", MATH, "--trainer", "trl", "--dataset", tmp_path / name)
    assert done.exit_code == 2
    assert told in done.stderr.replace("\n", " "), done.stderr


def test_a_judge_that_ranks_gets_a_group_where_the_trainer_hands_one_over(tmp_path: Path) -> None:
    conf = tmp_path / "ranks.yaml"
    conf.write_text("astuner:\n  task_judge:\n    judge_protocol: tests.core.adapters.test_adapters->Longest\n")
    row = {"prompt": "?", "label": "42", "input": "?"}
    code, (seen,) = checked(tmp_path, "openrlhf", row, conf=str(conf))
    assert code == 3
    assert "ranks whole advantage groups" in seen["gets"]["boxed"]
    assert checked(tmp_path, "slime", row, conf=str(conf))[0] == 0
