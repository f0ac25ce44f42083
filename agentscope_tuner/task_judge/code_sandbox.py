"""Runs programs in a sandbox service, SandboxFusion or Piston, and compares what they print here."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from agentscope_tuner._http.answer import (
    HttpAnswer,
    HttpCall,
    HttpLimits,
    Peer,
    checked_token,
    detail_of,
    json_object,
    malformed,
)
from agentscope_tuner._http.client import HttpExchange
from agentscope_tuner._jail.jail import Ending
from agentscope_tuner.config import SECTION, SandboxConfig
from agentscope_tuner.errors import Cause, ConfigError, DeadlineError, JudgeError
from agentscope_tuner.verify.code.formats import CallTest, CodeTest, StdinTest, Test, TestSet
from agentscope_tuner.verify.code.grade import Bounds, TestResult, in_order, tested

# What a service needs beside the program's own time: the queue, the start of a container
_SERVICE_SECONDS = 30.0
_MOST_RESPONSE_BYTES = 64 * 2**20
_FUSION_LANGUAGES = {"javascript": "nodejs"}
_PISTON_LANGUAGES = {"cpp": "c++"}
# Calls the function in the program's own process: a forged line is a wrong output at most
_CALLING = """

if True:
    import json as _json, sys as _sys
    _given = _json.loads(_sys.stdin.read())
    if {keyed!r}:
        _given[0] = {{int(_key): _value for _key, _value in _given[0].items()}}
    _function = globals()[{name!r}] if {name!r} in globals() else getattr(Solution(), {name!r})
    print("\\n" + {mark!r} + _json.dumps(_function(*_given)))
"""


class SandboxService:
    """A sandbox service, asked for one run after another of a program.

    Args:
        settings: which service, and where.
        deadline: seconds for a verdict, by the judge's own settings.
        transport: replaces the network in tests: `httpx.MockTransport`.
    """

    def __init__(
        self, settings: SandboxConfig, deadline: float, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        limits = HttpLimits(
            token=_token(settings.token_file),
            headers=settings.headers,
            deadline=deadline,
            max_connections=settings.max_connections,
            max_response_bytes=_MOST_RESPONSE_BYTES,
        )
        peer = Peer("sandbox", _error, _error, self._bad_answer, DeadlineError)
        self._exchange = HttpExchange(
            peer, settings.urls, limits, transport, read_token=lambda: _token(settings.token_file)
        )
        self._kind = settings.kind

    async def grade(self, program: str, tests: TestSet, language: str, bounds: Bounds) -> list[TestResult]:
        """The results of the tests that were run, as `verify.code.grade.grade` gives them.

        Raises:
            JudgeError: the service failed, or took longer than it may for all tests, or they cannot be run there.
        """
        if why := cannot_run(tests, language):
            raise JudgeError(why, cause=Cause.CONFIG)
        seconds = min(self._exchange.limits.deadline, bounds.total_seconds + _SERVICE_SECONDS)
        ends_at = asyncio.get_running_loop().time() + seconds
        results: list[TestResult] = []
        for test in in_order(tests.tests):
            results.append(await self._result(program, test, language, bounds, ends_at))
            if not results[-1].passed and bounds.stop_at_first_failure:
                break
        return results

    async def _result(self, program: str, test: Test, language: str, bounds: Bounds, ends_at: float) -> TestResult:
        if isinstance(test, StdinTest):
            ending = await self._run(program, test.given, language, bounds, ends_at)
            return tested(test, ending, bounds)
        assert isinstance(test, CallTest)
        mark = f"astuner-{secrets.token_hex(8)}:"
        first = test.arguments[0] if test.arguments else None
        keyed = isinstance(first, dict) and any(isinstance(key, int) for key in first)
        source = program + _CALLING.format(name=test.name, mark=mark, keyed=keyed)
        ending = await self._run(source, json.dumps(list(test.arguments)), language, bounds, ends_at)
        return tested(test, _called(ending, mark, test), bounds)

    async def _run(self, program: str, stdin: str, language: str, bounds: Bounds, ends_at: float | None) -> Ending:
        seconds = bounds.limits.seconds
        if self._kind == "sandbox_fusion":
            path, parse = "/run_code", _fusion_ending
            asked: dict[str, Any] = {
                "code": program,
                "language": _FUSION_LANGUAGES.get(language, language),
                "stdin": stdin,
                "compile_timeout": 30,
                "run_timeout": seconds,
                "memory_limit_MB": bounds.limits.memory_mb,
                "files": {},
                "fetch_files": [],
            }
        else:
            path, parse = "/execute", _piston_ending
            asked = {
                "language": _PISTON_LANGUAGES.get(language, language),
                "version": "*",
                "files": [{"content": program}],
                "stdin": stdin,
                "compile_timeout": 30_000,
                "run_timeout": round(1000 * seconds),
                "run_memory_limit": bounds.limits.memory_mb * 2**20,
            }
        where = "running a program"
        body = json.dumps(asked).encode()
        call = HttpCall(path, body, where, _reader(parse, where), seconds + _SERVICE_SECONDS, ends_at=ends_at)
        return await self._exchange.run(call)

    def _bad_answer(self, status: int, detail: str, where: str) -> JudgeError:
        return _error(f"{where} at {self._exchange.base_url}: answered {status}: {detail[:500]}")

    async def aready(self) -> None:
        """Returns if the service runs a program now.

        Raises:
            JudgeError: it does not.
        """
        ending = await self._run("print(1)", "", "python", Bounds(), None)
        if ending.stdout.strip() != b"1":
            raise _error(f"the sandbox at {self._exchange.base_url} does not run a program that prints 1")


def cannot_run(tests: TestSet, language: str) -> str | None:
    """Why a service cannot run these tests; None where it can."""
    if any(isinstance(test, CodeTest) for test in tests.tests):
        return (
            "tests that carry code are not run in a remote sandbox, beside a program that could change them: "
            "judge such rows with the jail of this machine"
        )
    if tests.checker:
        return "a checker of the row is not run in a remote sandbox: judge such rows with the jail of this machine"
    if language != "python" and any(isinstance(test, CallTest) for test in tests.tests):
        return f"functions of {language} are not called in a sandbox service"
    return None


def _token(file: str | None) -> str | None:
    if file is None:
        return None
    try:
        return checked_token(Path(file).read_text(encoding="utf-8").strip())
    except (OSError, ValueError) as exc:
        raise ConfigError(f"{SECTION}.code.sandbox.token_file cannot be read: {exc}") from exc


def _error(message: str) -> JudgeError:
    return JudgeError(message, cause=Cause.SANDBOX)


def _called(ending: Ending, mark: str, test: CallTest) -> Ending:
    """The ending with the function's result in its place: the last marked line."""
    _, found, result = ending.stdout.decode(errors="replace").rpartition(mark)
    return replace(ending, result=result.strip().encode() if found else b"")


_Ended = Callable[[Mapping[str, Any]], Ending | str]


def _reader(ended: _Ended, where: str) -> Callable[[HttpAnswer], Ending]:
    def parse(answer: HttpAnswer) -> Ending:
        if answer.status != 200:
            raise malformed(answer, where, detail_of(answer))
        try:
            ending = ended(json_object(answer, where))
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            raise malformed(answer, where, f"{type(exc).__name__}: {exc}") from exc
        if isinstance(ending, str):
            raise malformed(answer, where, ending)
        return ending

    return parse


def _fusion_ending(told: Mapping[str, Any]) -> Ending | str:
    """How SandboxFusion says that a run ended, or why it says nothing."""
    if told["status"] not in ("Success", "Failed"):
        return f"status {told['status']!r}: {str(told.get('message'))[:300]}"
    for part in ("compile_result", "run_result"):
        result = told.get(part)
        if result is None:
            continue
        status = result["status"]
        if status == "TimeLimitExceeded":
            return Ending("cpu", -9)
        if status != "Finished":
            return f"{part} has the status {status!r}"
        if part == "run_result" or result["return_code"] != 0:
            return _ending(int(result["return_code"]), result["stdout"], result["stderr"])
    return "a run without a result"


def _piston_ending(told: Mapping[str, Any]) -> Ending | str:
    """How Piston says that a run ended, or why it says nothing."""
    compiled = told.get("compile")
    result = compiled if compiled is not None and compiled.get("code") != 0 else told["run"]
    if result.get("status") in ("XX", "IE"):
        return f"status {result['status']!r}: {str(result.get('message'))[:300]}"
    if result.get("signal") is not None:
        # a run over its time or memory is killed
        return Ending("cpu" if result["signal"] == "SIGKILL" else "exit", -9)
    return _ending(int(result["code"]), result["stdout"], result["stderr"])


def _ending(code: int, stdout: str | None, stderr: str | None) -> Ending:
    said, errors = (stdout or "").encode(errors="replace"), (stderr or "").encode(errors="replace")
    return Ending("exit", code, stdout=said, stderr=errors)
