"""`astuner explain` shows every stage."""

from __future__ import annotations

import typer
from typer.testing import CliRunner

from agentscope_tuner.cli.explain import explain

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


def test_the_worker_is_asked_last() -> None:
    _, rows = run("\\sqrt{12}", "so \\boxed{\\frac{6}{\\sqrt{3}}}")
    assert [row[:2] for row in rows[-2:]] == [["symbolic", "equal"], ["sympy", "not reached"]]


def test_a_formula_of_the_question_is_no_answer() -> None:
    _, rows = run("5\\sqrt{2}", "\\sqrt{50}", "--question", "Simplify $\\sqrt{50}$.")
    assert "copied: \\sqrt{50} stands in the question" in next(row[3] for row in rows if row[1] == "different")


def test_a_reference_that_cannot_be_read_is_an_error() -> None:
    code, _ = run("3 +", "3")
    assert code == 2
