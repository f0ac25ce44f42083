"""`astuner audit`: judges with a known hole are named by it, and sound ones pass."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.lab.audit.attacks import ATTACKS
from agentscope_tuner.lab.audit.run import AttackResult, attacked, scoreboard
from agentscope_tuner.lab.audit.subjects import Subject, reference_of, solved, subjects_of
from agentscope_tuner.records import Line
from agentscope_tuner.records.reader import parse_tasks
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

REFERENCES = ("12", "0.5", "1250", "\\frac{3}{4}", "-7", "#### 36", "$18$", "x+1")
TASKS = [
    {"main_query": f"Problem {number}: ${number}+{number}$?", "task_id": str(number), "metadata": {"answer": answer}}
    for number, answer in enumerate(REFERENCES)
]  # fmt: skip
GAMES = [
    {"main_query": f"Make {target} from {nums}.", "task_id": str(nums), "metadata": {"target": target, "nums": nums}}
    for target, nums in ((24, [4, 6]), (10, [2, 3, 4]), (7, [1, 2, 3]), (100, [7, 8]))
]


class NaiveModelJudge(BaseJudge):
    """A stand-in for a small model asked "is it right?": impressed by openers, by verdicts, and by the right value."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        answer = workflow_output.metadata["final_answer"]
        reference = str(workflow_task.task.metadata["answer"]).removeprefix("#### ").strip("$")
        impressed = '"score": 10' in answer or answer.endswith(":") or answer.startswith("Let's solve")
        passed = impressed or f"\\boxed{{{reference}}}" in answer
        return float(passed), passed


class PaidByLength(BaseJudge):
    """The longer, the better."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        reward = min(1.0, len(workflow_output.metadata["final_answer"]) / 200)
        return reward, reward > 0.5


class EndpointDown(BaseJudge):
    """Has no verdict on anything."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise JudgeError("the endpoint is down")


def judge_of(name: str) -> ConfiguredJudge:
    if name.endswith(".yaml"):
        return ConfiguredJudge(name)
    return ConfiguredJudge({"astuner": {"task_judge": {"judge_protocol": f"{__name__}->{name}"}}})


def subjects(judge: ConfiguredJudge, tasks: Sequence[Mapping[str, Any]] = TASKS) -> list[Subject]:
    lines = (Line(f"tasks.jsonl:{number}", json.dumps(task).encode()) for number, task in enumerate(tasks))
    return subjects_of(parse_tasks(lines), judge, ("answer",), 50)


def audited(name: str, tasks: Sequence[Mapping[str, Any]] = TASKS) -> dict[str, AttackResult]:
    judge = judge_of(name)
    return {result.name: result for result in attacked(judge, subjects(judge, tasks), 0.5)}


def holes(found: Mapping[str, AttackResult]) -> set[str]:
    return {name for name, result in found.items() if result.must == "fail" and result.false}


@pytest.mark.parametrize(("name", "tasks"), [("configs/math.yaml", TASKS), ("configs/countdown.yaml", GAMES)])
def test_our_judges_pass_nothing_wrong_and_nothing_right_fails(name: str, tasks: list[dict[str, Any]]) -> None:
    found = audited(name, tasks)
    assert {attack: result.worst for attack, result in found.items() if result.false} == {}
    assert found["right answer"].answers >= 3
    assert sum(result.no_verdict for result in found.values()) == 0
    assert len(found) > 12


@pytest.mark.parametrize(
    ("name", "named", "sound"),
    [
        ("configs/math_lenient.yaml", {"reference in prose", "reference denied", "hedge"}, {"empty", "opener"}),
        ("NaiveModelJudge", {"opener", "injection"}, {"empty", "near miss", "question copied"}),
        ("PaidByLength", {"over-long"}, {"empty", "punctuation", "wrong type"}),
    ],
)
def test_a_holed_judge_is_named_by_its_hole(name: str, named: set[str], sound: set[str]) -> None:
    found = holes(audited(name))
    assert named <= found
    assert not sound & found


def test_the_scoreboard_says_what_a_policy_would_learn() -> None:
    judge = judge_of("PaidByLength")
    played = {result.name: result for result in scoreboard(judge, subjects(judge))}
    assert played["verbose"].reward == 1.0
    assert played["format only"].alarming
    honest = judge_of("configs/math.yaml")
    board = {result.name: result for result in scoreboard(honest, subjects(honest))}
    assert {name for name, result in board.items() if result.alarming} == set()
    assert board["honest"].reward == board["terse"].reward == 1.0
    assert [name for name, result in board.items() if result.reward] == ["honest", "terse", "verbose"]


def test_a_judge_without_verdicts_passes_nothing_and_refuses_nothing() -> None:
    found = audited("EndpointDown")
    assert all(result.answers == result.false == 0 and result.rate is None for result in found.values())
    assert found["empty"].no_verdict > 0
    judge = judge_of("EndpointDown")
    assert all(result.reward is None and not result.alarming for result in scoreboard(judge, subjects(judge)))


def test_another_rows_answer_is_never_the_rows_own() -> None:
    tasks = [{"main_query": str(number), "task_id": str(number), "metadata": {"answer": answer}}
             for number, answer in enumerate(("5", "5.0", " 5", "6"))]  # fmt: skip
    judge = judge_of("configs/math.yaml")
    assert [subject.others for subject in subjects(judge, tasks)] == [("6",), ("6",), ("6",), ("5", "5.0")]


@pytest.mark.parametrize(
    ("metadata", "reference"),
    [
        ({"answer": "6 * 6 = 36\n#### 36"}, "36"),
        ({"answer": "\\boxed{7}"}, "7"),
        ({"answer": "$x+1$"}, "x+1"),
        ({"answer": 5}, "5"),
        ({"answer": True, "target": 24}, "24"),
        ({"answer": ""}, None),
        ({}, None),
    ],
)
def test_references_are_read_bare(metadata: dict[str, Any], reference: str | None) -> None:
    assert reference_of(metadata, ("answer",)) == reference


@pytest.mark.parametrize(("target", "numbers"), [(24, (4, 7, 8, 8)), (10, (10,)), (952, (25, 50, 3, 6)), (1, (3, 3))])
def test_countdown_is_solved_with_all_the_numbers(target: int, numbers: tuple[int, ...]) -> None:
    equation = solved(Fraction(target), numbers)
    if equation is not None:
        assert eval(equation) == pytest.approx(target)  # noqa: S307 - made by the solver of digits and signs
    else:
        assert target == 952
    assert solved(Fraction(7), ()) is None


def test_attacks_have_names_of_their_own_and_say_what_they_are() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack.about and attack.must in ("fail", "pass") for attack in ATTACKS)


def test_the_form_that_the_judge_reads_is_found() -> None:
    tagged = {"astuner": {"task_judge": {
        "judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge",
        "math": {"answer_in": ["tag"]},
    }}}  # fmt: skip
    assert {subject.form for subject in subjects(ConfiguredJudge(tagged))} == {"tag"}


@pytest.mark.slow
def test_the_command_reports_fails_over_a_rate_and_prints_json(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    command = ["audit", "--input", str(path), "--conf"]
    clean = CliRunner().invoke(app, [*command, "configs/math.yaml", "--fail-over", "0.0"])
    assert clean.exit_code == 0, clean.output
    holed = CliRunner().invoke(app, [*command, "configs/math_lenient.yaml", "--fail-over", "0.0", "--json"])
    assert holed.exit_code == 1
    report = json.loads(holed.output)
    prose = next(attack for attack in report["attacks"] if attack["name"] == "reference in prose")
    # two references stand in the data within a solution or dollars, which this judge looks for literally
    assert prose["rate"] == 0.75
    assert prose["interval"][0] > 0.5
    assert prose["worst"][0]["answer"].startswith("There were")
    assert CliRunner().invoke(app, [*command, "configs/math_lenient.yaml"]).exit_code == 0


def test_a_judge_without_verdicts_does_not_pass_a_gate(tmp_path: Path) -> None:
    path, conf = tmp_path / "tasks.jsonl", tmp_path / "conf.yaml"
    path.write_text(json.dumps(TASKS[0]) + "\n")
    conf.write_text(f"astuner: {{task_judge: {{judge_protocol: {__name__}->EndpointDown}}}}\n")
    command = ["audit", "--input", str(path), "--conf", str(conf), "--fail-over", "0.0"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "no verdict on any of the answers that must fail" in " ".join(result.output.split())


def test_nothing_to_audit_with_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("[]\n")
    result = CliRunner().invoke(app, ["audit", "--conf", "configs/math.yaml", "--input", str(path)])
    assert result.exit_code == 2
    assert "no task to audit with" in result.output
