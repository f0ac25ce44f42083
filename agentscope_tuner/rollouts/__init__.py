"""Rollouts made here, without a trainer: tasks read, the workflow run on each some times, every result judged.

Each rollout has a thread and an event loop of its own. A workflow that waits for ever, blocks or swallows its
cancellation therefore holds up nobody but itself: its row says `timed_out` and where it stood. What threads cannot
promise: a workflow that computes in Python without end takes its share of the interpreter until the process ends, and
one that holds the interpreter's lock inside a C call stops the process. `RolloutProcesses` runs the same in several.
"""

from agentscope_tuner.rollouts.attempt import Lender, Script
from agentscope_tuner.rollouts.lending import Lend, model_tuners
from agentscope_tuner.rollouts.processes import RolloutProcesses
from agentscope_tuner.rollouts.readers import TaskSet, open_tasks
from agentscope_tuner.rollouts.resume import Earlier
from agentscope_tuner.rollouts.rows import RolloutRow
from agentscope_tuner.rollouts.runner import RolloutRunner
from agentscope_tuner.rollouts.settings import RolloutSettings, load_settings
from agentscope_tuner.rollouts.tally import RolloutTally

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
