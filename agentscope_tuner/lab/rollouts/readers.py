"""Reads tasks from a file, from reasoning-gym's data sets, or from an environment service; all are checked before the
first rollout.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agentscope_tuner.env_service import ClientOptions, EnvServiceClient
from agentscope_tuner.env_service.environment import TOKEN_VARIABLE
from agentscope_tuner.errors import ConfigError, EnvServiceError, install
from agentscope_tuner.lab.rollouts.settings import (
    READER,
    DatasetFileConfig,
    EnvServiceConfig,
    ReasoningGymConfig,
    RolloutSettings,
)
from agentscope_tuner.records.blocks import read_lines
from agentscope_tuner.workflow import Task

_MOST_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class EnvPlace:
    """Where episodes are played, and how they are created."""

    client: EnvServiceClient
    env_type: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Tasks that were read once as a check, each with its own id.

    Attributes:
        count: how many.
        tasks: reads the tasks again, one at a time.
        place: the environment service, when each rollout plays an episode there.
    """

    count: int
    tasks: Callable[[], Iterator[Task]]
    place: EnvPlace | None = None


@contextmanager
def open_tasks(settings: RolloutSettings, *, limit: int | None = None) -> Iterator[TaskSet]:
    """The first `limit` tasks of `astuner.task_reader`; all tasks when None.

    Raises:
        ConfigError: the file, a line of it, the data set or the service is not usable, or two tasks share an id.
    """
    section = settings.reader.chosen
    if isinstance(section, EnvServiceConfig):
        with open_place(settings) as place:
            assert place is not None
            yield _env_tasks(section, place, limit)
    elif isinstance(section, ReasoningGymConfig):
        made = list(islice(_gym_tasks(section), limit))
        yield TaskSet(len(made), made.__iter__)
    else:
        yield _file_tasks(section, f"{READER}.{settings.reader.type}.training.file_path", limit)


@contextmanager
def open_place(settings: RolloutSettings) -> Iterator[EnvPlace | None]:
    """Where episodes are played; None where `astuner.task_reader` names no environment service."""
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


def _file_tasks(section: DatasetFileConfig, key: str, limit: int | None) -> TaskSet:
    path = Path(section.training.file_path)

    def tasks() -> Iterator[Task]:
        for number, line in islice(_lines(path, key), limit):
            yield _task(line, number, path)

    problems: list[str] = []
    count = 0
    seen: dict[str, int] = {}
    for number, line in islice(_lines(path, key), limit):
        count += 1
        try:
            task = _task(line, number, path)
        except ValidationError as exc:
            first = exc.errors(include_url=False)[0]
            at = ".".join(map(str, first["loc"]))
            problems.append(f"{path.name}:{number}: {f'{at}: ' if at else ''}{first['msg']}")
        else:
            if (before := seen.setdefault(task.task_id, number)) != number:
                problems.append(f"{path.name}:{number}: task_id {task.task_id!r} is line {before}'s too")
        if len(problems) == _MOST_PROBLEMS:
            break
    if problems or not count:
        raise ConfigError("\n".join(problems) or f"{key}: {str(path)!r} holds no task")
    return TaskSet(count, tasks)


def _lines(path: Path, key: str) -> Iterator[tuple[int, bytes]]:
    """Number and text of each line that is not blank."""
    try:
        with open(path, "rb") as stream:
            for line in read_lines(stream, path.name):
                if line.problem is not None:
                    raise ConfigError(f"{line.where}: {line.problem}")
                yield int(line.where.rpartition(":")[2]), line.raw
    except OSError as exc:
        raise ConfigError(f"{key}: cannot read {str(path)!r}: {exc}") from exc


def _task(line: bytes, number: int, path: Path) -> Task:
    task = Task.model_validate_json(line)
    return task if task.task_id else task.model_copy(update={"task_id": f"{path.stem}-{number}"})


def _gym_tasks(section: ReasoningGymConfig) -> Iterator[Task]:
    key = f"{READER}.reasoning_gym"
    try:
        import reasoning_gym
    except ImportError as exc:
        raise ConfigError(f"{key} needs the extra 'reasoning-gym': {install('reasoning-gym')} ({exc})") from exc
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


def _env_tasks(section: EnvServiceConfig, place: EnvPlace, limit: int | None) -> TaskSet:
    try:
        listed = place.client.get_env_profile(section.env_type, section.training_split)[:limit]
    except EnvServiceError as exc:
        raise ConfigError(f"{READER}.env_service: cannot list the tasks: {exc}") from exc
    _check_ids(listed, f"{section.env_type!r} at {section.env_url}, split {section.training_split!r}")

    def tasks() -> Iterator[Task]:
        for task_id in listed:
            yield Task(task_id=task_id, env_type=section.env_type)

    return TaskSet(len(listed), tasks, place)


def _check_ids(ids: Iterable[str], where: str) -> None:
    seen: set[str] = set()
    for task_id in ids:
        if task_id in seen:
            raise ConfigError(f"{READER}.env_service: {where} lists task {task_id!r} twice")
        seen.add(task_id)
    if not seen:
        raise ConfigError(f"{READER}.env_service: {where} has no tasks")
