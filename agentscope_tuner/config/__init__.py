"""Configuration: OmegaConf over YAML, with one typed and strict section, `astuner.task_judge`.

Layers, later ones win: defaults < file < `key=value` overrides. Every other section (`rollout`, `data`, `trinity`,
`verl`, `hydra`, `defaults` …) passes through untouched: real training YAMLs have such sections, and judges receive the
whole configuration. `resolve` reads, merges and validates once. Its `Settings` go from the command to the engine, into
worker processes, and to `load_judge`, which hands each judge its own section: `task_judge_section` reads nothing again.
"""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import math
import os
import pickle
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from omegaconf import AnyNode, DictConfig, OmegaConf, flag_override
from omegaconf.errors import OmegaConfBaseException
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError

from .secrets import masked as masked
from .secrets import plain_data as plain_data
from .sections import SectionT, unshelled
from .sections import StrictSection as StrictSection
from .sections import validate_section as validate_section
from .yaml_files import read_source

SECTION = "astuner.task_judge"


def _one_or_more(value: object) -> object:
    return [value] if isinstance(value, str) else value


#: For choices with "off", which YAML reads as false where it stands without quotes.
WITH_OFF = BeforeValidator(lambda value: "off" if value is False else value)


def _text_keys(value: Any) -> Any:
    """Turn keys into text: YAML reads the route `1:` as a number and `true:` as a boolean; rows hold any of these."""
    if not isinstance(value, dict):
        return value
    named = {key: key if isinstance(key, str) else route_name(key) for key in value}
    twice = sorted({name for name in named.values() if list(named.values()).count(name) > 1}, key=str)
    if twice:
        raise ValueError(f"two routes are named {twice[0]!r}")
    return {named[key]: section for key, section in value.items()}


def route_name(value: object) -> str | None:
    """The name of the route that `value` stands for: text as it is, `1` and `1.0` as "1", `true` as "true".

    None for a value that names no route: None, NaN, a list, a mapping.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    # numpy's scalars are numbers, too; and pandas turns whole numbers into floats where a cell is missing
    if type(value) is int:
        return str(value)
    if isinstance(value, Real) and math.isfinite(value):
        number = float(value)
        return str(int(number)) if number.is_integer() else str(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return str(bool(value)).lower()
    return None


class MathConfig(StrictSection):
    """`astuner.task_judge.math`: how MathAnswerAsJudge compares."""

    equivalence: Literal["symbolic", "exact"] = "symbolic"
    # places of the answer, in order of preference: the first place that holds an answer is read
    answer_in: Annotated[
        list[Literal["boxed", "tag", "hash", "label", "last_value"]], BeforeValidator(_one_or_more)
    ] = Field(default=["boxed"], min_length=1)
    # pairs of strings that open and close a model's reasoning, beside the usual tags: it holds no answer
    think: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    # whether a formula that already appears in the question may be the answer
    copied: Literal["refuse", "accept"] = "refuse"
    # worker processes of the symbolic stage, shared by the process's judges
    workers: int = Field(default=1, ge=1, le=256)
    # CPU seconds that the symbolic stage may take over one answer
    deadline: float = Field(default=0.5, gt=0, le=3600)
    # an answer that cannot be checked within the bounds: 0.0 with its reason, or a JudgeError
    on_undecided: Literal["zero", "raise"] = "zero"


class SandboxConfig(StrictSection):
    """`astuner.task_judge.code.sandbox`: a service that runs programs."""

    kind: Literal["sandbox_fusion", "piston"]
    # when one does not answer, the next is asked
    urls: list[str] = Field(
        min_length=1, description="the addresses of the service, such as `urls: [http://127.0.0.1:8080]`"
    )
    # a file that holds the service's bearer token; read again when the service refuses what was in it
    token_file: str | None = None
    # sent with each request
    headers: dict[str, str] = Field(default_factory=dict)
    # requests under way at once, for each event loop
    max_connections: int = Field(default=16, ge=1)


class CodeConfig(StrictSection):
    """`astuner.task_judge.code`: how CodeJudge runs programs and compares what they print."""

    # CPU seconds of one test, of all its processes
    seconds: float = Field(default=4.0, gt=0, le=3600)
    # seconds by the clock for all tests of an answer, from where a core is free
    total_seconds: float = Field(default=12.0, gt=0, le=86_400)
    # memory of all processes and files of a test
    memory_mb: int = Field(default=1024, ge=64, le=1_048_576)
    # processes and threads of a test at once
    processes: int = Field(default=64, ge=1, le=10_000)
    # of stdout, of stderr and of each file
    output_kb: int = Field(default=4096, ge=1, le=1_048_576)
    # where the program stands: the last fenced block, that in <answer>, or the whole output if it has no block
    answer_in: Literal["fence", "tag", "whole"] = "fence"
    # a row may name another in its tests; with a remote sandbox any that it knows
    language: str = Field(default="python", pattern=r"^[a-z0-9+#_.-]{1,32}$")
    # the reward where some tests fail: none, their share, or their share by the numbers of `weights` in the row
    partial: Annotated[Literal["off", "share", "weighted"], WITH_OFF] = "off"
    # null: yes where partial is off
    stop_at_first_failure: bool | None = None
    # floats may differ by this much, absolutely or relatively
    tolerance: float = Field(default=1e-6, ge=0, le=1)
    # whether reasons may hold what hidden tests expect; keep it off where the policy reads its reasons
    show_expected: bool = False
    # whether programs may import the packages that are installed beside astuner; else the standard library alone
    packages: bool = False
    # whether tests that need the program in their own interpreter are run there: it can then answer for its tests
    shared_interpreter: bool = False
    # jail: programs see nothing of this machine; none: they can read and change what their user can
    isolation: Literal["jail", "none"] = "jail"
    # a service to run programs instead of this machine
    sandbox: SandboxConfig | None = None

    @property
    def stops(self) -> bool:
        """Whether tests behind the first failed one are left out."""
        return self.partial == "off" if self.stop_at_first_failure is None else self.stop_at_first_failure


_JudgeType = Literal[
    "customized_protocol",
    "rubrics_auto_grader",
    "llm",
    "pairwise",
    "task_rubrics",
    "reward_model",
    "verifier",
    "combined",
    "routed",
]


class TaskJudgeConfig(StrictSection):
    """`astuner.task_judge`: which judge, and the rules that run before it."""

    # the judge by its short name, such as math or llm; or as judge_protocol names it
    judge: str | None = None
    # the columns of a row that hold the question, the answer and the response; by default the common names
    reads: dict[str, Any] = Field(default_factory=dict)
    # the judge's name in logs and trainers' metrics; by default its class name
    name: str | None = Field(default=None, pattern=r"^[\w.-]{1,64}$")
    # its metrics' names, for trainers that need the same metrics of every sample; by default those of its class
    metric_names: list[str] | None = None
    judge_type: _JudgeType = "customized_protocol"
    judge_protocol: str | None = None
    judge_kwargs: dict[str, Any] = Field(default_factory=dict)
    rules: list[dict[str, Any]] = Field(default_factory=list)
    rule_modules: list[str] = Field(default_factory=list)
    rule_reward: float = 0.0
    on_error: Literal["raise", "zero"] = "raise"
    # rows that an async judge judges at once; counted in each process, over all callers
    concurrency: int = Field(default=64, ge=1, le=10_000)
    # seconds for one verdict, whichever judge reaches it; null: no limit but those that judges set themselves
    deadline: float | None = Field(default=300.0, gt=0)
    # a folder for every row that trains and its judgement, which `astuner watch` reads
    log_dir: Annotated[str | None, AfterValidator(unshelled)] = None
    # the share of advantage groups that are logged, each whole or not at all
    log_share: float = Field(default=1.0, gt=0, le=1)
    # whether a judgement keeps the questions to judge models and their replies, up to 20,000 characters a message
    keep_calls: bool = False
    # how many verdicts may hang in threads beyond their deadline before the judge is asked no more
    max_abandoned: int = Field(default=32, ge=1)
    math: MathConfig = Field(default_factory=MathConfig)
    code: CodeConfig = Field(default_factory=CodeConfig)
    rubrics_auto_grader: dict[str, Any] = Field(default_factory=dict)
    llm: dict[str, Any] = Field(default_factory=dict)
    task_rubrics: dict[str, Any] = Field(default_factory=dict)
    reward_model: dict[str, Any] = Field(default_factory=dict)
    verifier: dict[str, Any] = Field(default_factory=dict)
    # judge_type: combined. The parts' judges, by name
    parts: dict[str, PartConfig] = Field(default_factory=dict)
    # how the parts' rewards become one: one of the four combinations, or `module->function`
    reward: str = "weighted_sum"
    # whose is_success counts: a part's name, or all, or any
    success: str = "all"
    # the least and the largest reward
    clip: list[float] | None = Field(default=None, min_length=2, max_length=2)
    # judge_type: routed. The field of a row that names its route
    by: str | None = None
    # the judges, by the field's value; `default` judges rows with any other value
    routes: Annotated[dict[str, TaskJudgeConfig], BeforeValidator(_text_keys)] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _written_out(cls, data: Any) -> Any:
        """The section with `judge`, the short form, written out as `judge_type` or `judge_protocol`."""
        if not isinstance(data, dict):
            return data
        if "rules" in data and data["rules"] is None:
            # every rule is commented out
            data = {**data, "rules": []}
        name = data.get("judge")
        if isinstance(name, list):
            several = json.dumps({str(each): {"judge": each} for each in name})
            raise ValueError(f"judge: names one judge; for several write judge: combined, parts: {several}")
        if not isinstance(name, str):
            return data
        if name == "combined" and not data.get("parts") and (parts := _as_parts(data)):
            raise ValueError(f"judge: combined takes its judges under parts: write parts: {json.dumps(parts)}")
        key = "judge_type" if name in get_args(_JudgeType) else "judge_protocol"
        for other in ("judge_type", "judge_protocol"):
            if data.get(other) not in (None, "customized_protocol", name if other == key else None):
                raise ValueError(f"judge: {name} and {other}: {data[other]} both name the judge: give one of them")
        return {**data, key: name}

    def digest(self) -> str:
        """A digest of everything that decides the verdicts: runs with the same digest had the same judge, rules,
        settings and version.
        """
        deciding = json.dumps(_deciding(self.model_dump(mode="json")))
        return hashlib.sha256(f"{__version__} {deciding}".encode()).hexdigest()[:12]


class PartConfig(TaskJudgeConfig):
    """`astuner.task_judge.parts.<name>`: a whole section, and the part's weight in the combined reward."""

    weight: float = 1.0
    # a condition on other parts, such as `correct.is_success`; if it is not met, the part is not asked
    when: str | None = Field(default=None, min_length=1)
    # whether the combined verdict goes on without this part if the part fails
    optional: bool = False


TaskJudgeConfig.model_rebuild()


def _as_parts(section: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of judges that stand beside `judge: combined` by mistake, as they belong under `parts`: `{"math":
    {"judge": "math", "weight": 0.8}}` for `math: {weight: 0.8}`.
    """
    no_part = ("reads", "judge_kwargs", "parts", "routes", "combined")
    return {
        key: {"judge": key, **value}
        for key, value in section.items()
        if isinstance(value, Mapping) and key not in no_part
    }


def _deciding(section: dict[str, Any]) -> dict[str, Any]:
    """The keys of a section that influence verdicts, also in its parts and routes; names, logs and concurrency are left
    out.
    """
    # `judge` is short for one of the other two
    no_part = ("judge", "name", "metric_names", "concurrency", "log_dir", "log_share", "keep_calls")
    kept = {key: value for key, value in section.items() if key not in no_part}
    for key in ("llm", "task_rubrics", "rubrics_auto_grader", "reward_model", "verifier"):
        kept[key] = _without_spending(kept[key])
    for key in ("parts", "routes"):
        kept[key] = {name: _deciding(part) for name, part in kept[key].items()}
    return kept


def _without_spending(value: Any) -> Any:
    """The settings of judge models without budgets and keys, at any depth.

    A run that stopped because its budget was spent can be resumed with a larger budget, and any run with another key.
    """
    if isinstance(value, dict):
        return {name: _without_spending(one) for name, one in value.items() if name not in ("budget", "api_key")}
    return [_without_spending(one) for one in value] if isinstance(value, list) else value


# Keys of `task_judge` that other programs' sections under `astuner` may be called, too
_SHARED_KEYS = frozenset({"name", "reward", "reward_model", "concurrency", "log_dir"})
# Keys of `task_judge` whose names no other program uses at the top level
_OWN_KEYS = (
    "judge",
    "judge_type",
    "judge_protocol",
    "judge_kwargs",
    "rules",
    "rule_modules",
    "rule_reward",
    "on_error",
    "rubrics_auto_grader",
)


def check_override(key: str, sections: Container[str]) -> None:
    """Check that an override of one of our settings has its full key, from `astuner` on: another key changes nothing.

    Args:
        key: the override's.
        sections: those that the configuration has; other programs read them.

    Raises:
        ConfigError: it has another key; the message has the right key.
    """
    first, _, rest = key.partition(".")
    # other programs have sections of this name, too
    others = first == "judge" and rest
    unread = first in TaskJudgeConfig.model_fields and first not in sections
    if first == "task_judge" or (first in _OWN_KEYS and not others) or unread:
        place = "astuner" if first == "task_judge" else "astuner.task_judge"
        raise ConfigError(f"override {key!r}: nobody reads {first!r} at the top: write {place}.{key}")
    misspelt = first != "astuner" and difflib.get_close_matches(first, ["astuner"])
    if misspelt and rest.startswith("task_judge"):
        raise ConfigError(f"override {key!r}: did you mean 'astuner.{rest}'?")


def check_places(config: DictConfig) -> None:
    """Check that `astuner` is a mapping with our section under `task_judge`; its other keys belong to other programs.

    Raises:
        ConfigError: `astuner` is no mapping, or a setting of ours stands in a wrong place; the message has the key and
            the right place.
    """
    ours = config.get("astuner") if not OmegaConf.is_missing(config, "astuner") else None
    if ours is None:
        _check_top(config)
        return
    if not isinstance(ours, DictConfig):
        raise ConfigError(f"astuner must be a mapping that holds task_judge, got {ours!r}")
    if "task_judge" not in ours and (misspelt := difflib.get_close_matches("task_judge", map(str, ours), 1, 0.8)):
        raise ConfigError(f"astuner.{misspelt[0]}: unknown key; did you mean 'task_judge'?")
    beside = set(ours) - _SHARED_KEYS
    for key in TaskJudgeConfig.model_fields:
        if key not in beside or key not in ours:
            continue
        if isinstance(ours[key], str) if key == "judge" else (key in _OWN_KEYS or ours[key]):
            raise ConfigError(f"astuner.{key} stands where nobody reads it: write astuner.task_judge.{key}")
    if "task_judge" not in ours:
        _check_top(config)


def _check_top(config: DictConfig) -> None:
    """Refuse a configuration whose section is missing because our keys are at the top level, `astuner` is misspelt, or
    a key is indented with wide spaces.
    """
    for name in map(str, config):
        if name.startswith("astuner."):
            told = "is one key with dots, which an override is: write each part as a key, one below the other"
            raise ConfigError(f"{name!r} {told}")
        if name != name.strip("\xa0\u3000"):
            raise ConfigError(f"{name!r} is indented with wide spaces: YAML takes plain ones")
    for key in ("task_judge", "judge_protocol", "judge"):
        if key in config and (key != "judge" or isinstance(config[key], str)):
            path = "astuner.task_judge" if key == "task_judge" else f"astuner.task_judge.{key}"
            if key == "task_judge" and "astuner" in config and not config["astuner"]:
                told = "indent task_judge and all below it by two spaces more, so that it stands under astuner"
                raise ConfigError(f"task_judge stands beside astuner, where nobody reads it: {told}")
            told = "in YAML each part on a line of its own, indented below the other"
            raise ConfigError(f"{key} stands at the top, where nobody reads it: write {path}, {told}")
    for name in difflib.get_close_matches("astuner", [str(key) for key in config], cutoff=0.8):
        if name != "astuner":
            raise ConfigError(f"{name}: unknown key; did you mean 'astuner'?")


# What an interpolation reads from the environment
_READ = re.compile(r"\$\{\s*oc\.env:\s*(\w+)")


#: The key in a configuration's `__dict__` under which a judge's typed section lies: judges receive the configuration
#: alone. No copy has it, so a copy that was changed is validated anew.
HANDED = "_astuner_section"


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration that has been read, merged and validated; pickles, and means the same in another process.

    Attributes:
        whole: the whole configuration, with our defaults filled in, as judges receive it.
        task_judge: the typed `astuner.task_judge`.
        environment: the names of the environment variables that it reads by `${oc.env:…}`.
    """

    whole: DictConfig
    task_judge: TaskJudgeConfig
    environment: frozenset[str] = frozenset()


Source = str | Path | Mapping[str, Any] | DictConfig | Settings


def resolve(source: Source | None = None, overrides: Sequence[str] = ()) -> Settings:
    """Merge defaults, `source` and `overrides`, and validate; settings come back as they are. `source` is not changed.

    Args:
        source: a YAML file, or a configuration already read; None for the defaults alone.
        overrides: `key=value` pairs, values in YAML, such as `astuner.task_judge.rule_reward=-0.5`.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or its `astuner.task_judge` section is wrong.
    """
    read: frozenset[str] = frozenset()
    if isinstance(source, Settings):
        if not overrides:
            return source
        source, read = source.whole, source.environment
    given = read_source(source)
    for override in overrides:
        if not re.match(r"[^=\s]+=", override):
            files = ": the shell has replaced a pattern, or these are two files: give one pattern, in quotes"
            spread = files if os.path.isfile(override) else ""
            raise ConfigError(f"an override must read key=value, without spaces, got {override!r}{spread}")
        check_override(override.partition("=")[0], given)
    try:
        own = not overrides and given is not source  # no copy is needed of what was made here
        merged = given if own else OmegaConf.merge({}, given, OmegaConf.from_dotlist(list(overrides)))
        assert isinstance(merged, DictConfig)
        check_places(merged)
        written: Any = OmegaConf.to_container(merged, resolve=False)
        shown = repr(written)
        plain = _as_written(written) if "${" not in shown else None
        nodes = merged.astuner.task_judge if own and plain is not None else None
        if plain is None:
            plain = _plain(merged, SECTION)
        section = validate_section(TaskJudgeConfig, plain, SECTION)
        return replace(_settings(merged, plain, section, nodes), environment=read | frozenset(_READ.findall(shown)))
    # OmegaConf raises a TypeError when a list is merged into a mapping, and YAML errors for an override's value
    except (OmegaConfBaseException, TypeError, yaml.YAMLError) as exc:
        raise ConfigError(f"cannot merge the configuration: {exc}") from exc


def _as_written(whole: dict[Any, Any]) -> dict[Any, Any] | None:
    """The section `astuner.task_judge` of a plain configuration; None if it has none, or one that is no mapping."""
    beside, own = SECTION.split(".")
    around = whole.get(beside)
    section = around.get(own) if isinstance(around, dict) else None
    return section if isinstance(section, dict) else None


def inner_settings(config: Mapping[str, Any] | DictConfig, key: str, name: str, section: TaskJudgeConfig) -> Settings:
    """The settings of a judge that another judge asks: the whole configuration, with its own section as
    `astuner.task_judge`.

    Args:
        config: the whole configuration, as the asking judge receives it; not changed.
        key: where the section stands in the asking judge's: `parts` or `routes`.
        name: its name there.
        section: the same section, typed.
    """
    whole = config if isinstance(config, DictConfig) else OmegaConf.create(dict(config))
    beside, own = SECTION.split(".")
    around = whole[beside][own]
    given = next(inner for written, inner in around[key].items() if route_name(written) == name)
    values: Any = OmegaConf.to_container(given, resolve=True)
    # Keys with defaults are left out: a judge of parts has hundreds of them, and each would be made a node again
    plain = {key: values[key] for key in section.model_fields_set & values.keys() & TaskJudgeConfig.model_fields.keys()}
    # `deepcopy` takes this section for copied: it is replaced below, and the parts of a combined judge are large
    copied = copy.deepcopy(whole, {id(around): AnyNode()})
    return _settings(copied, {**plain, "deadline": section.deadline}, section)


def _settings(
    whole: DictConfig, plain: dict[str, Any], section: TaskJudgeConfig, nodes: DictConfig | None = None
) -> Settings:
    """The settings of `whole`, a copy of the caller's configuration. `plain` is its section as plain data, and
    `section` the same section, typed.

    `nodes` are those that `plain` was read from, if they may be used up: most of a judge's load is to make nodes.
    """
    # The flag belongs to the caller's configuration
    OmegaConf.set_readonly(whole, False)
    # Judges read the whole configuration and expect our defaults in it
    with flag_override(whole, "no_deepcopy_set_nodes", True):
        OmegaConf.update(whole, SECTION, _with_defaults(plain, nodes), merge=False, force_add=True)
    return Settings(whole, section)


def _with_defaults(plain: dict[str, Any], given: DictConfig | None = None) -> DictConfig:
    """A section as OmegaConf nodes, with the defaults of the keys that it leaves out, also in its parts and routes."""
    nodes: DictConfig = pickle.loads(_default_nodes())
    with flag_override(nodes, "no_deepcopy_set_nodes", True):
        for key, value in plain.items():
            if key in ("parts", "routes"):
                made = given[key] if given is not None else {}
                nodes[key] = {name: _with_defaults(inner, made.get(name)) for name, inner in _text_keys(value).items()}
            elif key == "math":
                nodes[key].merge_with(value)
            elif given is not None and isinstance(value, dict | list):
                nodes[key] = given[key]
            else:
                nodes[key] = [] if key == "rules" and value is None else value
    return nodes


@cache
def _default_nodes() -> bytes:
    # Pickled: OmegaConf takes 5 ms to make these nodes, 0.3 ms to unpickle them, and a judge of parts has many
    return pickle.dumps(OmegaConf.create(TaskJudgeConfig().model_dump()))


def load_config(
    source: str | Path | Mapping[str, Any] | DictConfig | None = None, overrides: Sequence[str] = ()
) -> DictConfig:
    """The merged configuration, as judges receive it: `resolve` for callers who need only the configuration.

    Args:
        source: a YAML file, or a configuration already read; None for the defaults alone. It is not changed.
        overrides: `key=value` pairs, values in YAML, such as `astuner.task_judge.rule_reward=-0.5`.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or its `astuner.task_judge` section is wrong.
    """
    return resolve(source, overrides).whole


def task_judge_section(config: Mapping[str, Any] | DictConfig) -> TaskJudgeConfig:
    """The typed `astuner.task_judge` of `config`, with interpolations resolved; for judges, who receive the whole.

    A configuration that `load_judge` handed over is not read again; any other one is validated.

    Raises:
        ConfigError: an unknown key, a wrong type or value, or an interpolation that cannot be resolved.
    """
    section: TaskJudgeConfig | None = vars(config).get(HANDED) if isinstance(config, DictConfig) else None
    if section is not None:
        return section
    whole = config if isinstance(config, DictConfig) else OmegaConf.create(dict(config))
    check_places(whole)
    return read_section(TaskJudgeConfig, whole, SECTION)


def read_section(model: type[SectionT], config: DictConfig, where: str) -> SectionT:
    """The section `where`, such as `astuner.rollout`, as `model`, with interpolations resolved; absent, its defaults.

    Raises:
        ConfigError: an unknown key, a wrong type or value, a missing one, or an interpolation that cannot be resolved.
    """
    return validate_section(model, _plain(config, where), where)


def _plain(config: DictConfig, where: str) -> Any:
    try:
        section = OmegaConf.select(config, where)
        plain = OmegaConf.to_container(section, resolve=True) if isinstance(section, DictConfig) else section
    except OmegaConfBaseException as exc:
        raise ConfigError(f"cannot resolve {exc.full_key or where}: {_unresolved(exc)}") from exc
    return {} if plain is None else plain


def _unresolved(exc: OmegaConfBaseException) -> str:
    """The reason why an interpolation has no value, and the remedy."""
    why = str(exc.msg or exc).partition("\n")[0].removeprefix("KeyError raised while resolving interpolation: ")
    named = re.search(r"'(\w+)'", why)
    name = named[1] if named else "NAME"
    if "Environment variable" in why:
        return f"{why.strip(chr(34))}: export it, or write a default, ${{oc.env:{name},default}}"
    return f"{why}: an environment variable is read by ${{oc.env:{name}}}"
