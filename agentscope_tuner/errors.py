"""The errors astuner raises.

AstunerError
├── ConfigError        the configuration is wrong; found at load, never per rollout
└── JudgeError         no verdict could be reached on a rollout; never to be read as a reward of 0
    ├── EnvServiceError    the environment that judges the rollout did not give a score
    └── GraderError        a grader (an LLM or a function) did not give a score or a rank
"""

from __future__ import annotations


class AstunerError(Exception):
    """The base of every error that astuner raises on purpose."""


class ConfigError(AstunerError):
    """The configuration is wrong. The message names the key, the value and what is allowed."""


class JudgeError(AstunerError):
    """No verdict: the judge is broken, not the answer. Picklable, so it crosses processes and Ray actors.

    Args:
        message: what went wrong and the way out, in words.
        task_id: the task being judged; filled in by TaskJudge when the judge did not say.
        judge: the judge's class name; filled in likewise.
    """

    def __init__(self, message: str, *, task_id: str | None = None, judge: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.task_id = task_id
        self.judge = judge

    def __str__(self) -> str:
        where = f"task {self.task_id!r}: " if self.task_id is not None else ""
        who = f"{self.judge}: " if self.judge is not None else ""
        return f"{where}{who}{self.message}"


class EnvServiceError(JudgeError):
    """The environment service did not give a usable score."""


class GraderError(JudgeError):
    """A grader did not give a usable score or rank."""
