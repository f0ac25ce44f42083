"""A function as a grader."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.base_grader import BaseGrader
from agentscope_tuner.graders.schema import GraderMode, GraderRank, GraderScore, is_finite_number, named_cause


class FunctionGrader(BaseGrader):
    """Grades by calling `func` with the arguments of `aevaluate`, by name.

    Args:
        func: sync or async. It returns a number or a bool (pointwise), a list of places (listwise), or a GraderScore
            or GraderRank. A sync function runs in a thread, so that other verdicts do not wait for it.
        name: the grader's name; the function's own name when None.
        mode: whether `func` scores one response or ranks several.
        description: the function's docstring when None.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        name: str | None = None,
        mode: GraderMode | str = GraderMode.POINTWISE,
        description: str | None = None,
    ) -> None:
        own_name = getattr(func, "__name__", type(func).__name__)
        super().__init__(name or own_name, mode, inspect.getdoc(func) or "" if description is None else description)
        self.func = func

    @property
    def own_arguments(self) -> frozenset[str]:
        """See BaseGrader: the function's parameters."""
        try:
            return frozenset(inspect.signature(self.func).parameters)
        except (TypeError, ValueError):
            return frozenset()

    async def aevaluate(self, **kwargs: Any) -> GraderScore | GraderRank:
        """See BaseGrader; `kwargs` go to the function as they are."""
        try:
            if inspect.iscoroutinefunction(self.func):
                result = await self.func(**kwargs)
            else:
                result = await loops.in_thread(partial(self.func, **kwargs))
                if inspect.isawaitable(result):
                    result = await result
            return self._read(result)
        except Exception as exc:  # noqa: BLE001 - a user's function may fail in any way; none of them is a verdict
            return self.failed(f"{type(exc).__name__}: {exc}", cause=named_cause(exc))

    def _read(self, result: Any) -> GraderScore | GraderRank:
        if self.mode is GraderMode.LISTWISE:
            return result if isinstance(result, GraderRank) else GraderRank(self.name, result)
        if isinstance(result, GraderScore):
            return result
        if not isinstance(result, bool) and not is_finite_number(result):
            raise TypeError(f"a pointwise function answers a finite number or a bool, got {result!r:.200}")
        return GraderScore(self.name, float(result))

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the function goes as `module->name`.

        Raises:
            ValueError: no name leads back to the function: it is a lambda, or it is defined inside another function.
        """
        module, name = getattr(self.func, "__module__", ""), getattr(self.func, "__qualname__", "")
        if not module or not name or "<" in name:
            raise ValueError(f"{self.func!r} cannot be saved: only functions at the top of a module can be found again")
        return {**super().to_dict(), "func": f"{module}->{name}"}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> FunctionGrader:
        """The grader that `to_dict` described.

        Raises:
            ConfigError: the function cannot be found.
        """
        module, arrow, name = str(config["func"]).partition("->")
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError, ValueError) as exc:
            raise ConfigError(f"func must read 'module->function', got {config['func']!r}: {exc}") from exc
        if not arrow or not callable(found):
            raise ConfigError(f"func must read 'module->function', got {config['func']!r}")
        return cls(found, config["name"], config["mode"], config["description"])
