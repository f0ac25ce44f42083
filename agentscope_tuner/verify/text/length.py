"""Length as a reward: DAPO's soft overlong punishment, and the cosine reward."""

from __future__ import annotations

import math


def soft_overlong(length: int, soft: int, hard: int) -> float:
    """DAPO's soft overlong punishment (arXiv 2503.14476, equation 13), -1.0 to 0.0.

    It is 0 up to `soft`, falls in a straight line to -1 at `hard`, and stays -1 beyond. In the paper's terms `hard` is
    `L_max`, and `hard - soft` is `L_cache`. Where `soft == hard` it drops from 0 to -1 at once.

    Args:
        length: the length of the output, in the unit of the limits.
        soft: the longest length without punishment, at least 0.
        hard: the length from which on the punishment is -1, at least `soft`.
    """
    if length <= soft:
        return 0.0
    return (soft - length) / (hard - soft) if length < hard else -1.0


def cosine(length: int, hard: int, at_zero: float, at_hard: float, exceed: float) -> float:
    """The cosine reward of "Demystifying Long Chain-of-Thought Reasoning in LLMs" (arXiv 2502.03373, section 4.2).

    The reward runs along half a period of a cosine, from `at_zero` at length 0 to `at_hard` just below `hard`. The
    paper's outputs are cut off at `hard`, where the reward becomes `exceed`. The paper uses two settings: for right
    answers a shorter output earns more; for wrong answers a longer output earns more, to encourage further thought.

    Args:
        length: the length of the output, in the unit of `hard`.
        hard: the length from which on the reward is `exceed`, 1 or more.
        at_zero: the reward at length 0.
        at_hard: the reward just below `hard`.
        exceed: the reward from `hard` on.
    """
    if length >= hard:
        return exceed
    return at_hard + (at_zero - at_hard) * (1.0 + math.cos(math.pi * length / hard)) / 2.0
