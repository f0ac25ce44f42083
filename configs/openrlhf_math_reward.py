"""OpenRLHF's reward file for configs/math.yaml: `--reward.remote_url configs/openrlhf_math_reward.py`."""

from agentscope_tuner.adapters.openrlhf import reward_file

reward_func = reward_file("configs/math.yaml")
