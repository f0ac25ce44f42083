"""astuner: the reward layer for RL fine-tuning of LLM agents.

`load_judge` builds the judge that a training configuration names; `compute_reward` judges a rollout, `judge` explains
it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentscope_tuner._moved import keep_old_paths
from agentscope_tuner._version import __version__

if TYPE_CHECKING:
    from agentscope_tuner.config import load_config
    from agentscope_tuner.errors import AstunerError, ConfigError, JudgeError
    from agentscope_tuner.lab.view.report import show
    from agentscope_tuner.model_tuner import ModelTuner as ModelTuner
    from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
    from agentscope_tuner.task_judge.contract.judgement import Judgement
    from agentscope_tuner.task_judge.contract.loading import load_judge, resolve_protocol
    from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
    from agentscope_tuner.workflow import Rollout, Task, Workflow, WorkflowOutput, WorkflowTask

__all__ = [
    "AstunerError",
    "BaseJudge",
    "ConfigError",
    "JudgeError",
    "Judgement",
    "Reward",
    "Rollout",
    "Task",
    "TaskJudge",
    "Workflow",
    "WorkflowOutput",
    "WorkflowTask",
    "__version__",
    "load_config",
    "load_judge",
    "resolve_protocol",
    "show",
]

keep_old_paths()

# Loaded on first use: the sandbox's workers import a verifier and nothing else, so they start faster
_HOMES = {
    "agentscope_tuner.config": ("load_config",),
    "agentscope_tuner.errors": ("AstunerError", "ConfigError", "JudgeError"),
    "agentscope_tuner.lab.view.report": ("show",),
    # not in __all__: `from agentscope_tuner import *` must not need the agentscope extra
    "agentscope_tuner.model_tuner": ("ModelTuner",),
    "agentscope_tuner.task_judge.base_judge": ("BaseJudge", "Reward"),
    "agentscope_tuner.task_judge.contract.judgement": ("Judgement",),
    "agentscope_tuner.task_judge.contract.loading": ("load_judge", "resolve_protocol"),
    "agentscope_tuner.task_judge.contract.task_judge": ("TaskJudge",),
    "agentscope_tuner.workflow": ("Rollout", "Task", "Workflow", "WorkflowOutput", "WorkflowTask"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its public names are {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
