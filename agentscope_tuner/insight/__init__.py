"""What the reward does: whether it can be fooled, whether people agree, what changed, and whether a run games it."""
