"""Loads a judge: `module->Class` strings, checks of the class before the first rollout, and `load_judge`, the one door.

A judge that asks others loads each of them here, too, from a whole `task_judge` section inside its own.

`main` is the program of a judging process: it loads the judge, then answers questions about tasks and outputs.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import logging
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from omegaconf.errors import ConfigAttributeError, ConfigKeyError

from agentscope_tuner._run.channel import ParentChannel
from agentscope_tuner.config import (
    HANDED,
    SECTION,
    MathConfig,
    Settings,
    Source,
    StrictSection,
    TaskJudgeConfig,
    inner_settings,
    resolve,
)
from agentscope_tuner.errors import ConfigError, JudgeError, called_so
from agentscope_tuner.rules import compile_rules
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.task_judge.contract.columns import NO_READS, Reads
from agentscope_tuner.task_judge.contract.columns import WHERE as READS
from agentscope_tuner.task_judge.contract.judgement import FramesOf, place_of
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge

_log = logging.getLogger(__name__)

_HOME = "agentscope_tuner.task_judge"
#: The judges of this package that a `judge_protocol` may name: each class with its module. A new judge becomes known
#: by its entry here.
JUDGES = {
    "ChoiceJudge": "choice_judge",
    "CodeJudge": "code_judge",
    "CountdownAnswerAsJudge": "countdown_answer_as_judge",
    "EnvServiceJudge": "env_service_as_judge",
    "FormatJudge": "format_judge",
    "HttpJudge": "http_judge",
    "InstructionJudge": "instruction_judge",
    "JsonAnswerJudge": "json_answer_judge",
    "LanguageJudge": "language_judge",
    "LengthJudge": "length_judge",
    "MathAnswerAsJudge": "math_answer_as_judge",
    "ReasoningGymJudge": "reasoning_gym_judge",
    "RepetitionJudge": "repetition_judge",
    "SqlJudge": "sql_judge",
    "TextMatchJudge": "text_match_judge",
    "ToolCallJudge": "tool_call_judge",
    "WorkflowRewardJudge": "workflow_reward_as_judge",
}
#: The judges of this package that a `judge_type` names.
JUDGES_BY_TYPE = {
    "rubrics_auto_grader": "rm_auto_grader_judge->AutoGraderJudge",
    "llm": "llm_judge->LLMJudge",
    "pairwise": "llm_judge->PairwiseJudge",
    "task_rubrics": "task_rubrics_judge->TaskRubricsJudge",
    "reward_model": "reward_model_judge->RewardModelJudge",
    "verifier": "verifier_judge->VerifierJudge",
    "combined": "combined_judge->CombinedJudge",
    "routed": "routed_judge->RoutedJudge",
}
#: Short names of the judges, for `judge` and `judge_protocol`; those of `JUDGES_BY_TYPE` are short already.
SHORT_NAMES = {
    module.removesuffix("_judge").removesuffix("_as").removesuffix("_answer").removesuffix("_service"): judge
    for judge, module in JUDGES.items()
}
# Keys that one `judge_type` alone reads
_KEYS_OF_TYPE = {"combined": ("parts", "reward", "success", "clip"), "routed": ("by", "routes")}
_OF_ASKING = frozenset(key for keys in _KEYS_OF_TYPE.values() for key in keys)
# Keys that the judges asked by a combined or a routed one read, each in its own section
_KEYS_OF_INNER = ("judge_protocol", "math", "llm", "rubrics_auto_grader", "task_rubrics", "reward_model", "verifier")
# Settings of the whole run, not of one of its judges
_KEYS_OF_WHOLE = ("name", "concurrency")
_KEYS_SHOWN = 8
_DEFAULTS = TaskJudgeConfig()
_VERDICTS = {
    "compute_reward": "name it acompute_reward: compute_reward then runs it for callers that do not await",
    "acompute_reward": "acompute_reward must be `async def`; compute_reward is the one that is not",
    "compute_rewards": "it must answer, not be awaited: await inside of acompute_reward",
}
_READ_FROM = (
    "the completion is {}.metadata['final_answer'], a column such as answer is workflow_task.task.metadata['answer']"
)


@called_so("load_judge('judge.yaml')")
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
    judge = _build(settings)
    if section.reads:
        _warn_of_unread(section.reads, judge)
    return TaskJudge(
        judge,
        rules,
        rule_reward=section.rule_reward,
        on_error=section.on_error,
        deadline=section.deadline,
        max_abandoned=section.max_abandoned,
        recipe=settings,
        keep_calls=section.keep_calls,
        reads=Reads(section.reads) if section.reads else NO_READS,
    )


def _warn_of_unread(reads: Mapping[str, Any], judge: BaseJudge) -> None:
    """Warn of a key of `reads` that is probably misspelt, since no judge would read its column.

    It is no error, because a user's own judge may read this very key.
    """
    known = ("question", "answer", "response", *judge.reference_keys)
    for key in reads:
        if key in known:
            continue
        if reads[key] in known[:3] and type(judge).__module__.startswith(__name__.partition(".")[0]):
            told = "%s.%s: did you mean `%s: %s`? On the left stands what %s reads, on the right your column"
            _log.warning(told, READS, key, reads[key], key, type(judge).__name__)
        elif nearest := difflib.get_close_matches(str(key), known, n=1, cutoff=0.8):
            told = "%s.%s: did you mean %r? %s does not say that it reads this key"
            _log.warning(told, READS, key, nearest[0], type(judge).__name__)


def _no_judge(settings: Settings) -> str:
    if "ajet" in settings.whole:
        return (
            "the configuration has a section `ajet`, which astuner does not read: `astuner migrate FILE --output NEW` "
            "writes its task_judge under `astuner`, for AgentJet and for every command here"
        )
    beside = [str(key) for key in settings.whole if key != SECTION.partition(".")[0]]
    if beside and not settings.task_judge.model_fields_set:
        return (
            f"the configuration has no {SECTION}, only {', '.join(map(repr, beside[:_KEYS_SHOWN]))}: is it the right "
            "file? `astuner: {task_judge: {judge: math}}` names a judge; rows go to --input"
        )
    return (
        f"{SECTION}.judge is missing: name a judge, {', '.join([*SHORT_NAMES, *JUDGES_BY_TYPE])}, or a class of yours "
        "as 'module->Class'. Where the workflow sets the reward itself, it is workflow_reward"
    )


def _build(settings: Settings) -> BaseJudge:
    section = settings.task_judge
    if section.judge_type in _KEYS_OF_TYPE or section.model_fields_set & _OF_ASKING:
        _check_keys(section)
    by_type = JUDGES_BY_TYPE.get(section.judge_type)
    protocol = f"{_HOME}.{by_type}" if by_type else section.judge_protocol
    if protocol is None:
        raise ConfigError(_no_judge(settings))
    judge_class = resolve_protocol(protocol)
    _check_class(judge_class, protocol)
    # The class's own attribute, not an inherited one: a subclass may read settings that its base refuses
    if section.judge_kwargs and not vars(judge_class).get("takes_kwargs", True):
        raise _unread_kwargs(judge_class, section)
    vars(settings.whole)[HANDED] = section
    try:
        judge: BaseJudge = judge_class(settings.whole)
    except ConfigError:
        raise
    except (Exception, SystemExit) as exc:  # a user's constructor may fail in any way
        takes_none = isinstance(exc, TypeError) and "__init__" in str(exc)
        way_out = "; a judge has `def __init__(self, config)`, or none" if takes_none else ""
        raise ConfigError(f"{protocol!r} could not be constructed: {_said(exc)}{way_out}") from exc
    return judge


def _check_keys(section: TaskJudgeConfig) -> None:
    """Check that the settings of judges that ask other judges stand where they are read.

    Raises:
        ConfigError: a setting is given that this `judge_type` does not read; names the place where it belongs.
    """
    for judge_type, keys in _KEYS_OF_TYPE.items():
        for key in keys:
            if section.judge_type != judge_type and getattr(section, key) != getattr(_DEFAULTS, key):
                raise ConfigError(
                    f"{SECTION}.{key} is read by judge_type: {judge_type} alone, got judge_type: {section.judge_type}"
                )
    if section.judge_type not in _KEYS_OF_TYPE:
        return
    inside = "parts.<name>" if section.judge_type == "combined" else "routes.<value>"
    for key in _KEYS_OF_INNER:
        if (value := getattr(section, key)) != getattr(_DEFAULTS, key):
            raise ConfigError(
                f"{SECTION}.{key}: a {section.judge_type} judge asks others, each with settings of its own, "
                f"got {value!r:.200}: write {SECTION}.{inside}.{key}"
            )


_SECTION_OF = {"MathAnswerAsJudge": "math", "AutoGraderJudge": "rubrics_auto_grader"}


def _unread_kwargs(judge_class: type, section: TaskJudgeConfig) -> ConfigError:
    # Imported only for the message, because the graders under it take long to import
    from agentscope_tuner.graders.rubrics.settings import AutoGraderConfig

    key, value = next(iter(section.judge_kwargs.items()))
    sections: dict[str, type[StrictSection]] = {"math": MathConfig, "rubrics_auto_grader": AutoGraderConfig}
    read = {name for judge, name in _SECTION_OF.items() if any(judge == base.__name__ for base in judge_class.__mro__)}
    place = next((name for name, model in sections.items() if key in model.model_fields and name in read), None)
    hint = f": write {SECTION}.{place}.{key}" if place else ": leave judge_kwargs out"
    return ConfigError(
        f"{SECTION}.judge_kwargs.{key}: {judge_class.__name__} reads no judge_kwargs, got {value!r}{hint}"
    )


def _check_class(judge_class: type, protocol: str) -> None:
    """Check that `judge_class` can give verdicts.

    Raises:
        ConfigError: the class is no BaseJudge, defines no verdict, or a method is async where it must be sync, or the
            reverse.
    """
    if not issubclass(judge_class, BaseJudge):
        raise ConfigError(
            f"{SECTION}.judge_protocol: {protocol!r} is not a subclass of BaseJudge: write "
            f"`class {judge_class.__name__}(BaseJudge)`, by `from agentscope_tuner import BaseJudge`"
        )
    defined = False
    for name in _VERDICTS:
        if (function := getattr(judge_class, name)) is getattr(BaseJudge, name):
            continue
        defined = True
        is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
        if is_async is not (name == "acompute_reward"):
            told = f"{name} is `async def`: {_VERDICTS[name]}" if is_async else _VERDICTS[name]
            raise ConfigError(f"{protocol!r}: {told}")
        # The parameters of a static method, or of another callable, cannot be checked before it is called
        if inspect.isfunction(inspect.getattr_static(judge_class, name)):
            signature = inspect.signature(function)
            try:
                signature.bind(object(), object(), object())
            except TypeError as exc:
                outputs = "workflow_outputs" if name == "compute_rewards" else "workflow_output"
                read = _READ_FROM.format("workflow_outputs[0]" if name == "compute_rewards" else outputs)
                raise ConfigError(
                    f"{protocol!r}: {name} must take (self, workflow_task, {outputs}), got {signature}: {read}"
                ) from exc
    if not defined:
        raise ConfigError(f"{protocol!r} must define compute_reward(self, workflow_task, workflow_output)")


def load_inner(config: Any, section: TaskJudgeConfig, key: str, name: str, inner: TaskJudgeConfig) -> TaskJudge:
    """The judge of `inner`, which gets the whole configuration with its own section as `astuner.task_judge`.

    Its deadline is no longer than the outer judge's.

    Args:
        config: the whole configuration, as a judge receives it; not changed.
        section: the section around it.
        key: `parts` or `routes`.
        name: its name there.
        inner: its own section.

    Raises:
        ConfigError: the judge cannot be loaded, or judges are nested too deep.
    """
    where = f"{SECTION}.{key}.{name}"
    for own in _KEYS_OF_WHOLE:
        if (value := getattr(inner, own)) != getattr(_DEFAULTS, own):
            raise ConfigError(f"{where}.{own} is read by nobody: write {SECTION}.{own} for the whole, got {value!r}")
    _check_depth(section, inner, where)
    seconds = [given for given in (inner.deadline, section.deadline) if given is not None]
    own_section = inner.model_copy(update={"deadline": min(seconds, default=None)})
    try:
        return load_judge(inner_settings(config, key, name, own_section))
    except ConfigError as exc:
        told = str(exc)
        raise ConfigError(told.replace(SECTION, where) if SECTION in told else f"{where}: {told}") from exc


def _check_depth(section: TaskJudgeConfig, inner: TaskJudgeConfig, where: str) -> None:
    """Check that a judge that asks others is at most one level inside another one: reasons must stay readable.

    Raises:
        ConfigError: it is two levels inside.
    """
    if inner.judge_type not in _KEYS_OF_TYPE:
        return
    for kind, asked in (("parts", inner.parts), ("routes", inner.routes)):
        for name, each in asked.items():
            if each.judge_type in _KEYS_OF_TYPE:
                raise ConfigError(
                    f"{where}.{kind}.{name}.judge_type: {each.judge_type!r} stands two levels inside {SECTION}, "
                    f"a {section.judge_type} judge: one such judge may hold another, and that one none"
                )


def resolve_protocol(protocol: str) -> type:
    """The class that a `module->Class` string names; it may be in a module of the working directory.

    Raises:
        ConfigError: the string is malformed, the module cannot be imported, or it has no such class.
    """
    module_name, class_name = _parts_of(protocol)
    module = _imported(module_name, protocol)
    found = getattr(module, class_name, None)
    if callable(found) and not isinstance(found, type):
        raise ConfigError(
            f"{class_name!r} of module {module_name!r} is a function, and a judge is a class: write "
            "`from agentscope_tuner import BaseJudge`, `class J(BaseJudge):` and in it `def compute_reward(self, "
            f"workflow_task, workflow_output): return reward, success`, and `judge: {module_name}->J`; "
            f"{_READ_FROM.format('workflow_output')}"
        )
    if not isinstance(found, type):
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        classes = sorted(name for name in own if isinstance(vars(module)[name], type) and name[0] != "_")
        near = difflib.get_close_matches(class_name, classes, n=1)
        told = f"did you mean {near[0]!r}?" if near else f"its classes are {', '.join(classes) or '(none)'}"
        raise ConfigError(f"module {module_name!r} has no class {class_name!r}; {told}{_hidden(module)}")
    return found


def _hidden(module: ModuleType) -> str:
    """Advice, if a file of the working directory is hidden by another module of its name; else empty."""
    file, used = f"{module.__name__}.py", getattr(module, "__file__", None)
    if "." in module.__name__ or not Path(file).is_file() or (used is not None and Path(used).samefile(file)):
        return ""
    return f"; Python has a module of this name, {used or 'built in'}, which hides your {file}: rename the file"


def resolve_function(protocol: str) -> Callable[[Any], object]:
    """The function that a `module->function` string names; it may be in a module of the working directory.

    Raises:
        ConfigError: the string is malformed, the module cannot be imported, or it has no such function.
    """
    module_name, name = _parts_of(protocol)
    found = getattr(_imported(module_name, protocol), name, None)
    if not callable(found) or isinstance(found, type):
        raise ConfigError(f"module {module_name!r} has no function {name!r}, got {found!r:.100}")
    return found  # type: ignore[no-any-return]


def _imported(module: str, protocol: str) -> ModuleType:
    # the working directory may have been removed, and holds nothing then
    with suppress(FileNotFoundError):
        if os.getcwd() not in sys.path and "" not in sys.path:
            sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as exc:  # a user's module may fail in any way while it is imported, or be a script
        why = f"cannot import {module!r} of protocol {protocol!r}: {_said(exc)}"
        raise ConfigError(why + (_packaged_twin(module, protocol) or _looked(module, protocol, exc))) from exc


def _looked(module: str, protocol: str, exc: BaseException) -> str:
    """Where a missing module was looked for, as the end of a message; empty if the import failed for another reason."""
    top, _, within = module.partition(".")
    if not isinstance(exc, ModuleNotFoundError) or exc.name is None or exc.name.startswith(f"{top}."):
        return ""
    if exc.name != top:
        there = f"install it there, as with `{sys.executable} -m pip install {exc.name}`"
        return f": the Python that runs astuner, {sys.executable}, lacks it: {there}"
    if not within and (found := next(Path.cwd().glob(f"*/{top}.py"), None)) is not None:
        beside = f"{found.parent.name}/{found.name}"
        return f"; there is {beside}: write '{found.parent.name}.{protocol.strip()}'"
    file = top if within else f"{top}.py"
    return f"; there is no {file} in the working directory {os.getcwd()!r}, nor on Python's path (PYTHONPATH)"


def _said(exc: BaseException) -> str:
    """The exception in words; with its place, unless the message has it or it is in this package."""
    if isinstance(exc, ConfigAttributeError | ConfigKeyError):
        told = f"it reads {exc.full_key}, which the configuration does not set"
        ours = str(exc.full_key).partition(".")[0] in TaskJudgeConfig.model_fields
        return f"{told}: a judge gets the whole file, so write config.{SECTION}.{exc.full_key}" if ours else told
    place = "" if isinstance(exc, ImportError | SyntaxError) else place_of(exc)
    foreign = place and not place.startswith(("<frozen", str(Path(__file__).parents[2])))
    return f"{type(exc).__name__}: {exc}" + (f" ({place})" if foreign else "")


def _packaged_twin(module: str, protocol: str) -> str:
    """A hint for an error message, if the module that `protocol` names cannot be imported; else empty.

    For a module of the tutorials, which are not installed with the package: its twin in the package, or to copy the
    file. For a missing judge of the package: the judge with a similar name, or the short names.
    """
    room, _, name = module.rpartition(".")
    if room == _HOME:
        return _near_judge(protocol.partition("->")[2].strip())
    if room.partition(".")[0] != "tutorial":
        return ""
    twin = f"{_HOME}.{name}"
    if importlib.util.find_spec(twin) is not None:
        return f"; the tutorials stand in the repository alone: write '{twin}->{protocol.partition('->')[2]}'"
    return "; the tutorials stand in the repository alone: copy the file beside your configuration and name it there"


def _parts_of(protocol: str) -> tuple[str, str]:
    """The module and the class that a `module->Class` string names.

    Raises:
        ConfigError: the string has another form; the message shows the right form.
    """
    if (judge := SHORT_NAMES.get(protocol.strip(), protocol.strip())) in JUDGES:
        return f"{_HOME}.{JUDGES[judge]}", judge
    module, arrow, name = map(str.strip, protocol.partition("->"))
    if not arrow and (known := _near_judge(protocol.strip())).startswith(": did"):
        raise ConfigError(f"{SECTION}.judge: no judge has the name {protocol!r}{known}")
    if not (arrow and module and name):
        several = "; several are asked by `judge: combined`" if "," in protocol else ""
        nameless = "" if set(protocol) & set(".:->/") else f", and no judge has this name{several}"
        raise ConfigError(f"a protocol must read 'module->Class', got {protocol!r}{nameless}{_meant(protocol)}")
    if "/" in module or "\\" in module or module.endswith(".py"):
        raise ConfigError(
            f"a protocol names a module, not a file, got {protocol!r}: write '{_module_of(module)}->{name}'"
        )
    return module, name


def _meant(protocol: str) -> str:
    """`: did you mean …?` for the spellings of other programs, `module:Class` and `module.Class`."""
    if protocol.strip().endswith(".py"):
        return f": did you mean '{_module_of(protocol.strip())}->CLASS', with the name of the class in that file?"
    file, found, name = protocol.strip().rpartition(":")
    if found and file.endswith(".py"):
        return f": did you mean '{_module_of(file)}->{name}'?"
    for separator in (":", "."):
        module, found, name = protocol.strip().rpartition(separator)
        if found and name.isidentifier() and name[0].isupper() and all(map(str.isidentifier, module.split("."))):
            return f": did you mean '{module}->{name}'?"
    return _near_judge(protocol.strip())


def _near_judge(name: str) -> str:
    """`: did you mean …?` with the short name of the judge that `name` comes close to, such as `maths`."""
    if near := near_judge(name):
        return f": did you mean {near!r}?"
    return "" if "->" in name or "." in name else f"; the short names are {', '.join([*SHORT_NAMES, *JUDGES_BY_TYPE])}"


def near_judge(name: str) -> str:
    """The short name of the judge that `name` comes close to, such as math for `MathJudge`; empty where none does."""
    plain = {_name_stem(judge): short for short, judge in SHORT_NAMES.items()} | {name: name for name in JUDGES_BY_TYPE}
    near = difflib.get_close_matches(_name_stem(name), plain, n=1, cutoff=0.75)
    return plain[near[0]] if near else ""


def _name_stem(name: str) -> str:
    return name.lower().replace("_", "").removesuffix("judge").removesuffix("as").removesuffix("answer")


def _module_of(path: str) -> str:
    """The module of a file below the working directory or Python's path: `tutorial/judge.py` is `tutorial.judge`."""
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


def main(channel: ParentChannel) -> None:
    """Answer until the parent closes the channel.

    Args:
        channel: brings the configuration and then `(task, output or outputs)`; takes None once the judge is loaded, or
            a text that says why it cannot be, and then `("answered", …)` or `("raised", (JudgeError, frames))`. All
            of them are pickles: both ends are one program under one user.
    """
    judge = channel.load(lambda settings: load_judge(settings).without_deadline())
    if judge is None:
        return
    for message in channel:
        channel.send(_answer(judge, message))


def _answer(judge: TaskJudge, message: bytes) -> bytes:
    try:
        task, about = pickle.loads(message)
        return pickle.dumps(("answered", judge.ask(task, about)), pickle.HIGHEST_PROTOCOL)
    except JudgeError as exc:
        return _raised(exc, "" if exc.__cause__ is None else str(FramesOf(exc.__cause__)))
    # boundary: a message that cannot be read here, or an answer that cannot be sent, fails its row alone
    except Exception as exc:  # noqa: BLE001
        return _raised(JudgeError(f"the judge's process could not answer: {type(exc).__name__}: {exc}"))


def _raised(error: JudgeError, frames: str = "") -> bytes:
    try:
        sent = pickle.dumps(("raised", (error, frames)), pickle.HIGHEST_PROTOCOL)
        # An error of the judge's own class may fail to unpickle
        pickle.loads(sent)
    # an error that cannot be pickled is sent as text
    except Exception:  # noqa: BLE001
        plain = JudgeError(error.message, task_id=error.task_id, judge=error.judge, cause=error.cause)
        plain.place = error.place
        sent = pickle.dumps(("raised", (plain, frames)), pickle.HIGHEST_PROTOCOL)
    return sent
