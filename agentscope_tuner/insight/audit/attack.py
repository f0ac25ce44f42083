"""What an attack is: a name, whether its answers must fail or pass, and the answers it makes of a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from agentscope_tuner.insight.audit.subject import Subject


class Attack:
    """Base of the attacks.

    Attributes:
        name: in reports.
        must: whether a judge that is sound fails its answers or passes them.
        about: in one line.
    """

    name: ClassVar[str]
    must: ClassVar[Literal["fail", "pass"]] = "fail"
    about: ClassVar[str]

    def answers(self, subject: Subject) -> Iterator[str]:
        """Full answers to one task; none where the attack makes no sense for it."""
        raise NotImplementedError
