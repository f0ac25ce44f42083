"""An environment: Countdown over several turns. The policy has to reach a target with the given numbers, and a wrong
equation is answered with the reason.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from agentscope_tuner.env_service.environment import GeneratedGame, check_task_id, text_of
from agentscope_tuner.verify import countdown
from agentscope_tuner.verify.find import last_boxed

MAX_TURNS = 5
MAX_TARGET = 999


class CountdownEnv(GeneratedGame):
    """An episode of Countdown: four numbers, a target that can be reached, and five tries.

    The score is that of the best equation so far: 1.0 if it is right, 0.1 for an attempt, else 0.0.
    """

    def __init__(self, task_id: str, instance_id: str, params: dict[str, Any]) -> None:
        self.numbers, self.target = make_puzzle(check_task_id(task_id))
        self.turns = 0
        self.best = 0.0

    def get_init_state(self, params: dict[str, Any]) -> dict[str, Any]:
        """The message that opens the episode, with the rules and the puzzle."""
        numbers = ", ".join(map(str, self.numbers))
        question = (
            f"Reach {self.target} with the numbers {numbers}, each used exactly once, and + - * / and parentheses. "
            f"Answer with one equation in \\boxed{{}}. You have {MAX_TURNS} tries."
        )
        return {"state": [{"role": "user", "content": question}], "info": self.get_info({}, {})}

    def step(self, action: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        r"""Score the equation in the last `\boxed{}` of the policy's message, and answer it.

        The step's reward is the gain over the best score so far. After the last turn nothing changes any more.
        """
        text = text_of(action)
        gained = 0.0
        reply = "The game is over."
        if not self._over():
            self.turns += 1
            verdict = countdown.score(last_boxed(text), self.target, self.numbers)
            gained = max(0.0, verdict.reward - self.best)
            self.best = max(self.best, verdict.reward)
            left = MAX_TURNS - self.turns
            reply = "Right!" if self.best == countdown.RIGHT else f"{verdict.reason}. Tries left: {left}."
        state = [{"role": "user", "content": reply}]
        return {"state": state, "reward": gained, "is_terminated": self._over(), "info": self.get_info({}, {})}

    def evaluate(self, messages: dict[str, Any], params: dict[str, Any]) -> float:
        """The score of the best equation so far: 1.0, 0.1 or 0.0."""
        return self.best

    def get_info(self, messages: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """The numbers, the target, and the turns taken: `{"numbers": [1, 2, 3, 4], "target": 24, "turns": 0}`."""
        return {"numbers": self.numbers, "target": self.target, "turns": self.turns}

    def _over(self) -> bool:
        return self.turns >= MAX_TURNS or self.best == countdown.RIGHT


def make_puzzle(task_id: str) -> tuple[list[int], int]:
    """Four numbers and a target from 1 to 999 that an equation of all four reaches; equal ids give equal puzzles."""
    # a str seed, unlike hash(), is the same in every process
    chance = random.Random(f"countdown {task_id}")
    while True:
        numbers = [chance.randint(1, 25) for _ in range(4)]
        values = [Fraction(number) for number in numbers]
        while len(values) > 1:
            chance.shuffle(values)
            left, right = values.pop(), values.pop()
            results = [left + right, left - right, left * right, *([left / right] if right else [])]
            values.append(chance.choice(results))
        target = values[0]
        if target.denominator == 1 and 1 <= target <= MAX_TARGET:
            return numbers, int(target)
