"""The typed sections `astuner.task_reader` and `astuner.rollout`: strict, and checked before the first rollout."""

from __future__ import annotations

import difflib
import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from omegaconf import DictConfig
from pydantic import Field, field_validator

from agentscope_tuner._version import __version__
from agentscope_tuner.config import Source, StrictSection, read_section, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.contract.loading import resolve_protocol
from agentscope_tuner.workflow import Workflow

READER = "astuner.task_reader"
ROLLOUT = "astuner.rollout"
_SECTIONS = ("task_judge", "task_reader", "rollout", "second_opinion")


class TaskFile(StrictSection):
    """A file of tasks, one JSON object on each line."""

    file_path: str


class DatasetFileConfig(StrictSection):
    """`jsonl_dataset_file`, by its other name `dataset_file`."""

    training: TaskFile


class ReasoningGymConfig(StrictSection):
    """`reasoning_gym`: tasks made from a seed by one of that package's data sets."""

    dataset: str
    size: int = Field(default=100, ge=1)
    seed: int = 0
    # the data set's own settings, such as `max_terms`
    kwargs: dict[str, Any] = Field(default_factory=dict)


class EnvServiceConfig(StrictSection):
    """`env_service`: the tasks that an environment service lists; each rollout plays an episode of its own there."""

    # the URL of the service, or several URLs of services with the same environments
    env_url: str | list[str]
    # sent with each request
    headers: dict[str, str] = Field(default_factory=dict)
    # a PEM file with the only certificates to trust
    ca_file: str | None = None
    env_type: str
    training_split: str = "train"
    # parameters for the episode's creation, such as `size` of the frozen lake
    params: dict[str, Any] = Field(default_factory=dict)


class TaskReaderConfig(StrictSection):
    """`astuner.task_reader`: where tasks come from."""

    type: Literal["jsonl_dataset_file", "dataset_file", "reasoning_gym", "env_service"]
    jsonl_dataset_file: DatasetFileConfig | None = None
    dataset_file: DatasetFileConfig | None = None
    reasoning_gym: ReasoningGymConfig | None = None
    env_service: EnvServiceConfig | None = None

    @property
    def chosen(self) -> DatasetFileConfig | ReasoningGymConfig | EnvServiceConfig:
        """The section of `type`.

        Raises:
            ConfigError: there is no such section.
        """
        section = getattr(self, self.type)
        if section is None:
            raise ConfigError(f"{READER}.{self.type} is missing: type is {self.type!r}, whose settings stand there")
        return cast("DatasetFileConfig | ReasoningGymConfig | EnvServiceConfig", section)


class ModelConfig(StrictSection):
    """`astuner.rollout.model`: the OpenAI-compatible endpoint of the model that workflows use."""

    base_url: str
    name: str
    api_key: str = Field(default="EMPTY", repr=False)
    stream: bool = False
    # whether the trajectory holds the tokens' logprobs
    logprobs: bool = False
    temperature: float = Field(default=1.0, ge=0)
    max_tokens: int = Field(default=1024, ge=1)

    @field_validator("base_url")
    @classmethod
    def _is_a_url(cls, value: str) -> str:
        found = urlsplit(value)
        if found.scheme not in ("http", "https") or not found.hostname:
            raise ValueError("must read like http://127.0.0.1:8000/v1")
        return value


class RolloutConfig(StrictSection):
    """`astuner.rollout`: the workflow, its repeats, how many rollouts run at once, and the time limit."""

    agentscope_workflow: str
    model: ModelConfig
    # rollouts for each task: its advantage group
    num_repeat: int = Field(default=1, ge=1, le=1024)
    # rollouts at once, each in a thread
    max_env_worker: int = Field(default=64, ge=1, le=1024)
    # seconds of wall clock a rollout may take, and its judge after it
    timeout: float = Field(default=300.0, gt=0, le=86400)
    # roles whose calls are trained on; all when null
    trainable_targets: list[str] | None = None


@dataclass(frozen=True, slots=True)
class RolloutSettings:
    """Both sections, and the workflow that they name.

    Attributes:
        reader: `astuner.task_reader`.
        rollout: `astuner.rollout`.
        workflow: the class that `agentscope_workflow` names.
        digest: a digest of everything that decides the rows: runs with the same digest had the same workflow, sampling,
            tasks and judge. Addresses, keys, limits and the number of repeats do not count.
    """

    reader: TaskReaderConfig
    rollout: RolloutConfig
    workflow: type[Workflow]
    digest: str


def load_settings(config: Source) -> RolloutSettings:
    """Read both sections of `config` and import the workflow.

    Raises:
        ConfigError: either section is wrong, or the workflow is no class with `async def execute`.
    """
    settings = resolve(config)
    for name in ("task_reader", "rollout"):
        _check_present(settings.whole, name)
    reader = read_section(TaskReaderConfig, settings.whole, READER)
    rollout = read_section(RolloutConfig, settings.whole, ROLLOUT)
    judge = settings.task_judge.digest()
    where = {"env_service": {"env_url", "headers", "ca_file"}}
    how = {"num_repeat": True, "max_env_worker": True, "timeout": True, "model": {"base_url", "api_key"}}
    tasks, runs = reader.model_dump_json(exclude=cast("Any", where)), rollout.model_dump_json(exclude=cast("Any", how))
    digest = hashlib.sha256(f"{__version__} {tasks} {runs} {judge}".encode()).hexdigest()[:12]
    _ = reader.chosen
    return RolloutSettings(reader, rollout, _workflow(rollout.agentscope_workflow), digest)


def _check_present(config: DictConfig, name: str) -> None:
    ours = config.get("astuner")
    keys = [str(key) for key in ours] if isinstance(ours, Mapping | DictConfig) else []
    if name in keys:
        return
    nearest = difflib.get_close_matches(name, [key for key in keys if key not in _SECTIONS], n=1)
    hint = f": did you mean it by {nearest[0]!r}?" if nearest else "; docs/rollout.md shows a whole configuration"
    raise ConfigError(f"astuner.{name} is missing, which `astuner rollout` reads{hint}")


def _workflow(protocol: str) -> type[Workflow]:
    where = f"{ROLLOUT}.agentscope_workflow"
    try:
        found = resolve_protocol(protocol)
    except ConfigError as exc:
        raise ConfigError(f"{where}: {exc}") from exc
    execute = getattr(found, "execute", None)
    if execute is None or execute is Workflow.execute or not inspect.iscoroutinefunction(execute):
        raise ConfigError(f"{where}: {protocol!r} must define `async def execute(self, task, model_tuner)`")
    return cast("type[Workflow]", found)
