"""Length as a reward: DAPO's soft overlong punishment, and the cosine reward."""

from __future__ import annotations

import math


def soft_overlong(length: int, soft: int, hard: int) -> float:
    """DAPO's soft overlong punishment (arXiv 2503.14476, equation 13), -1.0 to 0.0.

    The paper's `L_max` is `hard`, and its `L_cache` is `hard - soft`: 0 up to `soft`, then falling in a straight line
    to -1 at `hard`, and -1 beyond. Where `soft == hard` nothing lies between.

    Args:
        length: of the output, in the unit of the limits; 0 <= soft <= hard.
    """
    if length <= soft:
        return 0.0
    return (soft - length) / (hard - soft) if length < hard else -1.0


def cosine(length: int, hard: int, at_zero: float, at_hard: float, exceed: float) -> float:
    """The cosine reward of "Demystifying Long Chain-of-Thought Reasoning in LLMs" (arXiv 2502.03373, section 4.2).

    From `at_zero` at length 0 to `at_hard` just below `hard`, along half a period of a cosine; `exceed` from `hard` on,
    where the paper's outputs are cut off. The paper takes one pair for right answers, where shorter is better, and
    another for wrong ones, where longer is: an answer that fails ought to have thought on.

    Args:
        length: of the output, in the unit of `hard`, which is 1 or more.
    """
    if length >= hard:
        return exceed
    return at_hard + (at_zero - at_hard) * (1.0 + math.cos(math.pi * length / hard)) / 2.0
