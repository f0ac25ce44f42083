"""`astuner explain` shows every stage."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app as commands
from agentscope_tuner.cli.explain import explain
from tests.part_judges import Says, ranks, says, says_later

app = typer.Typer()
app.command()(explain)


def run(reference: str, answer: str, *options: str) -> tuple[int, list[list[str]]]:
    result = CliRunner().invoke(app, ["--reference", reference, "--answer", answer, *options], env={"COLUMNS": "200"})
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in result.output.splitlines() if "│" in line]
    # a long reason goes on in a row of its own
    return result.exit_code, [row for row in rows if row[0]]


def test_stages_are_listed_up_to_the_one_that_decides() -> None:
    code, rows = run("\\frac{1}{2}", "0.5")
    assert code == 0
    assert [row[:2] for row in rows] == [
        ["exact", "passed on"],
        ["normalised", "passed on"],
        ["numeric", "equal"],
        ["structure", "not reached"],
        ["symbolic", "not reached"],
        ["sympy", "not reached"],
    ]
    assert rows[2][3] == "numeric: 0.5 = \\frac{1}{2}"
    assert all(re.fullmatch(r"\d+\.\d{3} ms", row[2]) for row in rows[:3])
    assert [row[2] for row in rows[3:]] == ["", "", ""]


@pytest.mark.parametrize(
    ("reference", "answer", "lines"),
    [
        ("\\frac{1}{2}", "0.5", ["reference \\frac{1}{2} is read as 1/2", "answer 0.5 is read as 1/2"]),
        (
            "(1,2]",
            "x^2",
            ["reference (1,2] is read as Region(Interval(1, 2, high_in))", "answer x^2 is read as Power(x, 2)"],
        ),
        ("5", "\\frac{1}{", ["reference 5 is read as 5", "answer \\frac{1}{ is read as words, no mathematics: "]),
        ("5", "[red]5[/]", ["reference 5 is read as 5", "answer [red]5[/] is read as "]),
    ],
)
def test_what_the_math_judge_reads_in_both_texts_is_shown_first(reference: str, answer: str, lines: list[str]) -> None:
    said = CliRunner().invoke(app, ["--reference", reference, "--answer", answer], env={"COLUMNS": "200"}).output
    assert [line[: len(told)] for line, told in zip(said.splitlines(), lines, strict=False)] == lines


def test_a_reading_of_any_length_is_cut() -> None:
    said = CliRunner().invoke(app, ["--reference", "5", "--answer", "+".join(["x^2"] * 90)], env={"COLUMNS": "200"})
    assert max(map(len, said.output.splitlines()[:2])) < 900


def test_the_worker_is_asked_last() -> None:
    _, rows = run("\\sqrt{x^4+2x^2+1}", "so \\boxed{x^2+1}")
    assert [row[:2] for row in rows[-2:]] == [["symbolic", "equal"], ["sympy", "not reached"]]


def test_a_formula_of_the_question_is_no_answer() -> None:
    _, rows = run("5\\sqrt{2}", "\\sqrt{50}", "--question", "Simplify $\\sqrt{50}$.")
    assert "copied: \\sqrt{50} stands in the question" in next(row[3] for row in rows if row[1] == "different")


def test_a_reference_that_cannot_be_read_is_an_error() -> None:
    code, _ = run("3 +", "3")
    assert code == 2


def explained(tmp_path: Path, section: dict[str, Any], rows: list[dict[str, Any]], *options: str) -> tuple[int, str]:
    conf, file = tmp_path / "judge.yaml", tmp_path / "rows.jsonl"
    conf.write_text(json.dumps({"astuner": {"task_judge": section}}), encoding="utf-8")
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    arguments = ["--conf", str(conf), "--input", str(file), *options]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "240"})
    return result.exit_code, result.output


def row(name: str, answer: str, source: str = "math", task_id: str = "t", **said: Any) -> dict[str, Any]:
    task = {"task_id": task_id, "metadata": {"answer": "1/2", "data_source": source}}
    return {"id": name, "task": task, "output": {"metadata": {"final_answer": answer, "said": said}}}


MATH = {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}
PARTS = {
    "correct": {**MATH, "rules": [{"id": "empty", "kind": "non_empty", "action": "mark_bad"}]},
    "style": says("style", weight=0.3, when="correct.is_success", optional=True),
    "late": says_later("late", weight=0.1),
}
COMBINED = {"judge_type": "combined", "parts": PARTS}
ROUTED = {"judge_type": "routed", "by": "task.metadata.data_source", "routes": {"math": COMBINED, "rank": ranks("r")}}


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_row_without_the_column_that_the_judge_reads_says_so(tmp_path: Path, options: list[str]) -> None:
    rows = [{"id": "x", "task": {"metadata": {"gold": "2"}}, "output": {"metadata": {"final_answer": "2"}}}]
    code, shown = explained(tmp_path, {**MATH, "reads": {"answer": "solution"}}, rows, *options)
    assert code == 3, shown
    assert "solution" in shown


def test_a_verdict_is_shown_part_by_part_and_every_judge_is_asked_once(tmp_path: Path) -> None:
    Says.asked.clear()
    rows = [row("x", ""), row("y", "\\boxed{0.5}", style=0.5, late=1.0)]
    code, shown = explained(tmp_path, COMBINED, rows, "--id", "y")
    assert code == 0
    assert sorted(Says.asked) == ["late", "style"]
    for line in (
        "y, CombinedJudge: judged, reward 1.25, success",
        "part correct × 1: MathAnswerAsJudge: judged, reward 1, success",
        "rule empty: kept",
        "part style × 0.3: Says, when correct.is_success, optional: judged, reward 0.5, success",
        "part late × 0.1: SaysLater: judged, reward 1, success",
        "1 × 1 (correct) + 0.3 × 0.5 (style) + 0.1 × 1 (late) = 1.25",
        "seen 1, judge_calls 2",
        "numeric: 0.5 = 1/2",
    ):
        assert line in shown


def test_what_was_skipped_or_never_reached_says_why(tmp_path: Path) -> None:
    rows = [row("x", "\\boxed{3}", style="down", late="down")]
    _, shown = explained(tmp_path, COMBINED, rows)
    assert "part style × 0.3: Says, when correct.is_success, optional: skipped: not correct.is_success" in shown
    assert "part late × 0.1: SaysLater: failed, cause endpoint" in shown
    assert "x, CombinedJudge: failed, cause endpoint" in shown
    parts = {"first": says("first"), "second": says_later("second")}
    _, shown = explained(tmp_path, {"judge_type": "combined", "parts": parts}, [row("x", "", first="down")])
    assert "part second × 1: SaysLater: not reached: an earlier part has no verdict" in shown
    _, shown = explained(tmp_path, COMBINED, [row("x", "", late=1.0)])
    assert "rule empty: broken, mark_bad" in shown
    assert "part correct × 1: MathAnswerAsJudge: filtered, reward 0, no success" in shown


def test_a_route_is_shown_with_its_parts(tmp_path: Path) -> None:
    section = {**ROUTED, "routes": {"math": COMBINED}}
    _, shown = explained(tmp_path, section, [row("x", "\\boxed{0.5}", style=0.5, late=1.0)])
    assert "x, RoutedJudge: judged, reward 1.25, success" in shown
    assert "route math: CombinedJudge: judged, reward 1.25" in shown
    assert "part late × 0.1: SaysLater: judged" in shown
    _, shown = explained(tmp_path, section, [row("x", "", "physics")])
    assert "no route has that name; the routes are math" in " ".join(shown.split())


def test_a_row_of_a_judge_that_ranks_is_shown_among_its_group(tmp_path: Path) -> None:
    rows = [row(f"r{n}", "", "rank", "g", r=float(n)) for n in range(3)]
    rows = [row("before", "", "rank", "f", r=9.0), *rows, row("behind", "", "rank", "h", r=9.0)]
    _, shown = explained(tmp_path, ROUTED, rows, "--id", "r1")
    assert "r1, RoutedJudge, in a group of 3: judged, reward 0.5, no success" in shown


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--reference", "1"], "give --conf and --input, or --reference and --answer"),
        ([], "give --conf and --input, or --reference and --answer"),
        (["--conf", "x.yaml"], "give --conf and --input"),
        (["--conf", "x.yaml", "--input", "x", "--answer", "1"], "give one of the two"),
        (["--conf", "no.yaml", "--input", "x"], "no configuration file 'no.yaml'"),
    ],
)
def test_half_a_question_is_refused(options: list[str], told: str) -> None:
    result = CliRunner().invoke(app, options, env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert told in result.output


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("24 and 48 make 72.\n#### 72", "equal: exact: 72 = 72"),
        ("#### 71", "different: numeric: 71 ≠ 72"),
        ("so \\boxed{72}\n#### 72", "equal: exact: 72 = 72"),
        ("The answer is 72", "equal: "),
        ("#### ", "different: "),
        ("<think>easy</think> <answer>72</answer>", "equal: exact: 72 = 72"),
        ("<answer>71</answer>", "different: numeric: 71 ≠ 72"),
    ],
)
def test_an_output_is_read_where_it_states_its_answer(answer: str, told: str) -> None:
    said = CliRunner().invoke(app, ["--reference", "72", "--answer", answer], env={"COLUMNS": "200"}).output
    assert said.splitlines()[-1].startswith(told), said


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("<answer>72</answer>", "between its <answer> tags; {unread}: write math: {answer_in: [boxed, tag]} under"),
        ("#### 72", "after ####; {unread}: write math: {answer_in: [boxed, hash]} under astuner.task_judge, or"),
        ("The answer is 72.", "as if it stood in a box; {unread}: write math: {answer_in: [boxed, label]} under"),
        ("72", "{unread}: ask for the box in the prompt"),
        ("\\boxed{72}", None),
    ],
)
def test_an_answer_outside_of_a_box_is_told_the_setting_that_reads_it(answer: str, note: str | None) -> None:
    said = CliRunner().invoke(app, ["--reference", "72", "--answer", answer], env={"COLUMNS": "200"}).output
    unread = "by default a judge gives 0 to a response without \\boxed{}"
    assert note.replace("{unread}", unread) in said if note else "note:" not in said


def test_a_row_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    code, shown = explained(tmp_path, COMBINED, [row("x", "")], "--id", "z")
    assert (code, "--input holds no row with the id 'z'" in shown) == (2, True)


def test_the_configuration_is_shown_as_a_tree(tmp_path: Path) -> None:
    conf = tmp_path / "judge.yaml"
    conf.write_text(json.dumps({"astuner": {"task_judge": ROUTED}}), encoding="utf-8")
    tree = [
        "├── math: CombinedJudge, weighted_sum, success: all",
        "│   ├── correct × 1: MathAnswerAsJudge, 1 rule",
        "│   ├── style × 0.3: Says, when correct.is_success, optional",
        "│   └── late × 0.1: SaysLater",
        "└── rank: Ranks",
    ]
    shown = CliRunner().invoke(commands, ["config", "--conf", str(conf)]).output
    assert shown.splitlines()[:6] == ["# RoutedJudge, by task.metadata.data_source", *(f"# {line}" for line in tree)]
    assert yaml.safe_load(shown)["astuner"]["task_judge"]["judge_type"] == "routed"
    shown = CliRunner().invoke(commands, ["check", "--conf", str(conf)]).output
    assert shown.splitlines() == ["loaded: RoutedJudge, 0 rules, on_error: raise", *tree]
