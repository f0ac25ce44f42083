r"""GRPO on a CPU: a tiny Llama learns a+b from MathAnswerAsJudge, and games a judge that only looks for a substring.

    python -m tutorial.example_math_agent.train_trl --seeds 0 1 2

The policy, the data and the sampling follow the seed. Curves go to `<out>/math.png` as it goes, the numbers to
`<out>/math.csv`, TensorBoard's scalars to `<out>/tensorboard`.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from tutorial.grpo import Board, report, train
from tutorial.tiny_policy import new_policy, shuffled, speak

OURS = "configs/math.yaml"
LENIENT = "configs/math_lenient.yaml"
PAIRS = [(a, b) for a in range(5) for b in range(5)]


def draw(rng: random.Random) -> str:
    """A sum and what the warm-up answers: right one time in five, empty one in twenty, sometimes rambling."""
    a, b = rng.choice(PAIRS)
    digit = a + b if rng.random() < 0.2 else rng.randint(0, 8)
    luck = rng.random()
    if luck < 0.05:
        return f"{a}+{b}="
    ramble = "".join(str(rng.randint(0, 8)) for _ in range(rng.randint(1, 4))) if luck < 0.25 else ""
    return f"{a}+{b}={ramble}\\boxed{{{digit}}}"


def rows(seed: int) -> list[dict[str, object]]:
    return shuffled([{"prompt": f"{a}+{b}=", "answer": str(a + b)} for a, b in PAIRS], seed=seed, times=80)


def learn(board: Board, out: Path, judge: str, run: str, *, seed: int, steps: int, completion_length: int = 6) -> None:
    """Train a new policy under `judge`; success is what MathAnswerAsJudge says, whoever trains."""
    policy = new_policy("0123456789+=", draw, seed=seed)
    train(
        policy,
        rows(seed),
        judge,
        run=run,
        seed=seed,
        steps=steps,
        completion_length=completion_length,
        done=board.add,
        out=out,
        watch=None if judge == OURS else OURS,
    )
    asked = ["1+1=", "4+3=", "2+4="]
    answers = speak(policy, asked, completion_length=completion_length)
    print(f"{run}, seed {seed}, answers:", *(f"{query}{answer}" for query, answer in zip(asked, answers, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("out/train"))
    arguments = parser.parse_args()
    steps, out = arguments.steps, arguments.out
    with Board(out / "math", total=steps * (len(arguments.seeds) + 2)) as board:
        for seed in arguments.seeds:
            learn(board, out, OURS, "MathAnswerAsJudge", seed=seed, steps=steps)
        # room enough to say many digits instead of one: whether the policy does is up to the judge
        for judge, run in ((OURS, "ours, 12 tokens"), (LENIENT, "substring, 12 tokens")):
            learn(board, out, judge, run, seed=arguments.seeds[0], steps=steps, completion_length=12)
    report(board.steps)


if __name__ == "__main__":
    main()
