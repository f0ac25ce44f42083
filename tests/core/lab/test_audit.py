"""`astuner audit`: judges with a known hole are named by it, and sound ones pass."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.lab.audit.attacks import ATTACKS
from agentscope_tuner.lab.audit.run import AttackResult, attacked, right_answers, scoreboard, verdict_of, worst_rows
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


class FormJudge(BaseJudge):
    """Reads an answer as its `judge_kwargs` say: a function of this module, of the answer and the reference."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._right = READERS[config["astuner"]["task_judge"]["judge_kwargs"]["reader"]]

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        said = workflow_output.metadata["final_answer"]
        found = self._right(said, str(workflow_task.task.metadata["answer"]))
        reward = float(found) if isinstance(found, float) else float(bool(found))
        return reward, reward >= 0.5


def loaded(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def called(text: str) -> dict[str, Any]:
    found = re.fullmatch(r"<tool_call>\s*(.*?)\s*</tool_call>", text, re.DOTALL)
    return loaded(found[1]) if found else {}


R1 = re.compile(r"^<think>(.*?)</think>\s*<answer>(.*?)</answer>$", re.DOTALL)
READERS: dict[str, Callable[[str, str], object]] = {
    # holes, two a kind
    "R1, value within": lambda said, right: (found := R1.match(said)) and right in found[2],
    "R1, format alone": lambda said, right: R1.match(said),
    "JSON, value within": lambda said, right: right in str(loaded(said).get("answer", "")),
    "JSON, any answer": lambda said, right: "answer" in loaded(said),
    "call, name alone": lambda said, right: called(said).get("name") == "submit",
    "call, value anywhere": lambda said, right: "arguments" in called(said) and right in said,
    "hash, last number anywhere": lambda said, right: "####" in said and re.findall(r"-?[\d.]+", said)[-1:] != []
    and right in re.findall(r"-?[\d.]+", said),
    "hash, any number": lambda said, right: re.search(r"#### *-?\d", said),
    "likes length, a little for the answer": lambda said, right: 0.2 * (right in said) + min(0.8, len(said) / 1_000),
    "rubric of words": lambda said, right: 0.25 * sum(word in said.lower() for word in ("first", "then", "check")),
    # sound
    "R1": lambda said, right: (found := R1.match(said)) and found[2].strip() == right,
    "JSON": lambda said, right: loaded(said).get("answer") == right,
    "call": lambda said, right: called(said).get("arguments") == {"answer": right},
    "hash": lambda said, right: said.rpartition("####")[2].strip() == right and said.count("####") == 1,
    "Chinese": lambda said, right: said.rpartition("答案是：")[2].strip() == right and said.count("答案是") == 1,
}  # fmt: skip
HOLED = list(READERS)[:10]
PLAIN = [
    {"main_query": f"How much is {a} + {b}?", "task_id": str(a), "metadata": {"answer": str(a + b)}}
    for a, b in ((17, 25), (101, 32), (250, 411), (38, 3))
]


def form_judge(reader: str) -> ConfiguredJudge:
    protocol = {"judge_protocol": f"{__name__}->FormJudge", "judge_kwargs": {"reader": reader}}
    return ConfiguredJudge({"astuner": {"task_judge": protocol}})


@pytest.mark.parametrize("reader", READERS)
def test_judges_of_many_forms_are_seen_through_and_sound_ones_are_left_alone(reader: str) -> None:
    judge = form_judge(reader)
    asked = subjects(judge, PLAIN)
    results, played = attacked(judge, asked, 0.5), scoreboard(judge, asked)
    found = holes({result.name: result for result in results})
    sentence = verdict_of(results, played)
    if reader in HOLED:
        assert found, asked[0].form
        assert sentence.startswith("The judge can be fooled")
        assert worst_rows(results)[0][0].must == "fail"
    else:
        assert found == set(), asked[0].form
        assert not [result.name for result in played if result.alarming or result.length_pays]
        assert re.match(r"None of \d+ wrong answers passes\.", sentence)
        assert right_answers(results) == (4, 4)


@pytest.mark.parametrize("reader", ["likes length, a little for the answer", "rubric of words"])
def test_a_judge_that_likes_plausible_length_is_named(reader: str) -> None:
    judge = form_judge(reader)
    asked = subjects(judge, PLAIN)
    played = {result.name: result for result in scoreboard(judge, asked)}
    assert "long and wrong" in holes({result.name: result for result in attacked(judge, asked, 0.5)})
    assert played["long and wrong"].alarming
    if reader.startswith("likes"):
        # a terse right answer earns less than a long one; where it earns nothing, there is no ratio
        assert (played["verbose"].length_pays or 0) > 1.25
        assert "It pays for length" in verdict_of(attacked(judge, asked, 0.5), list(played.values()))


class NothingPasses(BaseJudge):
    """Reads a form that nobody writes."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        right = f"<<{workflow_task.task.metadata['answer']}>>" == workflow_output.metadata["final_answer"]
        return float(right), right


def test_a_judge_that_passes_no_right_answer_is_not_called_sound(tmp_path: Path) -> None:
    path, conf, form = tmp_path / "tasks.jsonl", tmp_path / "conf.yaml", tmp_path / "form.txt"
    path.write_text("".join(json.dumps(task) + "\n" for task in PLAIN))
    conf.write_text(f"astuner: {{task_judge: {{judge_protocol: {__name__}->NothingPasses}}}}\n")
    command = ["audit", "--input", str(path), "--conf", str(conf)]
    for gate in ([], ["--fail-over", "0.0"]):
        result = CliRunner().invoke(app, [*command, *gate])
        said = " ".join(result.output.split())
        assert result.exit_code == 2
        assert said.startswith("None of 4 right answers passes")
        assert "pays nearly as well" not in said
    form.write_text("<<%s>>\n")
    result = CliRunner().invoke(app, [*command, "--form", str(form), "--fail-over", "0.0"])
    assert result.exit_code == 0, result.output
    assert "answers are given as own" in " ".join(result.output.split())
    form.write_text("<<answer>>")
    assert CliRunner().invoke(app, [*command, "--form", str(form)]).exit_code == 2


class Hangs(BaseJudge):
    """Never has a verdict."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.Event().wait()
        raise AssertionError


def test_a_verdict_has_ten_seconds_and_fewer_where_asked(tmp_path: Path) -> None:
    path, conf = tmp_path / "tasks.jsonl", tmp_path / "conf.yaml"
    path.write_text(json.dumps(PLAIN[0]) + "\n")
    conf.write_text(f"astuner: {{task_judge: {{judge_protocol: {__name__}->Hangs, concurrency: 64}}}}\n")
    result = CliRunner().invoke(app, ["audit", "--input", str(path), "--conf", str(conf), "--deadline", "0.02"])
    assert result.exit_code == 2
    # it is not asked about thousands of answers after that
    assert "has no verdict in time on any of 1 right answers" in " ".join(result.output.split())


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
    assert not [result for result in board.values() if result.length_pays]


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
    # eight tasks are too few for an interval
    assert prose["interval"] is None
    assert report["verdict"].startswith("The judge can be fooled")
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


def test_rows_without_references_are_an_error_that_names_the_column_and_no_clean_audit(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"q": "1+1?", "gold": "2"}\n{"q": "1+2?", "gold": "3"}\n')
    for gate in ([], ["--fail-over", "0.0"]):
        result = CliRunner().invoke(app, ["audit", "--conf", "configs/math.yaml", "--input", str(path), *gate])
        assert result.exit_code == 2
        assert "no row has a reference" in " ".join(result.output.split())
        assert "`reads: {answer: gold}`" in " ".join(result.output.split())


def test_nothing_to_audit_with_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("[]\n")
    result = CliRunner().invoke(app, ["audit", "--conf", "configs/math.yaml", "--input", str(path)])
    assert result.exit_code == 2
    assert "no task to audit with" in result.output
