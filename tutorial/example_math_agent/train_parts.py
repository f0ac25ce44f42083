"""GRPO on a CPU under a reward made of parts: one policy, once with the form worth little, once with it too heavy.

    python -m tutorial.example_math_agent.train_parts --seeds 0 1 2

Before it learns, the policy puts three answers in ten into a box, and one sum in four is right. Curves of the reward
and of each part go to `<out>/parts.png` as it goes, the numbers to `<out>/parts.csv`.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from tutorial.example_math_agent.train_trl import PAIRS, rows
from tutorial.grpo import Board, report, train
from tutorial.tiny_policy import new_policy, speak

HERE = Path(__file__).parent
JUDGES = {"form 0.2": HERE / "parts.yaml", "form 1.2": HERE / "parts_heavy_form.yaml"}


def draw(rng: random.Random) -> str:
    """A sum and what the warm-up answers: seldom in a box, seldom right, now and then with digits before the answer."""
    a, b = rng.choice(PAIRS)
    digit = a + b if rng.random() < 0.2 else rng.randint(0, 8)
    ramble = "".join(str(rng.randint(0, 8)) for _ in range(rng.randint(1, 3))) if rng.random() < 0.2 else ""
    return f"{a}+{b}={ramble}" + (f"\\boxed{{{digit}}}" if rng.random() < 0.3 else str(digit))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("out/train"))
    arguments = parser.parse_args()
    steps, out = arguments.steps, arguments.out
    with Board(out / "parts", total=steps * len(arguments.seeds) * len(JUDGES)) as board:
        for seed in arguments.seeds:
            for run, judge in JUDGES.items():
                policy = new_policy("0123456789+=", draw, seed=seed)
                train(
                    policy,
                    rows(seed),
                    str(judge),
                    run=run,
                    seed=seed,
                    steps=steps,
                    completion_length=6,
                    done=board.add,
                    out=out,
                )
                asked = ["1+1=", "4+3=", "2+4="]
                answers = speak(policy, asked, completion_length=6)
                said = [f"{query}{answer}" for query, answer in zip(asked, answers, strict=True)]
                print(f"{run}, seed {seed}, answers:", *said, flush=True)
    report(board.steps)


if __name__ == "__main__":
    main()
