"""The errors that astuner raises.

AstunerError
├── ConfigError        the configuration is wrong; found at load, never per rollout
└── JudgeError         no verdict could be reached on a rollout; never to be read as a reward of 0
    ├── DeadlineError      the verdict took longer than the judging's own time limit
    ├── EnvServiceError    the environment that judges the rollout did not give a score
    │   ├── EnvUnreachable     no connection, or one that broke before the answer was whole
    │   ├── EnvTimeout         no whole answer within the time allowed
    │   ├── InstanceNotFound   the service does not know the instance: released, expired, or lost in a restart
    │   ├── BadScore           an answer that is no finite number
    │   └── EnvServerError     the service answered with an error, or with something that is not its protocol
    └── GraderError        a grader (an LLM or a function) did not give a score or a rank
        └── GraderTimeout      a grader took longer than its deadline; a DeadlineError, too
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from types import MappingProxyType
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


class Cause(StrEnum):
    """Why there is no verdict, as a word that machines can count: each word names the part to mend.

    A failed judgement carries its cause into scored files, summaries and the service's metrics.
    """

    #: The task: its reference answer, or another field that the judge reads, is missing or cannot be read.
    REFERENCE = "reference"
    #: The rollout: its row cannot be read, or its output lacks the field that is judged.
    INPUT = "input"
    #: The workflow: the rollout ended without an output, so there is nothing to judge.
    ROLLOUT = "rollout"
    #: The judging took longer than the time limit that the configuration sets for a verdict.
    DEADLINE = "deadline"
    #: A judge model or a reward service: unreachable, too slow, or its reply cannot be used.
    ENDPOINT = "endpoint"
    #: The environment that scores the episode: unreachable, too slow, or its score cannot be used.
    ENVIRONMENT = "environment"
    #: The configuration, where the mistake shows only while a rollout is judged.
    CONFIG = "config"
    #: The answer could not be decided within the verifier's bounds, and `on_undecided: raise` is set.
    UNDECIDED = "undecided"
    #: The judge said on purpose that it has no verdict, with a JudgeError that names no other cause.
    JUDGE = "judge"
    #: The judge's code: it raised something other than a JudgeError, or returned something that is no reward.
    BUG = "bug"
    #: A process that judged died, or could not be started.
    WORKER = "worker"
    #: The sandbox in which a policy's program runs: it could not be made, was killed from outside, or starved.
    SANDBOX = "sandbox"
    #: Nothing was asked: so many verdicts failed or hang that the judge is left alone. The message names the last one.
    BREAKER = "breaker"
    #: Nothing: the rules filtered every other rollout of the group, and a judge that ranks has none to rank it with.
    ALONE = "alone"
    #: The run was interrupted before the verdict. Nothing needs mending: a resumed run judges the row.
    INTERRUPTED = "interrupted"


class AstunerError(Exception):
    """The base of every error that astuner raises on purpose."""


class ConfigError(AstunerError):
    """The configuration is wrong. The message names the key, the value and what is allowed."""


def install(extra: str) -> str:
    """How to install the packages of an extra, for messages: from a checkout, or from a wheel."""
    return f"pip install '.[{extra}]' in a checkout, or pip install 'WHEEL[{extra}]' with the path of the wheel"


@contextmanager
def told(what: str, *kinds: type[Exception], to: Callable[[str], Exception] | None = None) -> Iterator[None]:
    """A context that turns an error into a ConfigError whose message begins with `what`.

    Args:
        what: what could not be done; the error's own words follow.
        kinds: the classes of the errors that are turned, by default all; a ConfigError passes as it is.
        to: makes the new error from its message; by default a ConfigError.
    """
    try:
        yield
    # Any error: each file system has its own classes, and botocore's are no OSError
    except Exception as exc:
        if isinstance(exc, ConfigError) or not isinstance(exc, kinds or Exception):
            raise
        # fsspec's FileNotFoundError says no more than the path
        missing = isinstance(exc, FileNotFoundError) and exc.errno is None
        said = "there is no such file" if missing else str(exc) or type(exc).__name__
        raise (to or ConfigError)(f"{what}: {said}") from exc


def called_so(written: str) -> Callable[[Callable[_Given, _Found]], Callable[_Given, _Found]]:
    """Decorates a public function: if a call's arguments do not fit, the TypeError also shows how a call is written.

    Args:
        written: an example of a call, such as `reward_func('judge.yaml')`; it follows the word "write".
    """

    def door(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
        @wraps(function)
        def call(*given: _Given.args, **named: _Given.kwargs) -> _Found:
            try:
                return function(*given, **named)
            except TypeError as exc:
                # A call that does not fit never enters the function, so that no frame stands below this one
                if exc.__traceback__ is None or exc.__traceback__.tb_next is not None:
                    raise
                raise TypeError(f"{exc}: write {written}") from None

        return call

    return door


@contextmanager
def importing(what: str, extra: str) -> Iterator[None]:
    """A context that imports packages of an extra; where they are missing, a ConfigError begins with `what`."""
    try:
        yield
    except ImportError as exc:
        raise ConfigError(f"{what}: {install(extra)} ({exc})") from exc


class JudgeError(AstunerError):
    """No verdict: the judge is broken, not the answer. Picklable, so it crosses processes and Ray actors.

    Args:
        message: what went wrong and the way out, in words.
        task_id: the task being judged; filled in by TaskJudge when the judge did not name it.
        judge: the judge's class name; filled in likewise.
        cause: what has to be fixed; by default the cause of the error's class.

    Attributes:
        place: `file:line in function`, where foreign code raised; filled in by TaskJudge.
        metrics: numbers about the attempt, such as what was spent on it; they go into the failed Judgement.
        calls: the questions to judge models and their replies, where these are kept; they go into the failed Judgement,
            too.
    """

    cause: Cause = Cause.JUDGE
    place: str = ""
    metrics: Mapping[str, float] = MappingProxyType({})
    calls: Sequence[Mapping[str, object]] = ()

    def __init__(
        self, message: str, *, task_id: str | None = None, judge: str | None = None, cause: Cause | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.task_id = task_id
        self.judge = judge
        if cause is not None:
            self.cause = cause

    def __str__(self) -> str:
        where = f"task {self.task_id!r}: " if self.task_id else ""
        who = f"{self.judge}: " if self.judge else ""
        at = f" ({self.place})" if self.place else ""
        return f"{where}{who}{self.message}{at}"


class DeadlineError(JudgeError):
    """The verdict took longer than the judging's own time limit."""

    cause = Cause.DEADLINE


def judge_error(message: str, cause: Cause | None) -> JudgeError:
    """The exception for a failure that was recorded as text: a DeadlineError if the cause is the deadline."""
    return DeadlineError(message) if cause is Cause.DEADLINE else JudgeError(message, cause=cause)


def input_error(message: str) -> JudgeError:
    """No verdict, because of what is judged: an output or a question that cannot be read."""
    return JudgeError(message, cause=Cause.INPUT)


def reference_error(message: str) -> JudgeError:
    """No verdict, because the task's reference is missing or cannot be read."""
    return JudgeError(message, cause=Cause.REFERENCE)


def config_fault(message: str) -> JudgeError:
    """No verdict, because of a mistake in the configuration that shows only while a row is judged."""
    return JudgeError(message, cause=Cause.CONFIG)


def endpoint_error(message: str) -> JudgeError:
    """No verdict, because of a service that was asked."""
    return JudgeError(message, cause=Cause.ENDPOINT)


class EnvServiceError(JudgeError):
    """The environment service did not give a usable score."""

    cause = Cause.ENVIRONMENT


class EnvUnreachable(EnvServiceError):
    """The environment service could not be connected to, or the connection broke before its answer was whole."""


class EnvTimeout(EnvServiceError):
    """The environment service gave no whole answer within the time allowed."""


class InstanceNotFound(EnvServiceError):
    """The environment service does not know the instance: it was released, it expired, or the service restarted."""


class BadScore(EnvServiceError):
    """The environment gave a score that is no finite number, so it is no verdict."""


class EnvServerError(EnvServiceError):
    """The environment service answered with an error, or with something that is not its protocol.

    Args:
        status: the HTTP status code.
        detail: the service's own words; cut to `DETAIL_CHARS`, since it may be a whole traceback.
        where: the request and its receiver, put before the message.
    """

    DETAIL_CHARS = 2_000

    def __init__(self, status: int, detail: str, where: str = "env service") -> None:
        if len(detail) > self.DETAIL_CHARS:
            # Keep both ends: a traceback names its exception last
            half = self.DETAIL_CHARS // 2
            detail = f"{detail[:half]} … {detail[-half:]}"
        super().__init__(f"{where}: answered {status}: {detail}")
        # For pickle: Exception.__reduce__ rebuilds the error from `args`
        self.args = (status, detail, where)
        self.status = status
        self.detail = detail
        self.where = where


class GraderError(JudgeError):
    """A grader did not give a usable score or rank."""

    cause = Cause.ENDPOINT


class GraderTimeout(GraderError, DeadlineError):
    """A grader did not give a score or rank within its deadline."""

    cause = Cause.DEADLINE


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'? ` with the nearest of the names; empty where none is near."""
    # Imported late: every worker process loads this module
    import difflib

    nearest = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {nearest[0]!r}? " if nearest else ""
