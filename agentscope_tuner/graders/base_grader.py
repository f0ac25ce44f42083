"""The base class of every grader."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import Cause
from agentscope_tuner.graders.schema import GraderMode, GraderRank, GraderScore, named_cause


class BaseGrader(ABC):
    """Scores one response, or ranks several.

    Args:
        name: names the grader in results and sums.
        mode: whether `aevaluate` gives a GraderScore or a GraderRank.
        description: the quality that the grader judges, in words.
    """

    def __init__(self, name: str, mode: GraderMode | str = GraderMode.POINTWISE, description: str = "") -> None:
        self.name = name
        self.mode = GraderMode(mode)
        self.description = description

    @property
    def own_arguments(self) -> frozenset[str]:
        """Names of arguments of `aevaluate`, beyond the usual ones, that this grader asks for."""
        return frozenset()

    @abstractmethod
    async def aevaluate(self, **kwargs: Any) -> GraderScore | GraderRank:
        """Evaluate one response, or rank several.

        The usual arguments are `query`, `response` (a list of responses in listwise mode), `ground_truth`, `context`,
        `tool_definitions` and `tool_calls`.

        Returns:
            A GraderScore in pointwise mode, a GraderRank in listwise mode. It never raises: a failure
            becomes a result with `error` set, and the score or rank of such a result means nothing.
        """

    def failed(
        self, error: str, metadata: Mapping[str, Any] | None = None, cause: Cause | None = None
    ) -> GraderScore | GraderRank:
        """A result without a verdict, of this grader's mode; its `error` says why."""
        kind = GraderScore if self.mode is GraderMode.POINTWISE else GraderRank
        return kind.failed(self.name, error, metadata, cause)

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `from_config` makes an equal grader; holds no key."""
        return {"name": self.name, "mode": self.mode.value, "description": self.description}


async def evaluate(grader: BaseGrader, **kwargs: Any) -> GraderScore | GraderRank:
    """The result of `grader.aevaluate`; an exception or a result of another type becomes a failed result.

    Users write graders, too, and such a grader may raise although the convention forbids it.
    """
    try:
        result = await grader.aevaluate(**kwargs)
    except Exception as exc:  # noqa: BLE001 - a user's grader may fail in any way; none of them is a verdict
        return grader.failed(f"{type(exc).__name__}: {exc}", cause=named_cause(exc))
    if not isinstance(result, GraderScore if grader.mode is GraderMode.POINTWISE else GraderRank):
        return grader.failed(f"a {grader.mode} grader answered {result!r:.200}")
    return result
