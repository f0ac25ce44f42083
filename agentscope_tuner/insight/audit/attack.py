"""The base class of attacks: a name, the right verdict on the attack's answers, and the answers to a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from agentscope_tuner.insight.audit.subject import Subject


class Attack:
    """Base of the attacks.

    Attributes:
        name: the name in reports.
        must: the verdict of a sound judge on the attack's answers.
        about: the attack in one line.
    """

    name: ClassVar[str]
    must: ClassVar[Literal["fail", "pass"]] = "fail"
    about: ClassVar[str]

    def answers(self, subject: Subject) -> Iterator[str]:
        """Full answers to one task; no answers when the attack makes no sense for the task."""
        raise NotImplementedError
