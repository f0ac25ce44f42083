"""Judgements beside a sandbox that fails: a number must be the right one, and come from a sandbox that worked."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from agentscope_tuner._jail import bubblewrap
from agentscope_tuner._jail.jail import RunLimits, check_isolation
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.code_judge import CodeJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least, at_most

SETTINGS = {"seconds": 1.0, "total_seconds": 5.0, "memory_mb": 256, "processes": 32}
_SCRIPT = {"inputs": ["2\n"], "outputs": ["4\n"]}
_CALL = {"fn_name": "double", "inputs": [[2]], "outputs": [4]}
_ASSERT = ["assert double(2) == 4"]
_DOUBLE = "import time\ntime.sleep({wait})\ndef double(n): return {times} * n\n"
_MAIN = "if __name__ == '__main__': print(double(int(input())))\n"
#: What is judged: tests, the factor that the program has in the place of 2, and its right reward.
WORKS = [(tests, times, float(times == 2)) for tests in (_SCRIPT, _CALL, _ASSERT) for times in (2, 3)]
#: By name: what a bwrap does that fails, and the seconds that the programs take meanwhile.
FAULTY_BWRAPS = {
    "bwrap missing": (None, 0.0),
    "bwrap not executable": ("", 0.0),
    "bwrap refused": ("echo 'No permissions to create new namespace' >&2; exit 1", 0.0),
    "bwrap silent": ("exit 0", 0.0),
    "bwrap talks": ("echo ready; exit 0", 0.0),
    "bwrap killed": ("kill -9 $$", 0.0),
    "bwrap killed at work": ('{real} "$@" & sleep 0.2; kill -9 $!; exit 1', 3.0),
    "memory gone: 30 MB": ('ulimit -v 30000; exec {real} "$@"', 0.0),
    "memory gone: 60 MB": ('ulimit -v 60000; exec {real} "$@"', 0.0),
    "memory gone: 200 MB": ('ulimit -v 200000; exec {real} "$@"', 0.0),
    "no bytes in files": ('ulimit -f 0; exec {real} "$@"', 0.0),
    "few descriptors": ('ulimit -n 12; exec {real} "$@"', 0.0),
    "no CPU seconds": ('ulimit -t 1; exec {real} "$@"', 0.0),
}
#: A bwrap that works in the end: the right number, or none.
SLOW_BWRAPS = {"bwrap slow": ('sleep 0.5; exec {real} "$@"', 0.0)}


class Full(RunLimits):
    """Limits whose folders hold next to nothing."""

    inodes = 1

    def inside(self) -> dict[str, int]:
        """See RunLimits."""
        return {**super().inside(), "scratch": 4096, "inodes": self.inodes}


class Fuller(Full):
    """The home can be made, and nothing in it."""

    inodes = 2


def _finished(stdout: str) -> dict[str, Any]:
    run = {"status": "Finished", "execution_time": 0.1, "return_code": 0, "stdout": stdout, "stderr": ""}
    return {"status": "Success", "message": "", "compile_result": None, "run_result": run}


def _stalled(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("stalled", request=request)


def _answers(status: int, **content: Any) -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: httpx.Response(status, **content)


#: By name: what the stub of a sandbox service answers.
FAULTY_SERVICES = {
    **{f"service answers {status}": _answers(status, text="no") for status in (400, 401, 404, 500, 502, 503)},
    "service stalls": _stalled,
    "service sends a page": _answers(200, text="<html>"),
    "service sends nothing": _answers(200, content=b""),
    "service sends half": _answers(200, content=b'{"status": "Success", "run_result": {"status"'),
    "service sends a list": _answers(200, json=[1]),
    "service sends no result": _answers(200, json={"status": "Success"}),
    "service has no worker": _answers(200, json={**_finished("4\n"), "status": "SandboxError"}),
    "service failed to run": _answers(200, json={**_finished("4\n"), "run_result": {"status": "Error"}}),
    "service leaves out the code": _answers(200, json={"status": "Success", "run_result": {"status": "Finished"}}),
    "service sends bad types": _answers(
        200, json={"status": "Success", "run_result": {**_finished("")["run_result"], "return_code": None}}
    ),
}


class Outcome(NamedTuple):
    """One judgement. `right`: its only right reward; None where the sandbox failed, so that there is none."""

    fault: str
    reward: float | None
    right: float | None
    cause: str
    words: str

    @property
    def silent(self) -> bool:
        """Whether it is a number that nobody could know, or the wrong one."""
        return self.reward is not None and self.reward != self.right


def code_judge(transport: httpx.AsyncBaseTransport | None = None, **settings: Any) -> CodeJudge:
    """A judge with the settings of all faults."""
    return CodeJudge({"astuner": {"task_judge": {"code": {**SETTINGS, **settings}}}}, transport=transport)


async def judged(
    judge: CodeJudge, fault: str, work: tuple[Any, int, float], wait: float = 0.0, *, knows: bool = False
) -> Outcome:
    """Judge one program.

    Args:
        wait: seconds that the program sleeps.
        knows: whether the sandbox works in the end.
    """
    tests, times, right = work
    program = _DOUBLE.format(wait=wait, times=times) + _MAIN
    task = WorkflowTask(task=Task(metadata={"tests": tests}))
    output = WorkflowOutput(metadata={"final_answer": f"```python\n{program}```"})
    try:
        reward = await judge.acompute_reward(task, output)
    except JudgeError as error:
        return Outcome(fault, None, None, str(error.cause), error.message)
    return Outcome(fault, reward[0], right if knows else None, "", reward.reason if isinstance(reward, Reward) else "")


def jails(folder: Path, times: int) -> Iterator[Outcome]:
    """Judgements over a bwrap that fails; a new judge for each, so that no breaker answers for the jail."""
    real, fake = bubblewrap.bwrap_path(), folder / "bwrap"
    bubblewrap.bwrap_path.cache_clear()
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    fake.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    fake.chmod(0o755)
    bubblewrap.bwrap_path()
    for fault, (command, wait) in {**FAULTY_BWRAPS, **SLOW_BWRAPS}.items():
        fake.unlink(missing_ok=True)
        if command is not None:
            fake.write_text(f"#!/bin/bash\n{command.format(real=real)}\n")
            fake.chmod(0o755 if command else 0o644)
        for work in itertools.islice(itertools.cycle(WORKS), times):
            yield asyncio.run(judged(code_judge(), fault, work, wait, knows=fault in SLOW_BWRAPS))
    fake.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    fake.chmod(0o755)


def full_folders(times: int) -> Iterator[Outcome]:
    """Judgements where nothing can be written."""
    for fault, limits in (("tmpfs full", Full), ("tmpfs nearly full", Fuller)):
        for work in itertools.islice(itertools.cycle(WORKS), times):
            judge = code_judge()
            bounds = judge._bounds
            judge._bounds = replace(bounds, limits=limits(seconds=1.0, memory_mb=256))
            yield asyncio.run(judged(judge, fault, work))


async def services(times: int) -> list[Outcome]:
    """Judgements by a sandbox service that fails, all at once. Three tries are enough here."""
    asked = []
    for fault, answer in FAULTY_SERVICES.items():
        for work in itertools.islice(itertools.cycle(WORKS[:4]), times):
            sandbox = {"kind": "sandbox_fusion", "urls": ["http://sandbox"]}
            judge = code_judge(httpx.MockTransport(answer), sandbox=sandbox)
            assert judge._service is not None
            exchange = judge._service._exchange
            exchange.limits = replace(exchange.limits, tries=3)
            asked.append(judged(judge, fault, work))
    return await asyncio.gather(*asked)


def main() -> None:
    """Judge beside every fault, and print what was silent."""
    begun = time.monotonic()
    # each retry is told
    logging.disable()
    check_isolation()
    outcomes = asyncio.run(services(14))
    outcomes += full_folders(12)
    with tempfile.TemporaryDirectory() as folder:
        outcomes += jails(Path(folder), 18)
    for one in outcomes:
        if one.silent or (one.reward is None and one.cause not in ("sandbox", "breaker")):
            print(f"{'SILENT' if one.silent else 'CAUSE'} {one.fault}: {one.reward} {one.cause} {one.words[:150]!r}")
    for fault, count in Counter(one.fault for one in outcomes).items():
        numbers = [one for one in outcomes if one.fault == fault and one.reward is not None]
        print(
            f"{fault:28} {count:4} judgements, {len(numbers):3} verdicts, {sum(one.silent for one in numbers)} silent"
        )
    print(f"in {time.monotonic() - begun:.0f} s")
    at_least("faults of the sandbox", len(outcomes), 500, "judgements")
    at_most("faults of the sandbox: silent", sum(one.silent for one in outcomes), 0, "judgements")
    wrong_cause = sum(one.reward is None and one.cause not in ("sandbox", "breaker") for one in outcomes)
    at_most("faults of the sandbox: no verdict for another cause", wrong_cause, 0, "judgements")


if __name__ == "__main__":
    main()
