"""astuner: the reward layer for RL fine-tuning of LLM agents.

`load_judge` builds the judge a training configuration names; `compute_reward` judges a rollout; `judge` explains it.
"""

from agentscope_tuner._version import __version__
from agentscope_tuner.config import load_config
from agentscope_tuner.errors import AstunerError, ConfigError, JudgeError
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.protocol import load_judge, resolve_protocol
from agentscope_tuner.task_judge.task_judge import TaskJudge
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
]
