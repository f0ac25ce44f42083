"""astuner: the reward layer for RL fine-tuning of LLM agents.

`load_judge` builds the judge that a training configuration names; `compute_reward` judges a rollout, `judge` explains
it.
"""

from typing import TYPE_CHECKING

from agentscope_tuner._moved import keep_old_paths, name_what_is_absent, on_first_use
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
name_what_is_absent(__name__)

# Loaded on first use: the sandbox's workers import a verifier and nothing else, so they start faster
_NAMES = {
    "config": "load_config",
    "errors": "AstunerError ConfigError JudgeError",
    "lab.view.report": "show",
    # not in __all__: `from agentscope_tuner import *` must not need the agentscope extra
    "model_tuner": "ModelTuner",
    "task_judge.base_judge": "BaseJudge Reward",
    "task_judge.contract.judgement": "Judgement",
    "task_judge.contract.loading": "load_judge resolve_protocol",
    "task_judge.contract.task_judge": "TaskJudge",
    "workflow": "Rollout Task Workflow WorkflowOutput WorkflowTask",
}
__getattr__ = on_first_use(__name__, _NAMES, __all__)


def __dir__() -> list[str]:
    return __all__
