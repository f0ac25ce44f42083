"""Ten data sets as people have them: from the file to right rewards in three commands, without a page of guides."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.adapters.trl import reward_func
from agentscope_tuner.adapters.verl import compute_score_sync
from agentscope_tuner.cli.app import app
from agentscope_tuner.cli.from_rows import look, whole_row
from agentscope_tuner.records.reader import Line

Rows = Sequence[Mapping[str, Any]]
NUMBERS = ((12, 6), (9, 8), (7, 11))


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output


def as_jsonl(path: Path, rows: Rows) -> Path:
    target = path / "rows.jsonl"
    target.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return target


def as_csv(path: Path, rows: Rows) -> Path:
    target = path / "rows.csv"
    with open(target, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return target


def as_parquet(path: Path, rows: Rows) -> Path:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path / "train.parquet")
    return path / "train.parquet"


def as_folder(path: Path, rows: Rows) -> Path:
    """What `datasets.save_to_disk` leaves."""
    pyarrow, folder = pytest.importorskip("pyarrow"), path / "saved"
    folder.mkdir()
    table = pyarrow.Table.from_pylist(list(rows))
    with (
        pyarrow.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as sink,
        pyarrow.ipc.new_stream(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    return folder


def as_one_split(path: Path, rows: Rows) -> Path:
    """What a saved `DatasetDict` of a single split is."""
    as_folder(path, rows).rename(path / "train")
    (path / "all").mkdir()
    (path / "train").rename(path / "all" / "train")
    (path / "all" / "dataset_dict.json").write_text(json.dumps({"splits": ["train"]}))
    return path / "all"


def as_list(path: Path, rows: Rows) -> Path:
    (path / "rows.json").write_text(json.dumps(list(rows), indent=2), encoding="utf-8")
    return path / "rows.json"


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def gsm8k(a: int, b: int, given: int) -> Mapping[str, Any]:
    worked = f"There are {a} boxes of {b} each, so {a}*{b}=<<{a}*{b}={a * b}>>{a * b} in all.\n#### {a * b}"
    return {"question": f"{a} boxes hold {b} each. How many?", "answer": worked, "response": f"So many.\n#### {given}"}


def math(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {
        "problem": f"What is ${a}\\cdot{b}$?",
        "level": "Level 1",
        "type": "Prealgebra",
        "solution": f"We have ${a}\\cdot{b}=\\boxed{{{a * b}}}$.",
        "generation": f"It is $\\boxed{{{given}}}$.",
    }


def deepmath(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {
        "question": f"Evaluate {a} times {b}.",
        "final_answer": str(a * b),
        "difficulty": 2.5,
        "topic": "Mathematics -> Algebra",
        "r1_solution_1": f"Let me think. \\boxed{{{a * b}}}",
        "output": f"\\boxed{{{given}}}",
    }


def verl(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {
        "data_source": "own/products",
        "prompt": [user(f"{a} times {b}? Let's think step by step.")],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": str(a * b)},
        "extra_info": {"index": a, "split": "train", "answer": f"worked: {a * b}"},
        "responses": [f"\\boxed{{{given}}}"],
    }


def trl(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {
        "prompt": [user(f"{a} times {b}?")],
        "completion": [said(f"It is \\boxed{{{given}}}.")],
        "solution": f"$\\boxed{{{a * b}}}$",
    }


def openrlhf(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {"input": f"{a} times {b}?", "label": str(a * b), "output": f"\\boxed{{{given}}}"}


def openai(a: int, b: int, given: int) -> Mapping[str, Any]:
    turns = [{"role": "system", "content": "Answer in <answer> tags."}, user(f"{a} times {b}?")]
    return {"messages": [*turns, said(f"I think <answer>{given}</answer>")], "ground_truth": a * b}


def sheet(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {
        "id": f"q{a}",
        "problem": f"{a}, times {b}?",
        "expected_answer": a * b,
        "model_output": f"\\boxed{{{given}}}",
    }


def nested(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {
        "item": {"text": f"{a} times {b}?", "meta": {"gold": {"value": a * b}}},
        "instruction": f"{a} times {b}?",
        "response": f"Answer: {given}",
    }


DATA_SETS: Mapping[str, tuple[Callable[[int, int, int], Mapping[str, Any]], Callable[[Path, Rows], Path]]] = {
    "GSM8K": (gsm8k, as_jsonl),
    "MATH": (math, as_list),
    "DeepMath": (deepmath, as_parquet),
    "verl's Parquet": (verl, as_parquet),
    "TRL's conversations": (trl, as_jsonl),
    "OpenRLHF": (openrlhf, as_jsonl),
    "a Hugging Face folder": (gsm8k, as_folder),
    "OpenAI's chats": (openai, as_jsonl),
    "CSV": (sheet, as_csv),
    "nested": (nested, as_jsonl),
}


def listed(a: int, b: int, given: int) -> Mapping[str, Any]:
    """References as lists of one value, numbers among them."""
    return {**verl(a, b, given), "reward_model": {"style": "rule", "ground_truth": [a * b]}}


def packed(a: int, b: int, given: int) -> Mapping[str, Any]:
    """A list as text, as Parquet and tables often hold it."""
    return {**verl(a, b, given), "reward_model": {"style": "rule", "ground_truth": json.dumps([str(a * b)])}}


def olympiad(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {
        "id": a,
        "question": f"{a} times {b}?",
        "solution": ["Multiply."],
        "final_answer": [f"${a * b}$"],
        "is_multiple_answer": False,
        "unit": None,
        "answer_type": "Numerical",
        "model_answer": f"\\boxed{{{given}}}",
    }


def chinese(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {"编号": a, "问题": f"{a} times {b}?", "答案": f"{a * b} cm", "模型回答": f"\\boxed{{{given}}}"}


def capitals(a: int, b: int, given: int) -> Mapping[str, Any]:
    told = {"Question": f"{a} times {b}?", "Correct Answer": f"${a * b}.00", "Incorrect Answer 1": 3}
    return {**told, "question_type": "free", "length": b, "Model Output": f"\\boxed{{{given}}}"}


def keyed(a: int, b: int, given: int) -> Mapping[str, Any]:
    told = {"problem": f"{a} times {b}?", "ground_truth": {"target": a * b}, "input_output": json.dumps({"n": a})}
    return {**told, "response": {"content": f"<answer>{given}</answer>", "reasoning": None}}


def context(a: int, b: int, given: int) -> Mapping[str, Any]:
    """Chats under no common name, ids that are integers, a tool's turn."""
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]}
    turns = [call, {"role": "tool", "content": f"\\boxed{{{a * b}}}"}, said(f"\\boxed{{{given}}}")]
    return {"task_id": a, "context_messages": [user(f"{a} times {b}?")], "label": a * b, "completion": turns}


def unspoken(a: int, b: int, given: int) -> Mapping[str, Any]:
    """Names that speak of nothing: a response states what the reference holds, and one states something else."""
    return {"uuid": a, "q": f"{a} times {b}?", "a": a * b, "draft": f"So\n#### {given}"}


def another_task(a: int, b: int, given: int) -> Mapping[str, Any]:
    """A mapping `task` that is none of this package's own."""
    goals = [{"kind": "exact", "value": f"{a * b}"}]
    return {"task": {"prompt": f"{a} times {b}?", "targets": goals}, "run": {"final": f"\\boxed{{{given}}}"}}


def ideal(a: int, b: int, given: int) -> Mapping[str, Any]:
    return {"messages": [user(f"{a} times {b}?"), said(f"\\boxed{{{given}}}")], "ideal": f"{a * b}"}


def batch_api(a: int, b: int, given: int) -> Mapping[str, Any]:
    told = {"request": {"messages": [user(f"{a} times {b}?")]}, "expected": a * b}
    return {**told, "result": {"choices": [{"message": said(f"\\boxed{{{given}}}")}]}}


VARIANTS: Mapping[str, tuple[Callable[[int, int, int], Mapping[str, Any]], Callable[[Path, Rows], Path]]] = {
    "a list": (listed, as_parquet),
    "a list as text": (packed, as_parquet),
    "OlympiadBench": (olympiad, as_jsonl),
    "Chinese names": (chinese, as_csv),
    "capitals and spaces": (capitals, as_csv),
    "records": (keyed, as_jsonl),
    "chats under another name": (context, as_jsonl),
    "names that speak of nothing": (unspoken, as_jsonl),
    "another kind of task": (another_task, as_jsonl),
    "a chat with its ideal": (ideal, as_jsonl),
    "a batch of requests": (batch_api, as_jsonl),
    "one split": (gsm8k, as_one_split),
}
ALL = {**DATA_SETS, **VARIANTS}


@pytest.mark.parametrize("name", list(ALL))
def test_a_data_set_gets_right_rewards_in_three_commands(name: str, tmp_path: Path) -> None:
    row, written = ALL[name]
    source = written(tmp_path, [row(a, b, a * b + (place == 1)) for place, (a, b) in enumerate(NUMBERS)])
    conf, target = tmp_path / "mine" / "judge.yaml", tmp_path / "scored.jsonl"
    run("init", "math", tmp_path / "mine", "--from", source)
    assert "3 rows, 3 task ids, every one can be judged" in run("check", "--conf", conf, "--input", source)
    run("judge", "--conf", conf, "--input", source, "--output", target, "--jobs", 1)
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [row["judgement"]["reward"] for row in rows] == [1.0, 0.0, 1.0]
    assert all("times" in row["task"]["main_query"] or "?" in row["task"]["main_query"] for row in rows)


@pytest.mark.parametrize("name", list(DATA_SETS))
def test_the_rows_before_training_are_checked_without_responses(name: str, tmp_path: Path) -> None:
    # every row of a training set failed: "has no response"
    row, written = DATA_SETS[name]
    gone = ("response", "responses", "generation", "output", "completion", "model_output")
    rows = [{key: value for key, value in row(a, b, 0).items() if key not in gone} for a, b in NUMBERS]
    rows = [{**each, "messages": each["messages"][:-1]} if "messages" in each else each for each in rows]
    source, conf = written(tmp_path, rows), tmp_path / "mine" / "judge.yaml"
    run("init", "math", tmp_path / "mine", "--from", source)
    assert "3 rows, 3 task ids, every one can be judged" in run("check", "--conf", conf, "--input", source)


@pytest.mark.parametrize("name", ["GSM8K", "MATH", "DeepMath", "verl's Parquet", "CSV", "nested"])
def test_the_same_file_then_rewards_in_trl(name: str, tmp_path: Path) -> None:
    row, written = DATA_SETS[name]
    rows = [row(a, b, a * b) for a, b in NUMBERS]
    run("init", "math", tmp_path / "mine", "--from", written(tmp_path, rows))
    columns = {key: [each[key] for each in rows] for key in rows[0] if key not in ("prompt", "id")}
    reward = reward_func(tmp_path / "mine" / "judge.yaml")
    completions = [f"\\boxed{{{a * b + (place == 1)}}}" for place, (a, b) in enumerate(NUMBERS)]
    assert reward(["?"] * 3, completions, **columns) == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("name", list(ALL))
def test_the_same_yaml_then_rewards_in_verl(name: str, tmp_path: Path) -> None:
    # the YAML named the file's column, which verl's Parquet does not have: every row failed
    row, written = ALL[name]
    run("init", "math", tmp_path / "mine", "--from", written(tmp_path, [row(a, b, a * b) for a, b in NUMBERS]))
    asked = {"config": str(tmp_path / "mine" / "judge.yaml")}
    for place, (a, b) in enumerate(NUMBERS):
        given = row(a, b, a * b)
        truth = given["reward_model"]["ground_truth"] if "reward_model" in given else str(a * b)
        info = {"index": place, "raw_prompt": [user(f"{a} times {b}?")], "num_turns": 2}
        scored = [compute_score_sync("own", f"\\boxed{{{said}}}", truth, info, **asked) for said in (a * b, a * b + 1)]
        assert [each["score"] for each in scored] == [1.0, 0.0]


def test_a_missing_cell_in_the_first_row_hides_no_column(tmp_path: Path) -> None:
    rows = [sheet(a, b, a * b) for a, b in NUMBERS]
    source = as_jsonl(tmp_path, [{key: cell for key, cell in rows[0].items() if key == "id"}, *rows])
    run("init", "math", tmp_path / "mine", "--from", source)
    reads = "reads: {question: problem, response: model_output, answer: [expected_answer, answer]}"
    assert reads in (tmp_path / "mine" / "judge.yaml").read_text(encoding="utf-8")


def test_a_column_that_only_its_values_suggest_is_named_and_not_taken(tmp_path: Path) -> None:
    # no response states what it holds: it could be a pass rate as well
    source = as_jsonl(tmp_path, [{"question": f"{a} times {b}?", "rate": a / b} for a, b in NUMBERS])
    refused = CliRunner().invoke(app, ["init", "math", str(tmp_path / "a"), "--from", str(source)])
    assert (refused.exit_code, "--map rate=answer" in refused.output) == (2, True)


def test_a_second_reference_is_no_response(tmp_path: Path) -> None:
    rows = [{"question": f"{a} times {b}?", "answer": a * b, "worked": f"So\n#### {a * b}"} for a, b in NUMBERS]
    result = run("init", "math", tmp_path / "mine", "--from", as_jsonl(tmp_path, rows))
    assert "response: no column holds one" in result


def test_a_column_that_init_cannot_find_is_named_on_its_command_line(tmp_path: Path) -> None:
    source = as_jsonl(
        tmp_path,
        [{"q": f"{a}*{b}?", "r": {"v": [a * b], "w": a * b}, "said": f"\\boxed{{{a * b}}}"} for a, b in NUMBERS],
    )
    refused = CliRunner().invoke(app, ["init", "math", str(tmp_path / "a"), "--from", str(source)])
    assert (refused.exit_code, "--map r.v.0=answer, where a column may be a path" in refused.output) == (2, True)
    named = ("--map", "r.v.0=answer", "--map", "q=question", "--map", "said=response")
    run("init", "math", tmp_path / "mine", "--from", source, *named)
    judged = ("--conf", tmp_path / "mine" / "judge.yaml", "--input", source)
    assert "every one can be judged" in run("check", *judged)
    run("judge", *judged, "--output", tmp_path / "o.jsonl", "--jobs", 1)
    first = json.loads((tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (first["judgement"]["reward"], first["task"]["main_query"]) == (1.0, "12*6?")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {"question": "q", "gold": "72", "answer": "\\boxed{73}"},
            "it stands in answer, in its last \\boxed{}, not in gold",
        ),
        ({"question": "q", "answer": "so\n#### 72"}, "it stands in answer, after its #### response:"),
        (
            {"question": "q", "target": "72"},
            "it stands in target; columns named target often hold something else, look: "
            "1 different values in 1 rows response:",
        ),
        # the column that holds the answer is no other place
        ({"question": "q", "answer": {"value": "72"}}, "it stands in answer.value response:"),
        ({"question": "q", "answer": {"value": {"text": "72"}}}, "it stands in answer.value.text response:"),
        (
            {"question": "q", "choices": ["a", "b"], "answer": 1},
            "is the number of one of the choices, which init choice is for",
        ),
        ({"query": "q", "response": "so\n#### 72"}, "--map response=answer"),
        # the column was left out of those that were looked at
        ({"question": "q", "answer": ["2", "-2"]}, "among 'question', 'answer'; 'answer' holds ['2', '-2']: name it"),
        ({"question": "q", "answer": True}, "among 'question', 'answer'; 'answer' holds True: name it"),
        ({"question": "q", "answer": float("inf"), "response": "a"}, "'response'; 'answer' holds inf: name it"),
        (
            {"question": "6*7?", "response": "\\boxed{42}", "gem": 42},
            "it stands in gem, since responses state what it holds: change it if that is wrong",
        ),
    ],
)
def test_init_says_what_else_the_rows_could_be(row: Mapping[str, Any], words: str, tmp_path: Path) -> None:
    source = as_jsonl(tmp_path, [row])
    result = CliRunner().invoke(
        app, ["init", "math", str(tmp_path / "m"), "--from", str(source)], env={"COLUMNS": "400"}
    )
    assert words in " ".join(result.output.split())


def test_answers_that_stand_elsewhere_are_counted_with_what_to_set(tmp_path: Path) -> None:
    # six right answers as `#### 72` were six zeros, and nothing said so
    source = as_jsonl(tmp_path, [gsm8k(a, b, a * b) for a, b in NUMBERS])
    conf = tmp_path / "judge.yaml"
    conf.write_text("astuner:\n  task_judge:\n    judge: math\n", encoding="utf-8")
    checked = run("check", "--conf", conf, "--input", source)
    assert "3 of 3 rows: the answer stands after ####: set math.answer_in: [boxed, hash]" in checked
    judged = run("judge", "--conf", conf, "--input", source, "--output", tmp_path / "o.jsonl", "--jobs", 1)
    assert "3 of 3 answers stand after ####, where they are not read: add hash to astuner.task_judge" in judged


def test_map_takes_the_place_of_reads(tmp_path: Path) -> None:
    source = as_jsonl(tmp_path, [{"q": "6 * 7?", "gold": 42, "bad": 41, "text": r"\boxed{42}"}])
    conf, target = tmp_path / "judge.yaml", tmp_path / "o.jsonl"
    reads = "{question: q, answer: bad, response: text}"
    conf.write_text(f"astuner:\n  task_judge:\n    judge: math\n    reads: {reads}\n", encoding="utf-8")
    run("judge", "--conf", conf, "--input", source, "--output", target)
    assert json.loads(target.read_text())["judgement"]["reward"] == 0.0
    run("judge", "--conf", conf, "--input", source, "--output", target, "--map", "gold=answer")
    assert json.loads(target.read_text())["judgement"]["reward"] == 1.0
    run("audit", "--conf", conf, "--input", source, "--map", "gold=answer")


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        # a class stands in every row, the answer in most
        ([{"answer": None, "label": "algebra"}, {"answer": "72", "label": "algebra"}], "answer"),
        ([{"ground_truth": "72", "label": 3}, {"ground_truth": "", "label": 3}], "ground_truth"),
        ([{"solution": "so $\\boxed{72}$", "label": 3}, {"solution": "It is clear.\n" * 9, "label": 3}], "solution"),
        ([{"final_answer": "72", "solution": "It is clear.\n" * 9}], "final_answer"),
        ([{"target": "72"}], "target"),
        ([{"label": "72"}], "label"),
    ],
)
def test_init_names_the_likeliest_column_and_says_where_it_is_not_sure(rows: list[dict[str, Any]], column: str) -> None:
    found = look([Line(str(place), json.dumps({"question": "q", **row}).encode()) for place, row in enumerate(rows)])
    assert found.reads["answer"] == column
    sure = column in ("answer", "ground_truth", "solution")
    assert any("often hold something else" in why for why in found.whys) != sure


TESTS = {"inputs": ["2\n"], "outputs": ["4\n"]}
HUMAN_EVAL = {
    "task_id": "HumanEval/0",
    "prompt": "def f(x):\n",
    "test": "def check(candidate):\n    assert candidate(1)",
}
CHOICES = {"text": ["fire", "water"], "label": ["A", "B"]}
KINDS: Sequence[tuple[str, Mapping[str, Any], str]] = (
    ("code", {"question": "q", "input_output": json.dumps(TESTS)}, "reads: {question: question}"),
    ("code", {"text": "q", "task_id": 3, "test_list": ["assert f(1) == 2"]}, "judge: code"),
    ("code", {**HUMAN_EVAL, "entry_point": "f"}, "reads: {question: prompt}"),
    ("code", {"problem": "q", "own_tests": ["assert f(1) == 2"]}, "tests: own_tests"),
    # YAML reads these as a truth value and a number
    ("code", {"problem": "q", "yes": ["assert f(1) == 2"]}, 'tests: "yes"'),
    ("code", {"problem": "q", "1": ["assert f(1) == 2"]}, 'tests: "1"'),
    ("code", {"prompt": [user("q")], "reward_model": {"ground_truth": json.dumps(TESTS)}, "data_source": "d"}, "code"),
    ("countdown", {"target": 98, "nums": [44, 19, 35]}, "judge: countdown"),
    ("countdown", {"target": 9, "nums": [4, 5]}, "judge: countdown"),
    ("countdown", {"prompt": "q", "goal": "x", "target": 98, "numbers": [44, 19, 35]}, "nums: numbers"),
    ("choice", {"question": "q", "choices": CHOICES, "answerKey": "B"}, "judge_kwargs: {options: choices}"),
    ("choice", {"question": "q", "options": ["fire", "water"], "answer": "B", "answer_index": 1}, "answer: answer"),
    ("choice", {"prompt": "What is wet?\nA. fire\nB. water", "answer": "(B)", "response": "B"}, "answer: answer"),
    ("choice", {"question": "q", "choices": ["fire", "water", "air"], "answer": 1}, "count from 0 or from 1: write"),
    ("choice", {"question": "q", "choices": ["fire", "water"], "answer": 0}, "{options: choices, count_from: 0}"),
    ("choice", {"question": "q", "choices": {**CHOICES, "text": ["a", "b"]}, "answer": 2}, "count_from: 1}"),
    ("choice", {"question": "q", "options": ["fire", "water"], "gold": 2}, "judge_kwargs: {count_from: 1}"),
    ("choice", {"ctx": "q", "endings": ["fire", "water"], "label": "0"}, "{options: endings, count_from: 0}"),
    ("choice", {"question": "q", "options": {"A": "gold", "B": "tin"}, "answer": "tin", "answer_idx": "B"}, "choice"),
    # AQuA's column, and a small letter, which the math judge took for a variable
    ("choice", {"question": "q", "options": ["A)21", "B)22"], "correct": "B"}, "[correct, answer]"),
    ("choice", {"question": "q\nA) fire\nB) water", "answer": "b"}, "answer: answer"),
    (
        "choice",
        {"question": "q", "options": ["fire", "water"], "is_correct": "yes", "gold": "a"},
        "[gold, answer]",
    ),
    ("math", {"question": "q", "options": ["4", "5"], "final_ans": "4"}, "[final_ans, answer]"),
    # the value of an option, and no number of one
    ("math", {"question": "q", "options": ["70", "72"], "answer": 72}, "answer: answer"),
    ("math", {"ID": "I-1", "Problem": "q", "Solution": "809", "Answer": 809}, "[Answer, answer]"),
    ("sql", {"question": "q", "db_id": "shop", "query": "select 1"}, "judge_kwargs: {databases: databases}"),
    (
        "task_rubrics",
        {"prompt": [user("q")], "rubrics": [{"criterion": "is kind", "points": 5}]},
        "model_name: smollm2",
    ),
    ("task_rubrics", {"question": "q", "rubric": ["is kind"]}, "rubrics: rubric"),
    ("instruction", {"prompt": "q", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}, "instruction"),
    ("math", {"question": "q", "answer": "So\n#### 42"}, "math: {answer_in: [boxed]}"),
    ("math", {"question": "What is the sum?", "answer": "x+y"}, "judge: math"),
    ("math", {"question": "What is x?", "answer": "-a"}, "judge: math"),
    ("math", {"question": "How far?", "answer": "\\infty"}, "judge: math"),
    ("math", {"question": "Which variable?", "answer": "x"}, "judge: math"),
    ("llm", {"question": "Capital of France?", "answer": "Paris"}, "ground_truth: task.metadata.answer"),
    ("llm", {"question": "Who?", "answer": "Jean-Paul Sartre"}, "ground_truth: task.metadata.answer"),
    ("llm", {"question": "Which band?", "answer": "AC/DC"}, "ground_truth: task.metadata.answer"),
    ("llm", {"question": "首都？", "answer": "巴黎"}, "ground_truth: task.metadata.answer"),
    ("llm", {"question": "q", "answer": "It is a city on a river. " * 9}, "ground_truth: task.metadata.answer"),
    ("llm", {"instruction": "Write a poem.", "output": "Roses"}, "how well does it answer the question".capitalize()),
)


@pytest.mark.parametrize(("kind", "row", "words"), KINDS)
def test_rows_tell_their_judge_and_the_configuration_loads(
    kind: str, row: Mapping[str, Any], words: str, tmp_path: Path
) -> None:
    source, folder = as_jsonl(tmp_path, [row, row]), tmp_path / "mine"
    told = json.loads(run("init", "auto", folder, "--from", source, "--json"))
    assert told["why"][0].startswith(f"judge: {kind}, since ")
    made = (folder / "judge.yaml").read_text(encoding="utf-8")
    assert words in made
    (tmp_path / "databases").mkdir()
    (folder / "judge.yaml").write_text(made.replace("databases: databases", f"databases: {tmp_path / 'databases'}"))
    run("check", "--conf", folder / "judge.yaml")


EMPTY = {"question": "What is wet?\nA. fire\nB. water", "response": "B"}


@pytest.mark.parametrize(
    ("cell", "kind", "others"),
    [
        ("B", "choice", [None] * 3),
        ("72", "math", [None] * 3),
        (72, "math", [float("nan")] * 3),
        (0, "math", ["NaN", "", None]),
        ("a city", "llm", [None] * 3),
        # what stands there is no answer of the same kind
        ("72", "llm", ["a city", "a town", "a lake"]),
    ],
)
def test_an_empty_reference_tells_no_kind(cell: Any, kind: str, others: list[Any], tmp_path: Path) -> None:
    # three in seven were enough for a model that is shown no reference
    source = as_jsonl(tmp_path, [{**EMPTY, "answer": answer} for answer in [*others, *[cell] * 4]])
    told = json.loads(run("init", "auto", tmp_path / "mine", "--from", source, "--json"))
    assert told["why"][0].startswith(f"judge: {kind}, since answer holds")
    assert ("answer: 3 of 7 rows have none there that can be read" in told["why"]) == ("a city" not in others)


def test_a_program_goes_on_with_its_prompt_whatever_reads_the_row(tmp_path: Path) -> None:
    # where the response's column is one of a trainer's, the prompt was no column, and a body alone no program
    row = {
        "prompt": "import math\n\ndef f(x):\n    # root\n",
        "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(4) == 2\n",
        "canonical_solution": "    return math.sqrt(x)\n",
    }
    body = "```python\n    return math.sqrt(x)\n```"
    for name in ("response", "completion", "generation"):
        source, folder, scored = as_jsonl(tmp_path, [{**row, name: body}]), tmp_path / name, tmp_path / "o.jsonl"
        run("init", "auto", folder, "--from", source)
        judged = ("--conf", folder / "judge.yaml", "--input", source)
        assert "every one can be judged" in run("check", *judged)
        run("judge", *judged, "--output", scored, "--jobs", 1)
        assert json.loads(scored.read_text(encoding="utf-8"))["judgement"]["reward"] == 1.0


@pytest.mark.parametrize(
    "row",
    [
        # any list of texts was a program's tests
        {"question": "q", "tags": ["algebra", "easy"], "answer": "72"},
        {"question": "q", "options": ["fire", "water"], "answer": "B"},
        {"question": "q", "examples": [{"in": 1}], "answer": "72"},
    ],
)
def test_a_list_of_texts_is_no_test_of_a_program(row: Mapping[str, Any], tmp_path: Path) -> None:
    source = as_jsonl(tmp_path, [row])
    told = json.loads(run("init", "auto", tmp_path / "mine", "--from", source, "--json"))
    assert not told["why"][0].startswith("judge: code")


def test_a_column_holds_what_the_first_row_that_fills_it_has() -> None:
    rows: list[dict[str, Any]] = [
        {"a": None, "in": {"x": 1, "y": None}},
        {"a": 2, "in": {"x": 3, "y": 4, "deep": {"z": 5}}},
        {"a": 6, "b": "c", "in": {"deep": {"z": 7, "w": 8}}},
    ]
    whole = {"a": 2, "b": "c", "in": {"x": 1, "y": 4, "deep": {"z": 5, "w": 8}}}
    assert whole_row(rows) == whole
    assert rows[0] == {"a": None, "in": {"x": 1, "y": None}}
