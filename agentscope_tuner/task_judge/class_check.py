"""Checks a judge's class before the first rollout: it can be called, and it reads its settings."""

from __future__ import annotations

import difflib
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel

from agentscope_tuner.config import SECTION, MathConfig, TaskJudgeConfig
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.base_judge import BaseJudge

_DEFAULTS = TaskJudgeConfig()
# The judges of this package by class name, each with its module
_BUILT_IN = {
    "ChoiceJudge": "choice_judge",
    "CountdownAnswerAsJudge": "countdown_answer_as_judge",
    "EnvServiceJudge": "env_service_as_judge",
    "FormatJudge": "format_judge",
    "HttpJudge": "http_judge",
    "InstructionJudge": "instruction_judge",
    "JsonAnswerJudge": "json_answer_judge",
    "LanguageJudge": "language_judge",
    "LengthJudge": "length_judge",
    "MathAnswerAsJudge": "math_answer_as_judge",
    "RepetitionJudge": "repetition_judge",
    "TextMatchJudge": "text_match_judge",
    "ToolCallJudge": "tool_call_judge",
    "WorkflowRewardJudge": "workflow_reward_as_judge",
}
_VERDICTS = ("compute_reward", "acompute_reward", "compute_rewards")


def parts_of(protocol: str) -> tuple[str, str]:
    """The module and the class that a `module->Class` string names.

    Raises:
        ConfigError: the string has another form; the message shows the right form.
    """
    module, arrow, name = (part.strip() for part in protocol.partition("->"))
    if not (arrow and module and name):
        raise ConfigError(f"a protocol must read 'module->Class', got {protocol!r}{_meant(protocol)}")
    if "/" in module or "\\" in module or module.endswith(".py"):
        raise ConfigError(
            f"a protocol names a module, not a file, got {protocol!r}: write '{_module_of(module)}->{name}'"
        )
    return module, name


def _meant(protocol: str) -> str:
    """`: did you mean …?` for the spellings of other programs, `module:Class` and `module.Class`."""
    for separator in (":", "."):
        module, found, name = protocol.strip().rpartition(separator)
        if found and name.isidentifier() and name[0].isupper() and all(map(str.isidentifier, module.split("."))):
            return f": did you mean '{module}->{name}'?"
    return near_built_in(protocol.strip())


def near_built_in(name: str) -> str:
    """`: did you mean …?` with the protocol of the judge of this package that `name` comes close to, such as `math`."""
    plain = {_plain(judge): judge for judge in _BUILT_IN}
    near = difflib.get_close_matches(_plain(name), plain, n=1, cutoff=0.75)
    if not near:
        return ""
    judge = plain[near[0]]
    return f": did you mean 'agentscope_tuner.task_judge.{_BUILT_IN[judge]}->{judge}'?"


def _plain(name: str) -> str:
    return name.lower().replace("_", "").removesuffix("judge").removesuffix("as").removesuffix("answer")


def _module_of(path: str) -> str:
    """The module that a path to its file means, seen from the working directory or from where Python looks."""
    file = PurePath(path.replace("\\", "/"))
    if file.is_absolute():
        for folder in (os.getcwd(), *sys.path):
            # Every file lies below the root, so the root names no module
            if folder.strip(os.sep) and file.is_relative_to(folder):
                file = file.relative_to(folder)
                break
        else:
            # The file's folder has to be added to Python's path
            file = PurePath(file.name)
    parts = [part for part in file.with_suffix("").parts if part not in (".", "..")]
    return ".".join(parts[:-1] if parts[-1:] == ["__init__"] else parts)


def check_class(judge_class: type, protocol: str) -> None:
    """Check that `judge_class` can give verdicts.

    Raises:
        ConfigError: the class is no BaseJudge, defines no verdict, or a method is async where it must be sync, or the
            reverse.
    """
    if not issubclass(judge_class, BaseJudge):
        raise ConfigError(f"{SECTION}.judge_protocol: {protocol!r} is not a subclass of BaseJudge")
    if all(getattr(judge_class, name) is getattr(BaseJudge, name) for name in _VERDICTS):
        raise ConfigError(f"{protocol!r} must define compute_reward(workflow_task, workflow_output)")
    for name, way_out in (
        ("compute_reward", "name it acompute_reward: compute_reward then runs it for callers that do not await"),
        ("compute_rewards", "it must answer, not be awaited: await inside of acompute_reward"),
    ):
        if _is_async(getattr(judge_class, name)):
            raise ConfigError(f"{protocol!r}: {name} is `async def`: {way_out}")
    if not _is_async(judge_class.acompute_reward):
        raise ConfigError(f"{protocol!r}: acompute_reward must be `async def`; compute_reward is the one that is not")
    for name in _VERDICTS:
        _check_signature(judge_class, name, protocol)


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _check_signature(judge_class: type[BaseJudge], name: str, protocol: str) -> None:
    function = inspect.getattr_static(judge_class, name)
    if not inspect.isfunction(function):
        # A static method or another callable: its parameters cannot be checked before it is called
        return
    signature = inspect.signature(function)
    try:
        signature.bind(object(), object(), object())
    except TypeError as exc:
        outputs = "workflow_outputs" if name == "compute_rewards" else "workflow_output"
        raise ConfigError(f"{protocol!r}: {name} must take (self, workflow_task, {outputs}), got {signature}") from exc


def check_type(section: TaskJudgeConfig) -> None:
    """Check that the settings of judges that ask other judges are at places where they are read.

    Raises:
        ConfigError: a setting is given that this `judge_type` does not read; names the place where it belongs.
    """
    of_type = {"combined": ("parts", "reward", "success", "clip"), "routed": ("by", "routes")}
    for judge_type, keys in of_type.items():
        given = [key for key in keys if getattr(section, key) != getattr(_DEFAULTS, key)]
        if given and section.judge_type != judge_type:
            raise ConfigError(
                f"{SECTION}.{given[0]} is read by judge_type: {judge_type} alone, got judge_type: {section.judge_type}"
            )
    if section.judge_type not in of_type:
        return
    inside = "parts.<name>" if section.judge_type == "combined" else "routes.<value>"
    for key in ("judge_protocol", "math", "llm", "rubrics_auto_grader", "task_rubrics"):
        if (value := getattr(section, key)) != getattr(_DEFAULTS, key):
            raise ConfigError(
                f"{SECTION}.{key}: a {section.judge_type} judge asks others, each with settings of its own, "
                f"got {value!r:.200}: write {SECTION}.{inside}.{key}"
            )


def check_kwargs(judge_class: type, kwargs: Mapping[str, Any]) -> None:
    """Check that `judge_kwargs` is empty for a class that reads no settings.

    Raises:
        ConfigError: the built-in judge reads no `judge_kwargs`; names the place where the setting belongs.
    """
    # Read the class's own attribute, not an inherited one: a subclass may read settings that its base refuses
    if not kwargs or vars(judge_class).get("takes_kwargs", True):
        return
    key, value = next(iter(kwargs.items()))
    places = [f"{SECTION}.{place}.{key}" for place, model in _sections() if key in model.model_fields]
    hint = f": write {places[0]}" if places else ""
    raise ConfigError(
        f"{SECTION}.judge_kwargs.{key}: {judge_class.__name__} reads no judge_kwargs, got {value!r}{hint}"
    )


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    # Imported only for the message, because the graders under it take long to import
    from agentscope_tuner.rubrics.config import AutoGraderConfig

    yield from (("math", MathConfig), ("rubrics_auto_grader", AutoGraderConfig))
