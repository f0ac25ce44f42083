"""Makes a judge from a configuration: `module->Class` strings, and `load_judge`, the only entry point."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from omegaconf.errors import ConfigAttributeError, ConfigKeyError

from agentscope_tuner.config import SECTION, Settings, Source, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.rules import compile_rules
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.task_judge.class_check import check_class, check_kwargs, check_type, near_built_in, parts_of
from agentscope_tuner.task_judge.raised import place_of
from agentscope_tuner.task_judge.task_judge import TaskJudge

_BUILT_IN = "agentscope_tuner.task_judge"
_WORKFLOW_REWARD = "agentscope_tuner.task_judge.workflow_reward_as_judge->WorkflowRewardJudge"
_BY_TYPE = {
    "rubrics_auto_grader": "agentscope_tuner.task_judge.rm_auto_grader_judge->AutoGraderJudge",
    "llm": "agentscope_tuner.task_judge.llm_judge->LLMJudge",
    "task_rubrics": "agentscope_tuner.task_judge.task_rubrics_judge->TaskRubricsJudge",
    "combined": "agentscope_tuner.task_judge.combined_judge->CombinedJudge",
    "routed": "agentscope_tuner.task_judge.routed_judge->RoutedJudge",
}


def resolve_protocol(protocol: str) -> type:
    """The class that a `module->Class` string names; it may be in a module of the working directory.

    Raises:
        ConfigError: the string is malformed, the module cannot be imported, or it has no such class.
    """
    module_name, class_name = parts_of(protocol)
    module = _imported(module_name, protocol)
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        classes = sorted(name for name in own if isinstance(vars(module)[name], type) and name[0] != "_")
        raise ConfigError(
            f"module {module_name!r} has no class {class_name!r}; its classes are {', '.join(classes) or '(none)'}"
        )
    return found


def resolve_function(protocol: str) -> Callable[[Any], object]:
    """The function that a `module->function` string names; it may be in a module of the working directory.

    Raises:
        ConfigError: the string is malformed, the module cannot be imported, or it has no such function.
    """
    module_name, name = parts_of(protocol)
    found = getattr(_imported(module_name, protocol), name, None)
    if not callable(found) or isinstance(found, type):
        raise ConfigError(f"module {module_name!r} has no function {name!r}, got {found!r:.100}")
    return found  # type: ignore[no-any-return]


def _imported(module: str, protocol: str) -> ModuleType:
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as exc:  # a user's module may fail in any way while it is imported, or be a script
        why = f"cannot import {module!r} of protocol {protocol!r}: {_said(exc)}"
        raise ConfigError(why + _packaged_twin(module, protocol)) from exc


def _said(exc: BaseException) -> str:
    """The exception in words, and its place, unless the message has it or it is in this package."""
    if isinstance(exc, ConfigAttributeError | ConfigKeyError):
        return f"it reads {exc.full_key}, which the configuration does not set"
    place = "" if isinstance(exc, ImportError | SyntaxError) else place_of(exc)
    foreign = place and not place.startswith(("<frozen", str(Path(__file__).parents[1])))
    return f"{type(exc).__name__}: {exc}" + (f" ({place})" if foreign else "")


def _packaged_twin(module: str, protocol: str) -> str:
    """The way out where `protocol` names a file of the repository's tutorials, which no wheel holds."""
    room, _, name = module.rpartition(".")
    if room == _BUILT_IN:
        return near_built_in(protocol.partition("->")[2].strip())
    if room.partition(".")[0] != "tutorial":
        return ""
    twin = f"{_BUILT_IN}.{name}"
    if importlib.util.find_spec(twin) is not None:
        return f"; the tutorials stand in the repository alone: write '{twin}->{protocol.partition('->')[2]}'"
    return "; the tutorials stand in the repository alone: copy the file beside your configuration and name it there"


def load_judge(config: Source) -> TaskJudge:
    """Build the judge that `config` describes, with compiled rules; every mistake in the configuration is found here.

    Args:
        config: a YAML file's path, or a configuration already read. It is not changed.

    Raises:
        ConfigError: anything wrong in `astuner.task_judge`, or the judge's own constructor failed.
    """
    settings = resolve(config)
    section = settings.task_judge
    rules = compile_rules(section.rules, rule_modules=section.rule_modules, where=f"{SECTION}.rules")
    return TaskJudge(
        _build(settings),
        rules,
        rule_reward=section.rule_reward,
        on_error=section.on_error,
        deadline=section.deadline,
        max_abandoned=section.max_abandoned,
        recipe=settings,
        keep_calls=section.keep_calls,
    )


def _no_judge(settings: Settings) -> str:
    if "ajet" in settings.whole:
        return (
            "the configuration has a section `ajet`, which astuner does not read: write its task_judge under "
            "`astuner`, and its judge_protocol as a class of agentscope_tuner, or of your own below BaseJudge"
        )
    return (
        f"{SECTION}.judge_protocol is missing: name the judge as 'module->Class'. Where the workflow sets the reward "
        f"itself, that is {_WORKFLOW_REWARD!r}"
    )


def _build(settings: Settings) -> BaseJudge:
    section = settings.task_judge
    check_type(section)
    protocol = _BY_TYPE.get(section.judge_type, section.judge_protocol)
    if protocol is None:
        raise ConfigError(_no_judge(settings))
    judge_class = resolve_protocol(protocol)
    check_class(judge_class, protocol)
    check_kwargs(judge_class, section.judge_kwargs)
    try:
        judge: BaseJudge = judge_class(settings.whole)
    except ConfigError:
        raise
    except (Exception, SystemExit) as exc:  # a user's constructor may fail in any way
        raise ConfigError(f"{protocol!r} could not be constructed: {_said(exc)}") from exc
    return judge
