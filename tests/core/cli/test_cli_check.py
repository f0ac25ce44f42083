"""`astuner check --input`: what could not be judged, its kind, its place, and an exit code that tells."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agentscope_tuner.cli.app import app
from agentscope_tuner.cli.check import Finding, TaskReport
from tests.rubric_world import write_samples

MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
COUNTDOWN = "agentscope_tuner.task_judge.countdown_answer_as_judge->CountdownAnswerAsJudge"
ENV = "agentscope_tuner.task_judge.env_service_as_judge->EnvServiceJudge"


def run(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def conf(folder: Path, protocol: str, **section: Any) -> Path:
    path = folder / "conf.yaml"
    path.write_text(json.dumps({"astuner": {"task_judge": {"judge_protocol": protocol, **section}}}), encoding="utf-8")
    return path


def task(task_id: str = "", **metadata: Any) -> str:
    return json.dumps({"task_id": task_id, "main_query": "What is it?", "metadata": metadata})


def checked(folder: Path, configuration: Path, lines: list[str]) -> tuple[int, dict[str, Any]]:
    rows = folder / "tasks.jsonl"
    rows.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run("check", "--conf", configuration, "--input", rows, "--json")
    return result.exit_code, json.loads(result.stdout)


def kinds(report: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        problem["kind"]: [first["where"].rpartition(":")[2] for first in problem["first"]]
        for problem in report["problems"]
    }


BROKEN_REFERENCES: list[tuple[object, str]] = [
    (None, "missing"),
    ("", "missing"),
    ("$$", "missing"),
    ("#### ", "missing"),
    (float("nan"), "NaN or infinite"),
    (float("-inf"), "NaN or infinite"),
    ("nan", "NaN or infinite"),
    ("$-inf$", "NaN or infinite"),
    (r"\boxed{NaN}", "NaN or infinite"),
    ("\frac{1}{2}", "damaged"),
    ("3\times 4", "damaged"),
    ("a\neq b", "damaged"),
    ("2\beta", "damaged"),
    ("3 +", "unreadable"),
    (r"\frac{1}{", "unreadable"),
    ("x" * 20_000, "over the bounds"),
    (True, "wrong type"),
    (["4"], "wrong type"),
    ({"value": 4}, "wrong type"),
]


@pytest.mark.parametrize(("reference", "kind"), BROKEN_REFERENCES, ids=lambda value: ascii(value)[:20])
def test_a_reference_that_is_none_is_listed_by_its_kind(reference: object, kind: str, tmp_path: Path) -> None:
    code, report = checked(tmp_path, conf(tmp_path, MATH), [task("a", answer="42"), task("b", answer=reference)])
    assert (code, kinds(report)) == (3, {kind: ["2"]})
    (problem,) = report["problems"]
    assert problem["rows"] == 1
    assert problem["first"][0]["task_id"] == "b"


def test_what_the_judge_reads_is_not_listed(tmp_path: Path) -> None:
    sound = ["42", 42, 42.0, 0.5, r"\frac{1}{2}", "x=1,\ny=2", "so 6*7\n#### 42", r"\text{None}", r"\infty", "blue"]
    code, report = checked(tmp_path, conf(tmp_path, MATH), [task(f"t{n}", answer=a) for n, a in enumerate(sound)])
    assert (code, report["rows"], report["task_ids"], report["problems"]) == (0, 10, 10, [])
    # compared by its characters, a reference needs no meaning
    exact = conf(tmp_path, MATH, math={"equivalence": "exact"})
    assert checked(tmp_path, exact, [task("a", answer="3 +")])[0] == 0
    assert checked(tmp_path, exact, [task("a", answer="nan")])[0] == 3


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("3,5", "if its comma is a decimal point, write 3.5"),
        ("-0,25", "if its comma is a decimal point"),
        ("Paris", "`judge: text_match` is for words"),
        ("infinitely many solutions", "`judge: text_match` is for words"),
        ("B", "`judge: choice` for multiple choice"),
        (r"\text{(B)}", "`judge: choice` for multiple choice"),
        # what is read as it is meant is not noted
        ("3, 5", None),
        ("1,234", None),
        ("1.234,50", None),
        ("b", None),
        ("5 km", None),
        ("x+1", None),
        ("four", None),
        ("two hundred", None),
        ("四", None),
    ],
)
@pytest.mark.parametrize("judge", ["math", "combined", "routed"])
def test_a_reference_that_may_be_meant_otherwise_than_it_is_read_is_noted(
    judge: str, reference: str, words: str | None, tmp_path: Path
) -> None:
    math = {"judge": "math"}
    section = {
        "math": math,
        "combined": {"judge": "combined", "parts": {"right": math}},
        "routed": {"judge": "routed", "by": "task.metadata.kind", "routes": {"sums": math}},
    }[judge]
    path = tmp_path / "conf.yaml"
    path.write_text(json.dumps({"astuner": {"task_judge": section}}), encoding="utf-8")
    rows = [task("a", answer=reference, kind="sums"), task("b", answer="42", kind="sums")]
    code, report = checked(tmp_path, path, rows)
    assert (code, list(report["notes"].values())) == (0, [] if words is None else [1])
    assert words is None or words in next(iter(report["notes"]))


def test_rows_of_one_task_must_state_one_reference(tmp_path: Path) -> None:
    lines = [
        task("a", answer="1/2"),
        task("b", answer="1/2"),
        task("a", answer="0.5"),
        task("a", answer=r"\frac{1}{2}"),
        task("a", answer="0.6"),
        task("", answer="1"),
        task("", answer="2"),
        task("c", answer=None),
        task("c", answer="3"),
        task("c", answer="4"),
        task("d", answer="y" * 250),
        task("d", answer="z" * 250),
    ]
    code, report = checked(tmp_path, conf(tmp_path, MATH), lines)
    assert code == 3
    assert kinds(report) == {"contradiction": ["5", "10", "12"], "missing": ["8"]}
    assert report["task_ids"] == 4
    said = [first["problem"] for first in report["problems"][0]["first"]]
    assert said[0] == 'contradiction: {"answer": "0.6"} here, {"answer": "1/2"} in line 1'
    assert said[1].endswith("in line 9")
    assert said[2].endswith("another in line 11")


def test_rollouts_are_read_too_and_broken_rows_are_listed(tmp_path: Path) -> None:
    def rollout(answer: str, said: str) -> str:
        return json.dumps(
            {"id": said, "task": json.loads(task("a", answer=answer)), "output": {"metadata": {"final_answer": said}}}
        )

    lines = [
        rollout("42", "x"),
        rollout("42", "y"),
        rollout("43", "z"),
        "{not json",
        "[1]",
        '{"metadata": 3}',
        "\xff" * 3,
    ]
    # "task" is an ordinary column in some data sets
    lines.append('{"task": "algebra", "metadata": {"answer": "1"}}')
    code, report = checked(tmp_path, conf(tmp_path, MATH), lines)
    assert (code, report["rows"]) == (3, 8)
    assert kinds(report) == {"contradiction": ["3"], "unreadable row": ["4", "5", "6", "7"]}


COUNTDOWN_ROWS: list[tuple[dict[str, Any], str | None]] = [
    ({"target": 24, "nums": [3, 3, 8, 8]}, None),
    ({"target": 0.3, "nums": [0.1, 3]}, None),
    ({"target": 24, "nums": [1, 2, 3, 4, 5, 6]}, None),
    ({"nums": [4, 6]}, "missing"),
    ({"target": 24}, "missing"),
    ({"target": None, "nums": [4, 6]}, "missing"),
    ({"target": "24", "nums": "[4, 6]"}, None),
    ({"target": "two dozen", "nums": [4, 6]}, "wrong type"),
    ({"target": 24, "nums": "4 6"}, "wrong type"),
    ({"target": 24, "nums": [4, None]}, "wrong type"),
    ({"target": True, "nums": [4, 6]}, "wrong type"),
    ({"target": float("nan"), "nums": [4, 6]}, "NaN or infinite"),
    ({"target": 24, "nums": [4, float("inf")]}, "NaN or infinite"),
    ({"target": 24, "nums": []}, "wrong type"),
    ({"target": 24, "nums": [1] * 101}, "over the bounds"),
    ({"target": 25, "nums": [4, 6]}, "unreachable"),
    ({"target": 1_000, "nums": [3, 3, 8, 8]}, "unreachable"),
]


@pytest.mark.parametrize(("metadata", "kind"), COUNTDOWN_ROWS)
def test_countdown_puzzles_are_checked(metadata: dict[str, Any], kind: str | None, tmp_path: Path) -> None:
    code, report = checked(tmp_path, conf(tmp_path, COUNTDOWN), [task("a", **metadata)])
    assert (code, list(kinds(report))) == ((3, [kind]) if kind else (0, []))


@pytest.mark.parametrize(
    ("said", "notes"),
    [
        ("<answer>9+3</answer>", ["; what stands in another place (tag) is not read: ask for the box in the prompt"]),
        ("I give up", [""]),
        ("\\boxed{9+3}", []),
    ],
)
def test_an_equation_that_is_not_read_is_noted(said: str, notes: list[str], tmp_path: Path) -> None:
    # TinyZero's prompts ask for tags: every rollout got 0.0, and nothing said so before
    row = {"task": {"metadata": {"target": 12, "nums": [9, 3]}}, "output": {"metadata": {"final_answer": said}}}
    status, report = checked(tmp_path, conf(tmp_path, COUNTDOWN), [json.dumps(row)])
    assert (status, report["notes"]) == (0, {f"no \\boxed{{}} in the answer{note}": 1 for note in notes})


def test_countdown_puzzles_of_one_task_may_differ_in_their_order_alone(tmp_path: Path) -> None:
    lines = [task("a", target=24, nums=[4, 6]), task("a", target=24.0, nums=[6, 4]), task("a", target=10, nums=[4, 6])]
    lines.append('{"task": {"task_id": "b"}, "output": {"metadata": {"target": 24, "nums": [4, 6]}}}')
    code, report = checked(tmp_path, conf(tmp_path, COUNTDOWN), lines)
    assert (code, kinds(report)) == (3, {"contradiction": ["3"]})


def test_tasks_of_environments_need_an_id_and_a_kind(tmp_path: Path) -> None:
    lines = [
        '{"task_id": "train-1", "env_type": "frozenlake"}',
        '{"task_id": "train-1", "env_type": "frozenlake"}',
        '{"task_id": " ", "env_type": "frozenlake"}',
        '{"task_id": "train-2"}',
    ]
    code, report = checked(tmp_path, conf(tmp_path, ENV), lines)
    assert (code, kinds(report)) == (3, {"missing": ["3", "4"]})


@pytest.mark.parametrize("mode", ["pointwise", "listwise"])
def test_samples_for_rubrics_are_checked_before_any_is_learned(mode: str, tmp_path: Path) -> None:
    samples = write_samples(tmp_path / "samples.jsonl", listwise=mode == "listwise")
    section = {
        "model_name": "m",
        "grader_mode": mode,
        "experiment_dir": str(tmp_path),
        "dataset_file": {"training": {"file_path": str(samples)}},
    }
    path = tmp_path / "conf.yaml"
    both = {"judge_type": "rubrics_auto_grader", "rubrics_auto_grader": section}
    path.write_text(json.dumps({"astuner": {"task_judge": both}}), encoding="utf-8")
    lines = samples.read_text(encoding="utf-8").splitlines()
    assert checked(tmp_path, path, lines)[0] == 0
    broken = {
        "pointwise": [{"answer": "a", "score": 11}, {"answer": "", "score": 3}, {"score": 3}],
        "listwise": [
            {"candidates": [{"answer": "a", "rank": 1}]},
            {"candidates": [{"answer": "a", "rank": 1}, {"answer": "b", "rank": 1}]},
            {"candidates": [{"answer": "a", "rank": 1}, {"answer": "b"}]},
        ],
    }[mode]
    rows = [json.dumps({"main_query": "What?", "metadata": metadata}) for metadata in broken]
    code, report = checked(tmp_path, path, [*lines, *rows, '{"metadata": {}}'])
    assert (code, kinds(report)) == (3, {"unusable label": ["21", "22"], "missing": ["23", "24"]})
    shown = run("check", "--conf", path, "--input", tmp_path / "tasks.jsonl")
    assert "no rubrics are learned yet" in shown.output


OWN = """
from agentscope_tuner import BaseJudge


class Mine(BaseJudge):
    reference_keys = ("tests",)

    def compute_reward(self, workflow_task, workflow_output):
        return 1.0, True

    def check_task(self, task, output=None):
        if "tests" not in task.metadata:
            return "no tests: the program could not be run"
        return None if task.metadata["tests"] else 1 / 0


class Silent(BaseJudge):
    def compute_reward(self, workflow_task, workflow_output):
        return 1.0, True
"""


def test_a_judge_of_ones_own_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_check_judges.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_check_judges", raising=False)
    lines = [task("a", tests=[1]), task("b"), task("a", tests=[2]), task("c", tests=[])]
    code, report = checked(tmp_path, conf(tmp_path, "own_check_judges->Mine"), lines)
    assert (code, kinds(report)) == (3, {"no tests": ["2"], "contradiction": ["3"], "check_task raised": ["4"]})
    assert "ZeroDivisionError" in report["problems"][2]["first"][0]["problem"]
    silent = conf(tmp_path, "own_check_judges->Silent")
    assert checked(tmp_path, silent, [task("a", answer=1), task("b"), task("a", answer=1)])[0] == 0
    assert checked(tmp_path, silent, [task("a", answer=1), task("a", answer=2)])[0] == 3


def test_people_read_counts_and_first_places(tmp_path: Path) -> None:
    rows = tmp_path / "tasks.jsonl"
    lines = [task(f"t{number}", answer=None if number % 2 else "42") for number in range(16)]
    rows.write_text("\n".join([*lines, task("[bold]x", answer="\x1b[31m3 +")]), encoding="utf-8")
    result = run("check", "--conf", conf(tmp_path, MATH), "--input", rows)
    assert result.exit_code == 3
    said = result.output
    assert said.startswith("loaded: MathAnswerAsJudge, 0 rules, on_error: raise\n")
    assert "tasks.jsonl: 17 rows, 17 task ids, 9 could not be judged" in said
    assert "missing: 8 rows" in said
    assert "tasks.jsonl:2 't1': the reference answer must be a str" in said
    assert "… and 3 more" in said
    assert "damaged: 1 row\n" in said
    # an answer's brackets are no markup, and its escapes do not reach the terminal
    assert "'[bold]x'" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("columns", ["60", pytest.param("200", marks=pytest.mark.slow)])
def test_it_fits_the_terminal(columns: str, tmp_path: Path) -> None:
    rows = tmp_path / "tasks.jsonl"
    rows.write_text("\n".join(task(f"t{number}" * 9, answer="x" * 20_000) for number in range(3)), encoding="utf-8")
    script = "from agentscope_tuner.cli import main; main()"
    arguments = ["check", "--conf", str(conf(tmp_path, MATH)), "--input", str(rows)]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={"COLUMNS": columns, "PATH": "", "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= int(columns)
    assert "over the bounds: 3 rows" in done.stdout


def test_what_cannot_be_checked_at_all_is_exit_code_2(tmp_path: Path) -> None:
    good = conf(tmp_path, MATH)
    (tmp_path / "empty.jsonl").write_text("\n\n", encoding="utf-8")
    for arguments, words in (
        (["--conf", good, "--input", tmp_path / "nowhere.jsonl"], "nowhere.jsonl"),
        (["--conf", good, "--input", tmp_path / "empty.jsonl"], "holds no row"),
        (["--conf", good, "--format", "trl"], "--input"),
        (["--conf", good, "--input", tmp_path / "empty.jsonl", "astuner.task_judge.on_error=never"], "on_error"),
    ):
        result = run("check", *arguments)
        assert result.exit_code == 2
        assert words in result.output.replace("\n", "")


def test_rows_of_a_trainer_are_read_as_judge_reads_them(tmp_path: Path) -> None:
    rows = [{"gold": "42", "uid": 1}, {"gold": None, "uid": 2}, {"gold": "3 +", "uid": 3}]
    path = tmp_path / "dump.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    mapped = ["--map", "gold=task.metadata.answer", "--map", "uid=task.task_id"]
    result = run("check", "--conf", conf(tmp_path, MATH), "--input", path, "--json", *mapped)
    assert (result.exit_code, kinds(json.loads(result.stdout))) == (3, {"unreadable row": ["2"], "unreadable": ["3"]})
    assert run("check", "--conf", conf(tmp_path, MATH), "--input", path, "--format", "none").exit_code == 2


@pytest.mark.parametrize(("given", "place"), [("rows", "a.jsonl/1"), ("rows/a.jsonl", "a.jsonl:1")])
def test_a_row_that_is_shown_is_named_with_its_file(given: str, place: str, tmp_path: Path) -> None:
    # of a folder the rows were 1, 2 and 3, of any file
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.jsonl").write_text(task("t", answer="4") + "\n", encoding="utf-8")
    heads = run("check", "--conf", conf(tmp_path, MATH), "--input", tmp_path / given).output.split("┃")
    assert place in map(str.strip, heads)


def test_a_check_cannot_make_a_kind_of_every_row() -> None:
    report = TaskReport()
    for number in range(1_000):
        report.add(Finding(f"f:{number}", "t", f"kind {number}: " + "x" * 10_000))
    assert len(report.counts) == 51
    assert report.counts["other"] == 950
    assert len(report.first["other"][0].problem) == 1_000


def test_standard_input_is_read(tmp_path: Path) -> None:
    result = run("check", "--conf", conf(tmp_path, MATH), "--input", "-", stdin=task("a", answer=""))
    assert result.exit_code == 3
    assert "<stdin>:1 'a'" in result.output
