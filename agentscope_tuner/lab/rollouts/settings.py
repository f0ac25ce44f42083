"""The typed sections `astuner.task_reader` and `astuner.rollout`, and the tasks that the first one names.

Tasks come from a file, from reasoning-gym's data sets, or from an environment service; all are checked before the first
rollout.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from omegaconf import DictConfig
from pydantic import Field, ValidationError, field_validator

from agentscope_tuner._version import __version__
from agentscope_tuner.config import Source, StrictSection, read_section, resolve
from agentscope_tuner.env_service import ClientOptions, EnvServiceClient
from agentscope_tuner.env_service.environment import TOKEN_VARIABLE
from agentscope_tuner.errors import ConfigError, EnvServiceError, did_you_mean, importing, told
from agentscope_tuner.records.blocks import read_lines
from agentscope_tuner.task_judge.contract.loading import resolve_protocol
from agentscope_tuner.workflow import Task, Workflow, first_problem

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
        if (section := getattr(self, self.type)) is None:
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
    hint = did_you_mean(name, set(keys) - {*_SECTIONS}) or "docs/rollout.md shows a whole configuration"
    raise ConfigError(f"astuner.{name} is missing, which `astuner rollout` reads: {hint.strip()}")


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


_MOST_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class EnvPlace:
    """An environment service, and how episodes are created there."""

    client: EnvServiceClient
    env_type: str
    params: dict[str, Any]


@contextmanager
def open_tasks(
    settings: RolloutSettings, *, limit: int | None = None
) -> Iterator[tuple[Sequence[Task], EnvPlace | None]]:
    """The first `limit` tasks of `astuner.task_reader`, all when None, each with its own id; and where episodes are
    played, when each rollout plays one.

    Raises:
        ConfigError: the file, a line of it, the data set or the service is not usable, or two tasks share an id.
    """
    section = settings.reader.chosen
    with open_place(settings) as place:
        if isinstance(section, EnvServiceConfig):
            assert place is not None
            tasks = _env_tasks(section, place, limit)
        elif isinstance(section, ReasoningGymConfig):
            tasks = list(islice(_gym_tasks(section), limit))
        else:
            tasks = _file_tasks(section, f"{READER}.{settings.reader.type}.training.file_path", limit)
        yield tasks, place


@contextmanager
def open_place(settings: RolloutSettings) -> Iterator[EnvPlace | None]:
    """A context that gives the environment service for episodes; None if `astuner.task_reader` names none."""
    section = settings.reader.chosen
    if not isinstance(section, EnvServiceConfig):
        yield None
        return
    options = ClientOptions(
        token=os.environ.get(TOKEN_VARIABLE) or None,
        headers=section.headers,
        ca_file=section.ca_file,
        deadline=settings.rollout.timeout,
        # One connection for each rollout that runs at the same time
        max_connections=settings.rollout.max_env_worker,
    )
    with EnvServiceClient(section.env_url, options) as client:
        yield EnvPlace(client, section.env_type, section.params)


def _file_tasks(section: DatasetFileConfig, key: str, limit: int | None) -> list[Task]:
    path, tasks, problems = Path(section.training.file_path), list[Task](), list[str]()
    seen: dict[str, int] = {}
    for number, line in islice(_lines(path, key), limit):
        try:
            tasks.append(task := _task(line, number, path))
        except ValidationError as exc:
            problems.append(f"{path.name}:{number}: {first_problem(exc)}")
        else:
            if (before := seen.setdefault(task.task_id, number)) != number:
                problems.append(f"{path.name}:{number}: task_id {task.task_id!r} is line {before}'s too")
        if len(problems) == _MOST_PROBLEMS:
            break
    if problems or not tasks:
        raise ConfigError("\n".join(problems) or f"{key}: {str(path)!r} holds no task")
    return tasks


def _lines(path: Path, key: str) -> Iterator[tuple[int, bytes]]:
    """Number and text of each line that is not blank."""
    with told(f"{key}: cannot read {str(path)!r}"), open(path, "rb") as stream:
        for line in read_lines(stream, path.name):
            if line.problem is not None:
                raise ConfigError(f"{line.where}: {line.problem}")
            yield int(line.where.rpartition(":")[2]), line.raw


def _task(line: bytes, number: int, path: Path) -> Task:
    task = Task.model_validate_json(line)
    return task if task.task_id else task.model_copy(update={"task_id": f"{path.stem}-{number}"})


def _gym_tasks(section: ReasoningGymConfig) -> Iterator[Task]:
    key = f"{READER}.reasoning_gym"
    with importing(f"{key} needs the extra 'reasoning-gym'", "reasoning-gym"):
        import reasoning_gym
    try:
        made = reasoning_gym.create_dataset(section.dataset, size=section.size, seed=section.seed, **section.kwargs)
        for number in range(section.size):
            yield _gym_task(made[number], f"{section.dataset}-{section.seed}-{number}")
    except Exception as exc:  # the boundary to a hundred data sets, which refuse settings in any way
        raise ConfigError(f"{key}.dataset: {section.dataset!r} cannot be made: {type(exc).__name__}: {exc}") from exc


def _gym_task(entry: dict[str, Any], task_id: str) -> Task:
    # How the entry was made; values that JSON cannot hold (a fraction, a set) become their text
    about = json.loads(json.dumps(entry.get("metadata") or {}, default=str))
    if "numbers" in about:
        # Countdown's numbers, under the key that this package's judge reads
        about.setdefault("nums", about["numbers"])
    return Task(task_id=task_id, main_query=entry["question"], metadata={**about, "answer": entry["answer"]})


def _env_tasks(section: EnvServiceConfig, place: EnvPlace, limit: int | None) -> list[Task]:
    with told(f"{READER}.env_service: cannot list the tasks", EnvServiceError):
        listed = place.client.get_env_profile(section.env_type, section.training_split)[:limit]
    where = f"{READER}.env_service: {section.env_type!r} at {section.env_url}, split {section.training_split!r}"
    if twice := next((task_id for task_id, times in Counter(listed).items() if times > 1), None):
        raise ConfigError(f"{where} lists task {twice!r} twice")
    if not listed:
        raise ConfigError(f"{where} has no tasks")
    return [Task(task_id=task_id, env_type=section.env_type) for task_id in listed]
