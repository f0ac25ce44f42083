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
BRIEF = {"role": "system", "content": "Be brief."}
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
        ("openrlhf", {"prompt": [BRIEF, *ASKED], "answer": "42"}),
        (
            "openrlhf",
            {"question": [{"role": "user", "content": [{"type": "text", "text": "What is 6*7?"}]}], "ground_truth": 42},
        ),
        ("slime", {"prompt": "What is 6*7?", "label": "42"}),
        ("slime", {"prompt": ASKED, "metadata": {"answer": "42"}}),
        ("ms-swift", {"messages": ASKED, "solution": "42"}),
        ("slime", {"text": "What is 6*7?", "label": "42"}),
        ("areal", {"messages": [BRIEF, *ASKED], "answer": "42"}),
        ("areal", {"question": "What is 6*7?", "answer": "42"}),
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


NO_ANSWER = "the task's metadata has no 'answer', only"
NAMED = "under astuner.task_judge"


@pytest.mark.parametrize(
    ("trainer", "row", "told"),
    [
        (
            "trl",
            {"prompt": "?", "target": "42"},
            f"{NO_ANSWER} ['target']; if 'target' holds the reference answer, write `reads: {{answer: target}}` "
            f"{NAMED}; if not, add a column `answer`",
        ),
        (
            "trl",
            {"prompt": "?", "answer": None},
            "the reference answer must be a str or a finite number, got None: a missing cell becomes None or NaN. If "
            f"every row lacks it, name its column: `reads: {{answer: COLUMN}}` {NAMED} (OpenRLHF: --data.label_key "
            "COLUMN). If only some rows lack it, drop them",
        ),
        (
            "trl",
            {"question": "?", "answer": "42"},
            "the row has no prompt, only ['answer', 'question'], which trl asks for by this name: rename the column, "
            "`dataset.rename_column('question', 'prompt')`",
        ),
        ("trl", {"text": "?"}, "the row has no prompt, only ['text']; trl needs it, too"),
        # it said that trl needs it, too
        ("trl", {"prompt": 3, "answer": "42"}, "prompt must be a text or chat messages, got 3"),
        (
            "verl",
            {**VERL, "answer": "42"},
            "the row has no reward_model, only ['answer', 'data_source', 'extra_info', 'prompt']; verl needs it, too",
        ),
        (
            "verl",
            {**VERL, "reward_model": {"truth": "42"}},
            "verl reads reward_model.ground_truth, got {'truth': '42'}",
        ),
        ("verl", {**VERL, "reward_model": "42"}, "verl reads reward_model.ground_truth, got '42'"),
        (
            "verl",
            {"reward_model": {"ground_truth": "42"}, "prompt": ASKED},
            "the row has no data_source, only ['prompt', 'reward_model']; verl needs it, too",
        ),
        (
            "verl",
            {**VERL, "reward_model": {"ground_truth": "42"}, "prompt": None},
            "the row's 'prompt' is null; verl needs it, too",
        ),
        (
            "verl",
            {**VERL, "reward_model": {"ground_truth": "42"}, "extra_info": "text"},
            "extra_info must be a mapping, got 'text'",
        ),
        (
            "openrlhf",
            {"input": "?", "gold": "42"},
            "the row has no label or answer or ground_truth, only ['gold', 'input']; openrlhf needs it, too",
        ),
        (
            "openrlhf",
            {"input": [{"role": "user", "content": 3}], "label": "42"},
            "a message's content is a text or a list of blocks, got 3",
        ),
        (
            "slime",
            {"prompt": "?", "gold": "42"},
            f"{NO_ANSWER} []; put the reference there, in a row as its column `answer`",
        ),
        (
            "slime",
            {"question": "?", "label": "42"},
            "the row has no prompt or input or text, only ['label', 'question'], which slime asks for by this name: "
            "rename the column, `dataset.rename_column('question', 'prompt')`",
        ),
        ("ms-swift", {"messages": "?", "solution": "42"}, "messages must be chat messages, got '?'"),
        (
            "areal",
            {"text": "?", "answer": "42"},
            "the row has no messages or prompt or question, only ['answer', 'text']; areal needs it, too",
        ),
        (
            "areal",
            {"prompt": ASKED, "messages": None, "answer": "42"},
            "AReaL reads chat messages from the column 'messages': rename it",
        ),
        (
            "areal",
            {"prompt": ASKED, "answer": "42"},
            "AReaL reads chat messages from the column 'messages': rename it",
        ),
        (
            "agentscope",
            {"question": "?"},
            f"{NO_ANSWER} ['question']; name the reference's column, `reads: {{answer: <column>}}` {NAMED}",
        ),
    ],
)
def test_a_row_that_the_trainer_would_not_be_paid_for_says_why(
    trainer: str, row: dict[str, Any], told: str, tmp_path: Path
) -> None:
    code, (seen,) = checked(tmp_path, trainer, row)
    assert code == 3
    assert {got for got in seen["gets"].values() if isinstance(got, str)} == {told}


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
