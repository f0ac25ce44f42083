"""`astuner judge --dry-run` says what judging would cost, sends nothing, and is right about what is then sent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from tests.judge_server import Body, Canned, JudgeServer, always, prompt_of, verdict

PRICES = {"prompt": 100.0, "completion": 1000.0}
RUBRICS = [{"criterion": "It says rain", "points": 3}, {"criterion": "It says sun", "points": 1}]


def rows(folder: Path, answers: list[str], **metadata: Any) -> Path:
    path = folder / "rows.jsonl"
    lines = [
        {
            "id": str(number),
            "task": {"main_query": "Why does it rain?", "task_id": "t", "metadata": metadata},
            "output": {"metadata": {"final_answer": answer}},
        }
        for number, answer in enumerate(answers)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def conf(folder: Path, url: str, kind: str = "llm", rules: Any = (), **section: Any) -> Path:
    client = {"cache_dir": str(folder / "cache"), "prices": PRICES, "max_reasks": 0, "max_retries": 0}
    mine = {"model_name": "m", "base_url": url, **section, "client": {**client, **section.get("client", {})}}
    if "models" in section:
        del mine["model_name"]
    path = folder / "conf.yaml"
    path.write_text(json.dumps({"astuner": {"task_judge": {"judge_type": kind, "rules": list(rules), kind: mine}}}))
    return path


def run(*arguments: object) -> tuple[int, dict[str, str]]:
    """The exit code, and the lines of the table that was printed."""
    result = CliRunner().invoke(app, ["judge", *map(str, arguments)], env={"COLUMNS": "200"})
    assert not isinstance(result.exception, Exception), result.output
    pairs = re.findall(r"│ (.+?) +│ (.*?) +│", result.output)
    return result.exit_code, {**dict(pairs), "output": result.output}


PROMPT = "Score from 1 to 5 how well this answers {query}: {response}"


def decides(body: Body, attempt: int) -> Canned:
    listed = re.findall(r"^(\d+)\. ", prompt_of(body), re.MULTILINE)
    if not listed:
        return Canned(verdict(4))
    return Canned(json.dumps({"verdicts": [{"number": int(n), "quote": "", "met": True} for n in listed]}))


@pytest.mark.parametrize(
    ("kind", "section", "calls"),
    [
        ("llm", {"prompt": PROMPT}, 3),
        ("llm", {"prompt": PROMPT, "models": ["a", "b", "c"]}, 9),
        ("llm", {"prompt": PROMPT, "votes": 3, "client": {"temperature": 1.0}}, 9),
        ("task_rubrics", {}, 3),
        ("task_rubrics", {"calls": "each"}, 6),
    ],
)
def test_the_calls_are_those_that_are_sent_then(tmp_path: Path, kind: str, section: Any, calls: int) -> None:
    answers = ["Warm air rises.", "It cools.", "Clouds do it.", "Warm air rises.", "\u2800", ""]
    data = rows(tmp_path, answers, rubrics=RUBRICS)
    rules = [{"id": "not_empty", "kind": "non_empty", "target": "output", "action": "mark_bad"}]
    with JudgeServer(decides) as server:
        config = conf(tmp_path, server.url, kind, rules, **section)
        code, said = run("--conf", config, "--input", data, "--dry-run")
        assert (code, server.bodies, (tmp_path / "cache").exists()) == (0, [], False)
        assert said["calls"] == str(calls)
        assert said["rows"] == "6"
        assert said["settled uncalled"].startswith("1 ")
        assert float(said["cost"].split()[-1]) > 0
        assert float(said["cost a row"].split()[-1]) == pytest.approx(float(said["cost"].split()[-1]) / 6, rel=0.01)
        _, judged = run("--conf", config, "--input", data, "--output", tmp_path / "out.jsonl")
        assert len(server.bodies) == calls
        assert judged["judge calls"] == str(calls)
        assert "judge cost a row" in judged
        _, again = run("--conf", config, "--input", data, "--dry-run")
        assert (again["calls"], again["cost"]) == ("0", "0")
        assert int(again["cache hits"]) >= calls


@pytest.mark.parametrize(
    ("section", "calls"),
    [
        ({"mode": "listwise"}, "1"),
        ({"mode": "listwise", "models": ["a", "b"]}, "2"),
        ({"mode": "listwise", "escalate": {"when": "disagreement > 0", "to": "x"}, "models": ["a", "b"]}, "2 to 3"),
    ],
)
def test_a_group_that_is_ranked_is_one_call_of_each_model(tmp_path: Path, section: Any, calls: str) -> None:
    data = rows(tmp_path, ["Warm air rises.", "It cools.", "Clouds do it."])
    config = conf(tmp_path, "http://127.0.0.1:9/v1", prompt="Rank these: {response}", **section)
    assert run("--conf", config, "--input", data, "--dry-run")[1]["calls"] == calls


def part(when: str | None = None) -> dict[str, Any]:
    llm = {"model_name": "m", "base_url": "http://127.0.0.1:9/v1", "prompt": PROMPT, "client": {"cache": False}}
    return {"judge_type": "llm", "llm": llm, **({"when": when} if when else {})}


LENGTH = {
    "judge_protocol": "agentscope_tuner.task_judge.length_judge->LengthJudge",
    "judge_kwargs": {"soft": 5, "hard": 9},
}


@pytest.mark.parametrize(
    ("section", "calls"),
    [
        ({"judge_type": "combined", "parts": {"a": part(), "b": LENGTH}}, "3"),
        ({"judge_type": "combined", "parts": {"b": LENGTH, "a": part("b.is_success")}, "success": "b"}, "0 to 3"),
        ({"judge_type": "routed", "by": "task.metadata.kind", "routes": {"free": part(), "short": LENGTH}}, "3"),
        ({"judge_type": "routed", "by": "task.metadata.kind", "routes": {"free": LENGTH, "short": part()}}, "0"),
    ],
)
def test_judges_of_several_judges_tell_the_sum_of_theirs(tmp_path: Path, section: Any, calls: str) -> None:
    path = tmp_path / "conf.yaml"
    path.write_text(json.dumps({"astuner": {"task_judge": section}}))
    data = rows(tmp_path, ["Warm air rises.", "It cools.", "Clouds do it."], kind="free")
    assert run("--conf", path, "--input", data, "--dry-run")[1]["calls"] == calls


def test_rows_without_a_verdict_are_told_uncalled(tmp_path: Path) -> None:
    with JudgeServer(always(4)) as server:
        config = conf(tmp_path, server.url, "task_rubrics")
        code, said = run("--conf", config, "--input", rows(tmp_path, ["a b c"]), "--dry-run")
    assert code == 0
    assert "task.metadata.rubrics is missing" in said["fail uncalled x1"]
    assert said["calls"] == "0"


def test_what_is_asked_only_in_doubt_makes_a_span(tmp_path: Path) -> None:
    with JudgeServer(always(4)) as server:
        escalate = {"when": "score < 0.5", "to": ["x", "y"]}
        config = conf(tmp_path, server.url, prompt=PROMPT, escalate=escalate)
        _, said = run("--conf", config, "--input", rows(tmp_path, ["One is.", "Two is."]), "--dry-run")
    assert said["calls"] == "2 to 6"


def test_without_prices_the_cost_is_not_known(tmp_path: Path) -> None:
    with JudgeServer(always(4)) as server:
        config = conf(tmp_path, server.url, prompt=PROMPT, client={"prices": None})
        data = rows(tmp_path, ["One is."])
        _, said = run("--conf", config, "--input", data, "--dry-run")
        _, judged = run("--conf", config, "--input", data, "--output", tmp_path / "out.jsonl")
    assert said["cost"].startswith("not known")
    assert "judge cost" not in judged
    assert "judge prompt tokens" in judged


def test_totals_after_a_resume_are_of_all_runs(tmp_path: Path) -> None:
    data, output = rows(tmp_path, [f"Answer {number} is." for number in range(6)]), tmp_path / "out.jsonl"

    broken = [True]

    def answer(body: Body, attempt: int) -> Canned:
        # unreadable at first, as is that on a harmless answer, and paid for all the same
        bad = broken[0] and re.search("Answer 3|I do not know", prompt_of(body))
        return Canned("It is fine." if bad else verdict(4))

    with JudgeServer(answer) as server:
        config = conf(tmp_path, server.url, prompt=PROMPT)
        code, first = run("--conf", config, "--input", data, "--output", output, "--limit", 4)
        assert (code, first["judge calls"]) == (3, "7")
        broken[0] = False
        _, rest = run("--conf", config, "--input", data, "--output", output, "--dry-run", "--resume")
        assert (rest["rows"], rest["calls"]) == ("6, 3 judged before", "3")
        for resumed in range(2):
            code, then = run("--conf", config, "--input", data, "--output", output, "--resume")
            assert (code, then["judge calls"]) == (0, "10"), resumed
        assert len(server.bodies) == 10
    assert json.loads(output.read_text().splitlines()[3])["judgement"]["metrics"]["judge_calls"] == 5.0


def test_judges_without_judge_models_cost_nothing(tmp_path: Path) -> None:
    protocol = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    path = tmp_path / "conf.yaml"
    path.write_text(json.dumps({"astuner": {"task_judge": {"judge_protocol": protocol}}}))
    _, said = run("--conf", path, "--input", rows(tmp_path, ["a"], answer="4"), "--dry-run")
    assert (said["calls"], said["cost"], "not known" in said) == ("0", "0", False)


def test_an_output_is_needed_unless_nothing_is_judged(tmp_path: Path) -> None:
    config = conf(tmp_path, "http://127.0.0.1:9/v1", prompt=PROMPT)
    code, said = run("--conf", config, "--input", rows(tmp_path, ["a"]))
    assert code == 2
    assert "--output is missing" in said["output"]
