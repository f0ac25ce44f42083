"""astuner: the reward layer for RL fine-tuning of LLM agents."""
