"""An environment: gymnasium's FrozenLake as text. The policy walks over the ice to the goal, and avoids the holes."""

from __future__ import annotations

import re
from typing import Any

from agentscope_tuner.env_service.environment import GeneratedGame, check_task_id, text_of
from agentscope_tuner.errors import importing

with importing("frozenlake needs gymnasium", "gymnasium"):
    import gymnasium
    from gymnasium.envs.toy_text.frozen_lake import generate_random_map

# gymnasium's numbers for the moves
MOVES = {"left": 0, "down": 1, "right": 2, "up": 3}
SIZES = range(3, 13)
_WORD = re.compile(r"\b(left|down|right|up)\b", re.IGNORECASE)
RULES = (
    "You are P on a frozen lake. F is ice, H a hole, G the goal; walk to G and keep out of the holes. "
    "Each turn end your message with one word: left, down, right or up."
)


class FrozenLakeEnv(GeneratedGame):
    """An episode of FrozenLake on a map made from the task's id; the score is 1.0 if the goal was reached, else 0.0.

    Its `params` may have `size` (3 to 12, default 4) and `is_slippery` (default False: each move goes in its direction;
    True: moves may slip sideways).
    """

    def __init__(self, task_id: str, instance_id: str, params: dict[str, Any]) -> None:
        size, slippery = params.get("size", 4), params.get("is_slippery", False)
        if size not in SIZES or not isinstance(slippery, bool):
            raise ValueError(f"size must be 3 to 12 and is_slippery true or false, got {size!r} and {slippery!r}")
        split, _, number = check_task_id(task_id).partition("-")
        # train and test never share a map
        seed = 2 * int(number) + (split == "test")
        layout = generate_random_map(size=size, seed=seed)
        self.max_turns = 4 * size
        self._env = gymnasium.make(
            "FrozenLake-v1",
            desc=layout,
            is_slippery=slippery,
            max_episode_steps=self.max_turns,
            disable_env_checker=True,
        )
        self._layout: list[str] = layout
        self._place, _ = self._env.reset(seed=seed)
        self._turns = 0
        self._score = 0.0
        self._over = False

    def get_init_state(self, params: dict[str, Any]) -> dict[str, Any]:
        """The message that opens the episode, with the rules and the map."""
        content = f"{RULES} You have {self.max_turns} turns.\n\n{self._map()}"
        return {"state": [{"role": "user", "content": content}], "info": self.get_info({}, {})}

    def step(self, action: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """Move in the last direction that the policy's message names: `left`, `down`, `right` or `up`.

        A message without a direction uses up a turn, and is answered with what to say.
        """
        words = _WORD.findall(text_of(action))
        reward = 0.0
        if self._over:
            reply = "The game is over."
        elif not words:
            self._turns += 1
            self._over = self._turns >= self.max_turns
            reply = f"Say left, down, right or up.\n\n{self._map()}"
        else:
            reply, reward = self._walk(words[-1].lower())
        state = [{"role": "user", "content": reply}]
        return {"state": state, "reward": reward, "is_terminated": self._over, "info": self.get_info({}, {})}

    def evaluate(self, messages: dict[str, Any], params: dict[str, Any]) -> float:
        """The score: 1.0 if the goal was reached, else 0.0."""
        return self._score

    def get_info(self, messages: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """The map with the player on it, and the number of turns taken."""
        return {"map": self._map(), "turns": self._turns}

    def close(self) -> None:
        """Close gymnasium's environment."""
        self._env.close()

    def _walk(self, direction: str) -> tuple[str, float]:
        place, reward, terminated, truncated, _ = self._env.step(MOVES[direction])
        self._place = place
        self._turns += 1
        self._score = max(self._score, float(reward))
        self._over = bool(terminated or truncated or self._turns >= self.max_turns)
        told = "You fell into a hole." if terminated else f"You went {direction}."
        if self._score:
            told = "You reached the goal!"
        return f"{told}\n\n{self._map()}", float(reward)

    def _map(self) -> str:
        rows = [list(row) for row in self._layout]
        row, column = divmod(int(self._place), len(rows))
        rows[row][column] = "P"
        return "\n".join(" ".join(row) for row in rows)
