"""The sandbox services: their outputs are compared here, and their failures are no verdicts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentscope_tuner import JudgeError, Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.code_judge import CodeJudge

_FUSION = {"kind": "sandbox_fusion", "urls": ["http://sandbox"]}
_PISTON = {"kind": "piston", "urls": ["http://sandbox/api/v2"]}


def _ran(stdout: str = "4\n", code: int = 0, status: str = "Finished") -> dict[str, Any]:
    return {
        "status": "Success",
        "message": "",
        "compile_result": None,
        "run_result": {"status": status, "execution_time": 0.1, "return_code": code, "stdout": stdout, "stderr": ""},
    }


def _reward(answer: httpx.Response | dict[str, Any], sandbox: dict[str, Any], tests: object = None) -> float:
    def reply(request: httpx.Request) -> httpx.Response:
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    tests = tests or {"inputs": ["2\n"], "outputs": ["4\n"]}
    config = {"astuner": {"task_judge": {"code": {"sandbox": sandbox}}}}
    judge = CodeJudge(config, transport=httpx.MockTransport(reply))
    output = WorkflowOutput(metadata={"final_answer": "```python\nprint(4)\n```"})
    return judge.compute_reward(WorkflowTask(task=Task(metadata={"tests": tests})), output)[0]


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        (_ran(), 1.0),
        (_ran("5\n"), 0.0),
        (_ran(code=1), 0.0),
        (_ran(status="TimeLimitExceeded"), 0.0),
        ({**_ran(), "status": "Failed", "compile_result": {**_ran(code=1)["run_result"]}, "run_result": None}, 0.0),
    ],
)
def test_sandbox_fusion(answer: dict[str, Any], reward: float) -> None:
    assert _reward(answer, _FUSION) == reward


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        ({"run": {"stdout": "4\n", "stderr": "", "code": 0, "signal": None}}, 1.0),
        ({"run": {"stdout": "5\n", "stderr": "", "code": 0, "signal": None}}, 0.0),
        ({"run": {"stdout": "", "stderr": "", "code": None, "signal": "SIGKILL"}}, 0.0),
        ({"compile": {"stdout": "", "stderr": "no", "code": 1}, "run": {"stdout": "4", "code": 0}}, 0.0),
    ],
)
def test_piston(answer: dict[str, Any], reward: float) -> None:
    assert _reward(answer, _PISTON) == reward


def test_a_share_of_the_tests_is_paid_with_its_reason() -> None:
    config = {"astuner": {"task_judge": {"code": {"sandbox": _FUSION, "partial": "share"}}}}
    judge = CodeJudge(config, transport=httpx.MockTransport(lambda _: httpx.Response(200, json=_ran())))
    output = WorkflowOutput(metadata={"final_answer": "```python\nprint(4)\n```"})
    tests = {"inputs": ["2\n", "3\n"], "outputs": ["4\n", "6\n"]}
    reward = judge.compute_reward(WorkflowTask(task=Task(metadata={"tests": tests})), output)
    assert (*reward,) == (0.5, False)
    assert reward.reason.startswith("1 of 2 tests pass; test 2: ")


@pytest.mark.parametrize("sandbox", [_FUSION, _PISTON])
@pytest.mark.parametrize(
    "answer",
    [
        {"status": "SandboxError", "message": "no workers"},
        {"run": {"stdout": "4\n", "code": 0, "status": "XX"}, "status": "Odd"},
        _ran(status="Error") | {"run": {}},
        {"status": "Success"},
        {},
        httpx.Response(400, json={"detail": "no"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[1]),
    ],
)
def test_a_service_that_fails_is_no_verdict(answer: Any, sandbox: dict[str, Any]) -> None:
    with pytest.raises(JudgeError) as caught:
        _reward(answer, sandbox)
    assert caught.value.cause == "sandbox"


def test_a_function_is_called_by_lines_that_the_program_is_given() -> None:
    def reply(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        assert json.loads(asked["stdin"]) == [[1, 2]]
        assert "expected" not in asked["code"]
        mark = asked["code"].partition("'astuner-")[2].partition(":")[0]
        return httpx.Response(200, json=_ran(f"noise\nastuner-{mark}:[2, 1]\n"))

    config = {"astuner": {"task_judge": {"code": {"sandbox": _FUSION}}}}
    judge = CodeJudge(config, transport=httpx.MockTransport(reply))
    tests = {"inputs": [[[1, 2]]], "outputs": [[2, 1]], "fn_name": "turned"}
    output = WorkflowOutput(metadata={"final_answer": "```python\ndef turned(x): return x[::-1]\n```"})
    assert judge.compute_reward(WorkflowTask(task=Task(metadata={"tests": tests})), output)[0] == 1.0


def test_tests_that_carry_code_are_not_run_beside_the_program() -> None:
    with pytest.raises(JudgeError, match="not run in a remote sandbox"):
        _reward(_ran(), _FUSION, ["assert double(2) == 4"])


_DOUBLES = {"inputs": ["2\n"], "outputs": ["4\n"]}


def _checked(tests: dict[str, Any] | list[str], stdout: str = "4\n", **sandbox: Any) -> str | None:
    def reply(request: httpx.Request) -> httpx.Response:
        wanted = {"authorization": "Bearer abc", "x-team": "rl"} if sandbox else {}
        assert {name: request.headers.get(name) for name in wanted} == wanted
        return httpx.Response(200, json=_ran(stdout))

    config = {"astuner": {"task_judge": {"code": {"sandbox": {**_FUSION, **sandbox}}}}}
    return CodeJudge(config, transport=httpx.MockTransport(reply)).check_task(Task(metadata={"tests": tests}))


def test_a_row_is_checked_by_the_service_that_will_judge_it(tmp_path: Path) -> None:
    solved = {**_DOUBLES, "solution": "print(4)"}
    assert _checked(solved) is None
    assert (_checked(solved, "5\n") or "").startswith("its own solution fails")
    assert (_checked(["assert double(2) == 4"]) or "").startswith("not judged by the service")
    (tmp_path / "token").write_text("abc\n")
    assert _checked(solved, token_file=str(tmp_path / "token"), headers={"X-Team": "rl"}) is None


def test_a_service_that_stalls_holds_a_verdict_no_longer_than_the_deadline() -> None:
    async def stall(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    config = {"astuner": {"task_judge": {"deadline": 0.2, "code": {"sandbox": _FUSION}}}}
    judge = CodeJudge(config, transport=httpx.MockTransport(stall))
    output = WorkflowOutput(metadata={"final_answer": "```python\nprint(4)\n```"})
    with pytest.raises(JudgeError, match=r"0\.2"):
        judge.compute_reward(WorkflowTask(task=Task(metadata={"tests": _DOUBLES})), output)


def test_keys_that_json_made_text_are_numbers_again_in_a_service() -> None:
    def reply(request: httpx.Request) -> httpx.Response:
        assert "if True:\n        _given[0] = {int(_key)" in json.loads(request.content)["code"]
        return httpx.Response(200, json=_ran())

    config = {"astuner": {"task_judge": {"code": {"sandbox": _FUSION}}}}
    tests = {"inputs": [[{"1": 2}]], "outputs": [2], "fn_name": "f"}
    output = WorkflowOutput(metadata={"final_answer": "```python\ndef f(x): return 1\n```"})
    judge = CodeJudge(config, transport=httpx.MockTransport(reply))
    assert judge.compute_reward(WorkflowTask(task=Task(metadata={"tests": tests})), output)[0] == 0.0
