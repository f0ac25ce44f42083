"""Run by torchrun on two processes: a run that is gamed, whose ranks must stop after the same step."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch.distributed

from agentscope_tuner.adapters.trl import reward_func, stop_when_gamed
from tests.with_trainers.test_trl import grpo
from tutorial.example_math_agent.train_trl import OURS

folder = Path(sys.argv[1])
paid = {"judge_protocol": "tests.with_trainers.judges->AnyBox", "log_dir": str(folder / "judged")}
stop = stop_when_gamed(folder / "judged", OURS, rate=0.5, most=0.5)
trainer = grpo(reward_func({"astuner": {"task_judge": paid}}), folder, steps=20, callbacks=[stop])
assert torch.distributed.get_world_size() == 2
print(f"stopped after {trainer.state.global_step} steps", flush=True)
os._exit(0)  # see two_ranks.py
