"""The pytest fixture `astuner_audit`: a reward is audited in CI as `astuner audit` audits it.

pytest finds it where astuner is installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from agentscope_tuner.lab.audit.run import Audit

Tasks = str | Path | Iterable[Mapping[str, Any]]


def audit_of(
    judge: str | Path | Mapping[str, Any] | Callable[..., Any],
    tasks: Tasks,
    *,
    limit: int = 50,
    pass_at: float = 0.5,
    form: str | None = None,
    deadline: float = 10.0,
) -> Audit:
    """What an audit of a judge finds.

    Args:
        judge: a judge's YAML or configuration; a reward function as TRL calls it, which a module defines; or what
            `astuner audit --env` takes, such as `http://127.0.0.1:8000/verify`.
        tasks: a file of tasks, or the tasks, in any form that `astuner audit` reads.
        limit, pass_at, form, deadline: as the options of `astuner audit`.

    Raises:
        ConfigError: the judge cannot be loaded, or no task can be read, or none has the reference that the judge reads.
    """
    from agentscope_tuner.cli.options import conversion, source_lines
    from agentscope_tuner.config import SECTION, resolve
    from agentscope_tuner.lab.audit.environments import environment_config
    from agentscope_tuner.lab.audit.run import audited
    from agentscope_tuner.records.reader import Line
    from agentscope_tuner.task_judge.batch import ConfiguredJudge

    if callable(judge):
        judge = f"trl:{judge.__module__}->{judge.__qualname__}"
    of_env = isinstance(judge, str) and judge.startswith(("trl:", "verifiers:", "inspect:", "http:", "https:"))
    source = environment_config(str(judge), deadline) if of_env else judge
    settings = resolve(source, [f"{SECTION}.deadline={deadline}"])
    asked = ConfiguredJudge(settings, logs=False)
    given = (
        source_lines(str(tasks))
        if isinstance(tasks, str | Path)
        else nullcontext(((Line(f"task {n}", json.dumps(task).encode()) for n, task in enumerate(tasks, 1)), ""))
    )
    with given as (lines, _):
        rows = conversion(settings, None, None, responses=False).all(lines)
        return audited(asked, rows, limit=limit, pass_at=pass_at, form=form)


@pytest.fixture
def astuner_audit() -> Callable[..., Audit]:
    """`audit_of`: `astuner_audit(my_reward, "tasks.jsonl").check()`."""
    return audit_of
