"""Run by torchrun on two processes: GRPO whose groups of 4 lie across ranks of 2, under a judge that demands 4."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch.distributed

from agentscope_tuner.adapters.trl import reward_func
from tests.with_trainers.judges import config
from tests.with_trainers.test_trl import grpo, steps_of

trainer = grpo(reward_func(config("Shortest")), Path(sys.argv[1]), steps=3, batch=2)
assert torch.distributed.get_world_size() == 2
steps = steps_of(trainer)
assert len(steps) == 3, steps
assert all(entry["Shortest/failed"] == 0.0 for entry in steps), steps
print("ranked whole", flush=True)
os._exit(0)  # An interpreter that ends may abort: torch's gloo thread drops its last tensors after it (torch 2.x)
