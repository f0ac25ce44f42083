"""The base class of every grader, a function as a grader, and the checks of arguments against a prompt's fields."""

from __future__ import annotations

import importlib
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.config import validate_section
from agentscope_tuner.errors import Cause, ConfigError, GraderError, did_you_mean, told
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.settings import ChatSettings
from agentscope_tuner.graders.schema import GraderMode, GraderRank, GraderScore, is_finite_number, named_cause
from agentscope_tuner.graders.template import LanguageEnum, PromptTemplate


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


#: The names of the arguments that every grader takes, whether or not its prompt shows them.
USUAL = ("query", "response", "ground_truth", "context", "tool_definitions", "tool_calls")
#: Arguments that may be absent; the prompt then says in words that none was given.
OPTIONAL = ("context", "tool_definitions", "tool_calls")


def check_arguments(
    values: Mapping[str, Any], used: Collection[str], optional: Collection[str], own: Collection[str]
) -> None:
    """Refuse arguments that the prompt does not know, and a prompt without a field that it needs.

    Args:
        values: the arguments, by name.
        used: the variables of the prompt; the error names the first variable without a value.
        optional: the variables that may be None.
        own: variables that the grader itself fills in.

    Raises:
        GraderError: names the argument, the nearest one, and the way out.
    """
    for name in values:
        if name not in USUAL and name not in used:
            known = sorted({*USUAL, *used} - set(own))
            hint = did_you_mean(name, known)
            raise GraderError(
                f"unknown argument {name!r}; {hint}the prompt takes {', '.join(known)}", cause=Cause.CONFIG
            )
    for name in used:
        value = values.get(name)
        # A text is given, as most are, unless it is blank
        if (isinstance(value, str) and value.strip()) or name in own or name in optional or not is_missing(name, value):
            continue
        what = "the reference answer is missing" if name == "ground_truth" else f"{name} is missing"
        given = sorted(name for name, value in values.items() if value is not None)
        raise GraderError(f"{what}: the prompt uses {{{name}}}, and given are {given!r}", cause=Cause.REFERENCE)


def is_missing(name: str, value: object) -> bool:
    """Whether the argument `name` has no value: None, NaN, or a blank text.

    Data frames write NaN into empty cells. A query or a response may be blank.
    """
    if isinstance(value, str):
        return name not in ("query", "response") and not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def model_of(model: ChatModel | ChatSettings | Mapping[str, Any]) -> ChatModel:
    """`model`, or a new ChatModel with these settings.

    Raises:
        ConfigError: the settings are wrong.
    """
    if isinstance(model, Mapping):
        model = validate_section(ChatSettings, dict(model), "model")
    return ChatModel(model) if isinstance(model, ChatSettings) else model


def check_template(template: PromptTemplate, language: LanguageEnum, name: str) -> None:
    """Refuse a prompt that never shows the response.

    Raises:
        ValueError: the messages in `language` have no `{response}`.
    """
    used = template.variables(language)
    if "response" not in used:
        raise ValueError(
            f"the template of {name!r} has no {{response}}, only {sorted(used)!r}: "
            "write {response} where the text to judge stands"
        )


def score_range(
    template: PromptTemplate, language: LanguageEnum, name: str, low: float | None, high: float | None
) -> tuple[float, float]:
    """The range of scores: the given one, else the range that the prompt's words state.

    A given range without its lower end starts at 0.

    Raises:
        ValueError: only the lower end is given, or no end is given and the prompt states no range.
    """
    if high is not None:
        return float(low or 0.0), float(high)
    stated = template.stated_range(language) if low is None else None
    if stated is None:
        raise ValueError(
            f"the range of {name!r} is not known: give scale: {{min: 1, max: 5}}, in Python min_score and max_score, or"
            f" state it in the prompt ('from 1 to 5', '1 到 5 分')"
        )
    return stated


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
        with told(
            f"func must read 'module->function', got {config['func']!r}", ImportError, AttributeError, ValueError
        ):
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        if not arrow or not callable(found):
            raise ConfigError(f"func must read 'module->function', got {config['func']!r}")
        return cls(found, config["name"], config["mode"], config["description"])
