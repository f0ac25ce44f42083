"""Examines a reward: whether answers can fool it, people agree with it, two judges differ, and a run games it."""
