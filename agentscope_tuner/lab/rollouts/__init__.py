"""Makes rollouts without a trainer: it reads tasks, runs the workflow on each several times, and judges every result.

Each rollout has a thread and an event loop of its own. So a workflow that waits for ever, blocks or ignores its
cancellation delays no other rollout: its row says `timed_out`, and where the workflow stood. Threads have two limits. A
workflow that computes in Python without end keeps its share of the interpreter until the process ends, and a workflow
that holds the interpreter's lock inside a C call stops the whole process. `RolloutProcesses` runs rollouts in several
processes.
"""

from agentscope_tuner.lab.rollouts.attempt import Lender, Script
from agentscope_tuner.lab.rollouts.processes import RolloutProcesses
from agentscope_tuner.lab.rollouts.rows import Earlier, RolloutRow, RolloutTally
from agentscope_tuner.lab.rollouts.runner import Lend, RolloutRunner, model_tuners
from agentscope_tuner.lab.rollouts.settings import RolloutSettings, TaskSet, load_settings, open_tasks

__all__ = [
    "Earlier",
    "Lend",
    "Lender",
    "RolloutProcesses",
    "RolloutRow",
    "RolloutRunner",
    "RolloutSettings",
    "RolloutTally",
    "Script",
    "TaskSet",
    "load_settings",
    "model_tuners",
    "open_tasks",
]
