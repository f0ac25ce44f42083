"""CodeJudge: runs the program that the policy wrote, here or in a sandbox service, and rewards what its tests say."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import httpx

from agentscope_tuner._http import (
    HttpAnswer,
    HttpCall,
    HttpLimits,
    Peer,
    detail_of,
    json_object,
    malformed,
    token_in,
)
from agentscope_tuner._http.client import HttpExchange
from agentscope_tuner._jail.idle_jails import SandboxBreaker, require_isolation
from agentscope_tuner._jail.jail import Ending, RunLimits, try_out
from agentscope_tuner._run import loops
from agentscope_tuner.config import SECTION, SandboxConfig, task_judge_section
from agentscope_tuner.errors import Cause, ConfigError, DeadlineError, JudgeError, config_fault, reference_error
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward, final_answer
from agentscope_tuner.verify.code.compare_output import contradicting
from agentscope_tuner.verify.code.formats import (
    BadTestsError,
    CallTest,
    CodeTest,
    StdinTest,
    Test,
    TestSet,
    UnknownFormError,
    parsed,
    read_tests,
)
from agentscope_tuner.verify.code.grade import (
    Bounds,
    BrokenTests,
    Failure,
    StarvedError,
    TestResult,
    grade,
    in_order,
    tested,
)
from agentscope_tuner.verify.code.program import LANGUAGES, completed, find_program, language_of
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

if TYPE_CHECKING:
    from agentscope_tuner.graders.cost import Estimate, Reckoner

# What a service needs beside the program's own time: the queue, the start of a container
_SERVICE_SECONDS = 30.0
_MOST_RESPONSE_BYTES = 64 * 2**20
_FUSION_LANGUAGES = {"javascript": "nodejs"}
_PISTON_LANGUAGES = {"cpp": "c++"}
# Calls the function in the program's own process: a program that forges the marked line has a wrong output at most
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
    """Runs a program in a sandbox service, one run after another.

    Args:
        settings: which service, and where.
        deadline: seconds for a verdict, by the judge's own settings.
        transport: replaces the network in tests: `httpx.MockTransport`.
    """

    def __init__(
        self, settings: SandboxConfig, deadline: float, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        limits = HttpLimits(
            headers=settings.headers,
            deadline=deadline,
            max_connections=settings.max_connections,
            max_response_bytes=_MOST_RESPONSE_BYTES,
        )
        peer = Peer("sandbox", _error, _error, self._bad_answer, DeadlineError)
        self._exchange = HttpExchange(
            peer,
            settings.urls,
            limits,
            transport,
            read_token=partial(token_in, settings.token_file, f"{_WHERE}.sandbox.token_file"),
        )
        self._kind = settings.kind

    async def grade(self, program: str, tests: TestSet, language: str, bounds: Bounds) -> list[TestResult]:
        """The results of the tests that were run, as `verify.code.grade.grade` gives them.

        Raises:
            JudgeError: the service failed, or took longer than it may for all tests, or they cannot be run there.
        """
        if why := cannot_run(tests):
            raise config_fault(why)
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
        return tested(test, _called(ending, mark), bounds)

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
        """Have the service run a small program.

        Raises:
            JudgeError: the program did not run, or printed something else than it should.
        """
        if (await self._run("print(1)", "", "python", Bounds(), None)).stdout.strip() != b"1":
            raise _error(f"the sandbox at {self._exchange.base_url} does not run a program that prints 1")


def cannot_run(tests: TestSet) -> str | None:
    """Why a service cannot run these tests: they are code, or have a checker of their own. None if it can."""
    if any(isinstance(test, CodeTest) for test in tests.tests):
        return (
            "tests that carry code are not run in a remote sandbox, beside a program that could change them: "
            "judge such rows with the jail of this machine"
        )
    if tests.checker:
        return "a checker of the row is not run in a remote sandbox: judge such rows with the jail of this machine"
    return None


def _error(message: str) -> JudgeError:
    return JudgeError(message, cause=Cause.SANDBOX)


def _called(ending: Ending, mark: str) -> Ending:
    """The ending with the function's return value as its `result`: the text behind the last `mark` of the output."""
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
    """The ending of a run that SandboxFusion's reply reports, or a text that says why it reports none."""
    if told["status"] not in ("Success", "Failed"):
        return f"status {told['status']!r}: {str(told.get('message'))[:300]}"
    for part in ("compile_result", "run_result"):
        if (result := told.get(part)) is None:
            continue
        if (status := result["status"]) == "TimeLimitExceeded":
            return Ending("cpu", -9)
        if status != "Finished":
            return f"{part} has the status {status!r}"
        if part == "run_result" or result["return_code"] != 0:
            return _ending(int(result["return_code"]), result["stdout"], result["stderr"])
    return "a run without a result"


def _piston_ending(told: Mapping[str, Any]) -> Ending | str:
    """The ending of a run that Piston's reply reports, or a text that says why it reports none."""
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


_log = logging.getLogger(__name__)
_WHERE = f"{SECTION}.code"
_MIB = 2**20
# Of a verdict by a service, where the judge has no deadline of its own
_DEADLINE_SECONDS = 300.0


class CodeJudge(BaseJudge):
    """Gives 1.0 and success to a program that passes all tests of its task, else 0.0, or with `partial` a share.

    The program stands in the last fenced block of `workflow_output.metadata["final_answer"]`; the tests are
    `workflow_task.task.metadata["tests"]`, in the form in which a data set has them, or the metadata itself where it
    is such a row. Settings: `astuner.task_judge.code`.

    The program runs in a jail and is given inputs alone; what comes out is compared here. See docs/code.md for what the
    jail promises.

    Raises:
        ConfigError: the settings do not fit each other, or there is no isolation on this machine.
        JudgeError: of a verdict: the tests cannot be read, or the sandbox failed.
    """

    bounds_itself = True
    takes_kwargs = False
    reference_keys = ("tests",)
    metric_names = (
        *("passed", "run", "cpu_seconds", "memory_mb", "failed_test"),
        *(f"failed_{kind}" for kind in get_args(Failure)),
    )

    def __init__(self, config: Any, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        self._settings = settings = section.code
        self._breaker = SandboxBreaker(why_broken=lambda: try_out(bare=self._bounds.bare))
        if settings.language not in LANGUAGES:
            raise ConfigError(f"{_WHERE}.language must be one of {', '.join(LANGUAGES)}, got {settings.language!r}")
        self._bounds = Bounds(
            RunLimits(
                seconds=settings.seconds,
                wall_seconds=min(2 * settings.seconds, settings.total_seconds),
                memory_mb=settings.memory_mb,
                processes=settings.processes,
                output_kb=settings.output_kb,
            ),
            total_seconds=settings.total_seconds,
            stop_at_first_failure=settings.stops,
            show_expected=settings.show_expected,
            tolerance=settings.tolerance,
            shared_interpreter=settings.shared_interpreter,
            packages=settings.packages,
            bare=settings.isolation == "none",
        )
        if settings.shared_interpreter:
            _log.warning(
                "%s.shared_interpreter: tests that need it are run in the program's own interpreter, where it can "
                "answer for them: do not train long on such rows",
                _WHERE,
            )
        self._service = (
            None
            if settings.sandbox is None
            else SandboxService(settings.sandbox, section.deadline or _DEADLINE_SECONDS, transport)
        )
        if self._service is not None:
            return
        _check_bare(settings.isolation, section.deadline)
        # a program that can harm its grader is bounded from outside it
        self.bounds_itself = not self._bounds.bare
        require_isolation(_WHERE, bare=self._bounds.bare)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge. Blocks while the program runs, and while other programs have the cores."""
        tests, language, program = self._read(workflow_task, workflow_output)
        if isinstance(program, Reward):
            return program
        return self._reward(self._graded(program, tests, language), tests)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge: the same in a thread, so that no event loop waits for a program; or asks the service."""
        if self._service is None:
            return await loops.in_thread(self.compute_reward, workflow_task, workflow_output)
        tests, language, program = self._read(workflow_task, workflow_output)
        if isinstance(program, Reward):
            return program
        return self._reward(await self._service.grade(program, tests, language, self._bounds_of(tests)), tests)

    async def aready(self) -> None:
        """See BaseJudge: the sandbox service runs a program."""
        if self._service is not None:
            await self._service.aready()

    def _read(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[TestSet, str, str | Reward]:
        """The tests, the language and the program; in place of the program the verdict, if the answer has none."""
        tests, answer = _tests(workflow_task.task), final_answer(workflow_output)
        language = self._language(tests)
        found = find_program(answer, self._settings.answer_in, language, tests)
        if found.source is None:
            return tests, language, Reward(0.0, False, reason=found.why, metrics=_metrics([]))
        return tests, language, completed(found.source, tests)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `unreadable tests`, or a row whose own solution fails."""
        try:
            tests = _tests(task)
            language = self._language(tests)
            if self._service is not None and (why := cannot_run(tests)):
                return f"not judged by the service: {why}"
            if not tests.solution:
                return None
            reward = self._reward(self._graded(completed(tests.solution, tests), tests, language), tests)
        except JudgeError as error:
            of_sandbox = error.cause in (Cause.SANDBOX, Cause.DEADLINE)
            return f"{'sandbox' if of_sandbox else 'unreadable tests'}: {error.message}"
        return None if reward[1] else f"its own solution fails: {reward.reason}"

    def estimate(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner) -> Estimate:
        """See BaseJudge: it asks no judge model."""
        from agentscope_tuner.graders.cost import Estimate

        return Estimate(complete=True)

    def _language(self, tests: TestSet) -> str:
        """The language that the row names, else that of the settings.

        Raises:
            JudgeError: it cannot be run here, its tests are not for it, or two tests contradict each other.
        """
        named = language_of(tests.language)
        if tests.language and named not in LANGUAGES:
            raise reference_error(
                f"the row's language is {tests.language!r}, and this machine runs {', '.join(LANGUAGES)}"
            )
        language = named or self._settings.language
        if language != "python" and not all(isinstance(test, StdinTest) for test in tests.tests):
            raise reference_error(f"functions and tests as code are for Python alone, and the row is in {language}")
        if number := contradicting(tests):
            raise reference_error(f"test {number} expects something else than one before it, for the same input")
        return language

    def _bounds_of(self, tests: TestSet) -> Bounds:
        return replace(
            self._bounds,
            tolerance=self._bounds.tolerance if tests.tolerance is None else tests.tolerance,
            unordered=tests.unordered,
        )

    def _graded(self, program: str, tests: TestSet, language: str) -> list[TestResult]:
        if self._service is not None:
            return loops.run(self._service.grade(program, tests, language, self._bounds_of(tests)))
        try:
            with self._breaker.trying():
                return grade(program, tests, language, self._bounds_of(tests))
        except StarvedError as exc:
            raise JudgeError(f"{exc}, twice: judge fewer rows at once", cause=Cause.SANDBOX) from exc
        except (BrokenTests, BadTestsError) as exc:
            raise reference_error(f"the tests cannot be run: {exc}") from exc

    def _reward(self, results: Sequence[TestResult], tests: TestSet) -> Reward:
        failed = _first_failed(results)
        metrics = _metrics(results)
        if failed is None:
            return Reward(1.0, True, reason=f"all {len(results)} tests pass", metrics=metrics)
        passed = sum(result.passed for result in results)
        unrun = len(tests.tests) - len(results)
        told = f"{passed} of {len(results)} tests pass" + (f" ({unrun} more not run)" if unrun else "")
        reason = f"{told}; test {failed.number}: {failed.why}"
        return Reward(self._partial(results, tests), False, reason=reason, metrics=metrics)

    def _partial(self, results: Sequence[TestResult], tests: TestSet) -> float:
        if self._settings.partial == "off":
            return 0.0
        weights = tests.weights if self._settings.partial == "weighted" and tests.weights else [1.0] * len(tests.tests)
        return sum(weights[result.number - 1] * result.share for result in results) / sum(weights)


def _check_bare(isolation: str, deadline: float | None) -> None:
    """Warn of programs without isolation.

    Raises:
        ConfigError: nothing bounds a verdict on them.
    """
    if isolation != "none":
        return
    if deadline is None:
        raise ConfigError(
            f"{_WHERE}.isolation: none needs astuner.task_judge.deadline: nothing else bounds a program that harms "
            "its grader; write one, or leave isolation out"
        )
    _log.warning(
        "%s.isolation is none: programs of the policy can read and change what this user can, and other "
        "programs' runs; use it only where this machine holds nothing else",
        _WHERE,
    )


def _tests(task: Task) -> TestSet:
    """The tests of a task.

    Raises:
        JudgeError: there are none, or they cannot be read.
    """
    tests, named = task.metadata.get("tests"), task.metadata.get("language")
    try:
        if tests is None:
            return read_tests(_with_prompt(task))
        found = read_tests(tests, task.metadata)
        # beside them it may be that of the question
        if isinstance(named, str) and not found.language and language_of(named) in LANGUAGES:
            found = replace(found, language=named)
        return found
    except BadTestsError as exc:
        told = f"{exc}; metadata['tests'] holds them as the data set has them"
        example = """write for example `"tests": {"inputs": ["1\\n"], "outputs": ["2\\n"]}`"""
        if isinstance(exc, UnknownFormError) and tests is None:
            told = (
                f"the row has no `tests`, only {sorted(map(str, task.metadata))!r:.200}: {example}, or name their "
                "column, `reads: {tests: COLUMN}` under astuner.task_judge"
            )
        elif isinstance(exc, UnknownFormError):
            told = f"{exc}: {example}, or a list of asserts"
        raise reference_error(f"the task's tests cannot be read: {told}") from exc


def _with_prompt(task: Task) -> Mapping[str, Any]:
    """The columns of a task. HumanEval's `prompt`, a program to go on with, may be the question alone: trainers, and
    readers of their rows, do not hand it over twice.
    """
    row, asked = task.metadata, task.main_query
    begins = "prompt" not in row and f"def {row.get('entry_point')}(" in asked
    if begins and any(parsed(text) is not None for text in (asked, f"{asked.rstrip()}\n    pass")):
        return {**row, "prompt": asked}
    return row


def _first_failed(results: Sequence[TestResult]) -> TestResult | None:
    return next((result for result in sorted(results, key=lambda one: one.number) if not result.passed), None)


def _metrics(results: Sequence[TestResult]) -> dict[str, float]:
    failed = _first_failed(results)
    return {
        "passed": float(sum(result.passed for result in results)),
        "run": float(len(results)),
        "cpu_seconds": round(sum(result.cpu_seconds for result in results), 4),
        "memory_mb": round(max((result.peak_memory for result in results), default=0) / _MIB, 1),
        # what the reason says, as numbers: which test, and how it failed
        "failed_test": float(failed.number) if failed else 0.0,
        **{f"failed_{kind}": float(failed is not None and failed.kind == kind) for kind in get_args(Failure)},
    }
