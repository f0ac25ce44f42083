r"""GRPO on a CPU: a tiny Llama learns a countdown of two numbers from CountdownAnswerAsJudge's 0, 0.1 and 1.

    python -m tutorial.example_countdown.train_trl --seeds 0

`3,4>12=` asks for `\boxed{3*4}`. A well-formed equation that misses the target earns 0.1, so that the policy first
learns to write equations, then which. Curves go to `<out>/countdown.png` as it goes, the numbers to
`<out>/countdown.csv`, TensorBoard's scalars to `<out>/tensorboard`.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from tutorial.grpo import Board, report, train
from tutorial.tiny_policy import new_policy, shuffled, speak

OURS = "configs/countdown.yaml"
NUMBERS = range(1, 6)
OPERATIONS = {"+": int.__add__, "*": int.__mul__, "-": int.__sub__}
# no negative targets: the prompt has no room for a sign
GAMES = [
    (a, b, sign, target)
    for a in NUMBERS
    for b in NUMBERS
    for sign, apply in OPERATIONS.items()
    if (target := apply(a, b)) >= 0
]


def draw(rng: random.Random) -> str:
    """A game and what the warm-up answers: often another operation, a number that is not there, or half an equation."""
    a, b, right, target = rng.choice(GAMES)
    sign = right if rng.random() < 0.2 else rng.choice("+*-")
    luck = rng.random()
    if luck < 0.15:
        return f"{a},{b}>{target}=\\boxed{{{rng.choice(NUMBERS)}{sign}{b}}}"
    if luck < 0.3:
        return f"{a},{b}>{target}=\\boxed{{{a}{sign}}}"
    return f"{a},{b}>{target}=\\boxed{{{a}{sign}{b}}}"


def rows(seed: int) -> list[dict[str, object]]:
    games: list[dict[str, object]] = [
        {"prompt": f"{a},{b}>{target}=", "target": target, "nums": [a, b]} for a, b, _, target in GAMES
    ]
    return shuffled(games, seed=seed, times=40)


def learn(board: Board, out: Path, *, seed: int, steps: int) -> None:
    """Train a new policy; prints what it answers in the end."""
    policy = new_policy("0123456789+-*,>=", draw, seed=seed)
    train(
        policy,
        rows(seed),
        OURS,
        run="CountdownAnswerAsJudge",
        seed=seed,
        steps=steps,
        completion_length=6,
        done=board.add,
        out=out,
    )
    asked = ["3,4>12=", "5,2>3=", "4,1>5="]
    answers = speak(policy, asked, completion_length=6)
    print(f"seed {seed}, answers:", *(f"{query}{answer}" for query, answer in zip(asked, answers, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("out/train"))
    arguments = parser.parse_args()
    with Board(arguments.out / "countdown", total=arguments.steps * len(arguments.seeds)) as board:
        for seed in arguments.seeds:
            learn(board, arguments.out, seed=seed, steps=arguments.steps)
    report(board.steps)


if __name__ == "__main__":
    main()
