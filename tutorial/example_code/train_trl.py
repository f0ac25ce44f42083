"""GRPO on a CPU: a tiny Llama learns to write one-line programs from CodeJudge's 0 and 1.

    python -m tutorial.example_code.train_trl --seeds 0

`2>6,5>15:` shows what a function gives for two numbers, and asks for `f=lambda x:x*3`. The judge calls `f` with two
other numbers, so a program that holds the numbers shown earns nothing. Curves go to `<out>/code.png` as it goes, the
numbers to `<out>/code.csv`, TensorBoard's scalars to `<out>/tensorboard`.
"""

from __future__ import annotations

import argparse
import random
from itertools import permutations
from pathlib import Path

from tutorial.grpo import Board, report, train
from tutorial.tiny_policy import new_policy, shuffled, speak

OURS = "tutorial/example_code/train.yaml"
OPERATIONS = {"+": int.__add__, "*": int.__mul__}
CONSTANTS = range(2, 6)
SHOWN = list(permutations(range(1, 6), 2))
# a function of these forms is known by two of its values
ASKED = (7, 12)


def prompt(sign: str, constant: int, shown: tuple[int, int]) -> str:
    """Two numbers, and what the function makes of each."""
    return ",".join(f"{x}>{OPERATIONS[sign](x, constant)}" for x in shown) + ":"


def draw(rng: random.Random) -> str:
    """A task and what the warm-up answers: mostly another function, a number that is shown, or half a program."""
    sign, constant, shown = rng.choice("+*"), rng.choice(CONSTANTS), rng.choice(SHOWN)
    asked = prompt(sign, constant, shown)
    luck = rng.random()
    if luck < 0.15:
        return f"{asked}f=lambda x:{OPERATIONS[sign](shown[1], constant)}"
    if luck < 0.25:
        return f"{asked}f=lambda x:x{rng.choice('+*')}"
    if rng.random() < 0.5:
        sign = rng.choice("+*")
    if rng.random() < 0.5:
        constant = rng.choice(CONSTANTS)
    return f"{asked}f=lambda x:x{sign}{constant}"


def rows(seed: int) -> list[dict[str, object]]:
    """Each function with each two numbers; the tests call it with others."""
    tasks: list[dict[str, object]] = [
        {
            "prompt": prompt(sign, constant, shown),
            "tests": {
                "fn_name": "f",
                "inputs": [[x] for x in ASKED],
                "outputs": [apply(x, constant) for x in ASKED],
            },
        }
        for sign, apply in OPERATIONS.items()
        for constant in CONSTANTS
        for shown in SHOWN
    ]
    return shuffled(tasks, seed=seed, times=10)


def learn(board: Board, out: Path, *, seed: int, steps: int) -> None:
    """Train a new policy; prints what it answers in the end."""
    policy = new_policy("0123456789+*>,:=flambd x", draw, seed=seed)
    train(
        policy,
        rows(seed),
        OURS,
        run="CodeJudge",
        seed=seed,
        steps=steps,
        completion_length=16,
        done=board.add,
        out=out,
    )
    asked = ["2>6,5>15:", "1>5,4>8:", "3>5,2>4:"]
    answers = speak(policy, asked, completion_length=16)
    print(f"seed {seed}, answers:", *(f"{query}{answer}" for query, answer in zip(asked, answers, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("out/train"))
    arguments = parser.parse_args()
    with Board(arguments.out / "code", total=arguments.steps * len(arguments.seeds)) as board:
        for seed in arguments.seeds:
            learn(board, arguments.out, seed=seed, steps=arguments.steps)
    report(board.steps)


if __name__ == "__main__":
    main()
